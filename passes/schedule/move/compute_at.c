/* compute_at and reverse_compute_at: moving a block below a loop of another one.

   compute_at(B, i): each iteration of i computes the part of B that the consumers in it need.
       for i: B[i] = f(A[i])                    for i: B[i] = f(A[i])
       for i: C[i] = g(B[i])             =>            C[i] = g(B[i])
   reverse_compute_at(C, i): each iteration of i consumes what the producers in it have made.

   Legal when the block is complete or a reduction block (reverse_compute_at: or updates in place, and runs once for each point before and after), all its consumers (producers) are below the loop, there is a place between what it
   needs and what needs it, and:
   - compute_at: no instance reads an element that is overwritten between its old and its new place, and the writes of each iteration cover
     what the consumers read in it (an instance may run again: it computes the same from unchanged inputs);
   - reverse_compute_at: every instance still runs, after everything it depends on;
   - a block that calls a function with effects runs just as often as before;
   - no instance runs that did not run before: what a T.where says of the block's axes goes with it, anything else that kept instances from
     running must be implied. */
#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/check/ties.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/move/inline.h"
#include "passes/schedule/move/move.h"

static bool check_same_scope(Move *move)
{
    Schedule *sch = move->sch;
    const TreeNode *scope = schedule_scope(sch, move->block);
    const char *loop = node_name(move->loop);
    if (!scope)
        return sched_refuse(sch, "the root block cannot be moved");
    if (!check_block_has_scope(sch, move->block))
        return false;
    if (schedule_is_under(sch, move->block, move->loop))
        return sched_refuse(sch, "loop '%s' is around block '%s' already", loop, node_name(move->block));
    if (schedule_scope(sch, move->loop) == scope && !move->loop->in_init)
        return true;
    sched_refuse(sch, "loop '%s' and block '%s' are not in the same scope", loop, node_name(move->block));
    return sched_note_node(sch, move->loop);
}

/* All consumers (producers) lie below the loop. A block without any computes all of its buffer there. */
static bool check_partners(Move *move)
{
    Schedule *sch = move->sch;
    const char *kind = move->reverse ? "producer" : "consumer", *loop = node_name(move->loop);
    move->partners = move->reverse ? scope_producers(sch, move->block, DEPENDS_RAW, &move->partner_count)
                                   : scope_consumers(sch, move->block, DEPENDS_RAW, &move->partner_count);
    for (int i = 0; i < move->partner_count; i++) {
        if (schedule_is_under(sch, move->partners[i], move->loop))
            continue;
        sched_refuse(sch, "not all %ss of block '%s' are below loop '%s': '%s' is not", kind, node_name(move->block), loop,
                     node_name(move->partners[i]));
        return sched_note_node(sch, move->partners[i]);
    }
    return true;
}

/* The axis of BLOCK whose domain depends on VAR, or NULL. */
static const Iter *axis_over_var(const BlockStmt *block, const Var *var)
{
    for (int i = 0; i < block->iter_count; i++)
        if (expr_uses_var(block->iters[i].domain.min, var) || expr_uses_var(block->iters[i].domain.extent, var))
            return &block->iters[i];
    return NULL;
}

/* What is inside of BLOCK mentions VAR. */
static bool mentions_inside(Context *ctx, const BlockStmt *block, const Var *var)
{
    BlockStmt inside = *block;
    inside.iter_count = 0;
    inside.predicate = expr_bool(ctx, true);
    return stmt_uses_var(stmt_block(ctx, inside, span_none()), var);
}

/* The block does not need VAR, which the statement AROUND it, a loop or let that it leaves, binds. */
static bool check_leaves_var(Move *move, const TreeNode *around, const Var *var)
{
    Schedule *sch = move->sch;
    const BlockStmt *block = node_block(move->block);
    const char *kind = around->stmt->kind == STMT_FOR ? "loop" : "let";
    const Iter *axis = axis_over_var(block, var);
    if (!axis && !mentions_inside(sch->ctx, block, var))
        return true;
    if (axis)
        sched_refuse(sch, "the domain of axis '%s' of block '%s' depends on %s '%s', so the block cannot leave it", axis->var->name,
                     node_name(move->block), kind, var->name);
    else
        sched_refuse(sch, "block '%s' has no axis for %s '%s', which its body mentions, so it cannot leave that %s", node_name(move->block),
                     kind, var->name, kind);
    sched_note(sch, around->stmt->span, "%s '%s' is here", kind, var->name);
    return false;
}

