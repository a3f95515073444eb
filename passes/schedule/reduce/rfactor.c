/* rfactor: a reduction over a loop becomes two: partial results, one for each iteration of the loop, and their combination.

   Before, rfactor(k1, 0)                                After
     for i, k0, k1 in T.grid(64, 8, 8):                    for i, k0, k1 in T.grid(64, 8, 8):
         with T.block("C"):                                    with T.block("C_rf"):
             vi = T.axis.spatial(64, i)                            vk1, vi, vk0 = T.axis.remap("SSR", [k1, i, k0])
             vk = T.axis.reduce(64, k0 * 8 + k1)                   with T.init():
             with T.init():                                            C_rf[vk1, vi] = 0
                 C[vi] = 0                                         C_rf[vk1, vi] = C_rf[vk1, vi] + A[vi, vk0 * 8 + vk1]
             C[vi] = C[vi] + A[vi, vk]                     for i, k1 in T.grid(64, 8):
                                                               with T.block("C"):
                                                                   vk1, vi = T.axis.remap("RS", [k1, i])
                                                                   with T.init():
                                                                       C[vi] = 0
                                                                   C[vi] = C[vi] + C_rf[vk1, vi]
   The loop is parallel in the first block. Both blocks keep the annotations. Loops further out may hold other
   statements, which must not write what the block reads: the partial results are computed in front of the outermost one.
   Legal for recognized reductions, however the update is written (sum, product, min, max, and, or,
   bitwise operations, argmin, argmax, two sums side by side), whose updates may be regrouped; for sums, products and bitwise_xor the init
   must be neutral, since it now takes part several times. Every partial result that is combined must have been started: where a T.where
   leaves out all updates of some, as in k0 * 8 + k1 < n with n < 8, those are not combined (T.where(k1 < n) on the second block). */
#include <string.h>

#include "passes/regions/infer_regions.h"
#include "ir/walk.h"
#include "passes/analysis/model/reduction.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/coverage.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/check/ties.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/reduce/rfactor_internal.h"
#include "print/print.h"

/* --- checks --- */

static bool refuse_at(Factoring *f, const TreeNode *node)
{
    sched_note(f->sch, node->stmt->span, "%s is here", node_words(f->sch, node));
    return false;
}

bool rfactor_loop_is_used(const BlockStmt *block, const Var *var, IterKind kind)
{
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == kind && expr_uses_var(block->bindings[i], var))
            return true;
    return false;
}

static bool check_loop(Factoring *f)
{
    const ForStmt *loop = node_loop(f->loop);
    const BlockStmt *block = node_block(f->block);
    if (loop->kind != FOR_SERIAL) {
        sched_refuse(f->sch, "loop '%s' must be a plain serial loop", loop->var->name);
        return refuse_at(f, f->loop);
    }
    bool counts = rfactor_loop_is_used(block, loop->var, ITER_REDUCE) || expr_is_int(loop->extent, 1);
    if (rfactor_loop_is_used(block, loop->var, ITER_SPATIAL) || !counts) {
        sched_refuse(f->sch, "loop '%s' must be bound to reduce axes of block '%s' only", loop->var->name, block->block->name);
        return refuse_at(f, f->loop);
    }
    for (int i = 0; i < f->loop_count; i++) {
        const Var *var = node_loop(f->loops[i])->var;
        bool spatial = rfactor_loop_is_used(block, var, ITER_SPATIAL), reduce = rfactor_loop_is_used(block, var, ITER_REDUCE);
        if (spatial && reduce) {
            sched_refuse(f->sch, "loop '%s' is bound to spatial and reduce axes of block '%s'", var->name, block->block->name);
            return refuse_at(f, f->loops[i]);
        }
        if (!spatial && !reduce && !expr_is_int(node_loop(f->loops[i])->extent, 1)) {
            sched_refuse(f->sch, "loop '%s' is bound to no axis of block '%s', which it repeats", var->name, block->block->name);
            return refuse_at(f, f->loops[i]);
        }
    }
    return check_bounds_of_nest_are_kept(f->sch, f->loops, f->loop_count, f->loops[0]->stmt);
}

