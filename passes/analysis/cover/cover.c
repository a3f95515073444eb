/* Which reads find what was written before: must-writes that cover a read. The one engine for it, for schedule, analysis and lowering: see
   access_covered in pair.h.

   In each iteration of some loops around both, the elements that the read may touch must lie in those that the writes certainly touch. The
   arguments are rows of the portfolio, first for one write (COVERED), then for several (COVERED_TOGETHER). A may-write does not count, nor
   one in a loop that may be left; a may-read may be of any element. */
#include <limits.h>

#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/model/access_init.h"
#include "passes/analysis/normal/access_rows.h"
#include "passes/analysis/pairs/pair.h"
#include "passes/analysis/pairs/witness.h"

/* The loop over VAR takes part in a reduction around ACCESS: one iteration of it does not hold the init of all that it reads. With INIT: in
   one to whose init ACCESS belongs, so that only the first iteration holds it. */
static bool loop_is_reduced(const Access *access, const Var *var, bool init)
{
    for (const Frame *frame = access->frame; frame; frame = frame->outer)
        if (frame->kind == FRAME_BLOCK && frame_reduces_over(frame, var) && (!init || frame_in_init(access->frame, frame)))
            return true;
    return false;
}

/* The same for the loop over VAR or one around it: an init before that one is not in each iteration of the loop over VAR either. */
static bool is_reduced_around(const Access *access, const Var *var, bool init)
{
    for (const Frame *loop = access_loop(access, var); loop; loop = loop->outer)
        if (loop->kind == FRAME_LOOP && loop_is_reduced(access, loop->var, init))
            return true;
    return false;
}

/* Restricts SPACE to the iterations of the first COUNT loops of ACCESS in which it runs. The init of a reduction over one of them does not
   run in each; what it reads is read where nothing is reduced, too. */
static void assume_runs(Context *ctx, AffineSpace *space, const Access *access, int count, const AffineEnv *env)
{
    int loop_count;
    const Frame **loops = frame_loops(ctx, access->frame, &loop_count);
    bool reduced = false;
    for (int i = 0; i < count; i++)
        reduced |= loop_is_reduced(access, loops[i]->var, false);
    if (!access->write && access_may_lack_updates(access))
        access_assume_anywhere(space, access, env);
    else if (reduced)
        frame_assume(space, access->frame, env);
    else
        access_assume(space, access, env);
}

/* The elements that ACCESS touches in one iteration of the first loops, which TERMS fixes: a set over those loops and the element. NULL
   when unknown; *EXACT false when it may be too large. */
static isl_set *touched_elements(Context *ctx, const Access *access, AffineTerms *terms, const Map *sizes, bool *exact)
{
    int count = terms->fixed;
    int loops;
    frame_loops(ctx, access->frame, &loops);
    AffineSpace space = affine_universe(ctx, loops + access->buffer->ndim, sizes);
    space.terms = terms;
    const AffineEnv *env = frame_env(ctx, access->frame, 0);
    assume_runs(ctx, &space, access, count, env);
    access_assume_element(&space, access, env, loops);
    *exact = !space.approximate;
    for (int i = 0; !access->asked && i < access->buffer->ndim; i++) { /* no program touches elements out of bounds */
        Range whole = {expr_int(ctx, access->buffer->shape[i]->dtype, 0), access->buffer->shape[i]};
        affine_assume_range(&space, NULL, loops + i, whole);
    }
    isl_set *set = affine_take_set(&space);
    return set ? isl_set_project_out(set, isl_dim_set, (unsigned)count, (unsigned)(loops - count)) : NULL;
}

static int loops_around(Context *ctx, const Frame *frame)
{
    int count;
    frame_loops(ctx, frame, &count);
    return count;
}

/* How many loops both share, of those around PLACE (NULL: of all): *COMMON. False when WRITE need not run in each iteration of them, or
   READ not in one of them. */
static bool runs_in_common_loops(Context *ctx, const Access *write, const Access *read, const Frame *place, int *common)
{
    int count_write, count_read, most = place ? loops_around(ctx, place) : INT_MAX;
    const Frame **loops_write = frame_loops(ctx, write->frame, &count_write), **loops_read = frame_loops(ctx, read->frame, &count_read);
    *common = 0;
    while (*common < most && *common < count_write && *common < count_read && loops_write[*common] == loops_read[*common])
        ++*common;
    for (int i = *common; i < count_write; i++)
        if (loops_write[i]->unsure)
            return false;
    for (int i = 0; i < *common; i++)
        if (access_runs_without(read, loops_write[i]))
            return false;
    return !write->may && (!write->never || read->never);
}

/* The elements that the read of GOAL touches lie in WRITTEN (taken; NULL when it is not known), which shares TERMS. */
static Answer lie_in(const Goal *goal, AffineTerms *terms, isl_set *written)
{
    bool exact;
    isl_set *needed = written ? touched_elements(goal->ctx, goal->read, terms, goal->sizes, &exact) : NULL;
    needed = affine_bound_params(needed, goal->sizes, terms);
    bool covers = needed && isl_set_is_subset(needed, written) == isl_bool_true;
    isl_set_free(needed);
    isl_set_free(written);
    return answer_if(covers);
}

