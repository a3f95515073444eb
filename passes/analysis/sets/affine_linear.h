/* Linear restrictions of a space, kept until a set is asked for: isl then takes them all at once, which costs a fraction of what one
   expression after the other does. Private to affine.c and what makes spaces. */
#ifndef TIRC_PASSES_ANALYSIS_SETS_AFFINE_LINEAR_H
#define TIRC_PASSES_ANALYSIS_SETS_AFFINE_LINEAR_H

#include "passes/analysis/sets/space.h"

enum { MOST_LINEAR_TERMS = 40 };

/* PARAM, where not NULL, else dimension DIM, times COEFFICIENT. */
typedef struct {
    Var *param;
    int dim;
    int64_t coefficient;
} LinearTermOf;

/* A sum of terms and a constant; terms may have the coefficient 0. */
typedef struct {
    int64_t constant;
    int count;
    LinearTermOf terms[MOST_LINEAR_TERMS];
} LinearForm;

/* A restriction: the sum is at least 0, or 0. */
typedef struct AffineRow {
    const struct AffineRow *earlier;
    bool equality;
    int64_t constant;
    int count;
    const LinearTermOf *terms;
} AffineRow;

/* Each restricts SPACE: to A KIND B, to CONDITION (NEGATED: its opposite), to min <= dimension DIM < min + extent. False, and nothing done,
   where that is not linear. */
bool affine_add_comparison(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b);
bool affine_add_condition(AffineSpace *space, const AffineEnv *env, const Expr *condition, bool negated);
bool affine_add_range(AffineSpace *space, const AffineEnv *env, int dim, Range range);
/* The same to dimension A KIND (EXPR_EQ, EXPR_LT or EXPR_LE) dimension B. */
void affine_add_dims(AffineSpace *space, ExprKind kind, int a, int b);
/* EXPR, an integer or a condition, is certainly not affine: it reads memory, or multiplies what varies with what varies. Then isl need not be
   asked; it is where this is not known. */
bool affine_surely_not(const AffineEnv *env, const Expr *expr);
/* Gives the rows to the set. */
void affine_settle(AffineSpace *space);
/* Restricts SPACE to SUM >= 0, or to SUM = 0. */
void affine_add_form(AffineSpace *space, const LinearForm *sum, bool equality);
/* Adds EXPR, seen from ENV, to SUM; false where that is not linear, or a number grows too large. */
bool linear_of(const AffineEnv *env, const Expr *expr, LinearForm *sum);
/* SUM + SCALE * TERM, whose own coefficient does not count, and SUM + SCALE * MORE; false where a number grows too large. */
bool linear_add_term(LinearForm *sum, LinearTermOf term, int64_t scale);
bool linear_add_form(LinearForm *sum, const LinearForm *more, int64_t scale);

/* A cast that keeps the value of every integer, by its types. */
bool affine_cast_keeps_value(const Expr *cast);
/* EXPR holds a choice by Select or if_then_else: CASES are the two values that it has, one by either side of that choice. */
bool affine_split_choice(Context *ctx, const AffineEnv *env, const Expr *expr, const Expr *cases[2]);

#endif
