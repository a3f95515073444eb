/* See polynomial.h. Two polynomials are equal as linear forms where they are equal as polynomials: products are multiplied out, and each product
   of variables has one name. */
#include "ir/fold.h"
#include "passes/analysis/sets/polynomial.h"

enum { DEEPEST_POLYNOMIAL = 60, MOST_SCALED = 24 };

static LinearForm constant_form(int64_t value)
{
    return (LinearForm){.constant = value};
}

static bool is_constant(const LinearForm *form)
{
    for (int i = 0; i < form->count; i++)
        if (form->terms[i].coefficient)
            return false;
    return true;
}

/* FORM without the variables that have come to nothing. */
static LinearForm compacted(const LinearForm *form)
{
    LinearForm result = constant_form(form->constant);
    for (int i = 0; i < form->count; i++)
        if (form->terms[i].coefficient)
            result.terms[result.count++] = form->terms[i];
    return result;
}

static bool same_form(const LinearForm *a, const LinearForm *b)
{
    LinearForm difference = *a;
    return linear_add_form(&difference, b, -1) && !difference.constant && is_constant(&difference);
}

static bool same_variable(LinearTermOf a, LinearTermOf b)
{
    return a.param == b.param && (a.param || a.dim == b.dim);
}

/* --- signs --- */

static bool variable_is_nonnegative(const Polynomials *all, LinearTermOf variable)
{
    for (int i = 0; !variable.param && i < all->counting_up.count; i++)
        if (all->counting_up.data[i] == variable.dim)
            return true;
    if (!variable.param)
        return false;
    if (map_has(&all->space->sizes, variable.param) || affine_term_is_nonnegative(all->space->terms, variable.param))
        return true;
    for (int i = 0; i < all->quotients.count; i++)
        if (all->quotients.data[i].var == variable.param)
            return all->quotients.data[i].nonnegative;
    for (int i = 0; i < all->monomials.count; i++) {
        const Monomial *monomial = &all->monomials.data[i];
        bool nonnegative = monomial->var == variable.param;
        for (int f = 0; f < monomial->count && nonnegative; f++)
            nonnegative = variable_is_nonnegative(all, monomial->factors[f]);
        if (nonnegative)
            return true;
    }
    return false;
}

static bool is_nonnegative(const Polynomials *all, const LinearForm *form)
{
    bool nonnegative = form->constant >= 0;
    for (int i = 0; i < form->count && nonnegative; i++)
        nonnegative = !form->terms[i].coefficient ||
                      (form->terms[i].coefficient > 0 && variable_is_nonnegative(all, form->terms[i]));
    return nonnegative;
}

/* --- products --- */

static const Monomial *find_monomial(const Polynomials *all, const Var *var)
{
    for (int i = 0; i < all->monomials.count; i++)
        if (all->monomials.data[i].var == var)
            return &all->monomials.data[i];
    return NULL;
}

static bool add_factor(const Polynomials *all, Monomial *product, LinearTermOf variable)
{
    const Monomial *known = variable.param ? find_monomial(all, variable.param) : NULL;
    for (int i = 0; known && i < known->count; i++)
        if (!add_factor(all, product, known->factors[i]))
            return false;
    if (known)
        return true;
    if (product->count == MOST_MONOMIAL_FACTORS)
        return false;
    product->factors[product->count++] = variable;
    return true;
}

/* Takes the factors of PART out of WHOLE; false where one is not there. */
static bool take_factors(Monomial *whole, const Monomial *part)
{
    for (int i = 0; i < part->count; i++) {
        int at = 0;
        while (at < whole->count && !same_variable(whole->factors[at], part->factors[i]))
            at++;
        if (at == whole->count)
            return false;
        whole->factors[at] = whole->factors[--whole->count];
    }
    return true;
}

/* The variable that stands for PRODUCT, whose factors need not be known yet. */
static LinearTermOf variable_of(Polynomials *all, Monomial product)
{
    Context *ctx = all->space->ctx;
    if (product.count == 1)
        return product.factors[0];
    for (int i = 0; i < all->monomials.count; i++) {
        Monomial rest = all->monomials.data[i];
        if (rest.count == product.count && take_factors(&rest, &product))
            return (LinearTermOf){.param = all->monomials.data[i].var};
    }
    product.var = var_new(ctx, context_intern(ctx, "product"), DTYPE_INT64, span_none());
    vec_push(ctx->arena, &all->monomials, product);
    return (LinearTermOf){.param = product.var};
}

