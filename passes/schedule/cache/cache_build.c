/* The edit of cache_read and cache_write: the block that copies, and the users of the buffer turned to the cache. See cache.h. */
#include "passes/regions/infer_regions.h"
#include "ir/walk.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/schedule/cache/cache.h"
#include "passes/schedule/check/checks.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/scope.h"

/* --- Turning to the cache --- */

typedef struct {
    const CachePlan *plan;
    Analyzer *an;
} Redirection;

/* INDEX of dimension DIM of the buffer as an index of the cache. */
static const Expr *shifted(const Redirection *redirection, const Expr *index, int dim)
{
    if (redirection->plan->whole[dim])
        return index;
    Context *ctx = analyzer_context(redirection->an);
    return analyzer_simplify(redirection->an, op_sub(ctx, index, redirection->plan->region.ranges[dim].min));
}

static const Expr *redirect_expr(Rewriter *rewriter, const Expr *expr)
{
    const Redirection *redirection = rewriter->data;
    const CachePlan *plan = redirection->plan;
    if (expr_is_var(expr, plan->buffer->data))
        return expr_var_at(rewriter->ctx, plan->cache->data, expr->span);
    expr = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD || expr->value.buffer != plan->buffer)
        return expr;
    const Expr **indices = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, plan->buffer->ndim);
    for (int d = 0; d < plan->buffer->ndim; d++)
        indices[d] = shifted(redirection, expr->args[d], d);
    return expr_load(rewriter->ctx, plan->cache, indices, plan->buffer->ndim, load_mask(expr), expr->span);
}

static void redirect_region(Rewriter *rewriter, Region *region)
{
    const Redirection *redirection = rewriter->data;
    if (region->buffer != redirection->plan->buffer)
        return;
    region->buffer = redirection->plan->cache;
    region->ranges = arena_copy(rewriter->ctx->arena, region->ranges, sizeof *region->ranges * (size_t)region->buffer->ndim);
    for (int d = 0; d < region->buffer->ndim; d++) {
        Range *range = &region->ranges[d];
        range->min = shifted(redirection, range->min, d);
        range->extent = op_cast(rewriter->ctx, range->min->dtype, range->extent); /* the shift may be of a wider type */
    }
}

static const Stmt *redirect_block(Rewriter *rewriter, const Stmt *stmt)
{
    stmt = rewrite_stmt_children(rewriter, stmt);
    BlockStmt block = stmt->as.block;
    Arena *arena = rewriter->ctx->arena;
    block.reads = arena_copy(arena, block.reads, sizeof *block.reads * (size_t)block.read_count);
    block.writes = arena_copy(arena, block.writes, sizeof *block.writes * (size_t)block.write_count);
    block.matches = arena_copy(arena, block.matches, sizeof *block.matches * (size_t)block.match_count);
    for (int i = 0; i < block.read_count; i++)
        redirect_region(rewriter, &block.reads[i]);
    for (int i = 0; i < block.write_count; i++)
        redirect_region(rewriter, &block.writes[i]);
    for (int i = 0; i < block.match_count; i++)
        redirect_region(rewriter, &block.matches[i].source);
    return stmt_block(rewriter->ctx, block, stmt->span);
}

static const Stmt *redirect_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const Redirection *redirection = rewriter->data;
    if (stmt->kind == STMT_BLOCK)
        return redirect_block(rewriter, stmt);
    stmt = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_STORE || stmt->as.store.buffer != redirection->plan->buffer)
        return stmt;
    Stmt copy = *stmt;
    copy.as.store.buffer = redirection->plan->cache;
    copy.as.store.indices = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, stmt->as.store.index_count);
    for (int d = 0; d < stmt->as.store.index_count; d++)
        copy.as.store.indices[d] = shifted(redirection, stmt->as.store.indices[d], d);
    return stmt_new(rewriter->ctx, &copy);
}

static const Stmt *use_cache(Schedule *sch, const CachePlan *plan, const Stmt *stmt)
{
    Redirection redirection = {plan, analyzer_new(sch->ctx)};
    Rewriter rewriter = {.ctx = sch->ctx, .expr = redirect_expr, .stmt = redirect_stmt, .data = &redirection};
    return rewrite_stmt(&rewriter, stmt);
}

/* --- The copying block --- */

/* An access of both sides: in the buffer at the region's place, in the cache at the iterator's. */
typedef struct {
    const Expr **buffer_indices, **cache_indices;
} CopyIndices;

