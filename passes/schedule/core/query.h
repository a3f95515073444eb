/* Finding blocks and the targets of primitives by what a script names. */
#ifndef TIRC_PASSES_SCHEDULE_CORE_QUERY_H
#define TIRC_PASSES_SCHEDULE_CORE_QUERY_H

#include "passes/schedule/core/schedule.h"

/* The one block of the function acted on that NAME, a string of the call, names; NULL after a diagnostic when there is none or several. */
Block *schedule_block_named(Schedule *sch, const Value *name);
/* The node of the loop or block that VALUE is a handle of; NULL after a diagnostic. */
const TreeNode *schedule_target(Schedule *sch, const Value *value);
/* "loop 'i'" or "block 'C'": how messages call NODE. */
const char *node_words(Schedule *sch, const TreeNode *node);
/* Notes what NODE, which is no loop, is, where only loops may stand. */
void note_no_loop(Schedule *sch, const TreeNode *node);
/* The blocks of NODES (COUNT of them) as a list of handles. */
Value query_block_list(Schedule *sch, const TreeNode *const *nodes, int count);

/* The index among the declared writes (IS_WRITE) or reads of BLOCK that VALUE chooses: an index, a buffer's name or a pair. -1 after a
   diagnostic. */
int query_buffer_index(Schedule *sch, const TreeNode *block, const Value *value, bool is_write);
/* The declared region of BLOCK that VALUE chooses: an index, which counts its reads and then its writes, a buffer's name (its write where the
   block reads the buffer too), or a pair. *IS_WRITE says which it is. NULL after a diagnostic. */
const Region *query_buffer_region(Schedule *sch, const TreeNode *block, const Value *value, bool *is_write);

#endif
