/* The cheap argument for disjoint accesses: linear indices, one dimension at a time. Both indices have the same coefficients in the loops
   that agree, and the same coefficient c in the loop in question. What else they add differs by less than |c|. Then two iterations of this
   loop never touch one element. */
#include "passes/analysis/pairs/linear.h"
#include "passes/analysis/pairs/pair.h"

bool linear_add_scaled(Linear *sum, const Linear *more, int64_t scale)
{
    int64_t product;
    if (__builtin_mul_overflow(more->constant, scale, &product) || __builtin_add_overflow(sum->constant, product, &sum->constant))
        return false;
    for (int i = 0; i < more->count; i++) {
        int at = 0;
        while (at < sum->count && sum->vars[at] != more->vars[i])
            at++;
        if (at == MOST_TERMS || __builtin_mul_overflow(more->coeffs[i], scale, &product))
            return false;
        if (at == sum->count) {
            sum->vars[sum->count] = more->vars[i];
            sum->coeffs[sum->count++] = 0;
        }
        if (__builtin_add_overflow(sum->coeffs[at], product, &sum->coeffs[at]))
            return false;
    }
    return true;
}

static bool linear_within(const AffineEnv *env, const Expr *expr, int depth, Linear *result)
{
    result->count = 0;
    result->constant = 0;
    if (depth > 60)
        return false;
    if (expr->kind == EXPR_INT) {
        result->constant = expr->value.integer;
        return true;
    }
    if (expr->kind == EXPR_VAR) {
        while (env && env->var != expr->value.var)
            env = env->outer;
        if (env && env->dim < 0)
            return linear_within(env->outer, env->value, depth + 1, result);
        result->vars[0] = expr->value.var;
        result->coeffs[0] = result->count = 1;
        return true;
    }
    if ((expr->kind != EXPR_ADD && expr->kind != EXPR_SUB && expr->kind != EXPR_MUL) || !dtype_is_index(expr->dtype))
        return false;
    Linear a, b;
    if (!linear_within(env, expr->args[0], depth + 1, &a) || !linear_within(env, expr->args[1], depth + 1, &b))
        return false;
    if (expr->kind == EXPR_MUL) {
        if (a.count && b.count)
            return false;
        return a.count ? linear_add_scaled(result, &a, b.constant) : linear_add_scaled(result, &b, a.constant);
    }
    return linear_add_scaled(result, &a, 1) && linear_add_scaled(result, &b, expr->kind == EXPR_ADD ? 1 : -1);
}

bool linear_of(const AffineEnv *env, const Expr *expr, Linear *result)
{
    return linear_within(env, expr, 0, result);
}

static int64_t coefficient(const Linear *linear, const Var *var)
{
    for (int i = 0; i < linear->count; i++)
        if (linear->vars[i] == var)
            return linear->coeffs[i];
    return 0;
}

/* Adds to [*LOW, *HIGH] what the terms of LINEAR range over that belong to loops FIRST.. of LOOPS; false where a range is not constant or a
   term belongs to no loop from the first one on (then it must cancel, which the caller checks). */
static bool add_interval(const Linear *linear, const Frame **loops, int first, int count, int64_t sign, int64_t *low, int64_t *high)
{
    for (int i = first; i < count; i++) {
        int64_t c = coefficient(linear, loops[i]->var) * sign, min, extent;
        if (!c)
            continue;
        if (!expr_const_int(loops[i]->range.min, &min) || !expr_const_int(loops[i]->range.extent, &extent) || extent <= 0 ||
            extent > INT32_MAX || min > INT32_MAX || min < INT32_MIN || c > INT32_MAX || c < INT32_MIN)
            return false;
        int64_t a = c * min, b = c * (min + extent - 1);
        *low += a < b ? a : b;
        *high += a < b ? b : a;
    }
    return true;
}

/* Every variable of LINEAR that is no loop of the access, and every agreeing outer loop, must have the same coefficient on both sides. */
static bool outer_terms_cancel(const Pair *pair, const Linear *a, const Linear *b, int level)
{
    for (int side = 0; side < 2; side++) {
        const Linear *linear = side ? b : a, *other = side ? a : b;
        const Frame **loops = side ? pair->loops_b : pair->loops_a;
        int count = side ? pair->count_b : pair->count_a;
        for (int t = 0; t < linear->count; t++) {
            int at = 0;
            while (at < count && loops[at]->var != linear->vars[t])
                at++;
            bool inner = at < count && at >= level;
            if (!inner && coefficient(other, linear->vars[t]) != linear->coeffs[t])
                return false;
        }
    }
    return true;
}

static bool dimension_is_disjoint(const Pair *pair, int level, Range range_a, Range range_b)
{
    Linear a, b;
    int64_t extent_a, extent_b;
    if (!expr_const_int(range_a.extent, &extent_a) || !expr_const_int(range_b.extent, &extent_b) || extent_a > INT32_MAX ||
        extent_b > INT32_MAX || !linear_of(pair->env_a, range_a.min, &a) || !linear_of(pair->env_b, range_b.min, &b) ||
        !outer_terms_cancel(pair, &a, &b, level))
        return false;
    const Var *var = pair->loops_a[level]->var;
    int64_t c = coefficient(&a, var), low, high;
    if (!c || c != coefficient(&b, var) || c > INT32_MAX || c < INT32_MIN)
        return false;
    /* elements meet when 0 <= (b.min + y) - (a.min + x) == 0 for x < extent_a, y < extent_b: the difference without the loop's own part */
    if (__builtin_sub_overflow(b.constant, a.constant, &low))
        return false;
    high = low + extent_b - 1;
    low -= extent_a - 1;
    if (!add_interval(&a, pair->loops_a, level + 1, pair->count_a, -1, &low, &high) ||
        !add_interval(&b, pair->loops_b, level + 1, pair->count_b, 1, &low, &high))
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
    Linear index;
    for (int i = 0; i < pair->a->buffer->ndim; i++)
        if (!linear_of(pair->env_a, pair->a->region.ranges[i].min, &index))
            return false;
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

static bool elements_are_disjoint(const Pair *pair, int level)
{
    return answer_is_shown(prove((Goal){.kind = GOAL_APART, .ctx = pair->ctx, .pair = pair, .level = level}));
}

bool pair_is_disjoint(const Pair *pair, int level)
{
    if (pair->a->whole || pair->b->whole || pair->a->fence || pair->b->fence)
        return false;
    if (elements_are_disjoint(pair, level))
        return true;
    PlainPair plain;
    return pair_unsplit(pair, &plain) && elements_are_disjoint(&plain.pair, level);
}