/* The type of an axis from 0 to EXTENT that is bound to VALUE: the wider one, to which a constant adapts. */
static DType axis_type(const Expr *value, const Expr *extent)
{
    int64_t constant;
    bool adapts = expr_const_int(extent, &constant) && dtype_holds(value->dtype, constant);
    return adapts || value->dtype.bits >= extent->dtype.bits ? value->dtype : extent->dtype;
}

/* Fills in iterators, bindings and loop variables of the copying block. A cache of its own shape is indexed from the start of the
   region. */
static CopyIndices make_axes(Schedule *sch, const CachePlan *plan, BlockStmt *copy, Var **loops)
{
    Context *ctx = sch->ctx;
    int ndim = plan->buffer->ndim;
    CopyIndices indices = {ARENA_ARRAY(ctx->arena, const Expr *, ndim), ARENA_ARRAY(ctx->arena, const Expr *, ndim)};
    for (int d = 0; d < ndim; d++) {
        Range range = plan->region.ranges[d];
        loops[d] = var_new(ctx, context_internf(ctx, "ax%d", d), range.extent->dtype, sch->call_span);
        const Expr *loop = expr_var(ctx, loops[d]), *value = plan->whole[d] ? op_add(ctx, range.min, loop) : loop;
        const Expr *extent = plan->whole[d] ? plan->buffer->shape[d] : range.extent;
        DType type = axis_type(value, extent);
        Var *iter = var_new(ctx, context_internf(ctx, "v%d", d), type, sch->call_span);
        copy->iters[d] = (Iter){iter, {expr_int(ctx, type, 0), op_cast(ctx, type, extent)}, ITER_SPATIAL, sch->call_span};
        copy->bindings[d] = op_cast(ctx, type, value);
        indices.cache_indices[d] = expr_var(ctx, iter);
        indices.buffer_indices[d] = plan->whole[d] ? indices.cache_indices[d] : op_add(ctx, range.min, indices.cache_indices[d]);
    }
    return indices;
}

/* Keeps the copy inside of the buffer where the region may leave the buffer. Where the plan asks for it, keeps the copy to iterations in which the
   writer runs. */
static const Expr *copy_guard(Schedule *sch, const CachePlan *plan, Var *const *loops)
{
    Context *ctx = sch->ctx;
    const Expr *guard = plan->condition ? plan->condition : expr_bool(ctx, true);
    Analyzer *an = loops_context(sch, plan->anchor);
    for (int d = 0; d < plan->buffer->ndim; d++) {
        if (!plan->guarded[d])
            continue;
        const Expr *min = plan->region.ranges[d].min, *index = op_add(ctx, min, expr_var(ctx, loops[d])),
                   *zero = expr_int(ctx, min->dtype, 0);
        if (!analyzer_prove_symbolic(an, op_compare(ctx, EXPR_LE, zero, min)))
            guard = op_and(ctx, guard, op_compare(ctx, EXPR_LE, zero, index));
        guard = op_and(ctx, guard, op_compare(ctx, EXPR_LT, index, plan->buffer->shape[d]));
    }
    return guard;
}

/* That the copy stays in what DECLARED, a region of a block around the scope, holds, as far as that is not shown and can be said there. */
static const Expr *inside_declared(Schedule *sch, const CachePlan *plan, Analyzer *an, const Region *declared, Var *const *loops)
{
    Context *ctx = sch->ctx;
    const Expr *guard = expr_bool(ctx, true);
    for (int d = 0; d < plan->buffer->ndim; d++) {
        Range range = plan->region.ranges[d], around = declared->ranges[d];
        const Expr *index = op_add(ctx, range.min, expr_var(ctx, loops[d])), *end = op_add(ctx, around.min, around.extent);
        if (cache_uses_loop_around_scope(sch, plan, around.min) || cache_uses_loop_around_scope(sch, plan, around.extent))
            continue; /* it cannot be said here */
        /* the ends of the buffer are guarded already */
        if (!expr_is_int(around.min, 0) && !analyzer_prove_less_equal(an, around.min, range.min))
            guard = op_and(ctx, guard, op_compare(ctx, EXPR_LE, around.min, index));
        if (!expr_equal(end, plan->buffer->shape[d]) && !analyzer_prove_less_equal(an, op_add(ctx, range.min, range.extent), end))
            guard = op_and(ctx, guard, op_compare(ctx, EXPR_LT, index, end));
    }
    return guard;
}

/* What BLOCK, around the scope, declares of the buffer holds all that is needed of it: what it writes it may read back. What the writer in
   the scope has written lies in the writes. Where the region is not shown to lie inside of that, a guard keeps the copy there. */
