/* The questions of dependence.h, each with its entry in the record for --explain. */
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/prove/explain.h"
#include "passes/analysis/questions/conflict.h"

/* CONFLICTS: there is the CONFLICT, or may be. */
static Answer answer_of(bool conflicts, const Conflict *conflict)
{
    if (!conflicts)
        return answer_shown();
    Answer answer = conflict->witnessed ? answer_refuted(conflict->text) : answer_unknown(conflict->text);
    answer.first = conflict->first;
    answer.second = conflict->second;
    return answer;
}

static Asking ask_of_block(Context *ctx, Query query, const Block *block)
{
    return query_begin(ctx, query, "block", block->name);
}

static Asking ask_of_loop(Context *ctx, Query query, const Var *var)
{
    return query_begin(ctx, query, "loop", var->name);
}

Answer dependence_independent(Context *ctx, const Func *func, const Var *var, RunMode mode)
{
    AccessList accesses = access_collect(ctx, func);
    return dependence_independent_among(ctx, func, &accesses, var, mode);
}

Answer dependence_independent_among(Context *ctx, const Func *func, const AccessList *accesses, const Var *var, RunMode mode)
{
    Conflict conflict;
    Asking asking = ask_of_loop(ctx, QUERY_INDEPENDENT, var);
    return query_end(asking, answer_of(conflict_carried(ctx, func, accesses, var, mode, &conflict), &conflict));
}

Answer dependence_ignores_loop(Context *ctx, const Func *func, const Var *inner, const Var *outer)
{
    Asking asking = ask_of_loop(ctx, QUERY_IGNORES_LOOP, inner);
    bool needs = conflict_needs_loop(ctx, func, inner, outer);
    return query_end(asking, needs ? answer_unknown("an index, condition or extent uses the outer loop") : answer_shown());
}

Answer dependence_threads_independent(const KernelSet *set, const Stmt *stmt, Str *tag)
{
    Conflict conflict;
    Asking asking = ask_of_loop(set->ctx, QUERY_KERNEL, stmt->as.loop.var);
    return query_end(asking, answer_of(conflict_in_kernel(set, stmt, tag, &conflict), &conflict));
}

Answer dependence_is_private(Context *ctx, const AccessList *accesses, const Map *sizes, const Var *data, const Var *var)
{
    Asking asking = query_begin(ctx, QUERY_PRIVATE, "buffer", data->name);
    return query_end(asking, answer_if(shown_is_private(ctx, accesses, sizes, data, var)));
}

Answer dependence_order_kept(Context *ctx, const Func *before, const Stmt *old_part, const Func *after, const Stmt *new_part,
                             const Var *innermost)
{
    Conflict conflict;
    Asking asking = query_begin(ctx, QUERY_ORDER, "function", before->name);
    return query_end(asking, answer_of(conflict_reordered(ctx, before, old_part, after, new_part, innermost, &conflict), &conflict));
}

Answer dependence_producer_may_move(Context *ctx, const Func *before, const Func *after, const Block *block)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_PRODUCER, block);
    return query_end(asking, answer_of(conflict_moved_producer(ctx, before, after, block, &conflict), &conflict));
}

Answer dependence_consumer_may_move(Context *ctx, const Func *before, const Func *after, const Block *block)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_CONSUMER, block);
    return query_end(asking, answer_of(conflict_moved_consumer(ctx, before, after, block, &conflict), &conflict));
}

Answer dependence_none_between(Context *ctx, const Func *func, const BlockPair *pair, const Var *data, const Block *middle)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_NONE_BETWEEN, middle);
    AccessList accesses = access_collect_inside(ctx, func, middle);
    return query_end(asking, answer_of(conflict_comes_between(ctx, func, pair, data, &accesses, &conflict), &conflict));
}

Answer dependence_no_loose_between(Context *ctx, const Func *func, const BlockPair *pair, const Var *data, const Block *scope)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_NONE_BETWEEN, scope);
    AccessList accesses = access_collect_loose(ctx, func, scope);
    return query_end(asking, answer_of(conflict_comes_between(ctx, func, pair, data, &accesses, &conflict), &conflict));
}

Answer dependence_serves_each_iteration(Context *ctx, const Func *func, const Block *from, const Block *until, const Var *data)
{
    Asking asking = ask_of_block(ctx, QUERY_SERVES_ITERATION, from);
    return query_end(asking, answer_if(shown_serves_each_iteration(ctx, func, from, until, data)));
}

Answer dependence_reads_in_time(Context *ctx, const Func *func, const Block *block, int common, const Var *own)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_READS_IN_TIME, block);
    return query_end(asking, answer_of(conflict_reads_late(ctx, func, block, common, own, &conflict), &conflict));
}

