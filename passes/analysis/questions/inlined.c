/* Calls of functions of the program, inlined for a look at what they touch; see inlined.h.

     with T.block("C"):                              with T.block("C"):
         T.reads(A[vi, 0:4])                             with T.block("body"):
         T.writes(B[vi, 0:4])                                for k in range(4):
         Module.g(T.address_of(A[vi, 0]),      ->                B[vi, k] = A[vi, k]
                  T.address_of(B[vi, 0]))                with T.block("writes"):
                                                             for d in range(4):
                                                                 B[vi, d] = 0
                                                         with T.block("reads"):
                                                             for d in range(4):
                                                                 A[vi, d] = 0

   A parameter whose strides are those of the last dimensions of the buffer that is passed is a part of that buffer. Another one is a part of the
   flat memory behind it, where both layouts are constant. */
#include "passes/analysis/questions/inlined.h"

#include "ir/elements.h"
#include "ir/signature.h"
#include "ir/walk.h"
#include "passes/analysis/model/access.h"
#include "passes/regions/complete.h"

enum { DEEPEST_INLINED = 8 };

typedef struct {
    Context *ctx;
    const Module *module;
    const Func *func;
    Map buffers; /* data variable -> the first buffer over it */
    Map lets;    /* Var of a pointer -> its value */
    const BlockStmt *block; /* innermost */
    InlinedFunc *result;
    int depth; /* of calls in one another */
} Inlining;

/* A parameter of the callee, and where its first element lies in the memory that is passed. */
typedef struct {
    const Buffer *param;
    Buffer layout; /* its shape and strides in terms of the caller */
    Buffer *target;
    const Expr **start; /* target->ndim */
    const Expr **strides; /* NULL: those of the last dimensions of the target; else param->ndim, in elements of a flat target */
    bool flat;            /* the target is a buffer that the program does not have */
} Placed;
typedef VEC(Placed) PlacedList;

/* --- where a parameter lies --- */

/* The distance of neighbours in dimension DIM. */
static const Expr *stride_of(Context *ctx, const Buffer *buffer, int dim)
{
    if (buffer->strides)
        return op_cast(ctx, DTYPE_INT64, buffer->strides[dim]);
    const Expr *stride = expr_int(ctx, DTYPE_INT64, 1);
    for (int d = dim + 1; d < buffer->ndim; d++)
        stride = op_mul(ctx, stride, op_cast(ctx, DTYPE_INT64, buffer->shape[d]));
    return stride;
}

static bool begins_at_pointer(const Func *func, const Buffer *buffer)
{
    return expr_is_int(buffer->elem_offset, 0) || (is_unnamed_offset(buffer) && func_is_argument(func, buffer->data));
}

/* The whole memory of BUFFER as a buffer of one dimension; NULL where its size or layout is not constant. */
static Buffer *flat_buffer(const Inlining *inlining, const Buffer *buffer)
{
    Context *ctx = inlining->ctx;
    int64_t count = 1, extent;
    if (!buffer_is_dense(buffer) || !begins_at_pointer(inlining->func, buffer))
        return NULL;
    for (int d = 0; d < buffer->ndim; d++)
        if (!expr_const_int(buffer->shape[d], &extent) || __builtin_mul_overflow(count, extent, &count) || count > INT32_MAX)
            return NULL;
    const Expr *size = expr_int(ctx, DTYPE_INT32, count);
    Buffer *flat = buffer_new(ctx, buffer->name, buffer->dtype, 1, &size, buffer->scope, buffer->span);
    flat->data = buffer->data;
    return flat;
}

/* The memory of BUFFER from OFFSET on. */
static bool flat_element(const Inlining *inlining, const Buffer *buffer, const Expr *offset, Placed *placed)
{
    placed->target = flat_buffer(inlining, buffer);
    placed->start = arena_copy(inlining->ctx->arena, &offset, sizeof offset);
    placed->flat = true;
    return placed->target && expr_is_pure(offset) && offset->dtype.lanes == 1;
}

