/* The cheap argument for indices that are not linear: together they are an injective map of loops. The bindings of fused and split loops
   are such a map, also for symbolic sizes: C[f // m, f % m] under f = f_0 * 8 + f_1 < n * m. Two iterations that touch one element then
   agree in all loops that the indices use.

   Of each index counts what both accesses share, f // m * 4 of f // m * 4 + i and f // m * 4 + i_init; the rest can only keep them further
   apart. Not handled: indices that read memory. */
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/analysis/normal/digits.h"
#include "passes/analysis/normal/known.h"
#include "passes/analysis/normal/quotients.h"
#include "passes/analysis/pairs/pair.h"
#include "passes/arith/iter_map.h"

typedef struct {
    Context *ctx;
    const AffineEnv *env;
    bool fixed; /* what was expanded has one value in an iteration: it reads no memory and calls nothing */
} Expansion;

static const Expr *expand_node(Rewriter *rewriter, const Expr *expr)
{
    Expansion *expansion = rewriter->data;
    expansion->fixed &= expr->kind != EXPR_LOAD && expr->kind != EXPR_CALL;
    if (expr->kind != EXPR_VAR)
        return rewrite_expr_children(rewriter, expr);
    const AffineEnv *env = expansion->env;
    while (env && env->var != expr->value.var)
        env = env->outer;
    if (!env || env->dim >= 0)
        return expr;
    Expansion outer = {expansion->ctx, env->outer, true};
    Rewriter in_outer = {.ctx = expansion->ctx, .expr = expand_node, .data = &outer};
    const Expr *value = rewrite_expr(&in_outer, env->value);
    expansion->fixed &= outer.fixed;
    return value;
}

/* EXPR in terms of loops and sizes; NULL when it may change within an iteration. A cast between index types keeps its value, and is left
   out where it is outermost. */
static const Expr *expand(Context *ctx, const AffineEnv *env, const Expr *expr)
{
    Expansion expansion = {ctx, env, true};
    Rewriter rewriter = {.ctx = ctx, .expr = expand_node, .data = &expansion};
    const Expr *expanded = rewrite_expr(&rewriter, expr);
    while (expanded->kind == EXPR_CAST && dtype_is_integer(expanded->dtype) && expanded->dtype.bits >= 32 &&
           dtype_is_integer(expanded->args[0]->dtype))
        expanded = expanded->args[0];
    return expansion.fixed ? expanded : NULL;
}

static bool uses_common_loops_only(const Pair *pair, const Expr *index)
{
    for (int i = pair->common; i < pair->count_a; i++)
        if (expr_uses_var(index, pair->loops_a[i]->var))
            return false;
    for (int i = pair->common; i < pair->count_b; i++)
        if (expr_uses_var(index, pair->loops_b[i]->var))
            return false;
    return true;
}

/* An index as a part over common loops, a multiple of STEP, and the interval that the rest lies in. */
typedef struct {
    const Expr *outer; /* NULL: 0 */
    int64_t step;      /* the greatest that is known; 0 with no outer part */
    IntBound inner;
} IndexParts;

/* Adds the terms of EXPR to PARTS; false where the rest has no bounds. */
static bool add_terms(const Pair *pair, Analyzer *an, const Expr *expr, IndexParts *parts)
{
    if (expr->kind == EXPR_ADD)
        return add_terms(pair, an, expr->args[0], parts) && add_terms(pair, an, expr->args[1], parts);
    if (expr->kind != EXPR_INT && uses_common_loops_only(pair, expr)) {
        int64_t scale = 1;
        if (expr->kind == EXPR_MUL)
            expr_const_int(expr->args[1], &scale);
        parts->outer = parts->outer ? expr_binary(pair->ctx, EXPR_ADD, parts->outer, expr) : expr;
        parts->step = integer_gcd(parts->step, scale);
        return true;
    }
    IntBound bound = analyzer_bound(an, expr);
    return bound.min != BOUND_NEG_INF && bound.max != BOUND_POS_INF &&
           !__builtin_add_overflow(parts->inner.min, bound.min, &parts->inner.min) &&
           !__builtin_add_overflow(parts->inner.max, bound.max, &parts->inner.max);
}

