/* Pass "wrapping": what a program computes wraps, also in a condition or let; the passes that follow take arithmetic of int32 and int64
   there not to overflow. Where it may, it is written in the unsigned type (see ir/wrap.h).

     if vi * 1073741824 == 0:      ->      if T.Cast("int32", T.Cast("uint32", vi) * T.uint32(1073741824)) == 0:

   T.where, bindings and indices stay as they are: those must not overflow. */
#include "ir/wrap.h"
#include "passes/lower/core/state.h"

/* A variable in scope, inside of OUTER. */
typedef struct Bounded {
    const struct Bounded *outer;
    const Var *var;
    WrapBound bound;
} Bounded;

static bool find_bound(const void *data, const Var *var, WrapBound *bound)
{
    const Bounded *bounded = data;
    while (bounded && bounded->var != var)
        bounded = bounded->outer;
    if (bounded)
        *bound = bounded->bound;
    return bounded;
}

/* What the rewriter knows: the variables in scope, and the direction. */
typedef struct {
    const Bounded *bounded;
    bool implicit;
} Wrapping;

static WrapScope scope_of(const Rewriter *rewriter)
{
    return (WrapScope){find_bound, ((const Wrapping *)rewriter->data)->bounded};
}

static const Expr *wrapping(const Rewriter *rewriter, const Expr *value)
{
    const Wrapping *wrapping = rewriter->data;
    WrapScope scope = scope_of(rewriter);
    return wrapping->implicit ? wrap_implicitly(rewriter->ctx, &scope, value) : wrap_explicitly(rewriter->ctx, &scope, value);
}

static void enter(Rewriter *rewriter, const Var *var, WrapBound bound)
{
    Wrapping *wrapping = rewriter->data;
    Bounded bounded = {wrapping->bounded, var, bound};
    wrapping->bounded = arena_copy(rewriter->ctx->arena, &bounded, sizeof bounded);
}

static void enter_range(Rewriter *rewriter, const Var *var, Range range)
{
    WrapScope scope = scope_of(rewriter);
    enter(rewriter, var, wrap_bound_of_range(&scope, range));
}

static void enter_value(Rewriter *rewriter, const Var *var, const Expr *value)
{
    WrapScope scope = scope_of(rewriter);
    if (dtype_is_integer(value->dtype))
        enter(rewriter, var, wrap_bound(&scope, value));
}

/* VALUE with the conditions in it wrapping; what says where memory is stays. */
static const Expr *wrap_conditions(Rewriter *rewriter, const Expr *value)
{
    bool choice = expr_is_call(value, OP_IF_THEN_ELSE), place = value->kind == EXPR_LOAD || expr_is_call(value, OP_TVM_ACCESS_PTR);
    bool condition = choice || value->kind == EXPR_AND || value->kind == EXPR_OR || expr_is_compare(value);
    if (value->arg_count == 0 || place)
        return value;
    const Expr **args = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, value->arg_count);
    bool same = true;
    for (int i = 0; i < value->arg_count; i++) {
        args[i] = wrap_conditions(rewriter, value->args[i]);
        if (condition && (!choice || i == 0))
            args[i] = wrapping(rewriter, args[i]);
        same &= args[i] == value->args[i];
    }
    return same ? value : expr_with_args(rewriter->ctx, value, args);
}

static const Expr *wrap_condition(Rewriter *rewriter, const Expr *condition)
{
    return wrapping(rewriter, wrap_conditions(rewriter, condition));
}

/* Puts VALUE into SLOT, which is in COPY, a copy of STMT; STMT where it is there already. */
static const Stmt *with_value(Rewriter *rewriter, const Stmt *stmt, const Stmt *copy, const Expr **slot, const Expr *value)
{
    if (*slot == value)
        return stmt;
    *slot = value;
    return stmt_new(rewriter->ctx, copy);
}

/* STMT without its children's changes; what it binds is in scope. */
static const Stmt *wrap_here(Rewriter *rewriter, const Stmt *stmt)
{
    Stmt copy = *stmt;
    const Expr *value;
    switch (stmt->kind) {
    case STMT_FOR: enter_range(rewriter, stmt->as.loop.var, (Range){stmt->as.loop.min, stmt->as.loop.extent}); return stmt;
    case STMT_BLOCK:
        for (int i = 0; i < stmt->as.block.iter_count; i++)
            enter_range(rewriter, stmt->as.block.iters[i].var, stmt->as.block.iters[i].domain);
        return stmt;
    case STMT_LET:
        value = wrap_condition(rewriter, stmt->as.let.value);
        enter_value(rewriter, stmt->as.let.var, stmt->as.let.value);
        return with_value(rewriter, stmt, &copy, &copy.as.let.value, value);
    case STMT_IF:
        return with_value(rewriter, stmt, &copy, &copy.as.branch.condition, wrap_condition(rewriter, copy.as.branch.condition));
    case STMT_WHILE:
        return with_value(rewriter, stmt, &copy, &copy.as.while_loop.condition, wrap_condition(rewriter, copy.as.while_loop.condition));
    case STMT_ASSERT:
        return with_value(rewriter, stmt, &copy, &copy.as.assertion.condition, wrap_condition(rewriter, copy.as.assertion.condition));
    case STMT_STORE: return with_value(rewriter, stmt, &copy, &copy.as.store.value, wrap_conditions(rewriter, copy.as.store.value));
    case STMT_EVALUATE: return with_value(rewriter, stmt, &copy, &copy.as.evaluate, wrap_conditions(rewriter, copy.as.evaluate));
    default: return stmt;
    }
}

static const Stmt *wrap_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Wrapping *wrapping = rewriter->data;
    const Bounded *outside = wrapping->bounded;
    stmt = rewrite_stmt_children(rewriter, wrap_here(rewriter, stmt));
    wrapping->bounded = outside;
    return stmt;
}

static const Expr *keep_expr(Rewriter *rewriter, const Expr *expr)
{
    (void)rewriter;
    return expr;
}

static const Func *rewritten(LowerState *state, const Func *func, bool implicit)
{
    Wrapping wrapping = {NULL, implicit};
    Rewriter rewriter = {.ctx = state->ctx, .expr = keep_expr, .stmt = wrap_in_stmt, .data = &wrapping};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}

const Func *lower_wrapping(LowerState *state, const Func *func)
{
    return rewritten(state, func, false);
}

const Func *lower_unwrapping(LowerState *state, const Func *func)
{
    return rewritten(state, func, true);
}
