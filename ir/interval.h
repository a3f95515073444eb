/* Sets of integers between two bounds, and the values that an expression takes when some of its variables run over such sets. Bounds are
   expressions of the variables that stay fixed, so results are exact only up to the box: a superset of the values, never less. */
#ifndef TIRC_IR_INTERVAL_H
#define TIRC_IR_INTERVAL_H

#include "ir/stmt.h"

/* All integers from min to max; NULL for a bound that is not known (then both are NULL). */
typedef struct {
    const Expr *min, *max;
} Interval;

/* What loop and let variables run over; others are fixed. */
typedef struct {
    Map domains; /* const Var * -> Interval * */
} IntervalScope;

static inline bool interval_is_known(Interval interval)
{
    return interval.min != NULL;
}
static inline Interval interval_point(const Expr *value)
{
    return (Interval){value, value};
}
static inline Interval interval_everything(void)
{
    return (Interval){NULL, NULL};
}
/* The integers of RANGE. */
Interval interval_of_range(Context *ctx, Range range);
/* The least interval that holds both, with simplified bounds. */
Interval interval_union(Context *ctx, Interval a, Interval b);
/* The same where the bounds of SIMPLIFIED are: unions of many do not simplify the growing bounds each time. */
Interval interval_extend(Context *ctx, Interval simplified, Interval more);
/* The integers in both, or A where that is empty for certain. */
Interval interval_intersect(Context *ctx, Interval a, Interval b);
/* The values of EXPR; of a vector, those of all its lanes. */
Interval interval_of_expr(Context *ctx, const IntervalScope *scope, const Expr *expr);
/* Sets the values of VAR; NULL makes it fixed again. */
void interval_set(Context *ctx, IntervalScope *scope, const Var *var, const Interval *values);
/* INTERVAL as a range with simplified bounds; a single value keeps its form. WHOLE where it is not known. */
Range interval_to_range(Context *ctx, Interval interval, Range whole);

#endif
