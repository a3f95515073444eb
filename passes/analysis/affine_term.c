/* Stand-ins for what is not affine; see AffineTerms in affine.h. Terms are compared in simplest form, with all bindings put in. */
#include "ir/walk.h"
#include "passes/analysis/affine.h"
#include "passes/arith/analyzer.h"

static bool note_impure(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->kind == EXPR_LOAD || (expr->kind == EXPR_CALL && expr->value.op != OP_LIKELY);
    return true;
}

/* The value of EXPR follows from its variables. */
static bool is_pure(const Expr *expr)
{
    bool impure = false;
    Visitor visitor = {.expr = note_impure, .data = &impure};
    visit_expr(&visitor, expr);
    return !impure;
}

/* EXPR over loop variables and sizes; NULL when it varies inside of the first FIXED loops. */
static const Expr *expand(Context *ctx, const AffineEnv *env, const Expr *expr, int fixed)
{
    for (; env; env = env->outer) {
        if (!expr_uses_var(expr, env->var))
            continue;
        if (env->dim >= fixed)
            return NULL;
        if (env->dim < 0)
            expr = subst_one(ctx, expr, env->var, op_cast(ctx, env->var->dtype, env->value));
    }
    return expr;
}

const Expr *affine_term(const AffineSpace *space, const AffineEnv *env, const Expr *expr)
{
    Context *ctx = space->ctx;
    AffineTerms *terms = space->terms;
    if (!terms || !dtype_is_integer(expr->dtype))
        return NULL;
    const Expr *expanded = expand(ctx, env, expr, terms->fixed);
    if (!expanded || !is_pure(expanded))
        return NULL;
    expanded = analyzer_simplify(analyzer_new(ctx), expanded);
    for (int i = 0; i < terms->known.count; i++)
        if (expr_equal(terms->known.data[i].expr, expanded))
            return expr_var(ctx, terms->known.data[i].var);
    AffineTerm term = {expanded, var_new(ctx, context_intern(ctx, "term"), expr->dtype, expr->span)};
    vec_push(ctx->arena, &terms->known, term);
    return expr_var(ctx, term.var);
}

/* EXPR, made of sizes and constants, is >= 0. */
static bool is_size(const AffineSpace *space, const Expr *expr)
{
    if (expr->kind == EXPR_MUL || expr->kind == EXPR_ADD)
        return is_size(space, expr->args[0]) && is_size(space, expr->args[1]);
    int64_t value;
    return (expr->kind == EXPR_VAR && map_has(&space->sizes, expr->value.var)) || (expr_const_int(expr, &value) && value >= 0);
}

static bool is_product(const Expr *expr, const Expr *a, const Expr *b)
{
    return expr->kind == EXPR_MUL && ((expr_equal(expr->args[0], a) && expr_equal(expr->args[1], b)) ||
                                      (expr_equal(expr->args[0], b) && expr_equal(expr->args[1], a)));
}

bool affine_is_rest_below_size(const AffineSpace *space, const Expr *condition)
{
    if (condition->kind != EXPR_LT)
        return false;
    const Expr *value = condition->args[0], *limit = condition->args[1];
    const Expr *quotient = value->kind == EXPR_FLOORDIV ? value : NULL, *rest = quotient ? quotient->args[0] : value;
    if (rest->kind != EXPR_FLOORMOD || !is_size(space, rest->args[1]))
        return false;
    return quotient ? is_product(rest->args[1], quotient->args[1], limit) : expr_equal(rest->args[1], limit);
}
