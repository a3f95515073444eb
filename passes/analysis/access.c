/* Collecting accesses; see access.h. */
#include "passes/analysis/access.h"

#include <string.h>

#include "ir/walk.h"
#include "ir/wrap.h"
#include "passes/analysis/access_flat.h"
#include "passes/analysis/reduction.h"

/* A view: its data variable and where it lies in the buffer below. */
typedef struct {
    const Region *source;
} View;

typedef struct {
    Context *ctx;
    AccessList accesses;
    const Frame *frame;
    const Func *func;
    const BlockStmt *block; /* innermost */
    const Reduction *reduction; /* the recognized reduction that the walk is in, and its block */
    const BlockStmt *group;
    const Stmt *stmt;
    Map views;     /* data Var -> View */
    Map canonical; /* data Var -> Buffer whose layout indices are compared in */
    Map flats;     /* data Var -> the flat Buffer of all that have it, where their layouts differ */
    const Expr *one; /* the extent of the last index */
} Collector;

static const Frame *push(Collector *collector, Frame frame)
{
    frame.outer = collector->frame;
    frame.depth = collector->frame ? collector->frame->depth + 1 : 0;
    return collector->frame = arena_copy(collector->ctx->arena, &frame, sizeof frame);
}

/* --- accesses --- */

/* The index alone: nearly all are, so they share their extents. */
static Range point(Collector *collector, const Expr *index)
{
    if (!collector->one || !dtype_equal(collector->one->dtype, index->dtype))
        collector->one = expr_int(collector->ctx, index->dtype, 1);
    return (Range){index, collector->one};
}

static Range index_range(Collector *collector, const Expr *index)
{
    Context *ctx = collector->ctx;
    if (index->dtype.lanes == 1)
        return point(collector, index);
    int64_t stride;
    if (index->kind == EXPR_RAMP && expr_const_int(index->args[1], &stride) && stride > 0)
        return (Range){index->args[0], expr_int(ctx, index->args[0]->dtype, stride * (index->dtype.lanes - 1) + 1)};
    if (index->kind == EXPR_BROADCAST && index->args[0]->dtype.lanes == 1)
        return point(collector, index->args[0]);
    return (Range){NULL, NULL};
}

/* REGION of a view in coordinates of the buffer below: leading dimensions of the source that the view lacks are points. */
static Region compose_view(Context *ctx, const Region *source, Region region)
{
    int lead = source->buffer->ndim - region.buffer->ndim;
    Region below = {source->buffer, ARENA_ARRAY(ctx->arena, Range, source->buffer->ndim), region.span};
    for (int i = 0; i < source->buffer->ndim; i++) {
        if (i < lead)
            below.ranges[i] = source->ranges[i];
        else
            below.ranges[i] = (Range){op_add(ctx, source->ranges[i].min, region.ranges[i - lead].min), region.ranges[i - lead].extent};
    }
    return below;
}

static bool same_layout(const Buffer *a, const Buffer *b)
{
    if (a == b)
        return true;
    if (a->ndim != b->ndim || a->strides || b->strides || !expr_equal(a->elem_offset, b->elem_offset) || !dtype_equal(a->dtype, b->dtype))
        return false;
    for (int i = 1; i < a->ndim; i++)
        if (!expr_equal(a->shape[i], b->shape[i]))
            return false;
    return true;
}

/* BLOCK has an init that runs once although the loop over VAR, to which only reduce axes of it are bound, has no iteration. */
static bool init_outlives(const BlockStmt *block, const Var *var)
{
    return block->init && block_only_reduces_over(block, var);
}

/* What is at FRAME is in LOOP, of no iteration, and not in an init that runs all the same. */
static bool is_idle_in(const Frame *frame, const Frame *loop)
{
    for (const Frame *around = frame; around != loop; around = around->outer)
        if (around->kind == FRAME_BLOCK && init_outlives(&around->stmt->as.block, loop->var) && frame_in_init(frame, around))
            return false;
    return true;
}

static bool never_runs(const Frame *frame)
{
    for (const Frame *loop = frame; loop; loop = loop->outer)
        if (loop->kind == FRAME_LOOP && stmt_is_empty_loop(loop->stmt) && is_idle_in(frame, loop))
            return true;
    return false;
}

