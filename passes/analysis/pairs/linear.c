/* The cheap argument for disjoint accesses: linear indices, one dimension at a time. Both indices have the same coefficients in the loops
   that agree, and the same coefficient c in the loop in question. What else they add differs by less than |c|. Then two iterations of this
   loop never touch one element. */
#include "passes/analysis/pairs/pair.h"
#include "passes/analysis/sets/affine_linear.h"

/* One side of a pair: an index of it, and where its loops stand. */
typedef struct {
    const AffineEnv *env;
    const Frame **loops;
    int loop_count;
    LinearForm index;
    int64_t extent; /* elements from the index on */
} Side;

/* Takes the coefficient of LOOP out of the index. */
static int64_t take_coefficient(Side *side, const Frame *loop)
{
    const AffineEnv *env = side->env;
    while (env->var != loop->var)
        env = env->outer;
    for (int i = 0; i < side->index.count; i++) {
        LinearTermOf *term = &side->index.terms[i];
        int64_t coefficient = term->coefficient;
        if (term->param || term->dim != env->dim)
            continue;
        term->coefficient = 0;
        return coefficient;
    }
    return 0;
}

/* Takes the loops from number FIRST on out of the index, and adds what SIGN times these terms range over to [*LOW, *HIGH]. False where a
   range is not constant. */
static bool take_interval(Side *side, int first, int64_t sign, int64_t *low, int64_t *high)
{
    for (int i = first; i < side->loop_count; i++) {
        Range range = side->loops[i]->range;
        int64_t c = take_coefficient(side, side->loops[i]) * sign, min, extent;
        if (!c)
            continue;
        if (!expr_const_int(range.min, &min) || !expr_const_int(range.extent, &extent) || extent <= 0 || extent > INT32_MAX || min > INT32_MAX ||
            min < INT32_MIN || c > INT32_MAX || c < INT32_MIN)
            return false;
        int64_t a = c * min, b = c * (min + extent - 1);
        *low += a < b ? a : b;
        *high += a < b ? b : a;
    }
    return true;
}

static bool side_takes(Side *side, Range range)
{
    side->index = (LinearForm){0};
    return expr_const_int(range.extent, &side->extent) && side->extent <= INT32_MAX && linear_of(side->env, range.min, &side->index);
}

/* Nothing is left of both indices but the same sizes. */
static bool rest_cancels(const Side *a, const Side *b)
{
    LinearForm rest = a->index;
    if (!linear_add_form(&rest, &b->index, -1))
        return false;
    for (int i = 0; i < rest.count; i++)
        if (rest.terms[i].coefficient)
            return false;
    return true;
}

static bool dimension_is_disjoint(const Pair *pair, int level, Range range_a, Range range_b)
{
    Side a = {.env = pair->env_a, .loops = pair->loops_a, .loop_count = pair->count_a};
    Side b = {.env = pair->env_b, .loops = pair->loops_b, .loop_count = pair->count_b};
    if (!side_takes(&a, range_a) || !side_takes(&b, range_b))
        return false;
    for (int i = 0; i < level; i++)
        if (take_coefficient(&a, pair->loops_a[i]) != take_coefficient(&b, pair->loops_b[i]))
            return false;
    int64_t c = take_coefficient(&a, pair->loops_a[level]), low, high;
    if (!c || c != take_coefficient(&b, pair->loops_b[level]) || c > INT32_MAX || c < INT32_MIN)
        return false;
    /* elements meet when 0 <= (b.min + y) - (a.min + x) == 0 for x < extent_a, y < extent_b: the difference without the loop's own part */
    if (__builtin_sub_overflow(b.index.constant, a.index.constant, &low))
        return false;
    high = low + b.extent - 1;
    low -= a.extent - 1;
    if (!take_interval(&a, level + 1, -1, &low, &high) || !take_interval(&b, level + 1, 1, &low, &high) || !rest_cancels(&a, &b))
        return false;
    int64_t size = c < 0 ? -c : c;
    return low > -size && high < size;
}

bool access_same_point(const Access *a, const Access *b)
{
    if (a->whole || b->whole || a->fence || b->fence || a->buffer != b->buffer)
        return false;
    for (int i = 0; i < a->buffer->ndim; i++)
        if (!expr_equal(a->region.ranges[i].min, b->region.ranges[i].min) || !expr_is_int(a->region.ranges[i].extent, 1) ||
            !expr_is_int(b->region.ranges[i].extent, 1))
            return false;
    return true;
}

bool access_names(const Access *access, const Var *var)
{
    const Region *named = access->rows ? &access->given : &access->region;
    for (int i = 0; i < named->buffer->ndim; i++)
        if (expr_is_var(named->ranges[i].min, var))
            return true;
    return false;
}

bool pair_is_linear(const Pair *pair)
{
    for (int i = 0; i < pair->a->buffer->ndim; i++) {
        LinearForm index = {0};
        if (!linear_of(pair->env_a, pair->a->region.ranges[i].min, &index))
            return false;
    }
    return true;
}

Answer apart_by_linear_indices(const Goal *goal)
{
    const Pair *pair = goal->pair;
    for (int i = 0; i < pair->a->buffer->ndim; i++)
        if (dimension_is_disjoint(pair, goal->level, pair->a->region.ranges[i], pair->b->region.ranges[i]))
            return answer_shown();
    return answer_unknown("no dimension moves far enough");
}

bool pair_is_disjoint(const Pair *pair, int level)
{
    if (pair->a->whole || pair->b->whole || pair->a->fence || pair->b->fence)
        return false;
    return answer_is_shown(prove((Goal){.kind = GOAL_APART, .ctx = pair->ctx, .pair = pair, .level = level}));
}
