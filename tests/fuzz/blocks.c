/* The kinds of blocks that random programs are made of. Each maker writes a nest or two that fill new tensors from the ones before. */
#include "writer.h"

static const char *element(Writer *w, const Tensor *tensor, const Axes *axes)
{
    return writer_element(w, tensor, axes);
}

/* One store, or one on each branch, or a value kept in a variable first. */
static void store_value(Writer *w, int indent, const Tensor *target, const Axes *axes)
{
    const char *to = element(w, target, axes), *axis = axes->items[axes->count - 1].name;
    switch (random_below(w->random, 10)) {
    case 0:
        write_line(w, indent, "x: T.%s = %s", target->type, writer_value(w, target->type, axes, target));
        write_line(w, indent, "%s = %s", to, strcmp(target->type, "bool") ? "x * x" : "not x");
        break;
    case 1:
        write_line(w, indent, "if %s %% 2 == 0:", axis);
        write_line(w, indent + 1, "%s = %s", to, writer_value(w, target->type, axes, target));
        write_line(w, indent, "else:");
        write_line(w, indent + 1, "%s = %s", to, writer_operand(w, target->type, axes, target));
        break;
    default: write_line(w, indent, "%s = %s", to, writer_value(w, target->type, axes, target));
    }
}

/* Now and then one of the first COUNT axes claims an order that nothing needs. */
static void claim_order(Writer *w, Axes *axes, int count)
{
    if (random_chance(w->random, 4))
        axes->items[random_below(w->random, count)].kind = 'O';
}

static void make_elementwise(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes axes = axes_of(w, target);
    claim_order(w, &axes, axes.count);
    axes.repeated = random_chance(w->random, 4);
    store_value(w, writer_open_block(w, 1, &axes, true), target, &axes);
    target->written = true;
}

/* A plain copy, the simplest thing to inline. */
static void make_copy(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes axes = axes_of(w, target);
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "%s = %s", element(w, target, &axes), writer_operand(w, target->type, &axes, target));
    target->written = true;
}

/* A written tensor other than EXCEPT that has an axis over each of its dimensions, or NULL. */
static const Tensor *covered_tensor(Writer *w, const Axes *axes, const Tensor *except)
{
    for (int attempt = 0; attempt < 8; attempt++) {
        const Tensor *tensor = &w->tensors[random_below(w->random, w->tensor_count)];
        bool covered = tensor != except && tensor->written && tensor->rank > 0;
        for (int i = 0; covered && i < tensor->rank; i++) {
            bool found = false;
            for (int j = 0; j < axes->count; j++)
                found |= axes->items[j].dim == tensor->dims[i];
            covered = found;
        }
        if (covered)
            return tensor;
    }
    return NULL;
}

/* AXES with the axis over DIM called by another index. */
static Axes with_index(const Axes *axes, int dim, const char *index)
{
    Axes changed = *axes;
    for (int i = 0; i < changed.count; i++)
        if (changed.items[i].dim == dim)
            changed.items[i].name = index;
    return changed;
}

static const char *axis_name(const Axes *axes, int dim)
{
    for (int i = 0; i < axes->count; i++)
        if (axes->items[i].dim == dim)
            return axes->items[i].name;
    return "0";
}

/* Neighbours where they exist. */
static void make_stencil(Writer *w)
{
    Tensor *target = writer_target(w);
    target->type = w->type;
    Axes axes = axes_of(w, target);
    const Tensor *from = covered_tensor(w, &axes, target);
    int indent = writer_open_block(w, 1, &axes, true);
    target->written = true;
    if (!from || strcmp(from->type, w->type) || !strcmp(w->type, "bool")) {
        store_value(w, indent, target, &axes);
        return;
    }
    int dim = from->dims[random_below(w->random, from->rank)];
    const char *at = axis_name(&axes, dim), *zero = write_literal(w, w->type, 0);
    Axes before = with_index(&axes, dim, write_text(w, "%s - 1", at)), after = with_index(&axes, dim, write_text(w, "%s + 1", at));
    write_line(w, indent, "%s = %s + T.if_then_else(%s > 0, %s, %s) + T.if_then_else(%s < %s - 1, %s, %s)", element(w, target, &axes),
               element(w, from, &axes), at, element(w, from, &before), zero, at, w->extents[dim].text, element(w, from, &after), zero);
}

