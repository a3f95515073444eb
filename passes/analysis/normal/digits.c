/* Digits of a number that constants and sizes were fused to, told apart: the constant ones from what sizes divide. A loop of 8 inside of
   one of a symbolic extent n gives

     before: x // (n * 8), x % (n * 8) // 8, x % 8        after: x // 8 // n, x // 8 % n, x % 8

   in which x // 8 is found to be simple where x is f_0 * 256 + f_1. */
#include "ir/walk.h"
#include "passes/analysis/normal/digits.h"
#include "passes/analysis/normal/quotients.h"

Digits digits_new(Context *ctx, const Map *sizes)
{
    return (Digits){.an = analyzer_new(ctx), .signs = analyzer_of_sizes(ctx, sizes), .sizes = sizes, .factor = 1};
}

static bool is_product_of_sizes(const Map *sizes, const Expr *expr)
{
    if (expr->kind == EXPR_MUL)
        return is_product_of_sizes(sizes, expr->args[0]) && is_product_of_sizes(sizes, expr->args[1]);
    return expr->kind == EXPR_VAR && map_has(sizes, expr->value.var);
}

/* The constant that sizes are multiplied with in what EXPR divides by; 0 for other expressions. */
static int64_t factor_of_divisor(const Map *sizes, const Expr *expr)
{
    int64_t factor;
    const Expr *divisor = expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_FLOORMOD ? expr->args[1] : NULL;
    bool product = divisor && divisor->kind == EXPR_MUL && expr_const_int(divisor->args[1], &factor) && factor > 0;
    return product && is_product_of_sizes(sizes, divisor->args[0]) ? factor : 0;
}

typedef struct {
    const Map *sizes;
    int64_t divisor; /* the greatest that all have; 0: none found yet */
} FactorSearch;

static bool search_factor(Visitor *visitor, const Expr *expr)
{
    FactorSearch *search = visitor->data;
    for (int64_t factor = factor_of_divisor(search->sizes, expr); factor;) {
        int64_t rest = search->divisor % factor;
        search->divisor = factor;
        factor = rest;
    }
    return true;
}

void digits_find_factor(Digits *digits, const ExprList *exprs)
{
    FactorSearch search = {digits->sizes, digits->factor > 1 ? digits->factor : 0};
    Visitor visitor = {.expr = search_factor, .data = &search};
    for (int i = 0; i < exprs->count; i++)
        visit_expr(&visitor, exprs->data[i]);
    digits->factor = search.divisor ? search.divisor : 1;
}

/* x // (s * c) is x // c // s, and x % (s * c) is x // c % s * c + x % c, where s and c are positive. */
static const Expr *split_division(Rewriter *rewriter, const Expr *expr)
{
    const Digits *digits = rewriter->data;
    Context *ctx = rewriter->ctx;
    expr = rewrite_expr_children(rewriter, expr);
    int64_t factor = factor_of_divisor(digits->sizes, expr);
    if (!factor || factor % digits->factor)
        return expr;
    const Expr *constant = expr_int(ctx, expr->dtype, digits->factor);
    const Expr *size = op_mul_int(ctx, expr->args[1]->args[0], factor / digits->factor);
    const Expr *high = analyzer_simplify(digits->an, op_floordiv(ctx, expr->args[0], constant));
    if (expr->kind == EXPR_FLOORDIV)
        return op_floordiv(ctx, high, size);
    const Expr *low = analyzer_simplify(digits->an, op_floormod(ctx, expr->args[0], constant));
    return op_add(ctx, op_mul(ctx, op_floormod(ctx, high, size), constant), low);
}

const Expr *digits_of(const Digits *digits, const Expr *expr)
{
    Rewriter rewriter = {.ctx = analyzer_context(digits->an), .expr = split_division, .data = (void *)digits};
    return analyzer_simplify(digits->an, digits->factor > 1 ? rewrite_expr(&rewriter, expr) : expr);
}

/* A sum of x * 8 and 255, say, that is divided by 256 gives the same with each of the three divided by 8. */
const Expr *digits_of_extent(Context *ctx, const Expr *extent)
{
    int64_t divisor, added, factor;
    const Expr *sum = extent->kind == EXPR_FLOORDIV ? extent->args[0] : NULL;
    if (!sum || sum->kind != EXPR_ADD || sum->args[0]->kind != EXPR_MUL || !expr_const_int(extent->args[1], &divisor) ||
        !expr_const_int(sum->args[1], &added) || !expr_const_int(sum->args[0]->args[1], &factor) || factor <= 0 || divisor <= 0 ||
        added < 0 || divisor % factor)
        return extent;
    const Expr *reduced = op_add_int(ctx, sum->args[0]->args[0], added / factor);
    return op_floordiv(ctx, reduced, expr_int(ctx, extent->dtype, divisor / factor));
}
