/* Pass "bounds", only with --bounds-check: each access is preceded by asserts that its indices lie within the buffer.

     B[i] = A[idx[i]]      ->      assert 0 <= idx[i] and idx[i] < n, "index 0 of buffer 'A' is out of bounds"
                                   B[i] = A[idx[i]]

   An access that stands under a condition (if_then_else, and, or) is checked under it. What the loop bounds and the conditions around it
   prove is left out. Not checked: what calls access through pointers, vector accesses under a mask, and indices that call something with
   effects, which a check would repeat. */
#include "passes/lower/state.h"

typedef struct {
    const Expr *condition; /* true when all is well */
    const Buffer *buffer;
    int dim;
} BoundsCheck;

typedef struct {
    Context *ctx;
    Analyzer *an;
    VEC(BoundsCheck) checks; /* of the statement at hand, in the order of evaluation */
} Bounds;

static void add_check(Bounds *bounds, const Expr *condition, const Expr *path, const Buffer *buffer, int dim)
{
    Context *ctx = bounds->ctx;
    if (condition->opaque || (path && path->opaque) || analyzer_prove(bounds->an, condition))
        return;
    if (path)
        condition = op_or(ctx, op_not(ctx, path, span_none()), condition);
    for (int i = 0; i < bounds->checks.count; i++)
        if (expr_equal(bounds->checks.data[i].condition, condition))
            return;
    vec_push(ctx->arena, &bounds->checks, ((BoundsCheck){condition, buffer, dim}));
}

/* The element of BUFFER at INDICES must exist where PATH (NULL: always) holds. */
static void check_access(Bounds *bounds, const Buffer *buffer, const Expr *const *indices, const Expr *path)
{
    Context *ctx = bounds->ctx;
    for (int d = 0; d < buffer->ndim; d++) {
        const Expr *first = indices[d], *last = indices[d];
        if (first->dtype.lanes > 1 && first->kind != EXPR_RAMP)
            continue;
        if (first->kind == EXPR_RAMP) {
            first = indices[d]->args[0];
            last = op_add(ctx, first, op_mul_int(ctx, indices[d]->args[1], indices[d]->dtype.lanes - 1));
        }
        const Expr *zero = expr_int(ctx, first->dtype, 0);
        add_check(bounds, op_compare(ctx, EXPR_LE, zero, first), path, buffer, d);
        add_check(bounds, op_compare(ctx, EXPR_LT, last, buffer->shape[d]), path, buffer, d);
        if (first != last)
            add_check(bounds, op_and(ctx, op_compare(ctx, EXPR_LT, first, buffer->shape[d]), op_compare(ctx, EXPR_LE, zero, last)), path,
                      buffer, d);
    }
}

static const Expr *both(Context *ctx, const Expr *path, const Expr *condition)
{
    return path ? op_and(ctx, path, condition) : condition;
}

static void check_expr(Bounds *bounds, const Expr *expr, const Expr *path);

static void check_expr_under(Bounds *bounds, const Expr *expr, const Expr *path, const Expr *condition)
{
    AnalyzerScope scope = analyzer_enter(bounds->an);
    facts_assume(bounds->an, condition);
    check_expr(bounds, expr, both(bounds->ctx, path, condition));
    analyzer_leave(bounds->an, scope);
}

static void check_expr(Bounds *bounds, const Expr *expr, const Expr *path)
{
    Context *ctx = bounds->ctx;
    bool scalar_choice = expr->arg_count && expr->args[0]->dtype.lanes == 1;
    if ((expr->kind == EXPR_AND || expr->kind == EXPR_OR) && scalar_choice) {
        check_expr(bounds, expr->args[0], path);
        check_expr_under(bounds, expr->args[1], path, expr->kind == EXPR_AND ? expr->args[0] : op_not(ctx, expr->args[0], span_none()));
        return;
    }
    if (expr_is_call(expr, OP_IF_THEN_ELSE) && scalar_choice) {
        check_expr(bounds, expr->args[0], path);
        check_expr_under(bounds, expr->args[1], path, expr->args[0]);
        check_expr_under(bounds, expr->args[2], path, op_not(ctx, expr->args[0], span_none()));
        return;
    }
    if (expr->kind == EXPR_LET) {
        check_expr(bounds, expr->args[0], path);
        check_expr(bounds, subst_one(ctx, expr->args[1], expr->value.var, expr->args[0]), path);
        return;
    }
    bool address = expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD;
    const Expr *parent = address ? expr->args[0] : expr;
    for (int i = 0; i < parent->arg_count; i++)
        check_expr(bounds, parent->args[i], path);
    if (expr->kind == EXPR_LOAD && !expr->predicated)
        check_access(bounds, expr->value.buffer, expr->args, path);
}

