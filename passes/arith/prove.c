/* Proofs, by simplification to the constant true and by bounds. */
#include "passes/arith/internal.h"

#include "passes/arith/int_set.h"

bool analyzer_prove(Analyzer *an, const Expr *condition)
{
    const Expr *simple = condition->kind == EXPR_INT ? condition : analyzer_simplify(an, condition);
    return simple->kind == EXPR_INT && simple->value.integer != 0;
}

/* A comparison as DIFFERENCE >= *LEAST; NULL for other conditions. */
static const Expr *as_lower_bound(Context *ctx, const Expr *condition, int64_t *least)
{
    *least = condition->kind == EXPR_LT || condition->kind == EXPR_GT;
    switch ((ExprKind)condition->kind) {
    case EXPR_LT:
    case EXPR_LE: return op_sub(ctx, condition->args[1], condition->args[0]);
    case EXPR_GT:
    case EXPR_GE: return op_sub(ctx, condition->args[0], condition->args[1]);
    default: return NULL;
    }
}

bool analyzer_prove_symbolic(Analyzer *an, const Expr *condition)
{
    if (analyzer_refutes(an, condition))
        return false;
    if (analyzer_prove(an, condition))
        return true;
    int64_t least;
    if (!expr_is_compare(condition) || !is_index_type(condition->args[0]->dtype))
        return false;
    const Expr *difference = as_lower_bound(an->ctx, condition, &least);
    if (!difference)
        return false;
    IntSet set = int_set_eval_bound(an, analyzer_simplify(an, difference));
    return set.min && analyzer_bound(an, analyzer_simplify(an, set.min)).min >= least;
}

enum { MOST_FACTORS = 16 };

/* Adds the factors of EXPR to the COUNT in FACTORS; false when there are too many. */
static bool collect_factors(const Expr *expr, const Expr **factors, int *count)
{
    if (expr->kind == EXPR_MUL)
        return collect_factors(expr->args[0], factors, count) && collect_factors(expr->args[1], factors, count);
    if (*count == MOST_FACTORS)
        return false;
    factors[(*count)++] = expr;
    return true;
}

/* Products of the same factors in another order: n * (m * k) and k * n * m. */
static bool same_factors(const Expr *a, const Expr *b)
{
    const Expr *left[MOST_FACTORS], *right[MOST_FACTORS];
    int left_count = 0, right_count = 0;
    if (a->kind != EXPR_MUL || b->kind != EXPR_MUL || !collect_factors(a, left, &left_count) || !collect_factors(b, right, &right_count) ||
        left_count != right_count)
        return false;
    for (int i = 0; i < left_count; i++) {
        int j = i;
        while (j < right_count && !expr_equal(left[i], right[j]))
            j++;
        if (j == right_count)
            return false;
        right[j] = right[i];
    }
    return true;
}

bool analyzer_prove_equal(Analyzer *an, const Expr *a, const Expr *b)
{
    if (expr_equal(a, b))
        return true;
    if (a->kind == EXPR_INT && b->kind == EXPR_INT)
        return a->value.integer == b->value.integer;
    if (!dtype_is_integer(a->dtype) || !dtype_equal(a->dtype, b->dtype))
        return false;
    return same_factors(a, b) || analyzer_prove(an, op_compare(an->ctx, EXPR_EQ, op_sub(an->ctx, a, b), expr_int(an->ctx, a->dtype, 0)));
}

bool analyzer_prove_less(Analyzer *an, const Expr *a, const Expr *b)
{
    return analyzer_prove(an, op_compare(an->ctx, EXPR_LT, a, b));
}

bool analyzer_prove_less_equal(Analyzer *an, const Expr *a, const Expr *b)
{
    return analyzer_prove(an, op_compare(an->ctx, EXPR_LE, a, b));
}

bool analyzer_prove_at_least(Analyzer *an, const Expr *expr, int64_t lower)
{
    if (expr->kind == EXPR_INT)
        return expr->value.integer >= lower;
    return analyzer_bound(an, analyzer_simplify_rewrite(an, expr)).min >= lower;
}

bool analyzer_prove_below(Analyzer *an, const Expr *expr, int64_t upper)
{
    if (expr->kind == EXPR_INT)
        return expr->value.integer < upper;
    return analyzer_bound(an, analyzer_simplify_rewrite(an, expr)).max < upper;
}

bool analyzer_prove_ranges_equal(Analyzer *an, Range a, Range b)
{
    return analyzer_prove_equal(an, a.min, b.min) && analyzer_prove_equal(an, a.extent, b.extent);
}
