/* Values that a condition chooses, where that is not known: C[T.Select(M[i], i, i + 16)] is C[i] or C[i + 16], whichever M says. */
#include "ir/walk.h"
#include "passes/analysis/prove/portfolio.h"
#include "passes/analysis/sets/affine_linear.h"

typedef struct {
    const AffineEnv *env;
    const Expr *found; /* a choice, or a variable that stands for a value with one */
} ChoiceSearch;

static const Expr *find_choice(const AffineEnv *env, const Expr *expr);

static const AffineEnv *binding_of(const AffineEnv *env, const Expr *expr)
{
    while (env && expr->kind == EXPR_VAR && env->var != expr->value.var)
        env = env->outer;
    return expr->kind == EXPR_VAR && env && env->dim < 0 ? env : NULL;
}

static bool search_choice(Visitor *visitor, const Expr *expr)
{
    ChoiceSearch *search = visitor->data;
    const AffineEnv *binding = binding_of(search->env, expr);
    bool choice = expr->kind == EXPR_SELECT || expr_is_call(expr, OP_IF_THEN_ELSE);
    if (!search->found && (choice || (binding && find_choice(binding->outer, binding->value))))
        search->found = expr;
    return !search->found && expr->kind != EXPR_LOAD && expr->kind != EXPR_CALL;
}

/* The first choice in what EXPR computes, besides what memory it reads; NULL without one. */
static const Expr *find_choice(const AffineEnv *env, const Expr *expr)
{
    ChoiceSearch search = {env, NULL};
    Visitor visitor = {.expr = search_choice, .data = &search};
    visit_expr(&visitor, expr);
    return search.found;
}

typedef struct {
    const Expr *from, *to;
} Replacement;

static const Expr *replace_node(Rewriter *rewriter, const Expr *expr)
{
    const Replacement *replacement = rewriter->data;
    return expr == replacement->from ? replacement->to : rewrite_expr_children(rewriter, expr);
}

static const Expr *replaced(Context *ctx, const Expr *expr, const Expr *from, const Expr *to)
{
    Replacement replacement = {from, to};
    Rewriter rewriter = {.ctx = ctx, .expr = replace_node, .data = &replacement};
    return rewrite_expr(&rewriter, expr);
}

bool affine_split_choice(Context *ctx, const AffineEnv *env, const Expr *expr, const Expr *cases[2])
{
    const Expr *found = argument_is_on(ctx, ARGUMENT_CHOICES) ? find_choice(env, expr) : NULL;
    for (; found && found->kind == EXPR_VAR; found = find_choice(env, expr)) /* each symbol is bound once: its value means the same here */
        expr = replaced(ctx, expr, found, binding_of(env, found)->value);
    for (int i = 0; i < 2 && found; i++)
        cases[i] = replaced(ctx, expr, found, found->args[1 + i]);
    return found != NULL;
}
