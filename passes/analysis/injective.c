/* The cheap argument for indices that are not linear: as a whole they are a one-to-one map of loops, as the bindings of fused and split loops are,
   C[f // m, f % m] under f = f_0 * 8 + f_1 < n * m, also where the sizes are symbolic. Iterations that touch one element are then one iteration of the loops that the indices use.

   Only indices that both accesses share count; the others can only keep them further apart. Not handled: indices that read memory. */
#include "ir/walk.h"
#include "passes/analysis/pair.h"
#include "passes/arith/iter_map.h"

typedef VEC(const Expr *) ExprList;

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

/* EXPR in terms of loops and sizes; NULL when it may change within an iteration. A cast between index types keeps its value, and is left out where it is outermost. */
static const Expr *expand(Context *ctx, const AffineEnv *env, const Expr *expr)
{
    Expansion expansion = {ctx, env, true};
    Rewriter rewriter = {.ctx = ctx, .expr = expand_node, .data = &expansion};
    const Expr *expanded = rewrite_expr(&rewriter, expr);
    while (expanded->kind == EXPR_CAST && dtype_is_integer(expanded->dtype) && expanded->dtype.bits >= 32 && dtype_is_integer(expanded->args[0]->dtype))
        expanded = expanded->args[0];
    return expansion.fixed ? expanded : NULL;
}

static bool list_uses(const ExprList *list, const Var *var)
{
    for (int i = 0; i < list->count; i++)
        if (expr_uses_var(list->data[i], var))
            return true;
    return false;
}

static bool uses_common_loops_only(const Pair *pair, const Expr *index)
{
    for (int i = pair->common; i < pair->count_a; i++)
        if (expr_uses_var(index, pair->loops_a[i]->var))
            return false;
    return true;
}

/* The indices, over common loops, that both accesses share: elements that meet have these in common. */
static ExprList shared_indices(const Pair *pair)
{
    ExprList indices = {0};
    for (int i = 0; i < pair->a->buffer->ndim; i++) {
        Range a = pair->a->region.ranges[i], b = pair->b->region.ranges[i];
        if (!expr_is_int(a.extent, 1) || !expr_is_int(b.extent, 1))
            continue;
        const Expr *index = expand(pair->ctx, pair->env_a, a.min), *other = expand(pair->ctx, pair->env_b, b.min);
        if (index && other && expr_equal(index, other) && uses_common_loops_only(pair, index))
            vec_push(pair->ctx->arena, &indices, index);
    }
    return indices;
}

/* The common loops that INDICES use; -1 when the range of one cannot be expanded. */
static int used_loops(const Pair *pair, const ExprList *indices, VarRange *ranges)
{
    int count = 0;
    for (int i = 0; i < pair->common; i++) {
        const Frame *loop = pair->loops_a[i];
        if (!list_uses(indices, loop->var))
            continue;
        const Expr *min = expand(pair->ctx, pair->env_a, loop->range.min), *extent = expand(pair->ctx, pair->env_a, loop->range.extent);
        if (!min || !extent)
            return -1;
        ranges[count++] = (VarRange){loop->var, {min, extent}};
    }
    return count;
}

static bool is_bound_by(const Pair *pair, const Expr *condition, const VarRange *ranges, int count)
{
    for (int i = 0; i < pair->count_a; i++) {
        bool used = false;
        for (int r = 0; r < count; r++)
            used |= ranges[r].var == pair->loops_a[i]->var;
        if (!used && expr_uses_var(condition, pair->loops_a[i]->var))
            return false;
    }
    return true;
}

static void add_bounds(const Pair *pair, const Expr *condition, const VarRange *ranges, int count, const Expr **bounds)
{
    if (condition->kind == EXPR_AND) {
        add_bounds(pair, condition->args[0], ranges, count, bounds);
        add_bounds(pair, condition->args[1], ranges, count, bounds);
    } else if (condition->kind >= EXPR_LT && expr_is_compare(condition) && is_bound_by(pair, condition, ranges, count)) {
        *bounds = *bounds ? expr_binary(pair->ctx, EXPR_AND, *bounds, condition) : condition;
    }
}

/* Bounds on the loops in RANGES that hold where the first access runs; NULL for none. Leaving some out is safe: a map that is one-to-one on more iterations is so on fewer. */
static const Expr *known_bounds(const Pair *pair, const VarRange *ranges, int count)
{
    const Expr *bounds = NULL;
    for (const Frame *frame = pair->a->frame; frame; frame = frame->outer) {
        const Expr *condition = frame->kind == FRAME_CONDITION && !frame->negated ? expand(pair->ctx, pair->env_a, frame->value) : NULL;
        if (condition)
            add_bounds(pair, condition, ranges, count, &bounds);
    }
    return bounds;
}

bool pair_is_one_to_one(const Pair *pair, int level)
{
    Context *ctx = pair->ctx;
    ExprList indices = shared_indices(pair);
    VarRange *ranges = ARENA_ARRAY(ctx->arena, VarRange, pair->common);
    int count = list_uses(&indices, pair->loops_a[level]->var) ? used_loops(pair, &indices, ranges) : -1;
    if (count < 0)
        return false;
    IterMapQuery query = {.bindings = indices.data, .binding_count = indices.count, .iters = ranges, .iter_count = count, .level = ITER_MAP_BIJECTIVE, .simplify_trivial = true};
    IterMapResult map;
    if (iter_map_detect(analyzer_new(ctx), &query, &map))
        return true;
    query.predicate = known_bounds(pair, ranges, count);
    return query.predicate && iter_map_detect(analyzer_new(ctx), &query, &map);
}
