/* Quotients and rests of one number. */
#ifndef TIRC_PASSES_ANALYSIS_NORMAL_QUOTIENTS_H
#define TIRC_PASSES_ANALYSIS_NORMAL_QUOTIENTS_H

#include "passes/arith/analyzer.h"

/* The number that QUOTIENT, x // n, and REST, x % n, say together, NULL where they do not: x. */
const Expr *quotient_joined(Analyzer *an, Context *ctx, const Expr *quotient, const Expr *rest);
/* CONDITION as one on what sizes divide: x // d < m is x < m * d, and x % (m * d) // d < m is true. SIGNS knows that no size is negative; a
   divisor of 0 leaves nothing to run. Others stay as they are. */
const Expr *quotient_undivided(Analyzer *an, Analyzer *signs, const Expr *condition);
/* An analyzer that knows of SIZES that they are not negative. */
Analyzer *analyzer_of_sizes(Context *ctx, const Map *sizes);

#endif
