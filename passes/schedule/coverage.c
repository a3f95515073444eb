/* Covered elements; see coverage.h. A set here has a dimension for each loop around the place, then one for each index of an element. What
   is not affine is left out where that is safe: a write that cannot be described does not count, a read that cannot be described may be of
   any element. */
#include "passes/schedule/coverage.h"

#include "passes/analysis/access_rows.h"
#include "passes/analysis/explain.h"
#include "passes/analysis/pair.h"
#include "passes/analysis/witness.h"

typedef struct {
    Context *ctx;
    const Func *func;
    const Buffer *buffer;
    AccessList accesses;
    Map sizes;
    Var **elements;        /* stand for the indices of an element */
    const Frame *place;    /* what is around the place */
    const Frame *innermost; /* of a write, for the bindings that the region may mention */
    AffineTerms *terms;     /* over the loops around the place, for all sets of one question */
} Coverage;

static bool access_is_below(const Access *access, const Stmt *block)
{
    const Frame *frame = access->frame;
    while (frame && frame->stmt != block)
        frame = frame->outer;
    return frame != NULL;
}

/* The last of the frames that hold in all of block STMT, one of those around FRAME. */
static const Frame *frame_in_block(Context *ctx, const Frame *frame, const Stmt *stmt)
{
    VEC(const Frame *) inwards = {0};
    for (; frame && frame->stmt != stmt; frame = frame->outer)
        vec_push(ctx->arena, &inwards, frame);
    for (int i = inwards.count - 1; i >= 0 && (inwards.data[i]->kind == FRAME_CONDITION || inwards.data[i]->kind == FRAME_BIND); i--)
        frame = inwards.data[i];
    return frame;
}

static const Access *first_access_below(const Coverage *coverage, const TreeNode *block)
{
    for (int i = 0; i < coverage->accesses.count; i++)
        if (access_is_below(&coverage->accesses.data[i], block->stmt))
            return &coverage->accesses.data[i];
    return NULL;
}

static Coverage coverage_new(Schedule *sch, const Buffer *buffer)
{
    Context *ctx = sch->ctx;
    const Func *func = schedule_func(sch);
    AccessList accesses = access_collect(ctx, func);
    Coverage coverage = {
        .ctx = ctx, .func = func, .buffer = buffer, .accesses = accesses_unsplit(ctx, &accesses), .sizes = func_sizes(ctx, func)};
    coverage.elements = ARENA_ARRAY(ctx->arena, Var *, buffer->ndim);
    for (int d = 0; d < buffer->ndim; d++)
        coverage.elements[d] = var_new(ctx, context_intern(ctx, "element"), DTYPE_INT64, span_none());
    return coverage;
}

/* Finds out what is around the place of BOX; false when nothing is known of its writer. */
static bool find_place(Schedule *sch, Coverage *coverage, const PlacedBox *box)
{
    const Access *write = first_access_below(coverage, box->writer), *later = box->later ? first_access_below(coverage, box->later) : NULL;
    if (!write || (box->later && !later))
        return false;
    coverage->innermost = write->frame;
    coverage->place = later ? frame_common(write->frame, later->frame)
                            : frame_in_block(coverage->ctx, write->frame, schedule_scope(sch, box->writer)->stmt);
    return coverage->place != NULL;
}

/* ENV with the element's indices as dimensions from FIRST on. */
static const AffineEnv *element_env(const Coverage *coverage, const AffineEnv *env, int first)
{
    for (int d = 0; d < coverage->buffer->ndim; d++) {
        AffineEnv inner = {env, coverage->elements[d], first + d, NULL};
        env = arena_copy(coverage->ctx->arena, &inner, sizeof inner);
    }
    return env;
}

/* Requires the element to lie in RANGES. */
static void assume_in_ranges(const Coverage *coverage, AffineSpace *space, const AffineEnv *env, const Range *ranges)
{
    Context *ctx = coverage->ctx;
    for (int d = 0; d < coverage->buffer->ndim; d++) {
        const Expr *element = expr_var(ctx, coverage->elements[d]);
        affine_assume_compare(space, EXPR_LE, env, ranges[d].min, env, element);
        affine_assume_compare(space, EXPR_LT, env, element, env, op_add(ctx, ranges[d].min, ranges[d].extent));
    }
}

