/* Linear restrictions of a space, kept as rows until a set is asked for: isl then takes them all at once, which costs a fraction of what
   one expression after the other does. Private to affine.c. */
#ifndef TIRC_PASSES_ANALYSIS_AFFINE_ROWS_H
#define TIRC_PASSES_ANALYSIS_AFFINE_ROWS_H

#include "passes/analysis/affine.h"

enum { MOST_ROW_TERMS = 40 };

/* What a term counts: QUOTIENT or PARAM, where not NULL, else dimension DIM. */
typedef struct {
    Var *param;
    const struct AffineQuotient *quotient;
    int dim;
    int64_t coefficient;
} AffineRowTerm;

/* The sum of TERMS and CONSTANT, divided by DIVISOR > 0 and rounded down. */
typedef struct AffineQuotient {
    int64_t divisor, constant;
    int count;
    const AffineRowTerm *terms;
} AffineQuotient;

/* A sum of terms and a constant; terms may have the coefficient 0. */
typedef struct {
    Context *ctx;
    int64_t constant;
    int count;
    AffineRowTerm terms[MOST_ROW_TERMS];
} AffineSum;

/* A restriction: the sum is at least 0, or 0. */
typedef struct AffineRow {
    const struct AffineRow *earlier;
    bool equality;
    int64_t constant;
    int count;
    const AffineRowTerm *terms;
} AffineRow;

/* An empty SUM with CONSTANT. */
void affine_sum_start(AffineSum *sum, Context *ctx, int64_t constant);
/* Adds SCALE times EXPR to SUM; false when EXPR is not linear, but for divisions by constants, or a number grows too large. */
bool affine_sum_add(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale);
bool affine_sum_add_dim(AffineSum *sum, int dim, int64_t scale);
/* Restricts SPACE to SUM = 0, or to SUM >= 0. */
void affine_add_row(AffineSpace *space, const AffineSum *sum, bool equality);
/* Restricts SPACE to A KIND B; false, and nothing done, when that is not one linear restriction. */
bool affine_add_comparison(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b);
/* Gives the rows to the set. */
void affine_settle(AffineSpace *space);

#endif
