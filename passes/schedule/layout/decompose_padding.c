/* decompose_padding: a block that copies within bounds and pads outside of them becomes one that fills, and one that works within bounds only.

   Before, decompose_padding("P", i)                                  After
     for i in range(16):                                                for i in range(16):
         with T.block("P"):                                                 with T.block("P_pad_const"):
             vi = ...                                                           D[vi] = 0
             D[vi] = T.if_then_else(1 <= vi and vi < 15, A[vi - 1], 0)      for i in range(14):
                                                                            with T.block("P"):
                                                                                D[vi + 1] = A[vi]

   A loop that an axis is bound to alone runs over the bounds only; elsewhere a condition keeps them. What must hold: the block is complete and stores
   one element, whose indices name each of its axes; the bounds are a box of its axes; the padding is a constant; and below the loop stands
   nothing else. */
#include "ir/walk.h"
#include "passes/arith/analyzer.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/layout/block_access.h"

typedef struct {
    const TreeNode *block, *target;
    int outer_count, loop_count;
    const TreeNode **loops; /* from the outermost of the scope; the given one is loops[outer_count] */
    const Expr *condition, *value, *padding;
    Range *bounds;          /* of each axis, inside of its domain */
} Padding;

static bool refuse_pattern(Schedule *sch, const Padding *step, const char *why)
{
    sched_refuse(sch, "block '%s' does not copy within bounds and pad outside of them: %s", node_name(step->block), why);
    return sched_note_node(sch, step->block);
}

/* --- The pattern --- */

static bool find_loops(Schedule *sch, Padding *step)
{
    const char *name = node_name(step->block);
    step->loops = schedule_loops_around(sch, step->block, &step->loop_count);
    while (step->outer_count < step->loop_count && step->loops[step->outer_count] != step->target)
        step->outer_count++;
    if (step->outer_count == step->loop_count) {
        sched_refuse(sch, "loop '%s' is not around block '%s'", node_name(step->target), name);
        return sched_note_node(sch, step->block);
    }
    for (const TreeNode *up = schedule_parent(sch, step->block); up != schedule_parent(sch, step->target); up = schedule_parent(sch, up)) {
        if (up->stmt->kind != STMT_FOR) {
            sched_refuse(sch, "loop '%s' holds more than block '%s'", node_name(step->target), name);
            sched_note(sch, up->stmt->span, "this statement");
            return false;
        }
        if (node_loop(up)->kind == FOR_THREAD)
            return sched_refuse(sch, "loop '%s' is bound to %s; bind loops after this step", node_name(up), node_loop(up)->thread);
    }
    return true;
}

/* The indices of the store name each axis that has more than one value: no element is stored at two points. */
static bool names_axes(const BlockStmt *block, const Stmt *store)
{
    for (int i = 0; i < block->iter_count; i++) {
        bool named = expr_is_int(block->iters[i].domain.extent, 1);
        for (int d = 0; d < store->as.store.index_count; d++)
            named |= expr_is_var(store->as.store.indices[d], block->iters[i].var);
        if (!named)
            return false;
    }
    return true;
}

static bool find_pattern(Schedule *sch, Padding *step)
{
    const BlockStmt *block = node_block(step->block);
    const Stmt *store = block->body;
    if (store->kind != STMT_STORE || block->init || block->match_count || block->alloc_count)
        return refuse_pattern(sch, step, "it does more than one store");
    const Expr *value = store->as.store.value;
    if (!expr_is_call(value, OP_IF_THEN_ELSE))
        return refuse_pattern(sch, step, "what it stores is no T.if_then_else");
    step->condition = value->args[0];
    step->value = value->args[1];
    step->padding = value->args[2];
    if (step->padding->kind != EXPR_INT && step->padding->kind != EXPR_FLOAT)
        return refuse_pattern(sch, step, "the padding is no constant");
    if (store->as.store.mask || value->dtype.lanes != 1 || !names_axes(block, store))
        return refuse_pattern(sch, step, "the indices of the element that it stores do not name each of its axes");
    return true;
}

/* --- The bounds --- */


/* Takes AXIS >= LEAST, or AXIS < END, into the bounds, kept as constants. */
static bool narrow(Schedule *sch, Padding *step, int axis, bool is_end, int64_t limit)
{
    Range *bounds = &step->bounds[axis];
    int64_t min, extent;
    if (!expr_const_int(bounds->min, &min) || !expr_const_int(bounds->extent, &extent))
        return false;
    int64_t end = min + extent;
    if (is_end)
        end = limit < end ? limit : end;
    else
        min = limit > min ? limit : min;
    if (end <= min)
        return false;
    *bounds = (Range){expr_int(sch->ctx, bounds->min->dtype, min), expr_int(sch->ctx, bounds->extent->dtype, end - min)};
    return true;
}

