/* A cheap argument that a write covers a read: in each dimension the read's index lies between the ends of the interval that the write runs
   over. Indices may be clamped, as those of stencils are: B[max(i - 1, 0)], B[min(i + 1, n - 1)], and so may be the ends of the interval:
   min(max(i - 1, 0), min(i + 1, n - 1)) + ax for ax in range(...), which is what compute_at makes of them. They may also be chosen by a
   condition that is not known: B[Select(M[i], i, i + 16)]. */
#include "ir/linear_sum.h"
#include "ir/walk.h"
#include "passes/analysis/normal/known.h"
#include "passes/analysis/prove/portfolio.h"
#include "passes/arith/analyzer.h"

typedef struct {
    Context *ctx;
    const Access *write, *read;
    const Frame **loops_write, **loops_read;
    int count_write, count_read, common;
    const Map *sizes;
    ExprList values; /* the indices of the read */
    bool plainly; /* by sums of the same terms alone */
    Analyzer *an; /* see cover_analyzer */
} Cover;

/* Knows the sizes, the loops around the read, and what holds where it runs; mostly it need not be asked. */
static Analyzer *cover_analyzer(Cover *cover)
{
    if (!cover->an)
        cover->an = analyzer_of_access(cover->ctx, cover->read, &cover->values, cover->sizes);
    return cover->an;
}

/* EXPR is LEAF, or a minimum or maximum (KIND) that LEAF is an operand of. */
static bool has_operand(ExprKind kind, const Expr *expr, const Expr *leaf)
{
    return expr_equal(expr, leaf) || (expr->kind == kind && (has_operand(kind, expr->args[0], leaf) || has_operand(kind, expr->args[1], leaf)));
}

/* A <= B; neither is a minimum or maximum that says it of its operands. */
static bool is_less_equal(Cover *cover, const Expr *a, const Expr *b)
{
    int64_t difference;
    if (dtype_equal(a->dtype, b->dtype) && linear_difference(cover->ctx, a, b, &difference))
        return difference <= 0;
    return !cover->plainly &&
           (analyzer_prove_less_equal(cover_analyzer(cover), a, b) || access_shows_at_most(cover->ctx, cover->read, cover->sizes, a, b));
}

/* A <= B. A minimum is below what any of its operands is below, and so on; a choice is where both of its values are. */
static bool is_at_most(Cover *cover, const Expr *a, const Expr *b)
{
    if (has_operand(EXPR_MIN, a, b) || has_operand(EXPR_MAX, b, a))
        return true;
    if (a->kind == EXPR_SELECT)
        return is_at_most(cover, a->args[1], b) && is_at_most(cover, a->args[2], b);
    if (b->kind == EXPR_SELECT)
        return is_at_most(cover, a, b->args[1]) && is_at_most(cover, a, b->args[2]);
    if (a->kind == EXPR_MAX)
        return is_at_most(cover, a->args[0], b) && is_at_most(cover, a->args[1], b);
    if (b->kind == EXPR_MIN)
        return is_at_most(cover, a, b->args[0]) && is_at_most(cover, a, b->args[1]);
    if (a->kind == EXPR_MIN && (is_at_most(cover, a->args[0], b) || is_at_most(cover, a->args[1], b)))
        return true;
    if (b->kind == EXPR_MAX && (is_at_most(cover, a, b->args[0]) || is_at_most(cover, a, b->args[1])))
        return true;
    return a->kind != EXPR_MIN && b->kind != EXPR_MAX && is_less_equal(cover, a, b);
}

static bool uses_loops_from(const Frame **loops, int first, int count, const Expr *expr)
{
    for (int i = first; i < count; i++)
        if (expr_uses_var(expr, loops[i]->var))
            return true;
    return false;
}

/* The loop that INDEX is a multiple 1 of, and the rest of INDEX; NULL when INDEX has another form. */
static const Frame *moving_loop(Cover *cover, const Expr *index, const Expr **base)
{
    for (int i = cover->common; i < cover->count_write; i++) {
        const Frame *loop = cover->loops_write[i];
        if (expr_is_var(index, loop->var)) {
            *base = expr_int(cover->ctx, index->dtype, 0);
            return loop;
        }
        for (int side = 0; index->kind == EXPR_ADD && side < 2; side++)
            if (expr_is_var(index->args[side], loop->var)) {
                *base = index->args[1 - side];
                return loop;
            }
    }
    return NULL;
}

