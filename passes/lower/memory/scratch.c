/* Pass "scratch": statements that only fill padding of scratch memory lose the condition that keeps them from it, which moves to what they load.

     if j * 32 + v < n:                                    acc[u * 32 + v] = acc[u * 32 + v]
         acc[u * 32 + v] = acc[u * 32 + v]           ->        + A_1[k] * T.if_then_else(j * 32 + v < n, B_1[j * 32 + v], T.float32(0.0))
             + A_1[k] * B_1[j * 32 + v]

   So accumulators stay in registers. The legality: the condition depends only on the element (and on what does not change while the memory
   lives), and every access of the memory is under it; so elements for which it fails are never read, and what they hold does not matter.
   They exist: every access stays inside for all iterations. A load that some iteration which runs does as well, of the same memory, stays as it is: that of
   A_1[k] is also done for v = 0. Where an unrolled loop or one over rows decides, the load takes the element of its first iteration instead. A load
   of scratch memory stays as it is, too, where the condition keeps all its accesses from the element, where every store of it runs, or where the
   element is a lane of a vector, which is loaded as a whole: an element that has no value may be loaded there (code generation settles what it
   branches on). Needs: flat buffers, simplified indices. */
#include "passes/lower/memory/scratch.h"

/* --- Loads of values that no longer are under the condition --- */
typedef struct {
    ScratchTable *table;
    const ExprList *dropped; /* the conditions */
    const Map *fixed;        /* keys: variables that other conditions or bounds around use */
    int order;               /* loops of greater order are inside the life of all memory that is stored to */
} LoadGuard;

/* VAR is bound by a loop of constant extent within the memory's life that nothing but the dropped conditions depends on. */
static const ForStmt *free_loop(const LoadGuard *guard, const Var *var)
{
    const ScratchLoop *loop = map_get(&guard->table->loops, var);
    return loop && loop->order > guard->order && !map_has(guard->fixed, var) && loop->constant ? loop->loop : NULL;
}

typedef struct {
    const LoadGuard *guard;
    const Expr *load;
    VEC(const ForStmt *) used;   /* that the index of the load depends on */
    VEC(const ForStmt *) others; /* that it does not depend on, and whose first iteration loads what any does */
} GuardVars;

/* The memory that is loaded is another one in each iteration of LOOP: what is stored in one iteration has no value in the next. */
static bool lives_in_iteration(const GuardVars *vars, const ForStmt *loop)
{
    const ScratchTable *table = vars->guard->table;
    const ScratchLoop *known = map_get(&table->loops, loop->var);
    return known->order <= scratch_life(table, vars->load->value.buffer);
}

/* Where a dropped condition holds in some iteration of LOOP it holds in the first one: that loads whatever does not depend on the loop. */
static bool first_runs_with_any(const LoadGuard *guard, const ForStmt *loop)
{
    Context *ctx = guard->table->ctx;
    bool runs = true;
    for (int i = 0; runs && i < guard->dropped->count; i++) {
        const Expr *condition = guard->dropped->data[i];
        AnalyzerScope scope = analyzer_enter(guard->table->an);
        analyzer_assume(guard->table->an, condition);
        runs = !expr_uses_var(condition, loop->var) || analyzer_prove_symbolic(guard->table->an, subst_one(ctx, condition, loop->var, loop->min));
        analyzer_leave(guard->table->an, scope);
    }
    return runs;
}

static bool find_guard_var(Visitor *visitor, const Expr *expr)
{
    GuardVars *vars = visitor->data;
    Arena *arena = vars->guard->table->ctx->arena;
    const ForStmt *loop = expr->kind == EXPR_VAR ? free_loop(vars->guard, expr->value.var) : NULL;
    if (!loop)
        return true;
    if (expr_uses_var(vars->load->args[0], expr->value.var))
        vec_push(arena, &vars->used, loop);
    else if (!lives_in_iteration(vars, loop) && first_runs_with_any(vars->guard, loop))
        vec_push(arena, &vars->others, loop);
    return true;
}

