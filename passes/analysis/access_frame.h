/* What the collection of accesses asks of loops that have no iteration, and of blocks. */
#ifndef TIRC_PASSES_ANALYSIS_ACCESS_FRAME_H
#define TIRC_PASSES_ANALYSIS_ACCESS_FRAME_H

#include "passes/analysis/access.h"

/* What is at FRAME certainly does not run: it lies in a loop of no iteration, and not in an init that runs all the same. */
bool frame_never_runs(const Frame *frame);
/* LOOP, of no iteration, holds a block whose init runs once all the same: only reduce axes of it are bound to the loop. */
bool loop_holds_lasting_init(const ForStmt *loop);
/* A block at or around FRAME has a reduce axis: only then do its updates claim to commute. */
bool frame_reduces(const Frame *frame);
/* CALL stays inside of the regions of BLOCK around it (NULL: none). Only the text can say so of foreign code: regions that are inferred follow
   from what is seen of the call. */
bool call_keeps_regions(const BlockStmt *block, const Expr *call);

#endif
