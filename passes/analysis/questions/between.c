/* Two blocks that become one: what runs between an instance that writes and one that reads what it wrote. See dependence_none_between and
   the questions of inlining in dependence.h.

   One integer set holds three iterations and two elements: p of FROM writes and q of UNTIL reads one element of the value that both share; w of
   MIDDLE touches what the moved one of p and q touches. It is conflicting when p runs before w and w before q; that is decided part by part,
   over the loop that orders p and w and the loop that orders w and q. Where the writes of FROM cover the reads of UNTIL in each iteration of
   the loops around both, p and q share that iteration: the last write before q is there. */
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/questions/conflict.h"

typedef struct {
    Context *ctx;
    Map sizes;
    const Access *write, *read; /* of the shared value, by FROM and by UNTIL */
    bool moves_from;            /* FROM is moved to UNTIL; else the other way round */
    bool tried, agree;          /* tried: AGREE says whether p and q share the loops around both; see shares_loops */
} Between;

/* An iteration as dimensions of the set. */
typedef struct {
    const Access *access;
    int first;
} Iteration;

static int loops_shared(Context *ctx, const Access *a, const Access *b)
{
    int count_a, count_b, shared = 0;
    const Frame **loops_a = frame_loops(ctx, a->frame, &count_a), **loops_b = frame_loops(ctx, b->frame, &count_b);
    while (shared < count_a && shared < count_b && loops_a[shared] == loops_b[shared])
        shared++;
    return shared;
}

/* SPACE restricted to "the first LEVEL loops that A and B share agree, and in the next one A comes before B". LEVEL equal to the number of
   those: all agree, and the places of A and B decide, FALSE where A does not come first. */
static bool assume_before(Context *ctx, AffineSpace *space, const Iteration *a, const Iteration *b, int level)
{
    int shared = loops_shared(ctx, a->access, b->access);
    for (int i = 0; i < level; i++)
        affine_assume_dims(space, EXPR_EQ, a->first + i, b->first + i);
    if (level < shared)
        affine_assume_dims(space, EXPR_LT, a->first + level, b->first + level);
    return level < shared || access_precedes(a->access, b->access);
}

/* Some instance of A comes before one of B, by their places alone: a cheap argument, for most blocks stand before or behind both others. */
static bool may_come_before(Context *ctx, const Access *a, const Access *b)
{
    return loops_shared(ctx, a, b) > 0 || access_precedes(a, b);
}

/* In each iteration of the loops around both WRITE comes first and writes all that READ reads there. */
static bool serves(Context *ctx, const Access *write, const Access *read, const Map *sizes)
{
    return write->write && !write->whole && !read->whole && access_precedes(write, read) && access_covers(ctx, write, read, sizes);
}

/* The last write before q is in the iteration of q: p is there. Asked only where something may come between. */
static bool shares_loops(Between *between)
{
    if (!between->tried)
        between->agree = serves(between->ctx, between->write, between->read, &between->sizes);
    between->tried = true;
    return between->agree;
}

/* Some part of SPACE with p before w before q holds a point. */
static bool is_between(Pair *pair, const AffineSpace *space, const Iteration *p, const Iteration *w, const Iteration *q, Conflict *conflict)
{
    Context *ctx = pair->ctx;
    bool found = false;
    for (int i = loops_shared(ctx, p->access, w->access); i >= 0 && !found; i--) {
        AffineSpace after = affine_copy(space);
        bool possible = assume_before(ctx, &after, p, w, i) && affine_verdict(&after) != SET_EMPTY;
        for (int j = loops_shared(ctx, w->access, q->access); possible && j >= 0 && !found; j--) {
            AffineSpace before = affine_copy(&after);
            if (assume_before(ctx, &before, w, q, j))
                found = pair_conflicts(pair, before, conflict);
            else
                affine_free(&before);
        }
        affine_free(&after);
    }
    return found;
}

/* A and B touch one element in some iterations, in whatever order; or possibly so. */
static bool may_meet(const Between *between, const Access *a, const Access *b)
{
    Pair pair = pair_new(between->ctx, a, b);
    pair_build(&pair, &between->sizes, 0);
    bool empty = affine_verdict(&pair.space) == SET_EMPTY;
    affine_free(&pair.space);
    return !empty;
}

/* MOVED, an access of the moved instance, and MIDDLE. */
static bool touches_between(Between *between, const Access *moved, const Access *middle, Conflict *conflict)
{
    Context *ctx = between->ctx;
    const Access *link = between->moves_from ? between->write : between->read, *other = between->moves_from ? between->read : between->write;
    if (!may_come_before(ctx, between->moves_from ? moved : other, middle) ||
        !may_come_before(ctx, middle, between->moves_from ? other : moved) || !may_meet(between, moved, middle))
        return false;
    Pair pair = pair_new(ctx, moved, middle);
    int count_other = frame_loop_count(other->frame), count_link = frame_loop_count(link->frame), ndim = link->buffer->ndim;
    pair_build(&pair, &between->sizes, count_other + ndim);
    int first_other = pair.dims - ndim - count_other, first_element = pair.dims - ndim;
    const AffineEnv *env_link = frame_env(ctx, link->frame, 0), *env_other = frame_env(ctx, other->frame, first_other);
    AffineSpace *space = &pair.space;
    bool same_loops = loops_shared(ctx, moved, link) == pair.count_a && count_link == pair.count_a && other->buffer->ndim == ndim;
    if (same_loops) {
        access_assume_possible(space, link, env_link);
        access_assume_possible(space, other, env_other);
        access_assume_element(space, link, env_link, first_element);
        access_assume_element(space, other, env_other, first_element);
        for (int i = loops_shared(ctx, link, other); shares_loops(between) && i-- > 0;)
            affine_assume_dims(space, EXPR_EQ, i, first_other + i);
    }
    Iteration own = {moved, 0}, w = {middle, pair.count_a}, far = {other, first_other};
    bool found = !same_loops || is_between(&pair, space, between->moves_from ? &own : &far, &w, between->moves_from ? &far : &own, conflict);
    if (!same_loops)
        *conflict = (Conflict){moved, middle, false, "what runs between cannot be told"};
    affine_free(space);
    return found;
}

