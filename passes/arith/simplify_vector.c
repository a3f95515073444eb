/* Vectors: operations on broadcasts become broadcasts of the scalar operation, and linear ones on ramps stay ramps. */
#include "passes/arith/simplify.h"

#include "ir/fold.h"

static int vector_factor(const Expr *vector)
{
    return vector->dtype.lanes / vector->args[0]->dtype.lanes;
}

static const Expr *scalar_operation(Simplifier *s, const Expr *expr, const Expr *a, const Expr *b)
{
    return simplify_visit(s, op_binary(s->an->ctx, expr->kind, a, b, span_none()));
}

/* A ramp over index numbers, or a broadcast seen as a ramp of stride 0. */
static bool as_ramp(Simplifier *s, const Expr *expr, const Expr **base, const Expr **stride)
{
    if (expr->kind != EXPR_RAMP && expr->kind != EXPR_BROADCAST)
        return false;
    *base = expr->args[0];
    *stride = expr->kind == EXPR_RAMP ? expr->args[1] : NULL;
    if (!is_index_type((*base)->dtype))
        return false;
    if (!*stride)
        *stride = expr_int(s->an->ctx, (*base)->dtype, 0);
    return true;
}

static const Expr *sum_of_ramps(Simplifier *s, const Expr *expr)
{
    const Expr *base_a, *base_b, *stride_a, *stride_b;
    if (!as_ramp(s, expr->args[0], &base_a, &stride_a) || !as_ramp(s, expr->args[1], &base_b, &stride_b))
        return NULL;
    const Expr *base = scalar_operation(s, expr, base_a, base_b), *stride = scalar_operation(s, expr, stride_a, stride_b);
    return expr_ramp(s->an->ctx, base, stride, expr->dtype.lanes);
}

static const Expr *product_with_ramp(Simplifier *s, const Expr *expr)
{
    bool ramp_first = expr->args[0]->kind == EXPR_RAMP;
    const Expr *ramp = expr->args[!ramp_first], *other = expr->args[ramp_first];
    if (ramp->kind != EXPR_RAMP || other->kind != EXPR_BROADCAST || !is_index_type(ramp->args[0]->dtype) ||
        !is_index_type(other->args[0]->dtype))
        return NULL;
    const Expr *base = scalar_operation(s, expr, ramp->args[0], other->args[0]),
               *stride = scalar_operation(s, expr, ramp->args[1], other->args[0]);
    return expr_ramp(s->an->ctx, base, stride, expr->dtype.lanes);
}

/* A ramp divided by a positive constant: exact when the constant divides the stride; one value when no lane passes a multiple of it. */
static const Expr *divided_ramp(Simplifier *s, const Expr *expr)
{
    const Expr *ramp = expr->args[0], *divisor = expr->args[1];
    int64_t stride, by, last;
    if (ramp->kind != EXPR_RAMP || divisor->kind != EXPR_BROADCAST || !is_index_type(ramp->args[0]->dtype) ||
        !expr_const_int(ramp->args[1], &stride) || !expr_const_int(divisor->args[0], &by) || by <= 0)
        return NULL;
    Context *ctx = s->an->ctx;
    bool quotient = expr->kind == EXPR_FLOORDIV;
    const Expr *base = scalar_operation(s, expr, ramp->args[0], divisor->args[0]);
    if (stride % by == 0)
        return quotient ? expr_ramp(ctx, base, expr_int(ctx, base->dtype, stride / by), expr->dtype.lanes)
                        : expr_broadcast(ctx, base, expr->dtype.lanes);
    ModularSet start = analyzer_modular(s->an, ramp->args[0]);
    int64_t offset = floor_modulo(start.base, by);
    if (start.coeff % by != 0 || stride < 0 || __builtin_mul_overflow(stride, expr->dtype.lanes - 1, &last) || last > by - 1 - offset)
        return NULL;
    return quotient ? expr_broadcast(ctx, base, expr->dtype.lanes) : expr_ramp(ctx, base, ramp->args[1], expr->dtype.lanes);
}

const Expr *simplify_vector(Simplifier *s, const Expr *expr)
{
    if (!expr_is_binary(expr)) {
        bool negation = expr->kind == EXPR_NOT && expr->args[0]->kind == EXPR_BROADCAST;
        if (!negation)
            return NULL;
        return expr_broadcast(s->an->ctx, simplify_visit(s, expr_not(s->an->ctx, expr->args[0]->args[0])), vector_factor(expr->args[0]));
    }
    const Expr *a = expr->args[0], *b = expr->args[1];
    bool both_broadcast = a->kind == EXPR_BROADCAST && b->kind == EXPR_BROADCAST && dtype_equal(a->args[0]->dtype, b->args[0]->dtype);
    bool division_by_zero = expr->kind >= EXPR_DIV && expr->kind <= EXPR_FLOORMOD && both_broadcast && expr_is_int(b->args[0], 0);
    if (both_broadcast && !division_by_zero)
        return expr_broadcast(s->an->ctx, scalar_operation(s, expr, a->args[0], b->args[0]), vector_factor(a));
    switch (expr->kind) {
    case EXPR_ADD:
    case EXPR_SUB: return sum_of_ramps(s, expr);
    case EXPR_MUL: return product_with_ramp(s, expr);
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD: return divided_ramp(s, expr);
    default: return NULL;
    }
}