/* The parts of the first element of RANGE, as a loop nest of one side counts it, in DIGITS where not NULL; the interval covers the others. */
static bool split_range(const Pair *pair, const AffineEnv *env, const Frame **loops, int loop_count, Range range, const Digits *digits,
                        IndexParts *parts)
{
    Analyzer *an = analyzer_new(pair->ctx);
    int64_t extent;
    const Expr *min = expand(pair->ctx, env, range.min);
    *parts = (IndexParts){0};
    if (!min || !expr_const_int(range.extent, &extent) || extent < 1)
        return false;
    min = digits ? digits_of(digits, min) : min;
    for (int i = pair->common; i < loop_count; i++) {
        const Expr *loop_min = expand(pair->ctx, env, loops[i]->range.min), *loop_extent = expand(pair->ctx, env, loops[i]->range.extent);
        if (loop_min && loop_extent)
            analyzer_bind_range(an, loops[i]->var, (Range){loop_min, loop_extent});
    }
    return add_terms(pair, an, min, parts) && !__builtin_add_overflow(parts->inner.max, extent - 1, &parts->inner.max);
}

/* The parts of the indices, over common loops, that both accesses share: elements that meet have these in common, since what is added to
   them is less than a step apart. */
static ExprList shared_indices(const Pair *pair, const Digits *digits)
{
    ExprList indices = {0};
    for (int i = 0; i < pair->a->buffer->ndim; i++) {
        IndexParts a, b;
        int64_t above, below;
        if (!split_range(pair, pair->env_a, pair->loops_a, pair->count_a, pair->a->region.ranges[i], digits, &a) ||
            !split_range(pair, pair->env_b, pair->loops_b, pair->count_b, pair->b->region.ranges[i], digits, &b) || !a.outer || !b.outer ||
            !expr_equal(a.outer, b.outer))
            continue;
        if (!__builtin_sub_overflow(b.inner.max, a.inner.min, &above) && !__builtin_sub_overflow(a.inner.max, b.inner.min, &below) &&
            above < a.step && below < a.step)
            vec_push(pair->ctx->arena, &indices, a.outer);
    }
    return indices;
}

/* x // n and x % n together are as good as x: the two become one. */
static void join_quotients(Context *ctx, ExprList *indices)
{
    Analyzer *an = analyzer_new(ctx);
    for (int i = 0; i < indices->count; i++)
        for (int j = 0; j < indices->count; j++) {
            const Expr *joined = i == j ? NULL : quotient_joined(an, ctx, indices->data[i], indices->data[j]);
            if (!joined)
                continue;
            indices->data[i] = joined;
            indices->data[j] = indices->data[--indices->count];
            i = -1; /* the joined one may be part of another */
            break;
        }
}

/* The common loops from number FIRST on that INDICES use; -1 when the range of one cannot be expanded. */
static int used_loops(const Pair *pair, const ExprList *indices, int first, VarRange *ranges)
{
    int count = 0;
    for (int i = first; i < pair->common; i++) {
        const Frame *loop = pair->loops_a[i];
        if (!exprs_use_var(indices, loop->var))
            continue;
        const Expr *min = expand(pair->ctx, pair->env_a, loop->range.min), *extent = expand(pair->ctx, pair->env_a, loop->range.extent);
        if (!min || !extent)
            return -1;
        ranges[count++] = (VarRange){loop->var, {min, extent}};
    }
    return count;
}

/* EXPR uses none of the COUNT loops but those in RANGES. */
static bool uses_ranges_only(const Expr *expr, const Frame **loops, int loop_count, const VarRange *ranges, int count)
{
    for (int i = 0; i < loop_count; i++) {
        bool used = false;
        for (int r = 0; r < count; r++)
            used |= ranges[r].var == loops[i]->var;
        if (!used && expr_uses_var(expr, loops[i]->var))
            return false;
    }
    return true;
}

