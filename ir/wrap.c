/* See wrap.h: intervals, and a walk that converts what does not fit them. Shifts and calls are not looked into; they wrap for everybody. */
#include "ir/wrap.h"

#include <math.h>

/* The magnitude of sizes: see WrapScope. */
static const double ordinary32 = 33554431, ordinary64 = 2147483647;

static WrapBound bound_of_type(DType type)
{
    if (type.code == DT_BOOL)
        return (WrapBound){0, 1};
    return (WrapBound){(double)dtype_min_int(type), type.code == DT_UINT && type.bits == 64 ? ldexp(1, 64) : (double)dtype_max_int(type)};
}

static bool lies_in_type(WrapBound bound, DType type)
{
    WrapBound whole = bound_of_type(type);
    return bound.min >= whole.min && (type.bits == 64 ? bound.max < whole.max : bound.max <= whole.max);
}

static WrapBound hull(WrapBound a, WrapBound b)
{
    return (WrapBound){fmin(a.min, b.min), fmax(a.max, b.max)};
}

static WrapBound product(WrapBound a, WrapBound b)
{
    double corners[] = {a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max};
    WrapBound bound = {corners[0], corners[0]};
    for (int i = 1; i < 4; i++)
        bound = hull(bound, (WrapBound){corners[i], corners[i]});
    return bound;
}

/* Rounded either way, by a divisor that may be negative. */
static WrapBound quotient(WrapBound a, WrapBound b)
{
    if (b.min >= 1)
        return hull((WrapBound){floor(a.min / b.min), ceil(a.max / b.min)}, (WrapBound){floor(a.min / b.max), ceil(a.max / b.max)});
    double most = fmax(fabs(a.min), fabs(a.max));
    return (WrapBound){-most, most};
}

static WrapBound remainder_bound(ExprKind kind, WrapBound a, WrapBound b)
{
    double most = fmax(fabs(b.min), fabs(b.max)) - 1;
    bool negative = b.min < 1 || (kind == EXPR_MOD && a.min < 0);
    return (WrapBound){negative ? -most : 0, most};
}

/* What the operation gives if it does not wrap. */
static WrapBound bound_of_operation(const WrapScope *scope, const Expr *expr)
{
    WrapBound a = wrap_bound(scope, expr->args[0]), b = wrap_bound(scope, expr->args[1]);
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD: return (WrapBound){a.min + b.min, a.max + b.max};
    case EXPR_SUB: return (WrapBound){a.min - b.max, a.max - b.min};
    case EXPR_MUL: return product(a, b);
    case EXPR_DIV:
    case EXPR_FLOORDIV: return quotient(a, b);
    case EXPR_MOD:
    case EXPR_FLOORMOD: return remainder_bound((ExprKind)expr->kind, a, b);
    case EXPR_MIN: return (WrapBound){fmin(a.min, b.min), fmin(a.max, b.max)};
    case EXPR_MAX: return (WrapBound){fmax(a.min, b.min), fmax(a.max, b.max)};
    default: return bound_of_type(expr->dtype);
    }
}

static WrapBound bound_of_var(const WrapScope *scope, const Var *var, DType type)
{
    WrapBound bound;
    if (scope->find(scope->data, var, &bound))
        return bound;
    double ordinary = type.bits == 32 ? ordinary32 : ordinary64;
    return dtype_is_index(type) ? (WrapBound){-ordinary, ordinary} : bound_of_type(type);
}

static WrapBound bound_if_no_wrap(const WrapScope *scope, const Expr *expr)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_INT: return (WrapBound){(double)expr->value.integer, (double)expr->value.integer};
    case EXPR_VAR: return bound_of_var(scope, expr->value.var, expr->dtype);
    case EXPR_CAST: return dtype_is_integer(expr->args[0]->dtype) ? wrap_bound(scope, expr->args[0]) : bound_of_type(expr->dtype);
    case EXPR_SELECT: return hull(wrap_bound(scope, expr->args[1]), wrap_bound(scope, expr->args[2]));
    case EXPR_CALL:
        if (expr_is_call(expr, OP_IF_THEN_ELSE))
            return hull(wrap_bound(scope, expr->args[1]), wrap_bound(scope, expr->args[2]));
        return bound_of_type(expr->dtype);
    default: return expr_is_binary(expr) ? bound_of_operation(scope, expr) : bound_of_type(expr->dtype);
    }
}

