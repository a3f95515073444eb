/* Vector stores and lets taken apart into slices that fit the registers, on the IR. */
#ifndef TIRC_IR_VECTOR_SLICE_H
#define TIRC_IR_VECTOR_SLICE_H

#include "ir/stmt.h"

/* Lanes FIRST, FIRST + 1, ..., COUNT of them. */
typedef struct {
    int first, count;
} LaneRange;

/* Into how many stores STMT_STORE STORE is to be taken apart, each as wide as a register of REGISTER_BYTES or narrower, a power of two of
   lanes: 1 when it has that form or cannot be taken apart; else *SLICES, in ctx->arena, has the lanes of each. Computing all values first
   and storing them then, in order, equals executing STORE. POINTERS_MAY_ALIAS: there are buffers over pointers that were computed, so that
   other data variables say nothing. */
int vector_slices(Context *ctx, const Stmt *store, int register_bytes, bool pointers_may_alias, LaneRange **slices);
/* Each slice may be stored before the value of the next one is computed. */
bool vector_slices_may_interleave(const Stmt *store, bool pointers_may_alias);
/* The store of the lanes of RANGE, in ctx->arena. SLICED_LETS: Var of a let that was taken apart -> a
   Shuffle of the slices' variables. */
const Stmt *vector_slice_store(Context *ctx, const Map *sliced_lets, const Stmt *store, LaneRange range);
/* The same for a value, such as that of a let. */
int vector_value_slices(Context *ctx, const Expr *value, int register_bytes, LaneRange **slices);
const Expr *vector_slice_value(Context *ctx, const Map *sliced_lets, const Expr *value, LaneRange range);

#endif