/* How hard it is tried to show that two indices are equal. */
typedef enum { EQUAL_AS_WRITTEN, EQUAL_AS_SUMS, EQUAL_BY_PROOF, EQUAL_EFFORTS } EqualEffort;

static bool are_equal(Cover *cover, const Expr *a, const Expr *b, EqualEffort effort)
{
    int64_t difference;
    if (effort == EQUAL_AS_WRITTEN)
        return linear_difference_as_written(cover->ctx, a, b, &difference) && difference == 0;
    if (linear_difference(cover->ctx, a, b, &difference))
        return difference == 0;
    return effort == EQUAL_BY_PROOF && analyzer_prove_equal(cover_analyzer(cover), a, b);
}

/* EXPR varies in loops of the write alone. */
static bool uses_own_loops(const Cover *cover, const Expr *expr)
{
    return uses_loops_from(cover->loops_write, cover->common, cover->count_write, expr);
}

static bool is_at_most_either(Cover *cover, const Expr *a, const Expr *b, const Expr *other)
{
    return (b && is_at_most(cover, a, b)) || (other && is_at_most(cover, a, other));
}

static bool is_either_at_most(Cover *cover, const Expr *a, const Expr *other, const Expr *b)
{
    return (a && is_at_most(cover, a, b)) || (other && is_at_most(cover, other, b));
}

/* BEGIN <= VALUE, or <= LEAST, which VALUE is not less than (NULL: nothing is known of it). The ends are often made of the value, which shows
   at once; what the read tells may simplify others. */
static bool reaches(Cover *cover, const Expr *begin, const Expr *value, const Expr *least)
{
    if (is_at_most_either(cover, begin, value, least))
        return true;
    const Expr *simple = cover->plainly ? begin : analyzer_simplify(cover_analyzer(cover), begin);
    return simple != begin && is_at_most_either(cover, simple, value, least);
}

/* VALUE, which is not more than MOST (NULL: nothing is known of it), is at most LAST. */
static bool is_reached(Cover *cover, const Expr *value, const Expr *last, const Expr *most)
{
    if (is_either_at_most(cover, value, most, last))
        return true;
    const Expr *simple = cover->plainly ? last : analyzer_simplify(cover_analyzer(cover), last);
    return simple != last && is_either_at_most(cover, value, most, simple);
}

/* VALUE, the read's index in a dimension of extent SHAPE, lies in the interval over which the write's INDEX runs. *MOVING is its loop, NULL:
   the interval is one point. */
static bool holds_index(Cover *cover, const Expr *index, const Expr *value, const Expr *shape, const Frame **moving)
{
    Context *ctx = cover->ctx;
    const Expr *base = NULL, *one = expr_int(ctx, index->dtype, 1), *zero = expr_int(ctx, index->dtype, 0);
    const Frame *loop = *moving = moving_loop(cover, index, &base);
    if (!dtype_is_index(index->dtype) || !expr_is_fixed(index))
        return false;
    if (!dtype_equal(value->dtype, index->dtype))
        value = NULL; /* only its limits can be compared */
    if (!loop)
        return value && !uses_own_loops(cover, index) && are_equal(cover, index, value, cover->plainly ? EQUAL_AS_SUMS : EQUAL_BY_PROOF);
    if (!expr_is_int(loop->range.min, 0) || uses_own_loops(cover, base))
        return false;
    const Expr *extent = op_cast(ctx, index->dtype, loop->range.extent);
    if (!expr_is_fixed(extent) || uses_own_loops(cover, extent))
        return false;
    const Expr *last = op_sub(ctx, op_add(ctx, base, extent), one);
    last = cover->plainly ? linear_gather(ctx, last) : analyzer_simplify_canonical(cover_analyzer(cover), last);
    shape = op_cast(ctx, index->dtype, shape);
    bool in_bounds = !cover->read->asked; /* then the index is at least 0, and less than the shape */
    return reaches(cover, base, value, in_bounds ? zero : NULL) &&
           is_reached(cover, value, last, in_bounds ? op_sub(ctx, shape, one) : NULL);
}

