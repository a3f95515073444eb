/* blockize as a building step: tensorize blockizes a loop first. */
#ifndef TIRC_PASSES_SCHEDULE_BLOCK_BLOCKIZE_H
#define TIRC_PASSES_SCHEDULE_BLOCK_BLOCKIZE_H

#include "passes/schedule/core/schedule.h"

/* Makes the subtree of LOOP one block; the new outer block, or NULL after a refusal. */
Block *blockize_loop(Schedule *sch, const TreeNode *loop, bool preserve_unit_iters);

#endif
