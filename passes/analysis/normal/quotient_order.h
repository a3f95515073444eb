/* Comparing values that hold quotients and rests by sizes. */
#ifndef TIRC_PASSES_ANALYSIS_NORMAL_QUOTIENT_ORDER_H
#define TIRC_PASSES_ANALYSIS_NORMAL_QUOTIENT_ORDER_H

#include "passes/arith/analyzer.h"

/* A <= B, under the facts of AN, written as sums of products: slower than analyzer_prove_less_equal, which is tried first. Quotients and rests
   say something where AN knows their divisors to be positive. */
bool quotient_at_most(Analyzer *an, const Expr *a, const Expr *b);

#endif
