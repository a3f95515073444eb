/* Pass "flatten_buffer": accesses of several dimensions become accesses of one.

     for i, j in T.grid(64, 32):                        A_1 = T.decl_buffer((2048,), data=A.data)
         A[i, j] = T.float32(0.0)               ->      for i, j in T.grid(64, 32):
                                                            A_1[i * 32 + j] = T.float32(0.0)

   Parameters keep their declarations; a flat buffer over the memory of one stands at the top, where it is used. Indices keep their types.
   Strides and offsets become part of the index. */
#include "passes/lower/memory/flat_form.h"
#include "passes/transform/internal.h"

/* --- simple indices --- */

static const Expr *simplify_access(Rewriter *rewriter, const Expr *expr)
{
    const Expr *result = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD || load_index_count(expr) != 1)
        return result;
    const Expr *index = analyzer_simplify(rewriter->data, result->args[0]);
    return expr_load(rewriter->ctx, expr->value.buffer, &index, 1, load_mask(result), expr->span);
}

static const Stmt *simplify_branch(Rewriter *rewriter, const Stmt *stmt)
{
    Analyzer *an = rewriter->data;
    const Expr *condition = rewrite_expr(rewriter, stmt->as.branch.condition);
    const Stmt *bodies[2] = {stmt->as.branch.then_body, stmt->as.branch.else_body};
    for (int i = 0; i < 2 && bodies[i]; i++) {
        AnalyzerScope scope = analyzer_enter(an);
        facts_assume(an, i ? op_not(rewriter->ctx, condition, span_none()) : condition);
        bodies[i] = rewrite_stmt(rewriter, bodies[i]);
        analyzer_leave(an, scope);
    }
    return stmt_if(rewriter->ctx, condition, bodies[0], bodies[1], stmt->span);
}

static const Stmt *simplify_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    facts_bind_stmt(rewriter->data, stmt);
    if (stmt->kind == STMT_IF)
        return simplify_branch(rewriter, stmt);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_STORE || stmt->as.store.index_count != 1)
        return result;
    Stmt copy = *result;
    const Expr *index = analyzer_simplify(rewriter->data, result->as.store.indices[0]);
    copy.as.store.indices = arena_copy(rewriter->ctx->arena, &index, sizeof index);
    return stmt_new(rewriter->ctx, &copy);
}

/* --- the pass --- */

/* What the layout of a buffer reads from memory becomes part of each index: it is read once before. */
const Func *transform_flatten(LowerState *state, const Func *func)
{
    Context *ctx = state->ctx;
    func = lower_layouts(state, func);
    FlatBuffers flat = {.ctx = ctx, .declares = true};
    const Stmt *body = flat_accesses(&flat, func->body);
    Analyzer *an = analyzer_new(ctx);
    facts_bind_sizes(an, func);
    Rewriter rewriter = {.ctx = ctx, .expr = simplify_access, .stmt = simplify_in_stmt, .data = an};
    body = rewrite_stmt(&rewriter, body);
    for (int i = func->param_count - 1; i >= 0; i--) {
        Buffer *of_param = func->params[i].buffer ? map_get(&flat.flat, func->params[i].buffer) : NULL;
        if (of_param && of_param != func->params[i].buffer)
            body = stmt_new(ctx, &(Stmt){.kind = STMT_DECL_BUFFER, .span = of_param->span, .as.declare = {of_param, true, body}});
    }
    return func_with_body(ctx, func, body);
}
