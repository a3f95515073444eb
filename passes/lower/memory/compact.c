/* Pass "compact": allocated buffers shrink to the region that is accessed where they live.

     for i, k in T.grid(64, 64):                            for i, k in T.grid(64, 64):
         A_reg = T.decl_buffer((1024, 1024))                    A_reg = T.decl_buffer((16, 16))
         for ax0, ax1 in T.grid(16, 16):             ->         for ax0, ax1 in T.grid(16, 16):
             A_reg[i * 16 + ax0, k * 16 + ax1] = ...                A_reg[ax0, ax1] = ...

   The region is a box that holds every access, whatever condition it stands under; it is cut to the buffer's shape, beyond which no access
   goes. A dimension whose bounds are not known keeps its extent. A buffer whose own pointer is used keeps its layout; through match_buffer
   the region of the view counts, and strides that a view states and the whole buffer has stay. An extent that varies becomes its greatest
   value where that is a constant.

   storage_align: rows [axis, factor, offset] of the allocation's annotation "buffer_dim_align" make the stride of the axis congruent to
   offset modulo factor. */
#include "passes/lower/memory/needed.h"
#include "passes/lower/memory/views.h"

#define DIM_ALIGN "buffer_dim_align"

typedef struct {
    Context *ctx;
    const Func *func;
    LoopNames *names;
    VEC(const Stmt *) around;
} Compactor;

/* --- The new shape --- */
/* [0, SHAPE) */
static Range whole_dimension(Context *ctx, const Expr *shape)
{
    return (Range){expr_int(ctx, shape->dtype, 0), shape};
}

/* The largest constant that stands for an extent within a symbolic one: a larger one may come from nothing but the limits of the type. */
enum { MOST_CONSTANT = 65536 };

/* LO to HI as a range within [0, SHAPE), of a constant extent where there is one. The elements below 0, which no access reaches, do not count
   once the extent is cut at SHAPE. */
static Range settle_range(Analyzer *an, const Expr *lo, const Expr *hi, const Expr *shape)
{
    Context *ctx = analyzer_context(an);
    const Expr *extent = analyzer_simplify(an, op_add_int(ctx, op_sub(ctx, hi, lo), 1));
    IntBound bound = analyzer_bound(an, extent);
    int64_t whole;
    bool known = bound.max <= MOST_CONSTANT || (expr_const_int(shape, &whole) && bound.max != BOUND_POS_INF);
    if (known && dtype_holds(shape->dtype, bound.max))
        return (Range){lo, expr_int(ctx, shape->dtype, bound.max > 1 ? bound.max : 1)};
    extent = op_cast(ctx, shape->dtype, extent);
    if (!analyzer_prove_at_least(an, extent, 0))
        extent = op_max(ctx, extent, expr_int(ctx, shape->dtype, 0));
    if (!analyzer_prove_less_equal(an, extent, shape)) {
        extent = op_min(ctx, extent, shape);
        if (!analyzer_prove_at_least(an, lo, 0))
            lo = op_max(ctx, lo, expr_int(ctx, lo->dtype, 0));
    }
    return (Range){lo, analyzer_guard_divisors(an, analyzer_simplify(an, extent))};
}

/* The part of a dimension of extent SHAPE that NEEDED leaves. */
static Range shrink_dimension(Analyzer *an, IntSet needed, const Expr *shape)
{
    Context *ctx = analyzer_context(an);
    Range whole = whole_dimension(ctx, shape);
    if (needed.empty || !int_set_is_bounded(needed))
        return whole;
    const Expr *lo = analyzer_simplify(an, needed.min), *hi = analyzer_simplify(an, needed.max), *last = op_add_int(ctx, shape, -1);
    if (analyzer_prove_less_equal(an, lo, expr_int(ctx, lo->dtype, 0)))
        lo = whole.min;
    if (analyzer_prove(an, op_compare(ctx, EXPR_GE, hi, last)))
        hi = last;
    Range settled = settle_range(an, lo, hi, shape);
    return analyzer_prove(an, op_compare(ctx, EXPR_GE, settled.extent, shape)) ? whole : settled;
}

