/* What steps share that give a block other axes: the values of its old axes put in, and its indices in simplest form. */
#ifndef TIRC_PASSES_SCHEDULE_BLOCK_ACCESS_H
#define TIRC_PASSES_SCHEDULE_BLOCK_ACCESS_H

#include "passes/arith/analyzer.h"
#include "passes/schedule/schedule.h"

/* STMT, a block, with the indices of all accesses below it, and the starts of its regions, written in simplest form as maps of its axes and
   of the loops in it. */
const Stmt *block_simplify_accesses(Schedule *sch, const Stmt *stmt);

#endif
