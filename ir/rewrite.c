/* The generic rewriter; see walk.h. Every rewrite_* returns its input when nothing below it changed, so that unchanged subtrees stay
   shared. */
#include <string.h>

#include "ir/walk.h"

static Buffer *rewrite_buffer(Rewriter *rewriter, Buffer *buffer)
{
    return rewriter->buffer ? rewriter->buffer(rewriter, buffer) : buffer;
}

static Var *rewrite_definition(Rewriter *rewriter, Var *var)
{
    return rewriter->define_var ? rewriter->define_var(rewriter, var) : var;
}

const Expr *rewrite_expr_children(Rewriter *rewriter, const Expr *expr)
{
    const Expr *few[8], **args = expr->arg_count <= 8 ? few : ARENA_ARRAY(rewriter->ctx->arena, const Expr *, expr->arg_count);
    Expr changed = *expr;
    if (expr->kind == EXPR_LET)
        changed.value.var = rewrite_definition(rewriter, expr->value.var);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = rewrite_expr(rewriter, expr->args[i]);
    if (expr->kind == EXPR_LOAD) {
        Buffer *buffer = rewrite_buffer(rewriter, expr->value.buffer);
        if (buffer != expr->value.buffer)
            return expr_load(rewriter->ctx, buffer, args, load_index_count(expr), expr->predicated ? args[expr->arg_count - 1] : NULL,
                             expr->span);
    }
    if (expr->kind == EXPR_LET && changed.value.var != expr->value.var)
        return expr_let(rewriter->ctx, changed.value.var, args[0], args[1]);
    return expr_with_args(rewriter->ctx, expr, args);
}

const Expr *rewrite_expr(Rewriter *rewriter, const Expr *expr)
{
    return rewriter->expr ? rewriter->expr(rewriter, expr) : rewrite_expr_children(rewriter, expr);
}

/* Rewrites COUNT expressions; the same array when none changed. */
static const Expr **rewrite_exprs(Rewriter *rewriter, const Expr **exprs, int count)
{
    const Expr **result = exprs;
    for (int i = 0; i < count; i++) {
        const Expr *changed = rewrite_expr(rewriter, exprs[i]);
        if (changed != exprs[i] && result == exprs)
            result = arena_copy(rewriter->ctx->arena, exprs, sizeof *exprs * (size_t)count);
        if (result != exprs)
            result[i] = changed;
    }
    return result;
}

static Range rewrite_range(Rewriter *rewriter, Range range)
{
    return (Range){rewrite_expr(rewriter, range.min), rewrite_expr(rewriter, range.extent)};
}

Region rewrite_region(Rewriter *rewriter, Region region)
{
    Region result = {rewrite_buffer(rewriter, region.buffer), region.ranges, region.span};
    for (int i = 0; i < region.buffer->ndim; i++) {
        Range range = rewrite_range(rewriter, region.ranges[i]);
        if (range.min == region.ranges[i].min && range.extent == region.ranges[i].extent)
            continue;
        if (result.ranges == region.ranges)
            result.ranges = arena_copy(rewriter->ctx->arena, region.ranges, sizeof *region.ranges * (size_t)region.buffer->ndim);
        result.ranges[i] = range;
    }
    return result;
}

Region *rewrite_regions(Rewriter *rewriter, const Region *regions, int count)
{
    Region *result = ARENA_ARRAY(rewriter->ctx->arena, Region, count);
    for (int i = 0; i < count; i++)
        result[i] = rewrite_region(rewriter, regions[i]);
    return result;
}

static bool regions_same(const Region *a, const Region *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].buffer != b[i].buffer || a[i].ranges != b[i].ranges)
            return false;
    return true;
}

