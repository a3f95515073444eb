/* The ways to accesses: which loops are around one, and what is known of its iterations; see access.h and access_frame.h. */
#include "ir/walk.h"
#include "passes/analysis/model/access_frame.h"

bool frame_depends(const Frame *frame, const Expr *expr, const Var *var)
{
    if (expr_uses_var(expr, var))
        return true;
    for (const Frame *outer = frame; outer; outer = outer->outer)
        if (outer->kind == FRAME_BIND && expr_uses_var(expr, outer->var) && frame_depends(outer->outer, outer->value, var))
            return true;
    return false;
}

static bool is_spatial(const Frame *bind)
{
    return bind->identity && bind->axis == ITER_SPATIAL;
}

/* EXPR, seen from FRAME, depends on VAR, a loop's or an axis, not just by way of spatial axes. */
static bool varies(const Frame *frame, const Expr *expr, const Var *var)
{
    if (expr_uses_var(expr, var))
        return true;
    for (const Frame *outer = frame; outer; outer = outer->outer)
        if (outer->kind == FRAME_BIND && !is_spatial(outer) && expr_uses_var(expr, outer->var) && varies(outer->outer, outer->value, var))
            return true;
    return false;
}

bool frame_reduces_over(const Frame *frame, const Var *var)
{
    const BlockStmt *block = &frame->stmt->as.block;
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_REDUCE && varies(frame->outer, block->bindings[i], var))
            return true;
    return false;
}

bool frame_tells_points(const Frame *axis, const Frame *frame)
{
    return is_spatial(axis) || (axis->identity && axis->axis != ITER_REDUCE && !frame_reduces_over(frame, axis->var));
}

bool frame_only_reduces_over(const Frame *frame, const Var *var)
{
    const BlockStmt *block = &frame->stmt->as.block;
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind != ITER_REDUCE && frame_depends(frame->outer, block->bindings[i], var))
            return false;
    for (const Frame *around = frame->outer; around; around = around->outer)
        if (around->kind == FRAME_BIND && frame_tells_points(around, frame) && frame_depends(around->outer, around->value, var))
            return false;
    return frame_reduces_over(frame, var);
}

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

