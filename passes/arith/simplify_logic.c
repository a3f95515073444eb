/* Rules for and, or, not, select and the calls that the simplifier understands. */
#include "passes/arith/rules.h"
#include "passes/arith/simplify.h"

const Expr *simplify_by_literal(Simplifier *s, const Expr *expr)
{
    Analyzer *an = s->an;
    for (int i = 0; i < an->literals.count; i++) {
        if (expr_equal(an->literals.data[i].truth, expr))
            return expr_bool(an->ctx, true);
        if (expr_equal(an->literals.data[i].negation, expr))
            return expr_bool(an->ctx, false);
    }
    return NULL;
}

static const Rule not_rules[] = {
    REWRITE(NOT(NOT(x)), x),
    REWRITE(NOT(LE(x, y)), LT(y, x)),
    REWRITE(NOT(GE(x, y)), LT(x, y)),
    REWRITE(NOT(LT(x, y)), LE(y, x)),
    REWRITE(NOT(GT(x, y)), LE(x, y)),
    REWRITE(NOT(EQ(x, y)), NE(x, y)),
    REWRITE(NOT(NE(x, y)), EQ(x, y)),
    REWRITE(NOT(OR(x, y)), AND(NOT(x), NOT(y)), .again = true),
    REWRITE(NOT(AND(x, y)), OR(NOT(x), NOT(y)), .again = true),
};
RULE_TABLE(not);

/* For and: pairs of conditions that exclude each other. For or: pairs of which one always holds. Each pair stands in both orders. */
#define BOTH_ORDERS(JOIN, p, q, ...)                                                                                                         \
    REWRITE(JOIN(p, q), __VA_ARGS__), REWRITE(JOIN(q, p), __VA_ARGS__)

#define SMALL_REMAINDER LT(FLOORMOD(x, c2), c3)
#define C1_IS_MULTIPLE AND(GT(c2, N(0)), EQ(FLOORMOD(c1, c2), N(0)))

static const Rule and_rules[] = {
    BOTH_ORDERS(AND, EQ(x, y), NE(x, y), pattern_false),
    REWRITE(AND(x, NOT(x)), pattern_false),
    BOTH_ORDERS(AND, LE(x, y), LT(y, x), pattern_false),
    BOTH_ORDERS(AND, LT(x, c1), LT(c2, x), pattern_false, .when = GE(ADD(c2, N(1)), c1)),
    BOTH_ORDERS(AND, LT(x, c1), LE(c2, x), pattern_false, .when = GE(c2, c1)),
    BOTH_ORDERS(AND, LE(x, c1), LT(c2, x), pattern_false, .when = GE(c2, c1)),
    BOTH_ORDERS(AND, LE(x, c1), LE(c2, x), pattern_false, .when = GT(c2, c1)),
    BOTH_ORDERS(AND, EQ(x, c1), NE(x, c2), AND(EQ(x, c1), NE(c1, c2))),
    REWRITE(AND(EQ(x, c1), EQ(x, c2)), AND(EQ(x, c1), EQ(c1, c2))),
    BOTH_ORDERS(AND, EQ(FLOORDIV(x, c2), c1), EQ(FLOORMOD(x, c2), c3), EQ(x, ADD(MUL(c1, c2), c3)),
                .when = AND(GT(c2, N(0)), AND(GE(c3, N(0)), LT(c3, c2))), .again = true),
    BOTH_ORDERS(AND, LE(N(0), SUB(x, MUL(y, c1))), LT(SUB(x, MUL(y, c1)), c1), EQ(y, FLOORDIV(x, c1)), .when = GT(c1, N(0)), .again = true),
    BOTH_ORDERS(AND, EQ(FLOORDIV(x, c2), c1), LT(FLOORMOD(x, c2), c3), AND(LE(MUL(c1, c2), x), LT(x, ADD(MUL(c1, c2), c3))),
                .when = AND(GT(c2, N(0)), LE(c3, c2)), .again = true),
    /* an upper limit falls to the last value whose remainder is small enough */
    REWRITE(AND(LT(x, c1), SMALL_REMAINDER), AND(LT(x, ADD(SUB(c1, c2), c3)), SMALL_REMAINDER), .when = AND(LE(c3, c2), C1_IS_MULTIPLE),
            .again = true),
    REWRITE(AND(LT(x, c1), SMALL_REMAINDER), AND(LT(x, ADD(SUB(c1, FLOORMOD(c1, c2)), c3)), SMALL_REMAINDER),
            .when = AND(GT(c2, N(0)), GT(FLOORMOD(c1, c2), c3)), .again = true),
    REWRITE(AND(LE(x, c1), SMALL_REMAINDER), AND(LT(x, ADD(c1, N(1))), SMALL_REMAINDER),
            .when = AND(AND(GT(c2, N(0)), LE(c3, c2)), OR(EQ(FLOORMOD(ADD(c1, N(1)), c2), N(0)), GT(FLOORMOD(ADD(c1, N(1)), c2), c3))),
            .again = true),
    REWRITE(AND(x, AND(y, z)), AND(AND(x, y), z), .again = true),
};
RULE_TABLE(and);

