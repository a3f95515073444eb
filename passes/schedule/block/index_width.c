/* See index_width.h.

   Before, int64                                   After
     A = T.match_buffer(X[...], (16, 16))             A = T.match_buffer(X[...], (T.int64(16), T.int64(16)))
     for i in range(16):                              for i in range(T.int64(16)):
         A[i, 0] = A[i, 0] + Y[i * 2]                     A[i, T.int64(0)] = A[i, T.int64(0)] + Y[i * T.int64(2)] */
#include "passes/schedule/block/index_width.h"

#include "ir/walk.h"

typedef struct {
    Context *ctx;
    DType type;
    Map vars;    /* Var -> Var of the new type */
    Map buffers; /* Buffer -> Buffer; one that stays maps to itself */
} IndexWidth;

static void add_var(IndexWidth *width, const Var *var)
{
    if (!dtype_is_integer(var->dtype) || dtype_equal(var->dtype, width->type) || map_has(&width->vars, var))
        return;
    Var *same = var_clone(width->ctx, var, var->name);
    same->dtype = width->type;
    map_set(width->ctx->arena, &width->vars, var, same);
}

static void add_if_var(IndexWidth *width, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        add_var(width, expr->value.var);
}

static void add_buffer_vars(IndexWidth *width, const Buffer *buffer)
{
    for (int d = 0; d < buffer->ndim; d++) {
        add_if_var(width, buffer->shape[d]);
        if (buffer->strides)
            add_if_var(width, buffer->strides[d]);
    }
    add_if_var(width, buffer->elem_offset);
}

static bool collect_vars(Visitor *visitor, const Stmt *stmt)
{
    IndexWidth *width = visitor->data;
    if (stmt->kind == STMT_FOR)
        add_var(width, stmt->as.loop.var);
    if (stmt->kind != STMT_BLOCK)
        return true;
    const BlockStmt *block = &stmt->as.block;
    for (int i = 0; i < block->iter_count; i++)
        add_var(width, block->iters[i].var);
    for (int i = 0; i < block->match_count; i++)
        add_buffer_vars(width, block->matches[i].target);
    return true;
}

/* --- buffers --- */

static const Expr *index_in(Rewriter *rewriter, const Expr *index)
{
    const IndexWidth *width = rewriter->data;
    return op_cast(rewriter->ctx, width->type, rewrite_expr(rewriter, index));
}

static Buffer *set_buffer(Rewriter *rewriter, Buffer *buffer)
{
    IndexWidth *width = rewriter->data;
    Buffer *known = map_get(&width->buffers, buffer);
    if (known)
        return known;
    Buffer *copy = buffer_clone(rewriter->ctx, buffer);
    copy->shape = arena_copy(rewriter->ctx->arena, buffer->shape, sizeof *buffer->shape * (size_t)buffer->ndim);
    copy->strides =
        buffer->strides ? arena_copy(rewriter->ctx->arena, buffer->strides, sizeof *buffer->strides * (size_t)buffer->ndim) : NULL;
    for (int d = 0; d < buffer->ndim; d++) {
        copy->shape[d] = index_in(rewriter, buffer->shape[d]);
        if (buffer->strides)
            copy->strides[d] = index_in(rewriter, buffer->strides[d]);
    }
    copy->elem_offset = index_in(rewriter, buffer->elem_offset);
    map_set(rewriter->ctx->arena, &width->buffers, buffer, copy);
    return copy;
}

static Var *set_var(Rewriter *rewriter, Var *var)
{
    const IndexWidth *width = rewriter->data;
    Var *other = map_get(&width->vars, var);
    return other ? other : var;
}

/* --- expressions --- */

/* A and B in one type: a constant takes the type of the other, else the wider one counts. */
static void unify(Context *ctx, const Expr **a, const Expr **b)
{
    DType x = (*a)->dtype, y = (*b)->dtype;
    if (dtype_equal(x, y) || !dtype_is_integer(x) || !dtype_is_integer(y))
        return;
    bool take_x = (*a)->kind == EXPR_INT ? false : (*b)->kind == EXPR_INT || x.bits > y.bits;
    *a = op_cast(ctx, take_x ? x : y, *a);
    *b = op_cast(ctx, take_x ? x : y, *b);
}

static const Expr *set_args(Rewriter *rewriter, const Expr *expr, int first)
{
    const Expr **args = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, expr->arg_count);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = rewrite_expr(rewriter, expr->args[i]);
    unify(rewriter->ctx, &args[first], &args[first + 1]);
    return expr_with_args(rewriter->ctx, expr, args);
}

/* INDEX with elements of TYPE; consecutive elements stay a ramp, as which slices are seen. */
static const Expr *index_as(Context *ctx, const Expr *index, DType type)
{
    if (index->kind == EXPR_RAMP)
        return expr_ramp(ctx, op_cast(ctx, type, index->args[0]), op_cast(ctx, type, index->args[1]), index->dtype.lanes);
    return op_cast(ctx, dtype_with_lanes(type, index->dtype.lanes), index);
}

static const Expr *set_load(Rewriter *rewriter, const Expr *load)
{
    const Expr *result = rewrite_expr_children(rewriter, load);
    const Expr **args = arena_copy(rewriter->ctx->arena, result->args, sizeof *args * (size_t)result->arg_count);
    for (int i = 0; i < load_index_count(result); i++)
        args[i] = index_as(rewriter->ctx, args[i], buffer_index_dtype(result->value.buffer));
    return expr_with_args(rewriter->ctx, result, args);
}

