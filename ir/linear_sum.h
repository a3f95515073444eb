/* Integer expressions as sums of coefficient * atom plus a constant. Equal atoms cancel; nothing is known of their ranges. It serves where
   ranges are not at hand: extents of slices, regions found from a block's body. */
#ifndef TIRC_IR_LINEAR_SUM_H
#define TIRC_IR_LINEAR_SUM_H

#include "ir/expr.h"

/* An atom is an expression that is no sum, difference, or product with a constant. */
typedef struct {
    const Expr *atom;
    int64_t coefficient; /* not 0 */
} LinearTerm;

typedef struct {
    VEC(LinearTerm) terms; /* in the order of first appearance */
    int64_t constant;
} LinearSum;

/* EXPR as a sum over simplified atoms; false when it is no signed scalar integer or a coefficient overflows. */
bool linear_sum_of(Context *ctx, const Expr *expr, LinearSum *sum);

/* EXPR with sums in it brought together, constants folded, and divisions and remainders by constants, minima and maxima reduced where the
   sums show it. The value is the same for all values of the variables that do not overflow. */
const Expr *linear_simplify(Context *ctx, const Expr *expr);

/* The minimum or maximum (KIND) of A and B, of one type and simplified already. */
const Expr *linear_extreme(Context *ctx, ExprKind kind, const Expr *a, const Expr *b);

/* The extent of a range from BEGIN up to END, of one type. Where END is written BEGIN + x, that is x as it stands: printed ranges keep
   their extents. */
const Expr *linear_extent(Context *ctx, const Expr *begin, const Expr *end);

/* EXPR with the equal terms of its outermost sum brought together; the terms stay as they are. */
const Expr *linear_gather(Context *ctx, const Expr *expr);

/* True when A - B is the same for all values of the variables: *DIFFERENCE. */
bool linear_difference(Context *ctx, const Expr *a, const Expr *b, int64_t *difference);
/* The same, where the terms of both are the same without being simplified: much faster where they are not. */
bool linear_difference_as_written(Context *ctx, const Expr *a, const Expr *b, int64_t *difference);

/* True when INDEX is linear in VAR, also where VAR stands in a wider type: *COEFFICIENT, 0 where VAR does not occur. */
bool linear_coefficient(Context *ctx, const Expr *index, const Var *var, int64_t *coefficient);

#endif
