/* The element that an access touches, where it stands, and what holds there, in terms of loops and sizes. */
#ifndef TIRC_PASSES_ANALYSIS_MODEL_ACCESS_POINT_H
#define TIRC_PASSES_ANALYSIS_MODEL_ACCESS_POINT_H

#include "ir/walk.h"
#include "passes/analysis/model/access.h"

/* Adds the indices of the element that ACCESS touches to INDICES, in terms of loops and sizes; false when it may touch several. */
bool access_point(Context *ctx, const Access *access, ExprList *indices);
/* The same without casts around the indices, as fused loops over sizes of other types have them: these keep the value. */
bool access_point_uncast(Context *ctx, const Access *access, ExprList *indices);
/* What must hold at FRAME, in terms of loops and sizes. *ALL false: there are conditions besides those. */
ExprList access_conditions(Context *ctx, const Frame *frame, bool *all);
/* Replaces what bindings and lets around FRAME define by their values, down to loops and sizes. */
Subst frame_values(Context *ctx, const Frame *frame);
/* What the loop at FRAME runs over, in terms of loops and sizes. */
Range frame_loop_range(Context *ctx, const Frame *frame);
/* One of LIST uses VAR. */
bool exprs_use_var(const ExprList *list, const Var *var);
/* EXPR has the same value wherever its variables have: it reads no memory. */
bool expr_is_fixed(const Expr *expr);
/* There is a // or % in EXPR. */
bool expr_divides(const Expr *expr);
/* True when A comes before B where all their common loops agree: by position in the program. */
bool access_precedes(const Access *a, const Access *b);
/* ACCESS lies inside a block with symbol BLOCK. */
bool access_in_block(const Access *access, const Block *block);
/* The frame at which BLOCK's own body begins in the program of ACCESSES: that of its block, *STMT, with all bindings. NULL: it has no accesses. */
const Frame *access_block_frame(const AccessList *accesses, const Block *block, const BlockStmt **stmt);

#endif