/* The stores of the init, one for each target in the order of the targets; false when it is something else. */
static bool init_stores(const Factoring *f, const Stmt **stores)
{
    const Stmt *init = node_block(f->block)->init;
    int count = init->kind == STMT_SEQ ? init->as.seq.count : 1;
    if (count != f->reduction->target_count)
        return false;
    for (int t = 0; t < count; t++) {
        stores[t] = NULL;
        for (int i = 0; i < count; i++) {
            const Stmt *store = init->kind == STMT_SEQ ? init->as.seq.items[i] : init;
            if (store->kind == STMT_STORE && store->as.store.buffer == f->reduction->targets[t])
                stores[t] = store;
        }
        if (!stores[t])
            return false;
    }
    return reduction_starts_targets(f->reduction, node_block(f->block));
}

/* The new blocks say what they write in terms of the targets, which views that the block defines cannot be outside of it. */
static bool check_targets_are_no_views(Factoring *f)
{
    const BlockStmt *block = node_block(f->block);
    for (int t = 0; t < f->reduction->target_count; t++) {
        const Buffer *target = f->reduction->targets[t];
        if (regions_find(block->writes, block->write_count, target))
            continue;
        sched_refuse(f->sch, "block '%s' updates '%s', a match_buffer view of its own, which the block that combines partial results lacks",
                     block->block->name, target->name);
        return refuse_at(f, f->block);
    }
    return true;
}

/* What is combined in must not depend on the results, under no name. */
static bool check_operands_read_no_target(Factoring *f)
{
    Schedule *sch = f->sch;
    const Access *read = dependence_reads_target_apart(sch->ctx, schedule_func(sch), node_block(f->block)->block);
    if (!read)
        return true;
    if (read->fence) {
        sched_refuse(sch,
                     "block '%s' calls what may read its results: partial results would give it other values; T.reads and T.writes say "
                     "what a call touches",
                     node_name(f->block));
        sched_note(sch, read->span, "it is called here");
        return false;
    }
    sched_refuse(sch, "block '%s' combines in what it reads of '%s', where its results are: partial results would read other values",
                 node_name(f->block), read->buffer->name);
    sched_note(sch, read->span, "it is read here");
    return false;
}

static bool check_reduction(Factoring *f)
{
    Schedule *sch = f->sch;
    const BlockStmt *block = node_block(f->block);
    const Stmt *stores[MOST_REDUCED], *body = block->body;
    f->reduction = reduction_recognize(sch->ctx, block);
    if (!f->reduction || body->kind == STMT_FOR || body->kind == STMT_BLOCK) {
        sched_refuse(sch,
                     "the update of block '%s' is none that may be regrouped: sum, product, min, max, and, or, a bitwise operation, argmin "
                     "or argmax into one element, or two sums",
                     block->block->name);
        return refuse_at(f, f->block);
    }
    if (!check_targets_are_no_views(f))
        return false;
    if (!init_stores(f, stores)) {
        sched_refuse(sch, "the init of block '%s' must store one value to each target of the reduction", block->block->name);
        return refuse_at(f, f->block);
    }
    if (!check_operands_read_no_target(f))
        return false;
    bool needs_neutral = reduction_counts_repeats(f->reduction->kind);
    for (int t = 0; t < f->reduction->target_count; t++) {
        const Expr *value = stores[t]->as.store.value, *neutral = reduction_identity(sch->ctx, f->reduction->kind, value->dtype);
        if (!needs_neutral || expr_equal(value, neutral))
            continue;
        sched_refuse(sch, "the init of block '%s' is %s; a %s can be regrouped only when it starts from %s", block->block->name,
                     print_expr(sch->ctx, value), reduction_name(f->reduction->kind), print_expr(sch->ctx, neutral));
        return refuse_at(f, f->block);
    }
    return true;
}

static bool check_axis(Factoring *f, const Value *argument)
{
    int64_t axis = argument->as.integer;
    for (int t = 0; t < f->reduction->target_count; t++) {
        const Buffer *target = f->reduction->targets[t];
        int ndim = target->ndim;
        if (axis < -(ndim + 1) || axis > ndim)
            return sched_refuse_argument(f->sch, argument, "factor_axis is %lld; it must be between %d and %d, since '%s' has %d dimension%s",
                                         (long long)axis, -(ndim + 1), ndim, target->name, ndim, ndim == 1 ? "" : "s");
    }
    f->axis = (int)axis;
    return true;
}

