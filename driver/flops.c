/* See flops.h: the operations of each store, times the extents of the loops around it. */
#include "driver/flops.h"

#include "ir/walk.h"

typedef struct {
    const ArgData *data;
    double factor, total;
    bool unknown;
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
        count->total += count->factor * expr->dtype.lanes;
    return true;
}

static bool count_stmt(Visitor *visitor, const Stmt *stmt)
{
    FlopCount *count = visitor->data;
    double extent;
    count->unknown |= stmt->kind == STMT_WHILE || stmt->kind == STMT_IF;
    if (stmt->kind == STMT_BLOCK && stmt->as.block.init)
        return visit_stmt(visitor, stmt->as.block.body), false; /* an init is no part of the work that people count */
    if (stmt->kind != STMT_FOR)
        return true;
    if (!size_of(count->data, stmt->as.loop.extent, &extent)) {
        count->unknown = true;
        return false;
    }
    double outside = count->factor;
    count->factor *= extent > 0 ? extent : 0;
    visit_stmt(visitor, stmt->as.loop.body);
    count->factor = outside;
    return false;
}

double flops_count(const ArgData *data, const Func *func)
{
    FlopCount count = {.data = data, .factor = 1};
    Visitor visitor = {.expr = count_expr, .stmt = count_stmt, .data = &count};
    visit_stmt(&visitor, func->body);
    return count.unknown ? -1 : count.total;
}
