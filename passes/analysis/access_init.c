/* When an access runs; see access_assume in access.h. The init of a reduction runs also where nothing is reduced over. */
#include "ir/walk.h"
#include "passes/analysis/access.h"

bool frame_in_init(const Frame *frame, const Frame *block)
{
    const Frame *part = NULL;
    for (; frame != block; frame = frame->outer)
        if (frame->kind == FRAME_POSITION)
            part = frame; /* the outermost is the init, or the body behind it */
    return block->stmt->as.block.init && part && part->position == 0;
}

/* The innermost block around ACCESS, when ACCESS belongs to its init and that does not depend on what is reduced over; else NULL. */
static const BlockStmt *init_owner(const Access *access)
{
    const Frame *frame = access->frame;
    while (frame && frame->kind != FRAME_BLOCK)
        frame = frame->outer;
    const BlockStmt *block = frame ? &frame->stmt->as.block : NULL;
    if (!block || !access->write || !frame_in_init(access->frame, frame))
        return NULL;
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind != ITER_SPATIAL && stmt_uses_var(block->init, block->iters[i].var))
            return NULL;
    return block;
}

/* CONDITION mentions loops around FRAME that only reduce (*REDUCING), and others (*OTHERS). */
static void classify_condition(const BlockStmt *block, const Frame *frame, const Expr *condition, bool *reducing, bool *others)
{
    *reducing = *others = false;
    for (; frame; frame = frame->outer)
        if (frame->kind == FRAME_LOOP && expr_uses_var(condition, frame->var))
            *(block_only_reduces_over(block, frame->var) ? reducing : others) = true;
}

/* The loop over VAR appears in a condition together with others that do not only reduce. */
static bool is_mixed_with_others(const BlockStmt *block, const Frame *innermost, const Var *var)
{
    for (const Frame *frame = innermost; frame; frame = frame->outer) {
        bool reducing, others;
        if (frame->kind != FRAME_CONDITION || !expr_uses_var(frame->value, var))
            continue;
        classify_condition(block, frame, frame->value, &reducing, &others);
        if (others)
            return true;
    }
    return false;
}

/* As frame_assume for the init of BLOCK at INNERMOST: loops and conditions that only restrict the reduction do not count. */
static void assume_init(AffineSpace *space, const BlockStmt *block, const Frame *innermost, const Frame *frame, const AffineEnv *env)
{
    if (!frame)
        return;
    bool binds = frame->kind == FRAME_LOOP || frame->kind == FRAME_BIND, reducing, others;
    assume_init(space, block, innermost, frame->outer, binds && env ? env->outer : env);
    if (frame->kind == FRAME_LOOP && (!block_only_reduces_over(block, frame->var) || is_mixed_with_others(block, innermost, frame->var)))
        affine_assume_range(space, env->outer, env->dim, frame->range);
    if (frame->kind != FRAME_CONDITION)
        return;
    classify_condition(block, frame, frame->value, &reducing, &others);
    if (!reducing || others)
        affine_assume(space, env, frame->value, frame->negated);
}

void access_assume(AffineSpace *space, const Access *access, const AffineEnv *env)
{
    const BlockStmt *block = init_owner(access);
    if (block)
        assume_init(space, block, access->frame, access->frame, env);
    else
        frame_assume(space, access->frame, env);
}
