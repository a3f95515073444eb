/* The cheap arguments for the goal ORDERED: two accesses keep their order from one program to the next, whatever elements they touch. The set
   of iterations that lose it (reordered.c) need not be made then. */
#include "ir/walk.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/questions/conflict.h"
#include "passes/analysis/questions/order.h"

/* The innermost loop around both. */
static const Var *innermost_common_loop(const Access *a, const Access *b)
{
    const Frame *frame = frame_common(a->frame, b->frame);
    while (frame && frame->kind != FRAME_LOOP)
        frame = frame->outer;
    return frame ? frame->var : NULL;
}

/* A cheap argument that the two never touch one element in different iterations of the loops that both share. */
static bool meet_in_one_iteration(Context *ctx, const Access *a, const Access *b)
{
    if (!innermost_common_loop(a, b))
        return true;
    Pair pair = pair_new(ctx, a, b);
    for (int level = 0; level < pair.common; level++)
        if (!pair_is_disjoint(&pair, level))
            return false;
    return true;
}

/* Instances of one block that touch one element are the same instance: then no order among them can be lost. Cheap sufficient test: both
   accesses name the element by the same indices, among which every iterator of the instance stands alone. */
static bool only_own_element(OrderCheck *check, const Access *a, const Access *b)
{
    if (a->block != b->block || !access_same_point(a, b))
        return false;
    FrameList identity = order_identity(check->ctx, a->frame), other = order_identity(check->ctx, b->frame);
    if (identity.count != other.count)
        return false;
    for (int f = 0; f < identity.count; f++) {
        const Frame *frame = identity.data[f];
        if (frame->var != other.data[f]->var || !(expr_is_int(frame->range.extent, 1) || access_names(a, frame->var)))
            return false;
    }
    return true;
}

static bool collect_allocation(Visitor *visitor, const Stmt *stmt)
{
    OrderCheck *check = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        map_set(check->ctx->arena, &check->allocated, stmt->as.block.allocs[i]->data, check);
    return true;
}

static bool is_allocated(OrderCheck *check, const Var *data)
{
    Visitor visitor = {.stmt = collect_allocation, .data = check};
    if (!check->has_allocated)
        visit_stmt(&visitor, check->before->body);
    check->has_allocated = true;
    return map_has(&check->allocated, data);
}

/* --- a moved producer --- */

static bool is_private(OrderCheck *check, const AccessList *accesses, const Var *data, const Var *var)
{
    return data && is_allocated(check, data) && shown_is_private(check->ctx, accesses, &check->sizes, data, var);
}

/* All that MOVED writes is private to the iterations of the loop over VAR. */
static bool writes_privately(OrderCheck *check, const AccessList *accesses, const Block *moved, const Var *var)
{
    for (int i = 0; i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        if (access->write && access_in_block(access, moved) && !is_private(check, accesses, access->data, var))
            return false;
    }
    return true;
}

/* A and B, one of them in the block MOVED, meet in scratch of one loop's iterations, in which they keep their places; what MOVED computes
   does not leave an iteration either, so it is computed there from what it was computed from before. */
static bool meet_in_scratch(OrderCheck *check, const Block *moved, const AccessList *before, const AccessList *after, const Image *a,
                            const Image *b)
{
    const Var *loop = innermost_common_loop(a->old_access, b->old_access);
    return loop && loop == innermost_common_loop(a->new_access, b->new_access) &&
           access_precedes(a->old_access, b->old_access) == access_precedes(a->new_access, b->new_access) &&
           is_private(check, before, a->old_access->data, loop) && is_private(check, after, a->new_access->data, loop) &&
           writes_privately(check, before, moved, loop);
}

/* The scan and opaque axes of the reduction that ACCESS is part of, and of the blocks inside: updates keep their order along them. Only a
   step across a reduce axis may regroup updates. */
FrameList order_axes(Context *ctx, const Access *access)
{
    FrameList axes = {0};
    bool inside = true;
    for (const Frame *frame = access->frame; frame && inside; frame = frame->outer) {
        if (frame->kind == FRAME_BIND && frame->identity && (frame->axis == ITER_SCAN || frame->axis == ITER_OPAQUE))
            vec_push(ctx->arena, &axes, frame);
        inside = frame->kind != FRAME_BLOCK || frame->stmt->as.block.block != access->group;
    }
    return axes;
}

/* The updates of one reduction commute, but for those that differ in ordered axes; its init stays in front of those of its own point only. */
bool order_commutes(OrderCheck *check, const Access *first, const Access *second)
{
    if (!pair_is_harmless(first, second, true) || pair_is_harmless(first, second, false) || !first->initialized)
        return pair_is_harmless(first, second, true);
    const bool *known = map_get(&check->apart, first->group);
    if (!known) {
        Conflict ignored;
        bool apart = shown_tells_points_apart(check->ctx, check->before, first->group, &ignored);
        map_set(check->ctx->arena, &check->apart, first->group, (void *)(known = arena_copy(check->ctx->arena, &apart, sizeof apart)));
    }
    return *known;
}

/* --- the rows of the table --- */

Answer ordered_by_commuting(const Goal *goal)
{
    const Access *a = goal->order->a->old_access, *b = goal->order->b->old_access;
    return answer_if(order_commutes(goal->order->check, a, b) && !order_axes(goal->ctx, a).count);
}

Answer ordered_by_own_element(const Goal *goal)
{
    return answer_if(only_own_element(goal->order->check, goal->order->a->old_access, goal->order->b->old_access));
}

Answer ordered_by_scratch(const Goal *goal)
{
    const OrderGoal *order = goal->order;
    const Block *moved = order->question->moved;
    return answer_if(moved && meet_in_scratch(order->check, moved, order->before, order->after, order->a, order->b));
}

Answer ordered_by_position(const Goal *goal)
{
    const Image *a = goal->order->a, *b = goal->order->b;
    Arena *outside = context_begin_scratch(goal->ctx);
    bool kept = (!access_precedes(a->old_access, b->old_access) || access_precedes(a->new_access, b->new_access)) &&
                meet_in_one_iteration(goal->ctx, a->old_access, b->old_access) && meet_in_one_iteration(goal->ctx, a->new_access, b->new_access);
    context_end_scratch(goal->ctx, outside);
    return answer_if(kept);
}
