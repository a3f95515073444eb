/* compute_inline: a block disappears into those that use what it computes.

   Before, compute_inline(B)                After
     for i in range(8):                       for i in range(8):
         with T.block("B"):                       with T.block("C"):
             B[v] = f(A[v])                           C[v] = g(f(A[v]))
     for i in range(8):
         with T.block("C"):
             C[v] = g(B[v])

   Legal when
   - the block computes each element of its buffer by one store, whose expression has no effects;
   - the map from its axes to the indices of the store is injective. Axes that loops around both blocks give may be missing in the indices
     where each iteration of these loops computes all that it reads;
   - only the consumers use the buffer, and they read no element that the block does not compute;
   - the inputs of an instance are not written between this instance and the reads of its result.
   A block whose result nobody reads goes away alone. */
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/coverage.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/move/inline.h"

/* An instance of FROM writes DATA, and an instance of UNTIL reads the value. The number, from outside, of the first loop around FROM in
   which their iterations may differ. */
static int moving_from(Schedule *sch, const TreeNode *from, const TreeNode *until, const Var *data)
{
    Answer answer = dependence_serves_each_iteration(sch->ctx, schedule_func(sch), node_block(from)->block, node_block(until)->block, data);
    return answer_is_shown(answer) ? inline_common_loops(sch, from, until) : 0;
}

/* The same as check_inputs_stay for the statements of the scope that are in no member. */
static bool check_no_loose_write(Schedule *sch, const TreeNode *from, const BlockPair *pair, const Var *data)
{
    Answer answer = dependence_no_loose_between(sch->ctx, schedule_func(sch), pair, data, node_block(schedule_scope(sch, from))->block);
    return answer_is_shown(answer) ||
           refuse_by_answer(sch, answer, "a statement outside of the blocks writes what block '%s' reads before block '%s' runs", pair->from->name,
                            pair->until->name);
}

/* What FROM reads is the same where UNTIL reads the result: no member, UNTIL included, writes it on the way, but for what it writes there
   again. */
static bool check_inputs_stay(Schedule *sch, const TreeNode *from, const TreeNode *until, const Buffer *buffer)
{
    int count;
    const Func *func = schedule_func(sch);
    const TreeNode **members = schedule_child_blocks(sch, schedule_scope(sch, from), &count);
    const LoopMembers loop = inline_loop_members(sch, from, inline_common_loops(sch, from, until));
    const BlockPair pair = {node_block(from)->block, node_block(until)->block, true};
    const Var *data = buffer_viewed(func, buffer)->data;
    for (int i = 0; i < count; i++) {
        const TreeNode *writer = members[i];
        const Block *block = node_block(writer)->block;
        if (writer == from)
            continue;
        Answer answer = dependence_none_between(sch->ctx, func, &pair, data, block);
        bool repeats = writer != until && inline_common_loops(sch, writer, from) > inline_common_loops(sch, from, until);
        if (answer_is_shown(answer) || (repeats && inline_writes_the_same(&loop, writer, moving_from(sch, from, until, data))))
            continue;
        if (writer == until)
            return refuse_by_answer(sch, answer, "block '%s' would overwrite what it still has to read for the other block", block->name);
        refuse_by_answer(sch, answer, "block '%s' writes what block '%s' reads before block '%s' runs", block->name, pair.from->name,
                         pair.until->name);
        return sched_note_node(sch, writer);
    }
    return check_no_loose_write(sch, from, &pair, data);
}

static bool check_producer(Schedule *sch, const TreeNode *node, const Stmt **store)
{
    if (!check_block_has_scope(sch, node) || !check_complete_block(sch, node) || !(*store = inline_single_store(sch, node)))
        return false;
    return inline_check_intermediate(sch, node, (*store)->as.store.buffer) && inline_check_no_effects(sch, node, (*store)->as.store.value);
}

/* The innermost of the loops in VARS (innermost first, COUNT of them) that is still there; NULL without one. What it holds uses memory in
   other ways now that a block has left it. */
