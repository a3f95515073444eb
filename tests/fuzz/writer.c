/* Extents, tensors and the loop nests around blocks; see writer.h. */
#include "writer.h"

void write_line(Writer *w, int indent, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_printf(&w->body, "%*s%s\n", indent * 4, "", arena_vprintf(w->arena, format, args));
    va_end(args);
}

const char *write_text(Writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(w->arena, format, args);
    va_end(args);
    return text;
}

/* --- Extents and tensors --- */
int writer_extent(Writer *w, const char *text, int size)
{
    w->extents[w->extent_count] = (Extent){text, size, -1, 0};
    return w->extent_count++;
}

int writer_larger_extent(Writer *w, int dim, int more)
{
    for (int i = 0; i < w->extent_count; i++)
        if (w->extents[i].base == dim && w->extents[i].more == more)
            return i;
    const Extent *extent = &w->extents[dim];
    const char *text = extent->size < 0 ? write_text(w, "(%s + %d)", extent->text, more) : write_text(w, "%d", extent->size + more);
    int larger = writer_extent(w, text, extent->size < 0 ? -1 : extent->size + more);
    w->extents[larger].base = dim;
    w->extents[larger].more = more;
    return larger;
}

Tensor *writer_tensor(Writer *w, const char *type, const int *dims, int rank)
{
    Tensor *tensor = &w->tensors[w->tensor_count];
    *tensor = (Tensor){.name = write_text(w, "B%d", w->tensor_count), .type = type, .rank = rank};
    memcpy(tensor->dims, dims, sizeof *dims * (size_t)rank);
    w->tensor_count++;
    return tensor;
}

static const char *other_type(Writer *w)
{
    static const char *const types[] = {"int8",   "int16",   "int32",    "int64",   "uint8",   "uint16", "uint32",
                                        "uint64", "float16", "bfloat16", "float32", "float64", "bool"};
    return types[random_below(w->random, sizeof types / sizeof *types)];
}

/* Mostly one shape, so that blocks follow one another elementwise; else fewer dimensions or another order. */
Tensor *writer_target(Writer *w)
{
    int dims[MOST_RANK], rank = w->own_dims;
    for (int i = 0; i < rank; i++)
        dims[i] = i;
    if (random_chance(w->random, 25)) {
        rank = 1 + random_below(w->random, w->own_dims);
        int first = random_below(w->random, w->own_dims);
        for (int i = 0; i < rank; i++)
            dims[i] = (first + i) % w->own_dims;
    }
    return writer_tensor(w, w->mixed_types && random_chance(w->random, 30) ? other_type(w) : w->type, dims, rank);
}

/* --- Loop nests --- */
void axes_add(Axes *axes, Writer *w, int dim, char kind)
{
    static const char *const letters[] = {"i", "j", "k", "l", "p", "q"};
    const char *letter = letters[axes->count];
    axes->items[axes->count++] = (Axis){dim, kind, letter, write_text(w, "v%s", letter)};
}

Axes axes_of(Writer *w, const Tensor *tensor)
{
    Axes axes = {.count = 0};
    for (int i = 0; i < tensor->rank; i++)
        axes_add(&axes, w, tensor->dims[i], 'S');
    return axes;
}

typedef struct {
    const char *var, *range;
    bool plain; /* RANGE is range(EXTENT) */
    const char *extent;
} LoopLine;
/* The loops and bindings of a block while it is written. */
typedef struct {
    LoopLine loops[2 * MOST_AXES];
    int loop_count;
    const char *bindings[MOST_AXES], *where;
    bool simple; /* every axis is bound to its own loop */
    bool skewed; /* the range of a loop depends on a loop before */
} Nest;

static void nest_loop(Writer *w, Nest *nest, const char *var, const char *extent, const char *range)
{
    nest->loops[nest->loop_count++] = (LoopLine){var, range ? range : write_text(w, "range(%s)", extent), !range, extent};
}

static void nest_where(Writer *w, Nest *nest, const char *condition)
{
    nest->where = nest->where ? write_text(w, "%s and %s", nest->where, condition) : condition;
}

Mask random_mask(Writer *w)
{
    static const Mask masks[] = {MASK_TRIANGLE, MASK_BAND, MASK_PARITY, MASK_HEAD};
    return masks[random_below(w->random, 4)];
}

/* The point where every axis is 0 is in each mask, and so is every point whose last axis is 0, but for MASK_PARITY. */
static void nest_mask(Writer *w, Nest *nest, const Axes *axes)
{
    const char *first = nest->bindings[0], *last = nest->bindings[axes->count - 1];
    switch (axes->mask) {
    case MASK_NONE: break;
    case MASK_TRIANGLE: nest_where(w, nest, write_text(w, "%s <= %s", last, first)); break;
    case MASK_BAND: nest_where(w, nest, write_text(w, "%s - (%s) < %d", last, first, 1 + random_below(w->random, 3))); break;
    case MASK_PARITY: nest_where(w, nest, write_text(w, "(%s + %s) %% 2 == 0", first, last)); break;
    case MASK_HEAD: nest_where(w, nest, write_text(w, "%s < %d", last, 1 + random_below(w->random, 9))); break;
    }
}

