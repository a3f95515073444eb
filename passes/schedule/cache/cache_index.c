/* cache_index: what a block computes from its axes, such as indices, is computed before it, once for each value of the axes, and looked up.

   Before, cache_index("B", "global")       After
     for i, j in T.grid(8, 8):                index_var_0 = T.alloc_buffer((8,), "int32", strides=(1,))
         with T.block("B"):                   for ax0 in range(8):
             B[vi, vj] =                          with T.block("index_0"): index_var_0[v0] = v0 // 2 * 3
                 A[vj, vi // 2 * 3]           for i, j in T.grid(8, 8):
                                                  with T.block("B"): B[vi, vj] = A[vj, index_var_0[vi]]

   Each new block runs over the loops to which the axes are bound where these reach each point of the axes' domains once, else over the domains. So
   each value that the block looks up has been computed, whatever guards it; and nothing else uses the new buffers. The block still declares
   the regions that it declared, since the indices have the values that they had, and what it looks up. */
#include "ir/walk.h"
#include "passes/arith/iter_map.h"
#include "passes/schedule/cache/cache_index.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/coverage.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/storage.h"

/* A buffer for one computation, and the nest that fills it. */
typedef struct {
    Schedule *sch;
    const BlockStmt *user;
    const TreeNode *const *around; /* the loops around the user */
    int around_count;
    const Expr *expr;
    int axis_count, loop_count;
    bool by_loops;         /* the loops reach each point of the axes' domains once, and no other */
    int *axes;             /* of the user that the computation uses, in the order in which it does */
    const ForStmt **loops; /* of those around the user, those that these axes are bound to */
    Block *symbol;
    Buffer *buffer;
} IndexCache;

/* --- Which axes and loops --- */

static bool find_axes(Visitor *visitor, const Expr *expr)
{
    IndexCache *cache = visitor->data;
    for (int i = 0; expr->kind == EXPR_VAR && i < cache->user->iter_count; i++) {
        int known = 0;
        while (known < cache->axis_count && cache->axes[known] != i)
            known++;
        if (cache->user->iters[i].var == expr->value.var && known == cache->axis_count)
            cache->axes[cache->axis_count++] = i;
    }
    return true;
}

static bool find_loops(Visitor *visitor, const Expr *expr)
{
    IndexCache *cache = visitor->data;
    for (int i = 0; expr->kind == EXPR_VAR && i < cache->around_count; i++) {
        const ForStmt *loop = node_loop(cache->around[i]);
        int known = 0;
        while (known < cache->loop_count && cache->loops[known] != loop)
            known++;
        if (loop->var == expr->value.var && known == cache->loop_count)
            cache->loops[cache->loop_count++] = loop;
    }
    return true;
}

static const Iter *cache_axis(const IndexCache *cache, int i)
{
    return &cache->user->iters[cache->axes[i]];
}

/* The bounds of the loops depend on no loop around the user. */
static bool loops_are_box(const IndexCache *cache)
{
    for (int i = 0; i < cache->loop_count; i++)
        for (int k = 0; k < cache->around_count; k++)
            if (!expr_is_int(cache->loops[i]->min, 0) || expr_uses_var(cache->loops[i]->extent, node_loop(cache->around[k])->var))
                return false;
    return true;
}

