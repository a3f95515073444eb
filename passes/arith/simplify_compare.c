/* Rules for comparisons of index expressions. Everything is brought to ==, !=, < and <=; a strict comparison is the normal form where
   constants allow it. */
#include "passes/arith/rules.h"
#include "passes/arith/simplify.h"

#include "ir/fold.h"

/* --- Equality --- */

static const Rule equal_rules[] = {
    REWRITE(EQ(c1, x), EQ(x, c1)),
    REWRITE(EQ(SUB(x, c1), c2), EQ(x, ADD(c1, c2))),
    REWRITE(EQ(SUB(c1, x), c2), EQ(x, SUB(c1, c2))),
    REWRITE(EQ(ADD(x, c1), c2), EQ(x, SUB(c2, c1))),
    REWRITE(EQ(MUL(x, y), N(0)), OR(EQ(x, N(0)), EQ(y, N(0))), .again = true),
};
RULE_TABLE(equal);

static const Rule not_equal_rules[] = {
    REWRITE(NE(c1, x), NE(x, c1)),
    REWRITE(NE(SUB(x, c1), c2), NE(x, ADD(c1, c2))),
    REWRITE(NE(SUB(c1, x), c2), NE(x, SUB(c1, c2))),
    REWRITE(NE(ADD(x, c1), c2), NE(x, SUB(c2, c1))),
    REWRITE(NE(MUL(x, y), N(0)), AND(NE(x, N(0)), NE(y, N(0))), .again = true),
};
RULE_TABLE(not_equal);

/* --- Less --- */

/* The quotient of one division compared with the divided value: x - (x / c) * c is the remainder. */
#define QUOTIENT_RULES(DIVIDE, REMAINDER)                                                                                                    \
    REWRITE(LT(MUL(DIVIDE(x, c1), c1), x), LT(N(0), REMAINDER(x, c1)), .when = GT(c1, N(0))),                                                \
    REWRITE(LT(MUL(DIVIDE(x, c1), c1), ADD(x, y)), LT(N(0), ADD(REMAINDER(x, c1), y)), .when = GT(c1, N(0))),                                \
    REWRITE(LT(MUL(DIVIDE(x, c1), c1), SUB(x, y)), LT(y, REMAINDER(x, c1)), .when = GT(c1, N(0))),                                           \
    REWRITE(LT(MUL(DIVIDE(ADD(x, c2), c1), c1), x), LT(c2, REMAINDER(ADD(x, c2), c1)), .when = GT(c1, N(0))),                                \
    REWRITE(LT(MUL(DIVIDE(ADD(x, c2), c1), c1), ADD(x, y)), LT(c2, ADD(REMAINDER(ADD(x, c2), c1), y)), .when = GT(c1, N(0))),                \
    REWRITE(LT(MUL(DIVIDE(ADD(x, c2), c1), c1), SUB(x, y)), LT(y, ADD(REMAINDER(ADD(x, c2), c1), NEGATIVE(c2))), .when = GT(c1, N(0)))

