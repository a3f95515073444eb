/* What steps share that give a block other axes: the values of its old axes put in, and its indices in simplest form. */
#ifndef TIRC_PASSES_SCHEDULE_LAYOUT_BLOCK_ACCESS_H
#define TIRC_PASSES_SCHEDULE_LAYOUT_BLOCK_ACCESS_H

#include "passes/arith/analyzer.h"
#include "passes/schedule/core/schedule.h"

/* STMT, a block, with simplified indices and starts of regions: as maps of the axes of the block and of the loops in it. */
const Stmt *block_simplify_accesses(Schedule *sch, const Stmt *stmt);

#endif