/* One loop over the elements of two axes, the AXES at INDEX and behind it. */
static void nest_fused(Writer *w, Nest *nest, const Axes *axes, int index)
{
    const char *inner = w->extents[axes->items[index + 1].dim].text;
    nest_loop(w, nest, "f", write_text(w, "(%s) * (%s)", w->extents[axes->items[index].dim].text, inner), NULL);
    nest->bindings[index] = write_text(w, "f // (%s)", inner);
    nest->bindings[index + 1] = write_text(w, "f %% (%s)", inner);
    nest->simple = false;
}

/* The first of two axes to fuse, or -1. Fused with points a reduction must not be empty, for they would have no init. */
static int fused_axis(Writer *w, const Axes *axes)
{
    int index = axes->count > 1 && random_chance(w->random, 6) ? random_below(w->random, axes->count - 1) : -1;
    if (index < 0)
        return -1;
    const Axis *first = &axes->items[index], *second = first + 1, *reduced = first->kind == 'R' ? first : second;
    bool mixed = (first->kind == 'R') != (second->kind == 'R');
    return w->extents[second->dim].size == 0 || (mixed && w->extents[reduced->dim].size <= 0) ? -1 : index;
}

typedef enum { FORM_PLAIN, FORM_OFFSET, FORM_SKEWED, FORM_WIDE, FORM_TILED, FORM_BACKWARDS, FORM_ANNOTATED, FORM_KIND } BindingForm;

/* A loop from START on. */
static void nest_from(Writer *w, Nest *nest, int index, const Axis *axis, const char *start)
{
    const char *extent = w->extents[axis->dim].text;
    nest_loop(w, nest, axis->loop, extent, write_text(w, "T.serial(%s, %s + %s)", start, extent, start));
    nest->bindings[index] = write_text(w, "%s - (%s)", axis->loop, start);
}

/* Where a loop starts: a constant of either sign, or a size. */
static const char *random_start(Writer *w)
{
    static const char *const starts[] = {"3", "1", "-2", "10"};
    const char *size = w->extents[0].text;
    return random_chance(w->random, 30) && w->extents[0].size < 0 ? size : starts[random_below(w->random, 4)];
}

/* A loop over AXIS that runs at once, or is written out. */
static const char *loop_of_kind(Writer *w, const Axis *axis)
{
    const Extent *extent = &w->extents[axis->dim];
    const char *kind = extent->size > 0 && random_chance(w->random, 60) ? random_chance(w->random, 50) ? "unroll" : "vectorized" : "parallel";
    kind = axis->kind == 'S' || !strcmp(kind, "unroll") ? kind : "serial";
    w->in_vectors |= !strcmp(kind, "vectorized");
    return write_text(w, "T.%s(%s)", kind, extent->text);
}

static void nest_axis(Writer *w, Nest *nest, int index, const Axis *axis, BindingForm form)
{
    const char *extent = w->extents[axis->dim].text, *loop = axis->loop;
    nest->bindings[index] = loop;
    nest->simple &= form == FORM_PLAIN || form == FORM_ANNOTATED || form == FORM_KIND;
    switch (form) {
    case FORM_OFFSET: nest_from(w, nest, index, axis, random_start(w)); break;
    case FORM_SKEWED:
        nest->skewed = nest->loop_count > 0;
        nest_from(w, nest, index, axis, nest->loop_count ? nest->loops[nest->loop_count - 1].var : "2");
        break;
    case FORM_WIDE:
        nest_loop(w, nest, loop, write_text(w, "%s + 2", extent), NULL);
        nest_where(w, nest, write_text(w, "%s < %s", loop, extent));
        break;
    case FORM_TILED:
        nest_loop(w, nest, write_text(w, "%s_0", loop), write_text(w, "(%s + 3) // 4", extent), NULL);
        nest_loop(w, nest, write_text(w, "%s_1", loop), "4", NULL);
        nest->bindings[index] = write_text(w, "%s_0 * 4 + %s_1", loop, loop);
        nest_where(w, nest, write_text(w, "%s < %s", nest->bindings[index], extent));
        break;
    case FORM_BACKWARDS:
        nest_loop(w, nest, loop, extent, NULL);
        nest->bindings[index] = write_text(w, "%s - 1 - %s", extent, loop);
        break;
    case FORM_ANNOTATED:
        nest_loop(w, nest, loop, extent, write_text(w, "T.serial(%s, annotations={\"note\": 1})", extent));
        break;
    case FORM_KIND: nest_loop(w, nest, loop, extent, loop_of_kind(w, axis)); break;
    case FORM_PLAIN: nest_loop(w, nest, loop, extent, NULL); break;
    }
}