static const Rule less_rules[] = {
    /* equal terms on both sides */
    REWRITE(LT(ADD(x, y), ADD(x, z)), LT(y, z)),
    REWRITE(LT(ADD(x, y), ADD(z, x)), LT(y, z)),
    REWRITE(LT(ADD(y, x), ADD(x, z)), LT(y, z)),
    REWRITE(LT(ADD(y, x), ADD(z, x)), LT(y, z)),
    REWRITE(LT(SUB(y, x), SUB(z, x)), LT(y, z)),
    REWRITE(LT(SUB(x, y), SUB(x, z)), LT(z, y)),
    REWRITE(LT(x, ADD(x, z)), LT(N(0), z)),
    REWRITE(LT(x, ADD(z, x)), LT(N(0), z)),
    REWRITE(LT(x, SUB(x, z)), LT(z, N(0))),
    REWRITE(LT(c1, ADD(x, c2)), LT(SUB(c1, c2), x), .again = true),
    REWRITE(LT(c1, SUB(c2, x)), LT(x, SUB(c2, c1)), .again = true),
    REWRITE(LT(SUB(c1, x), c2), LT(SUB(c1, c2), x), .again = true),
    REWRITE(LT(MUL(x, c1), MUL(y, c1)), LT(x, y), .when = GT(c1, N(0))),
    REWRITE(LT(MUL(x, c1), MUL(y, c1)), LT(y, x), .when = LT(c1, N(0))),
    /* a multiple against a constant; each quotient is rounded so that the comparison stays exact */
    REWRITE(LT(MUL(x, c2), c1), LT(x, ADD(DIV(SUB(c1, N(1)), c2), N(1))), .when = AND(GT(c1, N(0)), GT(c2, N(0)))),
    REWRITE(LT(MUL(x, c2), c1), LT(x, DIV(c1, c2)), .when = AND(LE(c1, N(0)), GT(c2, N(0)))),
    REWRITE(LT(MUL(x, c2), c1), LT(SUB(DIV(SUB(c1, N(1)), c2), N(1)), x), .when = AND(GT(c1, N(0)), LT(c2, N(0)))),
    REWRITE(LT(MUL(x, c2), c1), LT(DIV(c1, c2), x), .when = AND(LE(c1, N(0)), LT(c2, N(0)))),
    REWRITE(LT(c1, MUL(x, c2)), LT(SUB(DIV(ADD(c1, N(1)), c2), N(1)), x), .when = AND(LT(c1, N(0)), GT(c2, N(0)))),
    REWRITE(LT(c1, MUL(x, c2)), LT(DIV(c1, c2), x), .when = AND(GE(c1, N(0)), GT(c2, N(0)))),
    REWRITE(LT(c1, MUL(x, c2)), LT(x, ADD(DIV(ADD(c1, N(1)), c2), N(1))), .when = AND(LT(c1, N(0)), LT(c2, N(0)))),
    REWRITE(LT(c1, MUL(x, c2)), LT(x, DIV(c1, c2)), .when = AND(GE(c1, N(0)), LT(c2, N(0)))),
    /* a quotient against a constant */
    REWRITE(LT(DIV(x, c1), c2), LT(x, MUL(c1, c2)), .when = AND(GT(c1, N(0)), GT(c2, N(0)))),
    REWRITE(LT(DIV(x, c1), c2), LT(x, ADD(MUL(c1, SUB(c2, N(1))), N(1))), .when = AND(GT(c1, N(0)), LE(c2, N(0)))),
    REWRITE(LT(c1, DIV(x, c2)), LT(SUB(MUL(ADD(c1, N(1)), c2), N(1)), x), .when = AND(GE(c1, N(0)), GT(c2, N(0)))),
    REWRITE(LT(c1, DIV(x, c2)), LT(MUL(c1, c2), x), .when = AND(LT(c1, N(0)), GT(c2, N(0)))),
    QUOTIENT_RULES(DIV, MOD),
    REWRITE(LT(FLOORDIV(x, c1), c2), LT(x, MUL(c1, c2)), .when = GT(c1, N(0))),
    REWRITE(LT(c1, FLOORDIV(x, c2)), LT(SUB(MUL(ADD(c1, N(1)), c2), N(1)), x), .when = GT(c2, N(0))),
    QUOTIENT_RULES(FLOORDIV, FLOORMOD),
    /* min and max become and/or, constants move to the right */
    REWRITE(LT(MIN(x, y), z), OR(LT(x, z), LT(y, z)), .again = true),
    REWRITE(LT(MAX(x, y), z), AND(LT(x, z), LT(y, z)), .again = true),
    REWRITE(LT(z, MIN(x, y)), AND(LT(z, x), LT(z, y)), .again = true),
    REWRITE(LT(z, MAX(x, y)), OR(LT(z, x), LT(z, y)), .again = true),
    REWRITE(LT(x, SUB(c1, y)), LT(ADD(x, y), c1), .again = true),
    REWRITE(LT(SUB(c1, y), x), LT(c1, ADD(x, y)), .again = true),
    REWRITE(LT(x, ADD(c1, y)), LT(SUB(x, y), c1), .again = true),
    REWRITE(LT(ADD(c1, y), x), LT(c1, SUB(x, y)), .again = true),
    REWRITE(LT(ADD(x, c1), c2), LT(x, SUB(c2, c1)), .again = true),
    REWRITE(LT(SUB(x, c1), c2), LT(x, ADD(c2, c1)), .again = true),
};
RULE_TABLE(less);

/* --- Steps that are not patterns --- */

static const Expr *rebuild(Simplifier *s, ExprKind kind, const Expr *a, const Expr *b)
{
    const Expr *folded = fold_binary(s->an->ctx, kind, a, b);
    return folded ? folded : expr_binary(s->an->ctx, kind, a, b);
}

static const Expr *apply_equal(Simplifier *s, const Expr *expr)
{
    Order order = simplify_compare(s, expr->args[0], expr->args[1]);
    if (order == ORDER_EQ)
        return expr_bool(s->an->ctx, true);
    if (!(order & ORDER_EQ))
        return expr_bool(s->an->ctx, false);
    const Expr *result = rules_apply(s, &equal_table, expr);
    return result ? result : expr;
}

static int64_t constant_term(const Expr *expr, const Expr **rest)
{
    int64_t offset;
    *rest = expr;
    if (expr->kind == EXPR_ADD && expr_const_int(expr->args[1], &offset)) {
        *rest = expr->args[0];
        return offset;
    }
    if (expr->kind == EXPR_SUB && expr_const_int(expr->args[1], &offset) && offset != INT64_MIN) {
        *rest = expr->args[0];
        return -offset;
    }
    return 0;
}

/* a + c1 < b + c2 with one constant left, on the side where it is positive; with a difference of 1 the comparison becomes <=. NULL when
   no constant moves. */
