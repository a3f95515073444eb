/* What primitives require of blocks. Each check gives false after a refusal that names the block and what it lacks. */
#ifndef TIRC_PASSES_SCHEDULE_CHECK_CHECKS_H
#define TIRC_PASSES_SCHEDULE_CHECK_CHECKS_H

#include "passes/schedule/core/schedule.h"

/* True when the bindings of BLOCK are quasi-affine expressions of the loops around it, below TOP (not included; NULL or a node outside of
   the scope: up to the scope), that reach under its predicate a box of axis values, or reach each value of a box once when the predicate is
   left aside. */
bool block_is_affine(Schedule *sch, const TreeNode *block, const TreeNode *top);
/* The axes of BLOCK that tell points apart map the loops below TOP (NULL: all of the scope) that they use one to one onto a box, other loops
   only reduce, over ranges that may differ from point to point. So but for conditions the points are the same whatever is reduced over. */
bool block_points_fill_box(Schedule *sch, const TreeNode *block, const TreeNode *top);
/* The bindings are affine over all loops of the scope or over those below TOP; or the points fill a box below TOP, and each condition is about
   points or about the reduction alone. */
bool check_block_is_affine(Schedule *sch, const TreeNode *block, const TreeNode *top);
/* BLOCK has only spatial and reduce axes. With a loop TOP, an axis that no loop from TOP inwards moves may be of any kind. */
bool check_block_axes(Schedule *sch, const TreeNode *block, const TreeNode *top);
/* BLOCK is the only block of its scope that writes its outputs, and no statement outside of the blocks does. */
bool check_block_is_only_writer(Schedule *sch, const TreeNode *block);
/* BLOCK is inside another block: it is not the root, nor part of an init. */
bool check_block_has_scope(Schedule *sch, const TreeNode *block);

bool check_axes_are_spatial(Schedule *sch, const TreeNode *block);
/* Complete: only spatial axes, the only writer of its outputs, and it reads none of them. */
bool check_complete_block(Schedule *sch, const TreeNode *block);
/* A block with an init has its reduce axes bound to loops themselves, not to lets, behind which the loops are not seen. */
bool check_reduces_over_loops(Schedule *sch, const TreeNode *block);
/* The reduce axes of BLOCK run over loops inside of its scope only. A scope without axes lets bindings mention loops outside of it: each of
   its runs holds just a part of a reduction over those. */
bool check_reduces_in_scope(Schedule *sch, const TreeNode *block);
/* The same for the blocks with an init inside of BLOCK, too. */
bool check_inner_reduces_in_scope(Schedule *sch, const TreeNode *block);
/* All that BLOCK writes is allocated by the block around it: what no update sets has no value there, so no one may read it. */
bool block_writes_scratch(Schedule *sch, const TreeNode *block);
/* BLOCK is a reduction: it has an init, is the only writer of its outputs, and no reduce axis indexes them. Its bindings are affine, of
   spatial and reduce axes. Its predicate leaves a box, or some update for each spatial point; for scratch memory any predicate does. Axes
   of other kinds may be those that only loops outside of TOP move; TOP NULL: none. */
bool check_reduction_block(Schedule *sch, const TreeNode *block, const TreeNode *top);
/* The same, or the points fill a box, whatever each of them reduces over. */
bool check_decomposable_block(Schedule *sch, const TreeNode *block, const TreeNode *top);
/* The same as check_reduction_block for a block whose outputs only other blocks of the scope read: the predicate may leave some spatial points without any update. */
bool check_intermediate_reduction_block(Schedule *sch, const TreeNode *block);

/* The init of BLOCK, where it has one, could leave it: it uses no buffer that the block itself allocates or matches. */
bool check_init_is_independent(Schedule *sch, const TreeNode *block);
/* INIT, a block that was the init of another, runs once for each point where it reads what it writes: the loops around it that it got, all
   but the first OUTER_COUNT, do not reach one more often. */
bool check_init_runs_once(Schedule *sch, const Block *init, int outer_count);

/* For the end of a step that made the module from BEFORE: inits run for the same points, and none comes to run before what it ran behind; see
   init_order.c. */
bool check_inits(Schedule *sch, const Module *before);
/* For the same: no buffer, let, loop variable or axis is used outside of the statement that declares it. The size of a new buffer is known
   where it is allocated. See definitions.c. */
bool check_declarations_reach(Schedule *sch, const Module *before);
/* Both of these: whoever runs a primitive asks them before schedule_end. */
bool check_after_step(Schedule *sch, const Module *before);

#endif
