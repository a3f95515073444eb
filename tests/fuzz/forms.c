/* Blocks of further forms: a while loop, rows of a sparse matrix, windows with a step, two results of one block, a branch around blocks, an index
   kept in a variable, a kernel of threads. */
#include <string.h>

#include "writer.h"

/* A dimension that loops of the type of a plain number may run over, with room for COUNT tensors and extents; -1 without one. */
static int plain_dim(Writer *w, int count)
{
    int dim = random_below(w->random, w->own_dims);
    bool plain = strncmp(w->extents[dim].text, "T.", 2) && !strcmp(w->index_type, "int32") && strcmp(w->type, "bool");
    return plain && w->tensor_count + count <= MOST_TENSORS && w->extent_count + count <= MOST_EXTENTS ? dim : -1;
}

/* "for r in range(EXTENT)" around a block with the axis vr; the indent of the block's body. */
static int open_row(Writer *w, const char *extent)
{
    write_line(w, 1, "for r in range(%s):", extent);
    write_line(w, 2, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 3, "vr = T.axis.spatial(%s, r)", extent);
    return 3;
}

static Tensor *filled(Writer *w, const char *type, int dim, const char *value)
{
    Tensor *tensor = writer_tensor(w, type, &dim, 1);
    write_line(w, open_row(w, w->extents[dim].text), "%s[vr] = %s", tensor->name, value);
    tensor->written = true;
    return tensor;
}

/* --- A loop that counts in memory how often it runs --- */
static bool write_while(Writer *w)
{
    int dim = plain_dim(w, 1);
    if (dim < 0)
        return false;
    Tensor *target = writer_tensor(w, w->type, &dim, 1);
    Axes axes = axes_of(w, target);
    bool row = random_chance(w->random, 50);
    const char *to = writer_element(w, target, &axes), *count = row ? "N[0]" : "N[()]", *at = axes.items[0].name;
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "N = T.alloc_buffer(%s, \"int32\")", row ? "(1,)" : "()");
    write_line(w, indent, "%s = %s", count, random_chance(w->random, 50) ? "0" : write_text(w, "%s %% 2", at));
    write_line(w, indent, "%s = %s", to, writer_operand(w, w->type, &axes, target));
    write_line(w, indent, "while %s < %s:", count, random_chance(w->random, 50) ? "3" : write_text(w, "%s %% 4", at));
    write_line(w, indent + 1, "%s = %s * %s + %s", to, to, write_literal(w, w->type, 3), writer_operand(w, w->type, &axes, target));
    write_line(w, indent + 1, "%s = %s + 1", count, count);
    target->written = true;
    return true;
}

/* --- Sparse rows --- */
/* The elements first[r], ..., first[r + 1] - 1 belong to row r; each has a column and a value. */
typedef struct {
    const char *rows, *first, *columns, *values, *places;
} Sparse;

static Sparse write_matrix(Writer *w, int rows, int columns)
{
    int many = 2 + random_below(w->random, 11), places = writer_extent(w, write_text(w, "%d", many), many), ends = writer_larger_extent(w, rows, 1);
    Sparse matrix = {.rows = w->extents[rows].text, .places = w->extents[places].text};
    int factor = random_below(w->random, 4); /* 0: all rows are empty */
    matrix.first = filled(w, "int32", ends, random_chance(w->random, 30) ? write_text(w, "T.min(vr * vr // 2, %d)", many)
                                                                       : write_text(w, "T.min(vr * %d, %d)", factor, many))->name;
    matrix.columns = filled(w, "int32", places, write_text(w, "(vr * %d + 1) %% %s", 1 + random_below(w->random, 5), w->extents[columns].text))->name;
    matrix.values = filled(w, w->type, places, write_text(w, "T.Cast(\"%s\", vr %% 5)", w->type))->name;
    return matrix;
}

/* Loops and axes of an update for each element of each row; the indent of the body. */
static int open_elements(Writer *w, const Sparse *matrix)
{
    bool from_start = random_chance(w->random, 40);
    write_line(w, 1, "for r in range(%s):", matrix->rows);
    if (from_start)
        write_line(w, 2, "for k in T.serial(%s[r], %s[r + 1]):", matrix->first, matrix->first);
    else
        write_line(w, 2, "for k in range(%s[r + 1] - %s[r]):", matrix->first, matrix->first);
    write_line(w, 3, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 4, "vr = T.axis.spatial(%s, r)", matrix->rows);
    write_line(w, 4, "vk = T.axis.reduce(%s, %s)", matrix->places, from_start ? "k" : write_text(w, "%s[r] + k", matrix->first));
    return 4;
}

/* The product of a sparse matrix and a vector. */
static bool write_sparse(Writer *w)
{
    int rows = plain_dim(w, 7), columns = random_below(w->random, w->own_dims);
    if (rows < 0 || w->extents[columns].size <= 0)
        return false;
    Sparse matrix = write_matrix(w, rows, columns);
    const char *vector = filled(w, w->type, columns, write_text(w, "T.Cast(\"%s\", vr %% 7)", w->type))->name;
    Tensor *target = writer_tensor(w, w->type, &rows, 1);
    bool apart = random_chance(w->random, 30);
    if (apart)
        write_line(w, open_row(w, matrix.rows), "%s[vr] = %s", target->name, write_literal(w, w->type, 0));
    int indent = open_elements(w, &matrix);
    if (!apart) {
        write_line(w, indent, "with T.init():");
        write_line(w, indent + 1, "%s[vr] = %s", target->name, write_literal(w, w->type, 0));
    }
    write_line(w, indent, "%s[vr] = %s[vr] + %s[vk] * %s[%s[vk]]", target->name, target->name, matrix.values, vector, matrix.columns);
    target->written = true;
    return true;
}

