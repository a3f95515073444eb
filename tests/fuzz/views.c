/* Blocks that reach tensors by other names: views of tiles (with strides and offsets of several forms), reductions through views, buffers
   declared over the memory of others, also in loops and through pointers. All over tensors of two dimensions; false, with nothing written, where the program has none. */
#include <string.h>

#include "writer.h"

typedef struct {
    Writer *w;
    Tensor *from, *target;
    const char *rows, *columns, *type;
    int row_count; /* -1: symbolic */
} Tiles;

/* A tensor of two dimensions that was written, with a new one like it. */
static bool find_tiles(Writer *w, Tiles *tiles)
{
    const Tensor *candidates[MOST_TENSORS];
    int count = 0;
    for (int i = 0; i < w->tensor_count; i++)
        if (w->tensors[i].written && w->tensors[i].rank == 2 && w->tensors[i].dims[0] != w->tensors[i].dims[1] && strcmp(w->tensors[i].type, "bool") &&
            w->extents[w->tensors[i].dims[0]].size && w->extents[w->tensors[i].dims[1]].size)
            candidates[count++] = &w->tensors[i];
    if (!count || w->tensor_count + 2 > MOST_TENSORS)
        return false;
    Tensor *from = (Tensor *)candidates[random_below(w->random, count)];
    *tiles = (Tiles){w, from, NULL, w->extents[from->dims[0]].text, w->extents[from->dims[1]].text, from->type, w->extents[from->dims[0]].size};
    return true;
}

/* "V = T.match_buffer(SOURCE, SHAPE, ...)": strides that are not stated, stated as variables, or with an offset. NAME is also that of the
   variables. CONSTANT: the strides where they are known, or NULL. */
static void write_view(Tiles *tiles, int indent, const char *name, const char *source, const char *shape, int rank, const char *constant)
{
    Writer *w = tiles->w;
    const char *layout = "", *type = w->index_type;
    int form = random_below(w->random, 5);
    if (form == 1 || form == 2) {
        write_line(w, indent, "s%s = T.%s()", name, type);
        if (form == 2)
            write_line(w, indent, "o%s = T.%s()", name, type);
        layout = write_text(w, ", strides=[%s%s]%s", rank == 2 ? write_text(w, "s%s, ", name) : "", rank == 2 ? "1" : write_text(w, "s%s", name),
                            form == 2 ? write_text(w, ", elem_offset=o%s", name) : ", offset_factor=1");
    } else if (form == 3 && constant) {
        layout = write_text(w, ", strides=%s, offset_factor=1", constant);
    } else if (form == 4) {
        layout = ", offset_factor=1";
    }
    write_line(w, indent, "%s = T.match_buffer(%s, %s, \"%s\"%s)", name, source, shape, tiles->type, layout);
}

static const char *rows_of(Tiles *tiles, const Tensor *tensor, const char *first, int count)
{
    return write_text(tiles->w, "%s[%s:%s + %d, 0:%s]", tensor->name, first, first, count, tiles->columns);
}

/* VALUE, an element, as something else. */
static const char *changed(Tiles *tiles, const char *value)
{
    Writer *w = tiles->w;
    switch (random_below(w->random, 3)) {
    case 0: return write_text(w, "%s + %s", value, write_literal(w, tiles->type, 1));
    case 1: return write_text(w, "%s * %s", value, write_literal(w, tiles->type, 3));
    default: return value;
    }
}

