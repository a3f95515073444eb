/* Pass "lanes": vectorized loops keep that kind only where their iterations are shown not to depend on one another.

     for v in T.vectorized(8):               for v in range(8):
         A[v + 1] = A[v] + 1         ->          A[v + 1] = A[v] + 1

   Vectors run each statement for all iterations before the next statement. The result is that of the iterations in order if no iteration
   accesses an element that another one writes. Elements that one store alone writes are an exception: it writes them in the order of the
   lanes. The analysis is asked, as for a loop that a schedule makes parallel (RUN_AS_LANES in dependence.h). A store that has one element
   for all lanes needs one value. Memory that the body allocates does not count. A loop that becomes serial gets a warning. Runs before
   flattening, which hides the dimensions. */
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/lower/core/effects.h"
#include "passes/lower/vector/lanes.h"
#include "print/print.h"
#include "support/warning.h"

/* --- stores to one element --- */
typedef struct {
    Context *ctx;
    const ForStmt *loop;
    Analyzer *an;
    const Map *roots; /* see effects.h */
    Effects effects;  /* of the loop's body */
    Subst lets;       /* lets without memory, by value */
    Map inner;        /* what the body binds otherwise: Vars with values that may differ between lanes */
    const Stmt *found; /* a store to one element of values that may differ */
} OneElement;

static bool varies(const OneElement *search, const Expr *expr)
{
    return expr_uses_var(expr, search->loop->var) || expr_uses_any(expr, &search->inner);
}

typedef struct {
    const OneElement *search;
    bool varies;
} ValueCheck;

/* Reads of memory that the body writes vary, too. */
static bool check_value_part(Visitor *visitor, const Expr *expr)
{
    ValueCheck *value = visitor->data;
    if (expr->kind == EXPR_LOAD)
        value->varies |= map_has(&value->search->effects.writes, effects_root(value->search->roots, expr->value.buffer->data));
    return !value->varies;
}

static bool has_one_value(const OneElement *search, const Stmt *store)
{
    Subst lets = search->lets;
    ValueCheck check = {search, varies(search, subst_expr(search->ctx, &lets, store->as.store.value))};
    Visitor visitor = {.expr = check_value_part, .data = &check};
    visit_expr(&visitor, store->as.store.value);
    return !check.varies;
}

static bool has_one_element(const OneElement *search, const Stmt *store)
{
    Subst lets = search->lets;
    const Expr *offset = buffer_linear_offset(search->ctx, store->as.store.buffer, store->as.store.indices);
    return !varies(search, analyzer_simplify(search->an, subst_expr(search->ctx, &lets, offset))) && !expr_reads_memory(offset);
}

static bool find_in_expr(Visitor *visitor, const Expr *expr)
{
    OneElement *search = visitor->data;
    if (expr->kind == EXPR_LET)
        map_set(search->ctx->arena, &search->inner, expr->value.var, expr->value.var);
    return true;
}

static bool find_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    OneElement *search = visitor->data;
    Context *ctx = search->ctx;
    facts_bind_stmt(search->an, stmt);
    if (stmt->kind == STMT_FOR)
        map_set(ctx->arena, &search->inner, stmt->as.loop.var, stmt->as.loop.var);
    else if (stmt->kind == STMT_LET && expr_reads_memory(stmt->as.let.value))
        map_set(ctx->arena, &search->inner, stmt->as.let.var, stmt->as.let.var);
    else if (stmt->kind == STMT_LET)
        subst_var(ctx, &search->lets, stmt->as.let.var, subst_expr(ctx, &search->lets, stmt->as.let.value));
    else if (stmt->kind == STMT_STORE && has_one_element(search, stmt) && !has_one_value(search, stmt))
        search->found = stmt;
    return true;
}