Answer covered_by_set(const Goal *goal)
{
    AffineTerms terms = {.fixed = goal->common};
    bool exact;
    isl_set *written = touched_elements(goal->ctx, goal->writes[0], &terms, goal->sizes, &exact);
    if (exact)
        return lie_in(goal, &terms, written);
    isl_set_free(written);
    return answer_unknown("what is written is not affine");
}

Answer covered_by_filled_box(const Goal *goal)
{
    AffineTerms terms = {.fixed = goal->common};
    return lie_in(goal, &terms, access_filled_box(goal->ctx, goal->writes[0], &terms, goal->sizes));
}

static bool covers_as_named(Context *ctx, const Access *write, const Access *read, const Frame *place, const Map *sizes)
{
    int common;
    if (!runs_in_common_loops(ctx, write, read, place, &common))
        return false;
    return answer_is_shown(prove((Goal){
        .kind = GOAL_COVERED, .ctx = ctx, .sizes = sizes, .writes = &write, .write_count = 1, .read = read, .common = common}));
}

static bool is_covered(Context *ctx, const Access *write, const Access *read, const Frame *place, const Map *sizes)
{
    if (covers_as_named(ctx, write, read, place, sizes))
        return true;
    const Access plain_write = access_unsplit(write), plain_read = access_unsplit(read);
    return write->rows && read->rows && covers_as_named(ctx, &plain_write, &plain_read, place, sizes);
}

bool access_covers(Context *ctx, const Access *write, const Access *read, const Map *sizes)
{
    Arena *outside = context_begin_scratch(ctx);
    bool covers = is_covered(ctx, write, read, NULL, sizes);
    context_end_scratch(ctx, outside);
    return covers;
}

/* What the read of GOAL reads in one iteration of the first loops, which TERMS fixes, and those of its writes that share just these loops
   with it do not write; NULL when unknown. *EXACT false when it may be too large, for only what a write certainly touches is taken out. */
static isl_set *left_unwritten(const Goal *goal, AffineTerms *terms, bool *exact)
{
    Context *ctx = goal->ctx;
    isl_set *left = touched_elements(ctx, goal->read, terms, goal->sizes, exact);
    for (int i = 0; i < goal->write_count && left; i++) {
        const Access *write = goal->writes[i];
        int common;
        bool known = true, runs = runs_in_common_loops(ctx, write, goal->read, goal->place, &common);
        if (write->never)
            continue;
        runs = runs && common == terms->fixed && write->buffer->ndim == goal->read->buffer->ndim;
        isl_set *written = runs ? touched_elements(ctx, write, terms, goal->sizes, &known) : NULL;
        if (written && !known) {
            isl_set_free(written);
            written = access_filled_box(ctx, write, terms, goal->sizes);
        }
        *exact &= written && known;
        if (written)
            left = isl_set_subtract(left, written);
    }
    return left;
}

/* All that the read of GOAL reads in one iteration of the first COMMON loops is written. */
static bool nothing_is_left(const Goal *goal, int common)
{
    AffineTerms terms = {.fixed = common};
    bool exact;
    isl_set *left = affine_bound_params(left_unwritten(goal, &terms, &exact), goal->sizes, &terms);
    bool empty = left && isl_set_is_empty(left) == isl_bool_true;
    isl_set_free(left);
    return empty;
}

Answer covered_by_union(const Goal *goal)
{
    Arena *outside = context_begin_scratch(goal->ctx);
    bool covers = goal->place && nothing_is_left(goal, loops_around(goal->ctx, goal->place));
    for (int i = 0; i < goal->write_count && goal->write_count > 1 && !goal->place && !covers; i++) {
        int common;
        covers = runs_in_common_loops(goal->ctx, goal->writes[i], goal->read, NULL, &common) && nothing_is_left(goal, common);
    }
    context_end_scratch(goal->ctx, outside);
    return answer_if(covers);
}

/* "B[4] at i = 3": an element that the read of GOAL, in the loops around PLACE, certainly reads and its writes certainly do not write; NULL
   when none is found. */
static const char *uncovered_text(const Goal *goal, const Frame *place)
{
    Context *ctx = goal->ctx;
    const Access *read = goal->read;
    bool exact;
    AffineTerms terms = {0};
    const Frame **loops = frame_loops(ctx, place, &terms.fixed);
    isl_set *left = left_unwritten(goal, &terms, &exact);
    if (!exact || terms.known.count || !left) {
        isl_set_free(left);
        return NULL;
    }
    AffineSpace missing = affine_of_set(ctx, left, goal->sizes);
    int64_t *values = ARENA_ARRAY(ctx->arena, int64_t, terms.fixed + read->buffer->ndim);
    const char *params;
    bool found = affine_sample(&missing, values, &params);
    affine_free(&missing);
    if (!found)
        return NULL;
    Witness witness = witness_new(ctx, read->func, read->frame, NULL);
    witness_add_accessed(&witness, read, values + terms.fixed);
    strbuf_add(&witness.text, terms.fixed || *params ? " at " : "");
    witness_add_iteration(&witness, loops, terms.fixed, values);
    if (*params)
        strbuf_printf(&witness.text, "%s%s", terms.fixed ? ", " : "", params);
    return strbuf_text(&witness.text);
}