/* The same for all accesses of MOVED and MIDDLE but those of the shared value. */
static bool any_touches(Between *between, const AccessList *moved, const AccessList *middle, Conflict *conflict)
{
    const Var *data = between->write->data;
    for (int i = 0; i < moved->count; i++)
        for (int j = 0; j < middle->count; j++) {
            const Access *a = &moved->data[i], *b = &middle->data[j];
            if ((a->data == data && !b->fence) || (b->data == data && !a->fence) || pair_is_harmless(a, b, false))
                continue;
            if (touches_between(between, a, b, conflict))
                return true;
        }
    return false;
}

/* READ of BLOCK as if each instance made it: one that moves does so whether or not a choice in it asks for the element. */
static const Access *made_by_all(Context *ctx, const AccessList *accesses, const Block *block, const Access *read)
{
    const BlockStmt *stmt = NULL;
    Access made = *read;
    made.frame = access_block_frame(accesses, block, &stmt);
    made.asked = true;
    made.never = false;
    return made.frame ? arena_copy(ctx->arena, &made, sizeof made) : read;
}

bool conflict_comes_between(Context *ctx, const Func *func, const BlockPair *pair, const Var *data, const AccessList *middle, Conflict *conflict)
{
    AccessList accesses = access_collect(ctx, func);
    AccessList from = access_collect_inside(ctx, func, pair->from), until = access_collect_inside(ctx, func, pair->until);
    Between between = {.ctx = ctx, .sizes = func_sizes(ctx, func), .moves_from = pair->moves_from};
    for (int i = 0; i < from.count; i++)
        for (int j = 0; j < until.count; j++) {
            between.write = &from.data[i];
            between.read = &until.data[j];
            if (between.write->data != data || between.read->data != data || !between.write->write || between.read->write)
                continue;
            if (!pair->moves_from)
                between.read = made_by_all(ctx, &accesses, pair->until, between.read);
            between.tried = false;
            if (any_touches(&between, pair->moves_from ? &from : &until, middle, conflict))
                return true;
        }
    return false;
}

bool shown_serves_each_iteration(Context *ctx, const Func *func, const Block *from, const Block *until, const Var *data)
{
    AccessList writes = access_collect_inside(ctx, func, from), reads = access_collect_inside(ctx, func, until);
    Map sizes = func_sizes(ctx, func);
    for (int j = 0; j < reads.count; j++) {
        const Access *read = &reads.data[j];
        bool served = read->data != data || read->write;
        for (int i = 0; i < writes.count && !served; i++)
            served = writes.data[i].data == data && serves(ctx, &writes.data[i], read, &sizes);
        if (!served)
            return false;
    }
    return true;
}

bool conflict_overwrites(Context *ctx, const Func *func, const Block *reader, const Block *writer, Conflict *conflict)
{
    AccessList reads = access_collect_inside(ctx, func, reader), writes = access_collect_inside(ctx, func, writer);
    Map sizes = func_sizes(ctx, func);
    for (int i = 0; i < reads.count; i++)
        for (int j = 0; j < writes.count && !reads.data[i].write; j++) {
            const Access *read = &reads.data[i], *write = &writes.data[j];
            if ((!write->write && !write->fence) || pair_is_harmless(read, write, false))
                continue;
            Pair pair = pair_new(ctx, read, write);
            pair_build(&pair, &sizes, 0);
            if (pair_conflicts(&pair, pair.space, conflict))
                return true;
        }
    return false;
}

bool conflict_shares_memory(Context *ctx, const Func *func, const Block *block, const Block *other, const Var *except)
{
    AccessList some = access_collect_inside(ctx, func, block), others = access_collect_inside(ctx, func, other);
    for (int i = 0; i < some.count; i++)
        for (int j = 0; j < others.count; j++) {
            const Access *a = &some.data[i], *b = &others.data[j];
            if (!pair_is_harmless(a, b, false) && (a->fence || b->fence || a->data != except))
                return true;
        }
    return false;
}

Map dependence_read_data(Context *ctx, const Func *func, const Block *block)
{
    AccessList accesses = access_collect_inside(ctx, func, block);
    Map data = {0};
    for (int i = 0; i < accesses.count; i++) {
        Var *read = accesses.data[i].write ? NULL : accesses.data[i].data;
        if (read)
            map_set(ctx->arena, &data, read, read);
    }
    return data;
}

bool conflict_reads_late(Context *ctx, const Func *func, const Block *block, int common, const Var *own, Conflict *conflict)
{
    AccessList accesses = access_collect_inside(ctx, func, block);
    Map sizes = func_sizes(ctx, func);
    for (int i = 0; i < accesses.count; i++)
        for (int j = 0; j < accesses.count && accesses.data[i].write; j++)
            if (!accesses.data[j].write && (!own || accesses.data[j].data != own || accesses.data[j].fence) &&
                !pair_is_harmless(&accesses.data[i], &accesses.data[j], true) &&
                access_comes_before(ctx, &accesses.data[i], &accesses.data[j], &sizes, common, conflict))
                return true;
    return false;
}
