/* Quotients and remainders of linear forms by positive constants, and cancelling of symbolic factors. The laws used, with floor or
   truncating division throughout and positive constants:
     (x * c) / (y * c) == x / y       x / c1 / c2 == x / (c1 * c2)       x % (c1 * c2) / c1 == x / c1 % c2       (x * c) % (y * c) == (x % y) * c
   and for floor division (a * c + r) // c == a + r // c. */
#include "passes/arith/linear.h"

#include "ir/fold.h"

/* TERM with factors of DIVISION: as it is where they agree, else it becomes the index of a new one. */
static Term with_division(Simplifier *s, Term term, DType dtype, Division division)
{
    if (term.division != division && (term.lower != 1 || term.upper != UPPER_NONE))
        term = linear_to_term(s, linear_of_expr(term_to_expr(s, term, dtype)));
    term.division = division;
    return term;
}

/* TERM as a term of scale and lower factor 1 without upper factor. */
static Term wrapped_term(Simplifier *s, Term term, DType dtype, Division division)
{
    Term wrapped = linear_to_term(s, linear_of_expr(term_to_expr(s, term, dtype)));
    wrapped.division = division;
    return wrapped;
}

static Linear zero_of(Simplifier *s, DType dtype)
{
    return linear_of_expr(expr_int(s->an->ctx, dtype, 0));
}

static Linear quotient_of_wrapped(Simplifier *s, Term term, DType dtype, int64_t by, Division division)
{
    term = wrapped_term(s, term, dtype, division);
    term.lower = by;
    return linear_of_term(term, dtype);
}

/* index % upper // lower as (index // lower) % (upper // lower), for an index that is a sum with parts that LOWER divides: those leave
   the division. */
static bool quotient_inside(Simplifier *s, Term term, DType dtype, int64_t lower, Linear *result)
{
    Linear index = linear_visit(s, term.index);
    if (index.form != LINEAR_SUM || lower <= 1 || term.upper <= lower)
        return false;
    Sum divisible, rest;
    sum_separate(s, &index.sum, lower, &divisible, &rest);
    if (sum_is_zero(&divisible))
        return false;
    Linear quotient = linear_quotient(s, index, lower, DIVISION_FLOORS);
    *result = linear_remainder(s, quotient, term.upper / lower, DIVISION_FLOORS);
    result->dtype = dtype;
    return !linear_overflows(result);
}

/* TERM divided by BY where the scale divides BY: (index % upper // lower) // STEP. */
static Linear quotient_by_step(Simplifier *s, Term term, DType dtype, int64_t step, Division division)
{
    int64_t lower;
    if (__builtin_mul_overflow(term.lower, step, &lower) || lower == UPPER_NONE)
        return quotient_of_wrapped(s, term, dtype, step, division);
    if (term.upper != UPPER_NONE && term.upper % lower != 0) {
        if (term.upper > 0 && term.upper <= lower)
            return zero_of(s, dtype);
        ExprKind remainder = division == DIVISION_FLOORS ? EXPR_FLOORMOD : EXPR_MOD;
        term.index = op_binary(s->an->ctx, remainder, term.index, expr_int(s->an->ctx, dtype, term.upper), span_none());
        term.upper = UPPER_NONE;
    }
    Linear inside;
    if (term.upper != UPPER_NONE && division == DIVISION_FLOORS && quotient_inside(s, term, dtype, lower, &inside))
        return inside;
    term.scale = 1;
    term.lower = lower;
    return linear_of_term(term, dtype);
}

/* True when the scale of TERM cancels against BY. A floored quotient may not be divided once more by a negative number: 1 // 2 // -1 is
   0, 1 // -2 is -1. */
static bool scale_cancels(Term term, int64_t by, Division division)
{
    return by % term.scale == 0 && (term.scale > 0 || term.lower == 1 || division == DIVISION_TRUNCATES);
}

static Linear term_quotient(Simplifier *s, Term term, DType dtype, int64_t by, Division division)
{
    term = with_division(s, term, dtype, division);
    if (term.scale % by == 0) {
        term.scale /= by;
        return linear_of_term(term, dtype);
    }
    if (scale_cancels(term, by, division))
        return quotient_by_step(s, term, dtype, by / term.scale, division);
    return quotient_of_wrapped(s, term, dtype, by, division);
}

