/* Rules for floordiv and floormod of index expressions. Flooring makes (x + c * k) // c == x // c + k hold for every sign, so most
   rules only ask for a positive divisor; a division by the constant 0 is left alone. */
#include "ir/fold.h"
#include "passes/arith/rules.h"
#include "passes/arith/simplify.h"

#define C1_IS_MULTIPLE AND(GT(c2, N(0)), EQ(FLOORMOD(c1, c2), N(0)))
#define C1_DIVIDES AND(AND(GT(c1, N(0)), GT(c2, N(0))), EQ(FLOORMOD(c2, c1), N(0)))
/* c2 / c1 when c1 divides c2 */
#define RATIO FLOORDIV(c2, c1)

static const Rule floordiv_nested_rules[] = {
    REWRITE(FLOORDIV(FLOORDIV(x, c1), c2), FLOORDIV(x, MUL(c1, c2)), .when = AND(GT(c1, N(0)), GT(c2, N(0)))),
    REWRITE(FLOORDIV(ADD(FLOORDIV(x, c1), c2), c3), FLOORDIV(ADD(x, MUL(c1, c2)), MUL(c1, c3)), .when = AND(GT(c1, N(0)), GT(c3, N(0)))),
};
RULE_TABLE(floordiv_nested);

/* (x * c1 + y + z) // c2, the sum of y and z given as REST: either the product divides, or the rest lies within one step of c1. */
#define SUM_DIVISION_RULES(SUM, REST)                                                                                                        \
    REWRITE(FLOORDIV(SUM, c2), ADD(MUL(x, FLOORDIV(c1, c2)), FLOORDIV(REST, c2)), .when = C1_IS_MULTIPLE),                                   \
    REWRITE(FLOORDIV(SUM, c2), FLOORDIV(x, RATIO), .when = AND(C1_DIVIDES, PROVE_EQUAL(FLOORDIV(REST, c1), N(0))))

static const Rule floordiv_rules[] = {
    REWRITE(FLOORDIV(N(0), x), N(0)),
    REWRITE(FLOORDIV(x, x), N(1)),
    REWRITE(FLOORDIV(MUL(x, c1), x), c1),
    REWRITE(FLOORDIV(MUL(c1, x), x), c1),
    REWRITE(FLOORDIV(MIN(MUL(x, c1), y), c2), MIN(MUL(x, FLOORDIV(c1, c2)), FLOORDIV(y, c2)), .when = C1_IS_MULTIPLE),
    REWRITE(FLOORDIV(MAX(MUL(x, c1), y), c2), MAX(MUL(x, FLOORDIV(c1, c2)), FLOORDIV(y, c2)), .when = C1_IS_MULTIPLE),
    REWRITE(FLOORDIV(MIN(y, MUL(x, c1)), c2), MIN(FLOORDIV(y, c2), MUL(x, FLOORDIV(c1, c2))), .when = C1_IS_MULTIPLE),
    REWRITE(FLOORDIV(MAX(y, MUL(x, c1)), c2), MAX(FLOORDIV(y, c2), MUL(x, FLOORDIV(c1, c2))), .when = C1_IS_MULTIPLE),
    SUM_DIVISION_RULES(ADD(ADD(MUL(x, c1), y), z), ADD(y, z)),
    SUM_DIVISION_RULES(ADD(SUB(MUL(x, c1), y), z), SUB(z, y)),
    SUM_DIVISION_RULES(SUB(ADD(MUL(x, c1), y), z), SUB(y, z)),
    SUM_DIVISION_RULES(ADD(ADD(y, MUL(x, c1)), z), ADD(y, z)),
    REWRITE(FLOORDIV(ADD(x, c1), c2), ADD(FLOORDIV(x, c2), FLOORDIV(c1, c2)), .when = C1_IS_MULTIPLE),
    REWRITE(FLOORDIV(ADD(x, c1), c2), FLOORDIV(c1, c2),
            .when =
                AND(AND(GT(c2, N(0)), GE(c1, N(0))), AND(AT_LEAST(ADD(x, FLOORMOD(c1, c2)), N(0)), BELOW(ADD(x, FLOORMOD(c1, c2)), c2)))),
    REWRITE(FLOORDIV(MUL(x, c1), MUL(x, c2)), FLOORDIV(c1, c2), .when = GT(c2, N(0))),
    /* a term equal to the divisor */
    REWRITE(FLOORDIV(ADD(x, y), x), ADD(FLOORDIV(y, x), N(1)), .when = AT_LEAST(x, N(0))),
    REWRITE(FLOORDIV(ADD(y, x), x), ADD(FLOORDIV(y, x), N(1)), .when = AT_LEAST(x, N(0))),
    REWRITE(FLOORDIV(ADD(ADD(x, y), z), x), ADD(FLOORDIV(ADD(y, z), x), N(1)), .when = AT_LEAST(x, N(0))),
    REWRITE(FLOORDIV(ADD(ADD(y, x), z), x), ADD(FLOORDIV(ADD(y, z), x), N(1)), .when = AT_LEAST(x, N(0))),
    REWRITE(FLOORDIV(ADD(y, ADD(z, x)), x), ADD(FLOORDIV(ADD(y, z), x), N(1)), .when = AT_LEAST(x, N(0))),
    REWRITE(FLOORDIV(ADD(y, ADD(x, z)), x), ADD(FLOORDIV(ADD(y, z), x), N(1)), .when = AT_LEAST(x, N(0))),
    REWRITE(FLOORDIV(MUL(x, y), y), x, .when = AT_LEAST(y, N(0))),
    REWRITE(FLOORDIV(MUL(y, x), y), x, .when = AT_LEAST(y, N(0))),
    REWRITE(FLOORDIV(ADD(MUL(x, z), y), z), ADD(x, FLOORDIV(y, z)), .when = AT_LEAST(z, N(0))),
    REWRITE(FLOORDIV(ADD(MUL(z, x), y), z), ADD(x, FLOORDIV(y, z)), .when = AT_LEAST(z, N(0))),
    REWRITE(FLOORDIV(ADD(y, MUL(x, z)), z), ADD(FLOORDIV(y, z), x), .when = AT_LEAST(z, N(0))),
    REWRITE(FLOORDIV(ADD(y, MUL(z, x)), z), ADD(FLOORDIV(y, z), x), .when = AT_LEAST(z, N(0))),
    REWRITE(FLOORDIV(SUB(x, FLOORMOD(x, c1)), c1), FLOORDIV(x, c1), .when = NE(c1, N(0))),
    REWRITE(FLOORDIV(ADD(FLOORMOD(x, N(2)), N(1)), N(2)), FLOORMOD(x, N(2))),
};
RULE_TABLE(floordiv);