/* SPACE without its dimensions from FIRST to LAST. */
static void drop_dims(AffineSpace *space, int first, int last)
{
    space->set = isl_set_project_out(affine_take_set(space), isl_dim_set, (unsigned)first, (unsigned)(last - first));
}

/* The elements that ACCESS touches, in terms of its first KEPT loops. */
static AffineSpace accessed_set(const Coverage *coverage, const Access *access, int kept)
{
    Context *ctx = coverage->ctx;
    int loops;
    frame_loops(ctx, access->frame, &loops);
    AffineSpace space = affine_universe(ctx, loops + coverage->buffer->ndim, &coverage->sizes);
    space.terms = coverage->terms;
    const AffineEnv *env = frame_env(ctx, access->frame, 0);
    access_assume(&space, access, env);
    env = element_env(coverage, env, loops);
    if (!access->whole && access->region.buffer == coverage->buffer)
        assume_in_ranges(coverage, &space, env, access->region.ranges);
    else
        space.approximate = true;
    assume_in_ranges(coverage, &space, env, region_whole(ctx, (Buffer *)coverage->buffer).ranges);
    drop_dims(&space, kept, loops);
    return space;
}

/* The elements of BOX, in terms of the loops around the place, KEPT of them. */
static AffineSpace box_set(const Coverage *coverage, const PlacedBox *box, int kept)
{
    Context *ctx = coverage->ctx;
    AffineSpace space = affine_universe(ctx, kept + coverage->buffer->ndim, &coverage->sizes);
    space.terms = coverage->terms;
    frame_assume(&space, coverage->place, frame_env(ctx, coverage->place, 0));
    /* the region mentions only what is around the place, so the dimensions that this environment has for inner loops do not matter */
    const AffineEnv *env = element_env(coverage, frame_env(ctx, coverage->innermost, 0), kept);
    if (box->condition)
        affine_assume(&space, env, box->condition, false);
    assume_in_ranges(coverage, &space, env, box->region.ranges);
    if (box->clipped)
        assume_in_ranges(coverage, &space, env, region_whole(ctx, (Buffer *)coverage->buffer).ranges);
    return space;
}

/* A store that writes just one element whenever it is reached, and is reached in every iteration. */
static bool is_certain_store(const Coverage *coverage, const Access *access)
{
    const Stmt *stmt = access->stmt;
    if (stmt->kind != STMT_STORE || stmt->as.store.mask || stmt->as.store.value->dtype.lanes != 1)
        return false;
    for (const Frame *frame = access->frame; frame != coverage->place; frame = frame->outer)
        if (!frame || frame->unsure)
            return false;
    return true;
}

/* "C[3, 0] at i = 1" for a point of SPACE. */
static const char *describe_point(const Coverage *coverage, AffineSpace *space, int kept)
{
    Context *ctx = coverage->ctx;
    int loops;
    const Frame **frames = frame_loops(ctx, coverage->place, &loops);
    int64_t *values = ARENA_ARRAY(ctx->arena, int64_t, kept + coverage->buffer->ndim);
    const char *params;
    if (!affine_sample(space, values, &params))
        return NULL;
    Witness witness = witness_new(ctx, coverage->func, coverage->place, NULL);
    witness_add_element(&witness, coverage->buffer, values + kept);
    strbuf_add(&witness.text, kept ? " at " : "");
    witness_add_iteration(&witness, frames, kept, values);
    if (*params)
        strbuf_printf(&witness.text, "%s%s", kept ? ", " : " at ", params);
    return strbuf_text(&witness.text);
}

/* ACCESS is a write of WRITER to the buffer. */
static bool is_write_of(const Coverage *coverage, const Access *access, const TreeNode *writer)
{
    return access->write && access->data == coverage->buffer->data && access_is_below(access, writer->stmt);
}

/* Takes what ACCESS certainly writes out of MISSING. False when the write could not be taken into account. */
static bool subtract_written(const Coverage *coverage, const Access *access, AffineSpace *missing)
{
    if (access->never)
        return true;
    AffineSpace written = accessed_set(coverage, access, coverage->terms->fixed);
    bool known = !written.approximate && is_certain_store(coverage, access);
    if (known)
        missing->set = isl_set_subtract(affine_take_set(missing), affine_take_set(&written));
    else
        affine_free(&written);
    return known;
}

