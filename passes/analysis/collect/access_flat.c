/* See access_flat.h.

       V = T.Buffer((4, 4), "int32", data=A.data)
       V[i, j] = ...                                  is a write of A[i * 4 + j]
*/
#include "ir/walk.h"
#include "passes/analysis/collect/access_flat.h"

typedef struct {
    Context *ctx;
    Map roots; /* data variable -> the Buffer that brings the memory */
    Map flats;
} FlatSearch;

static bool is_constant(const Expr *expr)
{
    int64_t value;
    return expr_const_int(expr, &value) && value >= 0 && value <= INT32_MAX;
}

/* The distance of neighbours in dimension DIM, below zero where they lie backwards; false where it is not constant or too large to be of use. */
static bool stride_of(const Buffer *buffer, int dim, int64_t *stride)
{
    if (buffer->strides)
        return expr_const_int(buffer->strides[dim], stride) && *stride >= -INT32_MAX && *stride <= INT32_MAX;
    *stride = 1;
    for (int i = dim + 1; i < buffer->ndim; i++) {
        int64_t extent;
        if (!expr_const_int(buffer->shape[i], &extent) || extent < 0 || __builtin_mul_overflow(*stride, extent, stride) || *stride > INT32_MAX)
            return false;
    }
    return true;
}

/* One more than the greatest offset of an element; false where it is not known, or where an element may lie before the memory. */
static bool span_of(const Buffer *buffer, int64_t *span)
{
    if (!is_constant(buffer->elem_offset) || !expr_const_int(buffer->elem_offset, span))
        return false;
    int64_t first = *span;
    *span += 1;
    for (int i = 0; i < buffer->ndim; i++) {
        int64_t extent, stride;
        if (!is_constant(buffer->shape[i]) || !expr_const_int(buffer->shape[i], &extent) || !stride_of(buffer, i, &stride))
            return false;
        *(stride < 0 ? &first : span) += (extent ? extent - 1 : 0) * stride;
        if (*span > INT32_MAX || first < 0)
            return false;
    }
    return true;
}

static void add_root(FlatSearch *search, Buffer *buffer)
{
    map_set(search->ctx->arena, &search->roots, buffer->data, buffer);
}

static bool same_shape(const Buffer *a, const Buffer *b)
{
    if (a->ndim != b->ndim || a->strides || b->strides || !expr_equal(a->elem_offset, b->elem_offset) || !dtype_equal(a->dtype, b->dtype))
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (!expr_equal(a->shape[i], b->shape[i]))
            return false;
    return true;
}

static Buffer *flat_of(Context *ctx, const Buffer *root, const Buffer *view)
{
    int64_t root_span, view_span;
    if (!span_of(root, &root_span) || !span_of(view, &view_span) || !dtype_equal(root->dtype, view->dtype))
        return NULL;
    const Expr *extent = expr_int(ctx, DTYPE_INT32, root_span > view_span ? root_span : view_span);
    const Buffer *named = view->ndim == 1 && root->ndim != 1 ? view : root; /* whose indices look like those of the flat one */
    Buffer *flat = buffer_new(ctx, named->name, root->dtype, 1, &extent, root->scope, named->span);
    flat->data = root->data;
    return flat;
}

/* A third layout must agree as well: its memory is not looked at piece by piece otherwise. */
static bool find_view(Visitor *visitor, const Stmt *stmt)
{
    FlatSearch *search = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        add_root(search, stmt->as.block.allocs[i]);
    if (stmt->kind != STMT_DECL_BUFFER)
        return true;
    Buffer *view = stmt->as.declare.buffer, *root = map_get(&search->roots, view->data);
    if (root && same_shape(root, view))
        return true;
    Buffer *flat = root ? flat_of(search->ctx, root, view) : NULL;
    if (flat && map_has(&search->flats, view->data))
        flat = map_get(&search->flats, view->data);
    map_set(search->ctx->arena, &search->flats, view->data, flat);
    if (!flat) /* never again */
        map_set(search->ctx->arena, &search->roots, view->data, NULL);
    return true;
}

Map flat_buffers_collect(Context *ctx, const Func *func)
{
    FlatSearch search = {.ctx = ctx};
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            add_root(&search, func->params[i].buffer);
    Visitor visitor = {.stmt = find_view, .data = &search};
    visit_stmt(&visitor, func->body);
    return search.flats;
}

bool region_flatten(Context *ctx, const Region *region, Buffer *flat, Region *result)
{
    const Buffer *buffer = region->buffer;
    const Expr *min = buffer->elem_offset;
    bool inner_whole = true; /* the dimensions further in are covered from end to end */
    int64_t elements = 1;
    for (int d = buffer->ndim - 1; d >= 0; d--) {
        int64_t stride, count, size;
        Range range = region->ranges[d];
        if (!stride_of(buffer, d, &stride) || !expr_const_int(range.extent, &count) || !expr_const_int(buffer->shape[d], &size) ||
            (count != 1 && (!inner_whole || stride != elements)))
            return false;
        inner_whole &= count == size && expr_is_int(range.min, 0);
        elements *= count;
        min = op_add(ctx, op_mul_int(ctx, range.min, stride), min);
    }
    Range range = {min, expr_int(ctx, min->dtype, elements)};
    *result = (Region){flat, arena_copy(ctx->arena, &range, sizeof range), region->span};
    return true;
}

Region region_below_view(Context *ctx, const Region *source, Region region)
{
    int lead = source->buffer->ndim - region.buffer->ndim;
    Region below = {source->buffer, ARENA_ARRAY(ctx->arena, Range, source->buffer->ndim), region.span};
    for (int i = 0; i < source->buffer->ndim; i++) {
        if (i < lead)
            below.ranges[i] = source->ranges[i];
        else
            below.ranges[i] = (Range){op_add(ctx, source->ranges[i].min, region.ranges[i - lead].min), region.ranges[i - lead].extent};
    }
    return below;
}

/* Without strides on either side the extents say where an element lies. */
static bool same_strides(const Buffer *a, const Buffer *b)
{
    for (int i = 0; i < a->ndim; i++)
        if (a->strides && b->strides ? !expr_equal(a->strides[i], b->strides[i]) : i > 0 && !expr_equal(a->shape[i], b->shape[i]))
            return false;
    return !a->strides == !b->strides;
}

bool buffer_same_layout(const Buffer *a, const Buffer *b)
{
    if (a == b)
        return true;
    if (a->ndim != b->ndim || !expr_equal(a->elem_offset, b->elem_offset) || !dtype_equal(a->dtype, b->dtype))
        return false;
    return same_strides(a, b);
}
