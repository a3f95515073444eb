/* Pass "vectorize_loop": the passes "lanes" and "vectorize" of the way to LLVM. Loops whose iterations are not shown to be independent become
   serial. A statement with a choice that varies with the lane stays a loop of its own, as in the reference, where a vector has no mask:

     for v in T.vectorized(8):                           B[0:8] = A[0:8]
         B[v] = A[v]                                     for v_s in range(8):
         if v < n:                               ->          if v_s < n:
             C[v] = T.float32(0.0)                               C[v_s] = T.float32(0.0)

   The iterations are independent, so that each statement may run for all of them before the next one. */
#include "passes/transform/internal.h"

typedef struct {
    Context *ctx;
    const Stmt *loop;
    Map varying; /* the loop's variable, and what the body computes from it */
    bool found;
} Choices;

static bool find_choice_in_expr(Visitor *visitor, const Expr *expr)
{
    Choices *choices = visitor->data;
    choices->found |= expr_is_call(expr, OP_IF_THEN_ELSE) && (expr_uses_any(expr->args[0], &choices->varying) || expr_reads_memory(expr->args[0]));
    return true;
}

static bool is_choice(const Choices *choices, const Stmt *stmt)
{
    return stmt->kind == STMT_IF && (expr_uses_any(stmt->as.branch.condition, &choices->varying) || expr_reads_memory(stmt->as.branch.condition));
}

static bool find_choice(Visitor *visitor, const Stmt *stmt)
{
    Choices *choices = visitor->data;
    choices->found |= is_choice(choices, stmt);
    if (stmt->kind == STMT_LET)
        map_set(choices->ctx->arena, &choices->varying, stmt->as.let.var, stmt->as.let.var);
    return true;
}

static bool has_choice(Choices *choices, const Stmt *stmt)
{
    Visitor visitor = {.stmt = find_choice, .expr = find_choice_in_expr, .data = choices};
    choices->found = false;
    visit_stmt(&visitor, stmt);
    return choices->found;
}

/* STMT, of the body, for all iterations: as one serial loop if it chooses. */
static const Stmt *for_all_lanes(Choices *choices, const Stmt *stmt)
{
    Context *ctx = choices->ctx;
    ForStmt loop = choices->loop->as.loop;
    loop.body = stmt;
    if (has_choice(choices, stmt)) {
        Var *var = var_clone(ctx, loop.var, context_internf(ctx, "%s_s", loop.var->name));
        Subst subst = {0};
        subst_var(ctx, &subst, loop.var, expr_var(ctx, var));
        loop.body = subst_stmt(ctx, &subst, stmt);
        loop.var = var;
        loop.kind = FOR_SERIAL;
    }
    return clone_fresh(ctx, stmt_for(ctx, loop, choices->loop->span));
}

static bool runs_alike(const Choices *choices, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    return stmt->kind == STMT_FOR && loop->kind != FOR_THREAD && !expr_uses_any(loop->min, &choices->varying) &&
           !expr_uses_any(loop->extent, &choices->varying) && !expr_reads_memory(loop->min) && !expr_reads_memory(loop->extent);
}

static const Stmt *distribute(Choices *choices, const Stmt *stmt)
{
    Context *ctx = choices->ctx;
    if (stmt->kind == STMT_SEQ) {
        const Stmt **items = ARENA_ARRAY(ctx->arena, const Stmt *, stmt->as.seq.count);
        for (int i = 0; i < stmt->as.seq.count; i++)
            items[i] = distribute(choices, stmt->as.seq.items[i]);
        return stmt_seq(ctx, items, stmt->as.seq.count);
    }
    if (runs_alike(choices, stmt))
        return stmt_with_body(ctx, stmt, distribute(choices, stmt->as.loop.body));
    if (stmt->kind == STMT_IF && !is_choice(choices, stmt)) {
        const Stmt *other = stmt->as.branch.else_body;
        return stmt_if(ctx, stmt->as.branch.condition, distribute(choices, stmt->as.branch.then_body), other ? distribute(choices, other) : NULL,
                       stmt->span);
    }
    return for_all_lanes(choices, stmt);
}

static const Stmt *take_choices_out(Rewriter *rewriter, const Stmt *stmt)
{
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (result->kind != STMT_FOR || result->as.loop.kind != FOR_VECTORIZED)
        return result;
    Choices choices = {.ctx = rewriter->ctx, .loop = result};
    map_set(rewriter->ctx->arena, &choices.varying, result->as.loop.var, result->as.loop.var);
    return has_choice(&choices, result->as.loop.body) ? distribute(&choices, result->as.loop.body) : result;
}

const Func *transform_vectorize(LowerState *state, const Func *func)
{
    func = lower_lanes(state, func);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = take_choices_out};
    return lower_vectorize(state, func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body)));
}
