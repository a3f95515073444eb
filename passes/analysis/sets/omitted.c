/* See omitted.h. */
#include "passes/analysis/prove/portfolio.h"
#include "passes/analysis/sets/omitted.h"

/* The beginning of an environment may lie on the stack. */
static const AffineEnv *kept_env(Context *ctx, const AffineEnv *env)
{
    return env ? arena_copy(ctx->arena, env, sizeof *env) : NULL;
}

void omit_comparison(AffineSpace *space, ExprKind kind, const AffineEnv *env_a, const Expr *a, const AffineEnv *env_b, const Expr *b)
{
    Context *ctx = space->ctx;
    if (!argument_is_on(ctx, ARGUMENT_PRODUCTS) || kind == EXPR_NE || !dtype_is_index(a->dtype) || !dtype_is_index(b->dtype))
        return;
    AffineOmission omission = {space->omitted, kind, kept_env(ctx, env_a), kept_env(ctx, env_b), a, b};
    space->omitted = arena_copy(ctx->arena, &omission, sizeof omission);
}

void omit_condition(AffineSpace *space, const AffineEnv *env, const Expr *condition, bool negated)
{
    while (expr_is_call(condition, OP_LIKELY))
        condition = condition->args[0];
    if (expr_is_compare(condition) && dtype_is_integer(condition->args[0]->dtype))
        omit_comparison(space, negated ? expr_opposite_compare(condition->kind) : (ExprKind)condition->kind, env, condition->args[0], env,
                      condition->args[1]);
}

void omit_range(AffineSpace *space, const AffineEnv *env, int dim, Range range)
{
    Context *ctx = space->ctx;
    Var *var = var_new(ctx, context_intern(ctx, "element"), range.min->dtype, span_none());
    AffineEnv element = {NULL, var, dim, NULL};
    const Expr *value = expr_var(ctx, var), *extent = op_cast(ctx, range.min->dtype, range.extent);
    omit_comparison(space, EXPR_LE, env, range.min, &element, value);
    omit_comparison(space, EXPR_LT, &element, value, env, op_add(ctx, range.min, extent));
}