/* CONDITION, a comparison of one axis with a constant, possibly both shifted. */
static bool take_comparison(Schedule *sch, Padding *step, Analyzer *an, const Expr *condition)
{
    const BlockStmt *block = node_block(step->block);
    ExprKind kind = condition->kind;
    if (kind != EXPR_LT && kind != EXPR_LE && kind != EXPR_GT && kind != EXPR_GE)
        return false;
    if (!dtype_is_index(condition->args[0]->dtype))
        return false;
    bool swapped = kind == EXPR_GT || kind == EXPR_GE;
    const Expr *low = condition->args[swapped], *high = condition->args[!swapped];
    bool strict = kind == EXPR_LT || kind == EXPR_GT;
    const Expr *difference = analyzer_simplify(an, op_sub(sch->ctx, high, low));
    for (int i = 0; i < block->iter_count; i++) {
        int64_t constant;
        const Expr *axis = op_cast(sch->ctx, difference->dtype, expr_var(sch->ctx, block->iters[i].var));
        /* axis + constant > 0 or >= 0 */
        if (expr_const_int(analyzer_simplify(an, op_sub(sch->ctx, difference, axis)), &constant))
            return narrow(sch, step, i, false, strict - constant);
        /* constant - axis > 0 or >= 0 */
        if (expr_const_int(analyzer_simplify(an, op_add(sch->ctx, difference, axis)), &constant))
            return narrow(sch, step, i, true, strict ? constant : constant + 1);
    }
    return false;
}

/* Takes from the bounds what the axes are never bound to; not where nothing would be left. */
static void reach_of_bindings(Schedule *sch, Padding *step)
{
    const BlockStmt *block = node_block(step->block);
    Analyzer *an = analyzer_new(sch->ctx);
    analyzer_bind_ranges(an, loops_ranges(sch, step->loops, step->loop_count), step->loop_count);
    for (int i = 0; i < block->iter_count; i++) {
        IntBound reach = analyzer_bound(an, block->bindings[i]);
        Range bounds = step->bounds[i];
        if (reach.min != BOUND_NEG_INF && reach.max != BOUND_POS_INF && narrow(sch, step, i, false, reach.min) &&
            narrow(sch, step, i, true, reach.max + 1))
            continue;
        step->bounds[i] = bounds;
    }
}

static bool find_bounds(Schedule *sch, Padding *step)
{
    const BlockStmt *block = node_block(step->block);
    Analyzer *an = analyzer_new(sch->ctx);
    ExprList parts = {0};
    bool trivial = true;
    step->bounds = ARENA_ARRAY(sch->ctx->arena, Range, block->iter_count);
    for (int i = 0; i < block->iter_count; i++)
        step->bounds[i] = block->iters[i].domain;
    loops_split_conjunction(sch->ctx, step->condition, &parts);
    for (int p = 0; p < parts.count; p++)
        if (!take_comparison(sch, step, an, parts.data[p]))
            return refuse_pattern(sch, step, "its condition does not bound its axes one by one by constants, with something in between");
    for (int i = 0; i < block->iter_count; i++)
        trivial &= expr_equal(step->bounds[i].extent, block->iters[i].domain.extent);
    if (trivial)
        return refuse_pattern(sch, step, "its condition always holds");
    reach_of_bindings(sch, step);
    return true;
}

/* --- Building --- */

/* EXTENT iterations from 0 on go as far as BOUNDS. */
static bool ends_within(Range bounds, const Expr *extent)
{
    int64_t min, count, iterations;
    if (!expr_const_int(bounds.min, &min) || !expr_const_int(bounds.extent, &count) || !expr_const_int(extent, &iterations))
        return expr_equal(bounds.extent, extent);
    return min + count <= iterations;
}

/* Nothing but axis I depends on the loop with index K: no other axis, no condition, no extent inside of it. */
static bool loop_is_of_axis(const Padding *step, int k, int i)
{
    const BlockStmt *block = node_block(step->block);
    const Var *var = node_loop(step->loops[k])->var;
    for (int other = 0; other < block->iter_count; other++)
        if (other != i && expr_uses_var(block->bindings[other], var))
            return false;
    for (int inner = k + 1; inner < step->loop_count; inner++)
        if (expr_uses_var(node_loop(step->loops[inner])->extent, var) || expr_uses_var(node_loop(step->loops[inner])->min, var))
            return false;
    return !expr_uses_var(block->predicate, var);
}

/* The loop from the given one inwards that axis I is bound to alone, from 0 on; -1 where there is none or its iterations end within the
   bounds. */
