/* See flops.h: the operations of each store, times the extents of the loops around it; the arguments that are read and written. */
#include "driver/flops.h"

#include "ir/walk.h"

typedef struct {
    const ArgData *data;
    double factor;
    Work work;
} FlopCount;

/* The value of an extent made of constants and sizes. */
static bool size_of(const ArgData *data, const Expr *expr, double *value)
{
    double a, b;
    if (expr->kind == EXPR_INT) {
        *value = (double)expr->value.integer;
        return true;
    }
    if (expr->kind == EXPR_VAR)
        for (int i = 0; i < data->signature->dim_count; i++)
            if (data->signature->dims[i] == expr->value.var) {
                *value = (double)data->dims[i];
                return true;
            }
    if (expr->arg_count != 2 || !size_of(data, expr->args[0], &a) || !size_of(data, expr->args[1], &b))
        return false;
    switch ((ExprKind)expr->kind) {
    case EXPR_ADD: *value = a + b; return true;
    case EXPR_SUB: *value = a - b; return true;
    case EXPR_MUL: *value = a * b; return true;
    case EXPR_FLOORDIV: *value = b ? (double)((int64_t)a / (int64_t)b) : 0; return b != 0;
    default: return false;
    }
}

static bool count_expr(Visitor *visitor, const Expr *expr)
{
    FlopCount *count = visitor->data;
    if (dtype_is_float(expr->dtype) && expr->kind >= EXPR_ADD && expr->kind <= EXPR_DIV)
        *(expr->dtype.bits == 64 ? &count->work.flops64 : &count->work.flops32) += count->factor * expr->dtype.lanes;
    return true;
}

static bool count_stmt(Visitor *visitor, const Stmt *stmt)
{
    FlopCount *count = visitor->data;
    double extent;
    if (stmt->kind == STMT_WHILE || stmt->kind == STMT_IF)
        count->work.known = false;
    if (stmt->kind == STMT_BLOCK && stmt->as.block.init)
        return visit_stmt(visitor, stmt->as.block.body), false; /* an init is no part of the work that people count */
    if (stmt->kind != STMT_FOR)
        return true;
    if (!size_of(count->data, stmt->as.loop.extent, &extent)) {
        count->work.known = false;
        return false;
    }
    double outside = count->factor;
    count->factor *= extent > 0 ? extent : 0;
    visit_stmt(visitor, stmt->as.loop.body);
    count->factor = outside;
    return false;
}

/* --- The bytes --- */

typedef struct {
    Map read, written; /* data variables of buffers */
    Map set;           /* those of the block around that an init sets */
    Arena *arena;
} Touched;

static void note_both(Touched *touched, Var *data)
{
    map_set(touched->arena, &touched->read, data, data);
    map_set(touched->arena, &touched->written, data, data);
}

static bool note_load(Visitor *visitor, const Expr *expr)
{
    Touched *touched = visitor->data;
    if (expr->kind == EXPR_LOAD && !map_has(&touched->set, expr->value.buffer->data))
        map_set(touched->arena, &touched->read, expr->value.buffer->data, expr->value.buffer);
    if (expr->kind == EXPR_VAR) /* a pointer that is passed on */
        note_both(touched, expr->value.var);
    return true;
}

static bool note_store(Visitor *visitor, const Stmt *stmt)
{
    Touched *touched = visitor->data;
    if (stmt->kind == STMT_STORE)
        map_set(touched->arena, &touched->written, stmt->as.store.buffer->data, stmt->as.store.buffer);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        note_both(touched, stmt->as.block.matches[i].source.buffer->data);
    if (stmt->kind != STMT_BLOCK || !stmt->as.block.init)
        return true;
    visit_stmt(visitor, stmt->as.block.init);
    Touched inner = {.arena = touched->arena};
    Visitor inside = {.expr = note_load, .stmt = note_store, .data = &inner};
    visit_stmt(&inside, stmt->as.block.init);
    Map outside = touched->set;
    touched->set = inner.written;
    visit_stmt(visitor, stmt->as.block.body);
    touched->set = outside;
    return false;
}

static double count_bytes(const ArgData *data, const Func *func)
{
    Touched touched = {.arena = data->ctx->arena};
    Visitor visitor = {.expr = note_load, .stmt = note_store, .data = &touched};
    visit_stmt(&visitor, func->body);
    double bytes = 0;
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = data->items[i].param->buffer;
        double size = buffer ? (double)dtype_bytes(buffer->dtype) * buffer->dtype.lanes : 0;
        for (int d = 0; buffer && d < buffer->ndim; d++)
            size *= (double)data->items[i].shape[d];
        if (buffer)
            bytes += size * (map_has(&touched.read, buffer->data) + map_has(&touched.written, buffer->data));
    }
    return bytes;
}

Work work_count(const ArgData *data, const Func *func)
{
    FlopCount count = {.data = data, .factor = 1, .work.known = true};
    Visitor visitor = {.expr = count_expr, .stmt = count_stmt, .data = &count};
    visit_stmt(&visitor, func->body);
    count.work.bytes = count_bytes(data, func);
    return count.work;
}
