/* Blocks below conditions of several parts, of which a later one may be defined only where those before it hold. The parts are about rows, about
   what is reduced over, or about both; they stand in T.where, in if statements, one in another, in the else of their opposites, in a let.

     for r in range(n):
         for x in range(2, 5):
             c: T.bool = r + x < n and N[r + x] % 3 != 1
             if c and x < 4: a block over rows that reduces over x */
#include <string.h>

#include "writer.h"

enum { MOST_PARTS = 4 };

typedef struct {
    Writer *w;
    const char *extent;
    Tensor *numbers, *from, *target; /* of one dimension, of that extent */
    int first, end;                  /* of the loop over x */
    const char *parts[MOST_PARTS];
    int count;
} Guarded;

static void fill(Guarded *guarded, Tensor *tensor, const char *value)
{
    Writer *w = guarded->w;
    write_line(w, 1, "for r in range(%s):", guarded->extent);
    write_line(w, 2, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 3, "vr = T.axis.spatial(%s, r)", guarded->extent);
    write_line(w, 3, "%s[vr] = %s", tensor->name, value);
    tensor->written = true;
}

/* An element of the numbers, and before it what keeps its index in bounds. */
static void add_number(Guarded *guarded)
{
    Writer *w = guarded->w;
    static const char *const indices[] = {"r + x", "r + 1", "r * 2", "x", "r + 2 * x"};
    const char *index = indices[random_below(w->random, 5)];
    guarded->parts[guarded->count++] = write_text(w, "%s < %s", index, guarded->extent);
    guarded->parts[guarded->count++] = write_text(w, "%s[%s] %% 3 != %d", guarded->numbers->name, index, random_below(w->random, 3));
}

static void add_plain(Guarded *guarded)
{
    Writer *w = guarded->w;
    int bound = 1 + random_below(w->random, 6);
    static const char *const parts[] = {"r < %d", "x < %d", "x >= %d", "r + x < %d", "r %% %d == 0", "x %% %d != 0", "r != %d"};
    guarded->parts[guarded->count++] = write_text(w, parts[random_below(w->random, 7)], bound);
}

static void choose_parts(Guarded *guarded)
{
    Random *random = guarded->w->random;
    bool numbers = random_chance(random, 60);
    if (!numbers || random_chance(random, 40))
        add_plain(guarded);
    if (numbers)
        add_number(guarded);
    if (guarded->count < MOST_PARTS && random_chance(random, 50))
        add_plain(guarded);
}

/* The parts from FIRST up to END as one condition, or with OPPOSITE what does not hold where they do. */
static const char *joined(const Guarded *guarded, int first, int end, bool opposite)
{
    const char *text = NULL;
    for (int i = first; i < end; i++) {
        const char *part = write_text(guarded->w, opposite ? "not %s" : "%s", guarded->parts[i]);
        text = text ? write_text(guarded->w, opposite ? "%s or %s" : "%s and %s", text, part) : part;
    }
    return text;
}

/* The construct under which the parts from FIRST up to END hold, at INDENT; the indent of what stands in it. */
static int open_condition(const Guarded *guarded, int indent, int first, int end)
{
    Writer *w = guarded->w;
    const char *condition = joined(guarded, first, end, false);
    switch (random_below(w->random, 4)) {
    case 0: write_line(w, indent, "if T.likely(%s):", condition); break;
    case 1:
        write_line(w, indent, "c%d: T.bool = %s", first, condition);
        write_line(w, indent, "if c%d:", first);
        break;
    case 2:
        write_line(w, indent, "if %s:", joined(guarded, first, end, true));
        write_line(w, indent + 1, "T.evaluate(0)");
        write_line(w, indent, "else:");
        break;
    default: write_line(w, indent, "if %s:", condition); break;
    }
    return indent + 1;
}

static void write_block(const Guarded *guarded, int indent, const char *where)
{
    Writer *w = guarded->w;
    const char *to = guarded->target->name, *from = guarded->from->name;
    bool reduces = random_chance(w->random, 80);
    write_line(w, indent, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, indent + 1, "vr = T.axis.spatial(%s, r)", guarded->extent);
    write_line(w, indent + 1, "vx = T.axis.%s(%d, x)", reduces ? "reduce" : "opaque", guarded->end);
    if (where)
        write_line(w, indent + 1, "T.where(%s)", where);
    if (reduces && random_chance(w->random, 75)) {
        write_line(w, indent + 1, "with T.init():");
        write_line(w, indent + 2, "%s[vr] = %s", to, write_literal(w, guarded->target->type, 2));
    }
    if (random_chance(w->random, 50))
        write_line(w, indent + 1, "%s[vr] = T.max(%s[vr], %s[vr])", to, to, from);
    else
        write_line(w, indent + 1, "%s[vr] = %s[vr] + T.Cast(\"%s\", vx)", to, to, guarded->target->type);
}

bool write_guarded(Writer *w)
{
    int dim = random_below(w->random, w->own_dims);
    const char *extent = w->extents[dim].text;
    if (strncmp(extent, "T.", 2) == 0 || strcmp(w->index_type, "int32") || !strcmp(w->type, "bool") || w->tensor_count + 3 > MOST_TENSORS)
        return false;
    Guarded guarded = {.w = w, .extent = extent};
    guarded.numbers = writer_tensor(w, "int32", &dim, 1);
    guarded.from = writer_tensor(w, w->type, &dim, 1);
    guarded.target = writer_tensor(w, w->type, &dim, 1);
    guarded.first = random_below(w->random, 4);
    guarded.end = guarded.first + random_below(w->random, 5);
    fill(&guarded, guarded.numbers, "vr * 5 + 1");
    fill(&guarded, guarded.from, write_text(w, "T.Cast(\"%s\", vr * 3)", w->type));
    fill(&guarded, guarded.target, write_literal(w, w->type, 1));
    choose_parts(&guarded);
    bool swapped = random_chance(w->random, 30);
    const char *rows = write_text(w, "for r in range(%s):", extent), *steps = write_text(w, "for x in range(%d, %d):", guarded.first, guarded.end);
    write_line(w, 1, "%s", swapped ? steps : rows);
    write_line(w, 2, "%s", swapped ? rows : steps);
    int indent = 3, taken = random_chance(w->random, 40) ? 0 : random_chance(w->random, 50) ? guarded.count : 1;
    if (taken)
        indent = open_condition(&guarded, indent, 0, taken);
    if (taken < guarded.count && taken && random_chance(w->random, 50)) {
        indent = open_condition(&guarded, indent, taken, guarded.count);
        taken = guarded.count;
    }
    write_block(&guarded, indent, joined(&guarded, taken, guarded.count, false));
    return true;
}
