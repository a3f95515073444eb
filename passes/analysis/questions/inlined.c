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
bool inlined_scalars(const Inlining *inlining, const Expr *call, const Func *callee, Subst *subst)
{
    const Signature *signature = func_signature(inlining->ctx, callee);
    int count = callee->param_count + signature->dim_count;
    bool known = true;
    for (int i = 0; i < count && call->arg_count == count + 1; i++) {
        bool is_buffer = i < callee->param_count && callee->params[i].buffer;
        const Var *var = i < callee->param_count ? callee->params[i].param : signature->dims[i - callee->param_count];
        const Expr *value = call->args[i + 1];
        if (is_buffer)
            continue;
        if (var->dtype.lanes != 1 || var->dtype.code == DT_HANDLE || value->dtype.code == DT_HANDLE || value->dtype.lanes != 1) {
            known = false;
            continue;
        }
        bool widened = value->kind == EXPR_CAST && dtype_is_integer(value->dtype) && value->dtype.bits > var->dtype.bits && dtype_equal(value->args[0]->dtype, var->dtype);
        subst_var(inlining->ctx, subst, var, widened ? value->args[0] : op_cast(inlining->ctx, var->dtype, value));
    }
    return known && call->arg_count == count + 1;
}

/* BODY of the callee over the memory that the call passes; NULL where that cannot be told. */
const Stmt *inlined_over_memory(Context *ctx, const Stmt *body, const PlacedList *placed)
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
    if (!callee->body || callee == inlining->func || inlining->depth == DEEPEST_INLINED || !inlined_scalars(inlining, call, callee, &subst))
        return NULL;
    for (int i = 0; i < callee->param_count; i++)
        if (callee->params[i].buffer && !inlined_place_param(inlining, &subst, callee->params[i].buffer, call->args[i + 1], false, placed))
            return NULL;
    Inlining nested = {.ctx = ctx, .module = inlining->module, .func = callee, .buffers = func_buffers_by_data(ctx, callee), .depth = inlining->depth + 1};
    Rewriter rewriter = {.ctx = ctx, .stmt = inline_nested, .data = &nested};
    const Stmt *body = rewrite_stmt(&rewriter, without_return(ctx, callee->body));
    body = inlined_over_memory(ctx, body, placed); /* first, for buffers get other symbols where their sizes change */
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
const Stmt *inlined_store_to_region(Context *ctx, const Region *region)
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
        stores[i] = inlined_store_to_region(ctx, &regions[i]);
    return stmt_seq(ctx, stores, count);
}

/* --- in place of the calls --- */

const Stmt *inlined_block(Context *ctx, const Stmt *body, const char *name, Block **block)
{
    *block = block_new(ctx, context_intern(ctx, name), body->span);
    BlockStmt around = {.block = *block, .predicate = expr_bool(ctx, true), .reads_inferred = true, .writes_inferred = true, .body = body};
    return stmt_block(ctx, around, body->span);
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
    const Stmt *parts[] = {inlined_block(ctx, body, "body", &inlined.body),
                           inlined_block(ctx, store_to_regions(ctx, around->writes, around->write_count), "writes", &inlined.writes),
                           inlined_block(ctx, store_to_regions(ctx, around->reads, around->read_count), "reads", &inlined.reads)};
    vec_push(ctx->arena, &inlining->result->calls, inlined);
    return stmt_seq(ctx, parts, 3);
}

typedef struct {
    Inlining *inlining;
    VEC(const Stmt *) parts;
    VEC(const Expr *) conditions; /* under which the expression is evaluated */
    bool in_place; /* a call is replaced */
    bool apart;    /* calls are not inlined: whether what they pass overlaps is all that is asked */
} CallsOfStmt;

static const Stmt *under_conditions(const CallsOfStmt *calls, const Stmt *stmt)
{
    for (int i = calls->conditions.count - 1; i >= 0; i--)
        stmt = stmt_if(calls->inlining->ctx, calls->conditions.data[i], stmt, NULL, stmt->span);
    return stmt;
}

static void visit_under(Visitor *visitor, const Expr *condition, const Expr *expr)
{
    CallsOfStmt *calls = visitor->data;
    vec_push(calls->inlining->ctx->arena, &calls->conditions, condition);
    visit_expr(visitor, expr);
    calls->conditions.count--;
}