/* The loops reach each point of the axes' domains once. */
static bool loops_reach_each_point(const IndexCache *cache)
{
    Context *ctx = cache->sch->ctx;
    Analyzer *an = analyzer_new(ctx);
    const Expr **bindings = ARENA_ARRAY(ctx->arena, const Expr *, cache->axis_count);
    VarRange *iters = ARENA_ARRAY(ctx->arena, VarRange, cache->loop_count);
    const Expr *runs = expr_int(ctx, DTYPE_INT64, 1), *points = runs;
    if (!loops_are_box(cache))
        return false;
    for (int i = 0; i < cache->loop_count; i++) {
        iters[i] = (VarRange){cache->loops[i]->var, {cache->loops[i]->min, cache->loops[i]->extent}};
        runs = op_mul(ctx, runs, op_cast(ctx, DTYPE_INT64, cache->loops[i]->extent));
    }
    analyzer_bind_ranges(an, iters, cache->loop_count);
    for (int i = 0; i < cache->axis_count; i++) {
        const Range *domain = &cache_axis(cache, i)->domain;
        bindings[i] = cache->user->bindings[cache->axes[i]];
        points = op_mul(ctx, points, op_cast(ctx, DTYPE_INT64, domain->extent));
        if (!analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LE, domain->min, bindings[i])) ||
            !analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LT, bindings[i], op_add(ctx, domain->min, domain->extent))))
            return false;
    }
    IterMapQuery query = {.bindings = bindings, .binding_count = cache->axis_count, .iters = iters, .iter_count = cache->loop_count, .level = ITER_MAP_BIJECTIVE};
    IterMapResult map;
    return analyzer_prove_equal(an, runs, points) && (expr_is_int(points, 1) || iter_map_detect(an, &query, &map));
}

/* --- The nest --- */

static const Stmt *make_nest(const IndexCache *cache)
{
    Context *ctx = cache->sch->ctx;
    Span span = cache->sch->call_span;
    bool by_loops = cache->by_loops;
    int axes = cache->axis_count, count = by_loops ? cache->loop_count : axes;
    BlockStmt block = {.block = cache->symbol, .iter_count = axes, .predicate = expr_bool(ctx, true), .write_count = 1};
    Var **vars = ARENA_ARRAY(ctx->arena, Var *, count);
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, axes);
    Subst loop_values = {0}, axis_values = {0};
    block.iters = ARENA_ARRAY(ctx->arena, Iter, axes);
    block.bindings = ARENA_ARRAY(ctx->arena, const Expr *, axes);
    for (int i = 0; i < count; i++) {
        vars[i] = var_new(ctx, context_internf(ctx, "ax%d", i), by_loops ? cache->loops[i]->var->dtype : cache_axis(cache, i)->var->dtype, span);
        if (by_loops)
            subst_var(ctx, &loop_values, cache->loops[i]->var, expr_var(ctx, vars[i]));
    }
    for (int i = 0; i < axes; i++) {
        const Iter *axis = cache_axis(cache, i);
        block.iters[i] = (Iter){var_new(ctx, context_internf(ctx, "v%d", i), axis->var->dtype, span), axis->domain, ITER_SPATIAL, span};
        block.bindings[i] = by_loops ? subst_expr(ctx, &loop_values, cache->user->bindings[cache->axes[i]])
                                     : op_add(ctx, axis->domain.min, expr_var(ctx, vars[i]));
        indices[i] = expr_var(ctx, block.iters[i].var);
        subst_var(ctx, &axis_values, axis->var, indices[i]);
    }
    Region region = region_point(ctx, cache->buffer, indices);
    block.writes = arena_copy(ctx->arena, &region, sizeof region);
    block.body = stmt_store(ctx, cache->buffer, indices, axes, subst_expr(ctx, &axis_values, cache->expr), NULL, span);
    const Stmt *nest = stmt_block(ctx, block, span);
    for (int i = count - 1; i >= 0; i--)
        nest = loops_serial(ctx, vars[i], by_loops ? cache->loops[i]->extent : cache_axis(cache, i)->domain.extent, nest, span);
    return nest;
}

/* A buffer with a place for each value of the axes. One of one dimension states its stride, as that of the reference does. */
static Buffer *make_buffer(const IndexCache *cache, Str name, Str scope)
{
    Context *ctx = cache->sch->ctx;
    const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, cache->axis_count);
    Analyzer *an = analyzer_new(ctx);
    for (int i = 0; i < cache->axis_count; i++)
        shape[i] = analyzer_simplify(an, op_add(ctx, cache_axis(cache, i)->domain.min, cache_axis(cache, i)->domain.extent));
    Buffer *buffer = buffer_new(ctx, name, cache->expr->dtype, cache->axis_count, shape, scope, cache->sch->call_span);
    if (buffer->ndim == 1) {
        buffer->strides = ARENA_ARRAY(ctx->arena, const Expr *, 1);
        buffer->strides[0] = expr_int(ctx, shape[0]->dtype, 1);
    }
    return buffer;
}