static const TreeNode *remaining_loop(Schedule *sch, Var *const *vars, int count)
{
    const TreeNode *loop = NULL;
    for (int i = 0; i < count && !loop; i++)
        loop = schedule_find_loop(sch, vars[i]);
    return loop;
}

/* BLOCK writes all of BUFFER, each element under the axes that are its indices. */
static bool fills_buffer(Schedule *sch, const BlockStmt *block, const Stmt *store)
{
    Analyzer *an = analyzer_new(sch->ctx);
    const Buffer *buffer = store->as.store.buffer;
    for (int d = 0; d < buffer->ndim; d++) {
        int axis = 0;
        while (axis < block->iter_count && !expr_is_var(store->as.store.indices[d], block->iters[axis].var))
            axis++;
        if (axis == block->iter_count || !expr_is_int(block->iters[axis].domain.min, 0) ||
            !analyzer_prove_equal(an, block->iters[axis].domain.extent, buffer->shape[d]))
            return false;
    }
    return answer_is_shown(dependence_runs_over_domain(sch->ctx, schedule_func(sch), block->block));
}

/* An element that the block does not compute has no value to put in its place, and what it is computed from may not exist. */
static bool check_reads_are_computed(Schedule *sch, const TreeNode *node, const Stmt *store)
{
    const Buffer *buffer = store->as.store.buffer;
    if (fills_buffer(sch, node_block(node), store))
        return true;
    Answer answer = coverage_all_reads_written(sch, node, buffer, schedule_scope(sch, node));
    if (answer_is_shown(answer))
        return true;
    if (answer.verdict == ANSWER_REFUTED)
        sched_refuse(sch, "block '%s' does not compute all that is read of '%s': not %s", node_name(node), buffer->name, answer.text);
    else
        sched_refuse(sch, "that block '%s' computes all that is read of '%s' cannot be shown: %s", node_name(node), buffer->name, answer.text);
    sched_note(sch, store->span, "it is computed here");
    return false;
}

bool primitive_compute_inline(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *node = schedule_block(sch, args[0].as.block);
    const Stmt *store;
    if (!node || !check_producer(sch, node, &store))
        return false;
    const TreeNode *scope = schedule_scope(sch, node);
    Buffer *buffer = store->as.store.buffer;
    int count;
    const TreeNode **consumers = scope_consumers(sch, node, DEPENDS_RAW, &count);
    const TreeNode **users = ARENA_ARRAY(sch->ctx->arena, const TreeNode *, count + 1);
    users[count] = node;
    for (int i = 0; i < count; i++) {
        users[i] = consumers[i];
        if (!check_inputs_stay(sch, node, consumers[i], buffer))
            return false;
    }
    if (!inline_check_only_used_by(sch, scope, buffer, users, count + 1))
        return false;
    Map replace = {0};
    for (int i = 0; i < count; i++) {
        const Stmt *stmt = inline_into_consumer(sch, node, store, consumers[i]);
        if (!stmt)
            return false;
        map_set(sch->ctx->arena, &replace, consumers[i]->stmt, (void *)stmt);
    }
    if (!check_reads_are_computed(sch, node, store))
        return false;
    int around;
    const TreeNode **loops = schedule_loops_around(sch, node, &around);
    Var **left = ARENA_ARRAY(sch->ctx->arena, Var *, around);
    for (int i = 0; i < around; i++)
        left[i] = node_loop(loops[around - 1 - i])->var;
    const Block **blocks = ARENA_ARRAY(sch->ctx->arena, const Block *, count);
    for (int i = 0; i < count; i++)
        blocks[i] = node_block(consumers[i])->block;
    sched_replace(sch, scope->stmt, inline_rebuild_scope(sch, scope, node, buffer, &replace));
    bool ok = inline_check_not_named(sch, buffer) && check_concurrent_loops_around(sch, remaining_loop(sch, left, around));
    for (int i = 0; i < count && ok; i++)
        ok = check_concurrent_loops_around(sch, schedule_find_block(sch, blocks[i]));
    return ok;
}