/* What is inside of the block speaks of loops through its axes only: a block without axes, such as loop_partition makes, may mention them
   by themselves, and so may the domains of axes; any block may mention lets. */
static bool check_leaves_vars(Move *move)
{
    Schedule *sch = move->sch;
    for (const TreeNode *up = schedule_parent(sch, move->block); up->stmt->kind != STMT_BLOCK; up = schedule_parent(sch, up)) {
        const Stmt *stmt = up->stmt;
        const Var *var = stmt->kind == STMT_FOR ? stmt->as.loop.var : stmt->kind == STMT_LET ? stmt->as.let.var : NULL;
        if (var && !schedule_is_under(sch, move->loop, up) && !check_leaves_var(move, up, var))
            return false;
    }
    return true;
}

/* BLOCK reads memory that it writes, under any name, other than to find out whether it runs and for which values. */
static bool updates_in_place(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node);
    const Func *func = schedule_func(sch);
    bool found = false;
    for (int w = 0; w < block->write_count; w++) {
        if (stmt_itself_uses_buffer(node->stmt, block->writes[w].buffer))
            return false;
        for (int r = 0; r < block->read_count; r++)
            found |= buffer_viewed(func, block->writes[w].buffer)->data == buffer_viewed(func, block->reads[r].buffer)->data;
    }
    return found;
}

/* A block with an init must be a reduction block, one without a complete block, or a consumer that updates in place. */
static bool check_movable(Move *move)
{
    const BlockStmt *block = node_block(move->block);
    if (!check_leaves_vars(move))
        return false;
    for (int w = 0; !move->reverse && w < block->write_count; w++)
        if (!inline_check_moved_buffer(move->sch, move->block, block->writes[w].buffer))
            return false;
    move->in_place = move->reverse && !block->init && updates_in_place(move->sch, move->block);
    if (!block->init)
        return move->in_place ? check_axes_are_spatial(move->sch, move->block) : check_complete_block(move->sch, move->block);
    return move->reverse ? check_reduction_block(move->sch, move->block, NULL) : check_intermediate_reduction_block(move->sch, move->block);
}

/* The loops around the target loop, itself included, and sizes. */
static Analyzer *loop_analyzer(Move *move)
{
    Analyzer *an = analyzer_new(move->sch->ctx);
    Map sizes = func_sizes(move->sch->ctx, schedule_func(move->sch));
    for (int i = 0; i < sizes.count; i++)
        analyzer_bind_nonnegative(an, sizes.entries[i].key);
    for (const TreeNode *node = move->loop; node && node->stmt->kind != STMT_BLOCK; node = schedule_parent(move->sch, node))
        if (node->stmt->kind == STMT_FOR)
            analyzer_bind_range(an, node_loop(node)->var, (Range){node_loop(node)->min, node_loop(node)->extent});
    return an;
}

static bool check_finished(Move *move)
{
    if (!move->partial)
        return true;
    sched_refuse(move->sch,
                 "reduce axis '%s' of block '%s' is bound to loops around loop '%s', too: the block would finish its reduction in each of "
                 "their iterations",
                 move->partial->var->name, node_name(move->block), node_name(move->loop));
    return sched_note_node(move->sch, move->block);
}

/* Instances that no region tells apart come to run in the order of the iterators: no two of them may write one element. So do updates that ran in
   another order: they commute. */
static bool check_claims(Move *move)
{
    Schedule *sch = move->sch;
    if (!move->ordered && (move->reverse || !move->by_digits) && (move->reverse || reduce_axes_count_up(sch, move->block)))
        return true;
    ClaimSet claims = dependence_collect_claims(sch->ctx, schedule_func(sch));
    Answer answer = dependence_claims_hold(&claims, move->block->stmt);
    if (answer_is_shown(answer))
        return true;
    if (!move->ordered)
        return refuse_by_answer(sch, answer, "the instances of block '%s' would run in another order", node_name(move->block));
    return refuse_by_answer(sch, answer, "block '%s' would run over all of axis '%s', and its instances may not run in another order",
                           node_name(move->block), move->ordered->var->name);
}

