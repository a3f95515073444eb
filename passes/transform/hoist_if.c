/* Pass "hoist_if_then_else": a condition that a loop does not change is tested once, before the loop.

     for i, j in T.grid(16, 16):                 for i in range(16):
         if i < n:                        ->         if i < n:
             B[i, j] = A[i, j]                           for j in range(16):
                                                             B[i, j] = A[i, j]

   The branch is all that the loop does, so that nothing is copied but the loop, for an else. The condition is tested though the loop may have
   no iteration: it must read no memory and divide by constants alone. As in the reference, the result is simplified and loses what does
   nothing. */
#include "passes/transform/internal.h"

static bool find_unsafe(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr_division_may_fail(expr) || (expr->kind == EXPR_CALL && !expr_is_call(expr, OP_LIKELY)) || expr->kind == EXPR_LET;
    return true;
}

static bool may_hoist(const Expr *condition, const Var *loop)
{
    bool unsafe = expr_uses_var(condition, loop);
    Visitor visitor = {.expr = find_unsafe, .data = &unsafe};
    visit_expr(&visitor, condition);
    return !unsafe && expr_is_pure(condition) && condition->kind != EXPR_INT;
}

static const Stmt *loop_around(Context *ctx, const Stmt *stmt, const Stmt *body)
{
    ForStmt loop = stmt->as.loop;
    loop.body = body;
    return stmt_for(ctx, loop, stmt->span);
}

/* The loops inside are done, so that a condition has come as far out as it can before. */
static const Stmt *hoist_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt), *branch = result->kind == STMT_FOR ? result->as.loop.body : NULL;
    if (!branch || branch->kind != STMT_IF || result->as.loop.kind == FOR_THREAD || !may_hoist(branch->as.branch.condition, result->as.loop.var))
        return result;
    const Stmt *holds = loop_around(ctx, result, branch->as.branch.then_body), *fails = NULL;
    if (branch->as.branch.else_body)
        fails = clone_fresh(ctx, loop_around(ctx, result, branch->as.branch.else_body));
    return stmt_if(ctx, branch->as.branch.condition, holds, fails, stmt->span);
}

const Func *transform_hoist_if(LowerState *state, const Func *func)
{
    Rewriter rewriter = {.ctx = state->ctx, .stmt = hoist_stmt};
    func = func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
    return transform_remove_no_op(state, transform_simplify(state, func));
}