static void add_access(Collector *collector, Region region, bool whole, bool write, Span span)
{
    Context *ctx = collector->ctx;
    const Buffer *buffer = region.buffer;
    const View *view;
    while ((view = map_get(&collector->views, region.buffer->data))) {
        whole |= view->source->buffer->ndim < region.buffer->ndim;
        region = whole ? region_whole(ctx, view->source->buffer) : compose_view(ctx, view->source, region);
    }
    Buffer *flat = map_get(&collector->flats, region.buffer->data);
    if (flat && (whole || !region_flatten(ctx, &region, flat, &region))) {
        whole = true;
        region = region_whole(ctx, flat);
    }
    Buffer *canonical = map_get(&collector->canonical, region.buffer->data);
    if (!canonical)
        map_set(ctx->arena, &collector->canonical, region.buffer->data, canonical = region.buffer);
    Access access = {.frame = collector->frame,
                     .data = region.buffer->data,
                     .buffer = canonical,
                     .region = region,
                     .write = write,
                     .viewed = region.buffer != buffer,
                     .never = never_runs(collector->frame),
                     .order = write,
                     .span = span};
    access.whole = whole || !same_layout(canonical, region.buffer);
    access.block = collector->block ? collector->block->block : NULL;
    access.stmt = collector->stmt;
    access.func = collector->func;
    if (collector->reduction && reduction_owns(collector->reduction, buffer)) {
        access.group = collector->group->block;
        access.initialized = collector->group->init != NULL;
    }
    vec_push(ctx->arena, &collector->accesses, access);
}

static void add_indexed(Collector *collector, Buffer *buffer, const Expr *const *indices, bool write, Span span)
{
    Region region = {buffer, ARENA_ARRAY(collector->ctx->arena, Range, buffer->ndim), span};
    bool whole = false;
    for (int i = 0; i < buffer->ndim; i++) {
        region.ranges[i] = index_range(collector, indices[i]);
        whole |= !region.ranges[i].min;
    }
    add_access(collector, whole ? region_whole(collector->ctx, buffer) : region, whole, write, span);
}

/* What a call may touch that says nothing of it: the declared regions of the block around, or anything. */
static void add_opaque(Collector *collector, Span span)
{
    const BlockStmt *block = collector->block;
    bool declared = block && block->iter_count + block->read_count + block->write_count > 0;
    if (!declared) {
        Access access = {
            .frame = collector->frame, .write = true, .whole = true, .fence = true, .order = 1, .stmt = collector->stmt, .span = span};
        access.block = block ? block->block : NULL;
        vec_push(collector->ctx->arena, &collector->accesses, access);
        return;
    }
    for (int i = 0; i < block->read_count; i++)
        add_access(collector, block->reads[i], false, false, span);
    for (int i = 0; i < block->write_count; i++)
        add_access(collector, block->writes[i], false, true, span);
}

static bool visit_read(Visitor *visitor, const Expr *expr);

static void collect_reads(Collector *collector, const Expr *expr)
{
    Visitor visitor = {.expr = visit_read, .data = collector};
    visit_expr(&visitor, expr);
}

/* --- values --- */

/* What the variables bound by the frames from DATA outwards may be. */
static bool find_bound(const void *data, const Var *var, WrapBound *bound)
{
    const Frame *frame = data;
    while (frame && frame->var != var)
        frame = frame->outer;
    WrapScope outside = {find_bound, frame ? frame->outer : NULL};
    if (frame)
        *bound = frame->range.min ? wrap_bound_of_range(&outside, frame->range) : wrap_bound(&outside, frame->value);
    return frame;
}

/* VALUE, of a condition or let, whose arithmetic wraps. */
static const Expr *wrapping(const Collector *collector, const Expr *value)
{
    WrapScope scope = {find_bound, collector->frame};
    return wrap_explicitly(collector->ctx, &scope, value);
}

/* STMT: the if statement whose condition it is, or NULL. */
static void push_condition(Collector *collector, const Expr *condition, bool negated, const Stmt *stmt)
{
    push(collector, (Frame){.kind = FRAME_CONDITION, .value = wrapping(collector, condition), .negated = negated, .stmt = stmt});
}

/* The branches of if_then_else are evaluated only under their condition. */
static void collect_choice(Collector *collector, const Expr *expr)
{
    const Frame *outside = collector->frame;
    collect_reads(collector, expr->args[0]);
    for (int i = 1; i <= 2; i++) {
        push_condition(collector, expr->args[0], i == 2, NULL);
        collect_reads(collector, expr->args[i]);
        collector->frame = outside;
    }
}

