/* Two accesses that never meet since in some dimension one lies below a bound and the other does not, where that is no matter of linear
   indices:

     for f in range(m * ((n + 3) // 4)):             # q is (n + 3) // 4
         T.where(f % q * 4 + i < n)
         C[f // q, f % q * 4 + i] = ...                below n
         C[f // q, n + (f % q * 4 + i)] = ...          from n on

   The bound is what an index adds that no loop moves, or an index itself: below a loop over k, row k is none of those that f // m > k
   lets through. */
#include "ir/linear_sum.h"
#include "passes/analysis/normal/known.h"
#include "passes/analysis/normal/quotient_order.h"
#include "passes/analysis/pairs/pair.h"

typedef struct {
    const Access *access;
    const Frame **loops; /* those in which the two need not agree */
    int count;
    ExprList indices;
    Analyzer *an; /* knows what holds where the access runs; NULL: not asked yet */
} Side;

static bool side_new(Context *ctx, const Access *access, const Frame **loops, int count, Side *side)
{
    *side = (Side){.access = access, .loops = loops, .count = count};
    return access_point(ctx, access, &side->indices);
}

static bool uses_loops(const Side *side, const Expr *expr)
{
    for (int i = 0; i < side->count; i++)
        if (expr_uses_var(expr, side->loops[i]->var))
            return true;
    return false;
}

/* What INDEX adds that is the same in all iterations; NULL when that is nothing. */
static const Expr *start_of(Context *ctx, const Side *side, const Expr *index)
{
    LinearSum sum = {0};
    if (!linear_sum_of(ctx, index, &sum))
        return NULL;
    const Expr *start = NULL;
    for (int i = 0; i < sum.terms.count; i++) {
        const LinearTerm *term = &sum.terms.data[i];
        if (uses_loops(side, term->atom) || !expr_is_fixed(term->atom))
            continue;
        const Expr *part = op_mul_int(ctx, term->atom, term->coefficient);
        start = start ? op_add(ctx, start, part) : part;
    }
    return start ? op_add_int(ctx, start, sum.constant) : NULL;
}

static Analyzer *facts(Context *ctx, Side *side, const Map *sizes)
{
    if (!side->an)
        side->an = analyzer_of_access(ctx, side->access, &side->indices, sizes);
    return side->an;
}

/* In dimension DIM, LOW lies below what HIGH adds there, and HIGH does not. */
static bool is_below(Context *ctx, Side *low, Side *high, int dim, const Map *sizes)
{
    const Expr *index = low->indices.data[dim], *other = high->indices.data[dim];
    if (!dtype_is_index(index->dtype) || !dtype_equal(index->dtype, other->dtype))
        return false;
    const Expr *bound = start_of(ctx, high, other), *same = start_of(ctx, low, index);
    bool agrees = (!uses_loops(low, index) && expr_is_fixed(index)) || (!uses_loops(high, other) && expr_is_fixed(other));
    Side *moving = uses_loops(low, index) ? low : high;
    if (agrees && quotient_at_most(facts(ctx, moving, sizes), op_add_int(ctx, index, 1), other))
        return true;
    return bound && !uses_loops(low, bound) && !(same && expr_equal(bound, same)) &&
           quotient_at_most(facts(ctx, high, sizes), bound, other) &&
           quotient_at_most(facts(ctx, low, sizes), op_add_int(ctx, index, 1), bound);
}

Answer apart_by_bound(const Goal *goal)
{
    const Pair *pair = goal->pair;
    int level = goal->level;
    Side a, b;
    Context *ctx = pair->ctx;
    if (pair_is_linear(pair) || pair->a->buffer != pair->b->buffer || access_same_point(pair->a, pair->b) ||
        !side_new(ctx, pair->a, pair->loops_a + level, pair->count_a - level, &a) ||
        !side_new(ctx, pair->b, pair->loops_b + level, pair->count_b - level, &b))
        return answer_unknown("not two sides of a bound");
    Map sizes = func_sizes(ctx, pair->a->func);
    for (int d = 0; d < a.indices.count; d++)
        if (is_below(ctx, &a, &b, d, &sizes) || is_below(ctx, &b, &a, d, &sizes))
            return answer_shown();
    return answer_unknown("not two sides of a bound");
}