/* Comparisons over the loops in RANGES that hold where one access of a pair runs. */
typedef struct {
    const Pair *pair;
    const VarRange *ranges;
    int count;
    Analyzer *an, *signs;
} Bounds;

static void add_bounds(const Bounds *bounds, const Expr *condition, ExprList *list)
{
    const Pair *pair = bounds->pair;
    if (condition->kind == EXPR_AND) {
        add_bounds(bounds, condition->args[0], list);
        add_bounds(bounds, condition->args[1], list);
    } else if (condition->kind >= EXPR_LT && expr_is_compare(condition) &&
               uses_ranges_only(condition, pair->loops_a, pair->count_a, bounds->ranges, bounds->count) &&
               uses_ranges_only(condition, pair->loops_b, pair->count_b, bounds->ranges, bounds->count)) {
        const Expr *undivided = quotient_undivided(bounds->an, bounds->signs, condition);
        if (!expr_is_int(undivided, 1))
            vec_push(pair->ctx->arena, list, undivided);
    }
}

static ExprList bounds_of(const Bounds *bounds, const Access *access, const AffineEnv *env)
{
    ExprList list = {0};
    for (const Frame *frame = access->frame; frame; frame = frame->outer) {
        bool holds = frame->kind == FRAME_CONDITION && !frame->negated;
        const Expr *condition = holds ? expand(bounds->pair->ctx, env, frame->value) : NULL;
        if (condition)
            add_bounds(bounds, condition, &list);
    }
    return list;
}

/* BOUND follows from LIST. */
static bool follows(const Bounds *bounds, const Expr *bound, const ExprList *list)
{
    for (int i = 0; i < list->count; i++) {
        const Expr *other = list->data[i];
        if (expr_equal(other, bound) || (other->kind == bound->kind && expr_equal(other->args[0], bound->args[0]) &&
                                         analyzer_prove_equal(bounds->an, other->args[1], bound->args[1])))
            return true;
    }
    return false;
}

/* Bounds on the loops in RANGES that hold where either access runs; NULL for none. Leaving some out is safe: a map that is one-to-one on
   more iterations is so on fewer. */
static const Expr *known_bounds(const Pair *pair, const VarRange *ranges, int count)
{
    Context *ctx = pair->ctx;
    Map sizes = func_sizes(ctx, pair->a->func);
    Bounds bounds = {pair, ranges, count, analyzer_new(ctx), analyzer_of_sizes(ctx, &sizes)};
    ExprList a = bounds_of(&bounds, pair->a, pair->env_a), b = bounds_of(&bounds, pair->b, pair->env_b);
    const Expr *known = NULL;
    for (int i = 0; i < a.count; i++)
        if (follows(&bounds, a.data[i], &b))
            known = known ? expr_binary(ctx, EXPR_AND, known, a.data[i]) : a.data[i];
    return known;
}

static bool is_factor(const Expr *factor, const Expr *product)
{
    return expr_equal(factor, product) ||
           (product->kind == EXPR_MUL && (is_factor(factor, product->args[0]) || is_factor(factor, product->args[1])));
}

/* A buffer has elements where one is touched: no factor of its size is 0. */
static bool is_factor_of_size(const Buffer *buffer, const Expr *expr)
{
    for (int d = 0; d < buffer->ndim; d++)
        if (is_factor(expr, buffer->shape[d]))
            return true;
    return false;
}

/* SCALE is not 0 where A runs; AN knows what holds there. */
static bool is_never_zero(const Pair *pair, Analyzer *an, const Expr *scale)
{
    int64_t value;
    if (expr_const_int(scale, &value))
        return value != 0;
    if (scale->kind == EXPR_MUL)
        return is_never_zero(pair, an, scale->args[0]) && is_never_zero(pair, an, scale->args[1]);
    return (!pair->a->asked && is_factor_of_size(pair->a->buffer, scale)) || analyzer_prove_at_least(an, scale, 1);
}