static const Rule floormod_rules[] = {
    REWRITE(FLOORMOD(N(0), x), N(0)),
    REWRITE(FLOORMOD(ADD(MUL(x, c1), y), c2), ADD(MUL(FLOORMOD(x, RATIO), c1), y),
            .when = AND(C1_DIVIDES, PROVE_EQUAL(FLOORDIV(y, c1), N(0)))),
    REWRITE(FLOORMOD(MUL(x, c1), c2), FLOORMOD(MUL(x, FLOORMOD(c1, c2)), c2), .when = NE(c2, N(0))),
    REWRITE(FLOORMOD(ADD(MUL(x, c1), y), c2), FLOORMOD(ADD(MUL(x, FLOORMOD(c1, c2)), y), c2), .when = GT(c2, N(0))),
    REWRITE(FLOORMOD(ADD(x, c1), c2), FLOORMOD(x, c2), .when = C1_IS_MULTIPLE),
    REWRITE(FLOORMOD(ADD(x, c1), c2), FLOORMOD(ADD(x, FLOORMOD(c1, c2)), c2), .when = AND(GT(c2, N(0)), OR(LT(c1, N(0)), GE(c1, c2)))),
    REWRITE(FLOORMOD(ADD(x, MUL(y, c1)), c2), FLOORMOD(ADD(x, MUL(y, FLOORMOD(c1, c2))), c2), .when = GT(c2, N(0))),
    REWRITE(FLOORMOD(MUL(x, c1), MUL(x, c2)), MUL(x, FLOORMOD(c1, c2)), .when = NE(c2, N(0))),
    REWRITE(FLOORMOD(MUL(x, y), y), N(0)),
    REWRITE(FLOORMOD(MUL(y, x), y), N(0)),
    /* with z = -x modulo y the two terms fill up a multiple of y */
    REWRITE(FLOORMOD(ADD(x, FLOORMOD(z, y)), y), N(0), .when = PROVE_EQUAL(FLOORMOD(ADD(x, z), y), N(0))),
    REWRITE(FLOORMOD(SUB(x, FLOORMOD(x, y)), y), N(0)),
};
RULE_TABLE(floormod);