/* Notes that PRODUCT is VALUE times KEY, which is not negative. A key of one variable counts without its coefficient. */
static bool note_scaled(Polynomials *all, const LinearForm *value, const LinearForm *key, const LinearForm *product)
{
    Context *ctx = all->space->ctx;
    ScaledValue scaled = {all->keys.count, *value, *product};
    LinearForm plain = compacted(key);
    if (plain.count == 1 && !plain.constant) {
        int64_t scale = plain.terms[0].coefficient;
        plain.terms[0].coefficient = 1;
        for (int i = 0; i < product->count; i++)
            scaled.product.terms[i].coefficient /= scale;
    }
    for (int i = all->keys.count - 1; i >= 0; i--)
        if (same_form(&all->keys.data[i], &plain))
            scaled.key = i;
    for (int i = 0; i < all->scaled.count; i++)
        if (all->scaled.data[i].key == scaled.key && same_form(&all->scaled.data[i].value, value))
            return true;
    if (all->scaled.count == MOST_SCALED)
        return false;
    if (scaled.key == all->keys.count)
        vec_push(ctx->arena, &all->keys, plain);
    vec_push(ctx->arena, &all->scaled, scaled);
    return true;
}

static bool add_product_of_terms(Polynomials *all, LinearForm *sum, LinearTermOf a, LinearTermOf b)
{
    Monomial product = {.count = 0};
    int64_t coefficient;
    return add_factor(all, &product, a) && add_factor(all, &product, b) &&
           !__builtin_mul_overflow(a.coefficient, b.coefficient, &coefficient) &&
           linear_add_term(sum, variable_of(all, product), coefficient);
}

static bool multiply(Polynomials *all, const LinearForm *a, const LinearForm *b, LinearForm *result)
{
    *result = (LinearForm){0};
    if (is_constant(b))
        return linear_add_form(result, a, b->constant);
    if (!linear_add_form(result, b, a->constant))
        return false;
    LinearForm without = *a;
    without.constant = 0;
    if (!linear_add_form(result, &without, b->constant))
        return false;
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < b->count; j++)
            if (a->terms[i].coefficient && b->terms[j].coefficient &&
                !add_product_of_terms(all, result, a->terms[i], b->terms[j]))
                return false;
    return is_constant(a) || ((!is_nonnegative(all, b) || note_scaled(all, a, b, result)) &&
                              (!is_nonnegative(all, a) || note_scaled(all, b, a, result)));
}

/* --- quotients --- */

/* Restricts the space to A + SCALE * B + CONSTANT >= 0. */
static bool assume_at_least(Polynomials *all, const LinearForm *a, const LinearForm *b, int64_t scale, int64_t constant)
{
    LinearForm sum = *a;
    if (!linear_add_form(&sum, b, scale) || __builtin_add_overflow(sum.constant, constant, &sum.constant))
        return false;
    affine_add_form(all->space, &sum, false);
    return true;
}

/* VALUE - QUOTIENT * DIVISOR in REST, which lies in [0, DIVISOR). */
static bool rest_of(Polynomials *all, const LinearForm *value, const LinearForm *quotient, const LinearForm *divisor, LinearForm *rest)
{
    LinearForm product;
    if (!multiply(all, quotient, divisor, &product))
        return false;
    *rest = *value;
    return linear_add_form(rest, &product, -1);
}

static const Quotient *find_quotient(const Polynomials *all, const LinearForm *dividend, const LinearForm *divisor)
{
    for (int i = 0; i < all->quotients.count; i++) {
        const Quotient *known = &all->quotients.data[i];
        if (same_form(&known->dividend, dividend) && same_form(&known->divisor, divisor))
            return known;
    }
    return NULL;
}