/* Which dimension of the partial results for a target of NDIM dimensions the loop becomes. */
static int factor_dimension(const Factoring *f, int ndim)
{
    return f->axis < 0 ? f->axis + ndim + 1 : f->axis;
}

/* --- the partial results --- */

static void make_buffers(Factoring *f)
{
    Context *ctx = f->sch->ctx;
    for (int t = 0; t < f->reduction->target_count; t++) {
        const Buffer *target = f->reduction->targets[t];
        const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, target->ndim + 1);
        int factored = factor_dimension(f, target->ndim);
        for (int d = 0; d <= target->ndim; d++)
            shape[d] = d == factored ? node_loop(f->loop)->extent : target->shape[d - (d > factored)];
        f->partial[t] = buffer_new(ctx, context_internf(ctx, "%s.rf", target->name), target->dtype, target->ndim + 1, shape, target->scope,
                                   f->sch->call_span);
    }
}

/* INDICES of a target with that of the partial result inserted. */
const Expr **rfactor_indices(Factoring *f, const Expr *const *indices, int count, const Expr *lane)
{
    const Expr **result = ARENA_ARRAY(f->sch->ctx->arena, const Expr *, count + 1);
    int factored = factor_dimension(f, count);
    for (int d = 0; d <= count; d++)
        result[d] = d == factored ? lane : indices[d - (d > factored)];
    return result;
}

static int target_index(const Factoring *f, const Buffer *buffer)
{
    for (int t = 0; t < f->reduction->target_count; t++)
        if (f->reduction->targets[t] == buffer)
            return t;
    return -1;
}

/* --- the block of partial results --- */

typedef struct {
    Factoring *f;
    const Expr *lane;
} Redirect;

static const Expr *redirect_expr(Rewriter *rewriter, const Expr *expr)
{
    Redirect *redirect = rewriter->data;
    expr = rewrite_expr_children(rewriter, expr);
    int t = expr->kind == EXPR_LOAD ? target_index(redirect->f, expr->value.buffer) : -1;
    if (t < 0)
        return expr;
    return expr_load(rewriter->ctx, redirect->f->partial[t], rfactor_indices(redirect->f, expr->args, expr->arg_count, redirect->lane),
                     expr->arg_count + 1, NULL, expr->span);
}

static const Stmt *redirect_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Redirect *redirect = rewriter->data;
    stmt = rewrite_stmt_children(rewriter, stmt);
    int t = stmt->kind == STMT_STORE ? target_index(redirect->f, stmt->as.store.buffer) : -1;
    if (t < 0)
        return stmt;
    int count = stmt->as.store.index_count;
    return stmt_store(rewriter->ctx, redirect->f->partial[t], rfactor_indices(redirect->f, stmt->as.store.indices, count, redirect->lane),
                      count + 1, stmt->as.store.value, NULL, stmt->span);
}

static Iter iter_of_loop(Context *ctx, const ForStmt *loop, IterKind kind, Span span)
{
    Var *var = var_new(ctx, context_internf(ctx, "v%s", loop->var->name), loop->var->dtype, span);
    return (Iter){var, {loop->min, loop->extent}, kind, span};
}

/* The loops of reduce axes that the factored loop takes part in become axes of their own; those axes are then expressions of them. */
static void split_reduce_iter(Factoring *f, int index, IterList *iters, ExprList *bindings, Subst *loop_iters, Subst *values)
{
    Context *ctx = f->sch->ctx;
    const BlockStmt *block = node_block(f->block);
    for (int l = 0; l < f->loop_count; l++) {
        const ForStmt *loop = node_loop(f->loops[l]);
        if (!expr_uses_var(block->bindings[index], loop->var) || map_has(&loop_iters->vars, loop->var))
            continue;
        Iter iter = iter_of_loop(ctx, loop, ITER_REDUCE, block->iters[index].span);
        vec_push(ctx->arena, iters, iter);
        vec_push(ctx->arena, bindings, expr_var(ctx, loop->var));
        subst_var(ctx, loop_iters, loop->var, expr_var(ctx, iter.var));
    }
    subst_var(ctx, values, block->iters[index].var, subst_expr(ctx, loop_iters, block->bindings[index]));
}

