/* Congruences of integer expressions: value = coeff * k + base. Exact over the integers; coefficients that would overflow become
   "nothing known". */
#include "ir/fold.h"
#include "passes/arith/internal.h"

/* COEFF may be negative, BASE anything; the result is normal. */
static ModularSet modular_normal(int64_t coeff, int64_t base)
{
    if (coeff == INT64_MIN)
        return modular_everything();
    coeff = coeff < 0 ? -coeff : coeff;
    return (ModularSet){coeff, coeff ? floor_modulo(base, coeff) : base};
}

static ModularSet modular_add(ModularSet a, ModularSet b)
{
    int64_t base;
    if (__builtin_add_overflow(a.base, b.base, &base))
        return modular_everything();
    return modular_normal(integer_gcd(a.coeff, b.coeff), base);
}

static ModularSet modular_subtract(ModularSet a, ModularSet b)
{
    int64_t base;
    if (__builtin_sub_overflow(a.base, b.base, &base))
        return modular_everything();
    return modular_normal(integer_gcd(a.coeff, b.coeff), base);
}

/* (p x + n)(q y + m) = pq xy + pm x + qn y + nm */
static ModularSet modular_multiply(ModularSet a, ModularSet b)
{
    int64_t pq, pm, qn, nm;
    if (__builtin_mul_overflow(a.coeff, b.coeff, &pq) || __builtin_mul_overflow(a.coeff, b.base, &pm) ||
        __builtin_mul_overflow(b.coeff, a.base, &qn) || __builtin_mul_overflow(a.base, b.base, &nm))
        return modular_everything();
    return modular_normal(integer_gcd(pq, integer_gcd(pm, qn)), nm);
}

/* Two different constants have no common congruence here: taking their distance as one would be right, but changes what the comparison
   rules print. */
static ModularSet modular_union(ModularSet a, ModularSet b)
{
    int64_t coeff = integer_gcd(a.coeff, b.coeff), difference;
    if (__builtin_sub_overflow(a.base, b.base, &difference) || (coeff == 0 && difference != 0))
        return modular_everything();
    return modular_normal(integer_gcd(coeff, difference), a.base);
}

/* Quotient by the constant DIVISOR. Only a multiple of the divisor plus a base of known rounding divides. */
static ModularSet modular_divide(Analyzer *an, const Expr *dividend, int64_t divisor, bool floors)
{
    ModularSet a = analyzer_modular(an, dividend);
    if (divisor == 0 || divisor == -1 || a.coeff % divisor != 0)
        return modular_everything();
    if (a.coeff == 0)
        return (ModularSet){0, floors ? floor_divide(a.base, divisor) : a.base / divisor};
    if (a.base == 0)
        return modular_normal(a.coeff / divisor, 0);
    if (a.base > 0 && divisor > 0 && (floors || analyzer_prove_at_least(an, dividend, 0)))
        return modular_normal(a.coeff / divisor, a.base / divisor);
    return modular_everything();
}

static ModularSet modular_remainder(Analyzer *an, const Expr *dividend, int64_t modulus, bool floors)
{
    ModularSet a = analyzer_modular(an, dividend);
    if (modulus == 0 || modulus == -1 || modulus == INT64_MIN)
        return modular_everything();
    if (a.coeff == 0)
        return (ModularSet){0, floors ? floor_modulo(a.base, modulus) : a.base % modulus};
    int64_t coeff = integer_gcd(a.coeff, modulus);
    if (a.base % coeff == 0 || floors || analyzer_prove_at_least(an, dividend, 0))
        return modular_normal(coeff, a.base);
    return modular_everything();
}

/* The positive power of two whose exponent is the constant EXPR, or 0. */
static int64_t shifted_one(const Expr *expr)
{
    return expr->kind == EXPR_INT && expr->value.integer >= 0 && expr->value.integer < 62 ? (int64_t)1 << expr->value.integer : 0;
}

static ModularSet modular_of_call(Analyzer *an, const Expr *expr)
{
    switch (expr->value.op) {
    case OP_SHIFT_LEFT: {
        int64_t factor = shifted_one(expr->args[1]);
        return factor ? modular_multiply(analyzer_modular(an, expr->args[0]), (ModularSet){0, factor}) : modular_everything();
    }
    case OP_SHIFT_RIGHT: {
        int64_t factor = shifted_one(expr->args[1]);
        return factor ? modular_divide(an, expr->args[0], factor, true) : modular_everything();
    }
    case OP_BITWISE_AND: {
        int64_t mask = expr->args[1]->kind == EXPR_INT ? expr->args[1]->value.integer : -1;
        bool low_bits = mask >= 0 && mask < INT64_MAX && (mask & (mask + 1)) == 0;
        return low_bits ? modular_remainder(an, expr->args[0], mask + 1, true) : modular_everything();
    }
    default: return modular_everything();
    }
}

