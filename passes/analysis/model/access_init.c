/* When an access runs; see access_assume in access.h. The init of a reduction runs also where nothing is reduced over. */
#include "ir/walk.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/model/access_init.h"

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

/* Which loops CONDITION, at FRAME, depends on: some that only reduce, and others. Those of one iteration count where there are no others. */
typedef struct {
    bool reducing, others;
} ConditionKind;

static ConditionKind condition_kind(const Frame *block, const Frame *frame, const Expr *condition)
{
    ConditionKind kind = {false, false}, units = {false, false};
    for (const Frame *loop = frame; loop; loop = loop->outer) {
        if (loop->kind != FRAME_LOOP || !frame_depends(frame->outer, condition, loop->var))
            continue;
        ConditionKind *found = expr_is_int(loop->range.extent, 1) && !stmt_is_empty_loop(loop->stmt) ? &units : &kind;
        bool reduces = frame_only_reduces_over(block, loop->var);
        found->reducing |= reduces;
        found->others |= !reduces;
    }
    return kind.reducing || kind.others ? kind : (ConditionKind){units.reducing && !units.others, false};
}

/* The loop over VAR appears in CONDITION, or in one of those that it joins, together with others that do not only reduce. */
static bool condition_mixes(const Frame *block, const Frame *frame, const Expr *condition, const Var *var)
{
    if (condition->kind == EXPR_AND && !frame->negated)
        return condition_mixes(block, frame, condition->args[0], var) || condition_mixes(block, frame, condition->args[1], var);
    return frame_depends(frame->outer, condition, var) && condition_kind(block, frame, condition).others;
}

static bool is_mixed_with_others(const Frame *block, const Frame *innermost, const Var *var)
{
    for (const Frame *frame = innermost; frame; frame = frame->outer)
        if (frame->kind == FRAME_CONDITION && condition_mixes(block, frame, frame->value, var))
            return true;
    return false;
}

/* The points are found by a run of the loop over VAR: it does more than reduce, a condition mixes it with such loops, or it bounds a loop that
   is run for them. */
static bool is_visited(const Frame *block, const Frame *innermost, const Var *var)
{
    if (!frame_only_reduces_over(block, var) || is_mixed_with_others(block, innermost, var))
        return true;
    for (const Frame *frame = innermost; frame && frame->var != var; frame = frame->outer)
        if (frame->kind == FRAME_LOOP &&
            (frame_depends(frame->outer, frame->range.min, var) || frame_depends(frame->outer, frame->range.extent, var)) &&
            is_visited(block, innermost, frame->var))
            return true;
    return false;
}

/* Whether CONDITION, seen from FRAME, can keep an init from running. A condition on what is reduced over alone can do so in one case: the init
   is found by visiting all loops that the condition depends on, loops of one iteration excepted. */
static bool condition_counts(const Frame *block, const Frame *innermost, const Frame *frame, const Expr *condition)
{
    ConditionKind kind = condition_kind(block, frame, condition);
    bool longer = false, visited = true, units_visited = true;
    for (const Frame *loop = frame; loop; loop = loop->outer) {
        if (loop->kind != FRAME_LOOP || !frame_depends(frame->outer, condition, loop->var))
            continue;
        bool unit = expr_is_int(loop->range.extent, 1);
        longer |= !unit;
        *(unit ? &units_visited : &visited) &= is_visited(block, innermost, loop->var);
    }
    return !kind.reducing || kind.others || (longer ? visited : units_visited);
}

/* Requires CONDITION of FRAME, or of those that it joins the ones that say more than for what is reduced over. */
static void assume_init_condition(AffineSpace *space, const Frame *block, const Frame *innermost, const Frame *frame,
                                  const Expr *condition, const AffineEnv *env)
{
    if (condition->kind == EXPR_AND && !frame->negated) {
        assume_init_condition(space, block, innermost, frame, condition->args[0], env);
        assume_init_condition(space, block, innermost, frame, condition->args[1], env);
    } else if (condition_counts(block, innermost, frame, condition)) {
        affine_assume(space, env, condition, frame->negated);
    }
}

/* What LOOP runs over; its frame may say otherwise, see access_collect. */
static Range loop_range(const Frame *loop)
{
    return stmt_is_empty_loop(loop->stmt) ? (Range){loop->stmt->as.loop.min, loop->stmt->as.loop.extent} : loop->range;
}

/* The init of the block at BLOCK runs only where LOOP has an iteration: one that finds its point, or a thread that runs it. */
static bool needs_iteration(const Frame *block, const Frame *innermost, const Frame *loop)
{
    return frame_is_thread_loop(loop) || is_visited(block, innermost, loop->var);
}

