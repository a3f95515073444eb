/* Passes "narrow_data_type" and "force_narrow_index_to_int32": indices of 64 bits become indices of 32 bits.

     for i, j in T.grid(T.int64(16), T.int64(16)):                         for i, j in T.grid(16, 16):
         B[i * T.int64(16) + j] = A[j] + T.float32(1)              ->          B[i * 16 + j] = A[j] + T.float32(1)

   A loop variable or block axis becomes int32 where each expression that it stands in, and all that this one is part of, has values of 32 bits
   alone. Where int32 meets int64, a conversion is written. Values that are stored or named keep their types.

   The first pass leaves alone what may need 64 bits, and the parameters. The second one gives the buffers of the parameters sizes of type int32
   too, and refuses programs of which something may need 64 bits: a parameter that its caller passes as int64, a size that is not known. */
#include "passes/transform/internal.h"

typedef struct {
    Context *ctx;
    Analyzer *an;
    bool force;
    Map wide;    /* variables that may need 64 bits */
    Map axes;    /* loop variables and block axes of 64 bits */
    Map vars;    /* those that do not need them -> variables of 32 bits */
    Map buffers; /* buffers -> with sizes of 32 bits; large ones -> as they were */
    VEC(Buffer *) locals; /* the buffers that the body defines */
} Narrowing;

static bool is_wide_type(DType type)
{
    return type.code == DT_INT && type.bits == 64;
}

static DType narrow_type(DType type)
{
    return dtype_with_lanes(DTYPE_INT32, type.lanes);
}

/* --- what needs 64 bits --- */

static bool within_int32(IntBound bound)
{
    return bound.min >= INT32_MIN && bound.max <= INT32_MAX;
}

/* All values of EXPR are values of int32. */
static bool fits(Narrowing *narrowing, const Expr *expr)
{
    int64_t stride, last;
    if (expr->dtype.lanes == 1)
        return within_int32(analyzer_bound(narrowing->an, expr));
    if (expr->kind == EXPR_BROADCAST)
        return fits(narrowing, expr->args[0]);
    if (expr->kind != EXPR_RAMP || dtype_is_scalable(expr->dtype) || !expr_const_int(expr->args[1], &stride) || !within_int32((IntBound){stride, stride}))
        return false;
    IntBound base = analyzer_bound(narrowing->an, expr->args[0]);
    last = stride * (expr->dtype.lanes - 1);
    return within_int32(base) && within_int32((IntBound){base.min + last, base.max + last});
}

static bool needs_64(Narrowing *narrowing, const Expr *expr, bool around)
{
    return around || (is_wide_type(expr->dtype) && !fits(narrowing, expr));
}

/* Notes the variables in EXPR that stand in something of 64 bits; WIDE: EXPR is part of such. */
static void note_wide(Narrowing *narrowing, const Expr *expr, bool wide)
{
    wide = needs_64(narrowing, expr, wide);
    if (expr->kind == EXPR_VAR && wide)
        map_set(narrowing->ctx->arena, &narrowing->wide, expr->value.var, expr->value.var);
    for (int i = 0; i < expr->arg_count; i++)
        note_wide(narrowing, expr->args[i], wide && expr->kind != EXPR_LOAD);
}

static bool note_expr(Visitor *visitor, const Expr *expr)
{
    note_wide(visitor->data, expr, false);
    return false;
}

static void define(Narrowing *narrowing, Var *var, Range range)
{
    const Expr *end = op_add(narrowing->ctx, range.min, range.extent);
    if (!is_wide_type(var->dtype))
        return;
    map_set(narrowing->ctx->arena, &narrowing->axes, var, var);
    if (!fits(narrowing, range.min) || !fits(narrowing, range.extent) || !fits(narrowing, end))
        map_set(narrowing->ctx->arena, &narrowing->wide, var, var);
}

