/* Rules for sums and differences of index expressions. */
#include "passes/arith/rules.h"
#include "passes/arith/simplify.h"

/* Opposite constants: c1 == -c2. */
#define OPPOSITE EQ(c1, NEGATIVE(c2))

static const Rule add_rules[] = {
    /* terms that cancel */
    REWRITE(ADD(SUB(x, y), y), x),
    REWRITE(ADD(x, SUB(y, x)), y),
    REWRITE(ADD(SUB(x, y), SUB(y, z)), SUB(x, z)),
    REWRITE(ADD(SUB(x, y), SUB(z, x)), SUB(z, y)),
    REWRITE(ADD(MIN(x, SUB(y, z)), z), MIN(ADD(x, z), y)),
    REWRITE(ADD(MIN(SUB(x, z), y), z), MIN(x, ADD(y, z))),
    REWRITE(ADD(MAX(x, SUB(y, z)), z), MAX(ADD(x, z), y)),
    REWRITE(ADD(MAX(SUB(x, z), y), z), MAX(x, ADD(y, z))),
    REWRITE(ADD(MIN(x, ADD(y, MUL(z, c1))), MUL(z, c2)), MIN(ADD(x, MUL(z, c2)), y), .when = OPPOSITE),
    REWRITE(ADD(MAX(x, ADD(y, MUL(z, c1))), MUL(z, c2)), MAX(ADD(x, MUL(z, c2)), y), .when = OPPOSITE),
    REWRITE(ADD(MIN(ADD(y, MUL(z, c1)), x), MUL(z, c2)), MIN(ADD(x, MUL(z, c2)), y), .when = OPPOSITE),
    REWRITE(ADD(MAX(ADD(y, MUL(z, c1)), x), MUL(z, c2)), MAX(ADD(x, MUL(z, c2)), y), .when = OPPOSITE),
    REWRITE(ADD(MAX(x, y), MIN(x, y)), ADD(x, y)),
    REWRITE(ADD(MIN(x, y), MAX(x, y)), ADD(x, y)),
    REWRITE(ADD(MAX(x, y), MIN(y, x)), ADD(x, y)),
    REWRITE(ADD(MIN(x, y), MAX(y, x)), ADD(x, y)),
    REWRITE(ADD(MIN(x, ADD(y, c1)), c2), MIN(ADD(x, c2), y), .when = OPPOSITE),
    REWRITE(ADD(MIN(ADD(x, c1), y), c2), MIN(x, ADD(y, c2)), .when = OPPOSITE),
    REWRITE(ADD(MAX(x, ADD(y, c1)), c2), MAX(ADD(x, c2), y), .when = OPPOSITE),
    REWRITE(ADD(MAX(ADD(x, c1), y), c2), MAX(x, ADD(y, c2)), .when = OPPOSITE),
    REWRITE(ADD(ADD(x, c1), c2), ADD(x, ADD(c1, c2))),
    /* common factors */
    REWRITE(ADD(x, x), MUL(x, N(2))),
    REWRITE(ADD(MUL(x, y), x), MUL(ADD(y, N(1)), x)),
    REWRITE(ADD(MUL(y, x), x), MUL(ADD(y, N(1)), x)),
    REWRITE(ADD(x, MUL(y, x)), MUL(ADD(y, N(1)), x)),
    REWRITE(ADD(x, MUL(x, y)), MUL(ADD(y, N(1)), x)),
    REWRITE(ADD(MUL(x, y), MUL(x, z)), MUL(ADD(y, z), x)),
    REWRITE(ADD(MUL(y, x), MUL(x, z)), MUL(ADD(y, z), x)),
    REWRITE(ADD(MUL(x, y), MUL(z, x)), MUL(ADD(y, z), x)),
    REWRITE(ADD(MUL(y, x), MUL(z, x)), MUL(ADD(y, z), x)),
    /* quotient and remainder of one division */
    REWRITE(ADD(MUL(DIV(x, c1), c1), MOD(x, c1)), x, .when = NE(c1, N(0))),
    REWRITE(ADD(MUL(FLOORDIV(x, y), y), FLOORMOD(x, y)), x),
    REWRITE(ADD(MUL(y, FLOORDIV(x, y)), FLOORMOD(x, y)), x),
    REWRITE(ADD(FLOORMOD(x, y), MUL(FLOORDIV(x, y), y)), x),
    REWRITE(ADD(FLOORMOD(x, y), MUL(y, FLOORDIV(x, y))), x),
    REWRITE(ADD(FLOORDIV(ADD(FLOORMOD(x, c2), c1), c2), FLOORDIV(x, c2)), FLOORDIV(ADD(x, c1), c2), .when = GT(c2, N(0))),
    REWRITE(ADD(FLOORDIV(x, N(2)), FLOORMOD(x, N(2))), FLOORDIV(ADD(x, N(1)), N(2)), .again = true),
    REWRITE(ADD(FLOORMOD(ADD(x, c1), N(2)), FLOORMOD(x, N(2))), N(1), .when = EQ(FLOORMOD(c1, N(2)), N(1))),
    REWRITE(ADD(FLOORMOD(x, N(2)), FLOORMOD(ADD(x, c1), N(2))), N(1), .when = EQ(FLOORMOD(c1, N(2)), N(1))),
    /* constants outward, min and max first, products before remainders */
    REWRITE(ADD(x, SUB(c1, y)), ADD(SUB(x, y), c1), .again = true),
    REWRITE(ADD(SUB(c1, y), x), ADD(SUB(x, y), c1), .again = true),
    REWRITE(ADD(ADD(x, c1), y), ADD(ADD(x, y), c1), .again = true),
    REWRITE(ADD(x, ADD(c1, y)), ADD(ADD(x, y), c1), .again = true),
    REWRITE(ADD(x, ADD(y, c1)), ADD(ADD(x, y), c1), .again = true),
    REWRITE(ADD(x, MAX(y, z)), ADD(MAX(y, z), x), .again = true),
    REWRITE(ADD(x, MIN(y, z)), ADD(MIN(y, z), x), .again = true),
    REWRITE(ADD(MOD(y, c1), MUL(x, c1)), ADD(MUL(x, c1), MOD(y, c1)), .again = true),
    REWRITE(ADD(FLOORMOD(y, c1), MUL(x, c1)), ADD(MUL(x, c1), FLOORMOD(y, c1)), .again = true),
};
RULE_TABLE(add);