/* CONDITION, a comparison, as RESULT >= 0; NULL for others. */
static const Expr *comparison_slack(Context *ctx, const Expr *condition)
{
    if (condition->kind < EXPR_LT || !expr_is_compare(condition) || !dtype_is_index(condition->args[0]->dtype))
        return NULL;
    bool less = condition->kind == EXPR_LT || condition->kind == EXPR_LE, strict = condition->kind == EXPR_LT || condition->kind == EXPR_GT;
    const Expr *slack = op_sub(ctx, condition->args[less], condition->args[!less]);
    return op_sub(ctx, slack, expr_int(ctx, slack->dtype, strict));
}

/* SLACK >= 0 only says that an index of the write, one of INDICES, is within bounds. What is plain of one is not to be proven of others. */
static bool says_in_bounds(Cover *cover, const Expr *slack, const ExprList *indices)
{
    Context *ctx = cover->ctx;
    for (int effort = 0; effort < EQUAL_EFFORTS; effort++)
        for (int d = 0; d < indices->count; d++) {
            const Expr *index = indices->data[d];
            const Expr *last = op_sub(ctx, op_cast(ctx, index->dtype, cover->write->buffer->shape[d]), expr_int(ctx, index->dtype, 1));
            if (dtype_equal(slack->dtype, index->dtype) &&
                (are_equal(cover, slack, index, effort) || are_equal(cover, slack, op_sub(ctx, last, index), effort)))
                return true;
        }
    return false;
}

/* The write runs wherever its loops do, but for elements out of bounds, of which the read is none. */
static bool runs_in_bounds(Cover *cover, const ExprList *indices)
{
    bool all;
    ExprList conditions = access_conditions(cover->ctx, cover->write->frame, &all);
    for (int i = 0; all && i < conditions.count; i++) {
        const Expr *slack = comparison_slack(cover->ctx, conditions.data[i]);
        all = slack && !cover->read->asked && says_in_bounds(cover, slack, indices);
    }
    return all;
}

/* LOOP of the write runs at least once where the read runs. */
static bool loop_runs(Cover *cover, const Frame *loop)
{
    const Expr *extent = loop->range.extent;
    int64_t constant;
    if (expr_const_int(extent, &constant))
        return constant > 0;
    return !cover->plainly && expr_is_fixed(extent) &&
           !uses_loops_from(cover->loops_write, cover->common, cover->count_write, extent) &&
           analyzer_prove_at_least(cover_analyzer(cover), extent, 1);
}

/* Loops of the write that move in no dimension run at least once; those that do move in one alone, and start there from nothing else. */
static bool loops_fill_box(Cover *cover, const Frame **moving, int count)
{
    for (int i = cover->common; i < cover->count_write; i++) {
        int uses = 0;
        for (int d = 0; d < count; d++)
            uses += moving[d] == cover->loops_write[i];
        if (cover->loops_write[i]->unsure || uses > 1 || (!uses && !loop_runs(cover, cover->loops_write[i])))
            return false;
    }
    return true;
}

/* The point that the read touches lies in the box over which the write's indices TARGETS run. */
static bool holds_point(Cover *cover, const ExprList *targets)
{
    const Frame **moving = ARENA_ARRAY(cover->ctx->arena, const Frame *, targets->count);
    for (int d = 0; d < targets->count; d++)
        if (!holds_index(cover, targets->data[d], cover->values.data[d], cover->write->buffer->shape[d], &moving[d]))
            return false;
    return loops_fill_box(cover, moving, targets->count);
}

Answer covered_by_interval(const Goal *goal)
{
    Context *ctx = goal->ctx;
    const Access *write = goal->writes[0], *read = goal->read;
    Cover cover = {.ctx = ctx, .write = write, .read = read, .common = goal->common, .sizes = goal->sizes};
    ExprList targets = {0};
    if (write->buffer != read->buffer || !access_point(ctx, write, &targets) || !access_point(ctx, read, &cover.values))
        return answer_unknown("what is touched is no element, or the write may not run");
    cover.loops_write = frame_loops(ctx, write->frame, &cover.count_write);
    cover.loops_read = frame_loops(ctx, read->frame, &cover.count_read);
    if (!runs_in_bounds(&cover, &targets))
        return answer_unknown("what is touched is no element, or the write may not run");
    cover.plainly = true;
    if (holds_point(&cover, &targets))
        return answer_shown();
    cover.plainly = false;
    return answer_if(holds_point(&cover, &targets));
}
