/* See signature.h. */
#include "ir/signature.h"

#include <string.h>

#include "ir/c_names.h"
#include "ir/walk.h"

typedef struct {
    Context *ctx;
    Signature *signature;
    Map params; /* data Var of a parameter buffer or of a view of one -> index + 1 */
    VEC(const BlockStmt *) blocks; /* around, outermost first */
} AccessFinder;

static intptr_t param_of(const AccessFinder *finder, const Var *data)
{
    return (intptr_t)map_get(&finder->params, data) - 1;
}

static void mark(AccessFinder *finder, const Var *data, bool read, bool write)
{
    intptr_t index = param_of(finder, data);
    if (index < 0)
        return;
    finder->signature->read[index] |= read;
    finder->signature->written[index] |= write;
}

static bool has_region_of(const AccessFinder *finder, const Region *regions, int count, intptr_t param)
{
    bool found = false;
    for (int i = 0; i < count; i++)
        found |= param_of(finder, regions[i].buffer->data) == param;
    return found;
}

/* A call that gets DATA may read it: the block around does not declare that it only writes it. Where the block declares nothing, ONLY_WRITES,
   the access mask, is believed. */
static bool call_may_read(const AccessFinder *finder, const Var *data, bool only_writes)
{
    const BlockStmt *block = finder->blocks.count ? finder->blocks.data[finder->blocks.count - 1] : NULL;
    intptr_t param = param_of(finder, data);
    if (!block || block->incomplete || param < 0)
        return true;
    if (!block->read_count && !block->write_count)
        return !only_writes;
    return has_region_of(finder, block->reads, block->read_count, param) || !has_region_of(finder, block->writes, block->write_count, param);
}

/* A bare mention of a data pointer escapes into a call, which may do anything that the block around declares; the access mask of
   tvm_access_ptr says that it only reads (1). */
static bool find_in_expr(Visitor *visitor, const Expr *expr)
{
    AccessFinder *finder = visitor->data;
    if (expr->kind == EXPR_LOAD)
        mark(finder, expr->value.buffer->data, true, false);
    if (expr->kind == EXPR_VAR)
        mark(finder, expr->value.var, call_may_read(finder, expr->value.var, false), true);
    if (expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD) {
        const Buffer *buffer = expr->args[0]->value.buffer;
        mark(finder, buffer->data, call_may_read(finder, buffer->data, false), true);
        for (int i = 0; i < load_index_count(expr->args[0]); i++)
            visit_expr(visitor, expr->args[0]->args[i]);
        return false;
    }
    int64_t mask;
    if (expr_is_call(expr, OP_TVM_ACCESS_PTR) && expr->args[1]->kind == EXPR_VAR && expr_const_int(expr->args[4], &mask) && (mask == 1 || mask == 2)) {
        const Var *data = expr->args[1]->value.var;
        mark(finder, data, mask == 1 || call_may_read(finder, data, true), mask == 2);
        visit_expr(visitor, expr->args[2]);
        return false;
    }
    return true;
}

static bool find_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    AccessFinder *finder = visitor->data;
    if (stmt->kind == STMT_STORE)
        mark(finder, stmt->as.store.buffer->data, false, true);
    if (stmt->kind == STMT_BLOCK)
        vec_push(finder->ctx->arena, &finder->blocks, &stmt->as.block);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) {
        const MatchBuffer *match = &stmt->as.block.matches[i];
        map_set(finder->ctx->arena, &finder->params, match->target->data, map_get(&finder->params, match->source.buffer->data));
    }
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    AccessFinder *finder = visitor->data;
    finder->blocks.count -= stmt->kind == STMT_BLOCK;
}

bool is_unnamed_offset(const Buffer *buffer)
{
    return buffer->elem_offset->kind == EXPR_VAR && buffer->elem_offset->value.var->unnamed;
}

typedef struct {
    Map seen;
    VEC(Var *) dims;
    VEC(int) params;
} DimList;

static void add_dim(Context *ctx, DimList *list, const Expr *expr, int param)
{
    if (expr->kind != EXPR_VAR || map_has(&list->seen, expr->value.var))
        return;
    map_set(ctx->arena, &list->seen, expr->value.var, expr->value.var);
    vec_push(ctx->arena, &list->dims, expr->value.var);
    vec_push(ctx->arena, &list->params, param);
}

static void collect_dims(Context *ctx, const Func *func, Signature *signature)
{
    DimList list = {0};
    for (int i = 0; i < func->param_count; i++)
        if (!func->params[i].buffer)
            map_set(ctx->arena, &list.seen, func->params[i].param, func->params[i].param);
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        if (!buffer)
            continue;
        for (int d = 0; d < buffer->ndim; d++)
            add_dim(ctx, &list, buffer->shape[d], i);
        for (int d = 0; buffer->strides && d < buffer->ndim; d++)
            add_dim(ctx, &list, buffer->strides[d], i);
        if (!is_unnamed_offset(buffer))
            add_dim(ctx, &list, buffer->elem_offset, i);
    }
    signature->dims = list.dims.data;
    signature->dim_params = list.params.data;
    signature->dim_count = list.dims.count;
}

static bool is_ascii(const char *text)
{
    while (*text && (unsigned char)*text < 0x80)
        text++;
    return !*text;
}

/* A name that C, its library or the runtime owns would capture their callers: that one gets a prefix. */
Str func_symbol(Context *ctx, const Func *func)
{
    const AttrValue *value = attrs_get(func->attrs, "global_symbol");
    Str symbol = value && value->kind == ATTR_EXPR && value->expr->kind == EXPR_STRING ? value->expr->value.text : func->name;
    if (*symbol && !is_ascii(symbol))
        symbol = c_identifier(ctx, symbol);
    return !strcmp(symbol, "main") || c_owns_function_name(symbol) ? context_internf(ctx, "tir_%s", symbol) : symbol;
}

const Signature *func_signature(Context *ctx, const Func *func)
{
    Signature *signature = ARENA_NEW(ctx->arena, Signature);
    *signature = (Signature){.symbol = func_symbol(ctx, func), .param_count = func->param_count};
    signature->read = ARENA_ARRAY(ctx->arena, bool, func->param_count);
    signature->written = ARENA_ARRAY(ctx->arena, bool, func->param_count);
    AccessFinder finder = {.ctx = ctx, .signature = signature};
    for (intptr_t i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            map_set(ctx->arena, &finder.params, func->params[i].buffer->data, (void *)(i + 1));
    Visitor visitor = {.expr = find_in_expr, .stmt = find_in_stmt, .leave_stmt = leave_stmt, .data = &finder};
    visit_stmt(&visitor, func->body);
    for (int i = 0; i < func->param_count; i++)
        if (signature->read[i] && signature->written[i] && func->params[i].buffer && func_overwrites(ctx, func, func->params[i].buffer))
            signature->read[i] = false;
    collect_dims(ctx, func, signature);
    return signature;
}

const Func *module_callee(Context *ctx, const Module *module, const Expr *call)
{
    bool by_name = expr_is_call(call, OP_CALL_FUNC), by_symbol = expr_is_call(call, OP_CALL_EXTERN) || expr_is_call(call, OP_CALL_PURE_EXTERN);
    if ((!by_name && !by_symbol) || call->args[0]->kind != EXPR_STRING)
        return NULL;
    const char *name = call->args[0]->value.text;
    if (by_name)
        return module_find(module, name);
    for (int i = 0; i < module->func_count; i++)
        if (!strcmp(func_symbol(ctx, module->funcs[i]), name))
            return module->funcs[i];
    return NULL;
}