/* --- Strides that views state --- */
typedef struct {
    Analyzer *an;
    LoopNames *names;
    Views views;
    int fixed; /* the first dimension of the root that must keep its extent, since a stride before it is stated */
} StatedStrides;

static void note_strides(StatedStrides *stated, const Buffer *view)
{
    Context *ctx = analyzer_context(stated->an);
    int missing = stated->views.root->ndim - view->ndim;
    for (int d = 0; view->strides && d < view->ndim; d++) {
        const Expr *real = buffer_stride(ctx, stated->views.root, d + missing), *stride = op_cast(ctx, real->dtype, view->strides[d]);
        if (!expr_is_int(view->shape[d], 1) && analyzer_prove_equal(stated->an, stride, real) && d + missing + 1 < stated->fixed)
            stated->fixed = d + missing + 1;
    }
}

static bool find_stated_strides(Visitor *visitor, const Stmt *stmt)
{
    StatedStrides *stated = visitor->data;
    int known = stated->views.items.count;
    if (stmt->kind == STMT_FOR && known == 1 && !loop_names_buffer(stated->names, stmt, stated->views.root))
        return false;
    if (stmt->kind == STMT_BLOCK)
        views_add_block(analyzer_context(stated->an), &stated->views, &stmt->as.block);
    for (int i = known; i < stated->views.items.count; i++)
        note_strides(stated, stated->views.items.data[i].target);
    return true;
}

/* The dimension of BUFFER from which on BODY relies on its extents: views of it state the strides that these make. ndim: on none. */
static int first_fixed_dimension(Analyzer *an, LoopNames *names, const Stmt *body, const Buffer *buffer)
{
    StatedStrides stated = {an, names, views_new(analyzer_context(an), buffer), buffer->ndim};
    Visitor visitor = {.stmt = find_stated_strides, .data = &stated};
    visit_stmt(&visitor, body);
    return stated.fixed;
}

/* --- storage_align --- */
static bool row_values(const AttrValue *row, int64_t *values)
{
    if (row->kind != ATTR_LIST || row->count != 3)
        return false;
    for (int i = 0; i < 3; i++)
        if (row->items[i]->kind != ATTR_EXPR || !expr_const_int(row->items[i]->expr, &values[i]))
            return false;
    return values[1] > 0;
}

/* STRIDE raised until it is OFFSET modulo FACTOR. */
static const Expr *align_stride(Context *ctx, const Expr *stride, int64_t factor, int64_t offset)
{
    const Expr *modulus = expr_int(ctx, stride->dtype, factor);
    const Expr *distance = op_sub(ctx, expr_int(ctx, stride->dtype, factor + offset % factor), op_floormod(ctx, stride, modulus));
    return op_add(ctx, stride, op_floormod(ctx, distance, modulus));
}

/* Gives BUFFER strides by ROWS; the number of elements to allocate, or NULL where no row applies. */
static const Expr *align_strides(Analyzer *an, Buffer *buffer, const AttrValue *rows)
{
    Context *ctx = analyzer_context(an);
    const Expr **strides = ARENA_ARRAY(ctx->arena, const Expr *, buffer->ndim);
    const Expr *stride = expr_int(ctx, buffer_index_dtype(buffer), 1);
    bool aligned = false;
    for (int d = buffer->ndim - 1; d >= 0; d--) {
        for (int i = 0; i < rows->count; i++) {
            int64_t values[3];
            if (!row_values(rows->items[i], values) || (values[0] != d && values[0] + buffer->ndim != d))
                continue;
            stride = align_stride(ctx, stride, values[1], values[2]);
            aligned = true;
        }
        strides[d] = analyzer_simplify(an, stride);
        stride = op_mul(ctx, strides[d], buffer->shape[d]);
    }
    if (!aligned)
        return NULL;
    buffer->strides = strides;
    return analyzer_simplify(an, stride);
}

/* --- Rewriting the accesses --- */
typedef struct {
    Analyzer *an;
    LoopNames *names;
    Buffer *old, *new;
    Range *box; /* what of OLD is left */
} Shift;

