/* Which points a block's init runs for: the iteration domain of the init as a statement of its own, for the analysis and for the lowering.

     for i, k in T.grid(8, n):                   the init of vi = i runs for each i < m, also where n is 0, for which k need not be visited;
         if i < m and k < 4: block of vi, vk     k < 4 says nothing of points

   A reduction is one run of the loops that reduce axes depend on (frame_reduces_over). Where a loop only reduces (frame_only_reduces_over), the
   init does not depend on it, but for what these questions tell. The interpreter defines the same on its own (interp_compile_init.c). */
#ifndef TIRC_PASSES_ANALYSIS_MODEL_INIT_DOMAIN_H
#define TIRC_PASSES_ANALYSIS_MODEL_INIT_DOMAIN_H

#include "ir/conjuncts.h"
#include "passes/analysis/model/access_frame.h"

/* The conditions that the one at FRAME joins, in their order; lets around are seen through. */
ConjunctList frame_conditions(Context *ctx, const Frame *frame);

/* In what follows BLOCK is the frame of the block, INNERMOST that of its init or of something inside of that, or BLOCK itself; conditions and
   loops are those of frames around INNERMOST. */

/* Which loops CONDITION, at FRAME, depends on: some that only reduce, and others. Those of one iteration count where there are no others. */
typedef struct {
    bool reducing, others;
} ConditionKind;
ConditionKind init_condition_kind(const Frame *block, const Frame *frame, const Expr *condition);
/* The points are found by a run of LOOP (FRAME_LOOP): it does more than reduce, a condition mixes it with such loops, or it bounds a loop that is
   run for them. */
bool init_visits_loop(Context *ctx, const Frame *block, const Frame *innermost, const Frame *loop);
/* Whether CONDITION, a part of the one at FRAME, can keep an init from running. A condition on what is reduced over alone can do so in one
   case: all loops that it depends on are visited, those of one iteration excepted. */
bool init_heeds_condition(Context *ctx, const Frame *block, const Frame *innermost, const Frame *frame, const Expr *condition);

/* GUARD stands before another part of a condition of STMT, at FRAME. An init in STMT may ask that part though GUARD does not hold, since some of
   GUARD is about the reduction alone. What then holds of GUARD, as one condition; NULL: all of it. */
const Expr *init_heeded_guard(Context *ctx, const Stmt *stmt, const Frame *frame, const Expr *guard);
/* The same of all conditions around STMT: FRAME, around it, as such an init runs there. FRAME itself where they say nothing of the reduction
   alone. */
const Frame *init_heeded_frame(Context *ctx, const Stmt *stmt, const Frame *frame);

#endif