/* The element of BUFFER at INDICES; NULL: the first one. */
static bool indexed_element(const Inlining *inlining, Buffer *buffer, const Expr *const *indices, Placed *placed)
{
    Context *ctx = inlining->ctx;
    placed->target = buffer;
    placed->start = ARENA_ARRAY(ctx->arena, const Expr *, buffer->ndim);
    for (int d = 0; d < buffer->ndim; d++) {
        placed->start[d] = indices ? indices[d] : expr_int(ctx, buffer->shape[d]->dtype, 0);
        if (placed->start[d]->dtype.lanes != 1 || !expr_is_pure(placed->start[d]))
            return false;
    }
    return true;
}

/* The buffer that POINTER leads into, and the element that it points to; false where that is not told. */
static bool pointed_element(const Inlining *inlining, const Expr *pointer, Placed *placed)
{
    if (expr_is_call(pointer, OP_ADDRESS_OF) && pointer->args[0]->kind == EXPR_LOAD)
        return indexed_element(inlining, pointer->args[0]->value.buffer, pointer->args[0]->args, placed);
    bool access = expr_is_call(pointer, OP_TVM_ACCESS_PTR);
    const Expr *data = access ? pointer->args[1] : pointer, *offset = access ? pointer->args[2] : expr_int(inlining->ctx, DTYPE_INT32, 0);
    Buffer *buffer = data->kind == EXPR_VAR ? map_get(&inlining->buffers, data->value.var) : NULL;
    if (!buffer)
        return false;
    if (expr_equal(offset, buffer->elem_offset) || (expr_is_int(offset, 0) && begins_at_pointer(inlining->func, buffer)))
        return indexed_element(inlining, buffer, NULL, placed);
    return flat_element(inlining, buffer, offset, placed);
}

static bool has_strides_of_target(Context *ctx, const Placed *placed)
{
    const Buffer *layout = &placed->layout;
    int lead = placed->target->ndim - layout->ndim;
    for (int d = 0; d < layout->ndim && lead >= 0; d++)
        if (!expr_is_int(layout->shape[d], 1) && !expr_equal(stride_of(ctx, layout, d), stride_of(ctx, placed->target, d + lead)))
            return false;
    return lead >= 0;
}

/* Its extents are no larger than those of the last dimensions of the target. */
static bool fits_target(const Placed *placed)
{
    for (int d = 0; d < placed->layout.ndim; d++) {
        const Expr *extent = placed->layout.shape[d], *most = placed->target->shape[placed->target->ndim - placed->layout.ndim + d];
        int64_t count, limit;
        if (!expr_equal(extent, most) && !(expr_const_int(extent, &count) && expr_const_int(most, &limit) && count <= limit))
            return false;
    }
    return true;
}

static bool place_in_flat(const Inlining *inlining, Placed *placed)
{
    Context *ctx = inlining->ctx;
    Buffer *flat = flat_buffer(inlining, placed->target);
    int64_t constant;
    if (!flat)
        return false;
    const Expr *start = expr_int(ctx, DTYPE_INT32, 0);
    for (int d = 0; d < placed->target->ndim; d++)
        start = op_add(ctx, start, op_mul(ctx, op_cast(ctx, DTYPE_INT32, placed->start[d]), op_cast(ctx, DTYPE_INT32, stride_of(ctx, placed->target, d))));
    const Expr **strides = ARENA_ARRAY(ctx->arena, const Expr *, placed->layout.ndim);
    for (int d = 0; d < placed->layout.ndim; d++) {
        strides[d] = op_cast(ctx, DTYPE_INT32, stride_of(ctx, &placed->layout, d));
        if (!expr_const_int(strides[d], &constant))
            return false;
    }
    placed->strides = strides;
    placed->target = flat;
    placed->start = arena_copy(ctx->arena, &start, sizeof start);
    placed->flat = true;
    return true;
}