/* x - (x / c) * c and its relatives; DIVIDE and REMAINDER are one division's operators. */
#define REMAINDER_RULES(DIVIDE, REMAINDER)                                                                                                   \
    REWRITE(SUB(x, MUL(DIVIDE(x, c1), c1)), REMAINDER(x, c1), .when = NE(c1, N(0))),                                                         \
    REWRITE(SUB(MUL(DIVIDE(x, c1), c1), x), NEGATIVE(REMAINDER(x, c1)), .when = NE(c1, N(0))),                                               \
    REWRITE(SUB(x, MUL(DIVIDE(ADD(x, y), c1), c1)), SUB(REMAINDER(ADD(x, y), c1), y), .when = NE(c1, N(0))),                                 \
    REWRITE(SUB(MUL(DIVIDE(ADD(x, y), c1), c1), x), SUB(y, REMAINDER(ADD(x, y), c1)), .when = NE(c1, N(0))),                                 \
    REWRITE(SUB(x, MUL(DIVIDE(SUB(x, y), c1), c1)), ADD(REMAINDER(SUB(x, y), c1), y), .when = NE(c1, N(0))),                                 \
    REWRITE(SUB(MUL(DIVIDE(SUB(x, y), c1), c1), x), SUB(NEGATIVE(REMAINDER(SUB(x, y), c1)), y), .when = NE(c1, N(0))),                       \
    REWRITE(SUB(MUL(x, c2), MUL(DIVIDE(x, c1), c3)), MUL(REMAINDER(x, c1), c2), .when = SCALED),                                             \
    REWRITE(SUB(MUL(DIVIDE(x, c1), c3), MUL(x, c2)), NEGATIVE(MUL(REMAINDER(x, c1), c2)), .when = SCALED),                                   \
    REWRITE(SUB(MUL(x, c2), MUL(DIVIDE(ADD(x, y), c1), c3)), MUL(SUB(REMAINDER(ADD(x, y), c1), y), c2), .when = SCALED),                     \
    REWRITE(SUB(MUL(DIVIDE(ADD(x, y), c1), c3), MUL(x, c2)), MUL(SUB(y, REMAINDER(ADD(x, y), c1)), c2), .when = SCALED),                     \
    REWRITE(SUB(MUL(x, c2), MUL(DIVIDE(SUB(x, y), c1), c3)), MUL(ADD(REMAINDER(SUB(x, y), c1), y), c2), .when = SCALED),                     \
    REWRITE(SUB(MUL(DIVIDE(SUB(x, y), c1), c3), MUL(x, c2)), MUL(SUB(NEGATIVE(REMAINDER(SUB(x, y), c1)), y), c2), .when = SCALED)
#define SCALED AND(NE(c1, N(0)), EQ(c3, MUL(c1, c2)))

