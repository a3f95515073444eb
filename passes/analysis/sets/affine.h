/* Integer sets over loop iterations, by isl: IR expressions and conditions become affine ones where they can.

   A space has dimensions that stand for variables (loop iterations); every other variable is a parameter (a symbolic size). What is not
   affine is left out, which only makes a set larger: an empty set is a proof, and a point of a set is a witness only when nothing was left
   out. */
#ifndef TIRC_PASSES_ANALYSIS_SETS_AFFINE_H
#define TIRC_PASSES_ANALYSIS_SETS_AFFINE_H

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/set.h>

#include "passes/analysis/sets/space.h"

/* The isl context of CTX, made at first use. Errors and an exhausted quota make results NULL; nothing is printed. */
isl_ctx *affine_isl(Context *ctx);

/* The universe of DIMS dimensions. SIZES: variables (parameters of the space) that are sizes, hence >= 0; may be NULL. */
AffineSpace affine_universe(Context *ctx, int dims, const Map *sizes);
void affine_free(AffineSpace *space);
/* A space of SET (taken). */
AffineSpace affine_of_set(Context *ctx, isl_set *set, const Map *sizes);
/* The set with all restrictions, owned by the caller; SPACE is freed. NULL when nothing is known. */
isl_set *affine_take_set(AffineSpace *space);

/* The parameter that stands for EXPR, seen from ENV, which is not affine; NULL when the space has none for it. */
const Expr *affine_term(const AffineSpace *space, const AffineEnv *env, const Expr *expr);
/* VAR is one of TERMS (may be NULL), and >= 0. */
bool affine_term_is_nonnegative(const AffineTerms *terms, const Var *var);
/* SET (taken; may be NULL) with its sizes, and terms that are known to be so, at least 0. */
isl_set *affine_bound_params(isl_set *set, const Map *sizes, const AffineTerms *terms);
/* CONDITION is x % n < n, or x % (m * n) // n < m, with sizes n and m: true wherever it has a value. */
bool affine_is_rest_below_size(const AffineSpace *space, const Expr *condition);
/* Intersects the space with CONDITION (NEGATED: with its opposite). */
void affine_assume(AffineSpace *space, const AffineEnv *env, const Expr *condition, bool negated);
/* Intersects with min <= dimension DIM < min + extent. */
void affine_assume_range(AffineSpace *space, const AffineEnv *env, int dim, Range range);
/* Intersects with A (in ENV_A) KIND B (in ENV_B); KIND is EXPR_EQ, EXPR_NE, EXPR_LT or EXPR_LE. */
void affine_assume_compare(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b);
/* Intersects with dimension A KIND dimension B. */
void affine_assume_dims(AffineSpace *space, ExprKind kind, int a, int b);
/* A copy with a set of its own. */
AffineSpace affine_copy(const AffineSpace *space);

typedef enum { SET_EMPTY, SET_HAS_POINT, SET_UNKNOWN } SetVerdict;
/* Whether the set has a point. SET_UNKNOWN after errors and when the quota is exhausted. */
SetVerdict affine_verdict(AffineSpace *space);
/* Whether PART, a part of WHOLE, has a point for all values of the parameters for which WHOLE has one, and for some. Unknown is false. */
bool affine_runs_into(const AffineSpace *whole, AffineSpace *part);
/* Coordinates of a point: VALUES gets one per dimension. Parameters get small values; *PARAMS lists them as "n = 3, m = 1" (empty: none).
   False when there is none. */
bool affine_sample(AffineSpace *space, int64_t *values, const char **params);

#endif