static Region *partial_regions(Factoring *f, const Region *regions, int count, const Expr *lane)
{
    Context *ctx = f->sch->ctx;
    Region *result = ARENA_ARRAY(ctx->arena, Region, count);
    for (int i = 0; i < count; i++) {
        int t = target_index(f, regions[i].buffer), ndim = regions[i].buffer->ndim, factored = factor_dimension(f, ndim);
        result[i] = (Region){f->partial[t], ARENA_ARRAY(ctx->arena, Range, ndim + 1), regions[i].span};
        for (int d = 0; d <= ndim; d++)
            result[i].ranges[d] = d == factored ? range_point(ctx, lane) : regions[i].ranges[d - (d > factored)];
    }
    return result;
}

/* The reads of the partial block: partial results are read where the update read its targets, and not at all where nothing is combined. */
static Region *partial_reads(Factoring *f, const BlockStmt *block, const Expr *lane, bool combines, int *count)
{
    Region *reads = ARENA_ARRAY(f->sch->ctx->arena, Region, block->read_count);
    *count = 0;
    for (int i = 0; i < block->read_count; i++) {
        bool target = target_index(f, block->reads[i].buffer) >= 0;
        if (!target || combines)
            reads[(*count)++] = target ? *partial_regions(f, &block->reads[i], 1, lane) : block->reads[i];
    }
    return reads;
}

/* What the update makes of the neutral element: its operand, or what that takes off. */
static const Expr *single_value(Factoring *f, int target)
{
    const Expr *operand = f->reduction->operands[target];
    if (f->reduction->kind != REDUCE_DIFFERENCE)
        return operand;
    return op_sub(f->sch->ctx, reduction_identity(f->sch->ctx, f->reduction->kind, operand->dtype), operand);
}

/* A partial result of one value is that value: nothing is combined, so no init is needed. */
static const Stmt *single_values(Factoring *f, const Expr *lane)
{
    Context *ctx = f->sch->ctx;
    const Reduction *reduction = f->reduction;
    const Stmt *stores[MOST_REDUCED];
    for (int t = 0; t < reduction->target_count; t++)
        stores[t] = stmt_store(ctx, f->partial[t], rfactor_indices(f, reduction->indices[t], reduction->index_counts[t], lane),
                               reduction->index_counts[t] + 1, single_value(f, t), NULL, f->block->stmt->span);
    return reduction->target_count == 1 ? stores[0] : stmt_seq(ctx, stores, reduction->target_count);
}

static bool has_reduce_iter(const IterList *iters)
{
    for (int i = 0; i < iters->count; i++)
        if (iters->data[i].kind == ITER_REDUCE)
            return true;
    return false;
}

static const Stmt *partial_block(Factoring *f)
{
    Context *ctx = f->sch->ctx;
    BlockStmt block = *node_block(f->block);
    const ForStmt *factored = node_loop(f->loop);
    IterList iters = {0};
    ExprList bindings = {0};
    Subst loop_iters = {0}, values = {0};
    Iter lane = iter_of_loop(ctx, factored, ITER_SPATIAL, f->block->stmt->span);
    const Expr *lane_var = expr_var(ctx, lane.var);
    vec_push(ctx->arena, &iters, lane);
    vec_push(ctx->arena, &bindings, expr_var(ctx, factored->var));
    subst_var(ctx, &loop_iters, factored->var, lane_var);
    for (int i = 0; i < block.iter_count; i++) {
        Iter iter = block.iters[i];
        if (iter.kind == ITER_REDUCE && expr_uses_var(block.bindings[i], factored->var)) {
            split_reduce_iter(f, i, &iters, &bindings, &loop_iters, &values);
            continue;
        }
        iter.var = var_clone(ctx, iter.var, iter.var->name);
        subst_var(ctx, &values, block.iters[i].var, expr_var(ctx, iter.var));
        vec_push(ctx->arena, &iters, iter);
        vec_push(ctx->arena, &bindings, block.bindings[i]);
    }
    Redirect redirect = {f, lane_var};
    Rewriter rewriter = {.ctx = ctx, .expr = redirect_expr, .stmt = redirect_stmt, .data = &redirect};
    block.block = f->partial_block = block_new(ctx, context_internf(ctx, "%s_rf", block.block->name), block.block->span);
    bool combines = has_reduce_iter(&iters);
    block.init = combines ? clone_fresh(ctx, subst_stmt(ctx, &values, rewrite_stmt(&rewriter, block.init))) : NULL;
    block.body = clone_fresh(
        ctx, subst_stmt(ctx, &values, combines ? rfactor_name_lets(ctx, rewrite_stmt(&rewriter, block.body)) : single_values(f, lane_var)));
    int read_count;
    Region *reads = partial_reads(f, &block, lane_var, combines, &read_count);
    block.read_count = read_count;
    for (int i = 0; i < block.read_count; i++)
        reads[i] = subst_region(ctx, &values, reads[i]);
    block.reads = reads;
    Region *writes = partial_regions(f, block.writes, block.write_count, lane_var);
    for (int i = 0; i < block.write_count; i++)
        writes[i] = subst_region(ctx, &values, writes[i]);
    block.writes = writes;
    block.matches = arena_copy(ctx->arena, block.matches, sizeof *block.matches * (size_t)block.match_count);
    for (int i = 0; i < block.match_count; i++)
        block.matches[i].source = subst_region(ctx, &values, block.matches[i].source);
    block.iter_count = iters.count;
    block.iters = iters.data;
    block.bindings = bindings.data;
    const Stmt *stmt = stmt_block(ctx, block, f->block->stmt->span);
    for (int i = f->loop_count - 1; i >= 0; i--)
        stmt = stmt_with_body(ctx, f->loops[i]->stmt, stmt);
    return stmt;
}

