/* Pass "simplify": expressions are simplified under what the loops, blocks and conditions around them say.

     for u, i, j in T.grid(1, 64, 64):                      for u, i, j in T.grid(1, 64, 64):
         if i * 64 + j < 4096:                       ->         C[i, j] = A[i, j]
             C[i + u, j] = A[(i * 64 + j) // 64, j]

   Statements stay, but for choices that are decided, stores of what is there already, and lets of index arithmetic, which are replaced by
   their values. Arithmetic of indices and conditions does not overflow (see transform.c); that of stored values may wrap, and is
   simplified where it is shown not to.

   When the init of a reduction runs is said by the loops, conditions and bindings around it: a loop that reduces may be empty, one that
   tells points may not.

     for i, k in T.grid(2, 1):
         with T.block("C"):
             vi, vk = T.axis.remap("SR", [i, k])      with vk = 0, no loop reduces, and T.where excludes the points
             T.where(k + 2 < 2)
             with T.init(): ...

   So the program is asked whether its inits run as before. What is around one that may not stays as it is. */
#include "ir/fold.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/transform/internal.h"

typedef struct {
    Analyzer *an;
    Map kept; /* Block -> itself: when its inits run stays as the program says it */
} Simplification;

typedef struct {
    const Map *blocks;
    bool found;
} BlockSearch;

static bool find_block(Visitor *visitor, const Stmt *stmt)
{
    BlockSearch *search = visitor->data;
    search->found |= stmt->kind == STMT_BLOCK && map_has(search->blocks, stmt->as.block.block);
    return !search->found;
}

/* STMT is around an init, and says when that runs, which must not change. */
static bool stays(const Simplification *s, const Stmt *stmt)
{
    BlockSearch search = {&s->kept, false};
    Visitor visitor = {.stmt = find_block, .data = &search};
    if (s->kept.count)
        visit_stmt(&visitor, stmt);
    return search.found;
}

static const Expr *simple_index(Simplification *s, const Expr *expr)
{
    return analyzer_simplify(s->an, expr);
}

/* What constants decide. */
static const Expr *fold_expr(Rewriter *rewriter, const Expr *expr)
{
    const Expr *result = rewrite_expr_children(rewriter, expr), *folded = NULL;
    if (result->kind == EXPR_SELECT && result->args[0]->kind == EXPR_INT && !result->opaque)
        return result->args[result->args[0]->value.integer ? 1 : 2];
    if (expr_is_binary(result))
        folded = fold_binary(rewriter->ctx, result->kind, result->args[0], result->args[1]);
    return folded ? folded : result;
}

static const Expr *simple_value(Simplification *s, const Expr *expr)
{
    Rewriter folder = {.ctx = analyzer_context(s->an), .expr = fold_expr};
    return rewrite_expr(&folder, analyzer_simplify_indices(s->an, s->an, expr));
}

/* Conditions and lets do not overflow, as indices. */
static const Expr *simple_condition(Simplification *s, const Expr *expr)
{
    return expr->opaque ? expr : simple_index(s, expr);
}

static const Expr *simplify_expr(Rewriter *rewriter, const Expr *expr)
{
    Simplification *s = rewriter->data;
    return expr_is_pure(expr) ? simple_index(s, expr) : simple_value(s, expr);
}

static const Stmt *simplify_stmt(Rewriter *rewriter, const Stmt *stmt);

static const Stmt *simplify_under(Rewriter *rewriter, const Expr *condition, const Stmt *stmt)
{
    Simplification *s = rewriter->data;
    AnalyzerScope scope = analyzer_enter(s->an);
    facts_assume(s->an, condition);
    stmt = simplify_stmt(rewriter, stmt);
    analyzer_leave(s->an, scope);
    return stmt;
}

static const Stmt *simplify_loop(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *s = rewriter->data;
    ForStmt loop = stmt->as.loop;
    if (!stays(s, stmt)) {
        loop.min = simple_index(s, loop.min);
        loop.extent = simple_index(s, loop.extent);
    }
    if (!expr_reads_memory(loop.min) && !expr_reads_memory(loop.extent))
        analyzer_bind_range(s->an, loop.var, (Range){loop.min, loop.extent});
    loop.body = simplify_stmt(rewriter, loop.body);
    return stmt_for(rewriter->ctx, loop, stmt->span);
}