/* As frame_assume for the init of the block at BLOCK: loops and conditions that only restrict the reduction do not count. */
static void assume_init(AffineSpace *space, const Frame *block, const Frame *innermost, const Frame *frame, const AffineEnv *env)
{
    if (!frame)
        return;
    bool binds = frame->kind == FRAME_LOOP || frame->kind == FRAME_BIND;
    assume_init(space, block, innermost, frame->outer, binds && env ? env->outer : env);
    if (frame->kind == FRAME_LOOP && needs_iteration(block, innermost, frame))
        affine_assume_range(space, env->outer, env->dim, loop_range(frame));
    if (frame->kind == FRAME_CONDITION)
        assume_init_condition(space, block, innermost, frame, frame->value, env);
}

void access_assume(AffineSpace *space, const Access *access, const AffineEnv *env)
{
    const Frame *block = init_owner(access);
    if (block)
        assume_init(space, block, access->frame, access->frame, env);
    else
        frame_assume(space, access->frame, env);
}

/* CONDITION, or one of those that it joins, is about what is reduced over and about points. */
static bool mixes(const Frame *block, const Frame *innermost, const Frame *frame, const Expr *condition)
{
    if (condition->kind == EXPR_AND && !frame->negated)
        return mixes(block, innermost, frame, condition->args[0]) || mixes(block, innermost, frame, condition->args[1]);
    return condition_kind(block, frame, condition).reducing && condition_counts(block, innermost, frame, condition);
}

const char *access_points_depend(Context *ctx, const Access *access)
{
    const Frame *block = init_owner(access);
    if (!block)
        return "the init depends on what is reduced over";
    for (const Frame *frame = access->frame; frame; frame = frame->outer) {
        int64_t extent;
        if (frame->kind == FRAME_CONDITION && mixes(block, access->frame, frame, frame->value))
            return "a condition is about points and about what is reduced over";
        if (frame->kind == FRAME_LOOP && !(expr_const_int(frame->range.extent, &extent) && extent > 0) && frame_reduces_over(block, frame->var) &&
            needs_iteration(block, access->frame, frame))
            return arena_printf(ctx->arena, "loop '%s' runs over %s and over what is reduced, and may have no iteration", frame->var->name,
                                frame_is_thread_loop(frame) ? "threads" : "points");
    }
    return NULL;
}

/* --- where an init may run --- */

/* CONDITION, at FRAME, mentions what only reduces in a block of whose init ACCESS is part. */
static bool concerns_reduction(const Access *access, const Frame *frame, const Expr *condition)
{
    for (const Frame *block = access->frame; block; block = block->outer)
        for (const Frame *outer = frame; outer && block->kind == FRAME_BLOCK && frame_in_init(access->frame, block); outer = outer->outer)
            if (outer->var && outer->depth < block->depth && expr_uses_var(condition, outer->var) && frame_only_reduces_over(block, outer->var))
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

static void assume_without_reduction(AffineSpace *space, const Access *access, const Frame *frame, const AffineEnv *env,
                                     const Expr *condition)
{
    if (condition->kind == EXPR_AND && !frame->negated) {
        assume_without_reduction(space, access, frame, env, condition->args[0]);
        assume_without_reduction(space, access, frame, env, condition->args[1]);
    } else if (!concerns_reduction(access, frame, condition)) {
        affine_assume(space, env, condition, frame->negated);
    }
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
        assume_without_reduction(space, access, frame, env, frame->value);
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

/* What holds where ACCESS runs since CONDITION, at FRAME, holds or does not. */
static void add_known(Context *ctx, const Access *access, const Frame *frame, const Expr *condition, Subst *values, ExprList *conditions)
{
    if (condition->kind == (frame->negated ? EXPR_OR : EXPR_AND)) {
        add_known(ctx, access, frame, condition->args[0], values, conditions);
        add_known(ctx, access, frame, condition->args[1], values, conditions);
        return;
    }
    bool exact = expr_is_compare(condition) && dtype_is_index(condition->args[0]->dtype) && expr_is_fixed(condition);
    if (concerns_reduction(access, frame, condition) || (frame->negated && !exact))
        return;
    condition = subst_expr(ctx, values, condition);
    if (frame->negated)
        condition = op_compare(ctx, expr_opposite_compare(condition->kind), condition->args[0], condition->args[1]);
    vec_push(ctx->arena, conditions, condition);
}

ExprList access_known_conditions(Context *ctx, const Access *access)
{
    ExprList conditions = {0};
    for (const Frame *frame = access->frame; frame; frame = frame->outer) {
        if (frame->kind != FRAME_CONDITION || expr_is_int(frame->value, !frame->negated))
            continue;
        Subst values = frame_values(ctx, frame->outer);
        add_known(ctx, access, frame, frame->value, &values, &conditions);
    }
    return conditions;
}