static Buffer layout_of_param(Context *ctx, Subst *subst, const Buffer *param)
{
    Buffer layout = *param;
    layout.shape = ARENA_ARRAY(ctx->arena, const Expr *, param->ndim);
    layout.strides = param->strides ? ARENA_ARRAY(ctx->arena, const Expr *, param->ndim) : NULL;
    for (int d = 0; d < param->ndim; d++) {
        layout.shape[d] = subst_expr(ctx, subst, param->shape[d]);
        if (param->strides)
            layout.strides[d] = subst_expr(ctx, subst, param->strides[d]);
    }
    return layout;
}

/* PARAM of the callee, whose sizes are those of SUBST, and which the call gives POINTER. */
static bool place_param(const Inlining *inlining, Subst *subst, const Buffer *param, const Expr *pointer, PlacedList *list)
{
    Context *ctx = inlining->ctx;
    Placed placed = {.param = param, .layout = layout_of_param(ctx, subst, param)};
    if (!(expr_is_int(param->elem_offset, 0) || is_unnamed_offset(param)) || !pointed_element(inlining, pointer, &placed) ||
        !dtype_equal(param->dtype, placed.target->dtype) || param->dtype.lanes != 1)
        return false;
    bool part = has_strides_of_target(ctx, &placed);
    if (!(part && fits_target(&placed)) && !place_in_flat(inlining, &placed) && !part)
        return false;
    vec_push(ctx->arena, list, placed);
    return true;
}

/* --- the callee's body --- */

typedef struct {
    const PlacedList *placed;
    bool good;
} Replacement;

static const Placed *find_placed(const PlacedList *list, const Var *data)
{
    for (int i = 0; i < list->count; i++)
        if (list->data[i].param->data == data)
            return &list->data[i];
    return NULL;
}

static const Expr **placed_indices(Rewriter *rewriter, const Placed *placed, const Expr *const *indices, int count)
{
    Context *ctx = rewriter->ctx;
    Replacement *replacement = rewriter->data;
    const Expr **result = arena_copy(ctx->arena, placed->start, sizeof *result * (size_t)placed->target->ndim);
    for (int d = 0; d < count; d++) {
        const Expr *index = rewrite_expr(rewriter, indices[d]);
        const Expr **at = &result[placed->strides ? 0 : placed->target->ndim - count + d];
        if (index->dtype.lanes != 1) {
            replacement->good = false;
            continue;
        }
        index = op_cast(ctx, (*at)->dtype, index);
        *at = op_add(ctx, *at, placed->strides ? op_mul(ctx, index, placed->strides[d]) : index);
    }
    return result;
}

static const Expr *place_load(Rewriter *rewriter, const Expr *expr)
{
    Replacement *replacement = rewriter->data;
    const Placed *placed = expr->kind == EXPR_LOAD ? find_placed(replacement->placed, expr->value.buffer->data) : NULL;
    if (expr->kind == EXPR_VAR && find_placed(replacement->placed, expr->value.var))
        replacement->good = false;
    if (!placed)
        return rewrite_expr_children(rewriter, expr);
    if (load_mask(expr) || expr->value.buffer != placed->param) {
        replacement->good = false;
        return expr;
    }
    return expr_load(rewriter->ctx, placed->target, placed_indices(rewriter, placed, expr->args, expr->arg_count), placed->target->ndim, NULL, expr->span);
}

static const Stmt *place_store(Rewriter *rewriter, const Stmt *stmt)
{
    Replacement *replacement = rewriter->data;
    const Placed *placed = stmt->kind == STMT_STORE ? find_placed(replacement->placed, stmt->as.store.buffer->data) : NULL;
    if (stmt->kind == STMT_BLOCK) { /* what it declares is not asked */
        BlockStmt block = stmt->as.block;
        block.reads_inferred = block.writes_inferred = true;
        block.read_count = block.write_count = 0;
        return rewrite_stmt_children(rewriter, stmt_block(rewriter->ctx, block, stmt->span));
    }
    replacement->good &= stmt->kind != STMT_FOR || stmt->as.loop.kind != FOR_THREAD;
    if (!placed)
        return rewrite_stmt_children(rewriter, stmt);
    if (stmt->as.store.mask || stmt->as.store.buffer != placed->param) {
        replacement->good = false;
        return stmt;
    }
    const Expr **indices = placed_indices(rewriter, placed, stmt->as.store.indices, stmt->as.store.index_count);
    return stmt_store(rewriter->ctx, placed->target, indices, placed->target->ndim, rewrite_expr(rewriter, stmt->as.store.value), NULL, stmt->span);
}