static bool is_scalar_integer(const Expr *expr)
{
    return expr->dtype.lanes == 1 && dtype_is_integer(expr->dtype);
}

WrapBound wrap_bound(const WrapScope *scope, const Expr *expr)
{
    if (!is_scalar_integer(expr))
        return (WrapBound){-INFINITY, INFINITY};
    WrapBound bound = bound_if_no_wrap(scope, expr);
    return lies_in_type(bound, expr->dtype) ? bound : bound_of_type(expr->dtype);
}

WrapBound wrap_bound_of_range(const WrapScope *scope, Range range)
{
    WrapBound min = wrap_bound(scope, range.min), extent = wrap_bound(scope, range.extent);
    return (WrapBound){min.min, fmax(min.min, min.max + extent.max - 1)};
}

static bool may_wrap(const WrapScope *scope, const Expr *expr)
{
    bool arithmetic = expr->kind == EXPR_ADD || expr->kind == EXPR_SUB || expr->kind == EXPR_MUL;
    return arithmetic && is_scalar_integer(expr) && dtype_is_index(expr->dtype) &&
           !lies_in_type(bound_of_operation(scope, expr), expr->dtype);
}

static bool is_looked_into(const Expr *expr)
{
    return expr->arg_count && expr->kind != EXPR_LOAD &&
           (expr->kind != EXPR_CALL || expr_is_call(expr, OP_IF_THEN_ELSE) || expr_is_call(expr, OP_LIKELY));
}

const Expr *wrap_explicitly(Context *ctx, const WrapScope *scope, const Expr *expr)
{
    if (!is_looked_into(expr))
        return expr;
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, expr->arg_count); /* a shuffle has one for each lane */
    bool same = true;
    for (int i = 0; i < expr->arg_count; i++) {
        args[i] = wrap_explicitly(ctx, scope, expr->args[i]);
        same &= args[i] == expr->args[i];
    }
    if (may_wrap(scope, expr)) {
        DType type = DTYPE(DT_UINT, expr->dtype.bits);
        const Expr *a = expr_cast(ctx, type, args[0]), *b = expr_cast(ctx, type, args[1]);
        return expr_cast(ctx, expr->dtype, expr_binary(ctx, (ExprKind)expr->kind, a, b));
    }
    return same ? expr : expr_with_args(ctx, expr, args);
}

/* The operand of type TYPE that EXPR has in the unsigned type; NULL: none. */
static const Expr *signed_operand(Context *ctx, const Expr *expr, DType type)
{
    if (expr->kind == EXPR_CAST)
        return dtype_equal(expr->args[0]->dtype, type) ? expr->args[0] : NULL;
    if (expr->kind != EXPR_INT)
        return NULL;
    int64_t value = type.bits == 32 ? (int32_t)(uint32_t)expr->value.integer : expr->value.integer;
    return expr_int(ctx, type, value);
}

const Expr *wrap_implicitly(Context *ctx, const WrapScope *scope, const Expr *expr)
{
    if (!is_looked_into(expr))
        return expr;
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, expr->arg_count);
    bool same = true;
    for (int i = 0; i < expr->arg_count; i++) {
        args[i] = wrap_implicitly(ctx, scope, expr->args[i]);
        same &= args[i] == expr->args[i];
    }
    const Expr *result = same ? expr : expr_with_args(ctx, expr, args), *inner = result->args[0];
    bool wrote = result->kind == EXPR_CAST && dtype_is_index(result->dtype) && inner->dtype.code == DT_UINT &&
                 inner->dtype.bits == result->dtype.bits && inner->dtype.lanes == 1 &&
                 (inner->kind == EXPR_ADD || inner->kind == EXPR_SUB || inner->kind == EXPR_MUL);
    const Expr *a = wrote ? signed_operand(ctx, inner->args[0], result->dtype) : NULL;
    const Expr *b = a ? signed_operand(ctx, inner->args[1], result->dtype) : NULL;
    const Expr *plain = b ? expr_binary(ctx, (ExprKind)inner->kind, a, b) : NULL;
    return plain && may_wrap(scope, plain) ? plain : result;
}