Answer dependence_adds_none(Context *ctx, const Func *before, const Func *after, const Block *block)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_NONE_ADDED, block);
    return query_end(asking, answer_of(conflict_adds_instances(ctx, before, after, block, &conflict), &conflict));
}

Answer dependence_loses_none(Context *ctx, const Func *before, const Func *after, const Block *block)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_NONE_LOST, block);
    return query_end(asking, answer_of(conflict_loses_instances(ctx, before, after, block, &conflict), &conflict));
}

Answer dependence_serves_all_points(Context *ctx, const Func *func, const Block *block)
{
    Asking asking = ask_of_block(ctx, QUERY_SERVES_POINTS, block);
    return query_end(asking, answer_if(shown_serves_all_points(ctx, func, block)));
}

Answer dependence_runs_over_domain(Context *ctx, const Func *func, const Block *block)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_WHOLE_DOMAIN, block);
    return query_end(asking, answer_of(!shown_runs_over_domain(ctx, func, block, &conflict), &conflict));
}

Answer dependence_instances_served(Context *ctx, const Func *func, const Block *producer, const Block *consumer)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_INSTANCES_SERVED, consumer);
    return query_end(asking, answer_of(conflict_leaves_instances(ctx, func, producer, consumer, &conflict), &conflict));
}

Answer dependence_runs_once(Context *ctx, const Func *func, const Block *block, const Var *var)
{
    Asking asking = ask_of_block(ctx, QUERY_RUNS_ONCE, block);
    return query_end(asking, answer_if(shown_runs_once(ctx, func, block, var)));
}

Answer dependence_not_overwritten(Context *ctx, const Func *func, const Block *reader, const Block *writer)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_NOT_OVERWRITTEN, reader);
    return query_end(asking, answer_of(conflict_overwrites(ctx, func, reader, writer, &conflict), &conflict));
}

Answer dependence_memory_apart(Context *ctx, const Func *func, const Block *block, const Block *other, const Var *except)
{
    Asking asking = ask_of_block(ctx, QUERY_MEMORY_APART, block);
    bool shares = conflict_shares_memory(ctx, func, block, other, except);
    return query_end(asking, shares ? answer_unknown("both use one buffer") : answer_shown());
}

Answer dependence_reads_own_writes(Context *ctx, const Func *func, const Block *block, const Buffer *buffer)
{
    Asking asking = ask_of_block(ctx, QUERY_READS_OWN, block);
    return query_end(asking, answer_if(shown_reads_own_writes(ctx, func, block, buffer)));
}

Answer dependence_init_may_move(Context *ctx, const Func *func, const BlockStmt *block, const Var *var)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_INIT_MOVES, block->block);
    return query_end(asking, answer_of(conflict_init_moved(ctx, func, block, var, &conflict), &conflict));
}

Answer dependence_points_apart(Context *ctx, const Func *func, const BlockStmt *block)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_POINTS_APART, block->block);
    return query_end(asking, answer_of(conflict_points_share(ctx, func, block, &conflict), &conflict));
}

Answer dependence_inits_kept(Context *ctx, const Func *before, const Func *after, const Block *block, bool may_gain)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_INITS_KEPT, block);
    return query_end(asking, answer_of(conflict_inits_lost(ctx, before, after, block, may_gain, &conflict), &conflict));
}

Answer dependence_init_in_time(Context *ctx, const Func *before, const Func *after, const Block *block)
{
    Conflict conflict;
    Asking asking = ask_of_block(ctx, QUERY_INIT_IN_TIME, block);
    return query_end(asking, answer_of(conflict_init_early(ctx, before, after, block, &conflict), &conflict));
}

Answer dependence_claims_hold(const ClaimSet *set, const Stmt *block_stmt)
{
    Conflict conflict;
    Asking asking = ask_of_block(set->ctx, QUERY_CLAIMS, block_stmt->as.block.block);
    Verdict verdict = check_claims_of_block(set, block_stmt, &conflict);
    Answer answer = answer_of(verdict != ANSWER_SHOWN, &conflict);
    answer.verdict = verdict;
    return query_end(asking, answer);
}

const Access *dependence_reads_target_apart(Context *ctx, const Func *func, const Block *block)
{
    AccessList accesses = access_collect(ctx, func);
    Map targets = {0};
    for (int i = 0; i < accesses.count; i++)
        if (accesses.data[i].write && accesses.data[i].data && access_in_block(&accesses.data[i], block))
            map_set(ctx->arena, &targets, accesses.data[i].data, accesses.data[i].data);
    for (int i = 0; i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        bool apart = access->data && map_has(&targets, access->data) && !access->group;
        if ((apart || access->fence) && access_in_block(access, block))
            return arena_copy(ctx->arena, access, sizeof *access);
    }
    return NULL;
}
