/* Pass "peel": a loop body with conditions that fail in few iterations only becomes two. One has no conditions, for the iterations in which
   all of them hold; the other has them.

     for i in range((n + 7) // 8):               for i in range((n + 7) // 8):
         for v in T.vectorized(8):                   if i * 8 + 7 < n:
             if i * 8 + v < n:            ->             for v in T.vectorized(8):
                 B_1[i * 8 + v] = ...                        B_1[i * 8 + v] = ...
                                                     else:
                                                         for v in T.vectorized(8):
                                                             if i * 8 + v < n:
                                                                 B_1[i * 8 + v] = ...

   The branch stands in the outermost loop that the condition depends on, so inner loops do not repeat it; a parallel loop stays one loop. A
   condition is taken where its terms of inner loops reach over a few iterations of that loop at most. The number of copies and their size are
   bounded. Where the second runs in one iteration that is known, its masks are constants. pragma_no_peel on a loop keeps it and the loops inside it from being copied. Needs: flat buffers, simplified conditions. */
#include "ir/fold.h"
#include "ir/linear_sum.h"
#include "passes/lower/core/index_vars.h"

enum {
    MOST_COPIES = 8,        /* of one statement, over all loops around it */
    MOST_STATEMENTS = 2048, /* in all copies of one body, unrolled loops counted as written out */
    MOST_PARTIAL = 4,       /* iterations, of a loop, that the terms of inner loops may reach over */
    MOST_MEMORY = 4096,     /* bytes that a body allocates and each copy of it again */
};

typedef struct {
    Context *ctx;
    Analyzer *an;
    IndexVars vars;
} PeelPass;

/* The conditions in a body that hold throughout most iterations of the loop LOOP around it. */
typedef struct {
    PeelPass *pass;
    const ForStmt *loop;
    Map inner;      /* keys: what the body binds */
    Map kept;       /* keys: loops with pragma_no_peel in it */
    int depth;      /* loops around what is visited, within the body */
    ExprList conditions;
    ExprList whole; /* what makes all of them hold in all iterations of the loops inside */
    bool varies;    /* one of the conditions differs between these iterations */
    bool failing;   /* what is rewritten is the part where the conditions fail */
} Guards;

static bool list_has(const ExprList *list, const Expr *expr)
{
    for (int i = 0; i < list->count; i++)
        if (expr_equal(list->data[i], expr))
            return true;
    return false;
}

/* --- Finding conditions --- */
static bool is_order(const Expr *expr)
{
    bool order = expr->kind == EXPR_LT || expr->kind == EXPR_LE || expr->kind == EXPR_GT || expr->kind == EXPR_GE;
    return order && expr->dtype.lanes == 1 && expr->args[0]->dtype.code == DT_INT;
}

/* LESS < MORE + SLACK for all iterations of the loops inside: the terms of outer variables with the bounds of the others. */
typedef struct {
    const Expr *less, *more;
    int64_t slack; /* what the sum of the other terms is at most */
    int64_t step;  /* the least that an iteration of the loop changes the sum by; 0: it does not change it, or by nobody knows what */
    int64_t reach; /* how far the terms of inner loops vary */
} Hull;

static const Expr *add_scaled(Context *ctx, const Expr *sum, const Expr *atom, int64_t coefficient)
{
    const Expr *term = op_mul_int(ctx, atom, coefficient);
    return sum ? op_add(ctx, sum, term) : term;
}

static bool add_inner(Guards *guards, Hull *hull, const LinearTerm *term)
{
    IntBound bound = analyzer_bound(guards->pass->an, term->atom);
    if (bound.min == BOUND_NEG_INF || bound.max == BOUND_POS_INF || bound.min < INT32_MIN || bound.max > INT32_MAX)
        return false;
    int64_t ends[2];
    if (__builtin_mul_overflow(term->coefficient, bound.min, &ends[0]) || __builtin_mul_overflow(term->coefficient, bound.max, &ends[1]))
        return false;
    int64_t most = ends[0] > ends[1] ? ends[0] : ends[1], least = ends[0] > ends[1] ? ends[1] : ends[0];
    return !__builtin_add_overflow(hull->slack, most, &hull->slack) && !__builtin_add_overflow(hull->reach, most - least, &hull->reach);
}