/* The product of COUNT sizes is a value of int32, and so is each of them. */
static bool elements_fit(Narrowing *narrowing, const Expr *const *sizes, int count)
{
    int64_t elements = 1;
    for (int d = 0; d < count; d++) {
        IntBound bound = analyzer_bound(narrowing->an, sizes[d]);
        if (!within_int32(bound) || __builtin_mul_overflow(elements, bound.max, &elements) || elements > INT32_MAX)
            return false;
    }
    return true;
}

static bool is_wide_buffer(const Buffer *buffer)
{
    bool wide = false;
    for (int d = 0; d < buffer->ndim; d++)
        wide |= is_wide_type(buffer->shape[d]->dtype);
    return wide;
}

static void note_buffers(Narrowing *narrowing, const Stmt *stmt)
{
    if (stmt->kind == STMT_DECL_BUFFER)
        vec_push(narrowing->ctx->arena, &narrowing->locals, stmt->as.declare.buffer);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        vec_push(narrowing->ctx->arena, &narrowing->locals, stmt->as.block.allocs[i]);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        vec_push(narrowing->ctx->arena, &narrowing->locals, stmt->as.block.matches[i].target);
}

/* The visitor comes to a definition before the uses. */
static bool note_stmt(Visitor *visitor, const Stmt *stmt)
{
    Narrowing *narrowing = visitor->data;
    if (stmt->kind != STMT_LET || narrowing->force)
        facts_bind_stmt(narrowing->an, stmt);
    note_buffers(narrowing, stmt);
    if (stmt->kind == STMT_FOR)
        define(narrowing, stmt->as.loop.var, (Range){stmt->as.loop.min, stmt->as.loop.extent});
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.iter_count; i++) {
        const Iter *iter = &stmt->as.block.iters[i];
        analyzer_bind_range_opaque(narrowing->an, iter->var, iter->domain);
        define(narrowing, iter->var, iter->domain);
    }
    return stmt->kind != STMT_ATTR || (visit_stmt(visitor, stmt->as.attr.body), false);
}

/* --- expressions --- */

static const Expr *narrow_expr(Narrowing *narrowing, const Expr *expr, bool wide);

/* A and B in the wider type of both. */
static void match_widths(Context *ctx, const Expr **a, const Expr **b)
{
    if (is_wide_type((*a)->dtype) && !is_wide_type((*b)->dtype))
        *b = op_cast(ctx, dtype_with_lanes((*a)->dtype, (*b)->dtype.lanes), *b);
    else if (is_wide_type((*b)->dtype) && !is_wide_type((*a)->dtype))
        *a = op_cast(ctx, dtype_with_lanes((*b)->dtype, (*a)->dtype.lanes), *a);
}

/* The argument at INDEX of EXPR stands for a loop over threads, of whatever type its variable is. */
static bool names_thread(const Expr *expr, int index)
{
    int64_t count;
    return expr_is_call(expr, OP_TVM_THREAD_ALLREDUCE) && expr->args[index]->kind == EXPR_VAR && expr_const_int(expr->args[0], &count) &&
           index >= 2 + 2 * count;
}

/* EXPR with arguments of 32 bits where they and the form of EXPR allow it. */
static const Expr *narrow_children(Narrowing *narrowing, const Expr *expr, bool wide)
{
    Context *ctx = narrowing->ctx;
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, expr->arg_count);
    bool load = expr->kind == EXPR_LOAD, choice = expr->kind == EXPR_SELECT || expr_is_call(expr, OP_IF_THEN_ELSE);
    bool pair = expr->kind != EXPR_AND && expr->kind != EXPR_OR && (expr_is_binary(expr) || expr->kind == EXPR_RAMP);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = narrow_expr(narrowing, expr->args[i], wide && !load);
    if (choice || pair)
        match_widths(ctx, &args[choice], &args[choice + 1]);
    for (int i = 0; !load && !choice && !pair && expr->kind != EXPR_BROADCAST && i < expr->arg_count; i++)
        args[i] = dtype_equal(args[i]->dtype, expr->args[i]->dtype) || names_thread(expr, i) ? args[i] : op_cast(ctx, expr->args[i]->dtype, args[i]);
    Buffer *buffer = load ? map_get(&narrowing->buffers, expr->value.buffer) : NULL;
    if (buffer)
        return expr_load(ctx, buffer, args, load_index_count(expr), expr->predicated ? args[expr->arg_count - 1] : NULL, expr->span);
    return expr_with_args(ctx, expr, args);
}

