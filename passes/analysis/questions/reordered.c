/* Does a change of the loops keep the order of what depends on each other? See order_changes in pair.h and dependence_order_kept in
   dependence.h.

   Each access of the old part is found again in the new part: the same block symbol, the same place among the accesses of that block. An
   instance is named by the values of the block iterators and of the loops inside of blocks around it; the loops around blocks may differ.
   For two accesses a and b this set of pairs of instances must be empty: both touch one element, a runs before b in the old program, and
   not before b in the new one. The set is a union over two choices: the loop that orders a and b in the old program, and the loop that
   orders them in the new one. So it is decided part by part. */
#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/questions/order.h"

static bool below(const Access *access, const Stmt *part)
{
    for (const Frame *frame = access->frame; frame; frame = frame->outer)
        if (frame->stmt == part)
            return true;
    return access->stmt == part;
}

/* The index-th access of block BLOCK below PART. */
typedef struct {
    const Block *block;
    VEC(const Access *) accesses;
} BlockAccesses;

static BlockAccesses *accesses_of(Context *ctx, Map *blocks, const Block *block)
{
    static const char outside; /* the key of accesses that no block holds */
    const void *key = block ? (const void *)block : &outside;
    BlockAccesses *list = map_get(blocks, key);
    if (!list) {
        list = ARENA_NEW(ctx->arena, BlockAccesses);
        list->block = block;
        map_set(ctx->arena, blocks, key, list);
    }
    return list;
}

/* Those below PART; ALL: it is the whole program. DATA, where not NULL: those of the memory in it only. */
static Map group_by_block(Context *ctx, const AccessList *accesses, const Stmt *part, bool all, const Map *data)
{
    Map blocks = {0};
    BlockAccesses *list = NULL;
    const Var *last = NULL;
    bool wanted = true;
    for (int i = 0; i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        if (data && access->data != last)
            wanted = map_has(data, last = access->data);
        if (!wanted || (!all && !below(access, part)))
            continue;
        if (!list || list->block != access->block)
            list = accesses_of(ctx, &blocks, access->block);
        vec_push(ctx->arena, &list->accesses, access);
    }
    return blocks;
}

static const Frame *skip_positions(const Frame *frame)
{
    while (frame && frame->kind == FRAME_POSITION)
        frame = frame->outer;
    return frame;
}

/* The ways to both are the same but for places in lists of statements. */
static bool same_loops(const Frame *a, const Frame *b)
{
    for (a = skip_positions(a), b = skip_positions(b); a && b; a = skip_positions(a->outer), b = skip_positions(b->outer)) {
        bool same_block = a->kind != FRAME_BLOCK || b->kind != FRAME_BLOCK || a->stmt->as.block.block == b->stmt->as.block.block;
        if (a->kind != b->kind || a->var != b->var || a->range.min != b->range.min || a->range.extent != b->range.extent ||
            a->value != b->value || a->negated != b->negated || !same_block)
            return false;
    }
    return !a && !b;
}

/* Pairs up the accesses of both programs; false when some have no image. */
static bool find_images(OrderCheck *check, const Block *involved, const Map *old_blocks, const Map *new_blocks)
{
    for (int i = 0; i < old_blocks->count; i++) {
        const BlockAccesses *old_list = old_blocks->entries[i].value, *new_list = map_get(new_blocks, old_blocks->entries[i].key);
        if (!new_list || new_list->accesses.count != old_list->accesses.count)
            return false;
        for (int j = 0; j < old_list->accesses.count; j++) {
            Image image = {.old_access = old_list->accesses.data[j], .new_access = new_list->accesses.data[j]};
            image.keeps_loops = same_loops(image.old_access->frame, image.new_access->frame);
            image.in_init = access_in_init(image.old_access);
            image.involved = !involved || access_in_block(image.old_access, involved);
            if (image.old_access->data != image.new_access->data || image.old_access->write != image.new_access->write)
                return false;
            vec_push(check->ctx->arena, &check->images, image);
        }
    }
    return true;
}

/* --- naming instances --- */

FrameList order_identity(Context *ctx, const Frame *frame)
{
    FrameList list = {0}, reversed = {0};
    bool block_passed = false;
    for (const Frame *f = frame; f; f = f->outer) {
        if ((f->kind == FRAME_BIND && f->identity) || (f->kind == FRAME_LOOP && !block_passed))
            vec_push(ctx->arena, &reversed, f);
        block_passed |= f->kind == FRAME_BLOCK && f->stmt->as.block.iter_count > 0;
    }
    for (int i = reversed.count - 1; i >= 0; i--)
        vec_push(ctx->arena, &list, reversed.data[i]);
    return list;
}