/* --- the block that combines --- */

/* The reads of the combining block: the partial results where BLOCK, the original one, writes its targets, and what its init starts from. */
static Region *combining_reads(Factoring *f, const BlockStmt *block, const Expr *lane, int *count)
{
    Context *ctx = f->sch->ctx;
    BlockStmt init = *block;
    init.body = block->init;
    init.init = NULL;
    infer_init_regions(ctx, block, &init);
    Region *reads = ARENA_ARRAY(ctx->arena, Region, block->write_count + init.read_count);
    memcpy(reads, partial_regions(f, block->writes, block->write_count, lane), sizeof *reads * (size_t)block->write_count);
    *count = block->write_count;
    for (int i = 0; i < init.read_count; i++)
        reads[(*count)++] = init.reads[i];
    return reads;
}

/* Puts what BLOCK writes, and the stores of its init, into the order in which its body stores several targets. */
static void order_as_stored(Factoring *f, BlockStmt *block)
{
    Context *ctx = f->sch->ctx;
    const Stmt *stores = block->body, *starts[MOST_REDUCED];
    while (stores->kind == STMT_LET)
        stores = stores->as.let.body;
    int count = f->reduction->target_count;
    if (count == 1 || stores->kind != STMT_SEQ || stores->as.seq.count != count || block->write_count != count || !init_stores(f, starts))
        return;
    Region *writes = ARENA_ARRAY(ctx->arena, Region, count);
    const Stmt **inits = ARENA_ARRAY(ctx->arena, const Stmt *, count);
    for (int i = 0; i < count; i++) {
        const Buffer *target = stores->as.seq.items[i]->as.store.buffer;
        writes[i] = *regions_find(block->writes, count, target);
        inits[i] = starts[target_index(f, target)];
    }
    block->writes = writes;
    block->init = stmt_seq(ctx, inits, count);
}

static const Stmt *combining_block(Factoring *f)
{
    Context *ctx = f->sch->ctx;
    BlockStmt block = *node_block(f->block);
    IterList iters = {0};
    ExprList bindings = {0};
    Iter lane = iter_of_loop(ctx, node_loop(f->loop), ITER_REDUCE, f->block->stmt->span);
    const Expr *lane_var = expr_var(ctx, lane.var);
    vec_push(ctx->arena, &iters, lane);
    vec_push(ctx->arena, &bindings, expr_var(ctx, node_loop(f->loop)->var));
    for (int i = 0; i < block.iter_count; i++) {
        if (block.iters[i].kind != ITER_SPATIAL)
            continue;
        vec_push(ctx->arena, &iters, block.iters[i]);
        vec_push(ctx->arena, &bindings, block.bindings[i]);
    }
    block.body = rfactor_combining_body(f, lane_var);
    order_as_stored(f, &block);
    block.reads = combining_reads(f, &block, lane_var, &block.read_count);
    block.predicate = rfactor_remaining_predicate(f, block.predicate);
    f->started = rfactor_first_iterations_run(f, block.predicate);
    block.iter_count = iters.count;
    block.iters = iters.data;
    block.bindings = bindings.data;
    block.match_count = 0; /* it reads partial results and what its init starts from, which is no view */
    const Stmt *stmt = stmt_block(ctx, block, f->block->stmt->span);
    Subst renaming = {0};
    for (int i = f->loop_count - 1; i >= f->shared; i--) {
        ForStmt loop = *node_loop(f->loops[i]);
        if (rfactor_loop_is_reduced_before(f, f->loops[i]))
            continue;
        Var *var = var_clone(ctx, loop.var, loop.var->name);
        subst_var(ctx, &renaming, loop.var, expr_var(ctx, var));
        loop.body = stmt;
        stmt = stmt_for(ctx, loop, f->loops[i]->stmt->span);
    }
    return subst_stmt(ctx, &renaming, stmt);
}

