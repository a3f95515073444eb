/* Descriptions of tensor intrinsics in the form in which blocks of a program come.

   Before                                          After
     with T.block("root"):                           with T.block("root"):
         for i, j, k in T.grid(16, 16, 16):              with T.init():
             with T.block("C"):                              for i, j in T.grid(16, 16):
                 vi, vj, vk = ... "SSR"                          with T.block("C_init"):
                 with T.init():                                      C[vi, vj] = 0.0
                     C[vi, vj] = 0.0                     for i, j, k in T.grid(16, 16, 16):
                 C[vi, vj] += ...                            with T.block("C"):
                                                                 C[vi, vj] += ...

   Legal where the update is a known reduction whose init sets the element that it combines into: it reads no other element of its target. */
#include "ir/walk.h"
#include "passes/analysis/model/reduction.h"
#include "passes/schedule/block/match.h"

/* STMT, a nest of loops around one block, with INNER as that. */
static const Stmt *nest_with(Context *ctx, const Stmt *stmt, const Stmt *inner)
{
    return stmt->kind == STMT_FOR ? stmt_with_body(ctx, stmt, nest_with(ctx, stmt->as.loop.body, inner)) : inner;
}

static bool bindings_use(const BlockStmt *block, const Var *var)
{
    for (int i = 0; i < block->iter_count; i++)
        if (expr_uses_var(block->bindings[i], var))
            return true;
    return expr_uses_var(block->predicate, var);
}

/* The loops of STMT that INIT, a block, depends on around it. */
static const Stmt *needed_loops(Context *ctx, const Stmt *stmt, const Stmt *init)
{
    if (stmt->kind != STMT_FOR)
        return init;
    const Stmt *body = needed_loops(ctx, stmt->as.loop.body, init);
    return bindings_use(&init->as.block, stmt->as.loop.var) ? stmt_with_body(ctx, stmt, body) : body;
}

/* The init of BLOCK as a block over its other axes than reduce ones; NULL where these do not tell where it runs. */
static const Stmt *init_block(Context *ctx, const BlockStmt *block, Span span)
{
    BlockStmt init = *block;
    init.iters = ARENA_ARRAY(ctx->arena, Iter, block->iter_count);
    init.bindings = ARENA_ARRAY(ctx->arena, const Expr *, block->iter_count);
    init.iter_count = 0;
    for (int i = 0; i < block->iter_count; i++) {
        if (block->iters[i].kind == ITER_REDUCE) {
            if (expr_uses_var(block->predicate, block->iters[i].var) || stmt_uses_var(block->init, block->iters[i].var))
                return NULL;
            continue;
        }
        init.iters[init.iter_count] = block->iters[i];
        init.bindings[init.iter_count++] = block->bindings[i];
    }
    init.body = block->init;
    init.init = NULL;
    init.reads = NULL;
    init.read_count = 0;
    return stmt_block(ctx, init, span);
}

const BlockStmt *description_with_init_in_front(Context *ctx, const BlockStmt *root)
{
    const Stmt *inner = root->body;
    while (inner->kind == STMT_FOR)
        inner = inner->as.loop.body;
    if (inner->kind != STMT_BLOCK || !expr_is_int(inner->as.block.predicate, 1))
        return NULL;
    const Reduction *reduction = reduction_recognize(ctx, &inner->as.block);
    const Stmt *init = reduction && reduction_starts_targets(reduction, &inner->as.block) ? init_block(ctx, &inner->as.block, inner->span) : NULL;
    if (!init)
        return NULL;
    BlockStmt update = inner->as.block, lifted = *root;
    update.init = NULL;
    lifted.init = clone_fresh(ctx, needed_loops(ctx, root->body, init));
    lifted.body = nest_with(ctx, root->body, stmt_block(ctx, update, inner->span));
    return arena_copy(ctx->arena, &lifted, sizeof lifted);
}