static const Stmt *simplify_branch(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    const Expr *condition = stmt->as.branch.condition;
    if (!stays(rewriter->data, stmt))
        condition = simple_condition(rewriter->data, condition);
    const Stmt *then_body = stmt->as.branch.then_body, *else_body = stmt->as.branch.else_body;
    if (condition->kind == EXPR_INT) {
        const Stmt *chosen = condition->value.integer ? then_body : else_body;
        return chosen ? simplify_stmt(rewriter, chosen) : stmt_empty(ctx);
    }
    then_body = simplify_under(rewriter, condition, then_body);
    if (else_body)
        else_body = simplify_under(rewriter, op_not(ctx, condition, span_none()), else_body);
    return stmt_if(ctx, condition, then_body, else_body, stmt->span);
}

static bool find_axes(Visitor *visitor, const Stmt *stmt)
{
    *(bool *)visitor->data |= stmt->kind == STMT_BLOCK && stmt->as.block.iter_count;
    return true;
}

/* Inside a block with axes, these stand for the loops around: a let there names what an expression could not. */
static bool has_axes(const Stmt *stmt)
{
    bool found = false;
    Visitor visitor = {.stmt = find_axes, .data = &found};
    visit_stmt(&visitor, stmt);
    return found;
}

static const Stmt *simplify_let(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *s = rewriter->data;
    const Expr *value = stmt->as.let.value;
    bool index = dtype_is_index(value->dtype) && expr_is_pure(value) && !has_axes(stmt->as.let.body);
    if (stays(s, stmt))
        return stmt_with_body(rewriter->ctx, stmt, simplify_stmt(rewriter, stmt->as.let.body));
    if (index || value->kind == EXPR_INT || value->kind == EXPR_FLOAT) {
        Subst subst = {0};
        subst_var(rewriter->ctx, &subst, stmt->as.let.var, index ? simple_index(s, value) : value);
        return simplify_stmt(rewriter, subst_stmt(rewriter->ctx, &subst, stmt->as.let.body));
    }
    return rewrite_stmt_children(rewriter, stmt);
}

static const Stmt *simplify_store(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *s = rewriter->data;
    Stmt copy = *stmt;
    copy.as.store.indices = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, stmt->as.store.index_count);
    for (int i = 0; i < stmt->as.store.index_count; i++)
        copy.as.store.indices[i] = simple_index(s, stmt->as.store.indices[i]);
    copy.as.store.value = simple_value(s, stmt->as.store.value);
    const Expr *value = copy.as.store.value;
    bool same = value->kind == EXPR_LOAD && value->value.buffer == stmt->as.store.buffer && !load_mask(value) && !stmt->as.store.mask;
    for (int i = 0; i < stmt->as.store.index_count && same; i++)
        same = !value->args[i]->opaque && expr_equal(value->args[i], copy.as.store.indices[i]);
    return same ? stmt_empty(rewriter->ctx) : stmt_new(rewriter->ctx, &copy);
}

/* KEPT: but for what they may be. */
static void simplify_axes(Rewriter *rewriter, BlockStmt *block, bool kept)
{
    Simplification *s = rewriter->data;
    Arena *arena = rewriter->ctx->arena;
    block->iters = arena_copy(arena, block->iters, (size_t)block->iter_count * sizeof *block->iters);
    block->bindings = arena_copy(arena, block->bindings, (size_t)block->iter_count * sizeof *block->bindings);
    for (int i = 0; i < block->iter_count; i++) {
        Iter *iter = &block->iters[i];
        if (!kept) {
            block->bindings[i] = simple_index(s, block->bindings[i]);
            iter->domain = analyzer_simplify_range(s->an, iter->domain);
        }
        if (!expr_reads_memory(iter->domain.min) && !expr_reads_memory(iter->domain.extent))
            analyzer_bind_range_opaque(s->an, iter->var, iter->domain);
    }
}