static bool add_term(Guards *guards, Hull *hull, const LinearTerm *term)
{
    if (expr_uses_any(term->atom, &guards->inner))
        return add_inner(guards, hull, term);
    int64_t size = term->coefficient < 0 ? -term->coefficient : term->coefficient;
    if (term->coefficient == INT64_MIN)
        return false;
    if (expr_uses_var(term->atom, guards->loop->var))
        hull->step = hull->step && hull->step < size ? hull->step : size;
    const Expr **side = term->coefficient < 0 ? &hull->more : &hull->less;
    *side = add_scaled(guards->pass->ctx, *side, term->atom, size);
    return true;
}

/* The hull of LESS - MORE < 0, or <= 0 where not STRICT; false where it is not known. */
static bool find_hull(Guards *guards, const Expr *less, const Expr *more, bool strict, Hull *hull)
{
    LinearSum sum = {0};
    *hull = (Hull){0};
    if (!linear_sum_of(guards->pass->ctx, expr_binary(guards->pass->ctx, EXPR_SUB, less, more), &sum))
        return false;
    hull->slack = sum.constant;
    if (!strict && __builtin_sub_overflow(hull->slack, 1, &hull->slack))
        return false;
    for (int i = 0; i < sum.terms.count; i++)
        if (!add_term(guards, hull, &sum.terms.data[i]))
            return false;
    return dtype_holds(less->dtype, hull->slack) && dtype_holds(less->dtype, -hull->slack);
}

static const Expr *hull_condition(Context *ctx, const Hull *hull, DType type)
{
    const Expr *zero = expr_int(ctx, type, 0), *less = hull->less ? hull->less : zero, *more = hull->more ? hull->more : zero;
    if (hull->slack >= 0)
        return op_compare(ctx, EXPR_LT, op_add_int(ctx, less, hull->slack), more);
    return op_compare(ctx, EXPR_LT, less, op_add_int(ctx, more, -hull->slack));
}

/* A condition that no inner loop changes is taken where a loop repeats it; another one where few iterations need it. */
static bool hull_is_worth(const Guards *guards, const Hull *hull)
{
    int64_t extent;
    if (hull->reach == 0)
        return hull->step && guards->depth > 0;
    int64_t partial = hull->step ? (hull->reach - 1) / hull->step + 1 : INT64_MAX;
    return partial <= MOST_PARTIAL && !(expr_const_int(guards->loop->extent, &extent) && extent <= partial);
}

static void consider(Guards *guards, const Expr *condition)
{
    PeelPass *pass = guards->pass;
    if (!is_order(condition) || !is_index_expr(&pass->vars, condition) || !expr_uses_var(condition, guards->loop->var) ||
        expr_uses_any(condition, &guards->kept) || list_has(&guards->conditions, condition))
        return;
    bool turned = condition->kind == EXPR_GT || condition->kind == EXPR_GE;
    const Expr *less = condition->args[turned], *more = condition->args[!turned];
    Hull hull;
    if (!find_hull(guards, less, more, condition->kind == EXPR_LT || condition->kind == EXPR_GT, &hull) || !hull_is_worth(guards, &hull))
        return;
    const Expr *whole = analyzer_simplify(pass->an, hull_condition(pass->ctx, &hull, less->dtype));
    if (analyzer_prove(pass->an, op_not(pass->ctx, whole, span_none())))
        return;
    vec_push(pass->ctx->arena, &guards->conditions, condition);
    if (!list_has(&guards->whole, whole))
        vec_push(pass->ctx->arena, &guards->whole, whole);
    guards->varies |= hull.reach != 0;
}

static void consider_parts(Guards *guards, const Expr *condition)
{
    ExprList parts = {0};
    conjunction_split(guards->pass->ctx, condition, &parts);
    for (int i = 0; i < parts.count; i++)
        consider(guards, parts.data[i]);
}