/* --- Reductions --- */
/* The target keeps all dimensions but some; one or two are reduced over. */
static Tensor *reduction_target(Writer *w, Axes *axes, Axes *spatial)
{
    Tensor *target = writer_target(w);
    if (target->rank > 1 && random_chance(w->random, 60))
        target->rank--;
    *axes = *spatial = axes_of(w, target);
    axes_add(axes, w, random_chance(w->random, 70) && target->rank < w->own_dims ? target->rank : random_below(w->random, w->own_dims),
             'R');
    if (axes->count < 3 && random_chance(w->random, 15))
        axes_add(axes, w, random_below(w->random, w->own_dims), 'R');
    return target;
}

/* Leaves out no result: with an init inside each of them keeps its first point. */
static Mask reduction_mask(Writer *w, const Axes *axes, bool apart)
{
    const Axis *last = &axes->items[axes->count - 1];
    Mask mask = random_chance(w->random, 12) ? random_mask(w) : MASK_NONE;
    return apart || (mask != MASK_PARITY && last->kind == 'R' && w->extents[last->dim].size > 0) ? mask : MASK_NONE;
}

static void make_reduction(Writer *w)
{
    Axes axes, spatial;
    Tensor *target = reduction_target(w, &axes, &spatial);
    const char *kind = update_kind(w, target->type), *to = element(w, target, &spatial);
    bool apart = random_chance(w->random, 10); /* the init in a nest of its own */
    if (apart)
        write_line(w, writer_open_block(w, 1, &spatial, true), "%s = %s", to, update_identity(w, kind, target->type));
    claim_order(w, &axes, spatial.count);
    axes.mask = reduction_mask(w, &axes, apart);
    int indent = writer_open_block(w, 1, &axes, true);
    if (!apart) {
        write_line(w, indent, "with T.init():");
        write_line(w, indent + 1, "%s = %s", to, update_identity(w, kind, target->type));
    }
    write_update(w, indent, kind, to, target->type, &axes, target);
    target->written = true;
}

/* The index and the value of the largest or smallest element of each row of the input, whose elements differ. */
static void make_argument_of_extreme(Writer *w)
{
    const Tensor *from = &w->tensors[0];
    if (from->rank < 2 || (strcmp(from->type, "float32") && strcmp(from->type, "float64"))) {
        make_reduction(w);
        return;
    }
    Tensor *index = writer_tensor(w, w->index_type, from->dims, from->rank - 1),
           *value = writer_tensor(w, from->type, from->dims, from->rank - 1);
    Axes axes = axes_of(w, value), spatial = axes;
    axes_add(&axes, w, from->dims[from->rank - 1], 'R');
    const char *i = element(w, index, &spatial), *v = element(w, value, &spatial), *x = element(w, from, &axes),
               *at = axes.items[axes.count - 1].name;
    bool largest = random_chance(w->random, 50);
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "with T.init():");
    write_line(w, indent + 1, "%s = %s", i, write_literal(w, index->type, -1));
    write_line(w, indent + 1, "%s = T.%s_value(\"%s\")", v, largest ? "min" : "max", value->type);
    write_line(w, indent, "new_index: T.%s = T.Select(%s %s %s, %s, T.Cast(\"%s\", %s))", index->type, v, largest ? ">=" : "<=", x, i,
               index->type, at);
    write_line(w, indent, "new_value: T.%s = T.Select(%s %s %s, %s, %s)", value->type, v, largest ? ">=" : "<=", x, v, x);
    bool swapped = random_chance(w->random, 40);
    write_line(w, indent, "%s = %s", swapped ? v : i, swapped ? "new_value" : "new_index");
    write_line(w, indent, "%s = %s", swapped ? i : v, swapped ? "new_index" : "new_value");
    index->written = value->written = true;
}