/* A use of a parameter that is no load or store of its elements, or a declaration over its memory. */
static Buffer *find_other_use(Rewriter *rewriter, Buffer *buffer)
{
    Replacement *replacement = rewriter->data;
    replacement->good &= !find_placed(replacement->placed, buffer->data);
    return buffer;
}

/* BODY, which computes what it returns, without the return at its end. */
static const Stmt *without_return(Context *ctx, const Stmt *body)
{
    if (body->kind == STMT_BLOCK)
        return stmt_with_body(ctx, body, without_return(ctx, stmt_body(body)));
    if (body->kind == STMT_EVALUATE && expr_is_call(body->as.evaluate, OP_RET))
        return body->as.evaluate->arg_count ? stmt_evaluate(ctx, body->as.evaluate->args[0], body->span) : stmt_empty(ctx);
    if (body->kind != STMT_SEQ || !body->as.seq.count)
        return body;
    int count = body->as.seq.count;
    const Stmt **items = arena_copy(ctx->arena, body->as.seq.items, sizeof *items * (size_t)count);
    items[count - 1] = without_return(ctx, items[count - 1]);
    return stmt_seq(ctx, items, count);
}

/* The values of the scalar parameters and sizes of CALLEE; false where one is read from memory, or is no number. */
static bool scalar_values(const Inlining *inlining, const Expr *call, const Func *callee, Subst *subst)
{
    const Signature *signature = func_signature(inlining->ctx, callee);
    int count = callee->param_count + signature->dim_count;
    for (int i = 0; i < count && call->arg_count == count + 1; i++) {
        bool is_buffer = i < callee->param_count && callee->params[i].buffer;
        const Var *var = i < callee->param_count ? callee->params[i].param : signature->dims[i - callee->param_count];
        const Expr *value = call->args[i + 1];
        if (is_buffer)
            continue;
        if (var->dtype.lanes != 1 || var->dtype.code == DT_HANDLE || value->dtype.code == DT_HANDLE || value->dtype.lanes != 1)
            return false;
        bool widened = value->kind == EXPR_CAST && dtype_is_integer(value->dtype) && value->dtype.bits > var->dtype.bits && dtype_equal(value->args[0]->dtype, var->dtype);
        subst_var(inlining->ctx, subst, var, widened ? value->args[0] : op_cast(inlining->ctx, var->dtype, value));
    }
    return call->arg_count == count + 1;
}

/* BODY of the callee over the memory that the call passes; NULL where that cannot be told. */
static const Stmt *body_over_memory(Context *ctx, const Stmt *body, const PlacedList *placed)
{
    Replacement replacement = {placed, true};
    Rewriter rewriter = {.ctx = ctx, .expr = place_load, .stmt = place_store, .buffer = find_other_use, .data = &replacement};
    body = clone_fresh(ctx, rewrite_stmt(&rewriter, body));
    for (int i = 0; i < placed->count; i++)
        if (placed->data[i].flat)
            body = stmt_new(ctx, &(Stmt){.kind = STMT_DECL_BUFFER, .span = body->span, .as.declare = {placed->data[i].target, true, body}});
    return replacement.good ? body : NULL;
}

static const Stmt *inline_nested(Rewriter *rewriter, const Stmt *stmt);