static bool find_in_expr(Visitor *visitor, const Expr *expr)
{
    if (expr_is_call(expr, OP_IF_THEN_ELSE))
        consider_parts(visitor->data, expr->args[0]);
    return true;
}

static bool find_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    Guards *guards = visitor->data;
    PeelPass *pass = guards->pass;
    index_vars_add(pass->ctx, &pass->vars, stmt);
    facts_bind_stmt(pass->an, stmt);
    if (stmt->kind == STMT_FOR) {
        map_set(pass->ctx->arena, &guards->inner, stmt->as.loop.var, stmt->as.loop.var);
        if (loop_is_marked(&stmt->as.loop, "pragma_no_peel"))
            map_set(pass->ctx->arena, &guards->kept, stmt->as.loop.var, stmt->as.loop.var);
    } else if (stmt->kind == STMT_LET) {
        map_set(pass->ctx->arena, &guards->inner, stmt->as.let.var, stmt->as.let.var);
    } else if (stmt->kind == STMT_IF) {
        consider_parts(guards, stmt->as.branch.condition);
    }
    guards->depth += stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE;
    return true;
}

static void leave_loop(Visitor *visitor, const Stmt *stmt)
{
    ((Guards *)visitor->data)->depth -= stmt->kind == STMT_FOR || stmt->kind == STMT_WHILE;
}

/* --- The parts --- */
/* CONDITION without those of GUARDS, which hold; false where they fail and it has one of them. */
static const Expr *without_guards(const Guards *guards, const Expr *condition)
{
    ExprList parts = {0}, rest = {0};
    conjunction_split(guards->pass->ctx, condition, &parts);
    for (int i = 0; i < parts.count; i++)
        if (!list_has(&guards->conditions, parts.data[i]))
            vec_push(guards->pass->ctx->arena, &rest, parts.data[i]);
    if (rest.count == parts.count)
        return condition;
    return guards->failing ? expr_bool(guards->pass->ctx, false) : conjunction_join(guards->pass->ctx, &rest);
}

static const Expr *decide_in_expr(Rewriter *rewriter, const Expr *expr)
{
    if (!expr_is_call(expr, OP_IF_THEN_ELSE))
        return rewrite_expr_children(rewriter, expr);
    const Expr *condition = without_guards(rewriter->data, expr->args[0]);
    if (condition->kind == EXPR_INT)
        return rewrite_expr(rewriter, expr->args[condition->value.integer ? 1 : 2]);
    const Expr *args[] = {condition, expr->args[1], expr->args[2]};
    return rewrite_expr_children(rewriter, expr_with_args(rewriter->ctx, expr, args));
}

static const Stmt *decide_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    if (stmt->kind != STMT_IF)
        return rewrite_stmt_children(rewriter, stmt);
    const Stmt *bodies[] = {stmt->as.branch.else_body, stmt->as.branch.then_body};
    const Expr *condition = without_guards(rewriter->data, stmt->as.branch.condition);
    if (condition->kind == EXPR_INT) {
        const Stmt *chosen = bodies[condition->value.integer];
        return chosen ? rewrite_stmt(rewriter, chosen) : stmt_empty(rewriter->ctx);
    }
    return rewrite_stmt_children(rewriter, stmt_if(rewriter->ctx, condition, bodies[1], bodies[0], stmt->span));
}

/* --- Growth --- */
/* How many statements STMT is once unrolled loops are written out, or MOST_STATEMENTS + 1 for more. */
static int64_t statement_count(const Stmt *stmt)
{
    int64_t count = 1, extent;
    if (stmt->kind == STMT_SEQ) {
        count = 0;
        for (int i = 0; i < stmt->as.seq.count && count <= MOST_STATEMENTS; i++)
            count += statement_count(stmt->as.seq.items[i]);
    } else if (stmt->kind == STMT_IF) {
        count += statement_count(stmt->as.branch.then_body);
        count += stmt->as.branch.else_body ? statement_count(stmt->as.branch.else_body) : 0;
    } else if (stmt_body(stmt)) {
        count += statement_count(stmt_body(stmt));
    }
    if (stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_UNROLLED && expr_const_int(stmt->as.loop.extent, &extent) && extent > 0)
        count = extent > MOST_STATEMENTS ? MOST_STATEMENTS + 1 : count * extent;
    return count > MOST_STATEMENTS ? MOST_STATEMENTS + 1 : count;
}