/* A store of LOOP's body to one element, the same in all iterations, of values that may differ; NULL where there is none. */
static const Stmt *find_overwritten(Context *ctx, Analyzer *an, const Map *roots, const Stmt *loop)
{
    OneElement search = {.ctx = ctx, .loop = &loop->as.loop, .an = an, .roots = roots};
    search.effects = effects_of_stmt(ctx, roots, loop->as.loop.body, NULL);
    Visitor visitor = {.expr = find_in_expr, .stmt = find_in_stmt, .data = &search};
    visit_stmt(&visitor, loop->as.loop.body);
    return search.found;
}

bool lanes_are_independent(const LaneScope *scope, const Stmt *part, const Stmt *loop)
{
    const Func *func = func_with_body(scope->ctx, scope->func, part);
    AccessList accesses = access_collect_explicit(scope->ctx, func);
    Answer answer = dependence_independent_among(scope->ctx, func, &accesses, loop->as.loop.var, RUN_AS_LANES);
    return answer_is_shown(answer) && !find_overwritten(scope->ctx, scope->an, scope->roots, loop);
}

/* --- The pass --- */
typedef struct {
    LaneScope scope;
    Map roots;
    AccessList accesses; /* of the function, once collected */
    bool collected;
} LanesPass;

static const char *element_text(Context *ctx, const Access *access)
{
    const Region *region = access->rows ? &access->given : &access->region;
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, region->buffer->ndim);
    for (int d = 0; d < region->buffer->ndim; d++)
        indices[d] = region->ranges[d].min;
    return print_expr(ctx, expr_load(ctx, region->buffer, indices, region->buffer->ndim, NULL, span_none()));
}

static const char *store_text(Context *ctx, const Stmt *store)
{
    return print_expr(ctx, expr_load(ctx, store->as.store.buffer, store->as.store.indices, store->as.store.index_count, NULL, span_none()));
}

/* Where iterations of LOOP may meet; NULL: they are independent. A call that may touch anything is for the pass "vectorize" to refuse. */
static const char *meeting_place(LanesPass *pass, const Stmt *loop)
{
    const LaneScope *scope = &pass->scope;
    if (!pass->collected)
        pass->accesses = access_collect_explicit(scope->ctx, scope->func);
    pass->collected = true;
    Answer answer = dependence_independent_among(scope->ctx, scope->func, &pass->accesses, loop->as.loop.var, RUN_AS_LANES);
    bool known = answer.first && answer.second;
    if (!answer_is_shown(answer) && !(known && (answer.first->fence || answer.second->fence)))
        return known ? element_text(scope->ctx, answer.first->write ? answer.first : answer.second) : answer.text;
    const Stmt *store = find_overwritten(scope->ctx, scope->an, scope->roots, loop);
    return store ? store_text(scope->ctx, store) : NULL;
}

static const Stmt *check_loop(LanesPass *pass, const Stmt *stmt)
{
    Context *ctx = pass->scope.ctx;
    const char *place = meeting_place(pass, stmt);
    if (!place)
        return stmt;
    diag_warning(ctx, WARNING_SERIAL_LOOP, stmt->span,
                 "the vectorized loop '%s' runs serially: its iterations are not shown to be independent, as they may meet at %s",
                 stmt->as.loop.var->name, place);
    ForStmt loop = stmt->as.loop;
    loop.kind = FOR_SERIAL;
    return stmt_for(ctx, loop, stmt->span);
}

static const Stmt *lanes_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    LanesPass *pass = rewriter->data;
    facts_bind_stmt(pass->scope.an, stmt);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    bool vectors = result->kind == STMT_FOR && result->as.loop.kind == FOR_VECTORIZED && result->as.loop.extent->kind == EXPR_INT &&
                   result->as.loop.extent->value.integer > 1;
    return vectors ? check_loop(pass, result) : result;
}

const Func *lower_lanes(LowerState *state, const Func *func)
{
    LanesPass pass = {.scope = {.ctx = state->ctx, .func = func, .an = analyzer_new(state->ctx), .roots = &pass.roots}};
    facts_bind_sizes(pass.scope.an, func);
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = lanes_in_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
