/* Comparisons that are not affine are left out of a set and noted with it. products.c may understand them. Private to passes/analysis/sets. */
#ifndef TIRC_PASSES_ANALYSIS_SETS_OMITTED_H
#define TIRC_PASSES_ANALYSIS_SETS_OMITTED_H

#include "passes/analysis/sets/space.h"

/* SPACE lacks that A (in ENV_A) KIND B (in ENV_B). */
void omit_comparison(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b);
/* SPACE lacks CONDITION, or its opposite. */
void omit_condition(AffineSpace *space, const AffineEnv *env, const Expr *condition, bool negated);
/* SPACE lacks min <= dimension DIM < min + extent. */
void omit_range(AffineSpace *space, const AffineEnv *env, int dim, Range range);

#endif