/* The right operand of "and" is evaluated only where the left one holds, that of "or" where it does not. */
static void collect_right_operand(Collector *collector, const Expr *expr)
{
    const Frame *outside = collector->frame;
    collect_reads(collector, expr->args[0]);
    push_condition(collector, expr->args[0], expr->kind == EXPR_OR, NULL);
    collect_reads(collector, expr->args[1]);
    collector->frame = outside;
}

/* A jump concerns the innermost loop. */
static void note_jump(Collector *collector)
{
    const Frame *frame = collector->frame;
    while (frame && frame->kind != FRAME_LOOP)
        frame = frame->outer;
    if (frame)
        ((Frame *)frame)->unsure = true; /* still being built */
}

static bool visit_read(Visitor *visitor, const Expr *expr)
{
    Collector *collector = visitor->data;
    if (expr_is_call(expr, OP_BREAK_LOOP) || expr_is_call(expr, OP_CONTINUE_LOOP))
        note_jump(collector);
    if ((expr->kind == EXPR_AND || expr->kind == EXPR_OR) && !expr_is_pure(expr->args[1])) {
        collect_right_operand(collector, expr);
        return false;
    }
    if (expr->kind == EXPR_LOAD)
        add_indexed(collector, expr->value.buffer, expr->args, false, expr->span);
    if (expr_is_call(expr, OP_IF_THEN_ELSE)) {
        collect_choice(collector, expr);
        return false;
    }
    if (expr_is_call(expr, OP_ADDRESS_OF) || expr_is_call(expr, OP_TVM_ACCESS_PTR))
        return false; /* the call around decides */
    if (expr->kind == EXPR_CALL && op_info(expr->value.op)->effect == EFFECT_OPAQUE && expr->value.op != OP_ASSUME)
        add_opaque(collector, expr->span);
    return true;
}

/* --- statements --- */

static void collect_stmt(Collector *collector, const Stmt *stmt);

static void collect_at(Collector *collector, const Stmt *stmt, int position)
{
    const Frame *outside = collector->frame;
    push(collector, (Frame){.kind = FRAME_POSITION, .position = position});
    collect_stmt(collector, stmt);
    collector->frame = outside;
}

/* A block below has an init that outlives the loop over VAR. */
typedef struct {
    const Var *var;
    bool found;
} InitSearch;

static bool find_init(Visitor *visitor, const Stmt *stmt)
{
    InitSearch *search = visitor->data;
    search->found |= stmt->kind == STMT_BLOCK && init_outlives(&stmt->as.block, search->var);
    return !search->found;
}

/* What LOOP runs over. One of no iteration that has an init to run counts as one iteration. */
static Range loop_range(Context *ctx, const ForStmt *loop)
{
    InitSearch search = {.var = loop->var};
    Visitor visitor = {.stmt = find_init, .data = &search};
    if (expr_is_int(loop->extent, 0))
        visit_stmt(&visitor, loop->body);
    return (Range){loop->min, search.found ? expr_int(ctx, loop->extent->dtype, 1) : loop->extent};
}

static void collect_loop(Collector *collector, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    collect_reads(collector, loop->min);
    collect_reads(collector, loop->extent);
    push(collector, (Frame){.kind = FRAME_LOOP, .var = loop->var, .range = loop_range(collector->ctx, loop), .stmt = stmt});
    collect_stmt(collector, loop->body);
}

/* BLOCK reduces nothing itself: what is reduced below it is up to the block inside, whose init it may be. */
static bool only_wraps(const BlockStmt *block)
{
    const Stmt *body = block->body;
    while (body->kind == STMT_FOR)
        body = body->as.loop.body;
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind != ITER_SPATIAL)
            return false;
    return !block->init && body->kind == STMT_BLOCK;
}

static void collect_block(Collector *collector, const Stmt *stmt)
{
    const BlockStmt *block = &stmt->as.block, *outer_block = collector->block;
    const Reduction *outer_reduction = collector->reduction;
    const BlockStmt *outer_group = collector->group;
    for (int i = 0; i < block->iter_count; i++)
        collect_reads(collector, block->bindings[i]);
    collect_reads(collector, block->predicate);
    push(collector, (Frame){.kind = FRAME_BLOCK, .stmt = stmt});
    push(collector, (Frame){.kind = FRAME_CONDITION, .value = block->predicate});
    for (int i = 0; i < block->iter_count; i++)
        push(collector, (Frame){.kind = FRAME_BIND,
                                .var = block->iters[i].var,
                                .range = block->iters[i].domain,
                                .value = block->bindings[i],
                                .identity = true});
    for (int i = 0; i < block->match_count; i++) {
        View view = {&block->matches[i].source};
        map_set(collector->ctx->arena, &collector->views, block->matches[i].target->data,
                arena_copy(collector->ctx->arena, &view, sizeof view));
    }
    collector->block = block;
    if (!outer_reduction && !only_wraps(block)) {
        const Reduction *reduction = reduction_recognize(collector->ctx, block);
        collector->reduction = reduction && reduction_starts_targets(reduction, block) ? reduction : NULL;
        collector->group = block;
    }
    if (block->init)
        collect_at(collector, block->init, 0);
    collect_at(collector, block->body, 1);
    collector->block = outer_block;
    collector->reduction = outer_reduction;
    collector->group = outer_group;
}

