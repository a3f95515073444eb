/* Linear restrictions of a space, kept as rows until a set is asked for: isl then takes them all at once, which costs a fraction of what
   one expression after the other does. What holds in one of several cases, as what speaks of a minimum does, is one list of rows for each.
   Private to affine.c. */
#ifndef TIRC_PASSES_ANALYSIS_AFFINE_ROWS_H
#define TIRC_PASSES_ANALYSIS_AFFINE_ROWS_H

#include "passes/analysis/affine.h"

enum { MOST_ROW_TERMS = 40, MOST_DECISIONS = 8 };

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

struct AffinePath;

/* A sum of terms and a constant; terms may have the coefficient 0. */
typedef struct {
    Context *ctx;
    struct AffinePath *path; /* NULL: nothing is decided, a minimum is not linear */
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

/* Restrictions of which one at least holds: each is a list of rows. */
typedef struct AffineChoice {
    const struct AffineChoice *earlier;
    const AffineRow **cases;
    int count;
} AffineChoice;

/* One way through a restriction in which something is to be decided: which operand is the minimum, which side of an "or" holds. */
typedef struct {
    enum { DECIDE_EXTREME, DECIDE_OR, DECIDE_UNEQUAL } kind;
    const Expr *expr;
    const AffineEnv *env;
    bool second; /* the second operand, not the first */
    bool placed; /* the rows have the decision's condition */
} AffineDecision;

typedef struct AffinePath {
    Context *ctx;
    const AffineSpace *space; /* restricted */
    const AffineRow *rows; /* what holds on the way, latest first */
    bool never;            /* nothing does */
    /* All ways must hold, as x <= min(a, b) is x <= a and x <= b; else one must. */
    bool all;
    bool alone;   /* where ALL: no decision may be made, in an equality or below a division */
    bool decides; /* a decision was met */
    int count;
    AffineDecision decisions[MOST_DECISIONS];
} AffinePath;

/* The decision about EXPR, seen from ENV, on the way of PATH; NULL where none can be made. */
AffineDecision *affine_decide(AffinePath *path, int kind, const Expr *expr, const AffineEnv *env);
/* Adds the row SUM = 0, or SUM >= 0, to PATH. */
void affine_path_add(AffinePath *path, const AffineSum *sum, bool equality);
/* Adds what RESTRICTION, which is asked for each way through it, says of DATA to SPACE. False, and nothing done, where it is not linear. */
typedef bool (*AffineRestriction)(AffinePath *path, const void *data);
bool affine_restrict(AffineSpace *space, AffineRestriction restriction, const void *data);

/* An empty SUM with CONSTANT. */
void affine_sum_start(AffineSum *sum, Context *ctx, int64_t constant);
/* Adds SCALE times EXPR to SUM; false when EXPR is not linear, but for divisions by constants, or a number grows too large. */
bool affine_sum_add(AffineSum *sum, const AffineEnv *env, const Expr *expr, int64_t scale);
bool affine_sum_add_dim(AffineSum *sum, int dim, int64_t scale);
/* Restricts SPACE to SUM = 0, or to SUM >= 0. */
void affine_add_row(AffineSpace *space, const AffineSum *sum, bool equality);
/* Restrict SPACE to A KIND B, to CONDITION (NEGATED: its opposite), to min <= dimension DIM < min + extent; false, and nothing done, when that
   is not linear. */
bool affine_add_comparison(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b);
bool affine_add_condition(AffineSpace *space, const AffineEnv *env, const Expr *condition, bool negated);
bool affine_add_range(AffineSpace *space, const AffineEnv *env, int dim, Range range);
/* A comparison as one of what a size divides, where terms stand for products: x // n < m is x < m * n. Others as they are. */
const Expr *affine_undivided(const AffineSpace *space, const Expr *expr);
/* EXPR, an integer or a condition, is certainly not affine: it reads memory, or multiplies what varies with what varies. Then isl need not be
   asked; it is where this is not known. */
bool affine_surely_not(Context *ctx, const AffineEnv *env, const Expr *expr);
/* The same quotients of the same sums. */
bool affine_quotients_equal(const AffineQuotient *a, const AffineQuotient *b);

/* The least point of the space that ROWS and CHOICES restrict, and nothing else: first the parameters', then the dimensions' values. */
typedef struct AffinePoint {
    const AffineRow *rows;
    const AffineChoice *choices;
    int param_count;
    Var *const *params; /* in the order of their values */
    const int64_t *values;
} AffinePoint;
/* A cheap search for a point of SPACE, which becomes its POINT. SET_UNKNOWN: the set must be asked. */
SetVerdict affine_search(AffineSpace *space);
/* Gives the rows to the set. */
void affine_settle(AffineSpace *space);

/* EXPR holds a choice by Select or if_then_else: CASES are the two values that it has, one by either side of that choice. */
bool affine_split_choice(Context *ctx, const AffineEnv *env, const Expr *expr, const Expr *cases[2]);

#endif