/* STMT allocates little memory, so that each copy may have its own: registers, where the accesses allow them. */
static bool allocates_little(const Stmt *stmt)
{
    int64_t extent, bytes = dtype_bytes(stmt->as.allocate.dtype);
    for (int i = 0; i < stmt->as.allocate.extent_count; i++)
        if (!expr_const_int(stmt->as.allocate.extents[i], &extent) || __builtin_mul_overflow(bytes, extent, &bytes))
            return false;
    return bytes <= MOST_MEMORY;
}

static bool find_memory(Visitor *visitor, const Stmt *stmt)
{
    bool *much = visitor->data;
    *much |= stmt->kind == STMT_ALLOCATE && !allocates_little(stmt);
    return !*much;
}

static bool allocates_much(const Stmt *stmt)
{
    bool much = false;
    Visitor visitor = {.stmt = find_memory, .data = &much};
    visit_stmt(&visitor, stmt);
    return much;
}

/* --- The pass --- */
static const Stmt *peel_stmt(PeelPass *pass, const Stmt *stmt, int copies);

/* The empty statement for loops and memory around nothing. */
static const Stmt *simplify_empty(Context *ctx, const Stmt *stmt)
{
    bool around = stmt->kind == STMT_FOR || stmt->kind == STMT_ALLOCATE || stmt->kind == STMT_DECL_BUFFER;
    bool read = stmt->kind == STMT_FOR && (expr_reads_memory(stmt->as.loop.min) || expr_reads_memory(stmt->as.loop.extent));
    return around && !read && stmt_is_empty(simplify_empty(ctx, stmt_body(stmt))) ? stmt_empty(ctx) : stmt;
}

typedef struct {
    const Var *var;
    const Expr *value; /* a constant */
} KnownVar;

static const Expr *put_value(Rewriter *rewriter, const Expr *expr)
{
    const KnownVar *known = rewriter->data;
    if (expr->kind == EXPR_VAR && expr->value.var == known->var)
        return known->value;
    expr = rewrite_expr_children(rewriter, expr);
    const Expr *folded = expr_is_binary(expr) ? fold_binary(rewriter->ctx, expr->kind, expr->args[0], expr->args[1]) : NULL;
    return folded ? folded : expr;
}

/* PARTIAL, which runs where CONDITION fails, with the value of the variable of LOOP if there is but one: its masks are then constants. */
static const Stmt *in_one_iteration(PeelPass *pass, const ForStmt *loop, const Expr *condition, const Stmt *partial)
{
    AnalyzerScope scope = analyzer_enter(pass->an);
    analyzer_assume(pass->an, op_not(pass->ctx, condition, span_none()));
    IntBound bound = analyzer_bound(pass->an, expr_var(pass->ctx, loop->var));
    analyzer_leave(pass->an, scope);
    if (bound.min != bound.max || !dtype_holds(loop->var->dtype, bound.min))
        return partial;
    KnownVar known = {loop->var, expr_int(pass->ctx, loop->var->dtype, bound.min)};
    Rewriter rewriter = {.ctx = pass->ctx, .expr = put_value, .data = &known};
    return rewrite_stmt(&rewriter, partial);
}