/* (i * m + j) * k is one number for each i and j unless k is 0. */
static bool scales_are_nonzero(const Pair *pair, const IterMapResult *map)
{
    Analyzer *an = NULL;
    for (int i = 0; i < map->count; i++)
        for (int s = 0; s < map->sums[i]->count; s++) {
            const Expr *scale = map->sums[i]->args[s].scale;
            int64_t value;
            if (expr_const_int(scale, &value) && value)
                continue;
            if (!an) {
                ExprList point = {0};
                Map sizes = func_sizes(pair->ctx, pair->a->func);
                if (!access_point(pair->ctx, pair->a, &point))
                    point.count = 0;
                an = analyzer_of_access(pair->ctx, pair->a, &point, &sizes);
            }
            if (!is_never_zero(pair, an, scale))
                return false;
        }
    return true;
}

/* INDICES, over common loops, are a one-to-one map of the loops from number FIRST on that they use, the outer ones agreeing. */
static bool is_one_to_one(const Pair *pair, const ExprList *indices, int first)
{
    Context *ctx = pair->ctx;
    VarRange *ranges = ARENA_ARRAY(ctx->arena, VarRange, pair->common);
    int count = used_loops(pair, indices, first, ranges);
    if (count < 0)
        return false;
    IterMapQuery query = {.bindings = indices->data,
                          .binding_count = indices->count,
                          .iters = ranges,
                          .iter_count = count,
                          .level = ITER_MAP_BIJECTIVE,
                          .simplify_trivial = true};
    IterMapResult map;
    if (iter_map_detect_mixed(analyzer_new(ctx), &query, &map))
        return scales_are_nonzero(pair, &map);
    query.predicate = known_bounds(pair, ranges, count);
    return query.predicate && iter_map_detect_mixed(analyzer_new(ctx), &query, &map) && scales_are_nonzero(pair, &map);
}

typedef struct {
    const Pair *pair;
    int first; /* the outermost common loop found */
} DivisionSearch;

static bool uses_loop_from(const Pair *pair, const Expr *expr, int first)
{
    for (int i = first; i < pair->common; i++)
        if (expr_uses_var(expr, pair->loops_a[i]->var))
            return true;
    return false;
}

/* A division that divides loops from FIRST on together with others takes these in; one that divides outer loops alone is the same for all
   of their iterations. */
static bool search_division(Visitor *visitor, const Expr *expr)
{
    DivisionSearch *search = visitor->data;
    if ((expr->kind != EXPR_FLOORDIV && expr->kind != EXPR_FLOORMOD) || !uses_loop_from(search->pair, expr, search->first))
        return true;
    for (int i = 0; i < search->first; i++)
        if (expr_uses_var(expr, search->pair->loops_a[i]->var))
            search->first = i;
    return true;
}

/* The loop at LEVEL, or one around it that INDICES divide together with it. */
static int first_divided(const Pair *pair, const ExprList *indices, int level)
{
    DivisionSearch search = {pair, level};
    Visitor visitor = {.expr = search_division, .data = &search};
    int before;
    do {
        before = search.first;
        for (int i = 0; i < indices->count; i++)
            visit_expr(&visitor, indices->data[i]);
    } while (search.first != before);
    return search.first;
}

/* x // 8 % n * 8 + x % 8, an index in DIGITS, says as much as x // 8 % n and x % 8 do: these take its place. */
static void take_apart(const Digits *digits, ExprList *indices)
{
    Context *ctx = analyzer_context(digits->an);
    for (int i = 0, count = indices->count; i < count && digits->factor > 1; i++) {
        const Expr *sum = indices->data[i];
        bool scaled = sum->kind == EXPR_ADD && sum->args[0]->kind == EXPR_MUL && expr_is_int(sum->args[0]->args[1], digits->factor);
        IntBound low = scaled ? analyzer_bound(digits->an, sum->args[1]) : (IntBound){-1, 0};
        if (low.min < 0 || low.max >= digits->factor)
            continue;
        indices->data[i] = sum->args[0]->args[0];
        vec_push(ctx->arena, indices, sum->args[1]);
    }
}