/* CONDITION for the iteration with the first values of the loops VARS->others. */
static const Expr *at_first(Context *ctx, const Expr *condition, const GuardVars *vars)
{
    for (int i = 0; i < vars->others.count; i++)
        condition = subst_one(ctx, condition, vars->others.data[i]->var, vars->others.data[i]->min);
    return condition;
}

/* Only one of the dropped conditions depends on VAR. */
static bool decides_alone(const LoadGuard *guard, const Var *var)
{
    int count = 0;
    for (int i = 0; i < guard->dropped->count; i++)
        count += expr_uses_var(guard->dropped->data[i], var);
    return count == 1;
}

/* LOOP is a plain loop over adjacent elements of the load EXPR: it may become vectors. */
static bool runs_along(const LoadGuard *guard, const ForStmt *loop, const Expr *expr)
{
    LinearSum sum = {0};
    bool adjacent = false;
    if (loop->kind != FOR_SERIAL || !linear_sum_of(guard->table->ctx, expr->args[0], &sum))
        return false;
    for (int i = 0; i < sum.terms.count; i++)
        adjacent |= sum.terms.data[i].coefficient == 1 && expr_uses_var(sum.terms.data[i].atom, loop->var);
    return adjacent;
}

/* The load EXPR so that it may be done where CONDITION fails. */
static const Expr *guard_load(const LoadGuard *guard, const Expr *expr, const Expr *condition)
{
    Context *ctx = guard->table->ctx;
    const Scratch *scratch = scratch_of_buffer(guard->table, expr->value.buffer);
    if (scratch && scratch_excludes(guard->table, scratch, expr->args[0], condition))
        return expr;
    GuardVars vars = {.guard = guard, .load = expr};
    Visitor visitor = {.expr = find_guard_var, .data = &vars};
    visit_expr(&visitor, condition);
    condition = at_first(ctx, condition, &vars);
    if (analyzer_prove_symbolic(guard->table->an, condition))
        return expr;
    const ForStmt *loop = vars.used.count == 1 ? vars.used.data[0] : NULL;
    if (loop && loop->kind != FOR_VECTORIZED && !runs_along(guard, loop, expr) && decides_alone(guard, loop->var) &&
        analyzer_prove_symbolic(guard->table->an, subst_one(ctx, condition, loop->var, loop->min))) {
        const Expr *chosen = expr_select(ctx, condition, expr_var(ctx, loop->var), loop->min);
        return expr_with_args(ctx, expr, (const Expr *[]){subst_one(ctx, expr->args[0], loop->var, chosen)});
    }
    return NULL;
}

static const Expr *zero_of(Context *ctx, DType type)
{
    return dtype_is_float(type) ? expr_float(ctx, type, 0.0) : expr_int(ctx, type, 0);
}

/* The load EXPR takes its elements as lanes, of which the dropped conditions allow some. */
static bool loads_lanes(const LoadGuard *guard, const Expr *expr)
{
    GuardVars vars = {.guard = guard, .load = expr};
    Visitor visitor = {.expr = find_guard_var, .data = &vars};
    for (int i = 0; i < guard->dropped->count; i++)
        visit_expr(&visitor, guard->dropped->data[i]);
    for (int i = 0; i < vars.used.count; i++)
        if (vars.used.data[i]->kind == FOR_VECTORIZED)
            return true;
    return false;
}