static bool is_root(const Frame *frame)
{
    for (frame = frame->outer; frame; frame = frame->outer)
        if (frame->kind == FRAME_BLOCK)
            return false;
    return true;
}

static const AffineEnv *env_at(const AffineEnv *env, const Var *var)
{
    while (env && env->var != var)
        env = env->outer;
    return env;
}

/* Requires that the old iteration (ENV_OLD) and the new one (ENV_NEW) are the same instance; false when their identities do not
   correspond. */
static bool assume_same_instance(OrderCheck *check, AffineSpace *space, const Frame *old_frame, const AffineEnv *env_old,
                                 const Frame *new_frame, const AffineEnv *env_new)
{
    FrameList old_list = order_identity(check->ctx, old_frame), new_list = order_identity(check->ctx, new_frame);
    if (old_list.count != new_list.count)
        return false;
    for (int i = 0; i < old_list.count; i++) {
        const Expr *var = expr_var(check->ctx, old_list.data[i]->var);
        const AffineEnv *a = env_at(env_old, var->value.var), *b = env_at(env_new, var->value.var); /* a block without axes: of loops */
        if (!b)
            return false;
        affine_assume_compare(space, EXPR_EQ, a, var, b, var);
    }
    return true;
}

/* The loops around PART that the step left where they were: IMAGE lies in them before and after. */
static int loops_around(OrderCheck *check, const Stmt *part, const Image *image)
{
    const Frame *frame = image->old_access->frame;
    while (frame && frame->stmt != part)
        frame = frame->outer;
    int count, old_count, new_count;
    frame_loops(check->ctx, frame ? frame->outer : NULL, &count);
    const Frame **old_loops = frame_loops(check->ctx, image->old_access->frame, &old_count),
                **new_loops = frame_loops(check->ctx, image->new_access->frame, &new_count);
    for (int i = 0; i < count; i++)
        if (i >= new_count || old_loops[i]->var != new_loops[i]->var)
            return 0;
    return count;
}

/* What names the instances of the block at FRAME, and which of them run, is the same in all iterations of the loop at LOOP around it: none of
   their axes, conditions and inner loops depends on it. */
static bool is_apart_from_instances(const Frame *frame, const Frame *loop)
{
    bool apart = true;
    for (; frame != loop && apart; frame = frame->outer) {
        if ((frame->kind == FRAME_BIND && frame->identity) || frame->kind == FRAME_CONDITION)
            apart = !frame_depends(frame->outer, frame->value, loop->var);
        if (frame->kind == FRAME_LOOP)
            apart = !frame_depends(frame->outer, frame->range.min, loop->var) && !frame_depends(frame->outer, frame->range.extent, loop->var);
    }
    return apart;
}

/* Requires the old iteration of IMAGE and the new one to agree in each loop that names an instance and stands in both programs: in the loops around
   PART, and in those that no axis depends on. Where the step left IMAGE alone, all loops count. The dimensions of the old iteration start at
   FIRST_OLD. */
static void assume_same_iterations(OrderCheck *check, AffineSpace *space, const Stmt *part, const Image *image, int first_old, int first_new)
{
    int around = loops_around(check, part, image), old_count, new_count;
    const Frame *old_frame = image->old_access->frame;
    const Frame **old_loops = frame_loops(check->ctx, old_frame, &old_count),
                **new_loops = frame_loops(check->ctx, image->new_access->frame, &new_count);
    for (int i = 0; i < old_count; i++)
        for (int j = 0; j < new_count; j++)
            if (old_loops[i]->var == new_loops[j]->var &&
                (i < around || image->keeps_loops || is_apart_from_instances(old_frame, old_loops[i])))
                affine_assume_dims(space, EXPR_EQ, first_old + i, first_new + j);
}

/* --- order --- */

/* SPACE restricted to "the first LEVEL common loops agree, and in the next one X runs before Y", where X's dimensions start at FIRST_X and
   Y's at FIRST_Y. LEVEL equal to the number of common loops: all agree. */
static void assume_order_at(AffineSpace *space, int first_x, int first_y, int level, int common)
{
    for (int i = 0; i < level; i++)
        affine_assume_dims(space, EXPR_EQ, first_x + i, first_y + i);
    if (level < common)
        affine_assume_dims(space, EXPR_LT, first_x + level, first_y + level);
}

typedef struct {
    Pair old_pair, new_pair;
    int first_new_a, first_new_b; /* dimensions of the new iterations in the space of the old pair */
} ImagePair;

/* Does some part with the old order decided at OLD_LEVEL lose that order in the new program? BASE: the same elements, the same
   instances. */
