/* Loops whose iterations run at once: what makes them legal. */
#ifndef TIRC_PASSES_SCHEDULE_CONCURRENCY_H
#define TIRC_PASSES_SCHEDULE_CONCURRENCY_H

#include "passes/schedule/schedule.h"

/* The parallel, vectorized and thread-bound loops around BLOCK_OR_LOOP (itself included) still may run so; false after a refusal. For steps that move or add
   statements below such loops. */
bool check_concurrent_loops_around(Schedule *sch, const TreeNode *node);

/* For the end of a schedule: memory of threads and blocks (scopes shared, local, ...) is used only where they can see it. In between, a copy may still stand outside of the loops that it will
   be moved below. False after a diagnostic. */
bool check_thread_scopes(Schedule *sch);

#endif