static const Expr *guard_in_expr(Rewriter *rewriter, const Expr *expr)
{
    LoadGuard *guard = rewriter->data;
    Context *ctx = rewriter->ctx;
    if (expr->kind != EXPR_LOAD)
        return rewrite_expr_children(rewriter, expr);
    const Scratch *scratch = scratch_of_buffer(guard->table, expr->value.buffer);
    if (scratch && (!scratch->partly_written || loads_lanes(guard, expr)))
        return expr;
    const Expr *load = expr;
    ExprList kept = {0};
    for (int i = 0; i < guard->dropped->count; i++) {
        const Expr *guarded = guard_load(guard, load, guard->dropped->data[i]);
        if (guarded)
            load = guarded;
        else
            vec_push(ctx->arena, &kept, guard->dropped->data[i]);
    }
    if (!kept.count)
        return load;
    for (int i = 0; i < kept.count; i++) { /* only what the load varies with counts */
        GuardVars vars = {.guard = guard, .load = expr};
        Visitor visitor = {.expr = find_guard_var, .data = &vars};
        visit_expr(&visitor, kept.data[i]);
        kept.data[i] = at_first(ctx, kept.data[i], &vars);
    }
    const Expr *args[] = {conjunction_join(ctx, &kept), load, zero_of(ctx, expr->dtype)};
    return expr_call(ctx, expr->dtype, OP_IF_THEN_ELSE, args, 3, expr->span);
}

/* --- Statements --- */
typedef struct {
    ScratchTable *table;
    const Expr *condition; /* one that may be dropped */
    bool possible;
} DropCheck;

static bool check_value(Visitor *visitor, const Expr *expr)
{
    DropCheck *check = visitor->data;
    if (expr_division_may_fail(expr))
        check->possible = false;
    if (expr->kind == EXPR_CALL && (op_info(expr->value.op)->effect != EFFECT_PURE || op_info(expr->value.op)->result == RESULT_GIVEN))
        check->possible = false;
    if (expr->kind == EXPR_LOAD && (expr->arg_count != 1 || expr->predicated || expr->dtype.lanes > 1 || expr_reads_memory(expr->args[0])))
        check->possible = false;
    if (expr->kind == EXPR_LET || expr->dtype.lanes > 1 || (expr->kind == EXPR_VAR && map_has(&check->table->lets, expr->value.var)))
        check->possible = false;
    return check->possible;
}

static bool check_store(Visitor *visitor, const Stmt *stmt)
{
    DropCheck *check = visitor->data;
    if (stmt->kind == STMT_FOR)
        check->possible &= !expr_reads_memory(stmt->as.loop.min) && !expr_reads_memory(stmt->as.loop.extent);
    if (stmt->kind == STMT_IF)
        check->possible &= !stmt->as.branch.else_body && !expr_reads_memory(stmt->as.branch.condition);
    if (stmt->kind == STMT_FOR || stmt->kind == STMT_SEQ || stmt->kind == STMT_IF)
        return check->possible;
    if (stmt->kind == STMT_STORE && !stmt->as.store.mask && stmt->as.store.index_count == 1) {
        const Scratch *scratch = scratch_of_buffer(check->table, stmt->as.store.buffer);
        check->possible &= scratch && scratch_excludes(check->table, scratch, stmt->as.store.indices[0], check->condition);
    } else {
        check->possible = false;
    }
    return check->possible;
}

/* CONDITION may be dropped around BODY: all that it stores goes to padding where it fails, and computing the values cannot fail. */
static bool may_drop(ScratchTable *table, const Expr *condition, const Stmt *body)
{
    DropCheck check = {table, condition, true};
    Visitor visitor = {.expr = check_value, .stmt = check_store, .data = &check};
    visit_stmt(&visitor, body);
    return check.possible;
}

typedef struct {
    ScratchTable *table;
    ExprList conditions, bounds; /* around: conditions that stay, mins and extents of loops */
} ScratchPass;

static bool add_fixed(Visitor *visitor, const Expr *expr)
{
    LoadGuard *guard = visitor->data;
    if (expr->kind == EXPR_VAR)
        map_set(guard->table->ctx->arena, (Map *)guard->fixed, expr->value.var, expr->value.var);
    return true;
}

static void fix_all(LoadGuard *guard, const ExprList *list)
{
    Visitor visitor = {.expr = add_fixed, .data = guard};
    for (int i = 0; i < list->count; i++)
        visit_expr(&visitor, list->data[i]);
}