static const Expr *shift_index(Shift *shift, const Expr *index, int dim)
{
    Context *ctx = analyzer_context(shift->an);
    const Expr *min = shift->box[dim].min;
    return expr_is_int(min, 0) ? index : analyzer_simplify(shift->an, op_sub(ctx, index, min));
}

static const Expr *shift_in_expr(Rewriter *rewriter, const Expr *expr)
{
    Shift *shift = rewriter->data;
    const Expr *result = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD || expr->value.buffer != shift->old)
        return result;
    const Expr **indices = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, shift->old->ndim);
    for (int d = 0; d < shift->old->ndim; d++)
        indices[d] = shift_index(shift, result->args[d], d);
    return expr_load(rewriter->ctx, shift->new, indices, shift->old->ndim, load_mask(result), expr->span);
}

/* REGION, still of the old buffer, moved; a declared region that may reach beyond what is left becomes all of that. */
static Region shift_region(Shift *shift, Region region, bool declared)
{
    Context *ctx = analyzer_context(shift->an);
    if (region.buffer != shift->old)
        return region;
    Region result = {region.buffer, ARENA_ARRAY(ctx->arena, Range, region.buffer->ndim), region.span};
    for (int d = 0; d < region.buffer->ndim; d++) {
        Range range = {shift_index(shift, region.ranges[d].min, d), region.ranges[d].extent};
        range.extent = op_cast(ctx, range.min->dtype, range.extent); /* the buffer may be indexed in another type */
        const Expr *end = op_add(ctx, range.min, range.extent), *zero = expr_int(ctx, range.min->dtype, 0);
        bool fits = analyzer_prove_less_equal(shift->an, zero, range.min) &&
                    analyzer_prove(shift->an, op_compare(ctx, EXPR_LE, end, shift->box[d].extent));
        result.ranges[d] = declared && !fits ? whole_dimension(ctx, shift->box[d].extent) : range;
    }
    return result;
}

static const Stmt *shift_block(Shift *shift, Context *ctx, const Stmt *stmt)
{
    Stmt copy = *stmt;
    BlockStmt *block = &copy.as.block;
    AnalyzerScope scope = analyzer_enter(shift->an);
    facts_assume(shift->an, block->predicate);
    block->reads = arena_copy(ctx->arena, block->reads, sizeof *block->reads * (size_t)block->read_count);
    block->writes = arena_copy(ctx->arena, block->writes, sizeof *block->writes * (size_t)block->write_count);
    block->matches = arena_copy(ctx->arena, block->matches, sizeof *block->matches * (size_t)block->match_count);
    for (int i = 0; i < block->read_count; i++)
        block->reads[i] = shift_region(shift, block->reads[i], true);
    for (int i = 0; i < block->write_count; i++)
        block->writes[i] = shift_region(shift, block->writes[i], true);
    for (int i = 0; i < block->match_count; i++)
        block->matches[i].source = shift_region(shift, block->matches[i].source, false);
    analyzer_leave(shift->an, scope);
    return stmt_new(ctx, &copy);
}

static const Stmt *shift_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Shift *shift = rewriter->data;
    if (stmt->kind == STMT_FOR && !loop_names_buffer(shift->names, stmt, shift->old))
        return stmt;
    if (stmt->kind == STMT_BLOCK)
        return rewrite_stmt_children(rewriter, shift_block(shift, rewriter->ctx, stmt));
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (stmt->kind != STMT_STORE || stmt->as.store.buffer != shift->old)
        return result;
    Stmt copy = *result;
    copy.as.store.indices = ARENA_ARRAY(rewriter->ctx->arena, const Expr *, shift->old->ndim);
    for (int d = 0; d < shift->old->ndim; d++)
        copy.as.store.indices[d] = shift_index(shift, result->as.store.indices[d], d);
    return stmt_new(rewriter->ctx, &copy);
}

static Buffer *shift_buffer(Rewriter *rewriter, Buffer *buffer)
{
    Shift *shift = rewriter->data;
    return buffer == shift->old ? shift->new : buffer;
}