/* The same for the boxes that loops over more than affine indices fill. */
static void subtract_box(const Coverage *coverage, const Access *access, AffineSpace *missing)
{
    bool certain = !access->never && is_certain_store(coverage, access);
    isl_set *box = certain ? access_filled_box(coverage->ctx, access, coverage->terms, &coverage->sizes) : NULL;
    if (box)
        missing->set = isl_set_subtract(affine_take_set(missing), box);
}

/* Some store of WRITER divides loops. */
static bool writer_divides(const Coverage *coverage, const TreeNode *writer)
{
    for (int i = 0; i < coverage->accesses.count; i++)
        if (is_write_of(coverage, &coverage->accesses.data[i], writer) && access_divides(coverage->ctx, &coverage->accesses.data[i]))
            return true;
    return false;
}

/* The boxes that WRITER fills hold all of MISSING. */
static bool boxes_hold(const Coverage *coverage, const TreeNode *writer, const AffineSpace *missing)
{
    AffineSpace left = affine_copy(missing);
    for (int i = 0; i < coverage->accesses.count; i++)
        if (is_write_of(coverage, &coverage->accesses.data[i], writer))
            subtract_box(coverage, &coverage->accesses.data[i], &left);
    bool hold = affine_verdict(&left) == SET_EMPTY;
    affine_free(&left);
    return hold;
}

/* The stores below WRITER write all of MISSING (taken). Otherwise *POINT is an element that they do not write, or NULL when none is
   known. */
static bool is_all_written(const Coverage *coverage, const TreeNode *writer, AffineSpace missing, const char **point)
{
    bool divides = writer_divides(coverage, writer), written = divides && boxes_hold(coverage, writer, &missing);
    AffineSpace left = affine_copy(&missing);
    bool exact = !missing.approximate;
    for (int i = 0; i < coverage->accesses.count && !written; i++)
        if (is_write_of(coverage, &coverage->accesses.data[i], writer))
            exact &= subtract_written(coverage, &coverage->accesses.data[i], &left);
    SetVerdict verdict = written ? SET_EMPTY : affine_verdict(&left);
    exact &= coverage->terms->known.count == 0;
    *point = verdict == SET_HAS_POINT && exact ? describe_point(coverage, &left, coverage->terms->fixed) : NULL;
    written = verdict == SET_EMPTY || (!divides && !*point && boxes_hold(coverage, writer, &missing));
    affine_free(&left);
    affine_free(&missing);
    return written;
}

static Asking ask(Schedule *sch, Query query, const Buffer *buffer)
{
    return query_begin(sch->ctx, query, "buffer", buffer->name);
}

static Answer box_is_written(Schedule *sch, const PlacedBox *box)
{
    Coverage coverage = coverage_new(sch, box->region.buffer);
    if (!find_place(sch, &coverage, box))
        return answer_unknown("nothing is known of what the block writes");
    AffineTerms terms = {0};
    frame_loops(coverage.ctx, coverage.place, &terms.fixed);
    coverage.terms = &terms;
    const char *point;
    if (is_all_written(&coverage, box->writer, box_set(&coverage, box, terms.fixed), &point))
        return answer_shown();
    return point ? answer_refuted(arena_printf(sch->ctx->arena, "%s is not written", point)) : answer_unknown("this cannot be shown");
}

Answer coverage_is_written(Schedule *sch, const PlacedBox *box)
{
    Asking asking = ask(sch, QUERY_WRITTEN, box->region.buffer);
    return query_end(asking, box_is_written(sch, box));
}

/* B comes behind A in the innermost sequence that holds both. */
static bool comes_behind(const Frame *a, const Frame *b)
{
    const Frame *common = frame_common(a, b);
    while (a && a->outer != common)
        a = a->outer;
    while (b && b->outer != common)
        b = b->outer;
    return a && b && a->kind == FRAME_POSITION && b->kind == FRAME_POSITION && a->position < b->position;
}

/* In each iteration of the loops around coverage->place, all that READ may read has been written by the stores below WRITER. Otherwise
   *POINT is an element that it reads and they do not write, or NULL when none is known. */