/* An element of TARGET from the one before it along the axis number ALONG. */
static void store_after(Writer *w, int indent, Tensor *target, const Axes *axes, int along)
{
    const char *at = axes->items[along].name, *to = element(w, target, axes);
    Axes before = with_index(axes, axes->items[along].dim, write_text(w, "%s - 1", at));
    write_line(w, indent, "%s = T.if_then_else(%s > 0, %s, %s)", to, at, element(w, target, &before), write_literal(w, target->type, 1));
    if (strcmp(target->type, "bool"))
        write_line(w, indent, "%s = %s + %s", to, to, writer_operand(w, target->type, axes, target));
    target->written = true;
}

/* Each row continues the one before: rows are in order, columns are free. */
static void make_scan(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes axes = axes_of(w, target);
    int along = random_below(w->random, axes.count);
    axes.items[along].kind = 'O';
    int indent = writer_open_block(w, 1, &axes, false);
    store_after(w, indent, target, &axes, along);
}

/* Elements in an order computed or read from a buffer. */
static void make_gather(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes axes = axes_of(w, target);
    const Tensor *from = covered_tensor(w, &axes, target);
    int indent = writer_open_block(w, 1, &axes, true), dim = from ? from->dims[random_below(w->random, from->rank)] : 0;
    target->written = true;
    if (!from || w->extents[dim].size == 0 || strcmp(from->type, target->type)) {
        store_value(w, indent, target, &axes);
        return;
    }
    const char *at = axis_name(&axes, dim), *extent = w->extents[dim].text, *index = write_text(w, "%s - 1 - %s", extent, at);
    if (random_chance(w->random, 30))
        index = write_text(w, "(%s * 3 + 1) %% T.max(%s, 1)", at, extent);
    else if (random_chance(w->random, 30))
        index = write_text(w, "%s // 2", at);
    else if (random_chance(w->random, 50)) {
        Tensor *indices = writer_tensor(w, "int32", &dim, 1);
        indices->param = true; /* read as indices only, so that its values stay in bounds */
        index = write_text(w, "%s[%s]", indices->name, at);
    }
    Axes chosen = with_index(&axes, dim, index);
    write_line(w, indent, "%s = %s", element(w, target, &axes), element(w, from, &chosen));
}

static void make_reversed(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes axes = axes_of(w, target);
    int dim = target->dims[random_below(w->random, target->rank)];
    Axes reversed = with_index(&axes, dim, write_text(w, "%s - 1 - %s", w->extents[dim].text, axis_name(&axes, dim)));
    int indent = writer_open_block(w, 1, &axes, true);
    write_line(w, indent, "%s = %s", element(w, target, &reversed), writer_value(w, target->type, &axes, target));
    target->written = true;
}

/* An earlier tensor computed anew from itself, in all of its elements or in some. */
static void make_in_place(Writer *w)
{
    const Tensor *target = &w->tensors[random_below(w->random, w->tensor_count)];
    if (!target->written || target->param || !strcmp(target->type, "bool")) {
        make_elementwise(w);
        return;
    }
    Axes axes = axes_of(w, target);
    axes.mask = random_chance(w->random, 40) ? random_mask(w) : MASK_NONE;
    const char *to = element(w, target, &axes);
    write_line(w, writer_open_block(w, 1, &axes, true), "%s = %s * %s + %s", to, to, write_literal(w, target->type, 3),
               writer_operand(w, target->type, &axes, target));
}

