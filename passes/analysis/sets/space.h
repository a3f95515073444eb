/* What an integer set over loop iterations is made of; affine.h has the functions. */
#ifndef TIRC_PASSES_ANALYSIS_SETS_SPACE_H
#define TIRC_PASSES_ANALYSIS_SETS_SPACE_H

#include <isl/set.h>

#include "ir/stmt.h"

/* What variables mean in a space: a dimension, or an expression to be used in their place. */
typedef struct AffineEnv {
    const struct AffineEnv *outer; /* searched where a variable is not found here */
    const Var *var;
    int dim;            /* position of the dimension, or -1: VALUE stands for the variable */
    const Expr *value;  /* with a dimension: NULL, or where the loop starts */
} AffineEnv;

/* Stand-ins for integers that are not affine but have one value in each iteration of the first FIXED loops, such as f // n for a fused loop
   f: each becomes a parameter. Sets that share them can be compared iteration by iteration of those loops, and no further. */
typedef struct {
    const Expr *expr; /* over loop variables and sizes */
    const AffineEnv *env; /* what the loop variables mean */
    Var *var;
    bool nonnegative;
} AffineTerm;
typedef struct {
    int fixed;
    VEC(AffineTerm) known;
} AffineTerms;

/* A comparison that a set does not have, since it is not affine: A (in ENV_A) KIND B (in ENV_B). */
typedef struct AffineOmission {
    const struct AffineOmission *earlier;
    ExprKind kind;
    const AffineEnv *env_a, *env_b;
    const Expr *a, *b;
} AffineOmission;

typedef struct AffineSpace {
    Context *ctx;
    isl_set *set;    /* owned; NULL after an error or when the quota is exhausted: nothing is known */
    const struct AffineRow *rows; /* linear restrictions that SET does not have yet */
    bool approximate; /* something was left out, the set may be too large */
    const AffineOmission *omitted; /* of that, what the argument "products" may understand */
    bool has_point; /* of the set without what was left out: it was asked for, and it has one */
    Map sizes;        /* parameters known to be >= 0: Var -> Var */
    AffineTerms *terms; /* NULL: what is not affine is left out */
} AffineSpace;

#endif
