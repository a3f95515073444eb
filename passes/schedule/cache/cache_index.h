/* What cache_index computes ahead: computations of a block from its axes. */
#ifndef TIRC_PASSES_SCHEDULE_CACHE_CACHE_INDEX_H
#define TIRC_PASSES_SCHEDULE_CACHE_CACHE_INDEX_H

#include "passes/schedule/core/schedule.h"

typedef struct {
    const Expr *expr;
    const Expr *simple; /* simplified as an index; NULL: it is the value of something, which may wrap */
    int count, size;    /* how often it is computed; nodes */
} Computation;
typedef VEC(Computation) Computations;

/* What the stores of BLOCK compute THRESHOLD times or more from its axes alone, the largest first; these may run for all values of the axes
   before the block does. Indices count as one computation where they are shown to be equal. */
Computations computations_of_axes(Schedule *sch, const TreeNode *block, int64_t threshold);
/* The place in LIST of what gives the value of EXPR, which stands in an index or not; -1: there is none. */
int computations_find(Context *ctx, const Computations *list, const Expr *expr, bool in_index);

#endif
