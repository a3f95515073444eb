/* Pass "bounds", only with --bounds-check: each access is preceded by asserts that its indices lie within the buffer.

     B[i] = A[idx[i]]      ->      assert 0 <= idx[i] and idx[i] < n, "index 0 of buffer 'A' is out of bounds"
                                   B[i] = A[idx[i]]

   An access that stands under a condition (if_then_else, and, or) is checked under it. What the loop bounds and the conditions around it
   prove is left out; of a vector access each lane is checked under its own part of the mask. Not checked: what calls access through
   pointers, and indices that call something with effects, which a check would repeat. */
#include "passes/lower/core/state.h"

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

/* CONDITION must hold where PATH (NULL: always) does, unless that is proven of CLAIM, which says the same. */
static void add_check(Bounds *bounds, const Expr *claim, const Expr *condition, const Expr *path, const Buffer *buffer, int dim)
{
    Context *ctx = bounds->ctx;
    if (condition->opaque || (path && path->opaque) || analyzer_prove(bounds->an, claim))
        return;
    if (path)
        condition = op_or(ctx, op_not(ctx, path, span_none()), condition);
    for (int i = 0; i < bounds->checks.count; i++)
        if (expr_equal(bounds->checks.data[i].condition, condition))
            return;
    vec_push(ctx->arena, &bounds->checks, ((BoundsCheck){condition, buffer, dim}));
}

/* VECTOR's lane LANE; a scalar is each of its lanes. NULL where it has no form of its own. */
static const Expr *lane_of(Context *ctx, const Expr *vector, int lane)
{
    if (vector->dtype.lanes == 1)
        return vector;
    if (vector->kind == EXPR_RAMP && vector->args[0]->dtype.lanes == 1)
        return op_add(ctx, vector->args[0], op_mul_int(ctx, vector->args[1], lane));
    if (vector->kind == EXPR_BROADCAST && vector->args[0]->dtype.lanes == 1)
        return vector->args[0];
    bool lanewise = expr_is_binary(vector) || vector->kind == EXPR_NOT || vector->kind == EXPR_CAST || vector->kind == EXPR_SELECT ||
                    vector->kind == EXPR_LOAD || expr_is_call(vector, OP_IF_THEN_ELSE);
    if (!lanewise)
        return NULL;
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, vector->arg_count);
    for (int i = 0; i < vector->arg_count; i++)
        if (!(args[i] = lane_of(ctx, vector->args[i], lane)))
            return NULL;
    if (vector->kind == EXPR_CAST)
        return op_cast(ctx, dtype_scalar(vector->dtype), args[0]);
    return expr_with_args(ctx, vector, args);
}

/* An index against the ends of a dimension. LOW is NULL for unsigned indices, which are never negative. */
typedef struct {
    const Expr *low, *high;
} Inside;

static Inside compare_ends(Context *ctx, const Expr *index, const Expr *extent)
{
    return (Inside){op_compare(ctx, EXPR_LE, expr_int(ctx, index->dtype, 0), index), op_compare(ctx, EXPR_LT, index, extent)};
}

/* INDEX lies in dimension D of BUFFER, as the access computes it: in 64 bits, where products of narrower indices do not overflow. */
static Inside is_inside(Context *ctx, const Buffer *buffer, int d, const Expr *index)
{
    const DType wide = DTYPE(DT_UINT, 64);
    const Expr *extent = expr_in_int64(ctx, buffer->shape[d]);
    if (index->dtype.code == DT_UINT)
        return (Inside){NULL, op_compare(ctx, EXPR_LT, op_cast(ctx, wide, index), op_cast(ctx, wide, extent))};
    return compare_ends(ctx, expr_in_int64(ctx, index), extent);
}

/* What is_inside says, in the words of the program. The analyzer computes with index types as with all integers, so what it proves of
   these holds in 64 bits. */
static Inside claim_inside(Context *ctx, const Buffer *buffer, int d, const Expr *index)
{
    return dtype_is_index(index->dtype) ? compare_ends(ctx, index, buffer->shape[d]) : is_inside(ctx, buffer, d, index);
}

static void check_scalar(Bounds *bounds, const Buffer *buffer, int d, const Expr *index, const Expr *path)
{
    Inside claim = claim_inside(bounds->ctx, buffer, d, index), inside = is_inside(bounds->ctx, buffer, d, index);
    if (inside.low)
        add_check(bounds, claim.low, inside.low, path, buffer, d);
    add_check(bounds, claim.high, inside.high, path, buffer, d);
}

