/* What stands behind the questions of dependence.h: searches for a pair of iterations that is in the way. Private to passes/analysis.

   A conflict_* function returns true when there is a conflict, or may be one for all that can be shown, and tells of it; a shown_* function
   returns true when what dependence.h says of its question is shown. */
#ifndef TIRC_PASSES_ANALYSIS_QUESTIONS_CONFLICT_H
#define TIRC_PASSES_ANALYSIS_QUESTIONS_CONFLICT_H

#include "passes/analysis/pairs/pair.h"
#include "passes/analysis/questions/dependence.h"

bool conflict_carried(Context *ctx, const Func *func, const AccessList *accesses, const Var *var, RunMode mode, Conflict *conflict);
bool conflict_needs_loop(Context *ctx, const Func *func, const Var *inner, const Var *outer);
bool conflict_in_kernel(const KernelSet *set, const Stmt *stmt, Str *tag, Conflict *conflict);
bool conflict_reordered(Context *ctx, const Func *before, const Stmt *old_part, const Func *after, const Stmt *new_part,
                        const Var *innermost, Conflict *conflict);
bool conflict_moved_producer(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);
bool conflict_moved_consumer(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);
bool conflict_adds_instances(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);
bool conflict_loses_instances(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);
bool conflict_overwrites(Context *ctx, const Func *func, const Block *reader, const Block *writer, Conflict *conflict);
bool conflict_shares_memory(Context *ctx, const Func *func, const Block *block, const Block *other, const Var *except);
bool conflict_reads_late(Context *ctx, const Func *func, const Block *block, int common, const Var *own, Conflict *conflict);
bool conflict_comes_between(Context *ctx, const Func *func, const BlockPair *pair, const Var *data, const AccessList *middle, Conflict *conflict);
bool shown_serves_each_iteration(Context *ctx, const Func *func, const Block *from, const Block *until, const Var *data);
bool conflict_leaves_instances(Context *ctx, const Func *func, const Block *producer, const Block *consumer, Conflict *conflict);
bool conflict_init_moved(Context *ctx, const Func *func, const BlockStmt *block, const Var *var, Conflict *conflict);
bool conflict_points_share(Context *ctx, const Func *func, const BlockStmt *block, Conflict *conflict);
bool conflict_inits_lost(Context *ctx, const Func *before, const Func *after, const Block *block, bool may_gain, Conflict *conflict);
bool conflict_init_early(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict);
bool shown_serves_all_points(Context *ctx, const Func *func, const Block *block);
bool shown_runs_over_domain(Context *ctx, const Func *func, const Block *block, Conflict *conflict);
bool shown_runs_once(Context *ctx, const Func *func, const Block *block, const Var *var);
/* BLOCK is a recognized reduction with an init. Instances that differ in a spatial axis never touch one element of the target: the init of
   one leaves the sum of the other alone. */
bool shown_tells_points_apart(Context *ctx, const Func *func, const Block *block, Conflict *conflict);
Verdict check_claims_of_block(const ClaimSet *set, const Stmt *block_stmt, Conflict *conflict);
/* A comes before B, the outermost COMMON loops agreeing, and both touch one element; or possibly so. CONFLICT tells where. */
bool access_comes_before(Context *ctx, const Access *a, const Access *b, const Map *sizes, int common, Conflict *conflict);

#endif
