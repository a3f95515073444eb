/* See access_flat.h.

       V = T.Buffer((4, 4), "int32", data=A.data)
       V[i, j] = ...                                  is a write of A[i * 4 + j]

   A layout that differs between iterations (an offset that names a loop's variable) tells elements apart in one of them only. Such a buffer is
   flat, with its offset in the index, or its accesses may touch all of the memory.
*/
#include "ir/walk.h"
#include "passes/analysis/collect/access_flat.h"

typedef struct {
    Context *ctx;
    Map roots; /* data variable -> the Buffer that brings the memory */
    Map moving; /* variables that have several values in one run */
    Layouts layouts;
} FlatSearch;

/* --- what stays the same --- */

static void add_moving(FlatSearch *search, Var *var)
{
    map_set(search->ctx->arena, &search->moving, var, var);
}

typedef struct {
    const Map *moving;
    bool loads, moves;
} Steadiness;

static bool visit_steadiness(Visitor *visitor, const Expr *expr)
{
    Steadiness *found = visitor->data;
    found->loads |= expr->kind == EXPR_LOAD || !expr_is_pure(expr);
    found->moves |= expr->kind == EXPR_VAR && map_has(found->moving, expr->value.var);
    return !found->loads;
}

static Steadiness steadiness_of_expr(const FlatSearch *search, const Expr *expr)
{
    Steadiness found = {.moving = &search->moving};
    Visitor visitor = {.expr = visit_steadiness, .data = &found};
    visit_expr(&visitor, expr);
    return found;
}

/* BUFFER lies in its memory as it does wherever it is declared in the same words. Its first extent says nothing of that. */
static bool layout_is_steady(const FlatSearch *search, const Buffer *buffer)
{
    Steadiness found = {.moving = &search->moving};
    Visitor visitor = {.expr = visit_steadiness, .data = &found};
    visit_expr(&visitor, buffer->elem_offset);
    for (int i = 0; i < buffer->ndim; i++) {
        if (buffer->strides)
            visit_expr(&visitor, buffer->strides[i]);
        else if (i > 0)
            visit_expr(&visitor, buffer->shape[i]);
    }
    return !found.loads && !found.moves;
}

/* VALUE, of a pointer, leads to memory that no other name does: arguments do not overlap. */
static bool is_own_memory(const Expr *value)
{
    return expr_is_call(value, OP_TVM_STACK_ALLOCA) || expr_is_call(value, OP_TVM_STRUCT_GET);
}

/* The variables that STMT gives a value more than once, and pointers, as far as is known. */
static void find_moving(FlatSearch *search, const Stmt *stmt)
{
    if (stmt->kind == STMT_LET && stmt->as.let.value->dtype.code == DT_HANDLE && !is_own_memory(stmt->as.let.value))
        map_set(search->ctx->arena, &search->layouts.unknown, stmt->as.let.var, stmt->as.let.var);
    if (stmt->kind == STMT_FOR)
        add_moving(search, stmt->as.loop.var);
    if (stmt->kind == STMT_LET) {
        Steadiness value = steadiness_of_expr(search, stmt->as.let.value);
        if (value.loads || value.moves)
            add_moving(search, stmt->as.let.var);
    }
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.iter_count; i++)
        add_moving(search, stmt->as.block.iters[i].var);
}

/* --- flat buffers --- */

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

/* The elements of VIEW have places in its memory that an index can say; *SPAN is the end of the last one, where it is known. */
static bool has_flat_place(const FlatSearch *search, const Buffer *view, int64_t *span)
{
    int64_t stride;
    if (is_constant(view->elem_offset))
        return span_of(view, span);
    for (int i = 0; i < view->ndim; i++)
        if (!stride_of(view, i, &stride))
            return false;
    return !steadiness_of_expr(search, view->elem_offset).loads;
}

static Buffer *flat_of(const FlatSearch *search, const Buffer *root, const Buffer *view)
{
    int64_t root_span, view_span = 0;
    if (!span_of(root, &root_span) || !dtype_equal(root->dtype, view->dtype) || !has_flat_place(search, view, &view_span))
        return NULL;
    Context *ctx = search->ctx;
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
    find_moving(search, stmt);
    if (stmt->kind != STMT_DECL_BUFFER)
        return true;
    if (!layout_is_steady(search, stmt->as.declare.buffer))
        map_set(search->ctx->arena, &search->layouts.moving, stmt->as.declare.buffer, stmt->as.declare.buffer);
    Buffer *view = stmt->as.declare.buffer, *root = map_get(&search->roots, view->data);
    if (root && same_shape(root, view))
        return true;
    Buffer *flat = root ? flat_of(search, root, view) : NULL;
    if (flat && map_has(&search->layouts.flats, view->data))
        flat = map_get(&search->layouts.flats, view->data);
    map_set(search->ctx->arena, &search->layouts.flats, view->data, flat);
    if (!flat) /* never again */
        map_set(search->ctx->arena, &search->roots, view->data, NULL);
    return true;
}

Layouts layouts_collect(Context *ctx, const Func *func)
{
    FlatSearch search = {.ctx = ctx};
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            add_root(&search, func->params[i].buffer);
    Visitor visitor = {.stmt = find_view, .data = &search};
    visit_stmt(&visitor, func->body);
    return search.layouts;
}

/* REGION in terms of FLAT; false where its elements do not follow one another. */
static bool region_flatten(Context *ctx, const Region *region, Buffer *flat, Region *result)
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

Region region_as_laid_out(Context *ctx, const Layouts *layouts, Region region, bool *whole)
{
    Buffer *flat = map_get(&layouts->flats, region.buffer->data);
    *whole |= !flat && map_has(&layouts->moving, region.buffer);
    if (flat && (*whole || !region_flatten(ctx, &region, flat, &region))) {
        *whole = true;
        region = region_whole(ctx, flat);
    }
    return region;
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
