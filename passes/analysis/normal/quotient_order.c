/* Which of two values is the greater where they hold quotients and rests by sizes: an order that neither linear sums nor constant bounds
   show. The difference is written as a sum of products and shown not to be negative:

     f_0 * 4 // n <= (f_0 * 4 + f_1) // n        a quotient grows with its dividend
     f_0 // n <= (f_0 * 2 + f_1) // (n * 2)       and with the fraction
     0 <= x % n <= n - 1                          a rest is less than its divisor
     x % (m * n) // n <= m - 1                    as x % (m * n) <= m * n - 1: a quotient is at most q where its dividend is less than
                                                  (q + 1) * n, and at least q where that is at least q * n

   Divisors must be known to be at least 1. Not handled: products of quotients. */
#include "passes/analysis/normal/quotient_order.h"
#include "passes/analysis/prove/portfolio.h"

enum { MOST_FACTORS = 6, MOST_TERMS = 40, MOST_QUESTIONS = 24 };

typedef struct {
    int64_t coefficient; /* 0: cancelled */
    int count;
    const Expr *factors[MOST_FACTORS]; /* none a sum or product; none at all: a constant */
} Term;

typedef struct {
    DType dtype;
    bool failed; /* too large, or a coefficient overflows */
    VEC(Term) terms;
} Sum;

typedef struct {
    Analyzer *an;
    Context *ctx;
    int questions; /* that may still be asked */
} Prover;

/* --- sums of products --- */

static bool same_factors(const Term *a, const Term *b)
{
    bool used[MOST_FACTORS] = {false};
    for (int i = 0; i < a->count && a->count == b->count; i++) {
        int j = 0;
        while (j < b->count && (used[j] || !expr_equal(a->factors[i], b->factors[j])))
            j++;
        if (j == b->count)
            return false;
        used[j] = true;
    }
    return a->count == b->count;
}

/* COEFFICIENT can be written in the type of SUM, with either sign. */
static bool is_writable(const Sum *sum, int64_t coefficient)
{
    return dtype_holds(sum->dtype, coefficient) && coefficient != dtype_min_int(sum->dtype);
}

static void sum_add_term(Context *ctx, Sum *sum, const Term *term)
{
    for (int i = 0; i < sum->terms.count; i++)
        if (same_factors(&sum->terms.data[i], term)) {
            int64_t *coefficient = &sum->terms.data[i].coefficient;
            sum->failed |= __builtin_add_overflow(*coefficient, term->coefficient, coefficient) || !is_writable(sum, *coefficient);
            return;
        }
    sum->failed |= sum->terms.count == MOST_TERMS || !is_writable(sum, term->coefficient);
    if (!sum->failed)
        vec_push(ctx->arena, &sum->terms, *term);
}

static void sum_add(Context *ctx, Sum *sum, const Expr *expr, int64_t scale);

/* Adds SCALE * A * B. */
static void sum_add_product(Context *ctx, Sum *sum, const Sum *a, const Sum *b, int64_t scale)
{
    for (int i = 0; i < a->terms.count; i++)
        for (int j = 0; j < b->terms.count && !sum->failed; j++) {
            const Term *left = &a->terms.data[i], *right = &b->terms.data[j];
            Term term = *left;
            sum->failed |= left->count + right->count > MOST_FACTORS ||
                           __builtin_mul_overflow(left->coefficient, right->coefficient, &term.coefficient) ||
                           __builtin_mul_overflow(term.coefficient, scale, &term.coefficient);
            for (int f = 0; f < right->count && !sum->failed; f++)
                term.factors[term.count++] = right->factors[f];
            if (!sum->failed)
                sum_add_term(ctx, sum, &term);
        }
}

static Sum sum_of(Context *ctx, const Expr *expr)
{
    Sum sum = {.dtype = expr->dtype};
    sum_add(ctx, &sum, expr, 1);
    return sum;
}

/* Adds SCALE * EXPR. */
static void sum_add(Context *ctx, Sum *sum, const Expr *expr, int64_t scale)
{
    if (sum->failed)
        return;
    if (expr->kind == EXPR_ADD || expr->kind == EXPR_SUB) {
        sum_add(ctx, sum, expr->args[0], scale);
        sum_add(ctx, sum, expr->args[1], expr->kind == EXPR_ADD ? scale : -scale);
    } else if (expr->kind == EXPR_MUL) {
        Sum a = sum_of(ctx, expr->args[0]), b = sum_of(ctx, expr->args[1]);
        sum->failed |= a.failed || b.failed;
        sum_add_product(ctx, sum, &a, &b, scale);
    } else {
        Term term = {.coefficient = scale};
        if (!expr_const_int(expr, &term.coefficient))
            term.factors[term.count++] = expr;
        else
            sum->failed |= __builtin_mul_overflow(term.coefficient, scale, &term.coefficient);
        sum_add_term(ctx, sum, &term);
    }
}

/* The terms of SUM with the given SIGN, without it. */
static const Expr *sum_side(Context *ctx, const Sum *sum, int sign)
{
    const Expr *result = expr_int(ctx, sum->dtype, 0);
    for (int i = 0; i < sum->terms.count; i++) {
        const Term *term = &sum->terms.data[i];
        if ((sign > 0) != (term->coefficient > 0) || term->coefficient == 0)
            continue;
        const Expr *product = expr_int(ctx, sum->dtype, sign * term->coefficient);
        for (int f = 0; f < term->count; f++)
            product = f ? op_mul(ctx, product, term->factors[f]) : op_mul_int(ctx, term->factors[0], sign * term->coefficient);
        result = op_add(ctx, result, product);
    }
    return result;
}

