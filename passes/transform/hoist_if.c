/* Pass "hoist_if_then_else": a condition that a loop does not change is tested once, before the loop.

     for i, j in T.grid(16, 16):                 for i in range(16):
         if i < n:                        ->         if i < n:
             B[i, j] = A[i, j]                           for j in range(16):
                                                             B[i, j] = A[i, j]

   What the loop does besides stands in both branches, and the branch in which the condition fails only if it does something. The condition is
   tested though the loop may have no iteration: it must read no memory and divide by constants alone. */
#include "passes/transform/internal.h"

enum { MOST_STATEMENTS = 2048 }; /* of a loop that is copied */

typedef struct {
    Context *ctx;
    Map inner;             /* what the loop and its body bind */
    const Expr *condition; /* the first that can be hoisted */
    int statements;
} Search;

static bool find_unsafe(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr_division_may_fail(expr) || (expr->kind == EXPR_CALL && !expr_is_call(expr, OP_LIKELY)) || expr->kind == EXPR_LET;
    return true;
}

static bool may_hoist(const Search *search, const Expr *condition)
{
    bool unsafe = false;
    Visitor visitor = {.expr = find_unsafe, .data = &unsafe};
    visit_expr(&visitor, condition);
    return !unsafe && expr_is_pure(condition) && condition->kind != EXPR_INT && !expr_uses_any(condition, &search->inner);
}

static bool note_bound(Visitor *visitor, const Stmt *stmt)
{
    Search *search = visitor->data;
    Var *var = stmt->kind == STMT_FOR ? stmt->as.loop.var : stmt->kind == STMT_LET ? stmt->as.let.var : stmt->kind == STMT_ATTR ? stmt->as.attr.var : NULL;
    if (var)
        map_set(search->ctx->arena, &search->inner, var, var);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.iter_count; i++)
        map_set(search->ctx->arena, &search->inner, stmt->as.block.iters[i].var, stmt->as.block.iters[i].var);
    search->statements += stmt->kind != STMT_SEQ;
    return true;
}

static bool find_condition(Visitor *visitor, const Stmt *stmt)
{
    Search *search = visitor->data;
    if (stmt->kind == STMT_IF && !search->condition && may_hoist(search, stmt->as.branch.condition))
        search->condition = stmt->as.branch.condition;
    return !search->condition && stmt->kind != STMT_BLOCK;
}

typedef struct {
    const Expr *condition;
    bool holds;
} Decision;

static const Stmt *decide(Rewriter *rewriter, const Stmt *stmt)
{
    const Decision *decision = rewriter->data;
    if (stmt->kind != STMT_IF || !expr_equal(stmt->as.branch.condition, decision->condition))
        return rewrite_stmt_children(rewriter, stmt);
    const Stmt *chosen = decision->holds ? stmt->as.branch.then_body : stmt->as.branch.else_body;
    return chosen ? rewrite_stmt(rewriter, chosen) : stmt_empty(rewriter->ctx);
}

/* LOOP where CONDITION is known. */
static const Stmt *decided(Context *ctx, const Stmt *loop, const Expr *condition, bool holds)
{
    Decision decision = {condition, holds};
    Rewriter rewriter = {.ctx = ctx, .stmt = decide, .data = &decision};
    const Stmt *result = rewrite_stmt(&rewriter, loop);
    bool empty = result->kind == STMT_FOR && stmt_is_empty(result->as.loop.body) && !expr_reads_memory(result->as.loop.min) &&
                 !expr_reads_memory(result->as.loop.extent);
    return empty ? stmt_empty(ctx) : result;
}

/* LOOP, in which all loops are done, with its conditions before it. */
static const Stmt *hoist_from(Context *ctx, const Stmt *loop)
{
    if (loop->kind != STMT_FOR)
        return loop;
    Search search = {.ctx = ctx};
    Visitor bound = {.stmt = note_bound, .data = &search}, conditions = {.stmt = find_condition, .data = &search};
    visit_stmt(&bound, loop);
    visit_stmt(&conditions, loop->as.loop.body);
    if (!search.condition || search.statements > MOST_STATEMENTS)
        return loop;
    const Stmt *holds = decided(ctx, loop, search.condition, true), *fails = decided(ctx, loop, search.condition, false);
    if (stmt_is_empty(holds) && stmt_is_empty(fails))
        return holds;
    fails = stmt_is_empty(fails) ? NULL : hoist_from(ctx, clone_fresh(ctx, fails));
    return stmt_if(ctx, search.condition, hoist_from(ctx, holds), fails, loop->span);
}

static const Stmt *hoist_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    return result->kind == STMT_FOR && result->as.loop.kind != FOR_THREAD ? hoist_from(rewriter->ctx, result) : result;
}

const Func *transform_hoist_if(LowerState *state, const Func *func)
{
    Rewriter rewriter = {.ctx = state->ctx, .stmt = hoist_stmt};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
