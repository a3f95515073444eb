/* Lowered listings: a scheduled function as people read it, without blocks, over flat buffers. */
#ifndef TIRC_PASSES_LOWER_LISTING_H
#define TIRC_PASSES_LOWER_LISTING_H

#include "ir/stmt.h"

/* What a listing of stages of tensor expressions has besides: names of its loops, guards in T.likely, parameters of any strides. */
typedef struct {
    Map loop_names; /* const Var * -> Str */
} StageListing;

/* FUNC of MODULE as a lowered listing: loops, guards and accesses to flat buffers, which are declared where they are used first. STAGES is NULL
   for a function that is not made of stages. NULL after diagnostics. */
const Func *lower_listing(Context *ctx, const Module *module, const Func *func, const StageListing *stages);

/* STMT with what it computes more than once named by lets, cse_var_1 and so on (listing_share.c). */
const Stmt *listing_share(Context *ctx, const Stmt *stmt);

#endif
