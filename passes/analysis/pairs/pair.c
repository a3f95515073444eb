/* See pair.h. */

#include <string.h>

#include "passes/analysis/pairs/pair.h"
#include "passes/analysis/pairs/witness.h"

bool pair_is_harmless(const Access *a, const Access *b, bool reductions_commute)
{
    if (!a->write && !b->write)
        return true;
    if (a->fence || b->fence)
        return false;
    if (a->data != b->data)
        return true;
    return reductions_commute && a->group && a->group == b->group;
}

void access_assume_element(AffineSpace *space, const Access *access, const AffineEnv *env, int first)
{
    Context *ctx = space->ctx;
    space->approximate |= access->whole || access->may;
    if (access->whole)
        return;
    for (int i = 0; i < access->buffer->ndim; i++) {
        Range range = access->region.ranges[i];
        if (expr_is_int(range.extent, 1)) {
            Var *coordinate = var_new(ctx, access->buffer->name, range.min->dtype, span_none());
            AffineEnv element = {NULL, coordinate, first + i, NULL};
            affine_assume_compare(space, EXPR_EQ, &element, expr_var(ctx, coordinate), env, range.min);
        } else {
            affine_assume_range(space, env, first + i, range);
        }
    }
}

Pair pair_new(Context *ctx, const Access *a, const Access *b)
{
    Pair pair = {.ctx = ctx, .a = a, .b = b};
    pair.loops_a = frame_loops(ctx, a->frame, &pair.count_a);
    pair.loops_b = frame_loops(ctx, b->frame, &pair.count_b);
    while (pair.common < pair.count_a && pair.common < pair.count_b && pair.loops_a[pair.common] == pair.loops_b[pair.common])
        pair.common++;
    pair.element = pair.count_a + pair.count_b;
    pair.env_a = frame_env(ctx, a->frame, 0);
    pair.env_b = frame_env(ctx, b->frame, pair.count_a);
    return pair;
}

int pair_level(const Pair *pair, const Var *var)
{
    int level = 0;
    while (level < pair->common && pair->loops_a[level]->var != var)
        level++;
    return level;
}

void pair_build(Pair *pair, const Map *sizes, int extra)
{
    const Access *a = pair->a, *b = pair->b;
    int ndim = a->buffer && b->buffer && a->data == b->data ? a->buffer->ndim : 0;
    pair->dims = pair->element + ndim + extra;
    pair->space = affine_universe(pair->ctx, pair->dims, sizes);
    pair->space.terms = pair->terms;
    access_assume_possible(&pair->space, a, pair->env_a);
    access_assume_possible(&pair->space, b, pair->env_b);
    if (a->fence || b->fence) {
        pair->space.approximate = true;
    } else if (ndim) {
        access_assume_element(&pair->space, a, pair->env_a, pair->element);
        access_assume_element(&pair->space, b, pair->env_b, pair->element);
    }
}

void pair_share_terms(Pair *pair, AffineTerms *terms)
{
    pair->terms = terms;
    pair->env_b = frame_env_agreeing(pair->ctx, pair->b->frame, terms->fixed, pair->count_a);
}

void pair_assume_equal(Pair *pair, AffineSpace *space, int count)
{
    for (int i = 0; i < count; i++)
        affine_assume_dims(space, EXPR_EQ, i, pair->count_a + i);
}

typedef struct {
    bool block;     /* name the block, too */
    bool leave_out; /* leave out the loops in one of whose iterations an init runs, for any of them would do */
} PlaceForm;

/* The values of bindings are not needed to find the place. */
static void add_place(Witness *witness, const Access *access, const Frame **loops, int count, const int64_t *values, PlaceForm form)
{
    const Frame **named = ARENA_ARRAY(witness->ctx->arena, const Frame *, count);
    int64_t *at = ARENA_ARRAY(witness->ctx->arena, int64_t, count);
    int left = 0;
    for (int i = 0; i < count; i++)
        if (!form.leave_out || !access_once_in(access, loops[i])) {
            named[left] = loops[i];
            at[left++] = values[i];
        }
    if (count && !left) {
        form.leave_out = false;
        add_place(witness, access, loops, count, values, form);
        return;
    }
    const char *verb = !access->write ? "read" : access_in_init(access) ? "initialized" : "written";
    strbuf_printf(&witness->text, "%s %s", verb, count ? "at " : "outside of the loops");
    witness_add_iteration(witness, named, left, at);
    if (form.block)
        strbuf_printf(&witness->text, " in block '%s'", access->block->name);
}

