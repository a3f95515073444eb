/* Sizes of 0 and divisions by them; see analyzer.h. */
#include "ir/walk.h"
#include "passes/arith/analyzer.h"

static bool is_product_of_sign(Analyzer *an, const Expr *expr)
{
    return expr->kind == EXPR_MUL && (analyzer_prove_at_least(an, expr->args[0], 0) || analyzer_prove_at_least(an, expr->args[1], 0));
}

void analyzer_assume_positive(Analyzer *an, const Expr *expr)
{
    Context *ctx = analyzer_context(an);
    int64_t constant;
    if (expr->kind == EXPR_INT)
        return;
    analyzer_assume(an, op_compare(ctx, EXPR_GE, expr, expr_int(ctx, expr->dtype, 1)));
    if (is_product_of_sign(an, expr)) {
        analyzer_assume_positive(an, expr->args[0]);
        analyzer_assume_positive(an, expr->args[1]);
    } else if (expr->kind == EXPR_FLOORDIV && expr_const_int(expr->args[1], &constant) && constant > 0) {
        analyzer_assume_positive(an, analyzer_simplify(an, op_add_int(ctx, expr->args[0], 1 - constant)));
    } else if (expr->kind == EXPR_SUB && expr_const_int(expr->args[1], &constant) && constant >= 0) {
        analyzer_assume_positive(an, expr->args[0]);
    }
}

static const Expr *guard_divisor(Rewriter *rewriter, const Expr *expr)
{
    Context *ctx = rewriter->ctx;
    Analyzer *an = rewriter->data;
    expr = rewrite_expr_children(rewriter, expr);
    bool divides = expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_FLOORMOD || expr->kind == EXPR_DIV || expr->kind == EXPR_MOD;
    if (!divides || analyzer_prove_at_least(an, expr->args[1], 1))
        return expr;
    const Expr *divisor = expr->args[1], *zero = expr_int(ctx, divisor->dtype, 0), *one = expr_int(ctx, divisor->dtype, 1);
    const Expr *guarded = analyzer_prove_at_least(an, divisor, 0)
                              ? op_max(ctx, divisor, one)
                              : expr_select(ctx, op_compare(ctx, EXPR_EQ, divisor, zero), one, divisor);
    const Expr *args[] = {expr->args[0], guarded};
    return expr_with_args(ctx, expr, args);
}

const Expr *analyzer_guard_divisors(Analyzer *an, const Expr *expr)
{
    Rewriter rewriter = {.ctx = analyzer_context(an), .expr = guard_divisor, .data = an};
    return rewrite_expr(&rewriter, expr);
}