static const Expr *set_expr(Rewriter *rewriter, const Expr *expr)
{
    const IndexWidth *width = rewriter->data;
    if (expr->kind == EXPR_VAR) {
        Var *var = map_get(&width->vars, expr->value.var);
        return var ? expr_var(rewriter->ctx, var) : expr;
    }
    if (expr_is_binary(expr) || expr->kind == EXPR_RAMP)
        return set_args(rewriter, expr, 0);
    if (expr->kind == EXPR_SELECT || expr_is_call(expr, OP_IF_THEN_ELSE))
        return set_args(rewriter, expr, 1);
    return expr->kind == EXPR_LOAD ? set_load(rewriter, expr) : rewrite_expr_children(rewriter, expr);
}

/* --- statements --- */

static Range range_as(Context *ctx, Range range, DType type)
{
    return (Range){op_cast(ctx, type, range.min), op_cast(ctx, type, range.extent)};
}

static Region *regions_as_buffers(Context *ctx, const Region *regions, int count)
{
    Region *result = ARENA_ARRAY(ctx->arena, Region, count);
    for (int i = 0; i < count; i++) {
        result[i] = regions[i];
        result[i].ranges = ARENA_ARRAY(ctx->arena, Range, regions[i].buffer->ndim);
        for (int d = 0; d < regions[i].buffer->ndim; d++)
            result[i].ranges[d] = range_as(ctx, regions[i].ranges[d], buffer_index_dtype(regions[i].buffer));
    }
    return result;
}

static const Stmt *set_block(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    stmt = rewrite_stmt_children(rewriter, stmt);
    BlockStmt block = stmt->as.block;
    block.iters = arena_copy(ctx->arena, block.iters, sizeof *block.iters * (size_t)block.iter_count);
    block.bindings = arena_copy(ctx->arena, block.bindings, sizeof *block.bindings * (size_t)block.iter_count);
    for (int i = 0; i < block.iter_count; i++) {
        block.iters[i].domain = range_as(ctx, block.iters[i].domain, block.iters[i].var->dtype);
        block.bindings[i] = op_cast(ctx, block.iters[i].var->dtype, block.bindings[i]);
    }
    block.reads = regions_as_buffers(ctx, block.reads, block.read_count);
    block.writes = regions_as_buffers(ctx, block.writes, block.write_count);
    block.matches = arena_copy(ctx->arena, block.matches, sizeof *block.matches * (size_t)block.match_count);
    for (int i = 0; i < block.match_count; i++)
        block.matches[i].source = *regions_as_buffers(ctx, &block.matches[i].source, 1);
    return stmt_block(ctx, block, stmt->span);
}

static const Stmt *set_store(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    stmt = rewrite_stmt_children(rewriter, stmt);
    Buffer *buffer = stmt->as.store.buffer;
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, stmt->as.store.index_count), *value = stmt->as.store.value;
    for (int i = 0; i < stmt->as.store.index_count; i++)
        indices[i] = index_as(ctx, stmt->as.store.indices[i], buffer_index_dtype(buffer));
    if (dtype_is_integer(buffer->dtype))
        value = op_cast(ctx, dtype_with_lanes(buffer->dtype, value->dtype.lanes), value);
    return stmt_store(ctx, buffer, indices, stmt->as.store.index_count, value, stmt->as.store.mask, stmt->span);
}

static const Stmt *set_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    if (stmt->kind == STMT_BLOCK)
        return set_block(rewriter, stmt);
    if (stmt->kind == STMT_STORE)
        return set_store(rewriter, stmt);
    if (stmt->kind == STMT_LET) {
        const Expr *value = op_cast(ctx, stmt->as.let.value->dtype, rewrite_expr(rewriter, stmt->as.let.value));
        return stmt_let(ctx, stmt->as.let.var, value, rewrite_stmt(rewriter, stmt->as.let.body), stmt->span);
    }
    if (stmt->kind != STMT_FOR)
        return rewrite_stmt_children(rewriter, stmt);
    stmt = rewrite_stmt_children(rewriter, stmt);
    ForStmt loop = stmt->as.loop;
    loop.min = op_cast(ctx, loop.var->dtype, loop.min);
    loop.extent = op_cast(ctx, loop.var->dtype, loop.extent);
    return stmt_for(ctx, loop, stmt->span);
}

const Stmt *index_width_set(Context *ctx, const Stmt *body, Buffer **buffers, int count, DType type)
{
    IndexWidth width = {.ctx = ctx, .type = type};
    for (int i = 0; i < count; i++)
        if (buffers[i])
            add_buffer_vars(&width, buffers[i]);
    Visitor visitor = {.stmt = collect_vars, .data = &width};
    visit_stmt(&visitor, body);
    Rewriter rewriter = {.ctx = ctx, .expr = set_expr, .stmt = set_stmt, .buffer = set_buffer, .define_var = set_var, .data = &width};
    for (int i = 0; i < count; i++)
        buffers[i] = buffers[i] ? set_buffer(&rewriter, buffers[i]) : NULL;
    return rewrite_stmt(&rewriter, body);
}