/* A loop around one access has the name of another loop around the other one, so that the blocks must tell which is meant. */
static bool needs_blocks(const Pair *pair)
{
    if (!pair->a->block || !pair->b->block || pair->a->block == pair->b->block)
        return false;
    for (int i = 0; i < pair->count_a; i++)
        for (int j = 0; j < pair->count_b; j++)
            if (pair->loops_a[i]->var != pair->loops_b[j]->var && !strcmp(pair->loops_a[i]->var->name, pair->loops_b[j]->var->name))
                return true;
    return false;
}

static const char *witness_text(Pair *pair, const int64_t *values, const char *params)
{
    Witness witness = witness_new(pair->ctx, pair->a->func, pair->a->frame, pair->b->frame);
    PlaceForm form = {.block = needs_blocks(pair), .leave_out = access_in_init(pair->a) != access_in_init(pair->b)};
    witness_add_accessed(&witness, pair->a, values + pair->element);
    strbuf_add(&witness.text, " is ");
    add_place(&witness, pair->a, pair->loops_a, pair->count_a, values, form);
    strbuf_add(&witness.text, " and ");
    add_place(&witness, pair->b, pair->loops_b, pair->count_b, values + pair->count_a, form);
    if (*params)
        strbuf_printf(&witness.text, " (with %s)", params);
    return strbuf_text(&witness.text);
}

/* ACCESS stands for a call of a function of the program in a block that declares regions. */
static bool is_callee(const Access *access)
{
    const Frame *frame = access->fence ? frame_of_block(access->frame, access->block) : NULL;
    return frame && block_declares_regions(&frame->stmt->as.block) && frame->stmt->as.block.callees == CALLEES_UNKNOWN;
}

static const char *unknown_text(Pair *pair, bool quota)
{
    const Access *a = pair->a, *b = pair->b;
    const Buffer *anywhere = a->anywhere ? a->anywhere : b->anywhere;
    if (anywhere)
        return arena_printf(pair->ctx->arena, "'%s' lies at a pointer that may lead to any memory", anywhere->name);
    if (is_callee(a) || is_callee(b))
        return "a call of a function of the program is not shown to touch only what T.reads and T.writes of the block around it declare";
    if (a->fence || b->fence)
        return "an opaque call without declared reads and writes may touch anything; T.reads and T.writes on a block around it say what it "
               "touches";
    const char *name = a->buffer->name;
    const char *verbs = a->write && b->write ? "writes of" : "the write and the read of";
    if (quota)
        return arena_printf(pair->ctx->arena, "whether %s '%s' meet is too complex to decide", verbs, name);
    return arena_printf(pair->ctx->arena, "whether %s '%s' meet in one element cannot be shown: an index or condition is not affine", verbs,
                        name);
}

bool pair_conflicts(Pair *pair, AffineSpace space, Conflict *conflict)
{
    SetVerdict verdict = affine_verdict(&space);
    if (verdict != SET_EMPTY) {
        *conflict = (Conflict){.first = pair->a, .second = pair->b};
        int64_t *values = ARENA_ARRAY(pair->ctx->arena, int64_t, pair->dims);
        const char *params;
        bool terms = space.terms && space.terms->known.count; /* which may have other values than a point gives them */
        bool exact = verdict == SET_HAS_POINT && !space.approximate && !terms && !pair->a->fence && !pair->b->fence;
        conflict->witnessed = exact && affine_sample(&space, values, &params);
        conflict->text = conflict->witnessed ? witness_text(pair, values, params) : unknown_text(pair, verdict == SET_UNKNOWN);
    }
    affine_free(&space);
    return verdict != SET_EMPTY;
}

void pair_end_scratch(Context *ctx, Arena *outside, Conflict *conflict)
{
    if (conflict)
        conflict->text = arena_strndup(outside, conflict->text, strlen(conflict->text));
    context_end_scratch(ctx, outside);
}