static const Expr *declared_guard(Schedule *sch, const CachePlan *plan, Analyzer *an, const BlockStmt *block, bool copies_in,
                                  Var *const *loops)
{
    Context *ctx = sch->ctx;
    const Expr *always = expr_bool(ctx, true);
    const Region *reads = regions_find_only(block->reads, block->read_count, plan->buffer),
                 *writes = regions_find_only(block->writes, block->write_count, plan->buffer);
    if (!copies_in)
        return writes ? inside_declared(sch, plan, an, writes, loops) : always;
    if (plan->writer || !reads || (!writes && regions_find(block->writes, block->write_count, plan->buffer)))
        return always;
    const Expr *guard = inside_declared(sch, plan, an, reads, loops);
    return writes ? op_or(ctx, guard, inside_declared(sch, plan, an, writes, loops)) : guard;
}

static const Expr *guard_by_declared(Schedule *sch, const CachePlan *plan, bool copies_in, Var *const *loops, const Expr *guard)
{
    Analyzer *an = loops_context(sch, plan->anchor);
    for (const TreeNode *node = schedule_parent(sch, plan->scope); node; node = schedule_parent(sch, node))
        if (node->stmt->kind == STMT_BLOCK)
            guard = op_and(sch->ctx, guard, declared_guard(sch, plan, an, node_block(node), copies_in, loops));
    return guard;
}

void cache_declare_place_reads(Context *ctx, const Region *region, BlockStmt *copy)
{
    bool pure = true;
    for (int d = 0; d < region->buffer->ndim; d++)
        pure = pure && expr_is_pure(region->ranges[d].min) && expr_is_pure(region->ranges[d].extent);
    if (pure)
        return;
    Map no_buffers = {0};
    BlockRegions regions = infer_block_regions(ctx, copy, &no_buffers);
    copy->reads = regions.reads;
    copy->read_count = regions.read_count;
}

static const Stmt *make_copy(Schedule *sch, const CachePlan *plan, bool copies_in, Block *symbol)
{
    Context *ctx = sch->ctx;
    int ndim = plan->buffer->ndim;
    Var **loops = ARENA_ARRAY(ctx->arena, Var *, ndim);
    BlockStmt copy = {.block = symbol,
                      .iter_count = ndim,
                      .iters = ARENA_ARRAY(ctx->arena, Iter, ndim),
                      .bindings = ARENA_ARRAY(ctx->arena, const Expr *, ndim)};
    CopyIndices indices = make_axes(sch, plan, &copy, loops);
    Region buffer_region = region_point(ctx, plan->buffer, indices.buffer_indices),
           cache_region = region_point(ctx, plan->cache, indices.cache_indices);
    copy.predicate = guard_by_declared(sch, plan, copies_in, loops, copy_guard(sch, plan, loops));
    copy.reads = arena_copy(ctx->arena, copies_in ? &buffer_region : &cache_region, sizeof(Region));
    copy.writes = arena_copy(ctx->arena, copies_in ? &cache_region : &buffer_region, sizeof(Region));
    copy.read_count = copy.write_count = 1;
    const Expr **from = copies_in ? indices.buffer_indices : indices.cache_indices,
               **to = copies_in ? indices.cache_indices : indices.buffer_indices;
    const Expr *value = expr_load(ctx, copies_in ? plan->buffer : plan->cache, from, ndim, NULL, sch->call_span);
    copy.body = stmt_store(ctx, copies_in ? plan->cache : plan->buffer, to, ndim, value, NULL, sch->call_span);
    cache_declare_place_reads(ctx, &plan->region, &copy);
    const Stmt *stmt = stmt_block(ctx, copy, sch->call_span);
    for (int d = ndim - 1; d >= 0; d--)
        stmt = loops_serial(ctx, loops[d], plan->region.ranges[d].extent, stmt, sch->call_span);
    return stmt;
}

/* --- Putting all together --- */

typedef struct {
    Redirection redirection; /* first: redirect_expr works on it */
    Schedule *sch;
    const Stmt *anchor, *before, *after; /* the copies beside the anchor, or NULL */
    bool redirects; /* the expressions visited next belong to a stray that uses the cache */
} Edit;

static bool is_redirected_stray(const CachePlan *plan, const Stmt *stmt)
{
    for (int i = 0; i < plan->stray_count; i++)
        if (plan->strays[i]->stmt == stmt)
            return plan->stray_redirected[i];
    return false;
}

static const Stmt *edited_block(Edit *edit, const Stmt *stmt)
{
    const CachePlan *plan = edit->redirection.plan;
    for (int i = 0; i < plan->user_count; i++)
        if (plan->users[i]->stmt == stmt)
            return use_cache(edit->sch, plan, stmt);
    return stmt;
}

