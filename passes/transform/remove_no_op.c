/* Pass "remove_no_op": statements that do nothing go.

     for i in range(64):
         for z in range(0):                 for i in range(64):
             A[i, z] = T.float32(0.0)   ->      B[i] = A[i]
         A[i] = A[i]
         B[i] = A[i]

   A loop without an iteration, an empty body, a store of what is there already, a computed value that nobody gets. What a statement that goes
   would evaluate with an effect, a bound or a condition, is evaluated still. A while loop stays: it may run for ever. */
#include "passes/transform/internal.h"

/* What of COUNT EXPRS must be evaluated, as statements. */
static const Stmt *effects_only(Context *ctx, const Expr *const *exprs, int count, Span span)
{
    const Stmt **items = ARENA_ARRAY(ctx->arena, const Stmt *, count);
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (exprs[i] && exprs[i]->opaque)
            items[kept++] = stmt_evaluate(ctx, exprs[i], span);
    return stmt_seq(ctx, items, kept);
}

static bool find_init(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= stmt->kind == STMT_BLOCK && stmt->as.block.init;
    return true;
}

/* An init runs also where its reduction is empty. */
static bool has_init(const Stmt *stmt)
{
    bool found = false;
    Visitor visitor = {.stmt = find_init, .data = &found};
    visit_stmt(&visitor, stmt);
    return found;
}

static const Stmt *without_idle_loop(Analyzer *an, const Stmt *stmt)
{
    Context *ctx = analyzer_context(an);
    const ForStmt *loop = &stmt->as.loop;
    const Expr *bounds[] = {loop->min, loop->extent};
    bool empty = stmt_is_empty(loop->body);
    if (!empty && !expr_reads_memory(loop->extent) && !has_init(loop->body))
        empty = analyzer_bound(an, analyzer_simplify(an, loop->extent)).max <= 0;
    return empty ? effects_only(ctx, bounds, 2, stmt->span) : stmt;
}

static const Stmt *without_idle_branch(Context *ctx, const Stmt *stmt)
{
    const Stmt *then_body = stmt->as.branch.then_body, *else_body = stmt->as.branch.else_body;
    const Expr *condition = stmt->as.branch.condition;
    if (else_body && stmt_is_empty(else_body))
        else_body = NULL;
    if (stmt_is_empty(then_body) && !else_body)
        return effects_only(ctx, &condition, 1, stmt->span);
    return else_body == stmt->as.branch.else_body ? stmt : stmt_if(ctx, condition, then_body, else_body, stmt->span);
}

static const Stmt *without_idle_store(Context *ctx, const Stmt *stmt)
{
    const Expr *value = stmt->as.store.value;
    bool same = value->kind == EXPR_LOAD && value->value.buffer == stmt->as.store.buffer && !load_mask(value) && !stmt->as.store.mask;
    for (int i = 0; i < stmt->as.store.index_count && same; i++)
        same = !value->args[i]->opaque && expr_equal(value->args[i], stmt->as.store.indices[i]);
    return same ? stmt_empty(ctx) : stmt;
}

/* A pointer may be the memory of a declared buffer: its let stays. */
static const Stmt *without_idle_let(Context *ctx, const Stmt *stmt)
{
    const Expr *value = stmt->as.let.value;
    const Stmt *body = stmt->as.let.body;
    if (stmt_is_empty(body))
        return effects_only(ctx, &value, 1, stmt->span);
    return value->opaque || value->dtype.code == DT_HANDLE || stmt_uses_var(body, stmt->as.let.var) ? stmt : body;
}

static const Stmt *remove_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    Analyzer *an = rewriter->data;
    facts_bind_stmt(an, stmt);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt), *body = stmt_body(result);
    bool idle = body && stmt_is_empty(body);
    switch (result->kind) {
    case STMT_FOR: return without_idle_loop(an, result);
    case STMT_IF: return without_idle_branch(ctx, result);
    case STMT_STORE: return without_idle_store(ctx, result);
    case STMT_EVALUATE: return result->as.evaluate->opaque ? result : stmt_empty(ctx);
    case STMT_LET: return without_idle_let(ctx, result);
    case STMT_ALLOCATE: return idle ? effects_only(ctx, result->as.allocate.extents, result->as.allocate.extent_count, stmt->span) : result;
    case STMT_ALLOCATE_CONST:
    case STMT_DECL_BUFFER:
    case STMT_REALIZE: return idle ? body : result;
    case STMT_ATTR: return idle && !result->as.attr.value->opaque ? body : result;
    default: return result;
    }
}

const Func *transform_remove_no_op(LowerState *state, const Func *func)
{
    Analyzer *an = analyzer_new(state->ctx);
    facts_bind_sizes(an, func);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = remove_in_stmt, .data = an};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
