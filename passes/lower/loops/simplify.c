/* Passes "simplify" and "cleanup": indices, bounds and conditions are simplified under what the loops and conditions around them say; what
   cannot run or runs once loses its loop.

     for i in range(1):                                 for j in range(16):
         for j in range(16):                      ->        A_1[j] = T.float32(0.0)
             if i * 16 + j < 16:
                 A_1[i * 16 + j] = T.float32(0.0)

   Only index arithmetic is simplified: it does not overflow, while the arithmetic of values wraps and is left as it is written. */
#include "passes/lower/core/index_vars.h"

typedef struct {
    Analyzer *an;
    IndexVars vars;
} Simplification;

static const Expr *simplify_value(Rewriter *rewriter, const Expr *expr);

static const Expr *simplify_index(Rewriter *rewriter, const Expr *expr)
{
    Simplification *simplification = rewriter->data;
    return analyzer_simplify(simplification->an, rewrite_expr(rewriter, expr));
}

/* EXPR, a condition: the comparisons of indices in it are simplified. */
static const Expr *simplify_condition(Rewriter *rewriter, const Expr *expr)
{
    Simplification *simplification = rewriter->data;
    if (is_index_expr(&simplification->vars, expr))
        return analyzer_simplify(simplification->an, expr);
    if (expr->kind != EXPR_AND && expr->kind != EXPR_OR && expr->kind != EXPR_NOT)
        return rewrite_expr(rewriter, expr);
    const Expr *left = simplify_condition(rewriter, expr->args[0]);
    if (expr->kind == EXPR_NOT)
        return left == expr->args[0] ? expr : op_not(rewriter->ctx, left, expr->span);
    AnalyzerScope scope = analyzer_enter(simplification->an);
    facts_assume(simplification->an, expr->kind == EXPR_AND ? left : op_not(rewriter->ctx, left, span_none()));
    const Expr *right = simplify_condition(rewriter, expr->args[1]);
    analyzer_leave(simplification->an, scope);
    return left == expr->args[0] && right == expr->args[1] ? expr : op_binary(rewriter->ctx, expr->kind, left, right, expr->span);
}

static const Expr *simplify_under(Rewriter *rewriter, const Expr *condition, bool negated, const Expr *expr)
{
    Simplification *simplification = rewriter->data;
    AnalyzerScope scope = analyzer_enter(simplification->an);
    facts_assume(simplification->an, negated ? op_not(rewriter->ctx, condition, span_none()) : condition);
    expr = rewrite_expr(rewriter, expr);
    analyzer_leave(simplification->an, scope);
    return expr;
}

static const Expr *simplify_load(Rewriter *rewriter, const Expr *expr)
{
    const Expr **args = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, expr->arg_count);
    for (int i = 0; i < expr->arg_count; i++)
        args[i] = i < load_index_count(expr) ? simplify_index(rewriter, expr->args[i]) : simplify_condition(rewriter, expr->args[i]);
    return expr_with_args(rewriter->ctx, expr, args);
}

/* A value: only the indices and conditions inside it are simplified. */
static const Expr *simplify_value(Rewriter *rewriter, const Expr *expr)
{
    Context *ctx = rewriter->ctx;
    if (expr->kind == EXPR_LOAD)
        return simplify_load(rewriter, expr);
    if (expr->dtype.code == DT_BOOL && expr->dtype.lanes == 1 && (expr->kind == EXPR_AND || expr->kind == EXPR_OR))
        return simplify_condition(rewriter, expr);
    if (expr_is_call(expr, OP_IF_THEN_ELSE)) {
        const Expr *condition = simplify_condition(rewriter, expr->args[0]);
        if (condition->kind == EXPR_INT)
            return rewrite_expr(rewriter, expr->args[condition->value.integer ? 1 : 2]);
        const Expr *args[] = {condition, simplify_under(rewriter, condition, false, expr->args[1]),
                              simplify_under(rewriter, condition, true, expr->args[2])};
        return expr_with_args(ctx, expr, args);
    }
    if (expr_is_call(expr, OP_TVM_ACCESS_PTR)) {
        const Expr *args[5];
        for (int i = 0; i < 5; i++)
            args[i] = i < 2 ? expr->args[i] : simplify_index(rewriter, expr->args[i]);
        args[1] = rewrite_expr(rewriter, expr->args[1]);
        return expr_with_args(ctx, expr, args);
    }
    return rewrite_expr_children(rewriter, expr);
}

/* --- Loops whose last iterations do nothing --- */