/* STMT where the conditions hold, and where one of them may fail: certainly does, if it is one that no inner loop changes. */
static const Stmt *peel_parts(PeelPass *pass, const Stmt *stmt, Guards *guards, int copies)
{
    Context *ctx = pass->ctx;
    Rewriter rewriter = {.ctx = ctx, .expr = decide_in_expr, .stmt = decide_in_stmt, .data = guards};
    const Expr *condition = conjunction_join(ctx, &guards->whole);
    const Stmt *full = rewrite_stmt(&rewriter, stmt), *partial = clone_fresh(ctx, stmt);
    guards->failing = !guards->varies && guards->conditions.count == 1;
    if (guards->failing)
        partial = simplify_empty(ctx, rewrite_stmt(&rewriter, partial));
    AnalyzerScope scope = analyzer_enter(pass->an);
    analyzer_assume(pass->an, condition);
    full = peel_stmt(pass, full, copies - copies / 2);
    analyzer_leave(pass->an, scope);
    partial = stmt_is_empty(partial) ? NULL : peel_stmt(pass, in_one_iteration(pass, guards->loop, condition, partial), copies / 2);
    return stmt_if(ctx, condition, full, partial, stmt->span);
}

/* The body STMT of LOOP in two parts where that helps. */
static const Stmt *peel_body(PeelPass *pass, const ForStmt *loop, const Stmt *stmt, int copies)
{
    if (stmt->kind == STMT_ALLOCATE && !allocates_little(stmt))
        return stmt_with_body(pass->ctx, stmt, peel_body(pass, loop, stmt->as.allocate.body, copies));
    if (stmt->kind == STMT_DECL_BUFFER)
        return stmt_with_body(pass->ctx, stmt, peel_body(pass, loop, stmt->as.declare.body, copies));
    Guards guards = {.pass = pass, .loop = loop};
    Visitor visitor = {.expr = find_in_expr, .stmt = find_in_stmt, .leave_stmt = leave_loop, .data = &guards};
    if (copies > 1 && statement_count(stmt) * copies <= MOST_STATEMENTS && !allocates_much(stmt))
        visit_stmt(&visitor, stmt);
    return guards.conditions.count ? peel_parts(pass, stmt, &guards, copies) : peel_stmt(pass, stmt, copies);
}

static const Stmt *peel_loop(PeelPass *pass, const Stmt *stmt, int copies)
{
    const ForStmt *loop = &stmt->as.loop;
    index_vars_add(pass->ctx, &pass->vars, stmt);
    facts_bind_stmt(pass->an, stmt);
    if (loop_is_marked(loop, "pragma_no_peel") || loop->kind == FOR_VECTORIZED)
        return stmt;
    bool whole = loop->kind == FOR_SERIAL || loop->kind == FOR_PARALLEL;
    return stmt_with_body(pass->ctx, stmt, whole ? peel_body(pass, loop, loop->body, copies) : peel_stmt(pass, loop->body, copies));
}

static const Stmt *peel_stmt(PeelPass *pass, const Stmt *stmt, int copies)
{
    Context *ctx = pass->ctx;
    if (copies < 2)
        return stmt;
    if (stmt->kind == STMT_FOR)
        return peel_loop(pass, stmt, copies);
    if (stmt->kind == STMT_SEQ) {
        const Stmt **items = ARENA_ARRAY(ctx->arena, const Stmt *, stmt->as.seq.count);
        for (int i = 0; i < stmt->as.seq.count; i++)
            items[i] = peel_stmt(pass, stmt->as.seq.items[i], copies);
        return stmt_seq(ctx, items, stmt->as.seq.count);
    }
    if (stmt->kind == STMT_IF) {
        const Stmt *otherwise = stmt->as.branch.else_body ? peel_stmt(pass, stmt->as.branch.else_body, copies) : NULL;
        return stmt_if(ctx, stmt->as.branch.condition, peel_stmt(pass, stmt->as.branch.then_body, copies), otherwise, stmt->span);
    }
    index_vars_add(ctx, &pass->vars, stmt);
    facts_bind_stmt(pass->an, stmt);
    const Stmt *body = stmt_body(stmt);
    return body ? stmt_with_body(ctx, stmt, peel_stmt(pass, body, copies)) : stmt;
}

const Func *lower_peel(LowerState *state, const Func *func)
{
    PeelPass pass = {state->ctx, analyzer_new(state->ctx), index_vars_of_params(state->ctx, func)};
    facts_bind_sizes(pass.an, func);
    return func_with_body(state->ctx, func, peel_stmt(&pass, func->body, MOST_COPIES));
}
