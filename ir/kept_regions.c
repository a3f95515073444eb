/* Blocks whose regions stay inferred: no step may leave there what the text, read again, would not give. See infer_regions.h. */
#include "ir/infer_regions.h"

#include "ir/walk.h"

/* --- Which blocks --- */

static bool find_foreign_call(Visitor *visitor, const Expr *expr)
{
    bool *found = visitor->data;
    *found |= expr_is_foreign_call(expr);
    return !*found;
}

static bool skip_declared_blocks(Visitor *visitor, const Stmt *stmt)
{
    const bool *found = visitor->data;
    return !*found && (stmt->kind != STMT_BLOCK || !block_declares_regions(&stmt->as.block));
}

bool block_keeps_regions_inferred(const BlockStmt *block)
{
    bool found = false;
    Visitor visitor = {.expr = find_foreign_call, .stmt = skip_declared_blocks, .data = &found};
    if (block_declares_regions(block))
        return false;
    visit_stmt(&visitor, block->body);
    if (block->init)
        visit_stmt(&visitor, block->init);
    return found;
}

/* --- Their regions --- */

typedef struct {
    Context *ctx;
    Map buffers;
} Declared;

static void declare(Declared *declared, Buffer *buffer)
{
    if (!map_has(&declared->buffers, buffer->data))
        map_set(declared->ctx->arena, &declared->buffers, buffer->data, buffer);
}

static bool declare_buffers(Visitor *visitor, const Stmt *stmt)
{
    Declared *declared = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        declare(declared, stmt->as.block.allocs[i]);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        declare(declared, stmt->as.block.matches[i].target);
    if (stmt->kind == STMT_DECL_BUFFER)
        declare(declared, stmt->as.declare.buffer);
    return true;
}

Map func_buffers_by_data(Context *ctx, const Func *func)
{
    Declared declared = {.ctx = ctx};
    Visitor visitor = {.stmt = declare_buffers, .data = &declared};
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            declare(&declared, func->params[i].buffer);
    visit_stmt(&visitor, func->body);
    return declared.buffers;
}

typedef struct {
    const Stmt *root;
    Map buffers;
} Inferring;

static bool same_regions(const Region *a, int a_count, const Region *b, int b_count)
{
    for (int i = 0; i < a_count && a_count == b_count; i++)
        for (int d = 0; d < a[i].buffer->ndim; d++)
            if (a[i].buffer != b[i].buffer || !expr_equal(a[i].ranges[d].min, b[i].ranges[d].min) ||
                !expr_equal(a[i].ranges[d].extent, b[i].ranges[d].extent))
                return false;
    return a_count == b_count;
}

/* Inner blocks first, for regions come from theirs. What a root accesses is not inferred. */
static const Stmt *infer_block(Rewriter *rewriter, const Stmt *old)
{
    const Inferring *inferring = rewriter->data;
    const Stmt *stmt = rewrite_stmt_children(rewriter, old);
    if (old == inferring->root || stmt->kind != STMT_BLOCK || !block_keeps_regions_inferred(&stmt->as.block))
        return stmt;
    BlockStmt block = stmt->as.block;
    BlockRegions regions = infer_block_regions(rewriter->ctx, &block, &inferring->buffers);
    bool reads_stay = !block.reads_inferred || same_regions(block.reads, block.read_count, regions.reads, regions.read_count);
    bool writes_stay = !block.writes_inferred || same_regions(block.writes, block.write_count, regions.writes, regions.write_count);
    if (regions.opaque || (reads_stay && writes_stay))
        return stmt;
    if (block.reads_inferred)
        block.reads = regions.reads, block.read_count = regions.read_count;
    if (block.writes_inferred)
        block.writes = regions.writes, block.write_count = regions.write_count;
    return stmt_block(rewriter->ctx, block, stmt->span);
}

/* Expressions hold no blocks. */
static const Expr *keep_expr(Rewriter *rewriter, const Expr *expr)
{
    (void)rewriter;
    return expr;
}

const Func *func_infer_regions(Context *ctx, const Func *func)
{
    bool calls = false;
    Visitor visitor = {.expr = find_foreign_call, .data = &calls};
    if (!func->body)
        return func;
    visit_stmt(&visitor, func->body);
    if (!calls)
        return func;
    Inferring inferring = {func->body, func_buffers_by_data(ctx, func)};
    Rewriter rewriter = {.ctx = ctx, .expr = keep_expr, .stmt = infer_block, .data = &inferring};
    const Stmt *body = rewrite_stmt(&rewriter, func->body);
    return body == func->body ? func : func_with_body(ctx, func, body);
}
