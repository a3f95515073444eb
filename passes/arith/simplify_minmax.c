/* Rules for min and max of index expressions. The two tables mirror each other. */
#include "passes/arith/rules.h"
#include "passes/arith/simplify.h"

#include "ir/fold.h"

/* What holds for LEAST as for GREATEST with their roles exchanged: distribution over themselves and over sums, absorption, constants
   outward. */
#define ABSORPTION_RULES(LEAST, GREATEST)                                                                                                    \
    REWRITE(LEAST(GREATEST(x, y), LEAST(x, y)), LEAST(x, y)),                                                                                \
    REWRITE(LEAST(GREATEST(x, y), LEAST(y, x)), LEAST(x, y)),                                                                                \
    REWRITE(LEAST(LEAST(x, y), GREATEST(x, y)), LEAST(x, y)),                                                                                \
    REWRITE(LEAST(LEAST(x, y), GREATEST(y, x)), LEAST(x, y)),                                                                                \
    REWRITE(LEAST(GREATEST(x, y), x), x),                                                                                                    \
    REWRITE(LEAST(GREATEST(x, y), y), y),                                                                                                    \
    REWRITE(LEAST(LEAST(x, y), x), LEAST(x, y)),                                                                                             \
    REWRITE(LEAST(LEAST(x, y), y), LEAST(x, y)),                                                                                             \
    REWRITE(LEAST(x, GREATEST(x, y)), x),                                                                                                    \
    REWRITE(LEAST(y, GREATEST(x, y)), y),                                                                                                    \
    REWRITE(LEAST(x, LEAST(x, y)), LEAST(x, y)),                                                                                             \
    REWRITE(LEAST(y, LEAST(x, y)), LEAST(x, y)),                                                                                             \
    REWRITE(LEAST(LEAST(LEAST(x, y), z), y), LEAST(LEAST(x, y), z)),                                                                         \
    REWRITE(LEAST(LEAST(LEAST(LEAST(x, y), z), v), y), LEAST(LEAST(LEAST(x, y), z), v)),                                                     \
    REWRITE(LEAST(LEAST(LEAST(LEAST(LEAST(x, y), z), v), w), y), LEAST(LEAST(LEAST(LEAST(x, y), z), v), w))

#define DISTRIBUTION_RULES(LEAST, GREATEST)                                                                                                  \
    REWRITE(LEAST(GREATEST(x, y), GREATEST(x, z)), GREATEST(LEAST(y, z), x)),                                                                \
    REWRITE(LEAST(GREATEST(x, y), GREATEST(z, x)), GREATEST(LEAST(y, z), x)),                                                                \
    REWRITE(LEAST(GREATEST(y, x), GREATEST(x, z)), GREATEST(LEAST(y, z), x)),                                                                \
    REWRITE(LEAST(GREATEST(y, x), GREATEST(z, x)), GREATEST(LEAST(y, z), x)),                                                                \
    REWRITE(LEAST(LEAST(x, y), LEAST(x, z)), LEAST(LEAST(y, z), x)),                                                                         \
    REWRITE(LEAST(LEAST(x, y), LEAST(z, x)), LEAST(LEAST(y, z), x)),                                                                         \
    REWRITE(LEAST(LEAST(y, x), LEAST(x, z)), LEAST(LEAST(y, z), x)),                                                                         \
    REWRITE(LEAST(LEAST(y, x), LEAST(z, x)), LEAST(LEAST(y, z), x)),                                                                         \
    REWRITE(LEAST(ADD(y, x), ADD(z, x)), ADD(LEAST(y, z), x)),                                                                               \
    REWRITE(LEAST(ADD(y, x), ADD(x, z)), ADD(LEAST(y, z), x)),                                                                               \
    REWRITE(LEAST(ADD(x, y), ADD(x, z)), ADD(LEAST(y, z), x)),                                                                               \
    REWRITE(LEAST(ADD(x, y), ADD(z, x)), ADD(LEAST(y, z), x)),                                                                               \
    REWRITE(LEAST(SUB(y, x), SUB(z, x)), SUB(LEAST(y, z), x)),                                                                               \
    REWRITE(LEAST(SUB(x, y), SUB(x, z)), SUB(x, GREATEST(y, z)))