static bool loses_order(ImagePair *pair, const AffineSpace *base, int old_level, Conflict *conflict)
{
    int common = pair->new_pair.common;
    AffineSpace ordered = affine_copy(base);
    assume_order_at(&ordered, 0, pair->old_pair.count_a, old_level, pair->old_pair.common);
    if (affine_verdict(&ordered) == SET_EMPTY) {
        affine_free(&ordered);
        return false;
    }
    bool lost = false;
    bool kept_by_position = access_precedes(pair->new_pair.a, pair->new_pair.b);
    for (int level = 0; level <= common && !lost; level++) {
        if (level == common && kept_by_position)
            break;
        AffineSpace part = affine_copy(&ordered);
        assume_order_at(&part, pair->first_new_b, pair->first_new_a, level, common); /* b before a, or both at once */
        lost = pair_conflicts(&pair->old_pair, part, conflict);
    }
    affine_free(&ordered);
    return lost;
}

/* Why instances of what ACCESS belongs to cannot be found again in other loops. */
static const char *unnamed_text(Context *ctx, const Access *access)
{
    for (const Frame *frame = access->frame; frame; frame = frame->outer)
        if (frame->kind == FRAME_BLOCK && frame->stmt->as.block.block == access->block && !is_root(frame))
            return arena_printf(ctx->arena, "block '%s' has no axes that tell its runs in different iterations apart",
                                access->block->name);
    return "statements outside of blocks cannot be followed through this step";
}

/* --- ordered axes --- */

/* loses_order, for instances that differ in an axis of AXES. */
static bool loses_order_along(ImagePair *pair, const AffineSpace *base, const FrameList *axes, int old_level, Conflict *conflict)
{
    const Pair *old_pair = &pair->old_pair;
    bool lost = false;
    for (int i = 0; i < 2 * axes->count && !lost; i++) {
        AffineSpace differ = affine_copy(base);
        const Expr *axis = expr_var(old_pair->ctx, axes->data[i / 2]->var);
        affine_assume_compare(&differ, i % 2 ? EXPR_LT : EXPR_GT, old_pair->env_a, axis, old_pair->env_b, axis);
        lost = loses_order(pair, &differ, old_level, conflict);
        affine_free(&differ);
    }
    return lost;
}

/* The old order of A before B is lost for some instances, with ALONG for some that differ in one of its axes. */
static bool order_is_lost(OrderCheck *check, const Stmt *part, const Image *a, const Image *b, const FrameList *along, Conflict *conflict)
{
    ImagePair pair = {pair_new(check->ctx, a->old_access, b->old_access), pair_new(check->ctx, a->new_access, b->new_access), 0, 0};
    Pair *old_pair = &pair.old_pair;
    pair_build(old_pair, &check->sizes, pair.new_pair.count_a + pair.new_pair.count_b);
    AffineSpace *space = &old_pair->space;
    pair.first_new_a = old_pair->dims - pair.new_pair.count_a - pair.new_pair.count_b;
    pair.first_new_b = old_pair->dims - pair.new_pair.count_b;
    const AffineEnv *env_a = frame_env(check->ctx, a->new_access->frame, pair.first_new_a),
                    *env_b = frame_env(check->ctx, b->new_access->frame, pair.first_new_b);
    access_assume_beside_updates(space, a->new_access, env_a, old_pair->dims);
    access_assume_beside_updates(space, b->new_access, env_b, old_pair->dims);
    assume_same_iterations(check, space, part, a, 0, pair.first_new_a);
    assume_same_iterations(check, space, part, b, old_pair->count_a, pair.first_new_b);
    bool known_a = assume_same_instance(check, space, a->old_access->frame, old_pair->env_a, a->new_access->frame, env_a);
    bool known_b = assume_same_instance(check, space, b->old_access->frame, old_pair->env_b, b->new_access->frame, env_b);
    bool lost = !known_a || !known_b;
    if (lost)
        *conflict = (Conflict){a->old_access, b->old_access, false, unnamed_text(check->ctx, known_a ? b->old_access : a->old_access)};
    for (int level = 0; level <= old_pair->common && !lost; level++)
        if (level < old_pair->common || access_precedes(old_pair->a, old_pair->b))
            lost = along ? loses_order_along(&pair, space, along, level, conflict) : loses_order(&pair, space, level, conflict);
    affine_free(space);
    return lost;
}

/* Those that keep their loops come in the same order before and after: then any two of them do. The lists are in program order. */
static bool kept_in_order(const OrderCheck *check, const AccessList *before, const AccessList *after)
{
    const Access **images = ARENA_ARRAY(check->ctx->arena, const Access *, before->count);
    for (int i = 0; i < check->images.count; i++)
        if (check->images.data[i].keeps_loops)
            images[check->images.data[i].old_access - before->data] = check->images.data[i].new_access;
    const Access *last = after->data;
    for (int i = 0; i < before->count; i++) {
        if (!images[i])
            continue;
        if (images[i] < last)
            return false;
        last = images[i];
    }
    return true;
}

