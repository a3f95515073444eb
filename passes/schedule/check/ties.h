/* Warnings of what another order of updates may change: which index argmin and argmax choose where values tie, and what minima and maxima of
   floats are where a value is NaN. Each warns at most once for a step. */
#ifndef TIRC_PASSES_SCHEDULE_CHECK_TIES_H
#define TIRC_PASSES_SCHEDULE_CHECK_TIES_H

#include "passes/schedule/core/schedule.h"

/* The running step combines the values of the reduction BLOCK in another order, or in groups. REGROUPED: it keeps their order, so that ties
   are as before. Nothing where the result is the same. */
void warn_of_new_order(Schedule *sch, const BlockStmt *block, bool regrouped);

/* Some loop over VAR is to run as threads that reduce together: the same for each block below NODE that it reduces. */
void warn_of_shared_reduction(Schedule *sch, const TreeNode *node);

/* The COUNT loops in CHAIN, from the outermost to the innermost, of which only the last holds blocks directly, are to stand in the order of
   NEW_ORDER. */
void warn_of_reordered_loops(Schedule *sch, const TreeNode *const *chain, const TreeNode *const *new_order, int count);

/* The updates of the block at NODE run in the order of its reduce axes' values, the first axis outermost: each binding grows with the loops. */
bool reduce_axes_count_up(Schedule *sch, const TreeNode *node);
/* The same, or it is no reduction whose result depends on their order. */
bool updates_follow_axes(Schedule *sch, const TreeNode *node);

#endif
