/* cache_write: a block writes into a buffer of another storage scope, from which a new block copies to the old one.

   Before, cache_write(B, 0, "local")       After
     for i in range(128):                     B_local = T.alloc_buffer((128,), scope="local")
         with T.block("B"): B[vi] = ...       for i in range(128):
                                                  with T.block("B"): B_local[vi] = ...
                                              for ax0 in range(128):
                                                  with T.block("B_local"): B[v0] = B_local[v0]

   The copy stands before the first later reader of the buffer, or of another that the block writes, as deep as it shares loops with the
   block; at the end of the scope without one. The blocks of consumer_blocks read the new buffer too. What must hold: the block is the only
   one that writes the buffer, and does not read what was in it before; the copied elements are all written, so that nothing else of the
   buffer changes; no earlier block of the same loops waits for the written values. */
#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/cache/cache.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/scope.h"

static bool check_writer(Schedule *sch, const CachePlan *plan)
{
    const BlockStmt *block = node_block(plan->writer);
    if (regions_repeat(block->writes, block->write_count, plan->buffer)) {
        sched_refuse(sch, "block '%s' declares to write several regions of '%s', so there is no one region to copy", block->block->name,
                     plan->buffer->name);
    } else if ((regions_find(block->reads, block->read_count, plan->buffer) || stmt_itself_uses_buffer(plan->writer->stmt, plan->buffer) ||
                cache_block_reads(sch, plan->writer, plan->buffer)) &&
               !answer_is_shown(dependence_reads_own_writes(sch->ctx, schedule_func(sch), block->block, plan->buffer))) {
        sched_refuse(sch, "block '%s' reads '%s' before it writes it: in the new buffer it would find nothing", block->block->name,
                     plan->buffer->name);
    } else {
        return check_inits_set_reads(sch, plan->writer, plan->buffer) && check_inner_reduces_in_scope(sch, plan->writer);
    }
    return sched_note_node(sch, plan->writer);
}

static bool is_listed(const TreeNode *node, const TreeNode *const *listed, int count)
{
    for (int i = 0; i < count; i++)
        if (listed[i] == node)
            return true;
    return false;
}

/* A reader before the writer in the program sees what earlier iterations of a loop around both wrote; the copy would come too late for
   it. */
static bool check_no_earlier_reader(Schedule *sch, const CachePlan *plan, const TreeNode *reader)
{
    if (!cache_shared_loop(sch, plan, reader))
        return true;
    sched_refuse(sch,
                 "block '%s' comes before block '%s' in the same loop and reads '%s': it may read what an earlier iteration wrote, which "
                 "would still be in the copy",
                 node_name(reader), node_name(plan->writer), plan->buffer->name);
    return sched_note_node(sch, reader);
}

/* The first member but those listed that reads something that the writer makes, or NULL. */
static const TreeNode *first_waiting(Schedule *sch, const CachePlan *plan, const TreeNode *const *listed, int listed_count)
{
    int count;
    const TreeNode **consumers = scope_consumers(sch, plan->writer, DEPENDS_RAW, &count);
    for (int i = 0; i < count; i++)
        if (!is_listed(consumers[i], listed, listed_count))
            return consumers[i];
    return NULL;
}

bool cache_find_write_users(Schedule *sch, CachePlan *plan, const Value *consumers)
{
    const TreeNode **listed = NULL;
    int listed_count, reader_count;
    if (!cache_listed_consumers(sch, plan, consumers, &listed, &listed_count))
        return false;
    plan->users = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, listed_count + 1);
    plan->users[plan->user_count++] = plan->writer;
    for (int i = 0; i < listed_count; i++)
        if (listed[i] != plan->writer)
            plan->users[plan->user_count++] = listed[i];

    VEC(const TreeNode *) related = {0};
    const TreeNode **readers = scope_readers(sch, plan->scope, plan->buffer, &reader_count);
    for (int i = 0; i < reader_count; i++) {
        if (readers[i] == plan->writer || is_listed(readers[i], listed, listed_count))
            continue;
        if (readers[i] > plan->writer) /* nodes lie in program order */
            vec_push(sch->ctx->arena, &related, readers[i]);
        else if (!check_no_earlier_reader(sch, plan, readers[i]))
            return false;
    }
    return cache_place_behind_writer(sch, plan, related.data, related.count, first_waiting(sch, plan, listed, listed_count));
}

/* Until the copy brings back what the writer wrote no call may look for it. */
static bool check_no_fence_before_copy(Schedule *sch, const CachePlan *plan)
{
    return check_no_fence_between(sch, plan->buffer, true, plan->writer, plan->anchor, plan->after);
}

bool primitive_cache_write(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    int index = block ? query_buffer_index(sch, block, &args[1], true) : -1;
    if (index < 0)
        return false;
    CachePlan plan;
    if (!cache_begin(sch, &plan, block, node_block(block)->writes[index].buffer, &args[2]) || !cache_find_writer(sch, &plan) ||
        !check_writer(sch, &plan) || !cache_find_write_users(sch, &plan, &args[3]))
        return false;
    cache_copy_written(sch, &plan);
    bool ok = check_copy_is_written(sch, &plan) && check_no_fence_before_copy(sch, &plan) && check_users_can_redirect(sch, &plan) && check_strays_find_copy(sch, &plan);
    for (int i = 1; i < plan.user_count && ok; i++)
        ok = check_user_is_served(sch, &plan, plan.users[i]);
    if (!ok)
        return false;
    const Block *writer = node_block(plan.writer)->block;
    Block *copy = cache_apply(sch, &plan, false);
    *result = value_block(copy);
    /* what the writer wrote and nobody read may be read by the copy now */
    return check_concurrent_loops_around(sch, schedule_find_block(sch, copy)) &&
           check_concurrent_loops_around(sch, schedule_find_block(sch, writer));
}