static const Rule or_rules[] = {
    BOTH_ORDERS(OR, EQ(x, y), NE(x, y), pattern_true),
    REWRITE(OR(x, NOT(x)), pattern_true),
    BOTH_ORDERS(OR, LE(x, y), LT(y, x), pattern_true),
    BOTH_ORDERS(OR, LT(x, c1), LT(c2, x), pattern_true, .when = LT(c2, c1)),
    BOTH_ORDERS(OR, LE(x, c1), LT(c2, x), pattern_true, .when = LE(c2, c1)),
    BOTH_ORDERS(OR, LT(x, c1), LE(c2, x), pattern_true, .when = LE(c2, c1)),
    BOTH_ORDERS(OR, LE(x, c1), LE(c2, x), pattern_true, .when = LE(c2, ADD(c1, N(1)))),
    BOTH_ORDERS(OR, NE(x, c1), EQ(x, c2), OR(NE(x, c1), EQ(c1, c2))),
    REWRITE(OR(NE(x, c1), NE(x, c2)), OR(NE(x, c1), NE(c1, c2))),
    BOTH_ORDERS(OR, LT(x, y), EQ(x, y), LE(x, y)),
    REWRITE(OR(LT(x, y), LT(y, x)), NE(x, y)),
    REWRITE(OR(x, OR(y, z)), OR(OR(x, y), z), .again = true),
};
RULE_TABLE(or);

/* An order of floats is not the negation of the opposite order, because of NaN: the rules that rely on it must not see one. */
static bool orders_floats(const Expr *expr)
{
    return expr_is_compare(expr) && dtype_is_float(expr->args[0]->dtype) && expr->kind != EXPR_EQ && expr->kind != EXPR_NE;
}

const Expr *simplify_not(Simplifier *s, const Expr *expr)
{
    const Expr *operand = expr->args[0];
    if (operand->kind == EXPR_INT && operand->dtype.lanes == 1)
        return expr_bool(s->an->ctx, !operand->value.integer);
    const Expr *known = simplify_by_literal(s, expr);
    if (known)
        return known;
    if (orders_floats(operand))
        return expr;
    const Expr *result = rules_apply(s, &not_table, expr);
    return result ? result : expr;
}

const Expr *simplify_and(Simplifier *s, const Expr *expr)
{
    const Expr *known = simplify_by_literal(s, expr);
    if (known)
        return known;
    const Expr *result = rules_apply(s, &and_table, expr);
    return result ? result : expr;
}

const Expr *simplify_or(Simplifier *s, const Expr *expr)
{
    const Expr *known = simplify_by_literal(s, expr);
    if (known)
        return known;
    if (orders_floats(expr->args[0]) && orders_floats(expr->args[1]))
        return expr;
    const Expr *result = rules_apply(s, &or_table, expr);
    return result ? result : expr;
}

const Expr *simplify_select(Simplifier *s, const Expr *expr)
{
    (void)s;
    return expr_equal(expr->args[1], expr->args[2]) ? expr->args[1] : expr;
}

/* if (p) { if (q) a else b } else b is if (p and q) a else b. */
static const Expr *merge_nested_choice(Simplifier *s, const Expr *expr)
{
    const Expr *inner = expr->args[1];
    if (!expr_is_call(inner, OP_IF_THEN_ELSE) || !expr_equal(inner->args[2], expr->args[2]))
        return expr;
    const Expr *args[] = {op_and(s->an->ctx, expr->args[0], inner->args[0]), inner->args[1], expr->args[2]};
    return expr_with_args(s->an->ctx, expr, args);
}

static const Expr *fold_shift(Simplifier *s, const Expr *expr)
{
    int64_t a, b;
    DType dtype = expr->dtype;
    if (!expr_const_int(expr->args[0], &a) || !expr_const_int(expr->args[1], &b) || b < 0 || b >= dtype.bits || dtype.lanes != 1)
        return expr;
    if (expr->value.op == OP_SHIFT_LEFT)
        return expr_int(s->an->ctx, dtype, dtype_wrap(dtype, (int64_t)((uint64_t)a << b)));
    return expr_int(s->an->ctx, dtype, dtype.code == DT_UINT ? (int64_t)((uint64_t)a >> b) : a >> b);
}

const Expr *simplify_call(Simplifier *s, const Expr *expr)
{
    switch (expr->value.op) {
    case OP_LIKELY: return expr->args[0]->kind == EXPR_INT ? expr->args[0] : expr;
    case OP_IF_THEN_ELSE: return merge_nested_choice(s, expr);
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT: return fold_shift(s, expr);
    default: return expr;
    }
}