/* A block for each tile of TALL rows, and in it a block for each element, seen through views. */
static void write_tiles(Tiles *tiles, int tall)
{
    Writer *w = tiles->w;
    Tensor *target = tiles->target = writer_tensor(w, tiles->type, tiles->from->dims, 2);
    bool axis = random_chance(w->random, 80), both = !axis || random_chance(w->random, 60);
    const char *first = write_text(w, axis ? "vi * %d" : "i * %d", tall), *shape = write_text(w, "(%d, %s)", tall, tiles->columns);
    write_line(w, 1, "for i in range(%s):", write_text(w, tall > 1 ? "%s // %d" : "%s", tiles->rows, tall));
    write_line(w, 2, "with T.block(\"blk%d\"):", ++w->block_count);
    if (axis)
        write_line(w, 3, "vi = T.axis.spatial(%s, i)", write_text(w, tall > 1 ? "%s // %d" : "%s", tiles->rows, tall));
    if (random_chance(w->random, 40)) {
        write_line(w, 3, "T.reads(%s)", rows_of(tiles, tiles->from, first, tall));
        write_line(w, 3, "T.writes(%s)", rows_of(tiles, target, first, tall));
    }
    write_view(tiles, 3, "V", rows_of(tiles, tiles->from, first, tall), shape, 2, NULL);
    if (both)
        write_view(tiles, 3, "U", rows_of(tiles, target, first, tall), shape, 2, NULL);
    write_line(w, 3, "for a, b in T.grid(%d, %s):", tall, tiles->columns);
    write_line(w, 4, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 5, "va, vb = T.axis.remap(\"SS\", [a, b])");
    write_line(w, 5, "%s = %s", both ? "U[va, vb]" : write_text(w, "%s[%s + va, vb]", target->name, first), changed(tiles, "V[va, vb]"));
    target->written = true;
}

/* Sums of rows, which an outer block sees through views; its own axis may go over parts of a row, then its init starts them. */
static void write_view_sums(Tiles *tiles)
{
    Writer *w = tiles->w;
    Tensor *target = tiles->target = writer_tensor(w, tiles->type, tiles->from->dims, 1);
    int size = w->extents[tiles->from->dims[1]].size;
    bool parts = size > 0 && size % 2 == 0 && random_chance(w->random, 60), view = random_chance(w->random, 70), own = parts && random_chance(w->random, 50);
    const char *part = parts ? write_text(w, "%d", size / 2) : tiles->columns, *zero = write_literal(w, tiles->type, 0), *sum = view ? "U[0]" : write_text(w, "%s[vi]", target->name);
    write_line(w, 1, parts ? "for i, k in T.grid(%s, 2):" : "for i in range(%s):", tiles->rows);
    write_line(w, 2, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 3, "vi = T.axis.spatial(%s, i)", tiles->rows);
    if (parts)
        write_line(w, 3, "vk = T.axis.reduce(2, k)");
    const char *first = parts ? write_text(w, "vk * %s", part) : "0";
    write_view(tiles, 3, "V", write_text(w, "%s[vi, %s:%s + %s]", tiles->from->name, first, first, part), write_text(w, "(%s,)", part), 1, "[1]");
    if (view)
        write_view(tiles, 3, "U", write_text(w, "%s[vi:vi + 1]", target->name), "(1,)", 1, "[1]");
    if (own || parts) {
        write_line(w, 3, "with T.init():");
        if (random_chance(w->random, 50)) {
            write_line(w, 4, "with T.block(\"blk%d\"):", ++w->block_count);
            write_line(w, 5, "vone = T.axis.spatial(1, 0)");
            write_line(w, 5, "%s = %s", view ? "U[vone]" : sum, zero);
        } else {
            write_line(w, 4, "%s = %s", sum, zero);
        }
    }
    write_line(w, 3, "for c in range(%s):", part);
    write_line(w, 4, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 5, "vc = T.axis.reduce(%s, c)", part);
    if (!parts) {
        write_line(w, 5, "with T.init():");
        write_line(w, 6, "%s = %s", sum, zero);
    }
    write_line(w, 5, "%s = %s + V[vc]", sum, sum);
    target->written = true;
}

