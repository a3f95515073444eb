/* May the inits of a reduction run before a loop that is around it? See dependence_init_may_move and dependence_init_in_time in
   dependence.h.

   Before                                   After
     for i in range(n):                       for i in range(n):
         B[0] = i                                 C[i] = B[0]         B[0] of the iteration is not written yet
         for k in range(m):                   for i in range(n):
             with T.block("C"):                   B[0] = i
                 vi, vk = ...                     for k in range(m):
                 with T.init():                       ...
                     C[vi] = B[0]

   Each init comes to run before all that the loop holds. So no other statement in there may write, before the init of a point, what that
   init touches; and no two points may have one element: the init of one would run before the updates of the other.

   Not handled by dependence_init_may_move: reads of what the init writes, by other blocks (coverage.c of the schedule asks for those). */
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/model/access_init.h"
#include "passes/analysis/questions/conflict.h"

typedef struct {
    Context *ctx;
    const BlockStmt *block;
    const Map *sizes;
    const Var *var;
    Conflict *conflict;
} InitMove;

static bool is_in_init(const Access *access, const Block *block)
{
    const Frame *frame = frame_of_block(access->frame, block);
    return frame && frame_in_init(access->frame, frame);
}

/* Both touch one element, and its indices tell all points apart. */
static bool names_point(const InitMove *move, const Access *a, const Access *b)
{
    bool names = access_same_point(a, b);
    for (int i = 0; i < move->block->iter_count && names; i++)
        names = move->block->iters[i].kind == ITER_REDUCE || access_names(a, move->block->iters[i].var);
    return names;
}

/* A and B touch one element for two different points, in one iteration of the loops around the given loop. */
static bool points_meet(const InitMove *move, const Access *a, const Access *b)
{
    if (names_point(move, a, b))
        return false;
    Pair pair = pair_new(move->ctx, a, b);
    pair_build(&pair, move->sizes, 0);
    int agreed = move->var ? pair_level(&pair, move->var) : 0;
    pair_assume_equal(&pair, &pair.space, agreed);
    bool meet = false;
    for (int i = 0; i < move->block->iter_count && !meet; i++) {
        const Expr *iter = expr_var(move->ctx, move->block->iters[i].var);
        bool may_differ = move->block->iters[i].kind != ITER_REDUCE && !pair_agrees_on(&pair, iter, agreed);
        for (int swap = 0; may_differ && swap < 2 && !meet; swap++) {
            AffineSpace apart = affine_copy(&pair.space);
            affine_assume_compare(&apart, EXPR_LT, swap ? pair.env_b : pair.env_a, iter, swap ? pair.env_a : pair.env_b, iter);
            meet = pair_conflicts(&pair, apart, move->conflict);
        }
    }
    affine_free(&pair.space);
    return meet;
}

/* OTHER, before INIT in the loop, would come after it. READS: also where it only reads what the init writes. */
static bool comes_too_late(const InitMove *move, const Access *init, const Access *other, bool reads)
{
    if ((!other->write && !other->fence && !(reads && init->write)) || pair_is_harmless(other, init, false))
        return false;
    if (access_in_block(other, move->block->block))
        return points_meet(move, other, init);
    Pair pair = pair_new(move->ctx, other, init);
    return access_comes_before(move->ctx, other, init, move->sizes, pair_level(&pair, move->var), move->conflict);
}

bool conflict_init_moved(Context *ctx, const Func *func, const BlockStmt *block, const Var *var, Conflict *conflict)
{
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    InitMove move = {ctx, block, &sizes, var, conflict};
    for (int i = 0; i < accesses.count; i++)
        for (int j = 0; j < accesses.count && is_in_init(&accesses.data[i], block->block); j++)
            if (access_loop(&accesses.data[j], var) && comes_too_late(&move, &accesses.data[i], &accesses.data[j], false))
                return true;
    return false;
}

/* The outermost loop around the block at FRAME that it reduces over; NULL: there is none. */
static const Frame *outermost_reduction(Context *ctx, const Frame *frame)
{
    int count;
    const Frame **loops = frame_loops(ctx, frame, &count);
    for (int l = 0; l < count; l++)
        if (frame_reduces_over(frame, loops[l]->var))
            return loops[l];
    return NULL;
}