/* True when the rewritten block A is B apart from copies of its arrays. */
static bool blocks_same(const BlockStmt *a, const BlockStmt *b)
{
    bool same = a->block == b->block && a->bindings == b->bindings && a->predicate == b->predicate && a->init == b->init &&
                a->body == b->body && regions_same(a->reads, b->reads, a->read_count) && regions_same(a->writes, b->writes, a->write_count);
    for (int i = 0; i < a->iter_count; i++)
        same &= a->iters[i].var == b->iters[i].var && a->iters[i].domain.min == b->iters[i].domain.min &&
                a->iters[i].domain.extent == b->iters[i].domain.extent;
    for (int i = 0; i < a->alloc_count; i++)
        same &= a->allocs[i] == b->allocs[i];
    for (int i = 0; i < a->match_count; i++)
        same &= a->matches[i].target == b->matches[i].target && regions_same(&a->matches[i].source, &b->matches[i].source, 1);
    return same;
}

/* Definitions come before uses, so that hooks may set up renamings at the definition. */
static const Stmt *rewrite_block(Rewriter *rewriter, const Stmt *stmt)
{
    BlockStmt block = stmt->as.block;
    Arena *arena = rewriter->ctx->arena;
    block.bindings = rewrite_exprs(rewriter, block.bindings, block.iter_count);
    block.predicate = rewrite_expr(rewriter, block.predicate);
    block.iters = arena_copy(arena, block.iters, sizeof *block.iters * (size_t)block.iter_count);
    for (int i = 0; i < block.iter_count; i++) {
        block.iters[i].domain = rewrite_range(rewriter, block.iters[i].domain);
        block.iters[i].var = rewrite_definition(rewriter, block.iters[i].var);
    }
    if (rewriter->define_block)
        block.block = rewriter->define_block(rewriter, block.block);
    block.allocs = arena_copy(arena, block.allocs, sizeof *block.allocs * (size_t)block.alloc_count);
    for (int i = 0; i < block.alloc_count; i++)
        block.allocs[i] = rewrite_buffer(rewriter, block.allocs[i]);
    block.matches = arena_copy(arena, block.matches, sizeof *block.matches * (size_t)block.match_count);
    for (int i = 0; i < block.match_count; i++) {
        block.matches[i].source = rewrite_region(rewriter, block.matches[i].source);
        block.matches[i].target = rewrite_buffer(rewriter, block.matches[i].target);
    }
    block.reads = rewrite_regions(rewriter, block.reads, block.read_count);
    block.writes = rewrite_regions(rewriter, block.writes, block.write_count);
    if (block.init)
        block.init = rewrite_stmt(rewriter, block.init);
    block.body = rewrite_stmt(rewriter, block.body);

    return blocks_same(&block, &stmt->as.block) ? stmt : stmt_block(rewriter->ctx, block, stmt->span);
}

static const Stmt *rewrite_seq(Rewriter *rewriter, const Stmt *stmt)
{
    int count = stmt->as.seq.count;
    const Stmt **items = ARENA_ARRAY(rewriter->ctx->arena, const Stmt *, count);
    bool same = true;
    for (int i = 0; i < count; i++) {
        items[i] = rewrite_stmt(rewriter, stmt->as.seq.items[i]);
        same &= items[i] == stmt->as.seq.items[i];
    }
    return same ? stmt : stmt_seq(rewriter->ctx, items, count);
}