/* --- The pass --- */
/* What holds where the allocation stands. */
static Analyzer *facts_around(const Compactor *compactor)
{
    Analyzer *an = analyzer_new(compactor->ctx);
    facts_bind_sizes(an, compactor->func);
    for (int i = 0; i < compactor->around.count; i++)
        facts_bind_stmt(an, compactor->around.data[i]);
    return an;
}

/* NEEDED by each of the threads that share BUFFER, though a loop over them is around the allocation. */
static void relax_threads(const Compactor *compactor, Analyzer *an, const Buffer *buffer, IntSet *needed)
{
    Context *ctx = compactor->ctx;
    for (int i = compactor->around.count - 1; i >= 0; i--) {
        const Stmt *stmt = compactor->around.data[i];
        if (stmt->kind != STMT_FOR || stmt->as.loop.kind != FOR_THREAD || !scope_is_shared_by(buffer->scope, stmt->as.loop.thread))
            continue;
        VarRange range = {stmt->as.loop.var, {stmt->as.loop.min, stmt->as.loop.extent}};
        Domain domain = domain_from_ranges(ctx, &range, 1);
        for (int d = 0; d < buffer->ndim; d++) {
            if (needed[d].empty)
                continue;
            if (needed[d].min)
                needed[d].min = int_set_eval(an, needed[d].min, &domain).min;
            if (needed[d].max)
                needed[d].max = int_set_eval(an, needed[d].max, &domain).max;
        }
    }
}

static const Stmt *compact_allocation(const Compactor *compactor, const Stmt *stmt, Buffer *old)
{
    Context *ctx = compactor->ctx;
    const Stmt *body = stmt->as.allocate.body->as.declare.body;
    Analyzer *an = facts_around(compactor), *outside = facts_around(compactor); /* AN comes to know what holds in the loops below only */
    IntSet *needed = ARENA_ARRAY(ctx->arena, IntSet, old->ndim);
    if (!needed_region(an, compactor->names, body, old, needed))
        return stmt;
    relax_threads(compactor, an, old, needed);
    Buffer *new = buffer_clone(ctx, old);
    Shift shift = {an, compactor->names, old, new, ARENA_ARRAY(ctx->arena, Range, old->ndim)};
    new->shape = ARENA_ARRAY(ctx->arena, const Expr *, old->ndim);
    Attrs annotations = stmt->as.allocate.annotations;
    const AttrValue *rows = attrs_get(annotations, DIM_ALIGN);
    bool same = !rows;
    int fixed = first_fixed_dimension(outside, compactor->names, body, old);
    for (int d = 0; d < old->ndim; d++) {
        shift.box[d] = d < fixed ? shrink_dimension(outside, needed[d], old->shape[d]) : whole_dimension(ctx, old->shape[d]);
        new->shape[d] = shift.box[d].extent;
        same &= new->shape[d] == old->shape[d];
    }
    if (same)
        return stmt;
    const Expr *padded = rows && rows->kind == ATTR_LIST ? align_strides(an, new, rows) : NULL;
    Rewriter rewriter = {.ctx = ctx, .expr = shift_in_expr, .stmt = shift_in_stmt, .buffer = shift_buffer, .data = &shift};
    body = rewrite_stmt(&rewriter, body);
    Stmt result = *stmt_allocate_buffer(ctx, new, attrs_remove(ctx, annotations, DIM_ALIGN), body, stmt->span);
    if (padded)
        result.as.allocate.extents[0] = padded;
    return stmt_new(ctx, &result);
}

static const Stmt *compact_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Compactor *compactor = rewriter->data;
    vec_push(rewriter->ctx->arena, &compactor->around, stmt);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    compactor->around.count--;
    Buffer *buffer = stmt_allocated_buffer(result);
    return buffer && buffer->ndim ? compact_allocation(compactor, result, buffer) : result;
}

const Func *lower_compact(LowerState *state, const Func *func)
{
    LoopNames names = {.arena = state->ctx->arena};
    Compactor compactor = {.ctx = state->ctx, .func = func, .names = &names};
    Rewriter rewriter = {.ctx = state->ctx, .stmt = compact_in_stmt, .data = &compactor};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
