/* See block_access.h. */
#include "passes/schedule/layout/block_access.h"

#include "ir/walk.h"
#include "passes/arith/iter_map.h"

typedef struct {
    Context *ctx;
    Analyzer *an;
    VEC(VarRange) iters; /* of the block and of loops and blocks in it, around */
} Simplification;

static void add_iter(Simplification *s, Var *var, Range range)
{
    VarRange iter = {var, range};
    analyzer_bind_range_opaque(s->an, var, range);
    vec_push(s->ctx->arena, &s->iters, iter);
}

static const Expr **simple_indices(Simplification *s, const Expr *const *indices, int count)
{
    IterMapQuery query = {indices, count, s->iters.data, s->iters.count, NULL, ITER_MAP_SURJECTIVE, true};
    for (int i = 0; i < count; i++)
        if (indices[i]->dtype.lanes != 1 || !dtype_is_index(indices[i]->dtype) || !expr_is_pure(indices[i]))
            return arena_copy(s->ctx->arena, indices, sizeof *indices * (size_t)count);
    const Expr **simple = iter_map_simplify(s->an, &query);
    for (int i = 0; i < count; i++)
        if (simple[i]->kind == EXPR_INT && indices[i]->kind == EXPR_VAR)
            simple[i] = indices[i];
    return simple;
}

static const Expr *simplify_expr(Rewriter *rewriter, const Expr *expr)
{
    expr = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD || expr->predicated || !expr->arg_count)
        return expr;
    return expr_with_args(rewriter->ctx, expr, simple_indices(rewriter->data, expr->args, expr->arg_count));
}

static void simplify_regions(Simplification *s, Region *regions, int count)
{
    for (int i = 0; i < count; i++) {
        Region *region = &regions[i];
        int ndim = region->buffer->ndim;
        const Expr **starts = ARENA_ARRAY(s->ctx->arena, const Expr *, ndim);
        for (int d = 0; d < ndim; d++)
            starts[d] = region->ranges[d].min;
        starts = simple_indices(s, starts, ndim);
        region->ranges = arena_copy(s->ctx->arena, region->ranges, sizeof *region->ranges * (size_t)ndim);
        for (int d = 0; d < ndim; d++)
            region->ranges[d].min = starts[d];
    }
}

static const Stmt *simplify_block(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *s = rewriter->data;
    Arena *arena = rewriter->ctx->arena;
    for (int i = 0; i < stmt->as.block.iter_count; i++)
        add_iter(s, stmt->as.block.iters[i].var, stmt->as.block.iters[i].domain);
    BlockStmt block = rewrite_stmt_children(rewriter, stmt)->as.block;
    block.reads = arena_copy(arena, block.reads, sizeof *block.reads * (size_t)block.read_count);
    block.writes = arena_copy(arena, block.writes, sizeof *block.writes * (size_t)block.write_count);
    simplify_regions(s, block.reads, block.read_count);
    simplify_regions(s, block.writes, block.write_count);
    return stmt_block(rewriter->ctx, block, stmt->span);
}

static const Stmt *simplify_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *s = rewriter->data;
    int outside = s->iters.count;
    if (stmt->kind == STMT_FOR)
        add_iter(s, stmt->as.loop.var, (Range){stmt->as.loop.min, stmt->as.loop.extent});
    const Stmt *simple = stmt->kind == STMT_BLOCK ? simplify_block(rewriter, stmt) : rewrite_stmt_children(rewriter, stmt);
    s->iters.count = outside;
    if (simple->kind != STMT_STORE || simple->as.store.mask || !simple->as.store.index_count)
        return simple;
    Stmt copy = *simple;
    copy.as.store.indices = simple_indices(s, copy.as.store.indices, copy.as.store.index_count);
    return stmt_new(rewriter->ctx, &copy);
}

const Stmt *block_simplify_accesses(Schedule *sch, const Stmt *stmt)
{
    Simplification s = {.ctx = sch->ctx, .an = analyzer_new(sch->ctx)};
    Rewriter rewriter = {.ctx = sch->ctx, .expr = simplify_expr, .stmt = simplify_stmt, .data = &s};
    return rewrite_stmt(&rewriter, stmt);
}