/* An access of the init of BLOCK, or NULL: it has none, or one that touches nothing. */
static const Access *init_access(const AccessList *accesses, const Block *block)
{
    for (int i = 0; i < accesses->count; i++)
        if (is_in_init(&accesses->data[i], block))
            return &accesses->data[i];
    return NULL;
}

static bool may_lack_updates(Context *ctx, const Func *func, const Block *block)
{
    AccessList accesses = access_collect(ctx, func);
    const Access *init = init_access(&accesses, block);
    return init && access_may_lack_updates(init);
}

/* In FUNC, what OTHER's block does to the memory of OTHER is done in front of the loops that BLOCK reduces over. */
static bool ran_in_front(Context *ctx, const Func *func, const Block *block, const Access *other)
{
    AccessList accesses = access_collect(ctx, func);
    const Access *init = init_access(&accesses, block);
    const Frame *first = init ? outermost_reduction(ctx, frame_of_block(init->frame, block)) : NULL;
    for (int i = 0; first && i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        if (access->block == other->block && access->data == other->data && !access_loop(access, first->var) &&
            access_precedes(access, init))
            return true;
    }
    return false;
}

/* READ is made by a condition between the loop of frame FIRST and the block of frame BLOCK: who runs the inits alone asks it too. */
static bool is_asked_for_init(const Access *read, const Frame *block, const Frame *first)
{
    const Frame *frame = block;
    while (frame != first && frame->stmt != read->stmt)
        frame = frame->outer;
    return frame != first && !read->write && (frame->kind == FRAME_BLOCK || frame->kind == FRAME_CONDITION);
}

/* Each element that READ takes has an update by BLOCK before, so an init too, wherever that runs. */
static bool updates_cover(const InitMove *move, const AccessList *accesses, const Access *read)
{
    for (int i = 0; i < accesses->count; i++) {
        const Access *write = &accesses->data[i];
        if (write->write && write->data == read->data && !write->whole && !read->whole && access_in_block(write, move->block->block) &&
            !is_in_init(write, move->block->block) && access_precedes(write, read) && access_covers(move->ctx, write, read, move->sizes))
            return true;
    }
    return false;
}

/* The inits of BLOCK come earlier than in BEFORE with respect to OTHER, which is in the loop. */
static bool passes_by(Context *ctx, const Func *before, const Block *block, const Access *other)
{
    return !may_lack_updates(ctx, before, block) || ran_in_front(ctx, before, block, other);
}

/* Some point of BLOCK may have no update, and its loops write what an init, or a condition that it waits for, reads before the first update. With
   BEFORE (else NULL), the program before the step, also: they touch what the init writes, and it did not run before that. */
static bool is_early(Context *ctx, const Func *func, const Block *block, const Func *before, Conflict *conflict)
{
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    const Access *some = init_access(&accesses, block);
    if (!some || !access_may_lack_updates(some))
        return false;
    const Frame *frame = frame_of_block(some->frame, block), *first = outermost_reduction(ctx, frame);
    InitMove move = {ctx, &frame->stmt->as.block, &sizes, first ? first->var : NULL, conflict};
    for (int i = 0; first && i < accesses.count; i++) {
        const Access *init = &accesses.data[i];
        if ((init->write && !before) || (!is_in_init(init, block) && !is_asked_for_init(init, frame, first)))
            continue;
        for (int j = 0; j < accesses.count; j++) {
            const Access *other = &accesses.data[j];
            if (access_loop(other, first->var) && !access_in_block(other, block) && comes_too_late(&move, init, other, true) &&
                (other->write || !updates_cover(&move, &accesses, other)) && (!init->write || passes_by(ctx, before, block, other)))
                return true;
        }
    }
    return false;
}

bool conflict_init_early(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict)
{
    Conflict ignored;
    return is_early(ctx, after, block, before, conflict) && !is_early(ctx, before, block, NULL, &ignored);
}

bool conflict_points_share(Context *ctx, const Func *func, const BlockStmt *block, Conflict *conflict)
{
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    InitMove move = {ctx, block, &sizes, NULL, conflict};
    for (int i = 0; i < accesses.count; i++)
        for (int j = i; j < accesses.count && accesses.data[i].write && access_in_block(&accesses.data[i], block->block); j++) {
            const Access *a = &accesses.data[i], *b = &accesses.data[j];
            if (b->write && access_in_block(b, block->block) && !pair_is_harmless(a, b, false) && points_meet(&move, a, b))
                return true;
        }
    return false;
}
