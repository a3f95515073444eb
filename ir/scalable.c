/* Finding vectors of unknown length; see scalable.h. */
#include "ir/scalable.h"

#include "ir/walk.h"

const Expr *lane_count(Context *ctx, DType dtype, DType vector)
{
    if (!dtype_is_scalable(vector))
        return expr_int(ctx, dtype, vector.lanes);
    const Expr *scale = op_cast(ctx, dtype, expr_call(ctx, DTYPE_INT32, OP_VSCALE, NULL, 0, span_none()));
    return op_mul(ctx, scale, expr_int(ctx, dtype, vector.lanes - LANES_SCALABLE));
}

typedef struct {
    bool found;
    Span place;
} Search;

static void look_at(Search *search, DType dtype, Span span)
{
    if (search->found || !dtype_is_scalable(dtype))
        return;
    *search = (Search){true, span};
}

static bool look_at_expr(Visitor *visitor, const Expr *expr)
{
    look_at(visitor->data, expr->dtype, expr->span);
    return !((Search *)visitor->data)->found;
}

static bool look_at_stmt(Visitor *visitor, const Stmt *stmt)
{
    Search *search = visitor->data;
    switch (stmt->kind) {
    case STMT_BLOCK:
        for (int i = 0; i < stmt->as.block.alloc_count; i++)
            look_at(search, stmt->as.block.allocs[i]->dtype, stmt->as.block.allocs[i]->span);
        for (int i = 0; i < stmt->as.block.match_count; i++)
            look_at(search, stmt->as.block.matches[i].target->dtype, stmt->span);
        break;
    case STMT_STORE: look_at(search, stmt->as.store.buffer->dtype, stmt->span); break;
    case STMT_ALLOCATE: look_at(search, stmt->as.allocate.dtype, stmt->span); break;
    case STMT_ALLOCATE_CONST: look_at(search, stmt->as.allocate_const.dtype, stmt->span); break;
    case STMT_DECL_BUFFER: look_at(search, stmt->as.declare.buffer->dtype, stmt->span); break;
    default: break;
    }
    return !search->found;
}

bool func_is_scalable(const Func *func, Span *place)
{
    Search search = {false, span_none()};
    for (int i = 0; i < func->param_count; i++)
        look_at(&search, func->params[i].buffer ? func->params[i].buffer->dtype : func->params[i].param->dtype, func->params[i].param->span);
    Visitor visitor = {.expr = look_at_expr, .stmt = look_at_stmt, .data = &search};
    visit_stmt(&visitor, func->body);
    if (place)
        *place = search.place;
    return search.found;
}

bool scalable_refuse(Context *ctx, const Module *module, const char *what)
{
    for (int i = 0; i < module->func_count; i++) {
        Span place;
        if (!func_is_scalable(module->funcs[i], &place))
            continue;
        diag_error(ctx, place, "this vector has as many lanes as T.vscale() says, and a program with such vectors is not %s", what);
        return false;
    }
    return true;
}