/* --- proofs --- */

static bool is_nonnegative(Prover *prover, const Sum *sum);

static bool is_at_most(Prover *prover, const Expr *a, const Expr *b)
{
    Sum sum = sum_of(prover->ctx, b);
    sum_add(prover->ctx, &sum, a, -1);
    return is_nonnegative(prover, &sum);
}

/* The quotient or rest (KIND) that TERM is a multiple of, by a positive divisor; NULL for other terms. */
static const Expr *division_of(Prover *prover, const Term *term, ExprKind kind)
{
    const Expr *division = term->count == 1 && term->coefficient ? term->factors[0] : NULL;
    bool divides = division && division->kind == kind && analyzer_prove_at_least(prover->an, division->args[1], 1);
    return divides ? division : NULL;
}

/* x // d <= y // e for two quotients: x / d is not greater than y / e. */
static bool quotient_is_at_most(Prover *prover, const Expr *less, const Expr *greater)
{
    if (analyzer_prove_equal(prover->an, less->args[1], greater->args[1]))
        return is_at_most(prover, less->args[0], greater->args[0]);
    return is_at_most(prover, op_mul(prover->ctx, less->args[0], greater->args[1]),
                      op_mul(prover->ctx, greater->args[0], less->args[1]));
}

/* SUM, which holds c * (y // e) - c * (x // d) with x // d <= y // e, is not negative without these. */
static bool cancels_quotients(Prover *prover, const Sum *sum)
{
    for (int i = 0; i < sum->terms.count; i++)
        for (int j = 0; j < sum->terms.count; j++) {
            const Term *greater = &sum->terms.data[i], *less = &sum->terms.data[j];
            if (greater->coefficient <= 0 || less->coefficient != -greater->coefficient)
                continue;
            const Expr *y = division_of(prover, greater, EXPR_FLOORDIV), *x = y ? division_of(prover, less, EXPR_FLOORDIV) : NULL;
            if (!x || !quotient_is_at_most(prover, x, y))
                continue;
            Sum rest = {.dtype = sum->dtype};
            for (int k = 0; k < sum->terms.count; k++)
                if (k != i && k != j)
                    sum_add_term(prover->ctx, &rest, &sum->terms.data[k]);
            return is_nonnegative(prover, &rest);
        }
    return false;
}

/* The same with each rest replaced by what makes SUM least. */
static bool bounds_rests(Prover *prover, const Sum *sum)
{
    Sum least = {.dtype = sum->dtype};
    bool found = false;
    for (int i = 0; i < sum->terms.count; i++) {
        const Term *term = &sum->terms.data[i];
        const Expr *rest = division_of(prover, term, EXPR_FLOORMOD);
        found |= rest != NULL;
        if (!rest)
            sum_add_term(prover->ctx, &least, term);
        else if (term->coefficient < 0)
            sum_add(prover->ctx, &least, op_add_int(prover->ctx, rest->args[1], -1), term->coefficient);
    }
    return found && is_nonnegative(prover, &least);
}

/* q - x // d is not negative where (q + 1) * d - 1 - x is not; x // d - q where x - q * d is not. */
static bool multiplies_out(Prover *prover, const Sum *sum)
{
    Context *ctx = prover->ctx;
    for (int i = 0; i < sum->terms.count; i++) {
        const Term *term = &sum->terms.data[i];
        const Expr *quotient = term->coefficient == 1 || term->coefficient == -1 ? division_of(prover, term, EXPR_FLOORDIV) : NULL;
        if (!quotient)
            continue;
        Sum others = {.dtype = sum->dtype}, product = {.dtype = sum->dtype}, divisor = sum_of(ctx, quotient->args[1]);
        for (int k = 0; k < sum->terms.count; k++)
            if (k != i)
                sum_add_term(ctx, &others, &sum->terms.data[k]);
        if (term->coefficient < 0)
            sum_add(ctx, &others, expr_int(ctx, sum->dtype, 1), 1);
        product.failed = others.failed || divisor.failed;
        sum_add_product(ctx, &product, &others, &divisor, 1);
        sum_add(ctx, &product, quotient->args[0], term->coefficient);
        if (term->coefficient < 0)
            sum_add(ctx, &product, expr_int(ctx, sum->dtype, 1), -1);
        if (is_nonnegative(prover, &product))
            return true;
    }
    return false;
}

static bool is_nonnegative(Prover *prover, const Sum *sum)
{
    if (sum->failed || prover->questions-- <= 0)
        return false;
    const Expr *positive = sum_side(prover->ctx, sum, 1), *negative = sum_side(prover->ctx, sum, -1);
    if (analyzer_prove_less_equal(prover->an, negative, positive) ||
        analyzer_prove_at_least(prover->an, op_sub(prover->ctx, positive, negative), 0))
        return true;
    return cancels_quotients(prover, sum) || bounds_rests(prover, sum) || multiplies_out(prover, sum);
}

bool quotient_at_most(Analyzer *an, const Expr *a, const Expr *b)
{
    Prover prover = {an, analyzer_context(an), MOST_QUESTIONS};
    return argument_is_on(prover.ctx, ARGUMENT_VALUE_ORDER) && dtype_is_index(a->dtype) && dtype_equal(a->dtype, b->dtype) && is_at_most(&prover, a, b);
}
