/* A flat tensor of a rows of b elements, which one block fills and others read: by rows, F[vi * b + vj], or by elements, F[vf]; the sizes may be
   symbols. A matrix may be read by elements, too: M[vf // b, vf % b]. */
#include "writer.h"

typedef struct {
    Writer *w;
    int rows, columns, all; /* extents */
    Tensor *flat;
} Flat;

/* The element of the flat tensor at AXES, by rows or by elements; now and then the one before. */
static const char *flat_element(const Flat *flat, const Axes *axes, bool may_shift)
{
    Writer *w = flat->w;
    const char *columns = w->extents[flat->columns].text;
    const char *at = axes->count == 1 ? axes->items[0].name : write_text(w, "%s * %s + %s", axes->items[0].name, columns, axes->items[1].name);
    if (may_shift && random_chance(w->random, 20))
        at = write_text(w, "T.max(%s - 1, 0)", at);
    return write_text(w, "%s[%s]", flat->flat->name, at);
}

static Axes flat_axes(const Flat *flat, bool by_rows)
{
    Axes axes = {0};
    axes_add(&axes, flat->w, by_rows ? flat->rows : flat->all, 'S');
    if (by_rows)
        axes_add(&axes, flat->w, flat->columns, 'S');
    return axes;
}

/* A tensor of its own for a block with axes BY_ROWS. */
static Tensor *tensor_for(const Flat *flat, bool by_rows)
{
    int dims[2] = {by_rows ? flat->rows : flat->all, flat->columns};
    return writer_tensor(flat->w, flat->w->type, dims, by_rows ? 2 : 1);
}

static void write_reader(const Flat *flat, bool by_rows)
{
    Writer *w = flat->w;
    Tensor *target = tensor_for(flat, by_rows);
    Axes axes = flat_axes(flat, by_rows);
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "%s = %s", writer_element(w, target, &axes), flat_element(flat, &axes, true));
    target->written = true;
}

/* A matrix that is read by elements. */
static void write_matrix_reader(const Flat *flat)
{
    Writer *w = flat->w;
    Tensor *matrix = tensor_for(flat, true), *target = tensor_for(flat, false);
    const char *columns = w->extents[flat->columns].text;
    Axes axes = flat_axes(flat, true);
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "%s = %s", writer_element(w, matrix, &axes), writer_operand(w, w->type, &axes, matrix));
    matrix->written = true;
    axes = flat_axes(flat, false);
    indent = writer_open_block(w, 1, &axes, true);
    const char *at = axes.items[0].name;
    write_line(w, indent, "%s[%s] = %s[%s // %s, %s %% %s]", target->name, at, matrix->name, at, columns, at, columns);
    target->written = true;
}

bool write_flat(Writer *w)
{
    Flat flat = {.w = w, .rows = random_below(w->random, w->own_dims), .columns = random_below(w->random, w->own_dims)};
    const Extent rows = w->extents[flat.rows], columns = w->extents[flat.columns];
    if (flat.rows == flat.columns || rows.size == 0 || columns.size == 0 || w->tensor_count + 5 > MOST_TENSORS || w->extent_count == MOST_EXTENTS)
        return false;
    bool symbolic = rows.size < 0 || columns.size < 0, by_rows = random_chance(w->random, 50);
    int size = symbolic ? -1 : rows.size * columns.size;
    flat.all = writer_extent(w, write_text(w, "(%s * %s)", rows.text, columns.text), size);
    if (random_chance(w->random, 25)) {
        write_matrix_reader(&flat);
        return true;
    }
    flat.flat = tensor_for(&flat, false);
    Axes axes = flat_axes(&flat, by_rows);
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "%s = %s", flat_element(&flat, &axes, false), writer_operand(w, w->type, &axes, flat.flat));
    flat.flat->written = true;
    write_reader(&flat, !by_rows || random_chance(w->random, 30));
    if (random_chance(w->random, 40))
        write_reader(&flat, random_chance(w->random, 50));
    return true;
}