/* A border of zeros around a tensor, then a sum over windows of the result. */
static void make_windows(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes spatial = axes_of(w, target), axes = spatial;
    const Tensor *from = covered_tensor(w, &axes, target);
    if (!from || strcmp(from->type, target->type) || !strcmp(target->type, "bool")) {
        store_value(w, writer_open_block(w, 1, &axes, true), target, &axes);
        target->written = true;
        return;
    }
    int dim = from->dims[random_below(w->random, from->rank)], dims[MOST_RANK];
    const char *zero = write_literal(w, from->type, 0), *extent = w->extents[dim].text;
    for (int i = 0; i < from->rank; i++)
        dims[i] = from->dims[i] == dim ? writer_larger_extent(w, dim, 2) : from->dims[i];
    Tensor *padded = writer_tensor(w, from->type, dims, from->rank);
    Axes around = axes_of(w, padded), inside = around;
    int indent = writer_open_block(w, 1, &around, true);
    for (int i = 0; i < from->rank; i++)
        if (from->dims[i] == dim)
            inside.items[i] = (Axis){dim, 'S', "i", write_text(w, "%s - 1", around.items[i].name)};
    const char *at = axis_name(&around, writer_larger_extent(w, dim, 2));
    write_line(w, indent, "%s = T.if_then_else(1 <= %s and %s < %s + 1, %s, %s)", element(w, padded, &around), at, at, extent,
               element(w, from, &inside), zero);
    int window = writer_extent(w, "3", 3);
    axes_add(&axes, w, window, 'R');
    axes.items[axes.count - 1].loop = "w";
    axes.items[axes.count - 1].name = "vw";
    indent = writer_open_block(w, 1, &axes, true);
    Axes read = with_index(&spatial, dim, write_text(w, "%s + vw", axis_name(&spatial, dim)));
    for (int i = 0; i < read.count; i++)
        if (read.items[i].dim == dim)
            read.items[i].dim = writer_larger_extent(w, dim, 2);
    write_line(w, indent, "with T.init():");
    write_line(w, indent + 1, "%s = %s", element(w, target, &spatial), zero);
    write_line(w, indent, "%s = %s + %s", element(w, target, &spatial), element(w, target, &spatial), element(w, padded, &read));
    target->written = padded->written = true;
}

/* One tensor by two blocks, each over a part of the rows. */
static void make_halves(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes axes = axes_of(w, target);
    int size = w->extents[target->dims[0]].size, middle = size / 2;
    for (int half = 0; half < 2; half++) {
        if (size < 2 && half)
            break;
        int indent = 1;
        for (int i = 0; i < axes.count; i++) {
            const char *extent = size < 2 || i ? w->extents[axes.items[i].dim].text : write_text(w, "%d", half ? size - middle : middle);
            write_line(w, indent++, "for %s in range(%s):", axes.items[i].loop, extent);
        }
        write_line(w, indent, "with T.block(\"blk%d\"):", ++w->block_count);
        for (int i = 0; i < axes.count; i++)
            write_line(w, indent + 1, "%s = T.axis.spatial(%s, %s%s)", axes.items[i].name, w->extents[axes.items[i].dim].text,
                       axes.items[i].loop, half && !i ? write_text(w, " + %d", middle) : "");
        write_line(w, indent + 1, "%s = %s", element(w, target, &axes), writer_value(w, target->type, &axes, target));
    }
    target->written = true;
}

/* Two nests below one loop. */
static void make_siblings(Writer *w)
{
    Tensor *first = writer_target(w), *second = writer_tensor(w, w->type, first->dims, first->rank);
    Axes axes = axes_of(w, first);
    write_line(w, 1, "for i in range(%s):", w->extents[axes.items[0].dim].text);
    for (int part = 0; part < 2; part++) {
        Tensor *target = part ? second : first;
        int indent = 2;
        for (int i = 1; i < axes.count; i++)
            write_line(w, indent++, "for %s in range(%s):", axes.items[i].loop, w->extents[axes.items[i].dim].text);
        write_line(w, indent, "with T.block(\"blk%d\"):", ++w->block_count);
        for (int i = 0; i < axes.count; i++)
            write_line(w, indent + 1, "%s = T.axis.spatial(%s, %s)", axes.items[i].name, w->extents[axes.items[i].dim].text,
                       axes.items[i].loop);
        write_line(w, indent + 1, "%s = %s", element(w, target, &axes), writer_value(w, target->type, &axes, target));
        target->written = true;
    }
}

/* TARGET by a block for each element of its rows, from a row of scratch memory that a block before fills. */
static void write_rows_by_scratch(Writer *w, int indent, const Tensor *target, const Axes *inner, const Axes *axes)
{
    const char *name = write_text(w, "S%d", w->block_count), *at = inner->items[0].name, *to = element(w, target, axes),
               *value = writer_operand(w, target->type, axes, target);
    write_line(w, indent, "%s = T.alloc_buffer((%s,), \"%s\")", name, w->extents[inner->items[0].dim].text, target->type);
    write_line(w, writer_open_block(w, indent, inner, true), "%s[%s] = %s", name, at, value);
    write_line(w, writer_open_block(w, indent, inner, true), "%s = %s[%s]", to, name, at);
}

