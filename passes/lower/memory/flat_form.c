/* See flat_form.h. */
#include "passes/lower/memory/flat_form.h"

#include <string.h>

Str thread_name(Context *ctx, Str thread)
{
    char *name = arena_copy(ctx->arena, thread, strlen(thread) + 1);
    for (char *at = name; (at = strchr(at, '.'));)
        *at = '_';
    return context_intern(ctx, name);
}

/* A loop over threads is a launch; virtual threads are loops. */
static const Stmt *launch_thread(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    bool thread = stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD && !stmt->as.loop.launch && strchr(stmt->as.loop.thread, '.') &&
                  expr_is_int(stmt->as.loop.min, 0);
    if (!thread)
        return result;
    Var *var = var_clone(ctx, stmt->as.loop.var, thread_name(ctx, stmt->as.loop.thread));
    ForStmt launch = result->as.loop;
    Subst subst = {0};
    subst_var(ctx, &subst, stmt->as.loop.var, expr_var(ctx, var));
    launch.var = var;
    launch.launch = true;
    launch.annotations = (Attrs){0};
    launch.body = subst_stmt(ctx, &subst, result->as.loop.body);
    return stmt_for(ctx, launch, stmt->span);
}

const Stmt *launch_threads(Context *ctx, const Stmt *stmt)
{
    Rewriter rewriter = {.ctx = ctx, .stmt = launch_thread};
    return rewrite_stmt(&rewriter, stmt);
}

static const Expr *flat_extent(Context *ctx, const Buffer *buffer)
{
    if (buffer->strides && buffer->ndim)
        return op_mul(ctx, buffer->strides[0], buffer->shape[0]);
    const Expr *product = expr_int(ctx, buffer_index_dtype(buffer), 1);
    for (int i = 0; i < buffer->ndim; i++)
        product = op_mul(ctx, product, buffer->shape[i]);
    return product;
}

static bool is_flat(const Buffer *buffer)
{
    return buffer->ndim == 1 && buffer_is_dense(buffer) && expr_is_int(buffer->elem_offset, 0) && !buffer->axis_separator_count;
}

static Buffer *flat_buffer(FlatBuffers *flat_buffers, Buffer *buffer)
{
    Buffer *flat = map_get(&flat_buffers->flat, buffer);
    if (flat || (flat_buffers->declares && is_flat(buffer)))
        return flat ? flat : buffer;
    flat = buffer_clone(flat_buffers->ctx, buffer);
    bool scattered = flat_buffers->declares && (buffer->strides || !expr_is_int(buffer->elem_offset, 0));
    const Expr *extent = scattered ? buffer_span(flat_buffers->ctx, buffer) : flat_extent(flat_buffers->ctx, buffer);
    flat->ndim = 1;
    flat->shape = arena_copy(flat_buffers->ctx->arena, &extent, sizeof extent);
    flat->strides = NULL;
    flat->elem_offset = expr_int(flat_buffers->ctx, extent->dtype, 0);
    flat->offset_factor = 0;
    flat->axis_separators = NULL;
    flat->axis_separator_count = 0;
    map_set(flat_buffers->ctx->arena, &flat_buffers->flat, buffer, flat);
    vec_push(flat_buffers->ctx->arena, &flat_buffers->order, flat);
    return flat;
}

/* The stride of dimension DIM in the type of the shape: the pass "widen" computes in 64 bits what may overflow in an index. */
static const Expr *plain_stride(Context *ctx, const Buffer *buffer, int dim)
{
    if (buffer->strides)
        return buffer->strides[dim];
    const Expr *product = expr_int(ctx, buffer_index_dtype(buffer), 1);
    for (int i = dim + 1; i < buffer->ndim; i++)
        product = op_mul(ctx, product, buffer->shape[i]);
    return product;
}

static const Expr *flat_index(const FlatBuffers *flat_buffers, const Buffer *buffer, const Expr *const *indices)
{
    Context *ctx = flat_buffers->ctx;
    const Expr *offset = buffer->elem_offset;
    for (int i = 0; i < buffer->ndim; i++) {
        const Expr *stride = flat_buffers->declares ? plain_stride(ctx, buffer, i) : buffer_stride(ctx, buffer, i);
        const Expr *term = expr_is_int(stride, 1) ? indices[i] : op_mul(ctx, indices[i], stride);
        offset = expr_is_int(offset, 0) ? term : op_add(ctx, offset, term);
    }
    return offset;
}

static const Expr *flatten_load(Rewriter *rewriter, const Expr *expr)
{
    if (expr->kind != EXPR_LOAD)
        return rewrite_expr_children(rewriter, expr);
    Buffer *flat = flat_buffer(rewriter->data, expr->value.buffer);
    const Expr *result = rewrite_expr_children(rewriter, expr), *index = flat_index(rewriter->data, expr->value.buffer, result->args);
    return expr_load(rewriter->ctx, flat, &index, 1, load_mask(result), expr->span);
}

static const Stmt *flatten_access(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    FlatBuffers *flat_buffers = rewriter->data;
    if (stmt->kind == STMT_DECL_BUFFER && flat_buffers->declares) {
        Stmt copy = *stmt;
        copy.as.declare.buffer = flat_buffer(flat_buffers, stmt->as.declare.buffer);
        copy.as.declare.body = rewrite_stmt(rewriter, stmt->as.declare.body);
        return stmt_new(ctx, &copy);
    }
    if (stmt->kind == STMT_DECL_BUFFER)
        return rewrite_stmt(rewriter, stmt->as.declare.body);
    if (stmt->kind == STMT_ALLOCATE) {
        Stmt copy = *rewrite_stmt_children(rewriter, stmt);
        const Expr *product = expr_int(ctx, DTYPE_INT32, 1);
        for (int i = 0; i < copy.as.allocate.extent_count; i++)
            product = i ? op_mul(ctx, product, copy.as.allocate.extents[i]) : copy.as.allocate.extents[i];
        copy.as.allocate.extents = arena_copy(ctx->arena, &product, sizeof product);
        copy.as.allocate.extent_count = 1;
        return stmt_new(ctx, &copy);
    }
    if (stmt->kind != STMT_STORE)
        return rewrite_stmt_children(rewriter, stmt);
    Buffer *flat = flat_buffer(rewriter->data, stmt->as.store.buffer);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    const Expr *index = flat_index(flat_buffers, stmt->as.store.buffer, result->as.store.indices);
    return stmt_store(ctx, flat, &index, 1, result->as.store.value, result->as.store.mask, stmt->span);
}

const Stmt *flat_accesses(FlatBuffers *flat, const Stmt *stmt)
{
    Rewriter rewriter = {.ctx = flat->ctx, .expr = flatten_load, .stmt = flatten_access, .data = flat};
    return rewrite_stmt(&rewriter, stmt);
}
