/* Operations on intervals with symbolic ends; see int_set.h. */
#include "passes/arith/int_set.h"

bool int_set_is_point(IntSet set)
{
    return !set.empty && set.min && set.max && (set.min == set.max || expr_equal(set.min, set.max));
}

IntSet int_set_point(const Expr *value)
{
    return (IntSet){value, value, false};
}

IntSet int_set_everything(void)
{
    return (IntSet){NULL, NULL, false};
}

IntSet int_set_nothing(void)
{
    return (IntSet){NULL, NULL, true};
}

IntSet int_set_from_range(Context *ctx, Range range)
{
    if (expr_is_int(range.extent, 1))
        return int_set_point(range.min);
    return (IntSet){range.min, op_add_int(ctx, op_add(ctx, range.extent, range.min), -1), false};
}

Range int_set_cover_range(Analyzer *an, IntSet set, Range fallback)
{
    Context *ctx = analyzer_context(an);
    if (set.empty || !int_set_is_bounded(set))
        return fallback;
    if (int_set_is_point(set))
        return range_point(ctx, set.min);
    const Expr *extent = analyzer_simplify(an, op_sub(ctx, op_add_int(ctx, set.max, 1), set.min));
    int64_t size; /* of an interval over loops without iterations: below 0 */
    return (Range){set.min, expr_const_int(extent, &size) && size < 0 ? expr_int(ctx, extent->dtype, 0) : extent};
}

/* --- Union and intersection: a missing end is infinite --- */

static const Expr *outer_min(Context *ctx, IntSet a, IntSet b)
{
    return a.min && b.min ? op_min(ctx, a.min, b.min) : NULL;
}

static const Expr *outer_max(Context *ctx, IntSet a, IntSet b)
{
    return a.max && b.max ? op_max(ctx, a.max, b.max) : NULL;
}

static IntSet simplified(Analyzer *an, IntSet set)
{
    bool point = set.min == set.max;
    if (set.min)
        set.min = analyzer_simplify(an, set.min);
    if (set.max)
        set.max = point ? set.min : analyzer_simplify(an, set.max);
    return set;
}

IntSet int_set_union(Analyzer *an, IntSet a, IntSet b)
{
    Context *ctx = analyzer_context(an);
    if (a.empty)
        return b;
    if (b.empty)
        return a;
    return simplified(an, (IntSet){outer_min(ctx, a, b), outer_max(ctx, a, b), false});
}

IntSet int_set_intersect(Analyzer *an, IntSet a, IntSet b)
{
    Context *ctx = analyzer_context(an);
    if (a.empty || b.empty)
        return int_set_nothing();
    IntSet result = {a.min && b.min ? op_max(ctx, a.min, b.min) : a.min ? a.min : b.min,
                     a.max && b.max ? op_min(ctx, a.max, b.max) : a.max ? a.max : b.max, false};
    if (result.min && result.max && analyzer_prove_less(an, result.max, result.min))
        return int_set_nothing();
    return simplified(an, result);
}

/* No integer lies between the end of FIRST and the beginning of SECOND. */
static bool reaches(Analyzer *an, const Expr *first_max, const Expr *second_min)
{
    return !first_max || !second_min || analyzer_prove_less_equal(an, second_min, op_add_int(analyzer_context(an), first_max, 1));
}

IntSet int_set_union_lower(Analyzer *an, const IntSet *sets, int count)
{
    Context *ctx = analyzer_context(an);
    IntSet result = int_set_nothing();
    for (int i = 0; i < count; i++) {
        if (sets[i].empty)
            continue;
        if (result.empty)
            result = sets[i];
        else if (reaches(an, result.max, sets[i].min) && reaches(an, sets[i].max, result.min))
            result = (IntSet){outer_min(ctx, result, sets[i]), outer_max(ctx, result, sets[i]), false};
    }
    return result;
}

/* --- Against ranges --- */

bool int_set_matches_range(Analyzer *an, IntSet set, Range range)
{
    IntSet wanted = int_set_from_range(analyzer_context(an), range);
    return !set.empty && int_set_is_bounded(set) && analyzer_prove_equal(an, set.min, wanted.min) &&
           analyzer_prove_equal(an, set.max, wanted.max);
}

bool int_set_covers_range(Analyzer *an, IntSet set, Range range)
{
    IntSet inner = int_set_from_range(analyzer_context(an), range);
    return !set.empty && (!set.min || analyzer_prove_less_equal(an, set.min, inner.min)) &&
           (!set.max || analyzer_prove_less_equal(an, inner.max, set.max));
}

bool int_set_within_range(Analyzer *an, IntSet set, Range range)
{
    IntSet outer = int_set_from_range(analyzer_context(an), range);
    return set.empty || (int_set_is_bounded(set) && analyzer_prove_less_equal(an, outer.min, set.min) &&
                         analyzer_prove_less_equal(an, set.max, outer.max));
}

/* --- Domains --- */

Domain domain_from_ranges(Context *ctx, const VarRange *ranges, int count)
{
    Domain domain = {ARENA_ARRAY(ctx->arena, VarSet, count), count};
    for (int i = 0; i < count; i++)
        domain.entries[i] = (VarSet){ranges[i].var, int_set_from_range(ctx, ranges[i].range)};
    return domain;
}

const IntSet *domain_find(const Domain *domain, const Var *var)
{
    for (int i = 0; i < domain->count; i++)
        if (domain->entries[i].var == var)
            return &domain->entries[i].set;
    return NULL;
}
