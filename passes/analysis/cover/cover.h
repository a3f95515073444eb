/* Does a must-write cover a read: does it write, before, all that the read may touch? */
#ifndef TIRC_PASSES_ANALYSIS_COVER_COVER_H
#define TIRC_PASSES_ANALYSIS_COVER_COVER_H

#include "passes/analysis/model/access.h"
#include "passes/analysis/prove/answer.h"

/* WRITE comes before READ in every iteration of the loops that both share, and covers all that READ may read there. */
bool access_covers(Context *ctx, const Access *write, const Access *read, const Map *sizes);
/* The COUNT must-writes WRITES together cover READ: in each iteration of the loops around PLACE they touch all that READ may touch. PLACE
   is around all of them; NULL: the loops that each shares with READ count. Refuted with an element: "B[4] at i = 3". Which comes first is
   not asked. */
Answer access_covered(Context *ctx, const Access *const *writes, int count, const Access *read, const Frame *place, const Map *sizes);
/* Every element that READ reads in an iteration of the loop over VAR was written before in the same iteration; VAR NULL: in the same run of
   the function. */
bool access_is_filled(Context *ctx, const AccessList *accesses, const Map *sizes, const Access *read, const Var *var);
/* Every instance of BLOCK in the domains of its iterators runs; FRAME holds its bindings and predicate, and no loop around its scope. SIZES:
   variables known to be >= 0. */
bool block_runs_completely(Context *ctx, const BlockStmt *block, const Frame *frame, const Map *sizes);
/* The elements that WRITE, a store that runs whenever it is reached, certainly touches in one iteration of the first loops, which TERMS
   fixes: a set over those loops and the element, owned by the caller. They are the box that the loops inside fill by indices that need not
   be affine. NULL when it is not shown that they fill one. */
isl_set *access_filled_box(Context *ctx, const Access *write, AffineTerms *terms, const Map *sizes);
/* See dependence.h for what these show. */
bool shown_is_private(Context *ctx, const AccessList *accesses, const Map *sizes, const Var *data, const Var *var);
bool shown_reads_own_writes(Context *ctx, const Func *func, const Block *block, const Buffer *buffer);

#endif