bool frame_is_thread_loop(const Frame *frame)
{
    return frame->kind == FRAME_LOOP && frame->stmt->kind == STMT_FOR && frame->stmt->as.loop.kind == FOR_THREAD;
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

int frame_loop_count(const Frame *frame)
{
    int loops = 0;
    for (; frame; frame = frame->outer)
        loops += frame->kind == FRAME_LOOP;
    return loops;
}

const Frame **frame_loops(Context *ctx, const Frame *frame, int *count)
{
    int loops = *count = frame_loop_count(frame);
    const Frame **result = ARENA_ARRAY(ctx->arena, const Frame *, loops);
    for (const Frame *f = frame; f; f = f->outer)
        if (f->kind == FRAME_LOOP)
            result[--loops] = f;
    return result;
}

/* *LOOPS: how many loops there are down to FRAME. */
static const AffineEnv *env_below(Context *ctx, const Frame *frame, int agreeing, int first_dim, int *loops)
{
    *loops = 0;
    if (!frame)
        return NULL;
    const AffineEnv *outer = env_below(ctx, frame->outer, agreeing, first_dim, loops);
    AffineEnv env = {outer, frame->var, -1, frame->value};
    if (frame->kind == FRAME_LOOP) {
        int depth = (*loops)++;
        env.dim = depth < agreeing ? depth : first_dim + depth;
        env.value = frame->range.min;
    } else if (frame->kind != FRAME_BIND) {
        return outer;
    }
    return arena_copy(ctx->arena, &env, sizeof env);
}

const AffineEnv *frame_env_agreeing(Context *ctx, const Frame *frame, int agreeing, int first_dim)
{
    int loops;
    return env_below(ctx, frame, agreeing, first_dim, &loops);
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

bool frame_bound(const void *data, const Var *var, WrapBound *bound)
{
    const Frame *frame = data;
    while (frame && frame->var != var)
        frame = frame->outer;
    WrapScope outside = {frame_bound, frame ? frame->outer : NULL};
    if (frame)
        *bound = frame->range.min ? wrap_bound_of_range(&outside, frame->range) : wrap_bound(&outside, frame->value);
    return frame;
}

static const Frame *inside(Context *ctx, const Frame *outer, Frame frame)
{
    frame.outer = outer;
    frame.depth = outer ? outer->depth + 1 : 0;
    return arena_copy(ctx->arena, &frame, sizeof frame);
}

const Frame *frame_enter(Context *ctx, const Frame *frame, const Stmt *stmt, bool negated)
{
    const BlockStmt *block = &stmt->as.block;
    switch (stmt->kind) {
    case STMT_FOR:
        return inside(ctx, frame,
                      (Frame){.kind = FRAME_LOOP, .var = stmt->as.loop.var, .range = {stmt->as.loop.min, stmt->as.loop.extent}, .stmt = stmt});
    case STMT_IF:
        return inside(ctx, frame, (Frame){.kind = FRAME_CONDITION, .value = stmt->as.branch.condition, .negated = negated, .stmt = stmt});
    case STMT_LET: return inside(ctx, frame, (Frame){.kind = FRAME_BIND, .var = stmt->as.let.var, .value = stmt->as.let.value});
    case STMT_BLOCK:
        frame = inside(ctx, frame, (Frame){.kind = FRAME_BLOCK, .stmt = stmt});
        frame = inside(ctx, frame, (Frame){.kind = FRAME_CONDITION, .value = block->predicate});
        for (int i = 0; i < block->iter_count; i++) {
            const Iter *iter = &block->iters[i];
            Frame axis = {.kind = FRAME_BIND, .var = iter->var, .range = iter->domain, .value = block->bindings[i]};
            axis.axis = iter->kind, axis.identity = true;
            frame = inside(ctx, frame, axis);
        }
        return frame;
    default: return frame;
    }
}

/* --- loops of no iteration --- */

/* BLOCK has an init that runs once although the loop over VAR, to which only reduce axes of it are bound, has no iteration. */
static bool init_outlives(const BlockStmt *block, const Var *var)
{
    return block->init && block_only_reduces_over(block, var);
}

/* What is at FRAME is in LOOP, of no iteration, and not in an init that runs all the same. */
static bool is_idle_in(const Frame *frame, const Frame *loop)
{
    for (const Frame *around = frame; around != loop; around = around->outer)
        if (around->kind == FRAME_BLOCK && init_outlives(&around->stmt->as.block, loop->var) &&
            frame_only_reduces_over(around, loop->var) && frame_in_init(frame, around))
            return false;
    return true;
}

bool frame_never_runs(const Frame *frame)
{
    for (const Frame *loop = frame; loop; loop = loop->outer)
        if (loop->kind == FRAME_LOOP && stmt_is_empty_loop(loop->stmt) && is_idle_in(frame, loop))
            return true;
    return false;
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

bool loop_holds_lasting_init(const ForStmt *loop)
{
    InitSearch search = {.var = loop->var};
    Visitor visitor = {.stmt = find_init, .data = &search};
    visit_stmt(&visitor, loop->body);
    return search.found;
}

Map func_sizes(Context *ctx, const Func *func)
{
    Map sizes = {0};
    for (int i = 0; i < func->param_count; i++) {
        const Buffer *buffer = func->params[i].buffer;
        for (int d = 0; buffer && d < buffer->ndim; d++) {
            const Expr *size = buffer->shape[d];
            int64_t factor;
            for (int side = 0; side < 2 && size->kind == EXPR_MUL; side++)
                if (expr_const_int(size->args[side], &factor) && factor > 0)
                    size = size->args[1 - side]; /* n is not negative where n * 2 is not */
            if (size->kind == EXPR_VAR)
                map_set(ctx->arena, &sizes, size->value.var, size->value.var);
        }
    }
    return sizes;
}

/* --- views --- */

typedef struct {
    const Buffer *view, *source;
} SourceSearch;

static bool find_source(Visitor *visitor, const Stmt *stmt)
{
    SourceSearch *search = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        if (stmt->as.block.matches[i].target->data == search->view->data)
            search->source = stmt->as.block.matches[i].source.buffer;
    return !search->source;
}

bool frame_reduces(const Frame *frame)
{
    for (; frame; frame = frame->outer)
        for (int i = 0; frame->kind == FRAME_BLOCK && i < frame->stmt->as.block.iter_count; i++)
            if (frame->stmt->as.block.iters[i].kind == ITER_REDUCE)
                return true;
    return false;
}

const Buffer *buffer_viewed(const Func *func, const Buffer *buffer)
{
    SourceSearch search = {.view = buffer};
    do {
        search = (SourceSearch){search.source ? search.source : buffer, NULL};
        Visitor visitor = {.stmt = find_source, .data = &search};
        visit_stmt(&visitor, func->body);
    } while (search.source);
    return search.view;
}

const Frame *frame_of_block(const Frame *frame, const Block *block)
{
    while (frame && !(frame->kind == FRAME_BLOCK && frame->stmt->as.block.block == block))
        frame = frame->outer;
    return frame;
}

int frame_common_loops(Context *ctx, const Frame *a, const Frame *b)
{
    int count_a, count_b, common = 0;
    const Frame **loops_a = frame_loops(ctx, a, &count_a), **loops_b = frame_loops(ctx, b, &count_b);
    while (common < count_a && common < count_b && loops_a[common]->var == loops_b[common]->var)
        common++;
    return common;
}

const BlockStmt *frame_block_around(const Frame *frame, const BlockStmt *inner)
{
    while (frame && !(frame->kind == FRAME_BLOCK && frame->stmt->as.block.block != inner->block))
        frame = frame->outer;
    return frame ? &frame->stmt->as.block : NULL;
}
