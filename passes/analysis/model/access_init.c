/* When an access runs; see access_assume in access.h. The init of a reduction runs also where nothing is reduced over. */
#include "ir/walk.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/model/access_init.h"
#include "passes/analysis/model/init_domain.h"

bool frame_in_init(const Frame *frame, const Frame *block)
{
    const Frame *part = NULL;
    for (; frame != block; frame = frame->outer)
        if (frame->kind == FRAME_POSITION)
            part = frame; /* the outermost is the init, or the body behind it */
    return block->stmt->as.block.init && part && part->position == 0;
}

bool access_in_init(const Access *access)
{
    for (const Frame *block = access->frame; block; block = block->outer)
        if (block->kind == FRAME_BLOCK && frame_in_init(access->frame, block))
            return true;
    return false;
}

/* The frame of the innermost block to whose init ACCESS belongs; further blocks of this init may lie between. NULL where there is none, or
   where the init depends on the loops that are reduced over. */
static const Frame *init_owner(const Access *access)
{
    const Frame *frame = access->frame;
    while (frame && !(frame->kind == FRAME_BLOCK && frame_in_init(access->frame, frame)))
        frame = frame->outer;
    const BlockStmt *block = frame ? &frame->stmt->as.block : NULL;
    if (!block || !access->write)
        return NULL;
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_REDUCE && stmt_uses_var(block->init, block->iters[i].var))
            return NULL;
    return frame;
}

/* Requires of the condition of FRAME what decides of points. */
static void assume_init_condition(AffineSpace *space, const Frame *block, const Frame *innermost, const Frame *frame, const AffineEnv *env)
{
    ConjunctList parts = frame_conditions(space->ctx, frame);
    for (int i = 0; i < parts.count; i++)
        if (init_heeds_condition(space->ctx, block, innermost, frame, parts.data[i].expr))
            affine_assume(space, env, parts.data[i].expr, parts.data[i].negated);
}

/* What LOOP runs over; its frame may say otherwise, see access_collect. */
static Range loop_range(const Frame *loop)
{
    return stmt_is_empty_loop(loop->stmt) ? (Range){loop->stmt->as.loop.min, loop->stmt->as.loop.extent} : loop->range;
}

/* The init of the block at BLOCK runs only where LOOP has an iteration: one that finds its point, or a thread that runs it. */
static bool needs_iteration(Context *ctx, const Frame *block, const Frame *innermost, const Frame *loop)
{
    return frame_is_thread_loop(loop) || init_visits_loop(ctx, block, innermost, loop);
}

/* As frame_assume for the init of the block at BLOCK: loops and conditions that only restrict the reduction do not count. */
static void assume_init(AffineSpace *space, const Frame *block, const Frame *innermost, const Frame *frame, const AffineEnv *env)
{
    if (!frame)
        return;
    bool binds = frame->kind == FRAME_LOOP || frame->kind == FRAME_BIND;
    assume_init(space, block, innermost, frame->outer, binds && env ? env->outer : env);
    if (frame->kind == FRAME_LOOP && needs_iteration(space->ctx, block, innermost, frame))
        affine_assume_range(space, env->outer, env->dim, loop_range(frame));
    if (frame->kind == FRAME_CONDITION)
        assume_init_condition(space, block, innermost, frame, env);
}

void access_assume(AffineSpace *space, const Access *access, const AffineEnv *env)
{
    const Frame *block = init_owner(access);
    if (block)
        assume_init(space, block, access->frame, access->frame, env);
    else
        frame_assume(space, access->frame, env);
}

/* CONDITION, a part of the one of FRAME, depends on a loop that the block at BLOCK reduces over, alone or not. */
static bool concerns_reducing_loop(const Frame *block, const Frame *frame, const Expr *condition)
{
    bool concerns = false;
    for (const Frame *loop = frame; loop && !concerns; loop = loop->outer)
        concerns = loop->kind == FRAME_LOOP && frame_depends(frame->outer, condition, loop->var) && frame_reduces_over(block, loop->var);
    return concerns;
}

/* The condition of FRAME says something of points and of what is reduced over. */
static bool mixes(Context *ctx, const Frame *block, const Frame *innermost, const Frame *frame)
{
    ConjunctList parts = frame_conditions(ctx, frame);
    bool found = false;
    for (int i = 0; i < parts.count && !found; i++)
        found = concerns_reducing_loop(block, frame, parts.data[i].expr) &&
                init_heeds_condition(ctx, block, innermost, frame, parts.data[i].expr);
    return found;
}

const char *access_points_depend(Context *ctx, const Access *access)
{
    const Frame *block = init_owner(access);
    if (!block)
        return "the init depends on what is reduced over";
    for (const Frame *frame = access->frame; frame; frame = frame->outer) {
        int64_t extent;
        if (frame->kind == FRAME_CONDITION && mixes(ctx, block, access->frame, frame))
            return "a condition is about points and about what is reduced over";
        if (frame->kind == FRAME_LOOP && !(expr_const_int(frame->range.extent, &extent) && extent > 0) && frame_reduces_over(block, frame->var) &&
            needs_iteration(ctx, block, access->frame, frame))
            return arena_printf(ctx->arena, "loop '%s' runs over %s and over what is reduced, and may have no iteration", frame->var->name,
                                frame_is_thread_loop(frame) ? "threads" : "points");
    }
    return NULL;
}

/* --- where an init may run --- */

