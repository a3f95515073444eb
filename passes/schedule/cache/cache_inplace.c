/* cache_inplace: a block that updates a buffer in place works on a copy of it, which is made right before the block and copied back right behind it.

   Before, cache_inplace("A", 0, "local")   After
     for i in range(8):                       B_local = T.alloc_buffer((8,), scope="local")
         with T.block("A"):                   for i in range(8):
             vi = ...                             with T.block("B_local"): B_local[v0] = B[v0]
             B[vi] = B[vi] + 1                    with T.block("A"): B_local[vi] = B_local[vi] + 1
                                                  with T.block("B_local"): B[v0] = B_local[v0]

   Where the copy back may run again for the same elements, it gets an opaque axis for each loop around it.
   Nothing runs between the copies but the block, so the order to other statements stays. What must hold: the block declares one region of the
   buffer that it reads and one that it writes; the copy back takes only what the first copy holds or the block has stored; and where both lie is
   read from no memory, for the block could change it in between; and an init runs only where the block does. */
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/cache/cache.h"

#include "ir/walk.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/scope.h"

static bool refuse_block(Schedule *sch, const TreeNode *block, const char *why, const Buffer *buffer)
{
    const char *name = node_name(block);
    sched_refuse(sch, "block '%s' %s '%s'", name, why, buffer->name);
    return sched_note_node(sch, block);
}

/* REGION of the block in terms of the loops around it, in *BOUND; false after a refusal. */
static bool bound_region(Schedule *sch, const CachePlan *plan, const Region *region, Region *bound)
{
    *bound = loops_bound_region(sch, plan->writer, *region);
    for (int d = 0; d < plan->buffer->ndim; d++)
        if (!expr_is_pure(bound->ranges[d].min) || !expr_is_pure(bound->ranges[d].extent))
            return refuse_block(sch, plan->writer, "finds in memory, which it may change, where it works in", plan->buffer);
    return true;
}

/* The region INNER lies in OUTER, whenever the block runs. */
static bool lies_in(Schedule *sch, const CachePlan *plan, const Region *inner, const Region *outer)
{
    Context *ctx = sch->ctx;
    Analyzer *an = loops_context(sch, plan->anchor);
    if (plan->condition)
        analyzer_assume(an, plan->condition);
    for (int d = 0; d < plan->buffer->ndim; d++) {
        Range in = inner->ranges[d], out = outer->ranges[d];
        if (!analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LE, out.min, in.min)) ||
            !analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LE, op_add(ctx, in.min, in.extent), op_add(ctx, out.min, out.extent))))
            return false;
    }
    return true;
}

/* The first copy reads what was in the buffer before the block ran. A block around may declare that nothing of it reads that, where the block
   reads what it has written itself. */
static bool check_reads_are_declared(Schedule *sch, const CachePlan *plan)
{
    for (const TreeNode *node = plan->scope; node; node = schedule_parent(sch, node)) {
        const BlockStmt *block = node->stmt->kind == STMT_BLOCK ? node_block(node) : NULL;
        if (block && !block->init && regions_find(block->writes, block->write_count, plan->buffer) &&
            !regions_find(block->reads, block->read_count, plan->buffer))
            return sched_refuse(sch, "the first copy would read elements of '%s' that block '%s' around it does not declare to read",
                                plan->buffer->name, block->block->name);
    }
    return true;
}

/* Settles what both copies take; false after a refusal. */
static bool plan_copies(Schedule *sch, CachePlan *in, CachePlan *out)
{
    const BlockStmt *block = node_block(in->writer);
    const Region *read = regions_find_only(block->reads, block->read_count, in->buffer);
    const Region *written = regions_find_only(block->writes, block->write_count, in->buffer);
    Region read_region, written_region;
    if (!regions_find(block->writes, block->write_count, in->buffer))
        return refuse_block(sch, in->writer, "reads but does not write", in->buffer);
    if (!read || !written)
        return refuse_block(sch, in->writer, "declares several regions of", in->buffer);
    if (stmt_itself_uses_buffer(in->writer->stmt, in->buffer))
        return refuse_block(sch, in->writer, "finds out by reading it whether or where it works in", in->buffer);
    if (!bound_region(sch, in, read, &read_region) || !bound_region(sch, in, written, &written_region))
        return false;
    if (!expr_is_int(block->predicate, 1))
        in->condition = block->predicate;
    cache_copy_region(sch, in, read_region);
    *out = *in;
    out->after = true;
    cache_copy_region(sch, out, written_region);
    out->cache = in->cache;
    return lies_in(sch, in, &written_region, &read_region) || cache_writer_stores_region(sch, in) ||
           refuse_block(sch, in->writer, "declares to write more than it reads or is shown to store of", in->buffer);
}

/* An init runs for each point, also for one without an update: there no copy would be made. */
static bool check_init_runs_with_copies(Schedule *sch, const TreeNode *block)
{
    const Block *symbol = node_block(block)->block;
    if (!node_block(block)->init || answer_is_shown(dependence_serves_all_points(sch->ctx, schedule_func(sch), symbol)))
        return true;
    sched_refuse(sch, "block '%s' may have points without an update: its init would run, but no copy be made; decompose_reduction first", symbol->name);
    sched_note(sch, block->stmt->span, "block '%s' is here", symbol->name);
    return false;
}

bool primitive_cache_inplace(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    int index = block ? query_buffer_index(sch, block, &args[1], false) : -1;
    if (index < 0)
        return false;
    CachePlan in, out;
    if (!cache_begin(sch, &in, block, node_block(block)->reads[index].buffer, &args[2]))
        return false;
    in.writer = in.anchor = block;
    in.users = &block;
    in.user_count = 1;
    if (!check_no_fence(sch, &in, block) || !check_init_runs_with_copies(sch, block) || !check_reads_are_declared(sch, &in) || !plan_copies(sch, &in, &out) ||
        !check_users_can_redirect(sch, &in))
        return false;
    Block *copies[2];
    const Block *symbol = node_block(block)->block;
    cache_apply_around(sch, &in, &out, &copies[0], &copies[1]);
    cache_tell_runs_apart(sch, copies[1], in.buffer->ndim);
    Value handles[] = {value_block(copies[0]), value_block(copies[1])};
    *result = value_list(sch->ctx, handles, 2);
    return check_concurrent_loops_around(sch, schedule_find_block(sch, symbol)) &&
           check_concurrent_loops_around(sch, schedule_find_block(sch, copies[0])) &&
           check_concurrent_loops_around(sch, schedule_find_block(sch, copies[1]));
}
