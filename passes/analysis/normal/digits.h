/* Expressions over loops as digits: what constant factors of their divisors leave. */
#ifndef TIRC_PASSES_ANALYSIS_NORMAL_DIGITS_H
#define TIRC_PASSES_ANALYSIS_NORMAL_DIGITS_H

#include "passes/analysis/model/access_point.h"
#include "passes/arith/analyzer.h"

/* How expressions over loops are put in digits (digits.c). */
typedef struct {
    Analyzer *an;    /* knows the loops */
    Analyzer *signs; /* knows that sizes are not negative */
    const Map *sizes;
    int64_t factor; /* of what divides besides sizes: its digits are told apart; 1: expressions are simplified, no more */
} Digits;
/* Knows no loops yet, and no factor. */
Digits digits_new(Context *ctx, const Map *sizes);
/* Narrows the factor to the greatest constant that divides all divisors of EXPRS which are sizes times a constant. */
void digits_find_factor(Digits *digits, const ExprList *exprs);
const Expr *digits_of(const Digits *digits, const Expr *expr);
/* EXTENT, of a loop over x * 8 in steps of 256, as that of x in steps of 32. */
const Expr *digits_of_extent(Context *ctx, const Expr *extent);

#endif