/* The operands of EXPR, each under the conditions that it is evaluated under. */
static bool visit_operands(Visitor *visitor, const Expr *expr)
{
    CallsOfStmt *calls = visitor->data;
    bool chosen = expr_is_call(expr, OP_IF_THEN_ELSE);
    if (expr->kind != EXPR_AND && expr->kind != EXPR_OR && !chosen)
        return true;
    const Expr *condition = expr->args[0], *otherwise = op_not(calls->inlining->ctx, condition, condition->span);
    visit_expr(visitor, condition);
    if (condition->dtype.lanes != 1)
        condition = otherwise = expr_bool(calls->inlining->ctx, true);
    visit_under(visitor, expr->kind == EXPR_OR ? otherwise : condition, expr->args[1]);
    if (chosen)
        visit_under(visitor, otherwise, expr->args[2]);
    return false;
}

static bool inline_in_expr(Visitor *visitor, const Expr *expr)
{
    CallsOfStmt *calls = visitor->data;
    Inlining *inlining = calls->inlining;
    if (expr->kind == EXPR_LET && expr->value.var->dtype.code == DT_HANDLE)
        map_set(inlining->ctx->arena, &inlining->lets, expr->value.var, (void *)expr->args[0]);
    const Func *callee = module_callee(inlining->ctx, inlining->module, expr);
    if (!callee)
        return visit_operands(visitor, expr);
    const Stmt *shared = inlined_shared(inlining, expr, callee);
    bool compared = !calls->apart && !calls->conditions.count && inlining->block && block_declares_regions(inlining->block);
    const Stmt *inlined = compared ? inlined_call(inlining, expr, callee) : NULL;
    calls->in_place |= inlined != NULL;
    if (!stmt_is_empty(shared))
        vec_push(inlining->ctx->arena, &calls->parts, under_conditions(calls, shared));
    if (inlined)
        vec_push(inlining->ctx->arena, &calls->parts, inlined);
    bool apart = calls->apart;
    calls->apart = true;
    visit_expr_children(visitor, expr);
    calls->apart = apart;
    return false;
}

/* The calls that STMT evaluates at a moment from FIRST to LAST. */
static CallsOfStmt calls_of_stmt(Inlining *inlining, const Stmt *stmt, Moment first, Moment last)
{
    CallsOfStmt calls = {.inlining = inlining, .apart = stmt->kind != STMT_STORE && stmt->kind != STMT_EVALUATE};
    Visitor visitor = {.expr = inline_in_expr, .data = &calls};
    for (int moment = first; moment <= (int)last; moment++)
        visit_stmt_exprs(&visitor, stmt, (Moment)moment);
    return calls;
}

/* STMT behind what its CALLS do. */
static const Stmt *behind_calls(CallsOfStmt *calls, const Stmt *stmt)
{
    Context *ctx = calls->inlining->ctx;
    if (!calls->parts.count)
        return stmt;
    if (stmt->kind != STMT_EVALUATE || !calls->in_place)
        vec_push(ctx->arena, &calls->parts, stmt);
    return stmt_seq(ctx, calls->parts.data, calls->parts.count);
}

/* The expressions in a block stand where its axes have values. */
static const Stmt *inline_in_block(Rewriter *rewriter, const Stmt *stmt)
{
    Inlining *inlining = rewriter->data;
    const BlockStmt *outside = inlining->block;
    inlining->block = &stmt->as.block;
    CallsOfStmt inside = calls_of_stmt(inlining, stmt, MOMENT_INSIDE, MOMENT_INSIDE);
    const Stmt *inlined = rewrite_stmt_children(rewriter, stmt);
    inlining->block = outside;
    return stmt_with_body(inlining->ctx, inlined, behind_calls(&inside, stmt_body(inlined)));
}

static const Stmt *inline_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Inlining *inlining = rewriter->data;
    if (stmt->kind == STMT_LET && stmt->as.let.var->dtype.code == DT_HANDLE)
        map_set(inlining->ctx->arena, &inlining->lets, stmt->as.let.var, (void *)stmt->as.let.value);
    bool block = stmt->kind == STMT_BLOCK;
    CallsOfStmt calls = calls_of_stmt(inlining, stmt, MOMENT_ENTRY, block ? MOMENT_BOUND : MOMENT_INSIDE);
    return behind_calls(&calls, block ? inline_in_block(rewriter, stmt) : rewrite_stmt_children(rewriter, stmt));
}

InlinedFunc func_inline_calls(Context *ctx, const Module *module, const Func *func)
{
    InlinedFunc result = {.known = func_buffers_by_data(ctx, func)};
    Inlining inlining = {.ctx = ctx, .module = module, .func = func, .buffers = result.known, .result = &result};
    Rewriter rewriter = {.ctx = ctx, .stmt = inline_in_stmt, .data = &inlining};
    result.func = func_with_body(ctx, func, rewrite_stmt(&rewriter, func->body));
    return result;
}