/* What keeps the moved block from being as right as before; false after a refusal. */
static bool check_moved(Move *move, const Func *before, const Func *after)
{
    const Block *block = node_block(move->block)->block;
    Schedule *sch = move->sch;
    Answer answer = dependence_adds_none(sch->ctx, before, after, block);
    if (answer_is_shown(answer) && move->reverse && !move->partner_count)
        answer = dependence_loses_none(sch->ctx, before, after, block);
    if (answer_is_shown(answer))
        answer = move->reverse && move->partner_count ? dependence_consumer_may_move(sch->ctx, before, after, block)
                                                      : dependence_producer_may_move(sch->ctx, before, after, block);
    if (answer_is_shown(answer))
        return true;
    return refuse_by_answer(sch, answer, "moving block '%s' below loop '%s' %s change the result", block->name,
                           node_name(move->loop), would_or_may(answer));
}

/* No instance of BLOCK runs twice in the loops around it inside of its scope, the outermost SHARED of them aside. */
static bool runs_once(Schedule *sch, const Block *block, int shared)
{
    int count;
    const TreeNode **loops = schedule_loops_around(sch, schedule_find_block(sch, block), &count);
    return count <= shared || answer_is_shown(dependence_runs_once(sch->ctx, schedule_func(sch), block, node_loop(loops[shared])->var));
}

/* So many loops are around the block, and stay around it. */
static int shared_loops(const Move *move)
{
    int count, shared = 0;
    const TreeNode **loops = schedule_loops_around(move->sch, move->block, &count);
    while (shared < count && schedule_is_under(move->sch, move->loop, loops[shared]))
        shared++;
    return shared;
}

/* Of a block that updates in place each instance must run once in an iteration of the SHARED loops, before the step (ONCE) and now: run again it
   would update what it made. */
static bool check_in_place_once(Move *move, int shared, bool once)
{
    Schedule *sch = move->sch;
    const Block *block = node_block(move->block)->block;
    if (!move->in_place || (once && runs_once(sch, block, shared)))
        return true;
    sched_refuse(sch, "block '%s' updates in place, and a loop around it%s may run it more than once for one point", block->name,
                 once ? arena_printf(sch->ctx->arena, " below loop '%s'", node_name(move->loop)) : "");
    return sched_note_node(sch, move->block);
}

/* An update that runs again adds to its result again. Moved in front of consumers a block starts over with its init; behind its producers
   it must not run in more iterations than before. */
static bool check_updates_once(Move *move)
{
    Schedule *sch = move->sch;
    const TreeNode *node = schedule_find_block(sch, node_block(move->block)->block);
    if (!move->reverse || !node_block(node)->init || runs_once(sch, node_block(node)->block, 0))
        return true;
    sched_refuse(
        sch, "moving block '%s' below loop '%s' would change the result: an update of its reduction may run in several iterations there",
        node_name(move->block), node_name(move->loop));
    return sched_note_node(sch, move->block);
}

static bool find_foreign_call(Visitor *visitor, const Expr *expr)
{
    if (expr_is_foreign_call(expr))
        visitor->data = (void *)expr;
    return !visitor->data;
}

/* A call of a function that may have effects happens neither more often than before nor less. */
static bool check_calls_once(Move *move, const Func *before)
{
    Schedule *sch = move->sch;
    const TreeNode *node = schedule_find_block(sch, node_block(move->block)->block);
    Visitor visitor = {.expr = find_foreign_call};
    visit_stmt(&visitor, node->stmt);
    const Expr *call = visitor.data;
    const Block *block = node_block(node)->block;
    int count;
    const TreeNode **loops = schedule_loops_around(sch, node, &count);
    if (!call || (answer_is_shown(dependence_runs_once(sch->ctx, schedule_func(sch), block, node_loop(loops[0])->var)) &&
                  answer_is_shown(dependence_loses_none(sch->ctx, before, schedule_func(sch), block))))
        return true;
    sched_refuse(sch,
                 "block '%s' calls a function that may have effects, and below loop '%s' it may not run just as often as before%s", block->name,
                 node_name(move->loop), expr_pure_way(call));
    sched_note(sch, call->span, "the call is here");
    return false;
}