static const Stmt *edit_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Edit *edit = rewriter->data;
    edit->redirects = is_redirected_stray(edit->redirection.plan, stmt); /* own expressions are visited before the statements below */
    const Stmt *edited = stmt->kind == STMT_BLOCK ? edited_block(edit, stmt) : rewrite_stmt_children(rewriter, stmt);
    if (stmt != edit->anchor)
        return edited;
    const Stmt *items[3];
    int count = 0;
    if (edit->before)
        items[count++] = edit->before;
    items[count++] = edited;
    if (edit->after)
        items[count++] = edit->after;
    return stmt_seq(rewriter->ctx, items, count);
}

static const Expr *edit_expr(Rewriter *rewriter, const Expr *expr)
{
    const Edit *edit = rewriter->data;
    return edit->redirects ? redirect_expr(rewriter, expr) : expr;
}

/* Makes the edit with the copies BEFORE and AFTER the anchor, either of which may be NULL. */
static void apply(Schedule *sch, CachePlan *plan, const Stmt *before, const Stmt *after)
{
    Context *ctx = sch->ctx;
    Edit edit = {{plan, analyzer_new(ctx)}, sch, plan->anchor->stmt, before, after, false};
    Rewriter rewriter = {.ctx = ctx, .expr = edit_expr, .stmt = edit_stmt, .data = &edit};
    BlockStmt scope = *node_block(plan->scope);
    scope.body = rewrite_stmt(&rewriter, scope.body);
    scope.allocs = ARENA_ARRAY(ctx->arena, Buffer *, scope.alloc_count + 1);
    for (int i = 0; i < scope.alloc_count; i++)
        scope.allocs[i] = node_block(plan->scope)->allocs[i];
    scope.allocs[scope.alloc_count++] = plan->cache;
    sched_replace(sch, plan->scope->stmt, stmt_block(ctx, scope, plan->scope->stmt->span));
}

static Block *copy_symbol(Schedule *sch, const CachePlan *plan)
{
    return block_new(sch->ctx, context_internf(sch->ctx, "%s_%s", plan->buffer->name, plan->storage), sch->call_span);
}

void cache_apply_copy(Schedule *sch, CachePlan *plan, const Stmt *copy)
{
    apply(sch, plan, plan->after ? NULL : copy, plan->after ? copy : NULL);
}

Block *cache_apply(Schedule *sch, CachePlan *plan, bool copies_in)
{
    Block *symbol = copy_symbol(sch, plan);
    cache_apply_copy(sch, plan, make_copy(sch, plan, copies_in, symbol));
    return symbol;
}

void cache_apply_around(Schedule *sch, CachePlan *in, CachePlan *out, Block **copy_in, Block **copy_out)
{
    *copy_in = copy_symbol(sch, in);
    *copy_out = copy_symbol(sch, in);
    const Stmt *before = make_copy(sch, in, true, *copy_in), *after = make_copy(sch, out, false, *copy_out);
    apply(sch, in, before, after);
}

void cache_tell_runs_apart(Schedule *sch, Block *copy, int own_loops)
{
    Context *ctx = sch->ctx;
    const TreeNode *node = schedule_find_block(sch, copy);
    int count;
    const TreeNode **loops = schedule_loops_around(sch, node, &count);
    if (count <= own_loops || block_writes_scratch(sch, node) ||
        answer_is_shown(dependence_runs_once(ctx, schedule_func(sch), copy, node_loop(loops[0])->var)))
        return;
    BlockStmt block = *node_block(node);
    Iter *iters = ARENA_ARRAY(ctx->arena, Iter, block.iter_count + count);
    const Expr **bindings = ARENA_ARRAY(ctx->arena, const Expr *, block.iter_count + count);
    int axes = block.iter_count;
    for (int i = 0; i < axes; i++) {
        iters[i] = block.iters[i];
        bindings[i] = block.bindings[i];
    }
    for (int i = 0; i < count - own_loops; i++) {
        const ForStmt *loop = node_loop(loops[i]);
        bool named = expr_is_int(loop->extent, 1);
        for (int k = 0; k < block.iter_count; k++)
            named |= expr_is_var(block.bindings[k], loop->var);
        if (named)
            continue;
        Var *var = var_new(ctx, context_internf(ctx, "v%d", axes), loop->var->dtype, sch->call_span);
        iters[axes] = (Iter){var, {loop->min, loop->extent}, ITER_OPAQUE, sch->call_span};
        bindings[axes++] = expr_var(ctx, loop->var);
    }
    block.iters = iters;
    block.bindings = bindings;
    block.iter_count = axes;
    sched_replace(sch, node->stmt, stmt_block(ctx, block, node->stmt->span));
}
