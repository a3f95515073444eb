/* What the collection of accesses asks of loops that have no iteration, and of blocks. */
#ifndef TIRC_PASSES_ANALYSIS_MODEL_ACCESS_FRAME_H
#define TIRC_PASSES_ANALYSIS_MODEL_ACCESS_FRAME_H

#include "passes/analysis/model/access.h"
#include "passes/analysis/model/reduction.h"

/* EXPR, seen from FRAME, depends on the loop over VAR: by itself or through what its variables are bound to. */
bool frame_depends(const Frame *frame, const Expr *expr, const Var *var);
/* The block at FRAME (FRAME_BLOCK) reduces over the loop over VAR: a reduce axis of it depends on that, also by way of the axes of blocks
   around, but not of spatial ones, which stay the same while a reduction runs. */
bool frame_reduces_over(const Frame *frame, const Var *var);
/* FRAME reduces over VAR, and no point depends on the loop: neither do the block's other axes nor those around that name points. */
bool frame_only_reduces_over(const Frame *frame, const Var *var);
/* What is at FRAME certainly does not run: it lies in a loop of no iteration, and not in an init that runs all the same. */
bool frame_never_runs(const Frame *frame);
/* LOOP, of no iteration, holds a block whose init runs once all the same: only reduce axes of it are bound to the loop. */
bool loop_holds_lasting_init(const ForStmt *loop);
/* A block at or around FRAME has a reduce axis: only then do its updates claim to commute. */
bool frame_reduces(const Frame *frame);
/* The block around the block INNER, both around FRAME; NULL: none. */
const BlockStmt *frame_block_around(const Frame *frame, const BlockStmt *inner);
/* CALL stays inside of the regions of BLOCK around it (NULL: none). Only the text can say so of foreign code: regions that are inferred follow
   from what is seen of the call. */
bool call_keeps_regions(const BlockStmt *block, const Expr *call);
/* The data variable of the memory that VAR, the data variable of a buffer or view, lies in. */
typedef const Var *(*MemoryOf)(const void *data, const Var *var);
/* CALL, which stays inside of the regions of BLOCK around it, is given a pointer that may lead to the memory of TARGET, a buffer's data
   variable: to TARGET itself, or to memory that the block does not declare. */
bool call_may_reach(const BlockStmt *block, const Expr *call, const Var *target, MemoryOf memory_of, const void *data);
/* The same for one of the targets of REDUCTION. */
bool call_may_reach_target(const BlockStmt *block, const Expr *call, const Reduction *reduction, MemoryOf memory_of, const void *data);

#endif