/* --- Windows with a step --- */
static bool write_steps(Writer *w)
{
    int dim = plain_dim(w, 3), size = dim < 0 ? 0 : w->extents[dim].size, step = 2 + random_below(w->random, 2);
    if (dim < 0)
        return false;
    const char *extent = w->extents[dim].text, *text = size < 0 ? write_text(w, "(%s * %d + 2)", extent, step) : write_text(w, "%d", size * step + 2);
    int wide = writer_extent(w, text, size < 0 ? -1 : size * step + 2), window = writer_extent(w, "3", 3);
    const Tensor *from = filled(w, w->type, wide, write_text(w, "T.Cast(\"%s\", vr %% 11)", w->type));
    Tensor *target = writer_tensor(w, w->type, &dim, 1);
    Axes spatial = axes_of(w, target), axes = spatial;
    axes_add(&axes, w, window, 'R');
    const char *to = writer_element(w, target, &axes), *at = axes.items[0].name, *along = axes.items[1].name;
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "with T.init():");
    write_line(w, indent + 1, "%s = %s", to, write_literal(w, w->type, 0));
    write_line(w, indent, "%s = %s + %s[%s * %d + %s]", to, to, from->name, at, step, along);
    target->written = true;
    return true;
}

/* --- Two results --- */
static bool write_two_results(Writer *w)
{
    if (w->tensor_count + 2 > MOST_TENSORS)
        return false;
    Tensor *first = writer_target(w), *second = writer_tensor(w, w->type, first->dims, first->rank);
    Axes axes = axes_of(w, first);
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "%s = %s", writer_element(w, first, &axes), writer_value(w, first->type, &axes, first));
    first->written = random_chance(w->random, 50); /* the second result may be made of the first one */
    write_line(w, indent, "%s = %s", writer_element(w, second, &axes), writer_value(w, second->type, &axes, second));
    first->written = second->written = true;
    return true;
}

/* --- A branch around blocks --- */
static bool write_branches(Writer *w)
{
    static const char *const tests[] = {"r % 2 == 0", "r < 3", "r * 2 + 1 < 5", "1 <= r and r < 4"};
    int dim = plain_dim(w, 1);
    if (dim < 0)
        return false;
    const char *extent = w->extents[dim].text;
    Tensor *target = writer_tensor(w, w->type, &dim, 1);
    Axes axes = axes_of(w, target);
    axes.items[0].name = "vr";
    write_line(w, 1, "for r in range(%s):", extent);
    for (int part = 0; part < 2; part++) {
        if (part)
            write_line(w, 2, "else:");
        else
            write_line(w, 2, "if %s:", tests[random_below(w->random, 4)]);
        write_line(w, 3, "with T.block(\"blk%d\"):", ++w->block_count);
        write_line(w, 4, "vr = T.axis.spatial(%s, r)", extent);
        write_line(w, 4, "%s[vr] = %s", target->name, writer_value(w, w->type, &axes, target));
    }
    target->written = true;
    return true;
}

/* --- An index in a variable, also below zero --- */
static bool write_kept_index(Writer *w)
{
    int dim = plain_dim(w, 2);
    if (dim < 0 || w->extents[dim].size == 0)
        return false;
    const char *extent = w->extents[dim].text;
    const Tensor *from = filled(w, w->type, dim, write_text(w, "T.Cast(\"%s\", vr * 3)", w->type));
    Tensor *target = writer_tensor(w, w->type, &dim, 1);
    Axes axes = axes_of(w, target);
    const char *at = axes.items[0].name, *to = writer_element(w, target, &axes);
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "p: T.int32 = (%s %s %d) %% T.max(%s, 1)", at, random_chance(w->random, 60) ? "-" : "+", 1 + random_below(w->random, 9), extent);
    if (random_chance(w->random, 40)) {
        write_line(w, indent, "q: T.int32 = T.Select(p < %s, %s, p)", at, at);
        write_line(w, indent, "%s = %s[q] + %s[p]", to, from->name, from->name);
    } else {
        write_line(w, indent, "%s = %s[p]", to, from->name);
    }
    target->written = true;
    return true;
}

/* --- Rows that threads make: a kernel that the text launches --- */
static bool write_launch(Writer *w)
{
    int dims[] = {plain_dim(w, 1), random_below(w->random, w->own_dims)};
    if (dims[0] < 0 || dims[0] == dims[1])
        return false;
    const char *threads = w->extents[dims[0]].text, *columns = w->extents[dims[1]].text;
    Tensor *target = writer_tensor(w, w->type, dims, 2);
    Axes axes = axes_of(w, target);
    write_line(w, 1, "with T.launch_thread(\"%s\", %s) as thread:", random_chance(w->random, 50) ? "threadIdx.x" : "blockIdx.x", threads);
    write_line(w, 2, "for c in range(%s):", columns);
    write_line(w, 3, "with T.block(\"blk%d\"):", ++w->block_count);
    write_line(w, 4, "%s = T.axis.spatial(%s, thread)", axes.items[0].name, threads);
    write_line(w, 4, "%s = T.axis.spatial(%s, c)", axes.items[1].name, columns);
    write_line(w, 4, "%s = %s", writer_element(w, target, &axes), writer_value(w, w->type, &axes, target));
    target->written = true;
    return true;
}

bool write_form(Writer *w)
{
    static bool (*const forms[])(Writer *w) = {write_while,    write_sparse,     write_steps, write_two_results,
                                               write_branches, write_kept_index, write_launch};
    return forms[random_below(w->random, sizeof forms / sizeof *forms)](w);
}