static int own_loop(const Padding *step, int i)
{
    const BlockStmt *block = node_block(step->block);
    for (int k = step->outer_count; k < step->loop_count; k++) {
        const ForStmt *loop = node_loop(step->loops[k]);
        if (expr_is_var(block->bindings[i], loop->var) && expr_is_int(loop->min, 0) && expr_is_int(block->iters[i].domain.min, 0) &&
            loop_is_of_axis(step, k, i))
            return ends_within(step->bounds[i], loop->extent) ? k : -1;
    }
    return -1;
}

static Analyzer *outer_analyzer(Schedule *sch, const Padding *step)
{
    Analyzer *an = analyzer_new(sch->ctx);
    analyzer_bind_ranges(an, loops_ranges(sch, step->loops, step->outer_count), step->outer_count);
    return an;
}

/* The block that fills, under copies of the loops. */
static const Stmt *make_fill(Schedule *sch, const Padding *step, Block **symbol)
{
    Context *ctx = sch->ctx;
    Analyzer *an = outer_analyzer(sch, step);
    BlockStmt block = *node_block(step->block);
    const Stmt *store = block.body;
    Subst axes = {0}, renamed = {0};
    block.iters = arena_copy(ctx->arena, block.iters, sizeof *block.iters * (size_t)block.iter_count);
    block.bindings = arena_copy(ctx->arena, block.bindings, sizeof *block.bindings * (size_t)block.iter_count);
    for (int i = 0; i < block.iter_count; i++) {
        block.iters[i].var = var_clone(ctx, block.iters[i].var, block.iters[i].var->name);
        subst_var(ctx, &axes, node_block(step->block)->iters[i].var, expr_var(ctx, block.iters[i].var));
        block.bindings[i] = analyzer_simplify(an, block.bindings[i]);
    }
    block.block = *symbol = block_new(ctx, schedule_fresh_block_name(sch, context_internf(ctx, "%s_pad_const", block.block->name)),
                                      step->block->stmt->span);
    block.annotations = (Attrs){0};
    block.read_count = 0;
    block.writes = ARENA_ARRAY(ctx->arena, Region, 1);
    block.writes[0] = subst_region(ctx, &axes, node_block(step->block)->writes[0]);
    block.body = subst_stmt(ctx, &axes,
                            stmt_store(ctx, store->as.store.buffer, store->as.store.indices, store->as.store.index_count, step->padding, NULL, store->span));
    const Stmt *stmt = stmt_block(ctx, block, step->block->stmt->span);
    for (int k = step->loop_count - 1; k >= step->outer_count; k--) {
        const ForStmt *loop = node_loop(step->loops[k]);
        Var *var = var_clone(ctx, loop->var, loop->var->name);
        subst_var(ctx, &renamed, loop->var, expr_var(ctx, var));
        stmt = stmt_for(ctx, (ForStmt){.var = var, .min = loop->min, .extent = loop->extent, .body = stmt}, step->loops[k]->stmt->span);
    }
    return subst_stmt(ctx, &renamed, stmt);
}

/* The condition that keeps axis I, bound to BINDING, within its bounds; NULL where none is needed. */
static const Expr *bounds_condition(Context *ctx, const Iter *iter, Range bounds, const Expr *binding)
{
    const Expr *condition = expr_bool(ctx, true);
    const Expr *end = op_add(ctx, bounds.min, bounds.extent);
    if (!expr_equal(bounds.min, iter->domain.min))
        condition = op_and(ctx, condition, op_compare(ctx, EXPR_LE, bounds.min, binding));
    if (!expr_equal(end, op_add(ctx, iter->domain.min, iter->domain.extent)))
        condition = op_and(ctx, condition, op_compare(ctx, EXPR_LT, binding, end));
    return condition;
}

/* CONDITION and the parts of MORE, one after the other. */
static const Expr *add_conjuncts(Context *ctx, const Expr *condition, const Expr *more)
{
    if (more->kind != EXPR_AND)
        return op_and(ctx, condition, more);
    return add_conjuncts(ctx, add_conjuncts(ctx, condition, more->args[0]), more->args[1]);
}