static ModularSet modular_of_division(Analyzer *an, const Expr *expr)
{
    int64_t constant;
    if (!expr_const_int(expr->args[1], &constant))
        return modular_everything();
    bool floors = expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_FLOORMOD;
    bool quotient = expr->kind == EXPR_DIV || expr->kind == EXPR_FLOORDIV;
    return quotient ? modular_divide(an, expr->args[0], constant, floors) : modular_remainder(an, expr->args[0], constant, floors);
}

static ModularSet modular_compute(Analyzer *an, const Expr *expr)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_VAR: {
        VarFact *fact = analyzer_find_var(an, expr->value.var);
        return fact ? fact->modular : modular_everything();
    }
    case EXPR_ADD: return modular_add(analyzer_modular(an, expr->args[0]), analyzer_modular(an, expr->args[1]));
    case EXPR_SUB: return modular_subtract(analyzer_modular(an, expr->args[0]), analyzer_modular(an, expr->args[1]));
    case EXPR_MUL: return modular_multiply(analyzer_modular(an, expr->args[0]), analyzer_modular(an, expr->args[1]));
    case EXPR_DIV:
    case EXPR_MOD:
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD: return modular_of_division(an, expr);
    case EXPR_MIN:
    case EXPR_MAX: return modular_union(analyzer_modular(an, expr->args[0]), analyzer_modular(an, expr->args[1]));
    case EXPR_SELECT: return modular_union(analyzer_modular(an, expr->args[1]), analyzer_modular(an, expr->args[2]));
    case EXPR_CALL: return modular_of_call(an, expr);
    default: return modular_everything();
    }
}

ModularSet analyzer_modular(Analyzer *an, const Expr *expr)
{
    if (expr->kind == EXPR_INT)
        return (ModularSet){0, expr->value.integer};
    /* only widening casts and index arithmetic keep congruences: other types wrap */
    if (expr->kind == EXPR_CAST && is_index_type(expr->dtype) && is_index_type(expr->args[0]->dtype) &&
        expr->dtype.bits >= expr->args[0]->dtype.bits)
        return analyzer_modular(an, expr->args[0]);
    if (!is_index_type(expr->dtype))
        return modular_everything();
    Memo *memo = analyzer_memo(an, expr);
    if (memo->has_modular)
        return memo->modular;
    if (!analyzer_begin_visit(an))
        return modular_everything();
    ModularSet set = modular_compute(an, expr);
    analyzer_end_visit(an);
    memo = analyzer_memo(an, expr);
    memo->modular = set;
    memo->has_modular = true;
    return set;
}

/* --- Assumptions: var % coeff == base --- */

/* Both x = a and x = b (as congruences), by the smallest common solution; nothing new where the numbers would overflow or none exists. */
static ModularSet modular_intersect(ModularSet a, ModularSet b)
{
    int64_t period = integer_gcd(a.coeff, b.coeff);
    if (a.coeff <= 0 || b.coeff <= 0 || (a.base - b.base) % period != 0 || a.coeff / period > INT32_MAX || b.coeff > INT32_MAX)
        return a.coeff == 0 ? a : b.coeff == 0 ? b : a.coeff >= b.coeff ? a : b;
    int64_t value = a.base, limit = b.coeff / period;
    for (int64_t k = 0; k < limit && k < 4096; k++, value += a.coeff)
        if (floor_modulo(value, b.coeff) == b.base)
            return modular_normal(a.coeff / period * b.coeff, value);
    return a.coeff >= b.coeff ? a : b;
}

static void assume_conjunct(Analyzer *an, const Expr *conjunct)
{
    int64_t coeff, base;
    if (conjunct->kind != EXPR_EQ || !expr_const_int(conjunct->args[1], &base))
        return;
    const Expr *remainder = conjunct->args[0];
    if ((remainder->kind != EXPR_FLOORMOD && remainder->kind != EXPR_MOD) || remainder->args[0]->kind != EXPR_VAR ||
        !expr_const_int(remainder->args[1], &coeff) || coeff <= 0 || coeff > INT32_MAX)
        return;
    VarFact *fact = analyzer_make_var(an, remainder->args[0]->value.var);
    vec_push(an->arena, &an->moduli, ((ModularUndo){fact, fact->modular}));
    fact->modular = modular_intersect(fact->modular, modular_normal(coeff, base));
}

void modular_assume(Analyzer *an, const Expr *condition)
{
    each_conjunct(an, condition, assume_conjunct);
}
