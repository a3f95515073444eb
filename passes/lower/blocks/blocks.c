/* Pass "blocks": removes the blocks; what they hold stays.

     with T.block("B"):
         T.reads(A[i])              ->    B[i] = A[i]
         T.writes(B[i])
         B[i] = A[i]

   Block annotations are hints and go with the block.

   The blocks say what calls write, so this is the last place where all is known of the parameters that are written: that their elements are
   distinct cells is asserted here. */
#include "ir/elements.h"
#include "passes/lower/core/checks.h"

static const Stmt *remove_block(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind != STMT_BLOCK)
        return rewrite_stmt_children(rewriter, stmt);
    return rewrite_stmt(rewriter, stmt->as.block.body);
}

static const Stmt *with_checks(LowerState *state, const Func *func, const Stmt *body)
{
    CheckList checks = {.ctx = state->ctx};
    Map written = func_written_buffers(state->ctx, func);
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer && map_has(&written, func->params[i].buffer))
            checks_distinct_elements(&checks, func->params[i].buffer);
    return checks_around(&checks, body);
}

const Func *lower_blocks(LowerState *state, const Func *func)
{
    Rewriter rewriter = {.ctx = state->ctx, .stmt = remove_block};
    return func_with_body(state->ctx, func, with_checks(state, func, rewrite_stmt(&rewriter, func->body)));
}