/* No part of STMT runs: a condition around it fails for all that is bound. What the bounds of its loops read might fail, so they count. */
static bool is_idle(Simplification *s, const Stmt *stmt)
{
    Context *ctx = analyzer_context(s->an);
    if (stmt->kind == STMT_FOR) {
        const ForStmt *loop = &stmt->as.loop;
        if (loop->kind == FOR_THREAD || expr_reads_memory(loop->min) || expr_reads_memory(loop->extent))
            return false;
        index_vars_add(ctx, &s->vars, stmt);
        facts_bind_stmt(s->an, stmt);
        return is_idle(s, loop->body);
    }
    if (stmt->kind == STMT_IF) {
        ExprList parts = {0};
        conjunction_split(ctx, stmt->as.branch.condition, &parts);
        bool fails = false;
        for (int i = 0; i < parts.count && !stmt->as.branch.else_body && !expr_reads_memory(parts.data[i]); i++)
            fails |= is_index_expr(&s->vars, parts.data[i]) && analyzer_prove(s->an, op_not(ctx, parts.data[i], span_none()));
        return fails || (!stmt->as.branch.else_body && !expr_reads_memory(stmt->as.branch.condition) && is_idle(s, stmt->as.branch.then_body));
    }
    if (stmt->kind == STMT_ALLOCATE || stmt->kind == STMT_DECL_BUFFER)
        return is_idle(s, stmt_body(stmt));
    bool idle = stmt->kind == STMT_SEQ;
    for (int i = 0; idle && i < stmt->as.seq.count; i++)
        idle = is_idle(s, stmt->as.seq.items[i]);
    return idle;
}

/* The iterations of LOOP from number FIRST on, of EXTENT ones, do nothing. */
static bool is_idle_from(Simplification *s, const ForStmt *loop, int64_t first, int64_t extent)
{
    Context *ctx = analyzer_context(s->an);
    Range rest = {op_add_int(ctx, loop->min, first), expr_int(ctx, loop->extent->dtype, extent - first)};
    analyzer_bind_range_opaque(s->an, loop->var, rest);
    return is_idle(s, loop->body);
}

static bool find_sum(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= stmt->kind == STMT_STORE && expr_uses_buffer(stmt->as.store.value, stmt->as.store.buffer);
    return !*(bool *)visitor->data;
}

/* LOOP, vectorized, is as well of BUSY lanes: few pieces of register size, or sums, which a mask would keep in memory. */
static bool has_good_width(const ForStmt *loop, int64_t busy)
{
    enum { MOST_PIECES = 2, WIDE = 16 };
    bool adds = false;
    visit_stmt(&(Visitor){.stmt = find_sum, .data = &adds}, loop->body);
    return adds || __builtin_popcountll((unsigned long long)busy % WIDE) <= MOST_PIECES;
}

/* The extent of LOOP without the iterations at its end that do nothing. */
static const Expr *busy_extent(Simplification *s, const ForStmt *loop)
{
    int64_t extent, busy = 0;
    bool whole = loop->kind == FOR_THREAD || expr_reads_memory(loop->min);
    if (whole || !expr_const_int(loop->extent, &extent) || extent < 2 || !is_idle_from(s, loop, extent - 1, extent))
        return loop->extent;
    for (int64_t idle = extent - 1; busy < idle;) {
        int64_t middle = busy + (idle - busy) / 2;
        if (is_idle_from(s, loop, middle, extent))
            idle = middle;
        else
            busy = middle + 1;
    }
    if (loop->kind == FOR_VECTORIZED && !has_good_width(loop, busy))
        return loop->extent;
    return expr_int(analyzer_context(s->an), loop->extent->dtype, busy);
}

/* --- Statements --- */
static const Stmt *simplify_stmt(Rewriter *rewriter, const Stmt *stmt);

static const Stmt *simplify_loop(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *simplification = rewriter->data;
    Context *ctx = rewriter->ctx;
    ForStmt loop = stmt->as.loop;
    loop.min = simplify_index(rewriter, loop.min);
    loop.extent = simplify_index(rewriter, loop.extent);
    loop.extent = busy_extent(simplification, &loop);
    int64_t extent;
    if (expr_const_int(loop.extent, &extent) && extent <= 0)
        return stmt_empty(ctx);
    bool pure = !expr_reads_memory(loop.min) && !expr_reads_memory(loop.extent);
    if (expr_is_int(loop.extent, 1) && pure && loop.kind != FOR_THREAD && !stmt_has_jump(loop.body)) {
        Subst subst = {0};
        subst_var(ctx, &subst, loop.var, loop.min);
        return simplify_stmt(rewriter, subst_stmt(ctx, &subst, loop.body));
    }
    if (pure)
        analyzer_bind_range_opaque(simplification->an, loop.var, (Range){loop.min, loop.extent});
    loop.body = simplify_stmt(rewriter, loop.body);
    if (stmt_is_empty(loop.body) && pure)
        return loop.body;
    bool same = loop.min == stmt->as.loop.min && loop.extent == stmt->as.loop.extent && loop.body == stmt->as.loop.body;
    return same ? stmt : stmt_for(ctx, loop, stmt->span);
}

