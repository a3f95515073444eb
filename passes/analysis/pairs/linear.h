/* Sums over loop variables and sizes, for cheap arguments. Private to passes/analysis/pairs. */
#ifndef TIRC_PASSES_ANALYSIS_PAIRS_LINEAR_H
#define TIRC_PASSES_ANALYSIS_PAIRS_LINEAR_H

#include "passes/analysis/sets/affine.h"

enum { MOST_TERMS = 24 };

/* COUNT terms and a constant; what lies behind the terms has any value. */
typedef struct {
    const Var *vars[MOST_TERMS];
    int64_t coeffs[MOST_TERMS];
    int count;
    int64_t constant;
} Linear;

/* EXPR as a sum over loop variables and sizes; bindings of ENV are expanded. Arithmetic that may wrap is none. */
bool linear_of(const AffineEnv *env, const Expr *expr, Linear *result);
/* Adds SCALE times MORE to SUM; false where that has too many terms, or numbers that are too large. */
bool linear_add_scaled(Linear *sum, const Linear *more, int64_t scale);

#endif
