/* Blocks that read a tensor of numbers wherever an expression can stand but in a value: T.where, an extent, an axis, the region of a view, the
   offset of a declared buffer; or over a triangle, of which each row is as long as its number says. */
#include <string.h>

#include "writer.h"

enum { IN_WHERE, IN_EXTENT, IN_DOMAIN, IN_TRIANGLE, IN_BINDING, IN_VIEW, IN_OFFSET, PLACES };

typedef struct {
    Writer *w;
    const char *extent, *type;
    Tensor *numbers, *from, *target; /* of one dimension, of that extent; the numbers are less */
} Loaded;

/* A nest over the tensors' dimension; the indent of the block's body. */
static int open_rows(Loaded *loaded, const char *inner)
{
    Writer *w = loaded->w;
    write_line(w, 1, "for r in range(%s):", loaded->extent);
    if (*inner)
        write_line(w, 2, "for x in range(%s):", inner);
    write_line(w, *inner ? 3 : 2, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, *inner ? 4 : 3, "vr = T.axis.spatial(%s, r)", loaded->extent);
    return *inner ? 4 : 3;
}

static void fill(Loaded *loaded, Tensor *tensor, const char *value)
{
    write_line(loaded->w, open_rows(loaded, ""), "%s[vr] = %s", tensor->name, value);
    tensor->written = true;
}

/* An update of the target under T.where, or over as many points as the numbers say. */
static void write_counted(Loaded *loaded, int place)
{
    Writer *w = loaded->w;
    const char *to = loaded->target->name, *number = write_text(w, "%s[r]", loaded->numbers->name), *loop = "";
    if (place == IN_EXTENT || place == IN_DOMAIN)
        loop = number;
    if (place == IN_TRIANGLE)
        loop = number = "r + 1";
    int indent = open_rows(loaded, loop);
    if (place == IN_WHERE) {
        write_line(w, indent, "T.where(%s %% 3 != 1)", number);
        write_line(w, indent, "%s[vr] = %s[vr]", to, loaded->from->name);
        return;
    }
    bool reduces = random_chance(w->random, 70);
    write_line(w, indent, "vx = T.axis.%s(%s, x)", reduces ? "reduce" : "opaque", place == IN_DOMAIN || place == IN_TRIANGLE ? number : loaded->extent);
    if (reduces && random_chance(w->random, 50)) {
        write_line(w, indent, "with T.init():");
        write_line(w, indent + 1, "%s[vr] = T.min_value(\"%s\")", to, loaded->type);
    }
    write_line(w, indent, "%s[vr] = T.max(%s[vr], %s[vx])", to, to, loaded->from->name);
}

/* The target from elements at places that the numbers say. */
static void write_placed(Loaded *loaded, int place)
{
    Writer *w = loaded->w;
    int indent = open_rows(loaded, "");
    const char *number = write_text(w, "%s[vr]", loaded->numbers->name), *from = loaded->from->name, *read = "W[0]";
    if (place == IN_BINDING) {
        write_line(w, indent, "vx = T.axis.opaque(%s, %s[r])", loaded->extent, loaded->numbers->name);
        read = write_text(w, "%s[vx]", from);
    } else if (place == IN_VIEW) {
        write_line(w, indent, "W = T.match_buffer(%s[%s:%s + 1], (1,), \"%s\", offset_factor=1)", from, number, number, loaded->type);
    } else {
        loaded->from->compact = true; /* the number counts from where its memory begins */
        write_line(w, indent, "T.reads(%s[0:%s], %s)", from, loaded->extent, number);
        write_line(w, indent, "T.writes(%s[vr])", loaded->target->name);
        write_line(w, indent, "W = T.decl_buffer((1,), \"%s\", data=%s.data, elem_offset=%s)", loaded->type, from, number);
    }
    write_line(w, indent, "%s[vr] = %s", loaded->target->name, read);
}

bool write_loaded(Writer *w)
{
    int dim = random_below(w->random, w->own_dims), place = random_below(w->random, PLACES);
    const char *extent = w->extents[dim].text;
    if (strncmp(extent, "T.", 2) == 0 || strcmp(w->index_type, "int32") || !strcmp(w->type, "bool") || w->tensor_count + 3 > MOST_TENSORS)
        return false;
    Loaded loaded = {w, extent, w->type, writer_tensor(w, "int32", &dim, 1), writer_tensor(w, w->type, &dim, 1),
                     writer_tensor(w, w->type, &dim, 1)};
    const char *divisor = w->extents[dim].size ? extent : "1"; /* a constant 0 is an error also where nothing runs */
    fill(&loaded, loaded.numbers, write_text(w, "(vr * %d + %d) %% %s", 1 + random_below(w->random, 5), random_below(w->random, 4), divisor));
    fill(&loaded, loaded.from, write_text(w, "T.Cast(\"%s\", vr * 3)", w->type));
    if (place <= IN_TRIANGLE) {
        fill(&loaded, loaded.target, write_literal(w, w->type, 1));
        write_counted(&loaded, place);
    } else {
        write_placed(&loaded, place);
        loaded.target->written = true;
    }
    return true;
}
