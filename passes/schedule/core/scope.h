/* What the blocks of one scope write and read for one another, by their declared regions and by what they read to be entered: predicates,
   axes, views. A scope is a block; its members are the blocks directly inside it. */
#ifndef TIRC_PASSES_SCHEDULE_CORE_SCOPE_H
#define TIRC_PASSES_SCHEDULE_CORE_SCOPE_H

#include "passes/schedule/core/schedule.h"

/* Why a later block depends on an earlier one. */
enum { DEPENDS_RAW = 1, DEPENDS_WAW = 2, DEPENDS_WAR = 4 };

/* The earlier members that BLOCK depends on for one of KINDS, each once: for each buffer that BLOCK reads its writers in program order,
   then for each buffer that it writes. *COUNT of them, in ctx->arena. */
const TreeNode **scope_producers(Schedule *sch, const TreeNode *block, int kinds, int *count);
/* The later members that depend on BLOCK for one of KINDS, in program order. */
const TreeNode **scope_consumers(Schedule *sch, const TreeNode *block, int kinds, int *count);
/* The members of SCOPE that write (read) BUFFER, in program order. */
const TreeNode **scope_writers(Schedule *sch, const TreeNode *scope, const Buffer *buffer, int *count);
const TreeNode **scope_readers(Schedule *sch, const TreeNode *scope, const Buffer *buffer, int *count);

/* The elements that the block at NODE reads to be entered, in terms of its axes and of what is around it, *COUNT of them. */
Region *regions_read_to_enter(Context *ctx, const TreeNode *node, int *count);
/* The first of REGIONS (COUNT of them) that is of BUFFER, or NULL. */
const Region *regions_find(const Region *regions, int count, const Buffer *buffer);
/* True when two of REGIONS are of BUFFER. */
bool regions_repeat(const Region *regions, int count, const Buffer *buffer);
/* The one of REGIONS that is of BUFFER; NULL when none or several are. */
const Region *regions_find_only(const Region *regions, int count, const Buffer *buffer);

#endif
