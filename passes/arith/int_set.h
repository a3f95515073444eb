/* Sets of integers as intervals with symbolic ends, and the regions (boxes) that an access touches while some variables run over their
   domains. */
#ifndef TIRC_PASSES_ARITH_INT_SET_H
#define TIRC_PASSES_ARITH_INT_SET_H

#include "passes/arith/analyzer.h"

/* The integers from min to max, both included. A missing end (NULL) is unbounded. A single point has one pointer in both. EMPTY: no
   integer at all. */
typedef struct {
    const Expr *min, *max;
    bool empty;
} IntSet;

static inline bool int_set_is_bounded(IntSet set)
{
    return set.min && set.max;
}
/* True when SET is syntactically one value (equal ends). */
bool int_set_is_point(IntSet set);
IntSet int_set_point(const Expr *value);
IntSet int_set_everything(void);
IntSet int_set_nothing(void);
/* [min, min + extent - 1]; an extent of 1 gives a point. */
IntSet int_set_from_range(Context *ctx, Range range);
/* The range of SET, its extent simplified; FALLBACK where an end is missing. */
Range int_set_cover_range(Analyzer *an, IntSet set, Range fallback);
/* The smallest interval around both; the largest inside both. Ends are combined by min and max and simplified. */
IntSet int_set_union(Analyzer *an, IntSet a, IntSet b);
IntSet int_set_intersect(Analyzer *an, IntSet a, IntSet b);
/* The largest interval that is certainly the union of SETS without gaps: sets that may leave a gap to the ones before are left out.
   COUNT may be 0 (empty). */
IntSet int_set_union_lower(Analyzer *an, const IntSet *sets, int count);
/* SET is provably RANGE. */
bool int_set_matches_range(Analyzer *an, IntSet set, Range range);
/* SET provably covers RANGE; SET provably lies within RANGE. */
bool int_set_covers_range(Analyzer *an, IntSet set, Range range);
bool int_set_within_range(Analyzer *an, IntSet set, Range range);

/* The domains of the variables to relax. A domain may mention other relaxed variables. */
typedef struct {
    const Var *var;
    IntSet set;
} VarSet;
typedef struct {
    VarSet *entries;
    int count;
} Domain;
Domain domain_from_ranges(Context *ctx, const VarRange *ranges, int count);
/* The domain of VAR, or NULL when it is not relaxed. */
const IntSet *domain_find(const Domain *domain, const Var *var);

/* An interval that holds every value of EXPR while the variables of DOMAIN run over their sets; free variables stay symbols. The ends
   are not simplified beyond what building them does. Where nothing is known an end is missing. */
IntSet int_set_eval(Analyzer *an, const Expr *expr, const Domain *domain);
/* The same for all values of a range. */
IntSet int_set_eval_range(Analyzer *an, Range range, const Domain *domain);
/* An interval of EXPR over the ranges that the variables are bound to in AN, assumed comparisons included. */
IntSet int_set_eval_bound(Analyzer *an, const Expr *expr);

/* What a region of NDIM ranges covers while the iterators VARS run over their ranges under PREDICATE (NULL: true). Results: NDIM sets
   in OUT.
   - strict: exactly the box covered, found by iterator-map analysis, unless no iteration fulfils the parts of PREDICATE that say nothing of
     the ranges; false when the set is not exactly such a box or cannot be found.
   - lower: a box that is certainly covered if every iterator has values (predicates that cannot be used make it fail); false when none is
     found.
   - upper: a box that holds everything: the strict one where there is one, else relaxation of each dimension by itself. Never fails, ends
     may be missing. */
typedef struct {
    const Range *ranges;
    int ndim;
    const VarRange *vars;
    int var_count;
    const Expr *predicate;
} RegionQuery;
bool region_strict_bound(Analyzer *an, const RegionQuery *query, IntSet *out);
bool region_lower_bound(Analyzer *an, const RegionQuery *query, IntSet *out);
void region_upper_bound(Analyzer *an, const RegionQuery *query, IntSet *out);

#endif