static const Expr *narrow_expr(Narrowing *narrowing, const Expr *expr, bool wide)
{
    Context *ctx = narrowing->ctx;
    wide = needs_64(narrowing, expr, wide);
    if (expr->kind == EXPR_VAR) {
        Var *var = map_get(&narrowing->vars, expr->value.var);
        return var ? expr_var_at(ctx, var, expr->span) : expr;
    }
    if (expr->kind == EXPR_INT)
        return is_wide_type(expr->dtype) && !wide ? expr_int_at(ctx, DTYPE_INT32, expr->value.integer, expr->span) : expr;
    if (expr->kind == EXPR_CAST)
        return op_cast(ctx, is_wide_type(expr->dtype) && !wide ? narrow_type(expr->dtype) : expr->dtype, narrow_expr(narrowing, expr->args[0], wide));
    return expr->arg_count || expr->kind == EXPR_LOAD ? narrow_children(narrowing, expr, wide) : expr;
}

static const Expr *rewrite_top(Rewriter *rewriter, const Expr *expr)
{
    return narrow_expr(rewriter->data, expr, false);
}

/* --- statements --- */

static Var *narrow_definition(Rewriter *rewriter, Var *var)
{
    Var *narrow = map_get(&((Narrowing *)rewriter->data)->vars, var);
    return narrow ? narrow : var;
}

static Buffer *narrow_buffer(Rewriter *rewriter, Buffer *buffer)
{
    Buffer *narrow = map_get(&((Narrowing *)rewriter->data)->buffers, buffer);
    return narrow ? narrow : buffer;
}

/* The buffer that stands for BUFFER, which the body defines. One with more elements than int32 counts keeps sizes of 64 bits: offsets in it are
   computed in their type. */
static void narrow_local(Narrowing *narrowing, Buffer *buffer)
{
    Context *ctx = narrowing->ctx;
    Buffer *result = buffer_clone(ctx, buffer);
    size_t bytes = (size_t)buffer->ndim * sizeof *buffer->shape;
    if (!is_wide_buffer(buffer) || elements_fit(narrowing, buffer->shape, buffer->ndim)) {
        result->shape = arena_copy(ctx->arena, buffer->shape, bytes);
        result->strides = buffer->strides ? arena_copy(ctx->arena, buffer->strides, bytes) : NULL;
        result->elem_offset = narrow_expr(narrowing, buffer->elem_offset, false);
        for (int d = 0; d < buffer->ndim; d++) {
            result->shape[d] = narrow_expr(narrowing, buffer->shape[d], false);
            if (buffer->strides)
                result->strides[d] = narrow_expr(narrowing, buffer->strides[d], false);
        }
    }
    map_set(ctx->arena, &narrowing->buffers, buffer, result);
}

static Range range_in(Context *ctx, DType type, Range range)
{
    return (Range){op_cast(ctx, type, range.min), op_cast(ctx, type, range.extent)};
}

static Region *matched_regions(Context *ctx, const Region *regions, int count)
{
    Region *result = arena_copy(ctx->arena, regions, (size_t)count * sizeof *regions);
    for (int i = 0; i < count; i++) {
        int ndim = regions[i].buffer->ndim;
        result[i].ranges = arena_copy(ctx->arena, regions[i].ranges, (size_t)ndim * sizeof *regions[i].ranges);
        for (int d = 0; d < ndim; d++)
            match_widths(ctx, &result[i].ranges[d].min, &result[i].ranges[d].extent);
    }
    return result;
}