/* The quotient is known to be DIVIDEND // DIVISOR, in which DIVISOR is positive. */
static bool divide_rest(Polynomials *all, const LinearForm *dividend, const LinearForm *divisor, LinearForm *quotient, LinearForm *rest)
{
    Context *ctx = all->space->ctx;
    const LinearForm zero = {0};
    const Quotient *known = find_quotient(all, dividend, divisor);
    Var *var = known ? known->var : var_new(ctx, context_intern(ctx, "quotient"), DTYPE_INT64, span_none());
    *quotient = constant_form(0);
    if (!linear_add_term(quotient, (LinearTermOf){.param = var}, 1) || !rest_of(all, dividend, quotient, divisor, rest))
        return false;
    if (known)
        return true;
    Quotient made = {*dividend, *divisor, var, is_nonnegative(all, dividend)};
    vec_push(ctx->arena, &all->quotients, made);
    return assume_at_least(all, rest, &zero, 1, 0) && assume_at_least(all, divisor, rest, -1, -1) &&
           (is_constant(divisor) || assume_at_least(all, divisor, &zero, 1, -1));
}

/* TERM is PART times DIVISOR, a constant or a product. */
static bool divides_term(Polynomials *all, LinearTermOf term, const LinearForm *divisor, LinearForm *part)
{
    int64_t scale = divisor->count ? divisor->terms[0].coefficient : divisor->constant;
    Monomial whole = {.count = 0}, factors = {.count = 0};
    if (term.coefficient % scale || !add_factor(all, &whole, term) || (divisor->count && !add_factor(all, &factors, divisor->terms[0])) ||
        !take_factors(&whole, &factors))
        return false;
    *part = constant_form(whole.count ? 0 : term.coefficient / scale);
    return !whole.count || linear_add_term(part, variable_of(all, whole), term.coefficient / scale);
}

/* (k * s + x) // s is k + x // s, and leaves x % s. */
static bool divide(Polynomials *all, const LinearForm *value, const LinearForm *by, LinearForm *quotient, LinearForm *rest)
{
    LinearForm divisor = compacted(by), dividend = constant_form(value->constant), whole = {0}, part;
    bool plain = divisor.count == 0 || (divisor.count == 1 && !divisor.constant);
    if (!is_nonnegative(all, &divisor) || (!divisor.count && !divisor.constant))
        return false;
    for (int i = 0; i < value->count; i++) {
        bool divides = plain && divides_term(all, value->terms[i], &divisor, &part);
        if (!(divides ? linear_add_form(&whole, &part, 1) : linear_add_term(&dividend, value->terms[i], value->terms[i].coefficient)))
            return false;
    }
    LinearForm product = *value;
    if (is_constant(&dividend) && is_constant(&divisor)) {
        *rest = constant_form(floor_modulo(dividend.constant, divisor.constant));
        *quotient = constant_form(floor_divide(dividend.constant, divisor.constant));
        return linear_add_form(quotient, &whole, 1);
    }
    return divide_rest(all, &dividend, &divisor, quotient, rest) && linear_add_form(quotient, &whole, 1) &&
           linear_add_form(&product, rest, -1) && (!divisor.count || note_scaled(all, quotient, &divisor, &product));
}

/* --- minima and maxima --- */

static bool extremum_of(Polynomials *all, const LinearForm *a, const LinearForm *b, bool max, LinearForm *result)
{
    Context *ctx = all->space->ctx;
    Extremum extremum = {{*a, *b}, max, NULL};
    if (is_constant(a) && is_constant(b)) {
        *result = (a->constant > b->constant) == max ? constant_form(a->constant) : constant_form(b->constant);
        return true;
    }
    for (int i = 0; i < all->extrema.count && !extremum.var; i++) {
        const Extremum *known = &all->extrema.data[i];
        if (known->max == max && same_form(&known->values[0], a) && same_form(&known->values[1], b))
            extremum.var = known->var;
    }
    bool known = extremum.var;
    if (!known)
        extremum.var = var_new(ctx, context_intern(ctx, max ? "most" : "least"), DTYPE_INT64, span_none());
    *result = constant_form(0);
    if (!linear_add_term(result, (LinearTermOf){.param = extremum.var}, 1))
        return false;
    for (int i = 0; i < 2 && !known; i++) {
        const LinearForm *value = &extremum.values[i];
        if (!(max ? assume_at_least(all, result, value, -1, 0) : assume_at_least(all, value, result, -1, 0)))
            return false;
    }
    if (!known)
        vec_push(ctx->arena, &all->extrema, extremum);
    return true;
}

/* --- expressions --- */

static bool polynomial_at(Polynomials *all, const AffineEnv *env, const Expr *expr, int depth, LinearForm *result);

