/* See quotients.h. */
#include "ir/walk.h"
#include "passes/analysis/normal/quotients.h"
#include "passes/arith/iter_map.h"

static bool is_multiple(Analyzer *an, Context *ctx, const Expr *expr, const Expr *divisor)
{
    if (expr_equal(expr, divisor))
        return true;
    if (expr->kind == EXPR_MUL)
        return is_multiple(an, ctx, expr->args[0], divisor) || is_multiple(an, ctx, expr->args[1], divisor);
    return expr_is_int(analyzer_simplify(an, op_floormod(ctx, expr, divisor)), 0);
}

/* VALUE is DIVIDEND, but for multiples of DIVISOR, or DIVIDEND % m with an m that DIVISOR divides: both leave the same over DIVISOR. */
static bool leaves_same(Analyzer *an, Context *ctx, const Expr *value, const Expr *dividend, const Expr *divisor)
{
    if (expr_equal(value, dividend) || is_multiple(an, ctx, op_sub(ctx, value, dividend), divisor))
        return true;
    return value->kind == EXPR_FLOORMOD && is_multiple(an, ctx, value->args[1], divisor) &&
           leaves_same(an, ctx, value->args[0], dividend, divisor);
}

const Expr *quotient_joined(Analyzer *an, Context *ctx, const Expr *quotient, const Expr *rest)
{
    bool joins = quotient->kind == EXPR_FLOORDIV && rest->kind == EXPR_FLOORMOD && expr_equal(quotient->args[1], rest->args[1]) &&
                 leaves_same(an, ctx, quotient->args[0], rest->args[0], rest->args[1]);
    return joins ? quotient->args[0] : NULL;
}

Analyzer *analyzer_of_sizes(Context *ctx, const Map *sizes)
{
    Analyzer *an = analyzer_new(ctx);
    for (int i = 0; i < sizes->count; i++)
        analyzer_bind_nonnegative(an, sizes->entries[i].key);
    return an;
}

const Expr *quotient_undivided(Analyzer *an, Analyzer *signs, const Expr *condition)
{
    Context *ctx = analyzer_context(an);
    const Expr *quotient = condition->kind == EXPR_LT ? condition->args[0] : NULL;
    if (!quotient || quotient->kind != EXPR_FLOORDIV || !analyzer_prove_at_least(signs, quotient->args[1], 0))
        return condition;
    const Expr *number = quotient->args[0], *end = iter_product(ctx, condition->args[1], quotient->args[1]);
    bool rest = number->kind == EXPR_FLOORMOD && analyzer_prove_equal(an, number->args[1], end);
    return rest ? expr_bool(ctx, true) : op_compare(ctx, EXPR_LT, number, end);
}
