/* Linear forms of index expressions, for the canonical simplifier.

   A term is (index % upper // lower) * scale, where upper is a multiple of lower; a sum is term + term + ... + base. Terms of equal
   index stand side by side, from large to small lower, so that the pieces of one index join again: i // 4 * 4 + i % 4 is i. Every
   constant fits the sum's type; where an operation would leave the type, the sum is marked as overflowed and must not be used. */
#ifndef TIRC_PASSES_ARITH_LINEAR_H
#define TIRC_PASSES_ARITH_LINEAR_H

#include "passes/arith/simplify.h"

typedef enum { DIVISION_TRUNCATES, DIVISION_FLOORS } Division;

#define UPPER_NONE INT64_MAX

typedef struct {
    const Expr *index;
    int64_t lower, upper, scale; /* upper is UPPER_NONE without a modulus */
    Division division;           /* which division the factors stand for; of no meaning without factors */
} Term;

typedef struct {
    DType dtype;
    VEC(Term) terms;
    int64_t base;
    bool overflow;
} Sum;

/* An index expression in the most structured form that is known: any expression, a single term, or a sum. A value owns its storage: it
   may be changed in place. */
typedef enum { LINEAR_EXPR, LINEAR_TERM, LINEAR_SUM } LinearForm;
typedef struct {
    LinearForm form;
    DType dtype;
    const Expr *expr; /* LINEAR_EXPR */
    Term term;        /* LINEAR_TERM */
    Sum sum;          /* LINEAR_SUM */
} Linear;

/* --- linear.c: the forms --- */
Linear linear_of_expr(const Expr *expr);
Linear linear_of_term(Term term, DType dtype);
Linear linear_of_sum(Sum sum);
Sum linear_to_sum(Simplifier *s, Linear value);
/* One term for VALUE: a sum of several becomes the index of a new term. */
Term linear_to_term(Simplifier *s, Linear value);
const Expr *linear_to_expr(Simplifier *s, Linear value);
/* VALUE * FACTOR: a sum stays a sum, anything else is one term. */
Linear linear_scaled(Simplifier *s, Linear value, int64_t factor);
const Expr *sum_to_expr(Simplifier *s, Sum sum);
const Expr *term_to_expr(Simplifier *s, Term term, DType dtype);
bool sum_is_zero(const Sum *sum);
/* These change SUM in place. */
void sum_add_constant(Sum *sum, int64_t value);
void sum_add_term(Simplifier *s, Sum *sum, Term term, int64_t scale);
void sum_add_sum(Simplifier *s, Sum *sum, const Sum *other, int64_t scale);
/* Every scale and the base are multiples of DIVISOR. */
void sum_divide(Sum *sum, int64_t divisor);
/* The parts of SUM that DIVISOR divides, and the rest. */
void sum_separate(Simplifier *s, const Sum *sum, int64_t divisor, Sum *divisible, Sum *rest);
bool linear_overflows(const Linear *value);

/* --- linear_divide.c --- */
/* VALUE divided by, and modulo, the constant BY > 0 (BY != 1 for the quotient). */
Linear linear_quotient(Simplifier *s, Linear value, int64_t by, Division division);
Linear linear_remainder(Simplifier *s, Linear value, int64_t by, Division division);
/* Cancels common factors of *A and *B, products with a B that is no constant; *SCALE is what was cancelled. False when there is nothing
   in common. */
bool cancel_common_factors(Simplifier *s, const Expr **a, const Expr **b, const Expr **scale);

/* --- linear_visit.c: the canonical simplifier's own visit --- */
/* The structured form of EXPR, simplified. */
Linear linear_visit(Simplifier *s, const Expr *expr);
/* True for the nodes that the canonical simplifier treats by itself. */
bool canonical_handles(const Expr *expr);
const Expr *canonical_simplify(Simplifier *s, const Expr *expr);

#endif