static const Expr *merge_constants(Simplifier *s, const Expr *expr)
{
    Context *ctx = s->an->ctx;
    const Expr *left, *right;
    int64_t left_offset = constant_term(expr->args[0], &left), right_offset = constant_term(expr->args[1], &right), difference;
    if ((left_offset == 0 && right_offset == 0) || __builtin_sub_overflow(right_offset, left_offset, &difference) ||
        difference == INT64_MIN)
        return NULL;
    if (difference == 0)
        return rebuild(s, EXPR_LT, left, right);
    if (difference == 1)
        return rebuild(s, EXPR_LE, left, right);
    if (!dtype_holds(left->dtype, difference) || !dtype_holds(left->dtype, -difference))
        return NULL;
    if (difference < 0 && right_offset != 0)
        return rebuild(s, EXPR_LT, op_add_int(ctx, left, -difference), right);
    if (difference > 0 && left_offset != 0)
        return rebuild(s, EXPR_LT, left, op_add_int(ctx, right, difference));
    return NULL;
}

/* Both sides divided by their common factor, or NULL. */
static const Expr *divide_by_common_factor(Simplifier *s, const Expr *expr)
{
    ModularSet a = analyzer_modular(s->an, expr->args[0]), b = analyzer_modular(s->an, expr->args[1]);
    int64_t factor = integer_gcd(integer_gcd(a.coeff, a.base), integer_gcd(b.coeff, b.base));
    if (factor <= 1 || !dtype_holds(expr->args[0]->dtype, factor))
        return NULL;
    const Expr *divisor = expr_int(s->an->ctx, expr->args[0]->dtype, factor);
    return rebuild(s, EXPR_LT, op_floordiv(s->an->ctx, expr->args[0], divisor), op_floordiv(s->an->ctx, expr->args[1], divisor));
}

static const Expr *apply_less(Simplifier *s, const Expr *expr)
{
    Order order = simplify_compare(s, expr->args[0], expr->args[1]);
    if (order == ORDER_LT)
        return expr_bool(s->an->ctx, true);
    if (!(order & ORDER_LT))
        return expr_bool(s->an->ctx, false);
    const Expr *result = rules_apply(s, &less_table, expr);
    if (result)
        return result;
    result = merge_constants(s, expr);
    if (!result)
        result = divide_by_common_factor(s, expr);
    return result ? simplify_again(s, result) : expr;
}

/* --- Entry points --- */

const Expr *simplify_equal(Simplifier *s, const Expr *expr)
{
    const Expr *known = simplify_by_literal(s, expr);
    if (known)
        return known;
    return is_index_type(expr->args[0]->dtype) ? apply_equal(s, expr) : expr;
}

const Expr *simplify_not_equal(Simplifier *s, const Expr *expr)
{
    const Expr *known = simplify_by_literal(s, expr);
    if (known || !is_index_type(expr->args[0]->dtype))
        return known ? known : expr;
    Order order = simplify_compare(s, expr->args[0], expr->args[1]);
    if (!(order & ORDER_EQ))
        return expr_bool(s->an->ctx, true);
    if (order == ORDER_EQ)
        return expr_bool(s->an->ctx, false);
    if (order == ORDER_GE)
        return apply_less(s, rebuild(s, EXPR_LT, expr->args[1], expr->args[0]));
    if (order == ORDER_LE)
        return apply_less(s, rebuild(s, EXPR_LT, expr->args[0], expr->args[1]));
    const Expr *result = rules_apply(s, &not_equal_table, expr);
    return result ? result : expr;
}

const Expr *simplify_less(Simplifier *s, const Expr *expr)
{
    const Expr *known = simplify_by_literal(s, expr);
    if (known)
        return known;
    return is_index_type(expr->args[0]->dtype) ? apply_less(s, expr) : expr;
}

/* a <= b as not (b < a): the rules for < find the form first, then what is known of the two sides decides. */
const Expr *simplify_less_equal(Simplifier *s, const Expr *expr)
{
    const Expr *known = simplify_by_literal(s, expr);
    if (known || !is_index_type(expr->args[0]->dtype))
        return known ? known : expr;
    const Expr *result =
        simplify_not(s, expr_not(s->an->ctx, apply_less(s, expr_binary(s->an->ctx, EXPR_LT, expr->args[1], expr->args[0]))));
    if (result->kind != EXPR_LE || !is_index_type(result->args[0]->dtype))
        return result;
    Order order = simplify_compare(s, result->args[0], result->args[1]);
    if (!(order & ORDER_GT))
        return expr_bool(s->an->ctx, true);
    if (order == ORDER_GT)
        return expr_bool(s->an->ctx, false);
    if (order == ORDER_NE)
        return apply_less(s, rebuild(s, EXPR_LT, result->args[0], result->args[1]));
    if (order == ORDER_GE)
        return apply_equal(s, rebuild(s, EXPR_EQ, result->args[0], result->args[1]));
    return result;
}
