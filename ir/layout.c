/* See layout.h. */
#include "ir/layout.h"

#include "ir/elements.h"

/* --- Expressions --- */
const Expr *expr_narrow_constant(Context *ctx, const Expr *expr, DType type)
{
    int64_t value;
    return expr_const_int(expr, &value) && dtype_holds(type, value) ? expr_int(ctx, type, value) : expr;
}

const Expr *expr_in_int64(Context *ctx, const Expr *expr)
{
    DType wide = dtype_with_lanes(DTYPE_INT64, expr->dtype.lanes);
    if (dtype_equal(expr->dtype, wide))
        return expr;
    bool arithmetic = (expr_is_binary(expr) && expr->kind <= EXPR_MAX) || expr->kind == EXPR_RAMP || expr->kind == EXPR_BROADCAST;
    bool chosen = expr->kind == EXPR_SELECT || expr_is_call(expr, OP_IF_THEN_ELSE);
    if (!dtype_is_index(expr->dtype) || (!arithmetic && !chosen))
        return op_cast(ctx, wide, expr);
    const Expr *args[3];
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = chosen && i == 0 ? expr->args[i] : expr_in_int64(ctx, expr->args[i]);
    if (expr->kind == EXPR_RAMP)
        return expr_ramp(ctx, args[0], args[1], expr->dtype.lanes);
    if (expr->kind == EXPR_BROADCAST)
        return expr_broadcast(ctx, args[0], expr->dtype.lanes / expr->args[0]->dtype.lanes);
    if (expr->kind == EXPR_SELECT)
        return expr_select(ctx, args[0], args[1], args[2]);
    if (chosen)
        return expr_call(ctx, wide, OP_IF_THEN_ELSE, args, 3, expr->span);
    return op_binary(ctx, expr->kind, args[0], args[1], expr->span);
}

/* --- Buffers --- */
/* The product of the extents from dimension FIRST on: in the index type where it is a constant that fits, else in int64. */
static const Expr *extent_product(Context *ctx, const Buffer *buffer, int first)
{
    const Expr *product = expr_int(ctx, DTYPE_INT64, 1);
    for (int i = first; i < buffer->ndim; i++)
        product = op_mul(ctx, product, expr_in_int64(ctx, buffer->shape[i]));
    return expr_narrow_constant(ctx, product, buffer_index_dtype(buffer));
}

const Expr *buffer_stride(Context *ctx, const Buffer *buffer, int dim)
{
    return buffer->strides ? buffer->strides[dim] : extent_product(ctx, buffer, dim + 1);
}

const Expr *buffer_linear_offset(Context *ctx, const Buffer *buffer, const Expr *const *indices)
{
    if (buffer->ndim == 1 && buffer_is_dense(buffer) && expr_is_int(buffer->elem_offset, 0))
        return indices[0];
    int64_t size;
    const Expr *span = buffer_span(ctx, buffer);
    bool wide = !expr_const_int(span, &size) || !dtype_holds(DTYPE_INT32, size);
    const Expr *offset = wide ? expr_in_int64(ctx, buffer->elem_offset) : buffer->elem_offset;
    for (int i = 0; i < buffer->ndim; i++) {
        const Expr *index = wide ? expr_in_int64(ctx, indices[i]) : indices[i];
        const Expr *stride = buffer_stride(ctx, buffer, i);
        const Expr *term = expr_is_int(stride, 1) ? index : op_mul(ctx, index, wide ? expr_in_int64(ctx, stride) : stride);
        offset = expr_is_int(offset, 0) ? term : op_add(ctx, offset, term);
    }
    return offset;
}

const Expr *buffer_span(Context *ctx, const Buffer *buffer)
{
    if (buffer_is_empty(buffer))
        return expr_int(ctx, buffer_index_dtype(buffer), 0);
    if (buffer_is_dense(buffer) && expr_is_int(buffer->elem_offset, 0))
        return extent_product(ctx, buffer, 0);
    const Expr *span = op_add_int(ctx, expr_in_int64(ctx, buffer->elem_offset), 1);
    for (int i = 0; i < buffer->ndim; i++) {
        const Expr *last = op_add_int(ctx, expr_in_int64(ctx, buffer->shape[i]), -1);
        span = op_add(ctx, span, op_mul(ctx, last, expr_in_int64(ctx, buffer_stride(ctx, buffer, i))));
    }
    return expr_narrow_constant(ctx, span, buffer_index_dtype(buffer));
}
