/* What the collection of accesses asks of loops that have no iteration, and of blocks. */
#ifndef TIRC_PASSES_ANALYSIS_MODEL_ACCESS_FRAME_H
#define TIRC_PASSES_ANALYSIS_MODEL_ACCESS_FRAME_H

#include "ir/wrap.h"
#include "passes/analysis/model/access.h"
#include "passes/analysis/model/reduction.h"

/* EXPR, seen from FRAME, depends on the loop over VAR: by itself or through what its variables are bound to. */
bool frame_depends(const Frame *frame, const Expr *expr, const Var *var);
/* The block at FRAME (FRAME_BLOCK) reduces over the loop over VAR: a reduce axis of it depends on that, also by way of the axes of blocks
   around, but not of spatial ones, which stay the same while a reduction runs. */
bool frame_reduces_over(const Frame *frame, const Var *var);
/* AXIS (FRAME_BIND), around the block at FRAME, is part of what names its points while it reduces: an axis of a block, which is spatial or
   which the reduction does not depend on. */
bool frame_tells_points(const Frame *axis, const Frame *frame);
/* FRAME reduces over VAR, and no point depends on the loop: neither do the block's other axes nor those around that name points. */
bool frame_only_reduces_over(const Frame *frame, const Var *var);
/* What is at FRAME certainly does not run: it lies in a loop of no iteration, and not in an init that runs all the same. */
bool frame_never_runs(const Frame *frame);
/* LOOP, of no iteration, holds a block whose init runs once all the same: only reduce axes of it are bound to the loop. */
bool loop_holds_lasting_init(const ForStmt *loop);
/* The frame inside of STMT (NEGATED: in its else branch), a statement around FRAME's place, with all that STMT says as it stands. FRAME itself where it
   says nothing; so does a while loop. For those who walk a program themselves. */
const Frame *frame_enter(Context *ctx, const Frame *frame, const Stmt *stmt, bool negated);
/* What VAR, bound by a frame from DATA, a const Frame *, outwards, may be: for a WrapScope. */
bool frame_bound(const void *data, const Var *var, WrapBound *bound);
/* A block at or around FRAME has a reduce axis: only then do its updates claim to commute. */
bool frame_reduces(const Frame *frame);
/* The block around the block INNER, both around FRAME; NULL: none. */
const BlockStmt *frame_block_around(const Frame *frame, const BlockStmt *inner);

#endif