/* A new tensor, written or read through a buffer declared over its memory: flat, or turned around. */
static void write_alias(Tiles *tiles)
{
    Writer *w = tiles->w;
    Tensor *target = tiles->target = writer_tensor(w, tiles->type, tiles->from->dims, 2);
    bool writes = random_chance(w->random, 50), flat = random_chance(w->random, 60), inside = random_chance(w->random, 40);
    Tensor *aliased = writes ? target : tiles->from;
    aliased->compact = true;
    const char *name = write_text(w, "F%d", w->block_count), *other = writes ? tiles->from->name : target->name,
               *element = flat ? write_text(w, "%s[vi * %s + vj]", name, tiles->columns) : write_text(w, "%s[vj, vi]", name),
               *declared = flat ? write_text(w, "%s = T.decl_buffer((%s * %s,), \"%s\", data=%s.data)", name, tiles->rows, tiles->columns,
                                             tiles->type, aliased->name)
                                : write_text(w, "%s = T.decl_buffer((%s, %s), \"%s\", data=%s.data, strides=[1, %s])", name, tiles->columns,
                                             tiles->rows, tiles->type, aliased->name, tiles->columns);
    if (!inside)
        write_line(w, 1, "%s", declared);
    write_line(w, 1, "for i, j in T.grid(%s, %s):", tiles->rows, tiles->columns);
    write_line(w, 2, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 3, "vi, vj = T.axis.remap(\"SS\", [i, j])");
    if (inside) {
        write_line(w, 3, "T.reads(%s[vi, vj])", tiles->from->name);
        write_line(w, 3, "T.writes(%s[vi, vj])", target->name);
        write_line(w, 3, "%s", declared);
    }
    if (writes)
        write_line(w, 3, "%s = %s", element, changed(tiles, write_text(w, "%s[vi, vj]", other)));
    else
        write_line(w, 3, "%s[vi, vj] = %s", other, changed(tiles, element));
    target->written = true;
}

/* An update of each row through a buffer that is declared there, at an offset or over a pointer that differs between rows; the rows may overlap. */
static void write_placed(Tiles *tiles)
{
    Writer *w = tiles->w;
    Tensor *from = tiles->from;
    from->compact = true;
    bool overlap = random_chance(w->random, 50), pointer = random_chance(w->random, 50), of_row = pointer && !overlap && random_chance(w->random, 50);
    const char *step = !overlap ? tiles->columns : random_chance(w->random, 50) ? "1" : write_text(w, "((%s + 1) // 2)", tiles->columns);
    const char *region = overlap ? write_text(w, "%s[0:%s, 0:%s]", from->name, tiles->rows, tiles->columns) : write_text(w, "%s[vi, 0:%s]", from->name, tiles->columns);
    write_line(w, 1, "for i in range(%s):", tiles->rows);
    write_line(w, 2, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 3, "vi = T.axis.%s(%s, i)", overlap ? "opaque" : "spatial", tiles->rows);
    write_line(w, 3, "T.reads(%s)", region);
    write_line(w, 3, "T.writes(%s)", region);
    if (pointer)
        write_line(w, 3, "p: T.handle = %s", of_row ? write_text(w, "T.address_of(%s[vi, 0])", from->name) : write_text(w, "%s.data", from->name));
    write_line(w, 3, "V = T.decl_buffer((%s,), \"%s\", data=%s%s)", tiles->columns, tiles->type, pointer ? "p" : write_text(w, "%s.data", from->name),
               of_row ? "" : write_text(w, ", elem_offset=vi * %s", step));
    write_line(w, 3, "for c in range(%s):", tiles->columns);
    write_line(w, 4, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 5, "vc = T.axis.spatial(%s, c)", tiles->columns);
    write_line(w, 5, "V[vc] = %s", changed(tiles, "V[vc]"));
}

bool write_views(Writer *w)
{
    Tiles tiles;
    if (!find_tiles(w, &tiles))
        return false;
    int form = random_below(w->random, 4);
    if (form == 0)
        write_tiles(&tiles, tiles.row_count > 0 && tiles.row_count % 2 == 0 && random_chance(w->random, 60) ? 2 : 1);
    else if (form == 1)
        write_view_sums(&tiles);
    else if (form == 2)
        write_placed(&tiles);
    else
        write_alias(&tiles);
    return true;
}
