/* Linear restrictions of a space, kept as rows until a set is asked for: isl then takes them all at once, which costs a fraction of what
   one expression after the other does. Private to affine.c. */
#ifndef TIRC_PASSES_ANALYSIS_AFFINE_ROWS_H
#define TIRC_PASSES_ANALYSIS_AFFINE_ROWS_H

#include "passes/analysis/affine.h"

enum { MOST_ROW_TERMS = 40 };

typedef struct {
    Var *param; /* NULL: dimension DIM */
    int dim;
    int64_t coefficient;
} AffineRowTerm;

/* A sum of terms and a constant; terms may have the coefficient 0. */
typedef struct {
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

/* Adds SCALE times EXPR to SUM; false when EXPR is not linear or a number grows too large. */
bool affine_sum_add(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale);
bool affine_sum_add_dim(AffineSum *sum, int dim, int64_t scale);
/* Restricts SPACE to SUM = 0, or to SUM >= 0. */
void affine_add_row(AffineSpace *space, const AffineSum *sum, bool equality);
/* Restricts SPACE to A KIND B; false, and nothing done, when that is not one linear restriction. */
bool affine_add_comparison(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b);
/* Gives the rows to the set. */
void affine_settle(AffineSpace *space);

#endif
