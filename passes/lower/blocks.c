/* Pass "blocks": removes the blocks; what they hold stays.

     with T.block("B"):
         T.reads(A[i])              ->    B[i] = A[i]
         T.writes(B[i])
         B[i] = A[i]

   Needs: no iterators, predicates, allocations, views or init left in blocks (they can be only where a text that a later pass is to start
   from has them: refused). Block annotations are hints and go with the block. */
#include "passes/lower/state.h"

static const Stmt *remove_block(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind != STMT_BLOCK)
        return rewrite_stmt_children(rewriter, stmt);
    const BlockStmt *block = &stmt->as.block;
    if (block->iter_count || block->alloc_count || block->match_count || block->init || !expr_is_int(block->predicate, 1))
        diag_error(rewriter->ctx, stmt->span, "block '%s' still has what earlier passes take away: start from an earlier pass",
                   block->block->name);
    return rewrite_stmt(rewriter, block->body);
}

const Func *lower_blocks(LowerState *state, const Func *func)
{
    Rewriter rewriter = {.ctx = state->ctx, .stmt = remove_block};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
