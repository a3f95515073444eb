/* Accesses that are certainly out of bounds: a constant index outside of a constant size, at a place that certainly runs; likewise axes that
   are bound to a constant outside of their domain. What a condition
   guards, or a loop that may be empty, may stand there without ever running, as in programs whose constants were put in by a schedule. */
#include "ir/walk.h"
#include "parser/parser.h"

static void check_indices(Context *ctx, const Buffer *buffer, const Expr *const *indices, int count, Span span)
{
    for (int i = 0; i < count && i < buffer->ndim; i++) {
        int64_t value, extent;
        if (!expr_const_int(indices[i], &value) || (value >= 0 && (!expr_const_int(buffer->shape[i], &extent) || value < extent)))
            continue;
        diag_error(ctx, indices[i]->span.file ? indices[i]->span : span, "index %lld is out of the bounds of dimension %d of '%s'",
                   (long long)value, i, buffer->name);
    }
}

static bool check_expr(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_LOAD)
        check_indices(visitor->data, expr->value.buffer, expr->args, load_index_count(expr), expr->span);
    if (!expr_is_call(expr, OP_IF_THEN_ELSE) && expr->kind != EXPR_AND && expr->kind != EXPR_OR)
        return true;
    visit_expr(visitor, expr->args[0]); /* the other operands may not be needed */
    return false;
}

static void check_axes(Context *ctx, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++) {
        const Iter *iter = &block->iters[i];
        int64_t value, min, extent;
        if (!expr_const_int(block->bindings[i], &value) || !expr_const_int(iter->domain.min, &min) ||
            !expr_const_int(iter->domain.extent, &extent) || (value >= min && value - min < extent))
            continue;
        diag_error(ctx, block->bindings[i]->span.file ? block->bindings[i]->span : iter->span,
                   "axis '%s' is bound to %lld, outside of its domain", iter->var->name, (long long)value);
    }
}

static bool certainly_runs(const Stmt *stmt)
{
    int64_t extent;
    switch (stmt->kind) {
    case STMT_IF:
    case STMT_WHILE: return false;
    case STMT_FOR: return expr_const_int(stmt->as.loop.extent, &extent) && extent > 0;
    case STMT_BLOCK: return expr_is_int(stmt->as.block.predicate, 1);
    default: return true;
    }
}

static bool check_stmt(Visitor *visitor, const Stmt *stmt)
{
    if (stmt->kind == STMT_STORE)
        check_indices(visitor->data, stmt->as.store.buffer, stmt->as.store.indices, stmt->as.store.index_count, stmt->span);
    if (stmt->kind == STMT_BLOCK && certainly_runs(stmt))
        check_axes(visitor->data, &stmt->as.block);
    return certainly_runs(stmt);
}

bool func_check_bounds(Context *ctx, const Func *func)
{
    int errors = diag_error_count(ctx);
    Visitor visitor = {.expr = check_expr, .stmt = check_stmt, .data = ctx};
    visit_stmt(&visitor, func->body);
    return diag_error_count(ctx) == errors;
}
