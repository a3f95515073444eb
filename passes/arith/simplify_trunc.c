/* Rules for division and remainder that truncate towards zero. Truncation is not periodic across 0, so most rules ask that every part
   is shown not to be negative; there truncation and flooring agree. */
#include "passes/arith/rules.h"
#include "passes/arith/simplify.h"

#include "ir/fold.h"

#define C1_IS_MULTIPLE AND(AND(GE(c1, N(0)), GT(c2, N(0))), EQ(FLOORMOD(c1, c2), N(0)))
#define X_AND_Y_NOT_NEGATIVE AND(AT_LEAST(x, N(0)), AT_LEAST(y, N(0)))
#define ALL_NOT_NEGATIVE AND(X_AND_Y_NOT_NEGATIVE, AT_LEAST(z, N(0)))

/* (x * c1 + y + z) / c2 with the sum of y and z given as REST */
#define SUM_DIVISION_RULE(SUM, REST)                                                                                                       \
    REWRITE(DIV(SUM, c2), ADD(MUL(x, DIV(c1, c2)), DIV(REST, c2)),                                                                         \
            .when = AND(C1_IS_MULTIPLE, AND(AT_LEAST(x, N(0)), AT_LEAST(REST, N(0)))))

static const Rule truncdiv_rules[] = {
    REWRITE(DIV(N(0), x), N(0)),
    REWRITE(DIV(DIV(x, c1), c2), DIV(x, MUL(c1, c2)), .when = AND(GT(c1, N(0)), GT(c2, N(0)))),
    REWRITE(DIV(ADD(DIV(x, c1), c2), c3), DIV(ADD(x, MUL(c1, c2)), MUL(c1, c3)),
     .when = AND(AND(GT(c1, N(0)), GE(c2, N(0))), AND(GT(c3, N(0)), AT_LEAST(x, N(0))))),
    REWRITE(DIV(MUL(x, c1), c2), MUL(x, DIV(c1, c2)), .when = AND(AND(GT(c1, N(0)), GT(c2, N(0))), EQ(FLOORMOD(c1, c2), N(0)))),
    REWRITE(DIV(MUL(x, c1), c2), DIV(x, DIV(c2, c1)), .when = AND(AND(GT(c1, N(0)), GT(c2, N(0))), EQ(FLOORMOD(c2, c1), N(0)))),
    REWRITE(DIV(x, x), N(1)),
    REWRITE(DIV(MUL(x, c1), x), c1),
    REWRITE(DIV(MUL(c1, x), x), c1),
    REWRITE(DIV(ADD(MUL(x, c1), y), c2), ADD(MUL(x, DIV(c1, c2)), DIV(y, c2)), .when = AND(C1_IS_MULTIPLE, X_AND_Y_NOT_NEGATIVE)),
    REWRITE(DIV(MIN(MUL(x, c1), y), c2), MIN(MUL(x, DIV(c1, c2)), DIV(y, c2)), .when = AND(C1_IS_MULTIPLE, X_AND_Y_NOT_NEGATIVE)),
    REWRITE(DIV(MAX(MUL(x, c1), y), c2), MAX(MUL(x, DIV(c1, c2)), DIV(y, c2)), .when = AND(C1_IS_MULTIPLE, X_AND_Y_NOT_NEGATIVE)),
    REWRITE(DIV(ADD(y, MUL(x, c1)), c2), ADD(DIV(y, c2), MUL(x, DIV(c1, c2))), .when = AND(C1_IS_MULTIPLE, X_AND_Y_NOT_NEGATIVE)),
    REWRITE(DIV(MIN(y, MUL(x, c1)), c2), MIN(DIV(y, c2), MUL(x, DIV(c1, c2))), .when = AND(C1_IS_MULTIPLE, X_AND_Y_NOT_NEGATIVE)),
    REWRITE(DIV(MAX(y, MUL(x, c1)), c2), MAX(DIV(y, c2), MUL(x, DIV(c1, c2))), .when = AND(C1_IS_MULTIPLE, X_AND_Y_NOT_NEGATIVE)),
    SUM_DIVISION_RULE(ADD(ADD(MUL(x, c1), y), z), ADD(y, z)),
    SUM_DIVISION_RULE(ADD(SUB(MUL(x, c1), y), z), SUB(z, y)),
    SUM_DIVISION_RULE(SUB(ADD(MUL(x, c1), y), z), SUB(y, z)),
    SUM_DIVISION_RULE(ADD(ADD(y, MUL(x, c1)), z), ADD(y, z)),
    REWRITE(DIV(ADD(x, c1), c2), ADD(DIV(x, c2), DIV(c1, c2)), .when = AND(AND(GT(c1, N(0)), C1_IS_MULTIPLE), AT_LEAST(x, N(0)))),
    /* a term equal to the divisor */
    REWRITE(DIV(ADD(x, y), x), ADD(DIV(y, x), N(1)), .when = X_AND_Y_NOT_NEGATIVE),
    REWRITE(DIV(ADD(y, x), x), ADD(DIV(y, x), N(1)), .when = X_AND_Y_NOT_NEGATIVE),
    REWRITE(DIV(ADD(ADD(x, y), z), x), ADD(DIV(ADD(y, z), x), N(1)), .when = AND(AT_LEAST(x, N(0)), AT_LEAST(ADD(y, z), N(0)))),
    REWRITE(DIV(ADD(ADD(y, x), z), x), ADD(DIV(ADD(y, z), x), N(1)), .when = AND(AT_LEAST(x, N(0)), AT_LEAST(ADD(y, z), N(0)))),
    REWRITE(DIV(ADD(y, ADD(z, x)), x), ADD(DIV(ADD(y, z), x), N(1)), .when = AND(AT_LEAST(x, N(0)), AT_LEAST(ADD(y, z), N(0)))),
    REWRITE(DIV(ADD(y, ADD(x, z)), x), ADD(DIV(ADD(y, z), x), N(1)), .when = AND(AT_LEAST(x, N(0)), AT_LEAST(ADD(y, z), N(0)))),
    REWRITE(DIV(MUL(x, y), y), x, .when = X_AND_Y_NOT_NEGATIVE),
    REWRITE(DIV(MUL(y, x), y), x, .when = X_AND_Y_NOT_NEGATIVE),
    REWRITE(DIV(ADD(MUL(x, z), y), z), ADD(x, DIV(y, z)), .when = ALL_NOT_NEGATIVE),
    REWRITE(DIV(ADD(MUL(z, x), y), z), ADD(x, DIV(y, z)), .when = ALL_NOT_NEGATIVE),
    REWRITE(DIV(ADD(y, MUL(x, z)), z), ADD(DIV(y, z), x), .when = ALL_NOT_NEGATIVE),
    REWRITE(DIV(ADD(y, MUL(z, x)), z), ADD(DIV(y, z), x), .when = ALL_NOT_NEGATIVE),
};
RULE_TABLE(truncdiv);

