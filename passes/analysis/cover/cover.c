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

/* The iterations in which ACCESS runs, with the elements that it touches: *LOOPS dimensions, then those of the element. */
static AffineSpace touching_iterations(Context *ctx, const Access *access, AffineTerms *terms, const Map *sizes, int *loops)
{
    *loops = frame_loop_count(access->frame);
    AffineSpace space = affine_universe(ctx, *loops + access->buffer->ndim, sizes);
    space.terms = terms;
    const AffineEnv *env = frame_env(ctx, access->frame, 0);
    assume_runs(ctx, &space, access, terms->fixed, env);
    access_assume_element(&space, access, env, *loops);
    return space;
}

/* No program touches elements of ACCESS out of bounds. */
static void assume_in_bounds(Context *ctx, AffineSpace *space, const Access *access, int loops)
{
    for (int i = 0; !access->asked && i < access->buffer->ndim; i++) {
        Range whole = {expr_int(ctx, access->buffer->shape[i]->dtype, 0), access->buffer->shape[i]};
        affine_assume_range(space, NULL, loops + i, whole);
    }
}

/* The elements that ACCESS, a write, touches in one iteration of the first loops, which TERMS fixes: a set over those loops and the element.
   NULL when they are not known exactly. */
static isl_set *written_elements(Context *ctx, const Access *access, AffineTerms *terms, const Map *sizes)
{
    int count = terms->fixed, loops;
    AffineSpace space = touching_iterations(ctx, access, terms, sizes, &loops);
    if (space.approximate) {
        affine_free(&space);
        return access_filled_box(ctx, access, terms, sizes);
    }
    assume_in_bounds(ctx, &space, access, loops);
    isl_set *set = affine_take_set(&space);
    return set ? isl_set_project_out(set, isl_dim_set, (unsigned)count, (unsigned)(loops - count)) : NULL;
}

/* How many loops both share, of those around PLACE (NULL: of all): *COMMON. False when WRITE need not run in each iteration of them, or
   READ not in one of them. */
static bool runs_in_common_loops(Context *ctx, const Access *write, const Access *read, const Frame *place, int *common)
{
    int count_write, count_read, most = place ? frame_loop_count(place) : INT_MAX;
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
    return !write->may && !write->whole && (!write->never || read->never);
}

/* The COUNT writes cover READ, elements being named as they are. */
static bool cover_as_named(Context *ctx, const Access *const *writes, int count, const Access *read, const Frame *place, const Map *sizes)
{
    Goal goal = {.ctx = ctx, .sizes = sizes, .writes = writes, .write_count = count, .read = read, .place = place};
    for (int i = 0; i < count; i++) {
        Goal one = goal;
        one.kind = GOAL_COVERED;
        one.writes = &writes[i];
        one.write_count = 1;
        if (runs_in_common_loops(ctx, writes[i], read, place, &one.common) && answer_is_shown(prove(one)))
            return true;
    }
    goal.kind = GOAL_COVERED_TOGETHER;
    return answer_is_shown(prove(goal));
}

static bool all_have_rows(const Access *const *writes, int count, const Access *read)
{
    bool rows = count && read->rows;
    for (int i = 0; i < count; i++)
        rows = rows && writes[i]->rows;
    return rows;
}

/* The COUNT writes cover READ, elements being named by digits, or as the program names them. */
static bool are_covering(Context *ctx, const Access *const *writes, int count, const Access *read, const Frame *place, const Map *sizes)
{
    Arena *outside = context_begin_scratch(ctx);
    bool covers = cover_as_named(ctx, writes, count, read, place, sizes);
    if (!covers && all_have_rows(writes, count, read)) {
        Access plain_read = access_unsplit(read), *plain = ARENA_ARRAY(ctx->arena, Access, count);
        const Access **plain_writes = ARENA_ARRAY(ctx->arena, const Access *, count);
        for (int i = 0; i < count; i++) {
            plain[i] = access_unsplit(writes[i]);
            plain_writes[i] = &plain[i];
        }
        covers = cover_as_named(ctx, plain_writes, count, &plain_read, place, sizes);
    }
    context_end_scratch(ctx, outside);
    return covers;
}

bool access_covers(Context *ctx, const Access *write, const Access *read, const Map *sizes)
{
    return are_covering(ctx, &write, 1, read, NULL, sizes);
}

/* The iterations in which the read of GOAL touches an element that no write touches. Only writes count that share just the loops fixed by TERMS
   with the read. The set has *LOOPS dimensions, then those of the element. *EXACT false when there may be fewer, for only what a write certainly
   touches is taken out. */
static AffineSpace missing_reads(const Goal *goal, AffineTerms *terms, int *loops, bool *exact)
{
    Context *ctx = goal->ctx;
    AffineSpace missing = touching_iterations(ctx, goal->read, terms, goal->sizes, loops);
    *exact = !missing.approximate;
    assume_in_bounds(ctx, &missing, goal->read, *loops);
    missing.set = affine_take_set(&missing);
    for (int i = 0; i < goal->write_count && missing.set; i++) {
        const Access *write = goal->writes[i];
        int common;
        bool runs = runs_in_common_loops(ctx, write, goal->read, goal->place, &common);
        if (write->never)
            continue;
        runs = runs && common == terms->fixed && write->buffer->ndim == goal->read->buffer->ndim;
        isl_set *written = runs ? written_elements(ctx, write, terms, goal->sizes) : NULL;
        *exact &= written != NULL;
        if (written)
            missing.set = isl_set_subtract(missing.set, isl_set_insert_dims(written, isl_dim_set, (unsigned)common, (unsigned)(*loops - common)));
    }
    return missing;
}

/* All that the read of GOAL reads in one iteration of the first COMMON loops is written. */
static bool nothing_is_missing(const Goal *goal, int common)
{
    AffineTerms terms = {.fixed = common};
    int loops;
    bool exact;
    AffineSpace missing = missing_reads(goal, &terms, &loops, &exact);
    bool nothing = affine_verdict(&missing) == SET_EMPTY;
    affine_free(&missing);
    return nothing;
}

Answer covered_by_union(const Goal *goal)
{
    Arena *outside = context_begin_scratch(goal->ctx);
    bool covers = goal->place && nothing_is_missing(goal, frame_loop_count(goal->place));
    for (int i = 0; i < goal->write_count && !goal->place && !covers; i++) {
        int common;
        covers = runs_in_common_loops(goal->ctx, goal->writes[i], goal->read, NULL, &common) && nothing_is_missing(goal, common);
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
    int loop_count;
    AffineTerms terms = {0};
    const Frame **loops = frame_loops(ctx, place, &terms.fixed);
    AffineSpace missing = missing_reads(goal, &terms, &loop_count, &exact);
    if (!exact || terms.known.count || !missing.set) {
        affine_free(&missing);
        return NULL;
    }
    missing.omitted = NULL; /* which speaks of all dimensions */
    missing.set = isl_set_project_out(missing.set, isl_dim_set, (unsigned)terms.fixed, (unsigned)(loop_count - terms.fixed));
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
    Goal goal = {.ctx = ctx, .sizes = sizes, .writes = writes, .write_count = count, .read = read, .place = place};
    if (are_covering(ctx, writes, count, read, place, sizes))
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