static BindingForm random_form(Writer *w, const Axis *axis, bool free)
{
    static const BindingForm forms[] = {FORM_OFFSET, FORM_OFFSET, FORM_SKEWED, FORM_WIDE, FORM_TILED, FORM_TILED, FORM_BACKWARDS, FORM_ANNOTATED, FORM_KIND, FORM_KIND};
    if (!random_chance(w->random, 14))
        return FORM_PLAIN;
    BindingForm form = forms[random_below(w->random, sizeof forms / sizeof *forms)];
    return (form == FORM_BACKWARDS || form == FORM_KIND) && (!free || axis->kind == 'O') ? FORM_OFFSET : form;
}

static void shuffle_loops(Writer *w, Nest *nest)
{
    for (int i = nest->loop_count - 1; i > 0; i--) {
        int j = random_below(w->random, i + 1);
        LoopLine swapped = nest->loops[i];
        nest->loops[i] = nest->loops[j];
        nest->loops[j] = swapped;
    }
}

static int write_loops(Writer *w, int indent, const Nest *nest)
{
    bool grid = nest->loop_count > 1;
    const char *vars = NULL, *extents = NULL;
    for (int i = 0; i < nest->loop_count; i++) {
        const LoopLine *loop = &nest->loops[i];
        grid &= loop->plain;
        vars = vars ? write_text(w, "%s, %s", vars, loop->var) : loop->var;
        extents = extents ? write_text(w, "%s, %s", extents, loop->extent) : loop->extent;
    }
    if (grid)
        write_line(w, indent++, "for %s in T.grid(%s):", vars, extents);
    for (int i = 0; !grid && i < nest->loop_count; i++)
        write_line(w, indent++, "for %s in %s:", nest->loops[i].var, nest->loops[i].range);
    return indent;
}

static const char *axis_function(Writer *w, char kind)
{
    if (kind == 'O') /* one in five claims to be spatial, and steps must not believe it */
        return random_chance(w->random, 20) ? "spatial" : random_chance(w->random, 50) ? "opaque" : "scan";
    return kind == 'S' ? "spatial" : "reduce";
}

static void write_axes(Writer *w, int indent, const Axes *axes, const Nest *nest)
{
    const char *kinds = "", *names = NULL, *loops = NULL;
    bool remap = nest->simple && axes->count > 1;
    for (int i = 0; i < axes->count; i++) {
        const Axis *axis = &axes->items[i];
        kinds = write_text(w, "%s%c", kinds, axis->kind);
        names = names ? write_text(w, "%s, %s", names, axis->name) : axis->name;
        loops = loops ? write_text(w, "%s, %s", loops, axis->loop) : axis->loop;
        remap &= axis->kind != 'O';
    }
    if (remap)
        write_line(w, indent, "%s = T.axis.remap(\"%s\", [%s])", names, kinds, loops);
    for (int i = 0; !remap && i < axes->count; i++) {
        const Axis *axis = &axes->items[i];
        write_line(w, indent, "%s = T.axis.%s(%s, %s)", axis->name, axis_function(w, axis->kind), w->extents[axis->dim].text,
                   nest->bindings[i]);
    }
    if (random_chance(w->random, 4))
        write_line(w, indent, "vone = T.axis.spatial(1, 0)");
    if (nest->where)
        write_line(w, indent, "T.where(%s)", nest->where);
}

int writer_open_block(Writer *w, int indent, const Axes *axes, bool free)
{
    Nest nest = {.simple = true};
    Axes order = *axes;
    w->in_vectors = false;
    int fused = fused_axis(w, axes);
    if (fused >= 0)
        nest_fused(w, &nest, axes, fused);
    for (int i = 0; i < axes->count; i++)
        if (fused < 0 || (i != fused && i != fused + 1))
            nest_axis(w, &nest, i, &axes->items[i], random_form(w, &axes->items[i], free));
    if (axes->repeated)
        nest_loop(w, &nest, "again", random_chance(w->random, 50) ? "1" : "2", NULL);
    if (free && !nest.skewed && random_chance(w->random, 20))
        shuffle_loops(w, &nest);
    nest_mask(w, &nest, axes);
    if (axes->count > 1 && random_chance(w->random, 8)) { /* an order of axes that is not the buffer's */
        order.items[0] = axes->items[axes->count - 1];
        order.items[axes->count - 1] = axes->items[0];
        const char *first = nest.bindings[0];
        nest.bindings[0] = nest.bindings[axes->count - 1];
        nest.bindings[axes->count - 1] = first;
    }
    indent = write_loops(w, indent, &nest);
    write_line(w, indent, "with T.block(\"blk%d\"):", ++w->block_count);
    write_axes(w, indent + 1, &order, &nest);
    return indent + 1;
}
