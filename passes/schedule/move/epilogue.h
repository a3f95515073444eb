/* What a block makes of the results of a reduction, done in the reduction itself. */
#ifndef TIRC_PASSES_SCHEDULE_MOVE_EPILOGUE_H
#define TIRC_PASSES_SCHEDULE_MOVE_EPILOGUE_H

#include "passes/schedule/core/schedule.h"

/* REDUCTION: a block with an init, whose body is one store of an element. VALUE: what is made of the element once it is complete, in terms of a
   load of it. Init and updates of *REDUCTION are changed so that they compute VALUE at once, and it stays a reduction of the same kind. False:
   VALUE has no such form, or it has one only where floats may be combined in another order and REASSOCIATES does not allow that.

   A sum S = init + x1 + x2 + ..., and S + c made of it:       the init is init + c. So for the other operations.
   A maximum M = max(init, x1, ...), and min(max(M, a), b):     this grows with M, so it goes into each of init, x1, ... So for minima. */
bool epilogue_fold(Context *ctx, BlockStmt *reduction, const Expr *value, bool reassociates);

/* VALUE is computed in the last update of *REDUCTION: where GUARD holds, a condition on its reduce axes. */
void epilogue_append(Context *ctx, BlockStmt *reduction, const Expr *value, const Expr *guard);
/* Each reduce axis of BLOCK has its last value. */
const Expr *epilogue_last_update(Context *ctx, const BlockStmt *block);

#endif
