/* Calls of functions of the program against the regions that the block around them declares. A callee that certainly writes all of its buffer
   writes more than a block declares that declares fewer elements of the memory behind the pointer: then what steps rely on does not hold. */
#include "driver/driver.h"
#include "ir/signature.h"
#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "support/warning.h"

typedef struct {
    Driver *driver;
    const Module *module;
    const BlockStmt *block; /* innermost that declares regions */
    bool will_run;
} CallWalk;

static bool count_elements(const Expr *const *extents, int ndim, int64_t *count)
{
    *count = 1;
    for (int d = 0; d < ndim; d++) {
        int64_t extent;
        if (!expr_const_int(extents[d], &extent) || __builtin_mul_overflow(*count, extent, count))
            return false;
    }
    return true;
}

/* FUNC writes each element of BUFFER, a parameter. */
static bool writes_all(Context *ctx, const Func *func, Buffer *buffer)
{
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    AccessRefs writes = {0};
    for (int i = 0; i < accesses.count; i++)
        if (accesses.data[i].write && accesses.data[i].data == buffer->data)
            vec_push(ctx->arena, &writes, &accesses.data[i]);
    if (!writes.count || writes.data[0]->buffer != buffer)
        return false;
    Access whole = {.func = func, .data = buffer->data, .buffer = buffer, .region = region_whole(ctx, buffer)};
    return answer_is_shown(access_covered(ctx, writes.data, writes.count, &whole, NULL, &sizes));
}

static const Var *pointer_memory(const Expr *pointer)
{
    if (expr_is_call(pointer, OP_TVM_ACCESS_PTR))
        pointer = pointer->args[1];
    else if (expr_is_call(pointer, OP_ADDRESS_OF) && pointer->args[0]->kind == EXPR_LOAD)
        return pointer->args[0]->value.buffer->data;
    return pointer->kind == EXPR_VAR ? pointer->value.var : NULL;
}

/* How many elements of the memory DATA BLOCK declares to write; false where that is not constant. */
static bool declared_elements(const BlockStmt *block, const Var *data, int64_t *count)
{
    *count = 0;
    for (int i = 0; i < block->write_count; i++) {
        const Region *region = &block->writes[i];
        const Expr *extents[region->buffer->ndim + 1];
        int64_t part;
        if (region->buffer->data != data)
            continue;
        for (int d = 0; d < region->buffer->ndim; d++)
            extents[d] = region->ranges[d].extent;
        if (!count_elements(extents, region->buffer->ndim, &part) || __builtin_add_overflow(*count, part, count))
            return false;
    }
    return true;
}

static bool check_call(Visitor *visitor, const Expr *expr)
{
    CallWalk *walk = visitor->data;
    Context *ctx = walk->driver->ctx;
    const Func *callee = expr->kind == EXPR_CALL && walk->block ? module_callee(ctx, walk->module, expr) : NULL;
    for (int i = 1; callee && i < expr->arg_count && i <= callee->param_count; i++) {
        Buffer *buffer = callee->params[i - 1].buffer;
        const Var *data = buffer ? pointer_memory(expr->args[i]) : NULL;
        int64_t declared, written;
        if (!data || !declared_elements(walk->block, data, &declared) || !count_elements(buffer->shape, buffer->ndim, &written) ||
            written <= declared || !writes_all(ctx, callee, buffer))
            continue;
        diag_error_or_warning(ctx, walk->will_run, WARNING_FAULTS, expr->span,
                              "'%s' writes %lld elements of '%s', and block '%s' around the call declares that it writes %lld", callee->name,
                              (long long)written, data->name, walk->block->block->name, (long long)declared);
    }
    return true;
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    CallWalk *walk = visitor->data;
    if (stmt->kind != STMT_BLOCK || !block_declares_regions(&stmt->as.block))
        return true;
    CallWalk inner = *walk;
    inner.block = &stmt->as.block;
    Visitor below = {.expr = check_call, .stmt = enter_stmt, .data = &inner};
    visit_stmt_children(&below, stmt);
    return false;
}

void driver_check_callee_regions(Driver *driver, const Module *module, const Func *func, bool will_run)
{
    CallWalk walk = {.driver = driver, .module = module, .will_run = will_run};
    Visitor visitor = {.expr = check_call, .stmt = enter_stmt, .data = &walk};
    visit_stmt(&visitor, func->body);
}