/* For each row a block, and in it a reduction over the row. */
static void make_row_sums(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes outer = axes_of(w, target), inner = {.count = 0}, axes = outer;
    axes_add(&axes, w, random_below(w->random, w->own_dims), 'R');
    inner.items[inner.count++] = axes.items[axes.count - 1];
    const char *kind = update_kind(w, target->type), *to = element(w, target, &outer);
    int indent = writer_open_block(w, 1, &outer, true);
    indent = writer_open_block(w, indent, &inner, true);
    write_line(w, indent, "with T.init():");
    write_line(w, indent + 1, "%s = %s", to, update_identity(w, kind, target->type));
    write_line(w, indent, "%s", update_text(w, kind, to, target->type, &axes, target));
    target->written = true;
}

/* A reduction whose outer block starts the sums, or goes on with them in an order, and whose inner block adds to them. */
static void make_sums_in_steps(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes spatial = axes_of(w, target), outer = spatial, inner = spatial, axes = spatial;
    axes_add(&outer, w, random_below(w->random, w->own_dims), random_chance(w->random, 70) ? 'R' : 'O');
    const Axis *step = &outer.items[outer.count - 1];
    axes.items[axes.count++] = *step;
    const char *to = element(w, target, &spatial), *value = writer_operand(w, target->type, &axes, target), *kind = update_kind(w, target->type);
    const char *first = write_literal(w, target->type, 1), *added = kind[0] == 's' || kind[0] == 'w' ? "+" : "*";
    for (int i = 0; i < inner.count; i++)
        inner.items[i].name = write_text(w, "u%s", inner.items[i].loop);
    write_line(w, writer_open_block(w, 1, &spatial, true), "%s = %s", to, first);
    int indent = writer_open_block(w, 1, &outer, step->kind == 'R');
    if (step->kind == 'R' && random_chance(w->random, 60)) {
        write_line(w, indent, "with T.init():");
        write_line(w, indent + 1, "%s = %s", to, first);
    }
    write_line(w, indent, "with T.block(\"blk%d\"):", ++w->block_count);
    for (int i = 0; i < inner.count; i++)
        write_line(w, indent + 1, "%s = T.axis.spatial(%s, %s)", inner.items[i].name, w->extents[inner.items[i].dim].text, spatial.items[i].name);
    if (step->kind == 'R' || random_chance(w->random, 50)) {
        write_line(w, indent + 1, "ustep = T.axis.reduce(%s, %s)", w->extents[step->dim].text, step->name);
        axes.items[axes.count - 1].name = "ustep";
    }
    to = element(w, target, &inner);
    write_line(w, indent + 1, "%s = %s %s (%s)", to, to, strcmp(target->type, "bool") ? added : "and", value);
    target->written = true;
}

/* Rows that an outer block goes through in order; each follows from the one before, element by element. */
static void make_steps_of_rows(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes axes = axes_of(w, target), outer = axes, inner = axes;
    if (axes.count < 2) {
        store_value(w, writer_open_block(w, 1, &axes, true), target, &axes);
        target->written = true;
        return;
    }
    outer.count = 1;
    outer.items[0].kind = 'O';
    inner.count = axes.count - 1;
    memmove(inner.items, axes.items + 1, sizeof *inner.items * (size_t)inner.count);
    int indent = writer_open_block(w, 1, &outer, false);
    indent = writer_open_block(w, indent, &inner, true);
    store_after(w, indent, target, &axes, 0);
}

/* The even elements by one block, the odd ones by another, both read by a third. */
static void make_interleaved(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes axes = axes_of(w, target);
    const Extent *half = &w->extents[target->dims[0]];
    int dims[MOST_RANK], twice = writer_extent(w, half->size < 0 ? write_text(w, "%s * 2", half->text) : write_text(w, "%d", half->size * 2),
                                               half->size < 0 ? -1 : half->size * 2);
    memcpy(dims, target->dims, sizeof dims);
    dims[0] = twice;
    Tensor *pairs = writer_tensor(w, target->type, dims, target->rank);
    const char *parts[2];
    for (int part = 0; part < 2; part++) {
        Axes place = axes;
        place.items[0].dim = twice;
        place.items[0].name = write_text(w, "%s * 2 + %d", axes.items[0].name, part);
        parts[part] = element(w, pairs, &place);
        write_line(w, writer_open_block(w, 1, &axes, true), "%s = %s", parts[part], writer_operand(w, target->type, &axes, target));
    }
    const char *operation = strcmp(target->type, "bool") ? "-" : "and", *to = element(w, target, &axes);
    write_line(w, writer_open_block(w, 1, &axes, true), "%s = %s %s %s", to, parts[0], operation, parts[1]);
    target->written = pairs->written = true;
}