/* The body of CALLEE, in which calls are inlined too, for CALL in the function of INLINING. *PLACED: where its parameters lie. */
static const Stmt *body_of_call(const Inlining *inlining, const Expr *call, const Func *callee, PlacedList *placed)
{
    Context *ctx = inlining->ctx;
    Subst subst = {0};
    if (!callee->body || callee == inlining->func || inlining->depth == DEEPEST_INLINED || !scalar_values(inlining, call, callee, &subst))
        return NULL;
    for (int i = 0; i < callee->param_count; i++)
        if (callee->params[i].buffer && !place_param(inlining, &subst, callee->params[i].buffer, call->args[i + 1], placed))
            return NULL;
    Inlining nested = {.ctx = ctx, .module = inlining->module, .func = callee, .buffers = func_buffers_by_data(ctx, callee), .depth = inlining->depth + 1};
    Rewriter rewriter = {.ctx = ctx, .stmt = inline_nested, .data = &nested};
    const Stmt *body = rewrite_stmt(&rewriter, without_return(ctx, callee->body));
    body = body_over_memory(ctx, body, placed); /* first, for buffers get other symbols where their sizes change */
    return body ? subst_stmt(ctx, &subst, body) : NULL;
}

static const Stmt *inline_nested(Rewriter *rewriter, const Stmt *stmt)
{
    const Inlining *inlining = rewriter->data;
    const Func *callee = stmt->kind == STMT_EVALUATE ? module_callee(inlining->ctx, inlining->module, stmt->as.evaluate) : NULL;
    PlacedList placed = {0};
    const Stmt *body = callee ? body_of_call(inlining, stmt->as.evaluate, callee, &placed) : NULL;
    return body ? body : rewrite_stmt_children(rewriter, stmt);
}

/* --- what the block around declares --- */

/* A store to each element of REGION that its buffer has: no element is meant that it does not have. */
static const Stmt *store_to_region(Context *ctx, const Region *region)
{
    Buffer *buffer = region->buffer;
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, buffer->ndim);
    Var **vars = ARENA_ARRAY(ctx->arena, Var *, buffer->ndim);
    const Expr *inside = expr_bool(ctx, true);
    for (int d = 0; d < buffer->ndim; d++) {
        Range range = region->ranges[d];
        bool one = expr_is_int(range.extent, 1), whole = expr_is_int(range.min, 0) && expr_equal(range.extent, buffer->shape[d]);
        vars[d] = one ? NULL : var_new(ctx, context_intern(ctx, "d"), range.extent->dtype, region->span);
        indices[d] = one ? range.min : op_add(ctx, range.min, op_cast(ctx, range.min->dtype, expr_var(ctx, vars[d])));
        if (whole)
            continue;
        const Expr *zero = expr_int(ctx, indices[d]->dtype, 0), *limit = op_cast(ctx, indices[d]->dtype, buffer->shape[d]);
        inside = op_and(ctx, inside, op_and(ctx, op_compare(ctx, EXPR_GE, indices[d], zero), op_compare(ctx, EXPR_LT, indices[d], limit)));
    }
    const Expr *value = op_cast(ctx, buffer->dtype, expr_int(ctx, DTYPE_INT32, 0));
    const Stmt *stmt = stmt_store(ctx, buffer, indices, buffer->ndim, value, NULL, region->span);
    if (!expr_is_int(inside, 1))
        stmt = stmt_if(ctx, inside, stmt, NULL, region->span);
    for (int d = buffer->ndim - 1; d >= 0; d--)
        if (vars[d])
            stmt = stmt_for_serial(ctx, vars[d], NULL, region->ranges[d].extent, stmt, region->span);
    return stmt;
}

static const Stmt *store_to_regions(Context *ctx, const Region *regions, int count)
{
    const Stmt **stores = ARENA_ARRAY(ctx->arena, const Stmt *, count);
    for (int i = 0; i < count; i++)
        stores[i] = store_to_region(ctx, &regions[i]);
    return stmt_seq(ctx, stores, count);
}

/* --- in place of the calls --- */

static const Stmt *block_around(Context *ctx, const Stmt *body, const char *name, Block **block)
{
    *block = block_new(ctx, context_intern(ctx, name), body->span);
    BlockStmt around = {.block = *block, .predicate = expr_bool(ctx, true), .reads_inferred = true, .writes_inferred = true, .body = body};
    return stmt_block(ctx, around, body->span);
}

/* --- memory that a call passes twice --- */