static void collect_branch(Collector *collector, const Stmt *stmt)
{
    const Frame *outside = collector->frame;
    collect_reads(collector, stmt->as.branch.condition);
    push_condition(collector, stmt->as.branch.condition, false, stmt);
    collect_at(collector, stmt->as.branch.then_body, 0);
    collector->frame = outside;
    if (!stmt->as.branch.else_body)
        return;
    push_condition(collector, stmt->as.branch.condition, true, stmt);
    collect_at(collector, stmt->as.branch.else_body, 1);
}

static void collect_while(Collector *collector, const Stmt *stmt)
{
    /* The iterations have no variable: one of an unbounded range stands for them. */
    Var *var = var_new(collector->ctx, context_intern(collector->ctx, "iteration"), DTYPE_INT64, stmt->span);
    Range range = {expr_int(collector->ctx, DTYPE_INT64, 0), expr_int(collector->ctx, DTYPE_INT64, INT64_MAX / 4)};
    push(collector, (Frame){.kind = FRAME_LOOP, .var = var, .range = range, .stmt = stmt, .unsure = true});
    collect_reads(collector, stmt->as.while_loop.condition);
    collect_stmt(collector, stmt->as.while_loop.body);
}

static void collect_stmt(Collector *collector, const Stmt *stmt)
{
    const Frame *outside = collector->frame;
    const Stmt *outer_stmt = collector->stmt;
    collector->stmt = stmt;
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count; i++)
            collect_at(collector, stmt->as.seq.items[i], i);
        break;
    case STMT_FOR: collect_loop(collector, stmt); break;
    case STMT_WHILE: collect_while(collector, stmt); break;
    case STMT_BLOCK: collect_block(collector, stmt); break;
    case STMT_IF: collect_branch(collector, stmt); break;
    case STMT_LET:
        collect_reads(collector, stmt->as.let.value);
        push(collector, (Frame){.kind = FRAME_BIND, .var = stmt->as.let.var, .value = wrapping(collector, stmt->as.let.value)});
        collect_stmt(collector, stmt->as.let.body);
        break;
    case STMT_STORE:
        for (int i = 0; i < stmt->as.store.index_count; i++)
            collect_reads(collector, stmt->as.store.indices[i]);
        collect_reads(collector, stmt->as.store.value);
        add_indexed(collector, stmt->as.store.buffer, stmt->as.store.indices, true, stmt->span);
        break;
    case STMT_EVALUATE: collect_reads(collector, stmt->as.evaluate); break;
    case STMT_ASSERT:
        collect_reads(collector, stmt->as.assertion.condition);
        collect_stmt(collector, stmt->as.assertion.body);
        break;
    default: collect_stmt(collector, stmt_body(stmt)); break;
    }
    collector->frame = outside;
    collector->stmt = outer_stmt;
}

/* --- the cache --- */

/* A schedule step asks several times for the accesses of the program before it and of the one after it, which is the one before the next
   step. Each list has an arena, which the list that takes its place uses again: the memory stays small and near. */
typedef struct {
    const Func *func;
    AccessList list;
    Arena *arena;
    uint64_t last_use; /* 0: never */
} KeptList;
typedef struct {
    KeptList kept[ACCESS_LISTS_KEPT];
    uint64_t uses;
} AccessCache;

static void release_cache(void *handle)
{
    AccessCache *cache = handle;
    for (int i = 0; i < ACCESS_LISTS_KEPT; i++)
        arena_free(cache->kept[i].arena);
}

static AccessCache *access_cache(Context *ctx)
{
    if (!ctx->accesses.handle)
        ctx->accesses = (Resource){ARENA_NEW(ctx->base_arena, AccessCache), release_cache};
    return ctx->accesses.handle;
}