/* --- the step --- */

static const Stmt *with_allocations(Factoring *f, const Stmt *scope)
{
    BlockStmt block = scope->as.block;
    Buffer **allocs = ARENA_ARRAY(f->sch->ctx->arena, Buffer *, block.alloc_count + MOST_REDUCED);
    if (block.alloc_count)
        memcpy(allocs, block.allocs, sizeof *allocs * (size_t)block.alloc_count);
    for (int t = 0; t < f->reduction->target_count; t++)
        allocs[block.alloc_count++] = f->partial[t];
    block.allocs = allocs;
    return stmt_block(f->sch->ctx, block, scope->span);
}

/* What is combined has been computed: a guard may leave out updates, but not all of one partial result. */
static bool check_partials_complete(Factoring *f)
{
    Schedule *sch = f->sch;
    const TreeNode *writer = schedule_find_block(sch, f->partial_block);
    for (int t = 0; t < f->reduction->target_count && !f->started; t++) {
        Answer answer = coverage_serves_reads(sch, writer, f->partial[t], schedule_scope(sch, writer));
        if (!answer_is_shown(answer))
            return sched_refuse(sch, "some partial results would be combined that were never started: %s", answer.text);
    }
    return check_concurrent_loops_around(sch, writer);
}

/* A loop of one iteration that no axis is bound to comes to be reduced over: what repeats an instance inside of it, each time after its init,
   would go on from the first time. */
static bool check_combined_once(Schedule *sch, const Block *block)
{
    const BlockStmt *combining = node_block(schedule_find_block(sch, block));
    return check_updates_run_once(sch, combining, combining->bindings[0]->value.var);
}

/* The loop is the outermost one that the block reduces over: then the partial results are of values that follow one another, and are combined
   in their order. */
static bool is_outermost_reduced(const Factoring *f)
{
    for (int i = 0; i < f->loop_count; i++) {
        const Var *var = node_loop(f->loops[i])->var;
        if (f->loops[i] == f->loop || rfactor_loop_is_used(node_block(f->block), var, ITER_REDUCE))
            return f->loops[i] == f->loop;
    }
    return false;
}

bool primitive_rfactor(Schedule *sch, const Value *args, Value *result)
{
    Factoring f = {.sch = sch, .loop = schedule_loop(sch, args[0].as.loop)};
    if (!f.loop || !(f.loop = loops_count_from_zero(sch, f.loop)) || !rfactor_find_nest(&f) || !check_block_has_scope(sch, f.block) ||
        !check_reduction_block(sch, f.block, NULL) || !check_loop(&f) ||
        !check_reduction(&f) || !check_axis(&f, &args[1]) || !rfactor_check_inputs_stay(&f) || !rfactor_check_results_stay(&f))
        return false;
    make_buffers(&f);
    warn_of_new_order(sch, node_block(f.block), is_outermost_reduced(&f));
    const Stmt *partial = partial_block(&f), *combining = combining_block(&f);
    const Block *scope = node_block(f.scope)->block, *block = node_block(f.block)->block;
    bool reduced = rfactor_loop_is_used(node_block(f.block), node_loop(f.loop)->var, ITER_REDUCE);
    rfactor_place(&f, partial, combining);
    const Stmt *scope_stmt = schedule_find_block(sch, scope)->stmt;
    sched_replace(sch, scope_stmt, with_allocations(&f, scope_stmt));
    *result = value_block(f.partial_block);
    return (reduced || check_combined_once(sch, block)) && check_partials_complete(&f);
}