static const Stmt *matched_block(Context *ctx, const Stmt *before, BlockStmt block)
{
    block.iters = arena_copy(ctx->arena, block.iters, (size_t)block.iter_count * sizeof *block.iters);
    block.bindings = arena_copy(ctx->arena, block.bindings, (size_t)block.iter_count * sizeof *block.bindings);
    for (int i = 0; i < block.iter_count; i++) {
        DType type = block.iters[i].var->dtype;
        block.iters[i].domain = range_in(ctx, type, block.iters[i].domain);
        block.bindings[i] = op_cast(ctx, type, block.bindings[i]);
    }
    block.reads = matched_regions(ctx, block.reads, block.read_count);
    block.writes = matched_regions(ctx, block.writes, block.write_count);
    block.matches = arena_copy(ctx->arena, block.matches, (size_t)block.match_count * sizeof *block.matches);
    for (int i = 0; i < block.match_count; i++)
        block.matches[i].source = *matched_regions(ctx, &block.matches[i].source, 1);
    block.annotations = attrs_name_buffer(block.annotations, NULL) ? block.annotations : before->as.block.annotations;
    return stmt_block(ctx, block, before->span);
}

static const Stmt *narrow_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    if (stmt->kind == STMT_ATTR)
        return stmt_with_body(ctx, stmt, rewrite_stmt(rewriter, stmt->as.attr.body));
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind == STMT_BLOCK)
        return matched_block(ctx, stmt, result->as.block);
    Stmt copy = *result;
    if (stmt->kind == STMT_FOR) {
        Range range = range_in(ctx, copy.as.loop.var->dtype, (Range){copy.as.loop.min, copy.as.loop.extent});
        copy.as.loop.min = range.min;
        copy.as.loop.extent = range.extent;
        if (!attrs_name_buffer(copy.as.loop.annotations, NULL))
            copy.as.loop.annotations = stmt->as.loop.annotations;
    } else if (stmt->kind == STMT_ALLOCATE && !elements_fit(rewriter->data, stmt->as.allocate.extents, stmt->as.allocate.extent_count)) {
        copy.as.allocate.extents = stmt->as.allocate.extents;
    } else if (stmt->kind == STMT_STORE) {
        copy.as.store.value = op_cast(ctx, stmt->as.store.value->dtype, copy.as.store.value);
    } else if (stmt->kind == STMT_LET) {
        copy.as.let.value = op_cast(ctx, stmt->as.let.value->dtype, copy.as.let.value);
    } else if (stmt->kind == STMT_EVALUATE && !dtype_equal(copy.as.evaluate->dtype, stmt->as.evaluate->dtype)) {
        copy.as.evaluate = op_cast(ctx, stmt->as.evaluate->dtype, copy.as.evaluate);
    } else {
        return result;
    }
    return stmt_new(ctx, &copy);
}

/* --- parameters --- */

static bool refuse(Narrowing *narrowing, Span place, const char *name, const char *why)
{
    diag_error(narrowing->ctx, place, "'%s' cannot be narrowed to 32 bits: %s", name, why);
    return false;
}

static bool narrow_sizes(Narrowing *narrowing, const Buffer *buffer, const Expr **sizes)
{
    for (int d = 0; sizes && d < buffer->ndim; d++) {
        if (is_wide_type(sizes[d]->dtype) && !fits(narrowing, sizes[d]))
            return refuse(narrowing, buffer->span, buffer->name, "a size or stride is not known to fit; declare its variable as T.int32");
        sizes[d] = narrow_expr(narrowing, sizes[d], false);
    }
    return true;
}

