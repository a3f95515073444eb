/* The start and extent of a loop, where a step evaluates them in other places; see loops.h.

   A loop evaluates its bounds once, before its first iteration. A step that writes a bound into a guard, a binding, or the bounds of other
   loops evaluates it elsewhere and more often. Legal where the bound reads no memory that the statements around the new places write. */
#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/model/access.h"
#include "passes/schedule/core/loops.h"
#include "print/print.h"

typedef struct {
    Schedule *sch;
    Map data;           /* data variable of the memory that the bounds read -> a buffer of it */
    const Expr *opaque; /* a call in the bounds that may do anything */
    Map stmts;          /* the statements around the new places of the bounds */
} BoundReads;

static bool find_bound_read(Visitor *visitor, const Expr *expr)
{
    BoundReads *reads = visitor->data;
    if (expr->kind == EXPR_LOAD) {
        Buffer *buffer = expr->value.buffer;
        map_set(reads->sch->ctx->arena, &reads->data, buffer_viewed(schedule_func(reads->sch), buffer)->data, buffer);
    }
    if (expr_is_opaque_call(expr) || expr_is_foreign_call(expr))
        reads->opaque = expr;
    return true;
}

static bool note_stmt(Visitor *visitor, const Stmt *stmt)
{
    BoundReads *reads = visitor->data;
    map_set(reads->sch->ctx->arena, &reads->stmts, stmt, (void *)stmt);
    return true;
}

static bool refuse_bound(Schedule *sch, const TreeNode *node, Span span, const char *text)
{
    const ForStmt *loop = node_loop(node);
    sched_refuse_node(sch, node, "loop '%s' runs over %s iterations from %s, which would be evaluated more than once, and %s",
                      loop->var->name, print_expr(sch->ctx, loop->extent), print_expr(sch->ctx, loop->min), text);
    sched_note(sch, span, "here");
    return false;
}

bool check_bounds_are_kept(Schedule *sch, const TreeNode *node, const Stmt *const *parts, int count)
{
    const ForStmt *loop = node_loop(node);
    BoundReads reads = {.sch = sch};
    Visitor visitor = {.expr = find_bound_read, .data = &reads};
    visit_expr(&visitor, loop->min);
    visit_expr(&visitor, loop->extent);
    if (reads.opaque)
        return refuse_bound(sch, node, reads.opaque->span, "a call in them may have effects");
    if (!reads.data.count)
        return true;
    visitor = (Visitor){.stmt = note_stmt, .data = &reads};
    for (int i = 0; i < count; i++)
        visit_stmt(&visitor, parts[i]);
    AccessList accesses = access_collect(sch->ctx, schedule_func(sch));
    for (int i = 0; i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        if (!map_has(&reads.stmts, access->stmt) || !(access->fence || (access->write && map_has(&reads.data, access->data))))
            continue;
        const char *what = access->fence ? "a call in the loop may write what they read"
                                         : arena_printf(sch->ctx->arena, "buffer '%s', which they read, is written", access->buffer->name);
        return refuse_bound(sch, node, access->span, what);
    }
    return true;
}

bool check_bounds_of_nest_are_kept(Schedule *sch, const TreeNode *const *loops, int count, const Stmt *top)
{
    for (int i = 0; i < count; i++)
        if (!check_bounds_are_kept(sch, loops[i], &top, 1))
            return false;
    return true;
}

bool loop_starts_at_zero(Schedule *sch, const TreeNode *node)
{
    const ForStmt *loop = node_loop(node);
    return analyzer_prove_equal(analyzer_new(sch->ctx), loop->min, expr_int(sch->ctx, loop->min->dtype, 0));
}

const TreeNode *loops_count_from_zero(Schedule *sch, const TreeNode *node)
{
    Context *ctx = sch->ctx;
    if (loop_starts_at_zero(sch, node))
        return node;
    const Stmt *old = node->stmt;
    if (!check_bounds_are_kept(sch, node, &old, 1))
        return NULL;
    ForStmt loop = old->as.loop;
    Subst shift = {0};
    subst_var(ctx, &shift, loop.var, op_add(ctx, expr_var(ctx, loop.var), op_cast(ctx, loop.var->dtype, loop.min)));
    loop.body = loops_substitute(ctx, &shift, loop.body);
    loop.min = expr_int(ctx, loop.var->dtype, 0);
    sched_replace(sch, old, stmt_for(ctx, loop, old->span));
    return schedule_find_loop(sch, loop.var);
}
