/* Stand-ins for what is not affine; see AffineTerms in affine.h. Terms are compared in simplest form, with all bindings put in. */
#include "ir/walk.h"
#include "passes/analysis/prove/portfolio.h"
#include "passes/analysis/sets/affine.h"
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

static bool var_is_nonnegative(const AffineSpace *space, const AffineEnv *env, const Var *var)
{
    while (env && env->var != var)
        env = env->outer;
    int64_t first;
    return env ? env->dim >= 0 && env->value && expr_const_int(env->value, &first) && first >= 0 : map_has(&space->sizes, var);
}

/* EXPR, made of sizes, constants and loops of ENV that count up, is >= 0. No program divides by 0. */
static bool is_nonnegative(const AffineSpace *space, const AffineEnv *env, const Expr *expr)
{
    int64_t value;
    switch (expr->kind) {
    case EXPR_VAR: return var_is_nonnegative(space, env, expr->value.var);
    case EXPR_FLOORMOD: return is_nonnegative(space, env, expr->args[1]);
    case EXPR_MUL:
    case EXPR_ADD:
    case EXPR_FLOORDIV: return is_nonnegative(space, env, expr->args[0]) && is_nonnegative(space, env, expr->args[1]);
    default: return expr_const_int(expr, &value) && value >= 0;
    }
}

const Expr *affine_term(const AffineSpace *space, const AffineEnv *env, const Expr *expr)
{
    Context *ctx = space->ctx;
    AffineTerms *terms = space->terms;
    if (!terms || !dtype_is_integer(expr->dtype) || !argument_is_on(ctx, ARGUMENT_TERMS))
        return NULL;
    const Expr *expanded = expand(ctx, env, expr, terms->fixed);
    if (!expanded || !is_pure(expanded))
        return NULL;
    expanded = analyzer_simplify(analyzer_new(ctx), expanded);
    for (int i = 0; i < terms->known.count; i++)
        if (expr_equal(terms->known.data[i].expr, expanded))
            return expr_var(ctx, terms->known.data[i].var);
    while (env && env->dim < 0) /* all bindings are put in */
        env = env->outer;
    AffineTerm term = {expanded, env, var_new(ctx, context_intern(ctx, "term"), expr->dtype, expr->span),
                       is_nonnegative(space, env, expanded)};
    vec_push(ctx->arena, &terms->known, term);
    return expr_var(ctx, term.var);
}

bool affine_term_is_nonnegative(const AffineTerms *terms, const Var *var)
{
    for (int i = 0; terms && i < terms->known.count; i++)
        if (terms->known.data[i].var == var)
            return terms->known.data[i].nonnegative;
    return false;
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
    if (rest->kind != EXPR_FLOORMOD || !is_nonnegative(space, NULL, rest->args[1]))
        return false;
    return quotient ? is_product(rest->args[1], quotient->args[1], limit) : expr_equal(rest->args[1], limit);
}