/* The same for the part of the indices that both accesses share as they are, or in DIGITS. */
static bool shared_are_one_to_one(const Pair *pair, int level, const Digits *digits)
{
    ExprList indices = shared_indices(pair, digits);
    if (!exprs_use_var(&indices, pair->loops_a[level]->var))
        return false;
    int first = first_divided(pair, &indices, level);
    if (digits)
        take_apart(digits, &indices);
    join_quotients(pair->ctx, &indices);
    return is_one_to_one(pair, &indices, 0) || (first && is_one_to_one(pair, &indices, first));
}

/* Adds the indices of one access that divide to LIST; tells DIGITS of the loops around it. */
static void add_divisions(const Pair *pair, const Access *access, const AffineEnv *env, const Frame **loops, int count, Digits *digits,
                          ExprList *list)
{
    Context *ctx = pair->ctx;
    for (int i = 0; i < access->buffer->ndim; i++) {
        const Expr *min = expand(ctx, env, access->region.ranges[i].min);
        if (min && expr_divides(min))
            vec_push(ctx->arena, list, min);
    }
    for (int i = 0; i < count && list->count; i++) {
        const Expr *min = expand(ctx, env, loops[i]->range.min), *extent = expand(ctx, env, loops[i]->range.extent);
        if (min && extent)
            analyzer_bind_range(digits->an, loops[i]->var, (Range){min, extent});
    }
}

static bool is_one_to_one_at(const Pair *pair, int level)
{
    int64_t iterations;
    const Frame *loop = pair->loops_a[level];
    if (!loop->unsure && expr_const_int(loop->range.extent, &iterations) && iterations <= 1)
        return true; /* there are no two */
    if (shared_are_one_to_one(pair, level, NULL))
        return true;
    ExprList divisions = {0};
    Map sizes = func_sizes(pair->ctx, pair->a->func);
    Digits digits = digits_new(pair->ctx, &sizes);
    add_divisions(pair, pair->a, pair->env_a, pair->loops_a, pair->count_a, &digits, &divisions);
    add_divisions(pair, pair->b, pair->env_b, pair->loops_b, pair->count_b, &digits, &divisions);
    digits_find_factor(&digits, &divisions);
    return divisions.count && shared_are_one_to_one(pair, level, &digits);
}

Answer apart_by_injective_indices(const Goal *goal)
{
    return answer_if(!pair_is_linear(goal->pair) && is_one_to_one_at(goal->pair, goal->level));
}

Answer agrees_by_injective_indices(const Goal *goal)
{
    const Pair *pair = goal->pair;
    const Expr *value = goal->value;
    int level = goal->level;
    ExprList indices = shared_indices(pair, NULL);
    bool constant = true;
    for (int i = level; i < pair->count_a; i++) {
        if (!expr_uses_var(value, pair->loops_a[i]->var))
            continue;
        if (i >= pair->common || !exprs_use_var(&indices, pair->loops_a[i]->var))
            return answer_unknown("no shared index depends on a loop");
        constant = false;
    }
    join_quotients(pair->ctx, &indices);
    return answer_if(constant || is_one_to_one(pair, &indices, level));
}

bool pair_agrees_on(const Pair *pair, const Expr *value, int level)
{
    const Expr *expanded = expand(pair->ctx, pair->env_a, value);
    bool exact = !pair->a->whole && !pair->b->whole && !pair->a->fence && !pair->b->fence && pair->a->buffer == pair->b->buffer;
    if (!expanded || !exact)
        return false;
    return answer_is_shown(prove((Goal){.kind = GOAL_AGREES, .ctx = pair->ctx, .pair = pair, .value = expanded, .level = level}));
}
