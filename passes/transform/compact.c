/* Pass "compact_buffer_allocation": buffers that blocks allocate shrink to the region that is accessed, as the pass "compact" shrinks them on
   the way to LLVM.

     with T.block(""):                                  with T.block(""):
         B = T.alloc_buffer((128, 16))                      B = T.alloc_buffer((1, 16))
         for j in range(16):                  ->            for j in range(16):
             B[i, j] = A[i, j]                                  B[0, j] = A[i, j]

   For that pass an allocation is a statement around the body of its block: this it becomes, and ceases to be. */
#include "passes/lower/memory/place.h"
#include "passes/transform/internal.h"

typedef struct {
    Map opened; /* the data Vars of the buffers that blocks allocate */
} Compaction;

static const Stmt *open_block(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    Compaction *compaction = rewriter->data;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_BLOCK || !stmt->as.block.alloc_count)
        return result;
    BlockStmt block = result->as.block;
    for (int i = block.alloc_count - 1; i >= 0; i--) {
        Buffer *buffer = stmt->as.block.allocs[i];
        map_set(ctx->arena, &compaction->opened, buffer->data, buffer);
        block.body = stmt_allocate_buffer(ctx, buffer, stmt_alignments(ctx, stmt, buffer), block.body, buffer->span);
    }
    block.alloc_count = 0;
    return stmt_block(ctx, block, stmt->span);
}

static bool is_opened(const Compaction *compaction, const Stmt *stmt)
{
    return stmt->kind == STMT_ALLOCATE && map_has(&compaction->opened, stmt->as.allocate.var) && stmt->as.allocate.body->kind == STMT_DECL_BUFFER;
}

static const Stmt *close_block(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    const Compaction *compaction = rewriter->data;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_BLOCK || !is_opened(compaction, result->as.block.body))
        return result;
    BlockStmt block = result->as.block;
    VEC(Buffer *) allocs = {0};
    for (; is_opened(compaction, block.body); block.body = block.body->as.allocate.body->as.declare.body)
        vec_push(ctx->arena, &allocs, block.body->as.allocate.body->as.declare.buffer);
    block.allocs = allocs.data;
    block.alloc_count = allocs.count;
    return stmt_block(ctx, block, stmt->span);
}

const Func *transform_compact(LowerState *state, const Func *func)
{
    Compaction compaction = {0};
    Rewriter opener = {.ctx = state->ctx, .stmt = open_block, .data = &compaction};
    Rewriter closer = {.ctx = state->ctx, .stmt = close_block, .data = &compaction};
    func = func_with_body(state->ctx, func, rewrite_stmt(&opener, func->body));
    func = lower_compact(state, func);
    return func_with_body(state->ctx, func, rewrite_stmt(&closer, func->body));
}
