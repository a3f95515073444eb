/* The axes of a moved block where the loops around its new place are of another integer type; see move.h.

   Before, compute_at(B, i)                       After
     for i in range(T.int64(16)): ...               for i in range(T.int64(16)):
                                                        with T.block("B"):
     with T.block("B"):                                     v = T.axis.spatial(T.int64(16), i)
         v = T.axis.spatial(16, ...)                        B[v] = T.Cast("float32", T.Cast("int32", v) * 3)
         B[v] = T.Cast("float32", v * 3)

   Values may wrap in their type, so there the axis keeps the old one by a cast; indices never do. */
#include "ir/walk.h"
#include "passes/schedule/move/move.h"

typedef struct {
    Subst subst; /* an axis to a cast of the wide one */
    Map wide;    /* the wide axes */
} Widening;

/* Gives ITER the type TYPE. */
static void widen_iter(Context *ctx, Widening *widening, Iter *iter, DType type)
{
    Var *wide = var_new(ctx, iter->var->name, type, iter->var->span);
    subst_var(ctx, &widening->subst, iter->var, op_cast(ctx, iter->var->dtype, expr_var(ctx, wide)));
    map_set(ctx->arena, &widening->wide, wide, wide);
    iter->var = wide;
    iter->domain = (Range){op_cast(ctx, type, iter->domain.min), op_cast(ctx, type, iter->domain.extent)};
}

/* INDEX, computed in the type of the wide axes where it mentions some. */
static const Expr *widen_index(Context *ctx, const Widening *widening, const Expr *index)
{
    if (index->kind == EXPR_CAST && index->args[0]->kind == EXPR_VAR && map_has(&widening->wide, index->args[0]->value.var))
        return index->args[0];
    if (index->kind < EXPR_ADD || index->kind > EXPR_MAX)
        return index;
    const Expr *a = widen_index(ctx, widening, index->args[0]), *b = widen_index(ctx, widening, index->args[1]);
    return a == index->args[0] && b == index->args[1] ? index : op_binary(ctx, index->kind, a, b, index->span);
}

static const Expr *widen_load(Rewriter *rewriter, const Expr *expr)
{
    expr = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD)
        return expr;
    const Expr **args = arena_copy(rewriter->ctx->arena, expr->args, sizeof(const Expr *) * (size_t)expr->arg_count);
    for (int i = 0; i < load_index_count(expr); i++)
        args[i] = widen_index(rewriter->ctx, rewriter->data, args[i]);
    return expr_with_args(rewriter->ctx, expr, args);
}

static void widen_regions(Rewriter *rewriter, const Region *regions, int count)
{
    for (int i = 0; i < count; i++) {
        for (int d = 0; d < regions[i].buffer->ndim; d++) {
            Range *range = &regions[i].ranges[d];
            range->min = widen_index(rewriter->ctx, rewriter->data, range->min);
            range->extent = op_cast(rewriter->ctx, range->min->dtype, range->extent);
        }
    }
}

static const Stmt *widen_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    stmt = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind == STMT_STORE) {
        int count = stmt->as.store.index_count;
        const Expr **indices = arena_copy(ctx->arena, stmt->as.store.indices, sizeof(const Expr *) * (size_t)count);
        for (int i = 0; i < count; i++)
            indices[i] = widen_index(ctx, rewriter->data, indices[i]);
        return stmt_store(ctx, stmt->as.store.buffer, indices, count, stmt->as.store.value, stmt->as.store.mask, stmt->span);
    }
    if (stmt->kind != STMT_BLOCK)
        return stmt;
    BlockStmt block = stmt->as.block;
    Rewriter copy = {.ctx = ctx};
    block.reads = rewrite_regions(&copy, block.reads, block.read_count);
    block.writes = rewrite_regions(&copy, block.writes, block.write_count);
    widen_regions(rewriter, block.reads, block.read_count);
    widen_regions(rewriter, block.writes, block.write_count);
    return stmt_block(ctx, block, stmt->span);
}

void move_fit_axis_types(Move *move)
{
    Schedule *sch = move->sch;
    Context *ctx = sch->ctx;
    const TreeNode *node = schedule_find_block(sch, node_block(move->block)->block);
    BlockStmt block = *node_block(node);
    Iter *iters = arena_copy(ctx->arena, block.iters, sizeof(Iter) * (size_t)block.iter_count);
    Widening widening = {0};
    bool fits = true;
    for (int i = 0; i < block.iter_count; i++) {
        if (iters[i].var->dtype.bits >= block.bindings[i]->dtype.bits)
            continue;
        widen_iter(ctx, &widening, &iters[i], block.bindings[i]->dtype);
        fits = false;
    }
    if (fits)
        return;
    block.iters = iters;
    Rewriter rewriter = {.ctx = ctx, .expr = widen_load, .stmt = widen_stmt, .data = &widening};
    sched_replace(sch, node->stmt, rewrite_stmt(&rewriter, subst_stmt(ctx, &widening.subst, stmt_block(ctx, block, node->stmt->span))));
}