static AccessList collect_func(Context *ctx, const Func *func, int expected)
{
    Collector collector = {.ctx = ctx, .func = func, .flats = flat_buffers_collect(ctx, func)};
    vec_reserve(ctx->arena, &collector.accesses, expected);
    collect_stmt(&collector, func->body);
    return collector.accesses;
}

/* Collects into ARENA. */
static AccessList collect_into(Context *ctx, Arena *arena, const Func *func, int expected)
{
    Arena *outside = ctx->arena;
    ctx->arena = arena;
    AccessList list = collect_func(ctx, func, expected);
    ctx->arena = outside;
    return list;
}

AccessList access_collect(Context *ctx, const Func *func)
{
    if (ctx->arena != ctx->base_arena) /* FUNC may be released before the context */
        return collect_func(ctx, func, 0);
    AccessCache *cache = access_cache(ctx);
    KeptList *oldest = &cache->kept[0];
    cache->uses++;
    for (int i = 0; i < ACCESS_LISTS_KEPT; i++) {
        KeptList *kept = &cache->kept[i];
        if (kept->func == func) {
            kept->last_use = cache->uses;
            return kept->list;
        }
        oldest = kept->last_use < oldest->last_use ? kept : oldest;
    }
    if (oldest->arena)
        arena_reset(oldest->arena);
    else
        oldest->arena = arena_new();
    *oldest = (KeptList){func, collect_into(ctx, oldest->arena, func, oldest->list.count + 16), oldest->arena, cache->uses};
    return oldest->list;
}

/* --- frames --- */

bool frame_within(const Frame *frame, const Frame *outer)
{
    while (frame && frame->depth > outer->depth)
        frame = frame->outer;
    return frame == outer;
}

const Frame *access_loop(const Access *access, const Var *var)
{
    const Frame *frame = access->frame;
    while (frame && !(frame->kind == FRAME_LOOP && frame->var == var))
        frame = frame->outer;
    return frame;
}

const Frame *frame_common(const Frame *a, const Frame *b)
{
    while (a != b) {
        if (!a || !b)
            return NULL;
        if (a->depth >= b->depth)
            a = a->outer;
        else
            b = b->outer;
    }
    return a;
}

const Frame **frame_loops(Context *ctx, const Frame *frame, int *count)
{
    int loops = 0;
    for (const Frame *f = frame; f; f = f->outer)
        loops += f->kind == FRAME_LOOP;
    const Frame **result = ARENA_ARRAY(ctx->arena, const Frame *, loops);
    *count = loops;
    for (const Frame *f = frame; f; f = f->outer)
        if (f->kind == FRAME_LOOP)
            result[--loops] = f;
    return result;
}

static int loop_depth(const Frame *frame)
{
    int loops = 0;
    for (; frame; frame = frame->outer)
        loops += frame->kind == FRAME_LOOP;
    return loops;
}

const AffineEnv *frame_env_agreeing(Context *ctx, const Frame *frame, int agreeing, int first_dim)
{
    if (!frame)
        return NULL;
    const AffineEnv *outer = frame_env_agreeing(ctx, frame->outer, agreeing, first_dim);
    AffineEnv env = {outer, frame->var, -1, frame->value};
    if (frame->kind == FRAME_LOOP) {
        int depth = loop_depth(frame->outer);
        env.dim = depth < agreeing ? depth : first_dim + depth;
    } else if (frame->kind != FRAME_BIND) {
        return outer;
    }
    return arena_copy(ctx->arena, &env, sizeof env);
}

const AffineEnv *frame_env(Context *ctx, const Frame *frame, int first_dim)
{
    return frame_env_agreeing(ctx, frame, 0, first_dim);
}

void frame_assume(AffineSpace *space, const Frame *frame, const AffineEnv *env)
{
    if (!frame)
        return;
    bool binds = frame->kind == FRAME_LOOP || frame->kind == FRAME_BIND;
    frame_assume(space, frame->outer, binds && env ? env->outer : env);
    if (frame->kind == FRAME_LOOP)
        affine_assume_range(space, env->outer, env->dim, frame->range);
    else if (frame->kind == FRAME_CONDITION)
        affine_assume(space, env, frame->value, frame->negated);
}

Map func_sizes(Context *ctx, const Func *func)
{
    Map sizes = {0};
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        for (int d = 0; buffer && d < buffer->ndim; d++)
            if (buffer->shape[d]->kind == EXPR_VAR)
                map_set(ctx->arena, &sizes, buffer->shape[d]->value.var, buffer->shape[d]->value.var);
    }
    return sizes;
}