/* CONDITION, at FRAME, depends on what only reduces in a block of whose init ACCESS is part. */
static bool concerns_reduction(const Access *access, const Frame *frame, const Expr *condition)
{
    for (const Frame *block = access->frame; block; block = block->outer)
        for (const Frame *loop = frame; loop && block->kind == FRAME_BLOCK && frame_in_init(access->frame, block); loop = loop->outer)
            if (loop->kind == FRAME_LOOP && loop->depth < block->depth && frame_depends(frame->outer, condition, loop->var) &&
                frame_only_reduces_over(block, loop->var))
                return true;
    return false;
}

/* The reduction of the block at BLOCK has an update in each iteration of its loops, and at least one. */
static bool always_updates(const Access *access, const Frame *block)
{
    for (const Frame *frame = access->frame; frame; frame = frame->outer) {
        int64_t extent;
        bool reduces = frame->kind == FRAME_LOOP && frame->depth < block->depth && frame_only_reduces_over(block, frame->var);
        if (reduces && !(expr_const_int(loop_range(frame).extent, &extent) && extent > 0))
            return false;
        if (frame->kind == FRAME_CONDITION && concerns_reduction(access, frame, frame->value))
            return false;
    }
    return true;
}

bool access_runs_without(const Access *access, const Frame *loop)
{
    for (const Frame *block = access->frame; block; block = block->outer)
        if (block->kind == FRAME_BLOCK && frame_in_init(access->frame, block) && loop->depth < block->depth &&
            frame_only_reduces_over(block, loop->var) && !always_updates(access, block))
            return true;
    return false;
}

bool access_may_lack_updates(const Access *access)
{
    for (const Frame *block = access->frame; block; block = block->outer)
        if (block->kind == FRAME_BLOCK && frame_in_init(access->frame, block) && !always_updates(access, block))
            return true;
    return false;
}

bool access_once_in(const Access *access, const Frame *loop)
{
    for (const Frame *block = access->frame; block; block = block->outer)
        if (block->kind == FRAME_BLOCK && frame_in_init(access->frame, block) && loop->depth < block->depth &&
            frame_only_reduces_over(block, loop->var))
            return true;
    return false;
}

static void assume_without_reduction(AffineSpace *space, const Access *access, const Frame *frame, const AffineEnv *env)
{
    ConjunctList parts = frame_conditions(space->ctx, frame);
    for (int i = 0; i < parts.count; i++)
        if (!concerns_reduction(access, frame, parts.data[i].expr))
            affine_assume(space, env, parts.data[i].expr, parts.data[i].negated);
}

/* Where in the loops that only reduce, as far as these may leave nothing to reduce. */
typedef enum { IN_SOME_ITERATION, IN_FIRST_ITERATION, ANYWHERE /* also where there is no iteration */ } InitPlace;

static void assume_possible(AffineSpace *space, const Access *access, const Frame *frame, const AffineEnv *env, InitPlace place)
{
    if (!frame)
        return;
    bool binds = frame->kind == FRAME_LOOP || frame->kind == FRAME_BIND;
    assume_possible(space, access, frame->outer, binds && env ? env->outer : env, place);
    bool placed = frame->kind == FRAME_LOOP && place != IN_SOME_ITERATION && access_runs_without(access, frame);
    if (placed && place == IN_FIRST_ITERATION)
        affine_assume_range(space, env->outer, env->dim, range_point(space->ctx, frame->range.min));
    else if (frame->kind == FRAME_LOOP && !placed)
        affine_assume_range(space, env->outer, env->dim, frame->range);
    else if (frame->kind == FRAME_CONDITION)
        assume_without_reduction(space, access, frame, env);
}

void access_assume_possible(AffineSpace *space, const Access *access, const AffineEnv *env)
{
    assume_possible(space, access, access->frame, env, IN_SOME_ITERATION);
}

void access_assume_anywhere(AffineSpace *space, const Access *access, const AffineEnv *env)
{
    assume_possible(space, access, access->frame, env, ANYWHERE);
}

void access_assume_beside_updates(AffineSpace *space, const Access *access, const AffineEnv *env, int dims)
{
    bool reduced = true;
    if (access_may_lack_updates(access)) {
        AffineSpace alone = affine_universe(space->ctx, dims, &space->sizes);
        frame_assume(&alone, access->frame, env);
        reduced = affine_verdict(&alone) != SET_EMPTY;
        affine_free(&alone);
    }
    if (reduced)
        frame_assume(space, access->frame, env);
    else
        assume_possible(space, access, access->frame, env, IN_FIRST_ITERATION);
}

/* What holds where ACCESS runs since PART, of the condition at FRAME, does. */
static void add_known(Context *ctx, const Access *access, const Frame *frame, Conjunct part, Subst *values, ExprList *conditions)
{
    const Expr *condition = part.expr;
    bool exact = expr_is_compare(condition) && dtype_is_index(condition->args[0]->dtype) && expr_is_fixed(condition);
    if (concerns_reduction(access, frame, condition) || (part.negated && !exact))
        return;
    condition = subst_expr(ctx, values, condition);
    if (part.negated)
        condition = op_compare(ctx, expr_opposite_compare(condition->kind), condition->args[0], condition->args[1]);
    vec_push(ctx->arena, conditions, condition);
}

ExprList access_known_conditions(Context *ctx, const Access *access)
{
    ExprList conditions = {0};
    for (const Frame *frame = access->frame; frame; frame = frame->outer) {
        if (frame->kind != FRAME_CONDITION)
            continue;
        ConjunctList parts = frame_conditions(ctx, frame);
        Subst values = parts.count ? frame_values(ctx, frame->outer) : (Subst){0};
        for (int i = 0; i < parts.count; i++)
            add_known(ctx, access, frame, parts.data[i], &values, &conditions);
    }
    return conditions;
}