static const Rule truncmod_rules[] = {
    REWRITE(MOD(N(0), x), N(0)),
    REWRITE(MOD(MUL(x, c1), c2), N(0), .when = AND(NE(c2, N(0)), EQ(FLOORMOD(c1, c2), N(0)))),
    REWRITE(MOD(ADD(MUL(x, c1), y), c2), MOD(y, c2),
     .when = AND(AND(GT(c2, N(0)), EQ(FLOORMOD(c1, c2), N(0))), AND(AT_LEAST(MUL(x, c1), N(0)), AT_LEAST(y, N(0))))),
    REWRITE(MOD(ADD(x, c1), c2), MOD(x, c2), .when = AND(C1_IS_MULTIPLE, AT_LEAST(x, N(0)))),
    REWRITE(MOD(ADD(x, MUL(y, c1)), c2), MOD(x, c2),
     .when = AND(AND(GT(c2, N(0)), EQ(FLOORMOD(c1, c2), N(0))), AND(AT_LEAST(x, N(0)), AT_LEAST(MUL(y, c1), N(0))))),
    /* the sign of the divisor does not matter */
    REWRITE(MOD(x, c1), MOD(x, NEGATIVE(c1)), .when = LT(c1, N(0)), .again = true),
};
RULE_TABLE(truncmod);

const Expr *simplify_truncdiv(Simplifier *s, const Expr *expr)
{
    if (!is_index_type(expr->dtype) || expr_is_int(expr->args[1], 0))
        return expr;
    const Expr *result = rules_apply(s, &truncdiv_table, expr);
    return result ? result : expr;
}

static const Expr *remainder_by_congruence(Simplifier *s, const Expr *expr)
{
    int64_t modulus;
    if (!expr_const_int(expr->args[1], &modulus) || modulus <= 0)
        return NULL;
    ModularSet set = analyzer_modular(s->an, expr->args[0]);
    bool fixed = set.coeff % modulus == 0 && analyzer_prove_at_least(s->an, expr->args[0], 0);
    return fixed ? expr_int(s->an->ctx, expr->dtype, floor_modulo(set.base, modulus)) : NULL;
}

const Expr *simplify_truncmod(Simplifier *s, const Expr *expr)
{
    if (!is_index_type(expr->dtype) || expr_is_int(expr->args[1], 0))
        return expr;
    const Expr *result = rules_apply(s, &truncmod_table, expr);
    if (!result)
        result = remainder_by_congruence(s, expr);
    return result ? result : expr;
}
