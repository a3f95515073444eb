/* Polynomials over loops and sizes as linear forms: each product of two variables, and each quotient, is a variable of its own, whose
   relations to others are kept beside. So is each minimum and maximum. Private to passes/analysis/sets.

     f // m * 16 + i    is    16 * q + i    with  q * m <= f < q * m + m, where q * m is a variable too */
#ifndef TIRC_PASSES_ANALYSIS_SETS_POLYNOMIAL_H
#define TIRC_PASSES_ANALYSIS_SETS_POLYNOMIAL_H

#include "passes/analysis/sets/affine.h"
#include "passes/analysis/sets/affine_linear.h"

enum { MOST_MONOMIAL_FACTORS = 5 };

/* VAR is the product of COUNT >= 2 dimensions and parameters, their coefficients aside. */
typedef struct {
    LinearTermOf factors[MOST_MONOMIAL_FACTORS];
    int count;
    Var *var;
} Monomial;

/* VAR is DIVIDEND // DIVISOR. */
typedef struct {
    LinearForm dividend, divisor;
    Var *var;
    bool nonnegative;
} Quotient;

/* VAR is the least of two VALUES, or the greatest. */
typedef struct {
    LinearForm values[2];
    bool max;
    Var *var;
} Extremum;

/* PRODUCT is VALUE * keys[KEY]. */
typedef struct {
    int key;
    LinearForm value, product;
} ScaledValue;

typedef struct {
    const Map *numbers;         /* NULL, or sizes -> their values: Var -> Expr, constants */
    AffineSpace *space;         /* gets rows for quotients, minima and maxima; its sizes are not negative */
    VEC(int) counting_up;       /* dimensions that are not negative */
    VEC(Monomial) monomials;
    VEC(Quotient) quotients;
    VEC(Extremum) extrema;
    VEC(LinearForm) keys;       /* what values are multiplied with: none is negative */
    VEC(ScaledValue) scaled;
} Polynomials;

/* EXPR, seen from ENV, in RESULT; false where it is no polynomial of variables, of quotients by what is not negative, and of minima and maxima.
   Every division in EXPR is taken to be done: its divisor is not 0. */
bool polynomial_of(Polynomials *all, const AffineEnv *env, const Expr *expr, LinearForm *result);
/* Notes of each product of variables that it is a value times each of them. Call it when all polynomials are made. */
void polynomials_complete(Polynomials *all);

#endif