static bool variable_at(Polynomials *all, const AffineEnv *env, const Expr *expr, int depth, LinearForm *result)
{
    while (env && env->var != expr->value.var)
        env = env->outer;
    if (env && env->dim < 0)
        return polynomial_at(all, env->outer, env->value, depth + 1, result);
    const Expr *number = !env && all->numbers ? map_get(all->numbers, expr->value.var) : NULL;
    if (number)
        return polynomial_at(all, NULL, number, depth + 1, result);
    LinearTermOf variable = env ? (LinearTermOf){.dim = env->dim} : (LinearTermOf){.param = expr->value.var};
    int64_t start;
    if (env && env->value && expr_const_int(env->value, &start) && start >= 0)
        vec_push(all->space->ctx->arena, &all->counting_up, env->dim);
    *result = (LinearForm){0};
    return linear_add_term(result, variable, 1);
}

static bool operation_at(Polynomials *all, const AffineEnv *env, const Expr *expr, int depth, LinearForm *result)
{
    LinearForm a, b, rest;
    if (!polynomial_at(all, env, expr->args[0], depth + 1, &a) || !polynomial_at(all, env, expr->args[1], depth + 1, &b))
        return false;
    *result = a;
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD: return linear_add_form(result, &b, 1);
    case EXPR_SUB: return linear_add_form(result, &b, -1);
    case EXPR_MUL: return multiply(all, &a, &b, result);
    case EXPR_MIN:
    case EXPR_MAX: return extremum_of(all, &a, &b, expr->kind == EXPR_MAX, result);
    case EXPR_FLOORDIV: return divide(all, &a, &b, result, &rest);
    default: return divide(all, &a, &b, &rest, result);
    }
}

static bool polynomial_at(Polynomials *all, const AffineEnv *env, const Expr *expr, int depth, LinearForm *result)
{
    if (depth > DEEPEST_POLYNOMIAL || !dtype_is_integer(expr->dtype) || expr->dtype.lanes != 1)
        return false;
    switch ((ExprKind)expr->kind) {
    case EXPR_INT: *result = constant_form(expr->value.integer); return dtype_holds(expr->dtype, expr->value.integer);
    case EXPR_VAR: return variable_at(all, env, expr, depth, result);
    case EXPR_CAST: return affine_cast_keeps_value(expr) && polynomial_at(all, env, expr->args[0], depth + 1, result);
    case EXPR_CALL: return expr->value.op == OP_LIKELY && polynomial_at(all, env, expr->args[0], depth + 1, result);
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL:
    case EXPR_MIN:
    case EXPR_MAX:
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD: return dtype_is_index(expr->dtype) && operation_at(all, env, expr, depth, result);
    default: return false;
    }
}

bool polynomial_of(Polynomials *all, const AffineEnv *env, const Expr *expr, LinearForm *result)
{
    return polynomial_at(all, env, expr, 0, result);
}

/* WHOLE is a value times its factor number FACTOR: notes that, where the factor is not negative. */
static void note_factor(Polynomials *all, const Monomial *whole, int factor)
{
    Monomial rest = *whole;
    LinearForm value = {0}, key = {0}, product = {0};
    rest.factors[factor] = rest.factors[--rest.count];
    if (variable_is_nonnegative(all, whole->factors[factor]) && linear_add_term(&key, whole->factors[factor], 1) &&
        linear_add_term(&value, variable_of(all, rest), 1) && linear_add_term(&product, (LinearTermOf){.param = whole->var}, 1))
        note_scaled(all, &value, &key, &product);
}

static void assume_sign(Polynomials *all, Var *var)
{
    LinearForm form = {0};
    LinearTermOf variable = {.param = var};
    if (variable_is_nonnegative(all, variable) && linear_add_term(&form, variable, 1))
        affine_add_form(all->space, &form, false);
}

void polynomials_complete(Polynomials *all)
{
    for (int i = 0; i < all->monomials.count; i++) {
        Monomial whole = all->monomials.data[i]; /* more may come */
        for (int f = 0; f < whole.count; f++)
            note_factor(all, &whole, f);
        assume_sign(all, whole.var);
    }
    for (int i = 0; i < all->quotients.count; i++)
        assume_sign(all, all->quotients.data[i].var);
}