/* A block for each row, and in it a block for each element; the row may be seen through a view. */
static void make_nested(Writer *w)
{
    Tensor *target = writer_target(w);
    Axes axes = axes_of(w, target);
    target->written = true;
    if (axes.count < 2) {
        store_value(w, writer_open_block(w, 1, &axes, true), target, &axes);
        return;
    }
    Axes outer = axes, inner = axes;
    outer.count = axes.count - 1;
    inner.items[0] = axes.items[axes.count - 1];
    inner.count = 1;
    const char *extent = w->extents[inner.items[0].dim].text, *value = writer_operand(w, target->type, &axes, target),
               *to = element(w, target, &axes);
    int indent = writer_open_block(w, 1, &outer, true);
    if (random_chance(w->random, 30)) {
        write_rows_by_scratch(w, indent, target, &inner, &axes);
        return;
    }
    bool view = random_chance(w->random, 30) && w->extents[inner.items[0].dim].size != 0;
    if (view) {
        Axes corner = with_index(&axes, inner.items[0].dim, write_text(w, "0:%s", extent));
        const char *shape = "1";
        for (int i = 2; i < axes.count; i++)
            shape = write_text(w, "%s, 1", shape);
        write_line(w, indent, "V = T.match_buffer(%s, (%s, %s), \"%s\")", element(w, target, &corner), shape, extent, target->type);
        to = "V[0";
        for (int i = 2; i < axes.count; i++)
            to = write_text(w, "%s, 0", to);
        to = write_text(w, "%s, %s]", to, inner.items[0].name);
    }
    indent = writer_open_block(w, indent, &inner, true);
    write_line(w, indent, "%s = %s", to, value);
}

static void make_loaded(Writer *w)
{
    if (!write_loaded(w))
        make_elementwise(w);
}

static void make_guarded(Writer *w)
{
    if (!write_guarded(w))
        make_elementwise(w);
}

static void make_ragged(Writer *w)
{
    if (!write_ragged(w))
        make_elementwise(w);
}

static void make_views(Writer *w)
{
    if (!write_views(w))
        make_elementwise(w);
}

static void make_padding(Writer *w)
{
    if (!write_padding(w))
        make_copy(w);
}

static void make_calls(Writer *w)
{
    if (!write_calls(w))
        make_elementwise(w);
}

static void make_form(Writer *w)
{
    if (!write_form(w))
        make_elementwise(w);
}

static void make_flat(Writer *w)
{
    if (!write_flat(w))
        make_elementwise(w);
}

static const struct {
    void (*make)(Writer *w);
    int weight;
} makers[] = {{make_elementwise, 26}, {make_copy, 10},    {make_stencil, 7},  {make_reduction, 22}, {make_argument_of_extreme, 4},
              {make_scan, 5},         {make_gather, 6},   {make_reversed, 4}, {make_in_place, 4},   {make_windows, 5},
              {make_halves, 3},       {make_siblings, 6}, {make_nested, 6},   {make_row_sums, 3}, {make_interleaved, 3},
              {make_sums_in_steps, 3}, {make_steps_of_rows, 3}, {make_loaded, 8}, {make_guarded, 10}, {make_ragged, 10}, {make_views, 14},        {make_calls, 7}, {make_padding, 8},
              {make_form, 18}, {make_flat, 10}};

void random_blocks(Writer *w)
{
    int total = 0, maker = 0;
    for (int i = 0; i < (int)(sizeof makers / sizeof *makers); i++)
        total += makers[i].weight;
    int chosen = random_below(w->random, total);
    while (chosen >= makers[maker].weight)
        chosen -= makers[maker++].weight;
    makers[maker].make(w);
    if (random_chance(w->random, 10))
        write_loose(w);
}
