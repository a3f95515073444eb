/* Rules for products of index expressions. */
#include "passes/arith/rules.h"
#include "passes/arith/simplify.h"

static const Rule mul_rules[] = {
    REWRITE(MUL(ADD(x, c1), c2), ADD(MUL(x, c2), MUL(c1, c2))),
    REWRITE(MUL(MUL(x, c1), c2), MUL(x, MUL(c1, c2))),
    REWRITE(MUL(MIN(x, y), MAX(x, y)), MUL(x, y)),
    REWRITE(MUL(MAX(x, y), MIN(x, y)), MUL(x, y)),
    /* the two ways to write c * ceil(x / c) */
    REWRITE(MUL(FLOORDIV(SUB(x, FLOORMOD(x, c2)), c1), c1), SUB(x, FLOORMOD(x, c2)), .when = AND(NE(c1, N(0)), EQ(c1, NEGATIVE(c2)))),
    /* constants to the right and not negative on differences */
    REWRITE(MUL(x, MUL(c1, y)), MUL(MUL(x, y), c1), .again = true),
    REWRITE(MUL(c1, x), MUL(x, c1), .again = true),
    REWRITE(MUL(SUB(x, y), c1), MUL(SUB(y, x), NEGATIVE(c1)), .when = LT(c1, N(0)), .again = true),
};
RULE_TABLE(mul);

const Expr *simplify_mul(Simplifier *s, const Expr *expr)
{
    const Expr *result = is_index_type(expr->dtype) ? rules_apply(s, &mul_table, expr) : NULL;
    return result ? result : expr;
}
