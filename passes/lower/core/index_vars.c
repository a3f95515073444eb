/* See index_vars.h. */
#include "passes/lower/core/index_vars.h"

typedef struct {
    Context *ctx;
    IndexVars *vars;
} VarCollector;

static bool add_var(Visitor *visitor, const Expr *expr)
{
    VarCollector *collector = visitor->data;
    if (expr->kind == EXPR_VAR)
        map_set(collector->ctx->arena, collector->vars, expr->value.var, expr->value.var);
    return true;
}

static void add_vars(Context *ctx, IndexVars *vars, const Expr *expr)
{
    VarCollector collector = {ctx, vars};
    Visitor visitor = {.expr = add_var, .data = &collector};
    visit_expr(&visitor, expr);
}

IndexVars index_vars_of_params(Context *ctx, const Func *func)
{
    IndexVars vars = {0};
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        for (int d = 0; buffer && d < buffer->ndim; d++) {
            add_vars(ctx, &vars, buffer->shape[d]);
            if (buffer->strides)
                add_vars(ctx, &vars, buffer->strides[d]);
        }
        if (buffer)
            add_vars(ctx, &vars, buffer->elem_offset);
    }
    return vars;
}

void index_vars_add(Context *ctx, IndexVars *vars, const Stmt *stmt)
{
    if (stmt->kind == STMT_FOR)
        map_set(ctx->arena, vars, stmt->as.loop.var, stmt->as.loop.var);
    else if (stmt->kind == STMT_LET && dtype_is_integer(stmt->as.let.value->dtype) && is_index_expr(vars, stmt->as.let.value))
        map_set(ctx->arena, vars, stmt->as.let.var, stmt->as.let.var);
}

bool is_index_expr(const IndexVars *vars, const Expr *expr)
{
    if (!dtype_is_integer(expr->dtype) && expr->dtype.code != DT_BOOL)
        return false;
    switch ((ExprKind)expr->kind) {
    case EXPR_VAR: return map_has(vars, expr->value.var);
    case EXPR_INT: return true;
    case EXPR_CALL:
        if (expr->value.op != OP_LIKELY && expr->value.op != OP_IF_THEN_ELSE)
            return false;
        break;
    case EXPR_FLOAT:
    case EXPR_STRING:
    case EXPR_LOAD:
    case EXPR_LET:
    case EXPR_SHUFFLE: return false;
    default: break;
    }
    for (int i = 0; i < expr->arg_count; i++)
        if (!is_index_expr(vars, expr->args[i]))
            return false;
    return true;
}
