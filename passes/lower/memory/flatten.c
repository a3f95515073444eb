/* Pass "flatten": every buffer that is accessed has one dimension and offset 0.

     A: T.Buffer((64, 32), "float32")                      A_1 = T.Buffer((2048,), data=A.data)
     ... A[i, j + 1] ...                             ->    ... A_1[i * 32 + (j + 1)] ...

   Strides and offsets become part of the index; a buffer of no dimensions has one element. The parameters keep their declarations, which
   are the interface; what is accessed is a flat buffer over the same memory. Indices are in int64 unless the buffer is known to be small
   enough for int32. T.realize becomes an allocation of the whole buffer; the memory of a parameter is there already. Axis separators mean
   nothing here. */
#include "ir/elements.h"
#include "passes/lower/core/checks.h"

typedef struct {
    Context *ctx;
    const Func *func;
    Map flat; /* Buffer -> Buffer of one dimension over the same memory */
    Map written; /* the buffers that are stored to */
} Flattener;

static bool is_flat(const Buffer *buffer)
{
    return buffer->ndim == 1 && buffer_is_dense(buffer) && expr_is_int(buffer->elem_offset, 0) && !buffer->axis_separator_count;
}

/* A flat buffer over the memory of BUFFER; *FRESH even where BUFFER is flat itself. */
static Buffer *make_flat(Context *ctx, const Buffer *buffer)
{
    Buffer *flat = buffer_clone(ctx, buffer);
    const Expr *span = buffer_span(ctx, buffer);
    flat->ndim = 1;
    flat->shape = arena_copy(ctx->arena, &span, sizeof span);
    flat->strides = NULL;
    flat->elem_offset = expr_int(ctx, span->dtype, 0);
    flat->offset_factor = 0;
    flat->auto_broadcast = false;
    flat->axis_separators = NULL;
    flat->axis_separator_count = 0;
    return flat;
}

/* What stands for BUFFER: a parameter's is made at the first access, that of a buffer declared in the body is there already. */
static Buffer *flat_buffer(Flattener *flattener, Buffer *buffer)
{
    Buffer *flat = map_get(&flattener->flat, buffer);
    if (!flat) {
        flat = make_flat(flattener->ctx, buffer);
        map_set(flattener->ctx->arena, &flattener->flat, buffer, flat);
    }
    return flat;
}

/* Lanes that leave a row find the next one right behind it. */
static void check_lanes_find_rows(Context *ctx, const Buffer *buffer, const Expr *const *indices, Span span)
{
    Range *rows = ARENA_ARRAY(ctx->arena, Range, buffer->ndim);
    if (buffer_is_compact(buffer) || lanes_reach(ctx, buffer, indices, rows) == LANES_IN_ROW)
        return;
    report_lanes_beyond_rows(ctx, buffer, span);
}

static const Expr *flat_index(Context *ctx, const Buffer *buffer, const Expr *const *indices, Span span)
{
    check_lanes_find_rows(ctx, buffer, indices, span);
    if (buffer->ndim)
        return buffer_linear_offset(ctx, buffer, indices);
    return expr_is_int(buffer->elem_offset, 0) ? expr_int(ctx, DTYPE_INT32, 0) : buffer->elem_offset;
}

static const Expr *flatten_in_expr(Rewriter *rewriter, const Expr *expr)
{
    Flattener *flattener = rewriter->data;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD)
        return result;
    const Expr *index = flat_index(rewriter->ctx, expr->value.buffer, result->args, expr->span);
    return expr_load(rewriter->ctx, flat_buffer(flattener, expr->value.buffer), &index, 1, load_mask(result), expr->span);
}

static const Expr **flat_extents(Context *ctx, const Expr *const *extents, int count)
{
    const Expr *product = expr_int(ctx, DTYPE_INT64, 1);
    for (int i = 0; i < count; i++)
        product = op_mul(ctx, product, expr_in_int64(ctx, extents[i]));
    product = count == 1 ? extents[0] : expr_narrow_constant(ctx, product, count ? extents[0]->dtype : DTYPE_INT32);
    return arena_copy(ctx->arena, &product, sizeof product);
}

static const Stmt *flatten_declaration(Rewriter *rewriter, const Stmt *stmt)
{
    Flattener *flattener = rewriter->data;
    Buffer *buffer = stmt->as.declare.buffer;
    map_set(rewriter->ctx->arena, &flattener->flat, buffer, is_flat(buffer) ? buffer : make_flat(rewriter->ctx, buffer));
    Stmt copy = *stmt;
    copy.as.declare.buffer = map_get(&flattener->flat, buffer);
    CheckList checks = {.ctx = rewriter->ctx};
    if (map_has(&flattener->written, buffer))
        checks_distinct_elements(&checks, buffer);
    copy.as.declare.body = checks_around(&checks, rewrite_stmt(rewriter, stmt->as.declare.body));
    return stmt_new(rewriter->ctx, &copy);
}

static const Stmt *flatten_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    Stmt copy;
    switch (stmt->kind) {
    case STMT_DECL_BUFFER: return flatten_declaration(rewriter, stmt);
    case STMT_REALIZE:
        if (func_is_argument(((Flattener *)rewriter->data)->func, stmt->as.realize.region.buffer->data))
            return rewrite_stmt(rewriter, stmt->as.realize.body);
        return rewrite_stmt(rewriter,
                            stmt_allocate_buffer(ctx, stmt->as.realize.region.buffer, (Attrs){0}, stmt->as.realize.body, stmt->span));
    case STMT_STORE: {
        const Stmt *result = rewrite_stmt_children(rewriter, stmt);
        const Expr *index = flat_index(ctx, stmt->as.store.buffer, result->as.store.indices, stmt->span);
        return stmt_store(ctx, flat_buffer(rewriter->data, stmt->as.store.buffer), &index, 1, result->as.store.value, result->as.store.mask,
                          stmt->span);
    }
    case STMT_ALLOCATE:
        copy = *rewrite_stmt_children(rewriter, stmt);
        copy.as.allocate.extents = flat_extents(ctx, copy.as.allocate.extents, copy.as.allocate.extent_count);
        copy.as.allocate.extent_count = 1;
        return stmt_new(ctx, &copy);
    case STMT_ALLOCATE_CONST:
        copy = *rewrite_stmt_children(rewriter, stmt);
        copy.as.allocate_const.extents = flat_extents(ctx, copy.as.allocate_const.extents, copy.as.allocate_const.extent_count);
        copy.as.allocate_const.extent_count = 1;
        return stmt_new(ctx, &copy);
    default: return rewrite_stmt_children(rewriter, stmt);
    }
}

const Func *lower_flatten(LowerState *state, const Func *func)
{
    Flattener flattener = {.ctx = state->ctx, .func = func, .written = func_written_buffers(state->ctx, func)};
    Rewriter rewriter = {.ctx = state->ctx, .expr = flatten_in_expr, .stmt = flatten_in_stmt, .data = &flattener};
    const Stmt *body = rewrite_stmt(&rewriter, func->body);
    for (int i = func->param_count - 1; i >= 0; i--) {
        Buffer *flat = func->params[i].buffer ? map_get(&flattener.flat, func->params[i].buffer) : NULL;
        if (flat)
            body = stmt_new(state->ctx,
                            &(Stmt){.kind = STMT_DECL_BUFFER, .span = func->params[i].buffer->span, .as.declare = {flat, false, body}});
    }
    return func_with_body(state->ctx, func, body);
}
