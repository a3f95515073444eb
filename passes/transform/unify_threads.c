/* Pass "unify_thread_binding": loops bound to one thread index of a kernel bind one variable, which is called like the index.

     for tx in T.thread_binding(8, thread="threadIdx.x"):               for threadIdx_x in T.thread_binding(8, thread="threadIdx.x"):
         S[tx] = A[tx]                                            ->        S[threadIdx_x] = A[threadIdx_x]
     for t in T.thread_binding(8, thread="threadIdx.x"):                for threadIdx_x in T.thread_binding(8, thread="threadIdx.x"):
         B[t] = S[7 - t]                                                    B[threadIdx_x] = S[7 - threadIdx_x]

   In a kernel, the outermost loop over threads and what is in it, these loops must count alike: a thread has one index. */
#include <string.h>

#include "passes/lower/memory/flat_form.h"
#include "passes/transform/internal.h"

typedef struct {
    Context *ctx;
    Map extents; /* Str of a thread index -> the first loop of the kernel bound to it */
    bool in_kernel;
} Unification;

static bool is_thread_loop(const Stmt *stmt)
{
    return stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD;
}

/* False after a diagnostic. */
static bool counts_alike(Unification *unification, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    const Stmt *first = map_get(&unification->extents, loop->thread);
    if (!first) {
        map_set(unification->ctx->arena, &unification->extents, loop->thread, (void *)stmt);
        return true;
    }
    Analyzer *an = analyzer_new(unification->ctx);
    if (analyzer_prove_equal(an, loop->extent, first->as.loop.extent))
        return true;
    diag_error(unification->ctx, stmt->span, "loops '%s' and '%s' are bound to %s in one kernel and are not shown to have as many iterations",
               first->as.loop.var->name, loop->var->name, loop->thread);
    return false;
}

static const Stmt *unify_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Unification *unification = rewriter->data;
    Context *ctx = rewriter->ctx;
    if (!is_thread_loop(stmt))
        return rewrite_stmt_children(rewriter, stmt);
    bool outermost = !unification->in_kernel;
    if (outermost)
        unification->extents = (Map){0};
    unification->in_kernel = true;
    bool virtual = !strcmp(stmt->as.loop.thread, "vthread"); /* each such loop counts threads of its own */
    ForStmt loop = stmt->as.loop;
    if (virtual || counts_alike(unification, stmt)) {
        Var *var = var_clone(ctx, loop.var, thread_name(ctx, loop.thread));
        Subst subst = {0};
        subst_var(ctx, &subst, loop.var, expr_var(ctx, var));
        loop.body = subst_stmt(ctx, &subst, loop.body);
        loop.var = var;
    }
    loop.body = rewrite_stmt(rewriter, loop.body);
    unification->in_kernel = !outermost;
    return stmt_for(ctx, loop, stmt->span);
}

const Func *transform_unify_threads(LowerState *state, const Func *func)
{
    Unification unification = {.ctx = state->ctx};
    Rewriter rewriter = {.ctx = state->ctx, .stmt = unify_stmt, .data = &unification};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