Answer access_covered(Context *ctx, const Access *const *writes, int count, const Access *read, const Frame *place, const Map *sizes)
{
    Goal goal = {.kind = GOAL_COVERED_TOGETHER, .ctx = ctx, .sizes = sizes, .writes = writes, .write_count = count, .read = read};
    goal.place = place;
    for (int i = 0; i < count; i++) {
        Arena *outside = context_begin_scratch(ctx);
        bool covers = is_covered(ctx, writes[i], read, place, sizes);
        context_end_scratch(ctx, outside);
        if (covers)
            return answer_shown();
    }
    if (answer_is_shown(prove(goal)))
        return answer_shown();
    const Frame *common = place ? place : count ? frame_common(writes[0]->frame, read->frame) : NULL;
    const char *point = place || count ? uncovered_text(&goal, common) : NULL;
    return point ? answer_refuted(point) : answer_unknown("which elements are read, or are written, cannot be told");
}

/* FRAME lies inside of the loop over VAR; everything lies in the whole function, which no VAR stands for. */
static bool frame_in_loop(const Frame *frame, const Var *var)
{
    return !var || (frame && access_loop(&(Access){.frame = frame}, var));
}

/* The reduction that ACCESS is part of, its init included, lies inside of the loop over VAR. */
static bool group_is_in_loop(const Access *access, const Var *var)
{
    return frame_in_loop(frame_of_block(access->frame, access->group), var);
}

bool access_is_filled(Context *ctx, const AccessList *accesses, const Map *sizes, const Access *read, const Var *var)
{
    if (read->initialized && !is_reduced_around(read, var, false) && group_is_in_loop(read, var))
        return true;
    AccessRefs earlier = {0};
    for (int i = 0; i < accesses->count; i++) {
        const Access *write = &accesses->data[i];
        bool counts = write->write && write->data == read->data && !write->whole && !read->whole && write->stmt != read->stmt;
        if (!counts || (read->group && write->group == read->group))
            continue; /* the init of its own reduction was looked at above */
        if (!frame_in_loop(frame_common(write->frame, read->frame), var) || !access_precedes(write, read) || is_reduced_around(write, var, true))
            continue;
        if (access_covers(ctx, write, read, sizes))
            return true;
        vec_push(ctx->arena, &earlier, write);
    }
    return answer_is_shown(access_covered(ctx, earlier.data, earlier.count, read, NULL, sizes));
}

bool shown_is_private(Context *ctx, const AccessList *accesses, const Map *sizes, const Var *data, const Var *var)
{
    for (int i = 0; i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        if (access->fence || access->data != data)
            continue;
        if (!access_loop(access, var) || access->whole)
            return false;
        if (!access->write && !access_is_filled(ctx, accesses, sizes, access, var))
            return false;
    }
    return true;
}

/* The innermost loop around BLOCK, which ACCESS lies in; NULL when there is none. */
static const Var *loop_around_block(const Access *access, const Block *block)
{
    const Frame *frame = frame_of_block(access->frame, block);
    while (frame && frame->kind != FRAME_LOOP)
        frame = frame->outer;
    return frame ? frame->var : NULL;
}

/* ACCESS, which lies in BLOCK, updates a reduction that BLOCK is only a part of: the init lies outside. */
static bool is_inited_outside(const Access *access, const Block *block)
{
    const Frame *frame = access->frame;
    while (frame->kind != FRAME_BLOCK || (frame->stmt->as.block.block != block && frame->stmt->as.block.block != access->group))
        frame = frame->outer;
    return access->group && frame->stmt->as.block.block != access->group;
}

bool shown_reads_own_writes(Context *ctx, const Func *func, const Block *block, const Buffer *buffer)
{
    const Var *data = buffer_viewed(func, buffer)->data;
    AccessList all = access_collect(ctx, func), own = {0};
    Map sizes = func_sizes(ctx, func);
    for (int i = 0; i < all.count; i++)
        if (access_in_block(&all.data[i], block))
            vec_push(ctx->arena, &own, all.data[i]);
    for (int i = 0; i < own.count; i++) {
        const Access *access = &own.data[i];
        bool may_read = access->fence || (access->data == data && !access->write);
        if (may_read && (access->fence || is_inited_outside(access, block) ||
                         !access_is_filled(ctx, &own, &sizes, access, loop_around_block(access, block))))
            return false;
    }
    return true;
}