static bool writes_parameter(Schedule *sch, const BlockStmt *block)
{
    bool writes = false;
    for (int i = 0; i < block->write_count; i++)
        writes |= func_is_argument(schedule_func(sch), buffer_viewed(schedule_func(sch), block->writes[i].buffer)->data);
    return writes;
}

/* A parameter is a result for the caller: all of it is computed still, also what nothing in the function reads. */
static bool check_result_is_kept(Move *move, const Func *before)
{
    Schedule *sch = move->sch;
    const BlockStmt *block = node_block(schedule_find_block(sch, node_block(move->block)->block));
    if (move->reverse || !writes_parameter(sch, block) || answer_is_shown(dependence_loses_none(sch->ctx, before, schedule_func(sch), block->block)))
        return true;
    sched_refuse(sch, "block '%s' writes a parameter, and below loop '%s' it is not shown to compute all of it", block->block->name,
                 node_name(move->loop));
    return sched_note_node(sch, move->block);
}

static bool run_move(Move *move)
{
    Schedule *sch = move->sch;
    if (!check_same_scope(move))
        return false;
    move_widen_domains(move);
    if (!check_movable(move) || !check_partners(move) ||
        (move->in_place && !move->partner_count && !check_complete_block(sch, move->block)) || !move_find_position(move))
        return false;
    Analyzer *an = loop_analyzer(move);
    const TreeNode *scope = schedule_scope(sch, move->block);
    const IterDomain *domains = move_solve_domains(move, an);
    if (!check_finished(move) || !check_claims(move))
        return false;
    const Stmt *scope_stmt = scope->stmt, *rebuilt = move_rebuild_scope(move, scope, move_build_nest(move, an, domains));
    const Func *before = schedule_func(sch);
    int shared = shared_loops(move);
    bool once = !move->in_place || runs_once(sch, node_block(move->block)->block, shared);
    if (!updates_follow_axes(sch, move->block)) /* as they do in the new place */
        warn_of_new_order(sch, node_block(move->block), false);
    const TreeNode block = *move->block, loop = *move->loop;
    move->block = &block;
    move->loop = &loop;
    sched_replace(sch, scope_stmt, rebuilt);
    if (!check_moved(move, before, schedule_func(sch)) || !check_updates_once(move) || !check_in_place_once(move, shared, once) ||
        !check_calls_once(move, before) || !check_result_is_kept(move, before))
        return false;
    if (!move->reverse)
        sch->narrowed = node_block(move->block)->block;
    move_fit_axis_types(move);
    return check_concurrent_loops_around(sch, schedule_find_block(sch, node_block(move->block)->block));
}

static bool move_block(Schedule *sch, const Value *args, bool reverse)
{
    Move move = {.sch = sch, .reverse = reverse, .preserve_unit_loops = args[2].as.boolean};
    move.index = args[3].as.integer;
    move.index_argument = &args[3];
    if (args[0].kind != VALUE_BLOCK || !schedule_block(sch, args[0].as.block) || !schedule_loop(sch, args[1].as.loop))
        return false;
    move.block = schedule_block(sch, args[0].as.block);
    move.loop = schedule_loop(sch, args[1].as.loop);
    return run_move(&move);
}

bool primitive_compute_at(Schedule *sch, const Value *args, Value *result)
{
    if (args[1].as.loop == sch->inline_mark)
        return primitive_compute_inline(sch, args, result);
    return args[1].as.loop == sch->root_mark || move_block(sch, args, false);
}

bool primitive_reverse_compute_at(Schedule *sch, const Value *args, Value *result)
{
    if (args[1].as.loop == sch->inline_mark)
        return primitive_reverse_compute_inline(sch, args, result);
    return args[1].as.loop == sch->root_mark || move_block(sch, args, true);
}