/* Scaling by a common constant divisor or factor, whose sign decides which of the two it becomes; and a constant beside a multiple. */
#define SCALING_RULES(LEAST, GREATEST)                                                                                                       \
    REWRITE(LEAST(DIV(x, c1), DIV(y, c1)), DIV(LEAST(x, y), c1), .when = GT(c1, N(0))),                                                      \
    REWRITE(LEAST(DIV(x, c1), DIV(y, c1)), DIV(GREATEST(x, y), c1), .when = LT(c1, N(0))),                                                   \
    REWRITE(LEAST(FLOORDIV(x, c1), FLOORDIV(y, c1)), FLOORDIV(LEAST(x, y), c1), .when = GT(c1, N(0))),                                       \
    REWRITE(LEAST(FLOORDIV(x, c1), FLOORDIV(y, c1)), FLOORDIV(GREATEST(x, y), c1), .when = LT(c1, N(0))),                                    \
    REWRITE(LEAST(MUL(x, c1), MUL(y, c1)), MUL(LEAST(x, y), c1), .when = GT(c1, N(0))),                                                      \
    REWRITE(LEAST(MUL(x, c1), MUL(y, c1)), MUL(GREATEST(x, y), c1), .when = LT(c1, N(0))),                                                   \
    REWRITE(LEAST(MUL(x, c1), c2), MUL(LEAST(x, FLOORDIV(c2, c1)), c1), .when = AND(GT(c1, N(0)), EQ(FLOORMOD(c2, c1), N(0)))),              \
    REWRITE(LEAST(MUL(x, c1), c2), MUL(GREATEST(x, FLOORDIV(c2, c1)), c1), .when = AND(LT(c1, N(0)), EQ(FLOORMOD(c2, c1), N(0))))

/* Constants outward. */
#define CONSTANT_RULES(LEAST, GREATEST)                                                                                                      \
    REWRITE(LEAST(LEAST(x, c1), y), LEAST(LEAST(x, y), c1), .again = true),                                                                  \
    REWRITE(LEAST(SUB(c1, x), c2), SUB(c1, GREATEST(x, SUB(c1, c2))), .when = NE(c2, N(0)), .again = true)

/* x rounded up to a multiple of c2, by the division DIVIDE; c1 + 1 == c2 */
#define ROUNDS_UP AND(GT(c2, N(0)), EQ(ADD(c1, N(1)), c2))
#define ROUNDED(DIVIDE) MUL(DIVIDE(ADD(x, c1), c2), c2)

static const Rule min_rules[] = {
    REWRITE(MIN(ROUNDED(DIV), x), x, .when = ROUNDS_UP),
    REWRITE(MIN(ROUNDED(DIV), MAX(x, c2)), MAX(x, c2), .when = AND(ROUNDS_UP, AT_LEAST(x, N(1)))),
    REWRITE(MIN(x, ROUNDED(DIV)), x, .when = ROUNDS_UP),
    REWRITE(MIN(MAX(x, c2), ROUNDED(DIV)), MAX(x, c2), .when = AND(ROUNDS_UP, AT_LEAST(x, N(1)))),
    REWRITE(MIN(ROUNDED(FLOORDIV), x), x, .when = ROUNDS_UP),
    REWRITE(MIN(ROUNDED(FLOORDIV), MAX(x, c2)), MAX(x, c2), .when = AND(ROUNDS_UP, AT_LEAST(x, N(1)))),
    REWRITE(MIN(x, ROUNDED(FLOORDIV)), x, .when = ROUNDS_UP),
    REWRITE(MIN(MAX(x, c2), ROUNDED(FLOORDIV)), MAX(x, c2), .when = AND(ROUNDS_UP, AT_LEAST(x, N(1)))),
    REWRITE(MIN(x, MUL(FLOORDIV(x, c2), c2)), MUL(FLOORDIV(x, c2), c2), .when = GT(c2, N(0))),
    REWRITE(MIN(MUL(FLOORDIV(x, c2), c2), x), MUL(FLOORDIV(x, c2), c2), .when = GT(c2, N(0))),
    ABSORPTION_RULES(MIN, MAX),
    DISTRIBUTION_RULES(MIN, MAX),
    REWRITE(MIN(MIN(x, c1), c2), MIN(x, MIN(c1, c2))),
    SCALING_RULES(MIN, MAX),
    CONSTANT_RULES(MIN, MAX),
};
RULE_TABLE(min);