/* An index that runs evenly over the lanes is inside if its ends are. */
static void check_ramp(Bounds *bounds, const Buffer *buffer, int d, const Expr *ramp, const Expr *path)
{
    Context *ctx = bounds->ctx;
    const Expr *first = ramp->args[0], *stride = ramp->args[1];
    if (!dtype_is_index(ramp->dtype)) {
        first = expr_in_int64(ctx, first);
        stride = expr_in_int64(ctx, stride);
    }
    check_scalar(bounds, buffer, d, first, path);
    check_scalar(bounds, buffer, d, op_add(ctx, first, op_mul_int(ctx, stride, ramp->dtype.lanes - 1)), path);
}

static void check_lanes(Bounds *bounds, const Buffer *buffer, int d, const Expr *index, const Expr *path, int lanes)
{
    Context *ctx = bounds->ctx;
    const Expr *all = NULL, *last = NULL;
    for (int lane = 0; lane < lanes; lane++) {
        const Expr *item = lane_of(ctx, index, lane), *needed = path ? lane_of(ctx, path, lane) : NULL;
        if (!item || (path && !needed))
            return;
        Inside inside = is_inside(ctx, buffer, d, item);
        const Expr *both_ends = inside.low ? op_and(ctx, inside.low, inside.high) : inside.high;
        both_ends = needed ? op_or(ctx, op_not(ctx, needed, span_none()), both_ends) : both_ends;
        if (last && expr_equal(last, both_ends))
            continue;
        last = both_ends;
        all = all ? op_and(ctx, all, both_ends) : both_ends;
    }
    add_check(bounds, all, all, NULL, buffer, d);
}

/* The element of BUFFER at INDICES must exist where PATH (NULL: always) holds. */
static void check_access(Bounds *bounds, const Buffer *buffer, const Expr *const *indices, const Expr *path)
{
    for (int d = 0; d < buffer->ndim; d++) {
        const Expr *index = indices[d];
        int lanes = path && path->dtype.lanes > index->dtype.lanes ? path->dtype.lanes : index->dtype.lanes;
        if (lanes == 1)
            check_scalar(bounds, buffer, d, index, path);
        else if (index->kind == EXPR_RAMP && index->args[0]->dtype.lanes == 1 && (!path || path->dtype.lanes == 1))
            check_ramp(bounds, buffer, d, index, path);
        else
            check_lanes(bounds, buffer, d, index, path, lanes);
    }
}

static const Expr *with_lanes_of(Context *ctx, const Expr *expr, const Expr *other)
{
    return expr->dtype.lanes < other->dtype.lanes ? expr_broadcast(ctx, expr, other->dtype.lanes) : expr;
}

static const Expr *both(Context *ctx, const Expr *path, const Expr *condition)
{
    return path ? op_and(ctx, with_lanes_of(ctx, path, condition), with_lanes_of(ctx, condition, path)) : condition;
}

static void check_expr(Bounds *bounds, const Expr *expr, const Expr *path);

static void check_expr_under(Bounds *bounds, const Expr *expr, const Expr *path, const Expr *condition)
{
    AnalyzerScope scope = analyzer_enter(bounds->an);
    if (condition->dtype.lanes == 1)
        facts_assume(bounds->an, condition);
    check_expr(bounds, expr, both(bounds->ctx, path, condition));
    analyzer_leave(bounds->an, scope);
}

static void check_expr(Bounds *bounds, const Expr *expr, const Expr *path)
{
    Context *ctx = bounds->ctx;
    if (expr->kind == EXPR_AND || expr->kind == EXPR_OR) {
        check_expr(bounds, expr->args[0], path);
        check_expr_under(bounds, expr->args[1], path, expr->kind == EXPR_AND ? expr->args[0] : op_not(ctx, expr->args[0], span_none()));
        return;
    }
    if (expr_is_call(expr, OP_IF_THEN_ELSE)) {
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
    if (expr->kind == EXPR_LOAD)
        check_access(bounds, expr->value.buffer, expr->args, expr->predicated ? both(ctx, path, load_mask(expr)) : path);
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
        check_access(bounds, stmt->as.store.buffer, stmt->as.store.indices, stmt->as.store.mask);
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