static const Stmt *simplify_branch(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *simplification = rewriter->data;
    Context *ctx = rewriter->ctx;
    const Expr *condition = simplify_condition(rewriter, stmt->as.branch.condition);
    const Stmt *bodies[2] = {stmt->as.branch.then_body, stmt->as.branch.else_body};
    if (condition->kind == EXPR_INT) {
        const Stmt *chosen = bodies[condition->value.integer ? 0 : 1];
        return chosen ? simplify_stmt(rewriter, chosen) : stmt_empty(ctx);
    }
    for (int i = 0; i < 2 && bodies[i]; i++) {
        AnalyzerScope scope = analyzer_enter(simplification->an);
        facts_assume(simplification->an, i ? op_not(ctx, condition, span_none()) : condition);
        bodies[i] = simplify_stmt(rewriter, bodies[i]);
        analyzer_leave(simplification->an, scope);
    }
    if (bodies[1] && stmt_is_empty(bodies[1]))
        bodies[1] = NULL;
    if (stmt_is_empty(bodies[0]) && !bodies[1] && !expr_reads_memory(condition))
        return bodies[0];
    bool same = condition == stmt->as.branch.condition && bodies[0] == stmt->as.branch.then_body && bodies[1] == stmt->as.branch.else_body;
    return same ? stmt : stmt_if(ctx, condition, bodies[0], bodies[1], stmt->span);
}

static const Stmt *simplify_store(Rewriter *rewriter, const Stmt *stmt)
{
    Stmt copy = *stmt;
    copy.as.store.indices = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, stmt->as.store.index_count);
    for (int i = 0; i < stmt->as.store.index_count; i++)
        copy.as.store.indices[i] = simplify_index(rewriter, stmt->as.store.indices[i]);
    copy.as.store.value = rewrite_expr(rewriter, stmt->as.store.value);
    if (stmt->as.store.mask)
        copy.as.store.mask = simplify_condition(rewriter, stmt->as.store.mask);
    return stmt_new(rewriter->ctx, &copy);
}

static const Stmt *simplify_let(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *simplification = rewriter->data;
    Stmt copy = *stmt;
    bool index = dtype_is_integer(stmt->as.let.value->dtype) && is_index_expr(&simplification->vars, stmt->as.let.value);
    copy.as.let.value = index ? simplify_index(rewriter, stmt->as.let.value) : rewrite_expr(rewriter, stmt->as.let.value);
    if (index) /* its bounds help; its name stays, so that the value is computed once */
        analyzer_bind_range_opaque(simplification->an, copy.as.let.var, range_point(rewriter->ctx, copy.as.let.value));
    copy.as.let.body = simplify_stmt(rewriter, stmt->as.let.body);
    return stmt_new(rewriter->ctx, &copy);
}

static const Stmt *simplify_allocate(Rewriter *rewriter, const Stmt *stmt)
{
    Stmt copy = *stmt;
    copy.as.allocate.extents = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, stmt->as.allocate.extent_count);
    for (int i = 0; i < stmt->as.allocate.extent_count; i++)
        copy.as.allocate.extents[i] = simplify_index(rewriter, stmt->as.allocate.extents[i]);
    copy.as.allocate.body = simplify_stmt(rewriter, stmt->as.allocate.body);
    return stmt_is_empty(copy.as.allocate.body) ? copy.as.allocate.body : stmt_new(rewriter->ctx, &copy);
}

static const Stmt *simplify_assert(Rewriter *rewriter, const Stmt *stmt)
{
    Stmt copy = *stmt;
    copy.as.assertion.condition = simplify_condition(rewriter, stmt->as.assertion.condition);
    copy.as.assertion.body = simplify_stmt(rewriter, stmt->as.assertion.body);
    return expr_is_int(copy.as.assertion.condition, 1) ? copy.as.assertion.body : stmt_new(rewriter->ctx, &copy);
}

static const Stmt *simplify_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *simplification = rewriter->data;
    index_vars_add(rewriter->ctx, &simplification->vars, stmt);
    switch (stmt->kind) {
    case STMT_FOR: return simplify_loop(rewriter, stmt);
    case STMT_IF: return simplify_branch(rewriter, stmt);
    case STMT_STORE: return simplify_store(rewriter, stmt);
    case STMT_LET: return simplify_let(rewriter, stmt);
    case STMT_ALLOCATE: return simplify_allocate(rewriter, stmt);
    case STMT_ASSERT: return simplify_assert(rewriter, stmt);
    case STMT_EVALUATE: return stmt->as.evaluate->kind == EXPR_INT ? stmt_empty(rewriter->ctx) : rewrite_stmt_children(rewriter, stmt);
    case STMT_DECL_BUFFER: {
        const Stmt *result = rewrite_stmt_children(rewriter, stmt);
        return stmt_is_empty(result->as.declare.body) ? result->as.declare.body : result;
    }
    default: return rewrite_stmt_children(rewriter, stmt);
    }
}

const Func *lower_simplify(LowerState *state, const Func *func)
{
    Simplification simplification = {analyzer_new(state->ctx), index_vars_of_params(state->ctx, func)};
    facts_bind_sizes(simplification.an, func);
    Rewriter rewriter = {.ctx = state->ctx, .expr = simplify_value, .stmt = simplify_stmt, .data = &simplification};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