/* A term whose modulus UPPER replaces a larger multiple of it: the index may simplify under the smaller modulus. */
static Linear remainder_of_finer_modulus(Simplifier *s, Term term, DType dtype, int64_t upper, Division division)
{
    ExprKind kind = division == DIVISION_FLOORS ? EXPR_FLOORMOD : EXPR_MOD;
    const Expr *reduced = simplify_visit(s, op_binary(s->an->ctx, kind, term.index, expr_int(s->an->ctx, dtype, upper), span_none()));
    Linear result = linear_of_term(linear_to_term(s, linear_of_expr(reduced)), dtype);
    if (term.lower != 1)
        result = term_quotient(s, result.term, dtype, term.lower, division);
    return linear_scaled(s, result, term.scale);
}

static Linear term_remainder(Simplifier *s, Term term, DType dtype, int64_t by, Division division)
{
    term = with_division(s, term, dtype, division);
    if (term.scale % by == 0)
        return zero_of(s, dtype);
    int64_t upper;
    if (scale_cancels(term, by, division) && !__builtin_mul_overflow(term.lower, by / term.scale, &upper) && upper != UPPER_NONE) {
        if (term.upper != UPPER_NONE && term.upper % upper == 0 && upper < term.upper && upper > 0)
            return remainder_of_finer_modulus(s, term, dtype, upper, division);
        if (term.upper == UPPER_NONE || term.upper % upper == 0) {
            term.upper = upper;
            return linear_of_term(term, dtype);
        }
        if (upper % term.upper == 0 && term.scale > 0)
            return linear_of_term(term, dtype);
    }
    term = wrapped_term(s, term, dtype, division);
    term.upper = by;
    return linear_of_term(term, dtype);
}

/* 0 <= EXPR < LIMIT for certain. */
static bool within(Simplifier *s, const Expr *expr, int64_t limit)
{
    return simplify_compare_to(s, expr, limit) == ORDER_LT && analyzer_prove_at_least(s->an, expr, 0);
}

static Linear quotient_of_sum(Simplifier *s, Linear value, int64_t by, Division division)
{
    Sum divisible, rest;
    sum_separate(s, &value.sum, by, &divisible, &rest);
    bool splits = division == DIVISION_FLOORS || sum_is_zero(&rest) ||
                  (analyzer_prove_at_least(s->an, sum_to_expr(s, divisible), 0) && analyzer_prove_at_least(s->an, sum_to_expr(s, rest), 0));
    if (!splits)
        return term_quotient(s, linear_to_term(s, value), value.dtype, by, division);
    sum_divide(&divisible, by);
    if (sum_is_zero(&rest))
        return linear_of_sum(divisible);
    const Expr *remaining = sum_to_expr(s, rest);
    int64_t constant;
    if (expr_const_int(remaining, &constant)) {
        sum_add_constant(&divisible, division == DIVISION_FLOORS ? floor_divide(constant, by) : constant / by);
    } else if (!within(s, remaining, by)) {
        Linear quotient = term_quotient(s, linear_to_term(s, linear_of_expr(remaining)), value.dtype, by, division);
        Sum added = linear_to_sum(s, quotient);
        sum_add_sum(s, &divisible, &added, 1);
    }
    return linear_of_sum(divisible);
}

Linear linear_quotient(Simplifier *s, Linear value, int64_t by, Division division)
{
    if (value.form == LINEAR_SUM)
        return quotient_of_sum(s, value, by, division);
    IntBound bound = analyzer_bound(s->an, linear_to_expr(s, value));
    if (bound.min >= 0 && bound.max < by)
        return zero_of(s, value.dtype);
    return term_quotient(s, linear_to_term(s, value), value.dtype, by, division);
}

/* The part of VALUE that decides its remainder: without the terms that BY divides, where dropping them does not change the sign. */
static Sum sum_modulo(Simplifier *s, const Sum *sum, int64_t by, Division division)
{
    Sum divisible, rest;
    sum_separate(s, sum, by, &divisible, &rest);
    bool drops = division == DIVISION_FLOORS || sum_is_zero(&rest) ||
                 (analyzer_prove_at_least(s->an, sum_to_expr(s, divisible), 0) && analyzer_prove_at_least(s->an, sum_to_expr(s, rest), 0));
    return drops ? rest : *sum;
}