/* The block within bounds, its axes counting from 0, and its loops. */
static const Stmt *make_inside(Schedule *sch, const Padding *step)
{
    Context *ctx = sch->ctx;
    Analyzer *an = outer_analyzer(sch, step), *all = analyzer_new(ctx);
    analyzer_bind_ranges(all, loops_ranges(sch, step->loops, step->loop_count), step->loop_count);
    BlockStmt block = *node_block(step->block);
    const Stmt *store = block.body;
    const Expr **extents = ARENA_ARRAY(ctx->arena, const Expr *, step->loop_count), *predicate = expr_bool(ctx, true);
    Subst shifted = {0};
    for (int k = 0; k < step->loop_count; k++)
        extents[k] = node_loop(step->loops[k])->extent;
    block.iters = arena_copy(ctx->arena, block.iters, sizeof *block.iters * (size_t)block.iter_count);
    block.bindings = arena_copy(ctx->arena, block.bindings, sizeof *block.bindings * (size_t)block.iter_count);
    for (int i = 0; i < block.iter_count; i++) {
        Range bounds = step->bounds[i];
        int own = own_loop(step, i);
        if (own >= 0) {
            extents[own] = bounds.extent;
        } else {
            predicate = op_and(ctx, predicate, bounds_condition(ctx, &block.iters[i], bounds, block.bindings[i]));
            block.bindings[i] = analyzer_simplify(an, op_sub(ctx, block.bindings[i], bounds.min));
        }
        subst_var(ctx, &shifted, block.iters[i].var, op_add(ctx, expr_var(ctx, block.iters[i].var), bounds.min));
        block.iters[i].domain = (Range){expr_int(ctx, bounds.min->dtype, 0), bounds.extent};
    }
    block.predicate = add_conjuncts(ctx, analyzer_simplify(all, predicate), block.predicate);
    block.annotations = (Attrs){0};
    block.body = stmt_store(ctx, store->as.store.buffer, store->as.store.indices, store->as.store.index_count, step->value, NULL, store->span);
    block.body = subst_stmt(ctx, &shifted, block.body);
    block.reads = arena_copy(ctx->arena, block.reads, sizeof *block.reads * (size_t)block.read_count);
    block.writes = arena_copy(ctx->arena, block.writes, sizeof *block.writes * (size_t)block.write_count);
    for (int r = 0; r < block.read_count; r++)
        block.reads[r] = subst_region(ctx, &shifted, block.reads[r]);
    for (int w = 0; w < block.write_count; w++)
        block.writes[w] = subst_region(ctx, &shifted, block.writes[w]);
    const Stmt *stmt = block_simplify_accesses(sch, stmt_block(ctx, block, step->block->stmt->span));
    for (int k = step->loop_count - 1; k >= step->outer_count; k--) {
        ForStmt loop = *node_loop(step->loops[k]);
        loop.extent = extents[k];
        loop.body = stmt;
        stmt = stmt_for(ctx, loop, step->loops[k]->stmt->span);
    }
    return stmt;
}

/* Another iteration that runs at the same time could find an element filled that this one has computed, unless points are reached once. */
static bool check_outer_loops(Schedule *sch, const Padding *step)
{
    for (int k = 0; k < step->outer_count; k++) {
        const ForStmt *loop = node_loop(step->loops[k]);
        if (loop->kind != FOR_SERIAL && loop->kind != FOR_UNROLLED && !block_is_affine(sch, step->block, NULL))
            return sched_refuse(sch, "iterations of loop '%s', which run at once, may compute the same elements, and fill what another has computed",
                                loop->var->name);
    }
    return true;
}

static bool find_padding(Schedule *sch, const Value *args, Padding *step)
{
    *step = (Padding){.block = schedule_block(sch, args[0].as.block), .target = schedule_loop(sch, args[1].as.loop)};
    return step->block && step->target && check_block_has_scope(sch, step->block) && check_complete_block(sch, step->block) &&
           find_loops(sch, step) && find_pattern(sch, step) && find_bounds(sch, step) && check_outer_loops(sch, step);
}

bool primitive_decompose_padding(Schedule *sch, const Value *args, Value *result)
{
    Padding step;
    Block *fill;
    if (!find_padding(sch, args, &step))
        return false;
    const Stmt *target = step.target->stmt, *block = step.block->stmt;
    const Stmt *items[] = {make_fill(sch, &step, &fill), make_inside(sch, &step)};
    sched_replace(sch, target, stmt_seq(sch->ctx, items, 2));
    *result = value_block(fill);
    return check_concurrent_loops_around(sch, schedule_find_block(sch, fill)) &&
           check_concurrent_loops_around(sch, schedule_find_block(sch, block->as.block.block));
}

bool primitive_can_decompose_padding(Schedule *sch, const Value *args, Value *result)
{
    Value made = value_none();
    Schedule *trial = schedule_copy(sch);
    DiagMark mark = diag_mark(sch->ctx);
    bool can = primitive_decompose_padding(trial, args, &made) && diag_error_count(sch->ctx) == mark.errors;
    diag_rollback(sch->ctx, mark);
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = can};
    return true;
}