/* BUFFER with sizes of 32 bits; NULL after diagnostics. */
static Buffer *narrow_param_buffer(Narrowing *narrowing, const Buffer *buffer)
{
    Context *ctx = narrowing->ctx;
    Buffer *result = buffer_clone(ctx, buffer);
    size_t bytes = (size_t)buffer->ndim * sizeof *buffer->shape;
    result->shape = arena_copy(ctx->arena, buffer->shape, bytes);
    result->strides = buffer->strides ? arena_copy(ctx->arena, buffer->strides, bytes) : NULL;
    if (is_wide_type(buffer->dtype)) {
        refuse(narrowing, buffer->span, buffer->name, "its elements have type int64");
        return NULL;
    }
    if (is_wide_buffer(buffer) && !elements_fit(narrowing, buffer->shape, buffer->ndim)) {
        refuse(narrowing, buffer->span, buffer->name, "it may have more elements than int32 counts; declare symbolic sizes as T.int32");
        return NULL;
    }
    if (!narrow_sizes(narrowing, result, result->shape) || !narrow_sizes(narrowing, result, result->strides))
        return NULL;
    if (buffer->elem_offset->kind == EXPR_INT)
        result->elem_offset = narrow_expr(narrowing, buffer->elem_offset, false);
    return result;
}

/* The parameters of FUNC with sizes of 32 bits; NULL after diagnostics. */
static const Func *narrow_params(Narrowing *narrowing, const Func *func)
{
    Func *result = arena_copy(narrowing->ctx->arena, func, sizeof *func);
    result->params = arena_copy(narrowing->ctx->arena, func->params, (size_t)func->param_count * sizeof *func->params);
    for (int i = 0; i < func->param_count; i++) {
        Param *param = &result->params[i];
        if (!param->buffer && is_wide_type(param->param->dtype)) {
            refuse(narrowing, param->param->span, param->param->name, "its caller passes 64 bits; declare it as T.int32");
            return NULL;
        }
        if (!param->buffer)
            continue;
        Buffer *buffer = narrow_param_buffer(narrowing, param->buffer);
        if (!buffer)
            return NULL;
        map_set(narrowing->ctx->arena, &narrowing->buffers, param->buffer, buffer);
        param->buffer = buffer;
    }
    return result;
}

static bool all_narrow(Narrowing *narrowing)
{
    for (int i = 0; i < narrowing->axes.count; i++) {
        const Var *var = narrowing->axes.entries[i].key;
        if (map_has(&narrowing->wide, var))
            return refuse(narrowing, var->span, var->name, "it, or an index or value that is computed from it, may need 64 bits");
    }
    return true;
}

/* --- the passes --- */

static const Func *narrow_func(LowerState *state, const Func *func, bool force)
{
    Narrowing narrowing = {.ctx = state->ctx, .an = analyzer_new(state->ctx), .force = force};
    Visitor visitor = {.expr = note_expr, .stmt = note_stmt, .data = &narrowing};
    visit_stmt(&visitor, func->body);
    if (force && (!(func = narrow_params(&narrowing, func)) || !all_narrow(&narrowing)))
        return func;
    for (int i = 0; i < narrowing.axes.count; i++) {
        const Var *var = narrowing.axes.entries[i].key;
        if (map_has(&narrowing.wide, var))
            continue;
        Var *narrow = var_clone(state->ctx, var, var->name);
        narrow->dtype = DTYPE_INT32;
        map_set(state->ctx->arena, &narrowing.vars, var, narrow);
    }
    for (int i = 0; i < narrowing.locals.count; i++)
        narrow_local(&narrowing, narrowing.locals.data[i]);
    Rewriter rewriter = {.ctx = state->ctx, .expr = rewrite_top, .stmt = narrow_stmt, .buffer = narrow_buffer, .define_var = narrow_definition};
    rewriter.data = &narrowing;
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}

const Func *transform_narrow_types(LowerState *state, const Func *func)
{
    return narrow_func(state, func, false);
}

const Func *transform_narrow_indices(LowerState *state, const Func *func)
{
    return narrow_func(state, func, true);
}