const Stmt *rewrite_stmt_children(Rewriter *rewriter, const Stmt *stmt)
{
    Stmt copy = *stmt;
    switch (stmt->kind) {
    case STMT_SEQ: return rewrite_seq(rewriter, stmt);
    case STMT_BLOCK: return rewrite_block(rewriter, stmt);
    case STMT_FOR:
        copy.as.loop.min = rewrite_expr(rewriter, copy.as.loop.min);
        copy.as.loop.extent = rewrite_expr(rewriter, copy.as.loop.extent);
        copy.as.loop.var = rewrite_definition(rewriter, copy.as.loop.var);
        copy.as.loop.body = rewrite_stmt(rewriter, copy.as.loop.body);
        break;
    case STMT_WHILE:
        copy.as.while_loop.condition = rewrite_expr(rewriter, copy.as.while_loop.condition);
        copy.as.while_loop.body = rewrite_stmt(rewriter, copy.as.while_loop.body);
        break;
    case STMT_IF:
        copy.as.branch.condition = rewrite_expr(rewriter, copy.as.branch.condition);
        copy.as.branch.then_body = rewrite_stmt(rewriter, copy.as.branch.then_body);
        if (copy.as.branch.else_body)
            copy.as.branch.else_body = rewrite_stmt(rewriter, copy.as.branch.else_body);
        break;
    case STMT_LET:
        copy.as.let.value = rewrite_expr(rewriter, copy.as.let.value);
        copy.as.let.var = rewrite_definition(rewriter, copy.as.let.var);
        copy.as.let.body = rewrite_stmt(rewriter, copy.as.let.body);
        break;
    case STMT_STORE:
        copy.as.store.indices = rewrite_exprs(rewriter, copy.as.store.indices, copy.as.store.index_count);
        copy.as.store.value = rewrite_expr(rewriter, copy.as.store.value);
        if (copy.as.store.mask)
            copy.as.store.mask = rewrite_expr(rewriter, copy.as.store.mask);
        copy.as.store.buffer = rewrite_buffer(rewriter, copy.as.store.buffer);
        break;
    case STMT_EVALUATE: copy.as.evaluate = rewrite_expr(rewriter, copy.as.evaluate); break;
    case STMT_ALLOCATE:
        copy.as.allocate.extents = rewrite_exprs(rewriter, copy.as.allocate.extents, copy.as.allocate.extent_count);
        copy.as.allocate.condition = rewrite_expr(rewriter, copy.as.allocate.condition);
        copy.as.allocate.var = rewrite_definition(rewriter, copy.as.allocate.var);
        copy.as.allocate.body = rewrite_stmt(rewriter, copy.as.allocate.body);
        break;
    case STMT_ALLOCATE_CONST:
        copy.as.allocate_const.var = rewrite_definition(rewriter, copy.as.allocate_const.var);
        copy.as.allocate_const.body = rewrite_stmt(rewriter, copy.as.allocate_const.body);
        break;
    case STMT_DECL_BUFFER:
        copy.as.declare.buffer = rewrite_buffer(rewriter, copy.as.declare.buffer);
        copy.as.declare.body = rewrite_stmt(rewriter, copy.as.declare.body);
        break;
    case STMT_ATTR:
        if (copy.as.attr.node)
            copy.as.attr.node = rewrite_expr(rewriter, copy.as.attr.node);
        copy.as.attr.value = rewrite_expr(rewriter, copy.as.attr.value);
        if (copy.as.attr.var)
            copy.as.attr.var = rewrite_definition(rewriter, copy.as.attr.var);
        copy.as.attr.body = rewrite_stmt(rewriter, copy.as.attr.body);
        break;
    case STMT_ASSERT:
        copy.as.assertion.condition = rewrite_expr(rewriter, copy.as.assertion.condition);
        copy.as.assertion.message = rewrite_expr(rewriter, copy.as.assertion.message);
        copy.as.assertion.body = rewrite_stmt(rewriter, copy.as.assertion.body);
        break;
    case STMT_REALIZE:
        copy.as.realize.region = rewrite_region(rewriter, copy.as.realize.region);
        copy.as.realize.condition = rewrite_expr(rewriter, copy.as.realize.condition);
        copy.as.realize.body = rewrite_stmt(rewriter, copy.as.realize.body);
        break;
    }
    return memcmp(&copy, stmt, sizeof copy) ? stmt_new(rewriter->ctx, &copy) : stmt;
}

const Stmt *rewrite_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    return rewriter->stmt ? rewriter->stmt(rewriter, stmt) : rewrite_stmt_children(rewriter, stmt);
}
