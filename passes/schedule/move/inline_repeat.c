/* compute_inline: blocks that run again in later iterations of loops around the inlined block, and store there what was there already.

     for t in range(4):
         for j, k in T.grid(8, 16):
             X[j] = sum over k of A[j, k]         the same in each iteration of t
         for j in range(8):
             B[t, j] = X[j] * t                   may be computed behind the loop over t

   It may not where X[j] depends on t: where it sums over range(t + 1), or adds to the X[j] of the iteration before. */
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/move/inline.h"

typedef struct {
    const LoopMembers *loop;
    const TreeNode *writer;
    int agreed;     /* loops around LOOP->from that stay in one iteration */
    Map moving;     /* loops and lets that may have other values when WRITER runs again, on themselves */
    Map inside;     /* lets, and loops that are not around LOOP->from */
    Map outside;    /* all loops and lets around WRITER in its scope */
    bool instances; /* WRITER's instances may be others, or in another order, when it runs again */
} Repeat;

/* WRITER reduces over a loop that LOOP->from is in too: it leaves partial results there. */
static bool reduces_around(const LoopMembers *loop, const TreeNode *writer)
{
    bool reduces = false;
    for (const TreeNode *up = schedule_parent(loop->sch, loop->from); up; up = schedule_parent(loop->sch, up))
        reduces |= up->stmt->kind == STMT_FOR && schedule_is_under(loop->sch, writer, up) &&
                   block_binds_axis(node_block(writer), false, node_loop(up)->var);
    return reduces;
}

/* All that READER reads of what WRITER writes, WRITER has written before in the same iteration of the loops around both. */
static bool has_written_before(Schedule *sch, const TreeNode *writer, const TreeNode *reader)
{
    const Func *func = schedule_func(sch);
    const BlockStmt *block = node_block(writer);
    Map read = dependence_read_data(sch->ctx, func, node_block(reader)->block);
    for (int w = 0; w < block->write_count; w++) {
        const Var *data = buffer_viewed(func, block->writes[w].buffer)->data;
        if (map_has(&read, data) &&
            !answer_is_shown(dependence_serves_each_iteration(sch->ctx, func, block->block, node_block(reader)->block, data)))
            return false;
    }
    return true;
}

/* Each time that WRITER computes an element anew it starts anew: it reads none of what it has left there. */
static bool starts_anew(Schedule *sch, const TreeNode *writer)
{
    const Func *func = schedule_func(sch);
    const BlockStmt *block = node_block(writer);
    if ((block->init && !dependence_reads_target_apart(sch->ctx, func, block->block)) ||
        answer_is_shown(dependence_not_overwritten(sch->ctx, func, block->block, block->block)))
        return true;
    bool own = true;
    for (int w = 0; w < block->write_count && own; w++)
        own = answer_is_shown(dependence_reads_own_writes(sch->ctx, func, block->block, block->writes[w].buffer));
    return own;
}

typedef struct {
    const Repeat *repeat;
    const Map *symbols;
    bool memory; /* what is loaded counts, too */
    bool found;
} Mention;

static bool is_written(const Repeat *repeat, const Var *data)
{
    const Func *func = schedule_func(repeat->loop->sch);
    bool written = repeat->loop->fence || map_has(&repeat->loop->loose_writes, data);
    for (int i = 0; i < repeat->loop->count && !written; i++) {
        const BlockStmt *block = node_block(repeat->loop->members[i]);
        for (int w = 0; w < block->write_count; w++)
            written |= buffer_viewed(func, block->writes[w].buffer)->data == data;
    }
    return written;
}

static bool find_mention(Visitor *visitor, const Expr *expr)
{
    Mention *mention = visitor->data;
    const Repeat *repeat = mention->repeat;
    mention->found |= (expr->kind == EXPR_VAR && map_has(mention->symbols, expr->value.var)) || (expr->kind == EXPR_CALL && !expr_is_pure(expr));
    if (expr->kind == EXPR_LOAD && mention->memory)
        mention->found |= is_written(repeat, buffer_viewed(schedule_func(repeat->loop->sch), expr->value.buffer)->data);
    return !mention->found;
}

/* EXPR, which is evaluated around the writer's body, mentions one of SYMBOLS, or memory that is written. */
static bool mentions(const Repeat *repeat, const Expr *expr, const Map *symbols)
{
    Mention mention = {repeat, symbols, true, false};
    Visitor visitor = {.expr = find_mention, .data = &mention};
    visit_expr(&visitor, expr);
    return mention.found;
}

/* It may have another value when the writer runs again. */
static bool moves(const Repeat *repeat, const Expr *expr)
{
    return mentions(repeat, expr, &repeat->moving);
}

/* What the writer's block holds mentions one of SYMBOLS, or calls what may have effects. */
static bool body_mentions(const Repeat *repeat, const Map *symbols)
{
    const BlockStmt *block = node_block(repeat->writer);
    Mention mention = {repeat, symbols, false, false};
    Visitor visitor = {.expr = find_mention, .data = &mention};
    visit_stmt(&visitor, block->body);
    if (block->init)
        visit_stmt(&visitor, block->init);
    for (int m = 0; m < block->match_count; m++)
        for (int d = 0; d < block->matches[m].source.buffer->ndim; d++)
            visit_expr(&visitor, block->matches[m].source.ranges[d].min);
    return mention.found;
}

