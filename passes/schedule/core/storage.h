/* Storage scopes as names, and buffers under another scope. */
#ifndef TIRC_PASSES_SCHEDULE_CORE_STORAGE_H
#define TIRC_PASSES_SCHEDULE_CORE_STORAGE_H

#include "passes/schedule/core/schedule.h"

/* SCOPE is one of the known kinds of storage, with or without a tag ("global.A_reg"). False after a refusal. */
bool check_storage_scope(Schedule *sch, const Value *scope);
/* A fresh buffer like BUFFER in SCOPE, called <name>_<scope>, with memory of its own. */
Buffer *storage_copy(Context *ctx, const Buffer *buffer, Str scope);
/* The block that allocates BUFFER, from BLOCK outwards; NULL after a refusal when there is none (a parameter, a view). */
const TreeNode *check_allocation_site(Schedule *sch, const TreeNode *block, const Buffer *buffer);
/* The views of BUFFER state no strides but those that its memory has as storage_align pads it. */
bool check_views_fit(Schedule *sch, const Buffer *buffer);

#endif