static const Rule sub_rules[] = {
    /* terms that cancel */
    REWRITE(SUB(ADD(x, y), y), x),
    REWRITE(SUB(ADD(x, y), x), y),
    REWRITE(SUB(x, ADD(y, x)), NEGATIVE(y)),
    REWRITE(SUB(x, ADD(x, y)), NEGATIVE(y)),
    REWRITE(SUB(MIN(x, y), x), MIN(N(0), SUB(y, x))),
    REWRITE(SUB(MIN(x, y), y), MIN(SUB(x, y), N(0))),
    REWRITE(SUB(MAX(x, y), x), MAX(N(0), SUB(y, x))),
    REWRITE(SUB(MAX(x, y), y), MAX(SUB(x, y), N(0))),
    REWRITE(SUB(x, MAX(x, y)), MIN(N(0), SUB(x, y))),
    REWRITE(SUB(y, MAX(x, y)), MIN(SUB(y, x), N(0))),
    REWRITE(SUB(x, MIN(x, y)), MAX(N(0), SUB(x, y))),
    REWRITE(SUB(y, MIN(x, y)), MAX(SUB(y, x), N(0))),
    /* common factors */
    REWRITE(SUB(x, x), N(0)),
    REWRITE(SUB(MUL(x, y), x), MUL(SUB(y, N(1)), x)),
    REWRITE(SUB(MUL(y, x), x), MUL(SUB(y, N(1)), x)),
    REWRITE(SUB(x, MUL(y, x)), MUL(SUB(N(1), y), x)),
    REWRITE(SUB(x, MUL(x, y)), MUL(SUB(N(1), y), x)),
    REWRITE(SUB(MUL(x, y), MUL(x, z)), MUL(SUB(y, z), x)),
    REWRITE(SUB(MUL(y, x), MUL(x, z)), MUL(SUB(y, z), x)),
    REWRITE(SUB(MUL(x, y), MUL(z, x)), MUL(SUB(y, z), x)),
    REWRITE(SUB(MUL(y, x), MUL(z, x)), MUL(SUB(y, z), x)),
    /* constants */
    REWRITE(SUB(ADD(x, c1), c2), ADD(x, SUB(c1, c2))),
    REWRITE(SUB(SUB(c1, x), SUB(c2, y)), ADD(SUB(y, x), SUB(c1, c2))),
    /* terms that cancel between sums */
    REWRITE(SUB(ADD(x, y), ADD(x, z)), SUB(y, z)),
    REWRITE(SUB(ADD(x, y), ADD(z, x)), SUB(y, z)),
    REWRITE(SUB(ADD(y, x), ADD(z, x)), SUB(y, z)),
    REWRITE(SUB(ADD(y, x), ADD(x, z)), SUB(y, z)),
    REWRITE(SUB(MIN(ADD(x, y), z), x), MIN(y, SUB(z, x))),
    REWRITE(SUB(MIN(ADD(y, x), z), x), MIN(y, SUB(z, x))),
    REWRITE(SUB(MIN(z, ADD(x, y)), x), MIN(SUB(z, x), y)),
    REWRITE(SUB(MIN(z, ADD(y, x)), x), MIN(SUB(z, x), y)),
    REWRITE(SUB(MAX(ADD(x, y), z), x), MAX(y, SUB(z, x))),
    REWRITE(SUB(MAX(ADD(y, x), z), x), MAX(y, SUB(z, x))),
    REWRITE(SUB(MAX(z, ADD(x, y)), x), MAX(SUB(z, x), y)),
    REWRITE(SUB(MAX(z, ADD(y, x)), x), MAX(SUB(z, x), y)),
    REWRITE(SUB(x, MIN(ADD(x, y), z)), MAX(NEGATIVE(y), SUB(x, z))),
    REWRITE(SUB(x, MIN(ADD(y, x), z)), MAX(NEGATIVE(y), SUB(x, z))),
    REWRITE(SUB(x, MIN(z, ADD(x, y))), MAX(SUB(x, z), NEGATIVE(y))),
    REWRITE(SUB(x, MIN(z, ADD(y, x))), MAX(SUB(x, z), NEGATIVE(y))),
    REWRITE(SUB(x, MAX(ADD(x, y), z)), MIN(NEGATIVE(y), SUB(x, z))),
    REWRITE(SUB(x, MAX(ADD(y, x), z)), MIN(NEGATIVE(y), SUB(x, z))),
    REWRITE(SUB(x, MAX(z, ADD(x, y))), MIN(SUB(x, z), NEGATIVE(y))),
    REWRITE(SUB(x, MAX(z, ADD(y, x))), MIN(SUB(x, z), NEGATIVE(y))),
    REWRITE(SUB(MIN(x, y), MIN(y, x)), N(0)),
    REWRITE(SUB(MAX(x, y), MAX(y, x)), N(0)),
    /* operands at the same distance: (x - v) == (y - w) decides both minima alike */
    REWRITE(SUB(MIN(x, y), MIN(v, w)), SUB(x, v), .when = PROVE_EQUAL(SUB(SUB(x, v), SUB(y, w)), N(0))),
    REWRITE(SUB(MIN(x, y), MIN(v, w)), SUB(x, w), .when = PROVE_EQUAL(SUB(SUB(x, w), SUB(y, v)), N(0))),
    REWRITE(SUB(MAX(x, y), MAX(v, w)), SUB(x, v), .when = PROVE_EQUAL(SUB(SUB(x, v), SUB(y, w)), N(0))),
    REWRITE(SUB(MAX(x, y), MAX(v, w)), SUB(x, w), .when = PROVE_EQUAL(SUB(SUB(x, w), SUB(y, v)), N(0))),
    /* a multiple of the quotient leaves the remainder */
    REMAINDER_RULES(DIV, MOD),
    REWRITE(SUB(DIV(ADD(x, c1), c3), DIV(ADD(x, c2), c3)), DIV(ADD(MOD(ADD(x, FLOORMOD(c2, c3)), c3), SUB(c1, c2)), c3),
            .when = AND(AND(GE(c1, c2), GT(c3, N(0))), AND(AT_LEAST(x, NEGATIVE(c2)), AT_LEAST(x, NEGATIVE(FLOORMOD(c2, c3)))))),
    REWRITE(SUB(DIV(ADD(x, c1), c3), DIV(x, c3)), DIV(ADD(MOD(x, c3), c1), c3),
            .when = AND(AND(GE(c1, N(0)), GT(c3, N(0))), AT_LEAST(x, N(0)))),
    REMAINDER_RULES(FLOORDIV, FLOORMOD),
    REWRITE(SUB(FLOORDIV(ADD(x, c1), c3), FLOORDIV(ADD(x, c2), c3)), FLOORDIV(ADD(FLOORMOD(ADD(x, FLOORMOD(c2, c3)), c3), SUB(c1, c2)), c3),
            .when = GT(c3, N(0))),
    REWRITE(SUB(FLOORDIV(ADD(x, c1), c3), FLOORDIV(x, c3)), FLOORDIV(ADD(FLOORMOD(x, c3), c1), c3), .when = GT(c3, N(0))),
    /* constants outward, as sums */
    REWRITE(SUB(x, c1), ADD(x, NEGATIVE(c1))),
    REWRITE(SUB(ADD(x, c1), y), ADD(SUB(x, y), c1), .again = true),
    REWRITE(SUB(x, SUB(y, z)), SUB(ADD(x, z), y), .again = true),
    REWRITE(SUB(x, ADD(y, c1)), ADD(SUB(x, y), NEGATIVE(c1)), .again = true),
    REWRITE(SUB(x, MUL(y, c1)), ADD(x, MUL(y, NEGATIVE(c1))), .again = true),
};
RULE_TABLE(sub);

