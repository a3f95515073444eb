/* Relations between expressions that are known directly: a loop variable against its symbolic extent, and assumed comparisons. A
   comparison is recorded with its constant offset split off, so that i < n also decides i + 1 <= n. Chains of several relations are not
   followed. */
#include "passes/arith/internal.h"

/* EXPR as REST + constant; REST NULL for a constant. */
static int64_t split_offset(const Expr *expr, const Expr **rest)
{
    int64_t constant;
    *rest = expr;
    if (expr_const_int(expr, &constant)) {
        *rest = NULL;
        return constant;
    }
    bool sum = expr->kind == EXPR_ADD || expr->kind == EXPR_SUB;
    if (!sum || !expr_const_int(expr->args[1], &constant) || constant == INT64_MIN)
        return 0;
    *rest = expr->args[0];
    return expr->kind == EXPR_ADD ? constant : -constant;
}

/* A in ORDER to B as a record; false when there is nothing to record. */
static bool comparison_make(Order order, const Expr *a, const Expr *b, Comparison *result)
{
    int64_t left, right, one = 0;
    if (!is_index_type(a->dtype) || order == ORDER_ANY || order == ORDER_NONE)
        return false;
    left = split_offset(a, &result->lhs);
    right = split_offset(b, &result->rhs);
    if (__builtin_sub_overflow(right, left, &result->offset) || (!result->lhs && !result->rhs))
        return false;
    if (order == ORDER_LT)
        one = -1;
    else if (order == ORDER_GT)
        one = 1;
    result->order = order == ORDER_LT ? ORDER_LE : order == ORDER_GT ? ORDER_GE : order;
    return !__builtin_add_overflow(result->offset, one, &result->offset);
}

static Order order_of_kind(ExprKind kind)
{
    switch (kind) {
    case EXPR_EQ: return ORDER_EQ;
    case EXPR_NE: return ORDER_NE;
    case EXPR_LT: return ORDER_LT;
    case EXPR_LE: return ORDER_LE;
    case EXPR_GT: return ORDER_GT;
    case EXPR_GE: return ORDER_GE;
    default: return ORDER_ANY;
    }
}

static void record(Analyzer *an, const Var *bound, Order order, const Expr *a, const Expr *b)
{
    Comparison comparison = {.bound = bound};
    if (comparison_make(order, a, b, &comparison))
        vec_push(an->arena, &an->comparisons, comparison);
}

static void assume_conjunct(Analyzer *an, const Expr *conjunct)
{
    if (expr_is_compare(conjunct) && expr_is_pure(conjunct))
        record(an, NULL, order_of_kind(conjunct->kind), conjunct->args[0], conjunct->args[1]);
}

void comparisons_assume(Analyzer *an, const Expr *condition)
{
    each_conjunct(an, condition, assume_conjunct);
}

void comparisons_unbind(Analyzer *an, const Var *var)
{
    for (int i = 0; i < an->comparisons.count; i++)
        if (an->comparisons.data[i].bound == var)
            an->comparisons.data[i].order = ORDER_ANY;
}

void comparisons_bind_range(Analyzer *an, const Var *var, Range range)
{
    const Expr *name = expr_var(an->ctx, (Var *)var);
    record(an, var, ORDER_GE, name, range.min);
    record(an, var, ORDER_LT, name, op_add(an->ctx, range.min, range.extent));
}

/* What KNOWN, about the same two expressions, says of lhs against rhs + OFFSET. */
static Order order_at_offset(Comparison known, int64_t offset)
{
    switch (known.order) {
    case ORDER_EQ: return known.offset == offset ? ORDER_EQ : known.offset > offset ? ORDER_GT : ORDER_LT;
    case ORDER_LE: return known.offset < offset ? ORDER_LT : known.offset == offset ? ORDER_LE : ORDER_ANY;
    case ORDER_GE: return known.offset > offset ? ORDER_GT : known.offset == offset ? ORDER_GE : ORDER_ANY;
    case ORDER_NE: return known.offset == offset ? ORDER_NE : ORDER_ANY;
    default: return ORDER_ANY;
    }
}

static bool same_side(const Expr *a, const Expr *b)
{
    return a == b || (a && b && expr_equal(a, b));
}

Order comparisons_find(Analyzer *an, const Expr *a, const Expr *b)
{
    Comparison asked = {0};
    if (!an->comparisons.count || !comparison_make(ORDER_EQ, a, b, &asked))
        return ORDER_ANY;
    Order order = ORDER_ANY;
    for (int i = 0; i < an->comparisons.count; i++) {
        Comparison known = an->comparisons.data[i];
        if (same_side(known.lhs, asked.lhs) && same_side(known.rhs, asked.rhs)) {
            order &= order_at_offset(known, asked.offset);
        } else if (same_side(known.lhs, asked.rhs) && same_side(known.rhs, asked.lhs) && known.offset != INT64_MIN) {
            Comparison turned = {known.rhs, known.lhs, -known.offset, order_reverse(known.order), known.bound};
            order &= order_at_offset(turned, asked.offset);
        }
    }
    return order;
}