/* The data variable of the memory that POINTER leads into. */
static const Var *pointed_memory(const Inlining *inlining, const Expr *pointer)
{
    const Expr *value = pointer->kind == EXPR_VAR ? map_get(&inlining->lets, pointer->value.var) : NULL;
    const Expr *data = expr_is_call(pointer, OP_TVM_ACCESS_PTR) ? pointer->args[1] : pointer;
    if (value)
        return pointed_memory(inlining, value);
    if (expr_is_call(pointer, OP_ADDRESS_OF) && pointer->args[0]->kind == EXPR_LOAD)
        return buffer_viewed(inlining->func, pointer->args[0]->value.buffer)->data;
    if (data->kind != EXPR_VAR)
        return NULL;
    const Buffer *buffer = map_get(&inlining->buffers, data->value.var);
    return buffer ? buffer_viewed(inlining->func, buffer)->data : data->value.var;
}

/* Stores to all elements of PARAM where POINTER leads, in a new block *ELEMENTS. */
static const Stmt *store_to_param(const Inlining *inlining, Subst *subst, const Buffer *param, const Expr *pointer, Block **elements)
{
    Context *ctx = inlining->ctx;
    PlacedList placed = {0};
    if (!place_param(inlining, subst, param, pointer, &placed))
        return NULL;
    Region all = {(Buffer *)param, ARENA_ARRAY(ctx->arena, Range, param->ndim), param->span};
    for (int d = 0; d < param->ndim; d++)
        all.ranges[d] = (Range){expr_int(ctx, param->shape[d]->dtype, 0), param->shape[d]};
    const Stmt *body = body_over_memory(ctx, store_to_region(ctx, &all), &placed);
    return body ? block_around(ctx, subst_stmt(ctx, subst, body), "passed", elements) : NULL;
}

/* The parameters FIRST and SECOND of CALLEE, of which it writes one, as CALL passes them. */
static const Stmt *store_to_shared(Inlining *inlining, const Expr *call, const Func *callee, int first, int second)
{
    int params[] = {first, second};
    SharedMemory shared = {.call = call, .callee = callee};
    const Stmt *stores[2];
    for (int i = 0; i < 2; i++) {
        Subst subst = {0};
        const Buffer *param = shared.params[i] = callee->params[params[i]].buffer;
        bool known = scalar_values(inlining, call, callee, &subst);
        stores[i] = known ? store_to_param(inlining, &subst, param, call->args[params[i] + 1], &shared.elements[i]) : NULL;
        stores[i] = stores[i] ? stores[i] : stmt_empty(inlining->ctx);
    }
    vec_push(inlining->ctx->arena, &inlining->result->shared, shared);
    return stmt_seq(inlining->ctx, stores, 2);
}

static const Stmt *stores_to_shared(Inlining *inlining, const Expr *call, const Func *callee)
{
    const Signature *signature = func_signature(inlining->ctx, callee);
    const Stmt *result = stmt_empty(inlining->ctx);
    for (int i = 0; i < callee->param_count && i + 1 < call->arg_count; i++)
        for (int k = 0; k < i; k++) {
            bool buffers = callee->params[i].buffer && callee->params[k].buffer && (signature->written[i] || signature->written[k]);
            const Var *memory = buffers ? pointed_memory(inlining, call->args[i + 1]) : NULL;
            if (memory && memory == pointed_memory(inlining, call->args[k + 1])) {
                const Stmt *parts[] = {result, store_to_shared(inlining, call, callee, k, i)};
                result = stmt_seq(inlining->ctx, parts, 2);
            }
        }
    return result;
}

/* --- the calls of a statement --- */