/* Selections on one condition combine branch by branch. */
static const Rule add_select_rules[] = {
    REWRITE(ADD(SELECT(x, y, z), SELECT(x, v, w)), SELECT(x, ADD(y, v), ADD(z, w))),
};
RULE_TABLE(add_select);
static const Rule sub_select_rules[] = {
    REWRITE(SUB(SELECT(x, y, z), SELECT(x, v, w)), SELECT(x, SUB(y, v), SUB(z, w))),
    REWRITE(SUB(SELECT(x, y, z), z), SELECT(x, SUB(y, z), N(0))),
    REWRITE(SUB(SELECT(x, y, z), y), SELECT(x, N(0), SUB(z, y))),
};
RULE_TABLE(sub_select);

const Expr *simplify_add(Simplifier *s, const Expr *expr)
{
    const Expr *result = is_index_type(expr->dtype) ? rules_apply(s, &add_table, expr) : NULL;
    if (!result && expr->dtype.lanes == 1 && !dtype_is_float(expr->dtype))
        result = rules_apply(s, &add_select_table, expr);
    return result ? result : expr;
}

const Expr *simplify_sub(Simplifier *s, const Expr *expr)
{
    const Expr *result = is_index_type(expr->dtype) ? rules_apply(s, &sub_table, expr) : NULL;
    if (!result && expr->dtype.lanes == 1 && !dtype_is_float(expr->dtype))
        result = rules_apply(s, &sub_select_table, expr);
    return result ? result : expr;
}