/* Settles the buffer for computation number NUMBER; the result is the nest that fills it. */
static const Stmt *plan_cache(IndexCache *cache, int number, Str scope)
{
    Context *ctx = cache->sch->ctx;
    cache->axes = ARENA_ARRAY(ctx->arena, int, cache->user->iter_count);
    cache->loops = ARENA_ARRAY(ctx->arena, const ForStmt *, cache->around_count);
    Visitor axes = {.expr = find_axes, .data = cache}, loops = {.expr = find_loops, .data = cache};
    visit_expr(&axes, cache->expr);
    for (int i = 0; i < cache->axis_count; i++)
        visit_expr(&loops, cache->user->bindings[cache->axes[i]]);
    cache->buffer = make_buffer(cache, context_internf(ctx, "index_var_%d", number), scope);
    cache->symbol = block_new(ctx, context_internf(ctx, "index_%d", number), cache->sch->call_span);
    cache->by_loops = loops_reach_each_point(cache);
    return make_nest(cache);
}

/* --- The user --- */

typedef struct {
    const Computations *list;
    const IndexCache *caches;
    bool in_index;
} LookUp;

/* What the block reads of the buffer in the place of a computation. */
static const Expr **looked_up_at(Context *ctx, const IndexCache *cache)
{
    const Expr **indices = ARENA_ARRAY(ctx->arena, const Expr *, cache->axis_count);
    for (int i = 0; i < cache->axis_count; i++)
        indices[i] = expr_var(ctx, cache_axis(cache, i)->var);
    return indices;
}

static const Expr *look_up(Rewriter *rewriter, const Expr *expr)
{
    LookUp *edit = rewriter->data;
    int found = expr->arg_count ? computations_find(rewriter->ctx, edit->list, expr, edit->in_index) : -1;
    if (found >= 0) {
        const IndexCache *cache = &edit->caches[found];
        return expr_load(rewriter->ctx, cache->buffer, looked_up_at(rewriter->ctx, cache), cache->axis_count, NULL, expr->span);
    }
    bool outside = edit->in_index;
    edit->in_index |= expr->kind == EXPR_LOAD;
    expr = rewrite_expr_children(rewriter, expr);
    edit->in_index = outside;
    return expr;
}

static const Expr *keep_expr(Rewriter *rewriter, const Expr *expr)
{
    (void)rewriter;
    return expr;
}

/* Only stores look values up; blocks inside declare what they read, and stay. */
static const Stmt *look_up_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    LookUp *edit = rewriter->data;
    if (stmt->kind == STMT_BLOCK)
        return stmt;
    if (stmt->kind != STMT_STORE)
        return rewrite_stmt_children(rewriter, stmt);
    Rewriter inner = {.ctx = rewriter->ctx, .expr = look_up, .data = edit};
    const Expr *value = rewrite_expr(&inner, stmt->as.store.value);
    const Expr **indices = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, stmt->as.store.index_count);
    edit->in_index = true;
    for (int i = 0; i < stmt->as.store.index_count; i++)
        indices[i] = rewrite_expr(&inner, stmt->as.store.indices[i]);
    edit->in_index = false;
    return stmt_store(rewriter->ctx, stmt->as.store.buffer, indices, stmt->as.store.index_count, value, stmt->as.store.mask, stmt->span);
}

static const Stmt *user_with_look_ups(Schedule *sch, const Stmt *user, const Computations *list, const IndexCache *caches)
{
    Context *ctx = sch->ctx;
    LookUp edit = {list, caches, false};
    Rewriter rewriter = {.ctx = ctx, .expr = keep_expr, .stmt = look_up_in_stmt, .data = &edit};
    BlockStmt block = user->as.block;
    if (block.init)
        block.init = rewrite_stmt(&rewriter, block.init);
    block.body = rewrite_stmt(&rewriter, block.body);
    Region *reads = ARENA_ARRAY(ctx->arena, Region, block.read_count + list->count);
    for (int i = 0; i < block.read_count; i++)
        reads[i] = block.reads[i];
    for (int i = 0; i < list->count; i++)
        reads[block.read_count + i] = region_point(ctx, caches[i].buffer, looked_up_at(ctx, &caches[i]));
    block.reads = reads;
    block.read_count += list->count;
    return stmt_block(ctx, block, user->span);
}

