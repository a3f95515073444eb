/* Every access to memory of a function, in program order. */
#ifndef TIRC_PASSES_ANALYSIS_COLLECT_ACCESS_COLLECT_H
#define TIRC_PASSES_ANALYSIS_COLLECT_ACCESS_COLLECT_H

#include "passes/analysis/model/access.h"

/* All accesses of FUNC's body in program order. A loop over the reduce axes of a block with an init counts as one iteration where it
   certainly has none, for the init runs all the same. The lists of the last few functions are kept with the context: the result must not be
   changed, and it lives, with its frames and regions, until ACCESS_LISTS_KEPT other functions have been asked about. */
enum { ACCESS_LISTS_KEPT = 8 };
AccessList access_collect(Context *ctx, const Func *func);
/* The part of that list that lies inside of BLOCK. */
AccessList access_collect_inside(Context *ctx, const Func *func, const Block *block);
/* Those of the statements of the block SCOPE that are in no block inside of it. The list lives as long as ctx->arena, what it points to as long as
   the list above. */
AccessList access_collect_loose(Context *ctx, const Func *func, const Block *scope);
/* The same as access_collect for FUNC behind the lowering pass "wrapping": its arithmetic does not leave its type. The list lives as long as ctx->arena. */
AccessList access_collect_explicit(Context *ctx, const Func *func);

#endif
