/* Pass "common_subexpr_elim": what several expressions of a statement compute alike is computed once, in a let around it.

     A[i * 16 + j] = B[i * 16 + j + 1]           cse_v1: T.int32 = i * 16 + j
     B[i * 16 + j] = T.float32(0.0)        ->    A[cse_v1] = B[cse_v1 + 1]
                                                 B[cse_v1] = T.float32(0.0)

   Larger expressions come first, then the parts of those that are computed once only or name what is not bound yet. What stands in one branch, or
   in the body of a loop alone, does not count outside of it, since it may never be computed. A let is computed where the expression may not
   have been: it reads no memory, divides by constants alone, and cannot leave its type (a let wraps, an index does not). */
#include <limits.h>

#include "ir/wrap.h"
#include "passes/transform/internal.h"

typedef struct {
    const Expr *expr;
    int count, size; /* how often it is computed; nodes */
} Computation;
typedef VEC(Computation) Table;

typedef struct {
    Context *ctx;
    Analyzer *an;
    Map known; /* variables in scope; of lets that the pass made: -> their values */
    int made;
} Elimination;

/* --- which expressions --- */

static bool find_unsafe(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr_division_may_fail(expr) || expr->kind == EXPR_CALL || expr->kind == EXPR_LET || expr->dtype.lanes != 1;
    return true;
}

static bool find_range(const void *data, const Var *var, WrapBound *bound)
{
    Elimination *pass = (Elimination *)data;
    IntBound known = analyzer_bound(pass->an, expr_var(pass->ctx, (Var *)var));
    *bound = (WrapBound){(double)known.min, (double)known.max};
    return known.min > dtype_min_int(var->dtype) && known.max < dtype_max_int(var->dtype);
}

static bool may_be_let(Elimination *pass, const Expr *expr)
{
    bool unsafe = expr->dtype.code == DT_HANDLE || expr->dtype.code == DT_VOID;
    if (unsafe || expr->arg_count == 0 || !expr_is_pure(expr))
        return false;
    Visitor visitor = {.expr = find_unsafe, .data = &unsafe};
    visit_expr(&visitor, expr);
    WrapScope scope = {find_range, pass};
    return !unsafe && wrap_explicitly(pass->ctx, &scope, expr) == expr;
}

typedef struct {
    const Map *known;
    bool found;
} UnknownVar;

static bool find_unknown(Visitor *visitor, const Expr *expr)
{
    UnknownVar *search = visitor->data;
    search->found |= expr->kind == EXPR_VAR && !map_has(search->known, expr->value.var);
    return !search->found;
}

static bool is_in_scope(const Elimination *pass, const Expr *expr)
{
    UnknownVar search = {&pass->known, false};
    Visitor visitor = {.expr = find_unknown, .data = &search};
    visit_expr(&visitor, expr);
    return !search.found;
}

/* --- what a statement computes --- */

/* Adds EXPR to TABLE, which is ordered from large to small. */
static void table_add(Elimination *pass, Table *table, const Expr *expr, int count)
{
    for (int i = 0; i < table->count; i++)
        if (expr_equal(table->data[i].expr, expr)) {
            table->data[i].count += count;
            return;
        }
    Computation computation = {expr, count, expr_size(expr, INT_MAX)};
    vec_push(pass->ctx->arena, table, computation);
    for (int i = table->count - 1; i > 0 && table->data[i - 1].size < computation.size; i--) {
        table->data[i] = table->data[i - 1];
        table->data[i - 1] = computation;
    }
}

static void table_join(Elimination *pass, Table *table, const Table *other)
{
    for (int i = 0; i < other->count; i++)
        table_add(pass, table, other->data[i].expr, other->data[i].count);
}

static int table_count(const Table *table, const Expr *expr)
{
    for (int i = 0; i < table->count; i++)
        if (expr_equal(table->data[i].expr, expr))
            return table->data[i].count;
    return 0;
}

/* Adds to TABLE what at least two of PARTS compute. */
static void table_add_shared(Elimination *pass, Table *table, const Table *parts, int part_count)
{
    Table all = {0};
    for (int i = 0; i < part_count; i++)
        table_join(pass, &all, &parts[i]);
    for (int i = 0; i < all.count; i++) {
        int holders = 0;
        for (int k = 0; k < part_count; k++)
            holders += table_count(&parts[k], all.data[i].expr) > 0;
        if (holders >= 2)
            table_add(pass, table, all.data[i].expr, all.data[i].count);
    }
}

typedef struct {
    Elimination *pass;
    Table *table;
} Collector;

static void collect_stmt(Elimination *pass, Table *table, const Stmt *stmt);

static bool collect_from_expr(Visitor *visitor, const Expr *expr)
{
    Collector *collector = visitor->data;
    if (!may_be_let(collector->pass, expr))
        return true;
    table_add(collector->pass, collector->table, expr, 1);
    return false;
}

static void collect_expr(Elimination *pass, Table *table, const Expr *expr)
{
    Collector collector = {pass, table};
    Visitor visitor = {.expr = collect_from_expr, .data = &collector};
    visit_expr(&visitor, expr);
}