/* (factor * scale + rest) // divisor */
typedef struct {
    const Expr *factor, *rest; /* rest is never NULL, maybe 0 */
    int64_t scale, divisor;
} LinearDivision;

static bool linear_division_match(Simplifier *s, const Expr *expr, LinearDivision *parts)
{
    const Expr *sum = expr->args[0], *product = sum;
    *parts = (LinearDivision){.rest = expr_int(s->an->ctx, expr->dtype, 0)};
    if (sum->kind == EXPR_ADD) {
        bool first = sum->args[0]->kind == EXPR_MUL && sum->args[0]->args[1]->kind == EXPR_INT;
        product = sum->args[!first];
        parts->rest = sum->args[first];
    }
    if (product->kind != EXPR_MUL || !expr_const_int(product->args[1], &parts->scale) || !expr_const_int(expr->args[1], &parts->divisor))
        return false;
    parts->factor = product->args[0];
    return parts->divisor != 0 && parts->divisor != -1 && parts->scale != 0;
}

/* rest // divisor; the constant 0 where it is shown to be that. */
static const Expr *quotient_of_rest(Simplifier *s, const Expr *rest, const Expr *divisor)
{
    const Expr *quotient = op_floordiv(s->an->ctx, rest, divisor);
    return simplify_compare_to(s, quotient, 0) == ORDER_EQ ? expr_int(s->an->ctx, rest->dtype, 0) : quotient;
}

/* Where the residues of both terms contribute a constant only, or where the scale divides the divisor and the rest stays within one
   step of it. */
static const Expr *divide_linear(Simplifier *s, const Expr *expr)
{
    LinearDivision parts;
    if (!linear_division_match(s, expr, &parts))
        return NULL;
    Context *ctx = s->an->ctx;
    const Expr *divisor = expr->args[1], *residue_of_rest = op_floormod(ctx, parts.rest, divisor);
    const Expr *residue = op_add(ctx, op_mul_int(ctx, parts.factor, floor_modulo(parts.scale, parts.divisor)), residue_of_rest);
    IntBound bound = analyzer_bound(s->an, op_floordiv(ctx, residue, divisor));
    const Expr *rest = quotient_of_rest(s, parts.rest, divisor);
    if (bound.min == bound.max)
        return op_add(ctx, op_mul_int(ctx, parts.factor, floor_divide(parts.scale, parts.divisor)), op_add_int(ctx, rest, bound.max));
    bool divides = parts.scale > 0 && parts.divisor > 0 && parts.divisor % parts.scale == 0;
    if (!divides || !analyzer_prove_below(s->an, residue_of_rest, parts.scale))
        return NULL;
    return op_add(ctx, op_floordiv(ctx, parts.factor, expr_int(ctx, expr->dtype, parts.divisor / parts.scale)), rest);
}

const Expr *simplify_floordiv(Simplifier *s, const Expr *expr)
{
    if (!is_index_type(expr->dtype) || expr_is_int(expr->args[1], 0))
        return expr;
    const Expr *result = rules_apply(s, &floordiv_nested_table, expr);
    if (!result)
        result = divide_linear(s, expr);
    if (!result)
        result = rules_apply(s, &floordiv_table, expr);
    return result ? result : expr;
}

/* x % c where the congruence of x fixes it, or where x lies within [0, c) already. */
static const Expr *remainder_by_facts(Simplifier *s, const Expr *expr)
{
    int64_t modulus;
    if (!expr_const_int(expr->args[1], &modulus) || modulus <= 0)
        return NULL;
    ModularSet set = analyzer_modular(s->an, expr->args[0]);
    if (set.coeff % modulus == 0)
        return expr_int(s->an->ctx, expr->dtype, floor_modulo(set.base, modulus));
    IntBound bound = analyzer_bound(s->an, expr->args[0]);
    return bound.min >= 0 && bound.max < modulus ? expr->args[0] : NULL;
}

const Expr *simplify_floormod(Simplifier *s, const Expr *expr)
{
    if (!is_index_type(expr->dtype) || expr_is_int(expr->args[1], 0))
        return expr;
    const Expr *result = rules_apply(s, &floormod_table, expr);
    if (!result)
        result = remainder_by_facts(s, expr);
    return result ? result : expr;
}