/* (z - 5) % 3 is (z + 1) % 3; truncated, only while the dividend stays positive. */
static void reduce_base(Simplifier *s, Sum *sum, int64_t by, Division division)
{
    if (division == DIVISION_FLOORS) {
        sum->base = floor_modulo(sum->base, by);
        return;
    }
    int64_t base = sum->base % by, least = analyzer_bound(s->an, sum_to_expr(s, *sum)).min;
    if (least >= 0 && least - sum->base + base >= 0)
        sum->base = base;
}

static Linear remainder_of_sum(Simplifier *s, Linear value, int64_t by, Division division)
{
    Sum rest = sum_modulo(s, &value.sum, by, division);
    const Expr *remaining = sum_to_expr(s, rest);
    int64_t constant;
    if (expr_const_int(remaining, &constant))
        return linear_of_expr(expr_int(s->an->ctx, value.dtype, division == DIVISION_FLOORS ? floor_modulo(constant, by) : constant % by));
    if (within(s, remaining, by))
        return linear_of_expr(remaining);
    reduce_base(s, &rest, by, division);
    return term_remainder(s, linear_to_term(s, linear_of_sum(rest)), value.dtype, by, division);
}

Linear linear_remainder(Simplifier *s, Linear value, int64_t by, Division division)
{
    if (value.form == LINEAR_SUM)
        return remainder_of_sum(s, value, by, division);
    IntBound bound = analyzer_bound(s->an, linear_to_expr(s, value));
    if (bound.min >= 0 && bound.max < by)
        return value;
    return term_remainder(s, linear_to_term(s, value), value.dtype, by, division);
}

/* --- Symbolic factors --- */

/* The factors of a product: symbols in order, and the product of its constants. */
typedef struct {
    ExprList symbols;
    int64_t constant;
    bool overflow;
} Factors;

static void collect_factors(Simplifier *s, const Expr *expr, Factors *factors)
{
    if (expr->kind == EXPR_MUL) {
        collect_factors(s, expr->args[0], factors);
        collect_factors(s, expr->args[1], factors);
    } else if (expr->kind == EXPR_INT) {
        factors->overflow |= __builtin_mul_overflow(factors->constant, expr->value.integer, &factors->constant);
    } else {
        vec_push(s->an->arena, &factors->symbols, expr);
    }
}

static const Expr *product_of(Simplifier *s, const Factors *factors, DType dtype)
{
    Context *ctx = s->an->ctx;
    const Expr *product = expr_int(ctx, dtype, 1);
    for (int i = 0; i < factors->symbols.count; i++)
        if (factors->symbols.data[i])
            product = op_mul(ctx, product, factors->symbols.data[i]);
    return op_mul_int(ctx, product, factors->constant);
}

/* Takes every symbol that both have out of A and B into COMMON. */
static void move_common_symbols(Simplifier *s, Factors *a, Factors *b, Factors *common)
{
    for (int j = 0; j < b->symbols.count; j++)
        for (int i = 0; i < a->symbols.count; i++)
            if (a->symbols.data[i] && expr_equal(a->symbols.data[i], b->symbols.data[j])) {
                vec_push(s->an->arena, &common->symbols, b->symbols.data[j]);
                a->symbols.data[i] = b->symbols.data[j] = NULL;
                break;
            }
}

bool cancel_common_factors(Simplifier *s, const Expr **a, const Expr **b, const Expr **scale)
{
    if ((*b)->kind == EXPR_INT)
        return false;
    DType dtype = (*b)->dtype;
    Factors left = {.constant = 1}, right = {.constant = 1}, common = {.constant = 1};
    collect_factors(s, *a, &left);
    collect_factors(s, *b, &right);
    if (left.overflow || right.overflow || right.constant == 0)
        return false;
    move_common_symbols(s, &left, &right, &common);
    common.constant = integer_gcd(left.constant, right.constant);
    if (common.symbols.count == 0 && common.constant == 1)
        return false;
    left.constant /= common.constant;
    right.constant /= common.constant;
    *a = product_of(s, &left, dtype);
    *b = product_of(s, &right, dtype);
    *scale = product_of(s, &common, dtype);
    return true;
}