static bool collect_from_stmt(Visitor *visitor, const Stmt *stmt)
{
    Collector *collector = visitor->data;
    Elimination *pass = collector->pass;
    Table parts[3] = {0};
    int count = 0;
    facts_bind_stmt(pass->an, stmt);
    if (stmt->kind == STMT_FOR) {
        collect_expr(pass, &parts[count++], stmt->as.loop.min);
        collect_expr(pass, &parts[count++], stmt->as.loop.extent);
        collect_stmt(pass, &parts[count++], stmt->as.loop.body);
    } else if (stmt->kind == STMT_IF) {
        collect_expr(pass, &parts[count++], stmt->as.branch.condition);
        collect_stmt(pass, &parts[count++], stmt->as.branch.then_body);
        if (stmt->as.branch.else_body)
            collect_stmt(pass, &parts[count++], stmt->as.branch.else_body);
    } else if (stmt->kind == STMT_WHILE) {
        collect_expr(pass, &parts[count++], stmt->as.while_loop.condition);
        collect_stmt(pass, &parts[count++], stmt->as.while_loop.body);
    }
    table_add_shared(pass, collector->table, parts, count);
    return count == 0;
}

static void collect_stmt(Elimination *pass, Table *table, const Stmt *stmt)
{
    Collector collector = {pass, table};
    Visitor visitor = {.expr = collect_from_expr, .stmt = collect_from_stmt, .data = &collector};
    visit_stmt(&visitor, stmt);
}

/* --- the lets --- */

typedef struct {
    const Expr *from, *to;
} Replacement;

static const Expr *replace_expr(Rewriter *rewriter, const Expr *expr)
{
    const Replacement *replacement = rewriter->data;
    return expr_equal(expr, replacement->from) ? replacement->to : rewrite_expr_children(rewriter, expr);
}

static const Stmt *replaced(Elimination *pass, const Stmt *stmt, const Expr *from, Var *to)
{
    Replacement replacement = {from, expr_var(pass->ctx, to)};
    Rewriter rewriter = {.ctx = pass->ctx, .expr = replace_expr, .data = &replacement};
    return rewrite_stmt(&rewriter, stmt);
}

/* A variable that has the value of EXPR already, or NULL. */
static Var *known_value(const Elimination *pass, const Expr *expr)
{
    for (int i = 0; i < pass->known.count; i++)
        if (pass->known.entries[i].value && expr_equal(pass->known.entries[i].value, expr))
            return (Var *)pass->known.entries[i].key;
    return NULL;
}

/* STMT in lets of what it computes several times. */
static const Stmt *with_lets(Elimination *pass, const Stmt *stmt)
{
    Table table = {0};
    collect_stmt(pass, &table, stmt);
    for (int i = 0; i < table.count; i++) {
        Computation computation = table.data[i];
        const Expr *expr = computation.expr;
        Var *known = known_value(pass, expr);
        if (known) {
            stmt = replaced(pass, stmt, expr, known);
        } else if (computation.count > 1 && is_in_scope(pass, expr)) {
            Var *var = var_new(pass->ctx, context_internf(pass->ctx, "cse_v%d", ++pass->made), expr->dtype, span_none());
            stmt = stmt_let(pass->ctx, var, expr, replaced(pass, stmt, expr, var), stmt->span);
        } else {
            for (int k = 0; k < expr->arg_count; k++)
                if (may_be_let(pass, expr->args[k]))
                    table_add(pass, &table, expr->args[k], computation.count);
        }
    }
    return stmt;
}

static const Stmt *eliminate_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Elimination *pass = rewriter->data;
    Arena *arena = pass->ctx->arena;
    const Stmt *result = with_lets(pass, stmt);
    int known = pass->known.count;
    facts_bind_stmt(pass->an, result);
    if (result->kind == STMT_FOR)
        map_set(arena, &pass->known, result->as.loop.var, NULL);
    else if (result->kind == STMT_LET)
        map_set(arena, &pass->known, result->as.let.var, may_be_let(pass, result->as.let.value) ? (void *)result->as.let.value : NULL);
    result = rewrite_stmt_children(rewriter, result);
    for (int i = known; i < pass->known.count; i++)
        pass->known.entries[i].value = NULL; /* out of scope: nothing names the variable any more */
    return result;
}

static bool note_var(Visitor *visitor, const Expr *expr)
{
    Elimination *pass = visitor->data;
    if (expr->kind == EXPR_VAR)
        map_set(pass->ctx->arena, &pass->known, expr->value.var, NULL);
    return true;
}

const Func *transform_common_subexpr(LowerState *state, const Func *func)
{
    Elimination pass = {.ctx = state->ctx, .an = analyzer_new(state->ctx)};
    Visitor sizes = {.expr = note_var, .data = &pass};
    for (int i = 0; i < func->param_count; i++) {
        map_set(state->ctx->arena, &pass.known, func->params[i].param, NULL);
        if (func->params[i].buffer)
            visit_buffer_layout(&sizes, func->params[i].buffer);
    }
    facts_bind_sizes(pass.an, func);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = eliminate_in_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