/* The loop or let STMT around the writer; SHARED: around the inlined block too, and DEPTH loops are around it. */
static void note_symbol(Repeat *repeat, const Stmt *stmt, bool shared, int depth)
{
    Arena *arena = repeat->loop->sch->ctx->arena;
    bool loop = stmt->kind == STMT_FOR;
    Var *var = loop ? stmt->as.loop.var : stmt->as.let.var;
    const Expr *first = loop ? stmt->as.loop.min : stmt->as.let.value;
    bool differs = moves(repeat, first) || (loop && moves(repeat, stmt->as.loop.extent));
    map_set(arena, &repeat->outside, var, var);
    if (!loop || !shared)
        map_set(arena, &repeat->inside, var, var);
    if (loop ? (shared ? depth >= repeat->agreed : differs) : differs)
        map_set(arena, &repeat->moving, var, var);
    repeat->instances |= loop && !shared && differs;
}

/* Goes inwards through what is around the writer, from UP outwards at first. Returns the number of loops. */
static int note_around(Repeat *repeat, const TreeNode *up)
{
    Schedule *sch = repeat->loop->sch;
    if (!up || up == schedule_scope(sch, repeat->writer))
        return up ? inline_common_loops(sch, up, up) : 0;
    int depth = note_around(repeat, schedule_parent(sch, up));
    const Stmt *stmt = up->stmt;
    bool shared = schedule_is_under(sch, repeat->loop->from, up);
    if (stmt->kind == STMT_FOR || stmt->kind == STMT_LET)
        note_symbol(repeat, stmt, shared, depth);
    else if (stmt->kind == STMT_IF)
        repeat->instances |= moves(repeat, stmt->as.branch.condition);
    else if (stmt->kind == STMT_WHILE)
        repeat->instances |= !shared;
    return depth + (stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE);
}

/* The axis takes the same values when the writer runs again. Or it takes one value in each iteration of the loops around both blocks, and all
   instances of the element run again there. */
static bool axis_repeats(const Repeat *repeat, const Iter *iter, const Expr *binding)
{
    return !moves(repeat, binding) || (iter->kind == ITER_SPATIAL && !mentions(repeat, binding, &repeat->inside));
}

/* The writer's instances compute the same when they run again, their inputs staying: each is a function of its axes, and these alone name the
   elements; or the same instances run in the same order. */
static bool instances_repeat(Repeat *repeat)
{
    const BlockStmt *block = node_block(repeat->writer);
    note_around(repeat, schedule_parent(repeat->loop->sch, repeat->writer));
    bool spatial = true;
    repeat->instances |= moves(repeat, block->predicate);
    for (int i = 0; i < block->iter_count; i++) {
        spatial &= block->iters[i].kind == ITER_SPATIAL;
        repeat->instances |= !axis_repeats(repeat, &block->iters[i], block->bindings[i]);
    }
    if (spatial && !body_mentions(repeat, &repeat->outside))
        return true;
    return !repeat->instances && !body_mentions(repeat, &repeat->moving);
}

/* A statement in no block writes, or may write, what WRITER reads. */
static bool loose_writes_input(const LoopMembers *loop, const TreeNode *writer)
{
    Map read = dependence_read_data(loop->sch->ctx, schedule_func(loop->sch), node_block(writer)->block);
    bool found = loop->fence;
    for (int i = 0; i < read.count && !found; i++)
        found = map_has(&loop->loose_writes, read.entries[i].key);
    return found;
}

/* Four things hold: each element has one instance that writes it, or one reduction; WRITER had written all that READER reads; what runs again
   does the same; the inputs of WRITER keep their values, or other writers store them again in the same way. DEPTH: the number of writers
   already asked on this way. */
static bool writes_the_same(const LoopMembers *loop, const TreeNode *writer, const TreeNode *reader, int agreed, int depth)
{
    const Func *func = schedule_func(loop->sch);
    Repeat repeat = {.loop = loop, .writer = writer, .agreed = agreed};
    bool same = depth < loop->count && !loose_writes_input(loop, writer) && answer_is_shown(dependence_points_apart(loop->sch->ctx, func, node_block(writer))) &&
                !reduces_around(loop, writer) && instances_repeat(&repeat) &&
                starts_anew(loop->sch, writer) && has_written_before(loop->sch, writer, reader);
    for (int i = 0; i < loop->count && same; i++) {
        const TreeNode *other = loop->members[i];
        if (other != writer &&
            !answer_is_shown(dependence_not_overwritten(loop->sch->ctx, func, node_block(writer)->block, node_block(other)->block)))
            same = writes_the_same(loop, other, writer, agreed, depth + 1);
    }
    return same;
}

bool inline_writes_the_same(const LoopMembers *loop, const TreeNode *writer, int agreed)
{
    return writes_the_same(loop, writer, loop->from, agreed, 0);
}