/* The expressions that STMT itself evaluates. */
static void check_own_exprs(Bounds *bounds, const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_FOR:
        check_expr(bounds, stmt->as.loop.min, NULL);
        check_expr(bounds, stmt->as.loop.extent, NULL);
        break;
    case STMT_WHILE: check_expr(bounds, stmt->as.while_loop.condition, NULL); break;
    case STMT_IF: check_expr(bounds, stmt->as.branch.condition, NULL); break;
    case STMT_LET: check_expr(bounds, stmt->as.let.value, NULL); break;
    case STMT_STORE:
        for (int i = 0; i < stmt->as.store.index_count; i++)
            check_expr(bounds, stmt->as.store.indices[i], NULL);
        check_expr(bounds, stmt->as.store.value, NULL);
        if (!stmt->as.store.mask)
            check_access(bounds, stmt->as.store.buffer, stmt->as.store.indices, NULL);
        break;
    case STMT_EVALUATE: check_expr(bounds, stmt->as.evaluate, NULL); break;
    case STMT_ALLOCATE:
        for (int i = 0; i < stmt->as.allocate.extent_count; i++)
            check_expr(bounds, stmt->as.allocate.extents[i], NULL);
        break;
    case STMT_ATTR: check_expr(bounds, stmt->as.attr.value, NULL); break;
    case STMT_ASSERT: check_expr(bounds, stmt->as.assertion.condition, NULL); break;
    default: break;
    }
}

static const Expr *message(Context *ctx, const BoundsCheck *check)
{
    return expr_string(ctx, context_internf(ctx, "index %d of buffer '%s' is out of bounds", check->dim, check->buffer->name));
}

/* CHECKS (COUNT of them), then BODY. */
static const Stmt *assert_all(Context *ctx, const BoundsCheck *checks, int count, const Stmt *body, Span span)
{
    for (int i = count - 1; i >= 0; i--)
        body = stmt_new(ctx,
                        &(Stmt){.kind = STMT_ASSERT, .span = span, .as.assertion = {checks[i].condition, message(ctx, &checks[i]), body}});
    return body;
}

static const Stmt *bounds_in_stmt(Rewriter *rewriter, const Stmt *stmt);

static const Stmt *bounds_in_branch(Rewriter *rewriter, const Expr *condition, bool negated, const Stmt *body)
{
    Bounds *bounds = rewriter->data;
    AnalyzerScope scope = analyzer_enter(bounds->an);
    facts_assume(bounds->an, negated ? op_not(bounds->ctx, condition, span_none()) : condition);
    body = bounds_in_stmt(rewriter, body);
    analyzer_leave(bounds->an, scope);
    return body;
}

static const Stmt *bounds_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Bounds *bounds = rewriter->data;
    Context *ctx = rewriter->ctx;
    bounds->checks.count = 0;
    check_own_exprs(bounds, stmt);
    int count = bounds->checks.count;
    BoundsCheck *checks = arena_copy(ctx->arena, bounds->checks.data, sizeof *checks * (size_t)count);
    facts_bind_stmt(bounds->an, stmt);
    if (stmt->kind == STMT_IF) {
        const Expr *condition = stmt->as.branch.condition;
        const Stmt *then_body = bounds_in_branch(rewriter, condition, false, stmt->as.branch.then_body),
                   *else_body = stmt->as.branch.else_body;
        if (else_body)
            else_body = bounds_in_branch(rewriter, condition, true, else_body);
        stmt = stmt_if(ctx, condition, then_body, else_body, stmt->span);
    } else if (stmt->kind == STMT_WHILE && count) { /* the condition is evaluated again after each iteration */
        const Stmt *parts[] = {bounds_in_stmt(rewriter, stmt->as.while_loop.body),
                               assert_all(ctx, checks, count, stmt_empty(ctx), stmt->span)};
        stmt = stmt_with_body(ctx, stmt, stmt_seq(ctx, parts, 2));
    } else {
        stmt = rewrite_stmt_children(rewriter, stmt);
    }
    return assert_all(ctx, checks, count, stmt, stmt->span);
}

const Func *lower_bounds(LowerState *state, const Func *func)
{
    if (!state->options->bounds_check)
        return func;
    Bounds bounds = {.ctx = state->ctx, .an = analyzer_new(state->ctx)};
    facts_bind_sizes(bounds.an, func);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = bounds_in_stmt, .data = &bounds};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