static Region *simple_regions(Simplification *s, const Region *regions, int count)
{
    Region *result = ARENA_ARRAY(analyzer_context(s->an)->arena, Region, count);
    for (int i = 0; i < count; i++)
        result[i] = analyzer_simplify_region(s->an, regions[i]);
    return result;
}

static const Stmt *simplify_block(Rewriter *rewriter, const Stmt *stmt)
{
    Simplification *s = rewriter->data;
    BlockStmt block = stmt->as.block;
    bool kept = stays(s, stmt);
    if (!kept)
        block.predicate = simple_condition(s, block.predicate);
    AnalyzerScope scope = analyzer_enter(s->an);
    facts_assume(s->an, block.predicate);
    simplify_axes(rewriter, &block, kept);
    block.reads = simple_regions(s, block.reads, block.read_count);
    block.writes = simple_regions(s, block.writes, block.write_count);
    if (block.init)
        block.init = simplify_stmt(rewriter, block.init);
    block.body = simplify_stmt(rewriter, block.body);
    analyzer_leave(s->an, scope);
    return stmt_block(rewriter->ctx, block, stmt->span);
}

static const Stmt *simplify_assert(Rewriter *rewriter, const Stmt *stmt)
{
    Stmt copy = *stmt;
    copy.as.assertion.condition = simple_condition(rewriter->data, stmt->as.assertion.condition);
    copy.as.assertion.body = simplify_under(rewriter, copy.as.assertion.condition, stmt->as.assertion.body);
    return stmt_new(rewriter->ctx, &copy);
}

static const Stmt *simplify_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    switch (stmt->kind) {
    case STMT_FOR: return simplify_loop(rewriter, stmt);
    case STMT_IF: return simplify_branch(rewriter, stmt);
    case STMT_LET: return simplify_let(rewriter, stmt);
    case STMT_STORE: return simplify_store(rewriter, stmt);
    case STMT_BLOCK: return simplify_block(rewriter, stmt);
    case STMT_ASSERT: return simplify_assert(rewriter, stmt);
    default: return rewrite_stmt_children(rewriter, stmt);
    }
}

/* --- inits --- */

typedef struct {
    Context *ctx;
    const Func *before, *after;
    Map *kept;
    bool added;
} InitCheck;

/* The inits of the block at STMT may run for other points, or at another time, than before: its block is one to keep. */
static bool check_inits(Visitor *visitor, const Stmt *stmt)
{
    InitCheck *check = visitor->data;
    const Block *block = stmt->as.block.block;
    if (stmt->kind != STMT_BLOCK || !stmt->as.block.init || map_has(check->kept, block))
        return true;
    Map searched = {0};
    map_set(check->ctx->arena, &searched, block, (void *)block);
    BlockSearch search = {&searched, false};
    Visitor finder = {.stmt = find_block, .data = &search};
    visit_stmt(&finder, check->after->body);
    if (search.found && dependence_inits_kept(check->ctx, check->before, check->after, block, false).verdict == ANSWER_SHOWN &&
        dependence_init_in_time(check->ctx, check->before, check->after, block).verdict == ANSWER_SHOWN)
        return true;
    map_set(check->ctx->arena, check->kept, block, (void *)block);
    check->added = true;
    return true;
}

static const Func *simplified(Context *ctx, const Func *func, Map kept)
{
    Simplification s = {analyzer_new(ctx), kept};
    facts_bind_sizes(s.an, func);
    Rewriter rewriter = {.ctx = ctx, .expr = simplify_expr, .stmt = simplify_stmt, .data = &s};
    return func_with_body(ctx, func, simplify_stmt(&rewriter, func->body));
}

const Func *transform_simplify(LowerState *state, const Func *func)
{
    Map kept = {0};
    InitCheck check = {.ctx = state->ctx, .before = func, .kept = &kept};
    Visitor visitor = {.stmt = check_inits, .data = &check};
    do {
        check.after = simplified(state->ctx, func, kept);
        check.added = false;
        visit_stmt(&visitor, func->body);
    } while (check.added);
    return check.after;
}