/* What CALL does, before the statement that it stands in. NULL where that cannot be told. */
static const Stmt *inlined_call(Inlining *inlining, const Expr *call, const Func *callee)
{
    Context *ctx = inlining->ctx;
    const BlockStmt *around = inlining->block;
    PlacedList placed = {0};
    InlinedCall inlined = {.call = call, .callee = callee, .around = around};
    const Stmt *body = body_of_call(inlining, call, callee, &placed);
    if (!body)
        return NULL;
    for (int i = 0; i < placed.count; i++) {
        const Buffer *memory = buffer_viewed(inlining->func, placed.data[i].target);
        map_set(ctx->arena, &inlined.memories, memory->data, memory->data);
        inlined.renamed |= placed.data[i].flat;
    }
    const Stmt *parts[] = {block_around(ctx, body, "body", &inlined.body),
                           block_around(ctx, store_to_regions(ctx, around->writes, around->write_count), "writes", &inlined.writes),
                           block_around(ctx, store_to_regions(ctx, around->reads, around->read_count), "reads", &inlined.reads)};
    vec_push(ctx->arena, &inlining->result->calls, inlined);
    return stmt_seq(ctx, parts, 3);
}

typedef struct {
    Inlining *inlining;
    VEC(const Stmt *) parts;
    bool in_place; /* a call is replaced */
    bool in_let;
} CallsOfStmt;

/* A call that runs whenever the statement does. */
static bool inline_in_expr(Visitor *visitor, const Expr *expr)
{
    CallsOfStmt *calls = visitor->data;
    Inlining *inlining = calls->inlining;
    if (expr->kind == EXPR_AND || expr->kind == EXPR_OR || expr_is_call(expr, OP_IF_THEN_ELSE))
        return false;
    const Func *callee = module_callee(inlining->ctx, inlining->module, expr);
    if (!callee)
        return true;
    const Stmt *shared = stores_to_shared(inlining, expr, callee);
    bool compared = !calls->in_let && inlining->block && block_declares_regions(inlining->block);
    const Stmt *inlined = compared ? inlined_call(inlining, expr, callee) : NULL;
    calls->in_place |= inlined != NULL;
    if (!stmt_is_empty(shared))
        vec_push(inlining->ctx->arena, &calls->parts, shared);
    if (inlined)
        vec_push(inlining->ctx->arena, &calls->parts, inlined);
    return false;
}

/* STMT, rewritten to NEW, behind what the calls in it do. */
static const Stmt *behind_calls(Inlining *inlining, const Stmt *stmt, const Stmt *new)
{
    CallsOfStmt calls = {.inlining = inlining, .in_let = stmt->kind == STMT_LET};
    Visitor visitor = {.expr = inline_in_expr, .data = &calls};
    visit_stmt_exprs(&visitor, stmt, MOMENT_ENTRY);
    if (!calls.parts.count)
        return new;
    if (stmt->kind != STMT_EVALUATE || !calls.in_place)
        vec_push(inlining->ctx->arena, &calls.parts, new);
    return stmt_seq(inlining->ctx, calls.parts.data, calls.parts.count);
}

static const Stmt *inline_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Inlining *inlining = rewriter->data;
    const BlockStmt *outside = inlining->block;
    if (stmt->kind == STMT_STORE || stmt->kind == STMT_EVALUATE)
        return behind_calls(inlining, stmt, stmt);
    if (stmt->kind == STMT_LET && stmt->as.let.var->dtype.code == DT_HANDLE)
        map_set(inlining->ctx->arena, &inlining->lets, stmt->as.let.var, (void *)stmt->as.let.value);
    if (stmt->kind == STMT_LET)
        return behind_calls(inlining, stmt, rewrite_stmt_children(rewriter, stmt));
    if (stmt->kind == STMT_BLOCK)
        inlining->block = &stmt->as.block;
    const Stmt *inlined = rewrite_stmt_children(rewriter, stmt);
    inlining->block = outside;
    return inlined;
}

InlinedFunc func_inline_calls(Context *ctx, const Module *module, const Func *func)
{
    InlinedFunc result = {.known = func_buffers_by_data(ctx, func)};
    Inlining inlining = {.ctx = ctx, .module = module, .func = func, .buffers = result.known, .result = &result};
    Rewriter rewriter = {.ctx = ctx, .stmt = inline_in_stmt, .data = &inlining};
    result.func = func_with_body(ctx, func, rewrite_stmt(&rewriter, func->body));
    return result;
}
