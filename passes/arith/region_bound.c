/* What a region covers while iterators run: by iterator-map analysis exactly, by relaxation of every dimension from above. */
#include "ir/walk.h"
#include "passes/arith/int_set.h"
#include "passes/arith/iter_map.h"

/* The set of base + scale * [0, n) + [0, EXTENT) for a map with at most one split; false when the steps leave gaps. */
static bool set_of_sum(Analyzer *an, const IterSum *sum, const Expr *extent, IntSet *set)
{
    Context *ctx = analyzer_context(an);
    if (expr_is_int(extent, 0)) {
        *set = int_set_nothing();
        return true;
    }
    if (sum->count == 0) {
        *set = int_set_from_range(ctx, (Range){sum->base, extent});
        return true;
    }
    const IterSplit *split = &sum->args[0];
    const Expr *zero = expr_int(ctx, extent->dtype, 0);
    if (analyzer_prove_less_equal(an, split->extent, zero)) {
        *set = int_set_nothing(); /* the predicate leaves no iteration */
        return true;
    }
    bool negative = analyzer_prove_less(an, split->scale, zero);
    const Expr *step = negative ? op_sub(ctx, zero, split->scale) : split->scale;
    if (sum->count > 1 || !analyzer_prove_less_equal(an, step, extent))
        return false;
    const Expr *reach = op_mul(ctx, op_add_int(ctx, split->extent, -1), split->scale);
    Range range =
        negative ? (Range){op_add(ctx, sum->base, reach), op_sub(ctx, extent, reach)} : (Range){sum->base, op_add(ctx, extent, reach)};
    *set = int_set_from_range(ctx, analyzer_simplify_range(an, range));
    return true;
}

/* Iterators of one value, which would be left in the base of a map. */
static Subst unit_values(Context *ctx, const RegionQuery *query)
{
    Subst units = {0};
    for (int i = 0; i < query->var_count; i++)
        if (expr_is_int(query->vars[i].range.extent, 1))
            subst_var(ctx, &units, query->vars[i].var, query->vars[i].range.min);
    return units;
}

/* The exact sets of dimensions FIRST up to LAST, seen together. */
static bool strict_dimensions(Analyzer *an, const RegionQuery *query, int first, int last, IntSet *out)
{
    Context *ctx = analyzer_context(an);
    const Expr **mins = ARENA_ARRAY(ctx->arena, const Expr *, last - first);
    Subst units = unit_values(ctx, query);
    for (int i = first; i < last; i++) {
        if (query->ranges[i].extent->kind != EXPR_INT)
            return false;
        mins[i - first] = subst_expr(ctx, &units, query->ranges[i].min);
    }
    const Expr *predicate = query->predicate ? subst_expr(ctx, &units, query->predicate) : NULL;
    IterMapQuery map_query = {mins, last - first, query->vars, query->var_count, predicate, ITER_MAP_SURJECTIVE, true};
    IterMapResult map;
    if (!iter_map_detect(an, &map_query, &map))
        return false;
    for (int i = first; i < last; i++)
        if (!set_of_sum(an, map.sums[i - first], query->ranges[i].extent, &out[i]))
            return false;
    return true;
}

bool region_strict_bound(Analyzer *an, const RegionQuery *query, IntSet *out)
{
    return strict_dimensions(an, query, 0, query->ndim, out);
}

/* EXPR mentions an iterator of more than one value that the ranges mention too. */
static bool concerns_ranges(const RegionQuery *query, const Expr *expr)
{
    for (int i = 0; i < query->var_count; i++)
        for (int d = 0; d < query->ndim && !expr_is_int(query->vars[i].range.extent, 1) && expr_uses_var(expr, query->vars[i].var); d++)
            if (expr_uses_var(query->ranges[d].min, query->vars[i].var) || expr_uses_var(query->ranges[d].extent, query->vars[i].var))
                return true;
    return false;
}

/* The parts of CONDITION that say nothing of where the ranges are hold; else they may exclude all iterations. */
static bool other_conditions_hold(Analyzer *an, const RegionQuery *query, const Expr *condition)
{
    if (condition->kind == EXPR_AND)
        return other_conditions_hold(an, query, condition->args[0]) && other_conditions_hold(an, query, condition->args[1]);
    return concerns_ranges(query, condition) || analyzer_prove_symbolic(an, condition);
}

bool region_lower_bound(Analyzer *an, const RegionQuery *query, IntSet *out)
{
    AnalyzerScope scope = analyzer_enter(an);
    analyzer_bind_ranges(an, query->vars, query->var_count);
    bool runs = !query->predicate || other_conditions_hold(an, query, query->predicate);
    analyzer_leave(an, scope);
    return runs && region_strict_bound(an, query, out);
}

void region_upper_bound(Analyzer *an, const RegionQuery *query, IntSet *out)
{
    if (region_strict_bound(an, query, out))
        return;
    Domain domain = domain_from_ranges(analyzer_context(an), query->vars, query->var_count);
    for (int i = 0; i < query->ndim; i++)
        if (!strict_dimensions(an, query, i, i + 1, out))
            out[i] = int_set_eval_range(an, query->ranges[i], &domain);
}
