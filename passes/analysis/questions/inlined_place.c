/* Where the memory lies that a call gives to a parameter of its callee. */
#include "ir/elements.h"
#include "ir/signature.h"
#include "passes/analysis/model/access.h"
#include "passes/analysis/questions/inlined.h"

/* The distance of neighbours in dimension DIM. */
static const Expr *stride_of(Context *ctx, const Buffer *buffer, int dim)
{
    if (buffer->strides)
        return op_cast(ctx, DTYPE_INT64, buffer->strides[dim]);
    const Expr *stride = expr_int(ctx, DTYPE_INT64, 1);
    for (int d = dim + 1; d < buffer->ndim; d++)
        stride = op_mul(ctx, stride, op_cast(ctx, DTYPE_INT64, buffer->shape[d]));
    return stride;
}

static bool begins_at_pointer(const Func *func, const Buffer *buffer)
{
    return expr_is_int(buffer->elem_offset, 0) || (is_unnamed_offset(buffer) && func_is_argument(func, buffer->data));
}

/* The whole memory of BUFFER as a buffer of one dimension; NULL where its size or layout is not constant. */
static Buffer *flat_buffer(const Inlining *inlining, const Buffer *buffer)
{
    Context *ctx = inlining->ctx;
    int64_t count = 1, extent;
    if (!buffer_is_dense(buffer) || !begins_at_pointer(inlining->func, buffer))
        return NULL;
    for (int d = 0; d < buffer->ndim; d++)
        if (!expr_const_int(buffer->shape[d], &extent) || __builtin_mul_overflow(count, extent, &count) || count > INT32_MAX)
            return NULL;
    const Expr *size = expr_int(ctx, DTYPE_INT32, count);
    Buffer *flat = buffer_new(ctx, buffer->name, buffer->dtype, 1, &size, buffer->scope, buffer->span);
    flat->data = buffer->data;
    return flat;
}

/* The memory of BUFFER from OFFSET on. */
static bool flat_element(const Inlining *inlining, const Buffer *buffer, const Expr *offset, Placed *placed)
{
    placed->target = flat_buffer(inlining, buffer);
    placed->start = arena_copy(inlining->ctx->arena, &offset, sizeof offset);
    placed->flat = true;
    return placed->target && expr_is_pure(offset) && offset->dtype.lanes == 1;
}

/* The element of BUFFER at INDICES; NULL: the first one. */
static bool indexed_element(const Inlining *inlining, Buffer *buffer, const Expr *const *indices, Placed *placed)
{
    Context *ctx = inlining->ctx;
    placed->target = buffer;
    placed->start = ARENA_ARRAY(ctx->arena, const Expr *, buffer->ndim);
    for (int d = 0; d < buffer->ndim; d++) {
        placed->start[d] = indices ? indices[d] : expr_int(ctx, buffer->shape[d]->dtype, 0);
        if (placed->start[d]->dtype.lanes != 1 || !expr_is_pure(placed->start[d]))
            return false;
    }
    return true;
}

/* The buffer that POINTER leads into, and the element that it points to; false where that is not told. */
static bool pointed_element(const Inlining *inlining, const Expr *pointer, Placed *placed)
{
    if (expr_is_call(pointer, OP_ADDRESS_OF) && pointer->args[0]->kind == EXPR_LOAD)
        return indexed_element(inlining, pointer->args[0]->value.buffer, pointer->args[0]->args, placed);
    bool access = expr_is_call(pointer, OP_TVM_ACCESS_PTR);
    const Expr *data = access ? pointer->args[1] : pointer, *offset = access ? pointer->args[2] : expr_int(inlining->ctx, DTYPE_INT32, 0);
    Buffer *buffer = data->kind == EXPR_VAR ? map_get(&inlining->buffers, data->value.var) : NULL;
    if (!buffer)
        return false;
    if (expr_equal(offset, buffer->elem_offset) || (expr_is_int(offset, 0) && begins_at_pointer(inlining->func, buffer)))
        return indexed_element(inlining, buffer, NULL, placed);
    return flat_element(inlining, buffer, offset, placed);
}

static bool has_strides_of_target(Context *ctx, const Placed *placed)
{
    const Buffer *layout = &placed->layout;
    int lead = placed->target->ndim - layout->ndim;
    for (int d = 0; d < layout->ndim && lead >= 0; d++)
        if (!expr_is_int(layout->shape[d], 1) && !expr_equal(stride_of(ctx, layout, d), stride_of(ctx, placed->target, d + lead)))
            return false;
    return lead >= 0;
}

/* Its extents are no larger than those of the last dimensions of the target. */
static bool fits_target(const Placed *placed)
{
    for (int d = 0; d < placed->layout.ndim; d++) {
        const Expr *extent = placed->layout.shape[d], *most = placed->target->shape[placed->target->ndim - placed->layout.ndim + d];
        int64_t count, limit;
        if (!expr_equal(extent, most) && !(expr_const_int(extent, &count) && expr_const_int(most, &limit) && count <= limit))
            return false;
    }
    return true;
}

static bool place_in_flat(const Inlining *inlining, Placed *placed)
{
    Context *ctx = inlining->ctx;
    Buffer *flat = flat_buffer(inlining, placed->target);
    int64_t constant;
    if (!flat)
        return false;
    const Expr *start = expr_int(ctx, DTYPE_INT32, 0);
    for (int d = 0; d < placed->target->ndim; d++)
        start = op_add(ctx, start, op_mul(ctx, op_cast(ctx, DTYPE_INT32, placed->start[d]), op_cast(ctx, DTYPE_INT32, stride_of(ctx, placed->target, d))));
    const Expr **strides = ARENA_ARRAY(ctx->arena, const Expr *, placed->layout.ndim);
    for (int d = 0; d < placed->layout.ndim; d++) {
        strides[d] = op_cast(ctx, DTYPE_INT32, stride_of(ctx, &placed->layout, d));
        if (!expr_const_int(strides[d], &constant))
            return false;
    }
    placed->strides = strides;
    placed->target = flat;
    placed->start = arena_copy(ctx->arena, &start, sizeof start);
    placed->flat = true;
    return true;
}

static Buffer layout_of_param(Context *ctx, Subst *subst, const Buffer *param)
{
    Buffer layout = *param;
    layout.shape = ARENA_ARRAY(ctx->arena, const Expr *, param->ndim);
    layout.strides = param->strides ? ARENA_ARRAY(ctx->arena, const Expr *, param->ndim) : NULL;
    for (int d = 0; d < param->ndim; d++) {
        layout.shape[d] = subst_expr(ctx, subst, param->shape[d]);
        if (param->strides)
            layout.strides[d] = subst_expr(ctx, subst, param->strides[d]);
    }
    return layout;
}

bool inlined_place_param(const Inlining *inlining, Subst *subst, const Buffer *param, const Expr *pointer, bool flat, PlacedList *list)
{
    Context *ctx = inlining->ctx;
    Placed placed = {.param = param, .layout = layout_of_param(ctx, subst, param)};
    if (!(expr_is_int(param->elem_offset, 0) || is_unnamed_offset(param)) || !pointed_element(inlining, pointer, &placed) ||
        !dtype_equal(param->dtype, placed.target->dtype) || param->dtype.lanes != 1)
        return false;
    bool part = !flat && has_strides_of_target(ctx, &placed);
    if (!(part && fits_target(&placed)) && !placed.flat && !place_in_flat(inlining, &placed) && !part)
        return false;
    vec_push(ctx->arena, list, placed);
    return true;
}
