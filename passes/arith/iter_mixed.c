/* Iterator maps in mixed index types: a map that converts between index types becomes one in int64 throughout.

   Before: Cast("int32", f // n), f % n      After: f // n, f % n
   over f: int64                             over f: int64

   Arithmetic of index types does not overflow, and what converts a value to one keeps it. Not handled: conversions of other types. */
#include "ir/walk.h"
#include "passes/arith/internal.h"
#include "passes/arith/iter_map.h"

typedef struct {
    Context *ctx;
    Map vars; /* const Var * -> const Expr *: the iterators of narrower types, as fresh ones of int64 */
} Unifier;

static bool is_conversion(const Expr *expr)
{
    return expr->kind == EXPR_CAST && is_index_type(expr->dtype) && is_index_type(expr->args[0]->dtype);
}

static bool find_conversion(Visitor *visitor, const Expr *expr)
{
    if (is_conversion(expr))
        visitor->data = (void *)expr;
    return !visitor->data;
}

static bool has_conversion(const Expr *expr)
{
    Visitor visitor = {.expr = find_conversion};
    if (expr)
        visit_expr(&visitor, expr);
    return visitor.data;
}

static bool query_has_conversion(const IterMapQuery *query)
{
    for (int i = 0; i < query->binding_count; i++)
        if (has_conversion(query->bindings[i]))
            return true;
    return has_conversion(query->predicate);
}

/* EXPR, of an index type, in int64. */
static const Expr *unify(Unifier *unifier, const Expr *expr)
{
    Context *ctx = unifier->ctx;
    if (is_conversion(expr))
        return unify(unifier, expr->args[0]);
    if (expr->kind == EXPR_VAR) {
        const Expr *fresh = map_get(&unifier->vars, expr->value.var);
        return fresh ? fresh : op_cast(ctx, DTYPE_INT64, expr);
    }
    if (expr_is_binary(expr))
        return op_binary(ctx, expr->kind, unify(unifier, expr->args[0]), unify(unifier, expr->args[1]), expr->span);
    return op_cast(ctx, DTYPE_INT64, expr);
}

/* The outermost parts of an index type in int64. */
static const Expr *unify_parts(Rewriter *rewriter, const Expr *expr)
{
    bool compares = expr_is_binary(expr) && expr->dtype.code == DT_BOOL && is_index_type(expr->args[0]->dtype);
    if (!compares)
        return is_index_type(expr->dtype) ? unify(rewriter->data, expr) : rewrite_expr_children(rewriter, expr);
    return op_binary(rewriter->ctx, expr->kind, unify(rewriter->data, expr->args[0]), unify(rewriter->data, expr->args[1]), expr->span);
}

static VarRange unify_iter(Unifier *unifier, VarRange iter)
{
    Context *ctx = unifier->ctx;
    if (!dtype_equal(iter.var->dtype, DTYPE_INT64)) {
        Var *fresh = var_new(ctx, iter.var->name, DTYPE_INT64, iter.var->span);
        map_set(ctx->arena, &unifier->vars, iter.var, (void *)expr_var(ctx, fresh));
        iter.var = fresh;
    }
    iter.range = (Range){unify(unifier, iter.range.min), unify(unifier, iter.range.extent)};
    return iter;
}

bool iter_map_detect_mixed(Analyzer *an, const IterMapQuery *query, IterMapResult *result)
{
    if (!query_has_conversion(query))
        return iter_map_detect(an, query, result);
    Context *ctx = analyzer_context(an);
    Unifier unifier = {.ctx = ctx};
    Rewriter rewriter = {.ctx = ctx, .expr = unify_parts, .data = &unifier};
    IterMapQuery unified = *query;
    VarRange *iters = ARENA_ARRAY(ctx->arena, VarRange, query->iter_count);
    const Expr **bindings = ARENA_ARRAY(ctx->arena, const Expr *, query->binding_count);
    for (int i = 0; i < query->iter_count; i++)
        iters[i] = unify_iter(&unifier, query->iters[i]);
    for (int i = 0; i < query->binding_count; i++)
        bindings[i] = rewrite_expr(&rewriter, query->bindings[i]);
    unified.iters = iters;
    unified.bindings = bindings;
    unified.predicate = query->predicate ? rewrite_expr(&rewriter, query->predicate) : NULL;
    return iter_map_detect(an, &unified, result);
}