/* The images by their memory: data variable -> ImageRefs, in program order; with MOVED those that do not keep their loops only. Only they can
   touch a common element, but for fences. */
static Map images_by_data(const OrderCheck *check, bool moved)
{
    Map by_data = {0};
    Arena *arena = check->ctx->arena;
    for (int i = 0; i < check->images.count; i++) {
        const Image *image = &check->images.data[i];
        ImageRefs *refs = image->old_access->data ? map_get(&by_data, image->old_access->data) : NULL;
        if (!image->old_access->data || (moved && image->keeps_loops))
            continue;
        if (!refs)
            map_set(arena, &by_data, image->old_access->data, refs = ARENA_NEW(arena, ImageRefs));
        vec_push(arena, refs, image);
    }
    return by_data;
}

/* All images, where one of them is a fence; else none. */
static ImageRefs images_with_fences(const OrderCheck *check)
{
    ImageRefs all = {0};
    bool fences = false;
    for (int i = 0; i < check->images.count; i++)
        fences |= check->images.data[i].old_access->fence;
    for (int i = 0; fences && i < check->images.count; i++)
        vec_push(check->ctx->arena, &all, &check->images.data[i]);
    return all;
}

/* Adds the memory to DATA that can be touched in an order that is lost: by what changed, or by the block that the question is about. False
   where that is all of it. */
static bool find_shared_data(Context *ctx, const AccessList *accesses, const OrderQuestion *question, Map *data)
{
    ChangedItems changed = func_changed_items(question->before, question->after);
    for (int i = 0; i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        if (access->fence || !access->data)
            return false;
        bool kept = changed.known && access->item >= 0 && (access->item < changed.first || access->item >= changed.old_end);
        if (question->involved ? access_in_block(access, question->involved) : !kept)
            map_set(ctx->arena, data, access->data, access->data);
    }
    return true;
}

static bool pair_loses_order(const OrderGoal *order, Conflict *conflict)
{
    OrderCheck *check = order->check;
    const OrderQuestion *question = order->question;
    const Image *a = order->a, *b = order->b;
    if ((!a->involved && !b->involved) || pair_is_harmless(a->old_access, b->old_access, false) ||
        (question->wanted && !question->wanted(question->data, a->old_access, b->old_access)) ||
        answer_is_shown(prove((Goal){.kind = GOAL_ORDERED, .ctx = check->ctx, .order = order})))
        return false;
    bool commutes = order_commutes(check, a->old_access, b->old_access);
    FrameList ordered = commutes ? order_axes(check->ctx, a->old_access) : (FrameList){0};
    Arena *outside = context_begin_scratch(check->ctx);
    bool lost = order_is_lost(check, question->old_part, a, b, ordered.count ? &ordered : NULL, conflict);
    pair_end_scratch(check->ctx, outside, lost ? conflict : NULL);
    return lost;
}

bool order_changes(Context *ctx, const OrderQuestion *question, Conflict *conflict)
{
    const Func *before = question->before, *after = question->after;
    const Stmt *old_part = question->old_part, *new_part = question->new_part;
    OrderCheck check = {.ctx = ctx, .before = before, .sizes = func_sizes(ctx, before)};
    AccessList old_accesses = access_collect(ctx, before), new_accesses = access_collect(ctx, after);
    Map shared = {0}, *data = find_shared_data(ctx, &old_accesses, question, &shared) ? &shared : NULL;
    Map old_blocks = group_by_block(ctx, &old_accesses, old_part, old_part == before->body, data),
        new_blocks = group_by_block(ctx, &new_accesses, new_part, new_part == after->body, data);
    if (!find_images(&check, question->involved, &old_blocks, &new_blocks)) {
        *conflict = (Conflict){.text = "the blocks of the program changed in this step"};
        return true;
    }
    Map by_data = images_by_data(&check, false), moved = images_by_data(&check, true);
    ImageRefs all = images_with_fences(&check);
    bool in_order = kept_in_order(&check, &old_accesses, &new_accesses);
    int count = check.images.count;
    for (int i = 0; i < 2 * count; i++) { /* first the pairs without an init: that updates lose their order says more */
        const Image *image = &check.images.data[i % count];
        const ImageRefs *others =
            all.count ? &all : map_get(in_order && image->keeps_loops ? &moved : &by_data, image->old_access->data);
        for (int j = 0; others && j < others->count; j++)
            if ((image->in_init || others->data[j]->in_init) == (i >= count) &&
                pair_loses_order(&(OrderGoal){&check, question, &old_accesses, &new_accesses, image, others->data[j]}, conflict))
                return true;
    }
    return false;
}