/* --- Putting all together --- */

/* Puts the COUNT NESTS before the statement of the scope that holds the block SYMBOL, and allocates the buffers there. */
static void insert_nests(Schedule *sch, const Block *symbol, const IndexCache *caches, const Stmt **nests, int count)
{
    Context *ctx = sch->ctx;
    const TreeNode *top = schedule_find_block(sch, symbol), *scope = schedule_scope(sch, top), *up;
    for (up = schedule_parent(sch, top); up != scope && !(up->stmt->kind == STMT_SEQ && schedule_parent(sch, up) == scope); up = schedule_parent(sch, up))
        top = up;
    const Block *scope_symbol = node_block(scope)->block;
    const Stmt **items = ARENA_ARRAY(ctx->arena, const Stmt *, count + 1);
    for (int i = 0; i < count; i++)
        items[i] = nests[i];
    items[count] = top->stmt;
    sched_replace(sch, top->stmt, stmt_seq(ctx, items, count + 1));
    scope = schedule_find_block(sch, scope_symbol);
    BlockStmt allocating = *node_block(scope);
    allocating.allocs = ARENA_ARRAY(ctx->arena, Buffer *, allocating.alloc_count + count);
    for (int i = 0; i < node_block(scope)->alloc_count; i++)
        allocating.allocs[i] = node_block(scope)->allocs[i];
    for (int i = 0; i < count; i++)
        allocating.allocs[allocating.alloc_count++] = caches[i].buffer;
    sched_replace(sch, scope->stmt, stmt_block(ctx, allocating, scope->stmt->span));
}

/* What the block looks up has been computed, whenever it runs: so it is where the same loops fill the table. */
static bool check_looked_up_is_computed(Schedule *sch, const Block *user, const IndexCache *cache)
{
    const TreeNode *node = schedule_find_block(sch, cache->symbol);
    Answer answer = cache->by_loops ? answer_shown() : coverage_serves_reads(sch, node, cache->buffer, schedule_find_block(sch, user));
    if (!answer_is_shown(answer))
        return refuse_by_answer(sch, answer, "block '%s' %s look up what has not been computed", user->name, would_or_may(answer));
    return check_concurrent_loops_around(sch, node);
}

bool primitive_cache_index(Schedule *sch, const Value *args, Value *result)
{
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    if (!block || !check_block_has_scope(sch, block) || !check_storage_scope(sch, &args[1]))
        return false;
    Context *ctx = sch->ctx;
    const BlockStmt *user = node_block(block);
    Computations list = computations_of_axes(sch, block, args[2].as.integer);
    if (!list.count) {
        sched_refuse(sch, "block '%s' computes nothing from its axes alone%s", user->block->name, args[2].as.integer > 1 ? " so often" : "");
        return sched_note_node(sch, block);
    }
    IndexCache *caches = ARENA_ARRAY(ctx->arena, IndexCache, list.count);
    const Stmt **nests = ARENA_ARRAY(ctx->arena, const Stmt *, list.count);
    Value *handles = ARENA_ARRAY(ctx->arena, Value, list.count);
    int around_count;
    const TreeNode **around = schedule_loops_around(sch, block, &around_count);
    for (int i = 0; i < list.count; i++) {
        caches[i] = (IndexCache){.sch = sch, .user = user, .around = around, .around_count = around_count, .expr = list.data[i].expr};
        nests[i] = plan_cache(&caches[i], i, args[1].as.text);
        handles[i] = value_block(caches[i].symbol);
    }
    const Block *symbol = user->block;
    sched_replace(sch, block->stmt, user_with_look_ups(sch, block->stmt, &list, caches));
    insert_nests(sch, symbol, caches, nests, list.count);
    *result = value_list(ctx, handles, list.count);
    for (int i = 0; i < list.count; i++)
        if (!check_looked_up_is_computed(sch, symbol, &caches[i]))
            return false;
    return true;
}