static const Rule max_rules[] = {
    REWRITE(MAX(ROUNDED(DIV), x), ROUNDED(DIV), .when = ROUNDS_UP),
    REWRITE(MAX(x, ROUNDED(DIV)), ROUNDED(DIV), .when = ROUNDS_UP),
    REWRITE(MAX(ROUNDED(FLOORDIV), x), ROUNDED(FLOORDIV), .when = ROUNDS_UP),
    REWRITE(MAX(x, ROUNDED(FLOORDIV)), ROUNDED(FLOORDIV), .when = ROUNDS_UP),
    REWRITE(MAX(MUL(FLOORDIV(x, c2), c2), x), x, .when = GT(c2, N(0))),
    REWRITE(MAX(x, MUL(FLOORDIV(x, c2), c2)), x, .when = GT(c2, N(0))),
    ABSORPTION_RULES(MAX, MIN),
    DISTRIBUTION_RULES(MAX, MIN),
    REWRITE(MAX(MAX(x, c1), c2), MAX(x, MAX(c1, c2))),
    SCALING_RULES(MAX, MIN),
    CONSTANT_RULES(MAX, MIN),
};
RULE_TABLE(max);

static const Rule min_select_rules[] = {
    REWRITE(MIN(SELECT(x, y, z), SELECT(x, v, w)), SELECT(x, MIN(y, v), MIN(z, w))),
};
RULE_TABLE(min_select);
static const Rule max_select_rules[] = {
    REWRITE(MAX(SELECT(x, y, z), SELECT(x, v, w)), SELECT(x, MAX(y, v), MAX(z, w))),
};
RULE_TABLE(max_select);

/* EXPR as base + offset, or as offset - base (*NEGATED). */
static int64_t split_constant(const Expr *expr, const Expr **base, bool *negated)
{
    int64_t offset;
    *negated = expr->kind == EXPR_SUB && expr_const_int(expr->args[0], &offset);
    if (*negated) {
        *base = expr->args[1];
        return offset;
    }
    if (expr->kind == EXPR_ADD && expr_const_int(expr->args[1], &offset)) {
        *base = expr->args[0];
        return offset;
    }
    *base = expr;
    return 0;
}

/* The operand that is the smaller one for certain: by bounds, or because both are one value at constant distances. NULL when unknown. */
static const Expr *certain_minimum(Simplifier *s, const Expr *a, const Expr *b)
{
    if (expr_equal(a, b))
        return a;
    IntBound bound_a = analyzer_bound(s->an, a), bound_b = analyzer_bound(s->an, b);
    if (bound_a.max <= bound_b.min)
        return a;
    if (bound_b.max <= bound_a.min)
        return b;
    const Expr *base_a, *base_b;
    bool negated_a, negated_b;
    int64_t offset_a = split_constant(a, &base_a, &negated_a), offset_b = split_constant(b, &base_b, &negated_b);
    if (negated_a != negated_b || !expr_equal(base_a, base_b))
        return NULL;
    return offset_a < offset_b ? a : b;
}

const Expr *simplify_min(Simplifier *s, const Expr *expr)
{
    const Expr *result = NULL;
    if (is_index_type(expr->dtype)) {
        result = certain_minimum(s, expr->args[0], expr->args[1]);
        if (!result)
            result = rules_apply(s, &min_table, expr);
    }
    if (!result && expr->dtype.lanes == 1 && !dtype_is_float(expr->dtype))
        result = rules_apply(s, &min_select_table, expr);
    return result ? result : expr;
}

const Expr *simplify_max(Simplifier *s, const Expr *expr)
{
    const Expr *result = NULL;
    if (is_index_type(expr->dtype)) {
        const Expr *smaller = certain_minimum(s, expr->args[1], expr->args[0]);
        if (smaller)
            result = smaller == expr->args[1] ? expr->args[0] : expr->args[1];
        else
            result = rules_apply(s, &max_table, expr);
    }
    if (!result && expr->dtype.lanes == 1 && !dtype_is_float(expr->dtype))
        result = rules_apply(s, &max_select_table, expr);
    return result ? result : expr;
}