static bool read_is_written(Coverage *coverage, const TreeNode *writer, const Access *read, const char **point)
{
    AffineTerms terms = {0};
    frame_loops(coverage->ctx, coverage->place, &terms.fixed);
    coverage->terms = &terms;
    AffineSpace missing = accessed_set(coverage, read, terms.fixed);
    missing.approximate |= read->whole;
    return is_all_written(coverage, writer, missing, point);
}

/* READ names its element by data, within limits (B[J[i] % 16]), and a store of WRITER runs over all between them in each iteration of the
   loops that both share. */
static bool read_lies_between(const Coverage *coverage, const TreeNode *writer, const Access *read)
{
    for (int i = 0; i < coverage->accesses.count; i++) {
        const Access *write = &coverage->accesses.data[i];
        int common = 0;
        if (!is_write_of(coverage, write, writer) || write->never || !is_certain_store(coverage, write))
            continue;
        frame_loops(coverage->ctx, frame_common(write->frame, read->frame), &common);
        Goal goal = {.kind = GOAL_COVERED, .ctx = coverage->ctx, .sizes = &coverage->sizes, .writes = &write, .read = read, .common = common};
        if (answer_is_shown(covered_by_interval(&goal)))
            return true;
    }
    return false;
}

static Answer read_is_served(Coverage *coverage, const TreeNode *writer, const Access *read)
{
    const Access *write = first_access_below(coverage, writer);
    if (!write || !comes_behind(write->frame, read->frame))
        return answer_unknown("it does not come behind that block in one sequence");
    coverage->place = frame_common(write->frame, read->frame);
    const char *point;
    if (read_is_written(coverage, writer, read, &point))
        return answer_shown();
    return point ? answer_refuted(arena_printf(coverage->ctx->arena, "it reads %s", point)) : answer_unknown("the opposite cannot be shown");
}

/* READ is one of BUFFER below PART, outside of WRITER. */
static bool is_read_below(const Access *read, const TreeNode *writer, const Buffer *buffer, const TreeNode *part)
{
    return read->data == buffer->data && !read->write && access_is_below(read, part->stmt) && !access_is_below(read, writer->stmt);
}

static Answer all_reads_are_written(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part)
{
    buffer = buffer_viewed(schedule_func(sch), buffer);
    Coverage coverage = coverage_new(sch, buffer);
    const Access *write = first_access_below(&coverage, writer), *unknown = NULL;
    if (write) /* an earlier iteration of a loop around both may have written what a read finds */
        coverage.place = frame_in_block(coverage.ctx, write->frame, schedule_scope(sch, writer)->stmt);
    if (!coverage.place)
        return answer_unknown("nothing is known of what it writes");
    for (int i = 0; i < coverage.accesses.count; i++) {
        const Access *read = &coverage.accesses.data[i];
        const char *point;
        if (!is_read_below(read, writer, buffer, part) || read_is_written(&coverage, writer, read, &point) ||
            (!point && read_lies_between(&coverage, writer, read)))
            continue;
        if (point)
            return answer_refuted(point);
        unknown = read;
    }
    return unknown ? answer_unknown("which elements are read, or are written, cannot be told") : answer_shown();
}

Answer coverage_all_reads_written(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part)
{
    Asking asking = ask(sch, QUERY_ALL_READS_WRITTEN, buffer);
    return query_end(asking, all_reads_are_written(sch, writer, buffer, part));
}

static Answer all_reads_are_served(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part)
{
    Coverage coverage = coverage_new(sch, buffer);
    for (int i = 0; i < coverage.accesses.count; i++) {
        const Access *access = &coverage.accesses.data[i];
        if (!access_is_below(access, part->stmt) || access_is_below(access, writer->stmt))
            continue;
        if (access->fence)
            return answer_unknown("a call there may do anything");
        bool reads = access->data == buffer->data && !access->write;
        Answer served = reads ? read_is_served(&coverage, writer, access) : answer_shown();
        if (!answer_is_shown(served))
            return served;
    }
    return answer_shown();
}

Answer coverage_serves_reads(Schedule *sch, const TreeNode *writer, const Buffer *buffer, const TreeNode *part)
{
    Asking asking = ask(sch, QUERY_SERVES_READS, buffer);
    return query_end(asking, all_reads_are_served(sch, writer, buffer_viewed(schedule_func(sch), buffer), part));
}
