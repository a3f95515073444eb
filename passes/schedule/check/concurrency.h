/* Loops whose iterations run at once: what makes them legal. */
#ifndef TIRC_PASSES_SCHEDULE_CHECK_CONCURRENCY_H
#define TIRC_PASSES_SCHEDULE_CHECK_CONCURRENCY_H

#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/core/schedule.h"

/* The parallel, vectorized and thread-bound loops around NODE (itself included), and inside of a block, still may run so; false after a refusal. For
   steps that move or add statements below such loops, or a statement that reads what their iterations had to themselves. */
bool check_concurrent_loops_around(Schedule *sch, const TreeNode *node);
/* The same for those at NODE and below it. For steps that copy such loops: scratch that one loop had to itself is then used by several. */
bool check_concurrent_loops_below(Schedule *sch, const TreeNode *node);

/* LOOP as a serial loop, where it is bound to threads and may run in another way than together; NULL after a refusal. Other loops are returned
   as they are. Nodes that were found before are invalid where the loop was bound. */
const TreeNode *loops_unbound(Schedule *sch, const TreeNode *loop);

/* For the end of a schedule, of all functions: the loops of a kernel with one thread tag have one extent, which is known where it begins; its threads and
   thread blocks are in no conflict, also by statements that all of them run; and memory of threads and blocks (scopes shared, local, ...)
   is used only where they can see it. In between, a loop may still be bound and a copy still be moved. What does not hold is an error at
   the call of bind, and the answer false, where the program WILL_RUN; where it is only shown, a warning. */
bool check_threads(Schedule *sch, bool will_run);

#endif