static bool fix_inside(Visitor *visitor, const Stmt *stmt)
{
    LoadGuard *guard = visitor->data;
    Visitor fix = {.expr = add_fixed, .data = guard};
    const Scratch *scratch = stmt->kind == STMT_STORE ? scratch_of_buffer(guard->table, stmt->as.store.buffer) : NULL;
    if (scratch && scratch->order > guard->order)
        guard->order = scratch->order;
    if (stmt->kind == STMT_FOR) {
        visit_expr(&fix, stmt->as.loop.min);
        visit_expr(&fix, stmt->as.loop.extent);
    } else if (stmt->kind == STMT_IF) {
        visit_expr(&fix, stmt->as.branch.condition);
    }
    return true;
}

/* Which of PARTS, the condition around BODY, stay: a part too that guards a later one which stays, and may be defined only where it holds. */
static const bool *parts_that_stay(ScratchTable *table, const ExprList *parts, const Stmt *body)
{
    bool *stays = ARENA_ARRAY(table->ctx->arena, bool, parts->count);
    bool guards = false;
    for (int i = parts->count - 1; i >= 0; i--) {
        stays[i] = guards || !may_drop(table, parts->data[i], body);
        guards |= stays[i] && expr_needs_guard(parts->data[i]);
    }
    return stays;
}

static const Stmt *drop_in_branch(Rewriter *rewriter, const Stmt *stmt)
{
    ScratchPass *pass = rewriter->data;
    Context *ctx = rewriter->ctx;
    ExprList parts = {0}, dropped = {0}, kept = {0};
    if (!stmt->as.branch.else_body)
        conjunction_split(ctx, stmt->as.branch.condition, &parts);
    const bool *stays = parts_that_stay(pass->table, &parts, stmt->as.branch.then_body);
    for (int i = 0; i < parts.count; i++)
        vec_push(ctx->arena, stays[i] ? &kept : &dropped, parts.data[i]);
    int outer = pass->conditions.count;
    const Stmt *body = stmt->as.branch.then_body;
    if (dropped.count) {
        Map fixed = {0};
        LoadGuard guard = {.table = pass->table, .dropped = &dropped, .fixed = &fixed};
        fix_all(&guard, &pass->conditions);
        fix_all(&guard, &pass->bounds);
        fix_all(&guard, &kept);
        Visitor inside = {.stmt = fix_inside, .data = &guard};
        visit_stmt(&inside, body);
        Rewriter loads = {.ctx = ctx, .expr = guard_in_expr, .data = &guard};
        body = rewrite_stmt(&loads, body);
    }
    vec_push(ctx->arena, &pass->conditions, stmt->as.branch.condition);
    body = rewrite_stmt(rewriter, body);
    const Stmt *other = stmt->as.branch.else_body ? rewrite_stmt(rewriter, stmt->as.branch.else_body) : NULL;
    pass->conditions.count = outer;
    if (dropped.count && !kept.count)
        return body;
    return stmt_if(ctx, dropped.count ? conjunction_join(ctx, &kept) : stmt->as.branch.condition, body, other, stmt->span);
}

static const Stmt *drop_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    ScratchPass *pass = rewriter->data;
    if (stmt->kind == STMT_IF)
        return drop_in_branch(rewriter, stmt);
    int outer = pass->bounds.count;
    if (stmt->kind == STMT_FOR) {
        vec_push(rewriter->ctx->arena, &pass->bounds, stmt->as.loop.min);
        vec_push(rewriter->ctx->arena, &pass->bounds, stmt->as.loop.extent);
    }
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    pass->bounds.count = outer;
    return result;
}

const Func *lower_scratch(LowerState *state, const Func *func)
{
    ScratchTable table = scratch_find(state->ctx, func);
    ScratchPass pass = {.table = &table};
    if (!table.any)
        return func;
    Rewriter rewriter = {.ctx = state->ctx, .stmt = drop_in_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
