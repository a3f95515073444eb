/* Elements named by quotients and rests of one number, as fused loops name them where a size divides: C[f // m, f % m] is one element for
   one f alone. isl does not divide by sizes, but it compares f.

   Before: two accesses touch the element (e0, e1)      After: and f_0 * 8 + f_1 = g_0 * 8 + g_1
     at (f // m, f % m), f = f_0 * 8 + f_1
     and (g // m, g % m), g = g_0 * 8 + g_1

   Not handled: quotients in one dimension that is not the number's own (C[f // m * 4 + i, f % m]). */
#include "ir/walk.h"
#include "passes/analysis/normal/quotients.h"
#include "passes/analysis/pairs/pair.h"

static bool uses_loops(const Expr *expr, const Frame **loops, int count)
{
    for (int i = 0; i < count; i++)
        if (expr_uses_var(expr, loops[i]->var))
            return true;
    return false;
}

/* The divisor is the same for both accesses. */
static bool divides_alike(const Pair *pair, const Expr *a, const Expr *b)
{
    return a->kind == EXPR_FLOORDIV && b->kind == EXPR_FLOORDIV && expr_equal(a->args[1], b->args[1]) &&
           expr_is_fixed(a->args[1]) && !uses_loops(a->args[1], pair->loops_a, pair->count_a) &&
           !uses_loops(b->args[1], pair->loops_b, pair->count_b);
}

static bool is_same_everywhere(const Pair *pair, const Expr *expr)
{
    return expr_is_fixed(expr) && !uses_loops(expr, pair->loops_a, pair->count_a) && !uses_loops(expr, pair->loops_b, pair->count_b);
}

/* Takes off what both indices add alike: x % m + s and y % m + s meet where x % m and y % m do. */
static void drop_common_addend(const Pair *pair, const Expr **a, const Expr **b)
{
    for (int side = 0; side < 2 && (*a)->kind == EXPR_ADD; side++)
        for (int other = 0; other < 2 && (*a)->kind == EXPR_ADD && (*b)->kind == EXPR_ADD; other++)
            if (expr_equal((*a)->args[side], (*b)->args[other]) && is_same_everywhere(pair, (*a)->args[side])) {
                *a = (*a)->args[1 - side];
                *b = (*b)->args[1 - other];
            }
}

/* INDEX is x % m + s, or x % m: the element's coordinate DIM is one of the m values from s on. */
static void assume_rest_in_range(Pair *pair, const Expr *index, int dim)
{
    const Expr *rest = index, *start = expr_int(pair->ctx, index->dtype, 0);
    for (int side = 0; index->kind == EXPR_ADD && side < 2; side++)
        if (index->args[side]->kind == EXPR_FLOORMOD) {
            rest = index->args[side];
            start = index->args[1 - side];
        }
    if (rest->kind == EXPR_FLOORMOD && affine_is_nonnegative(&pair->space, rest->args[1]) && is_same_everywhere(pair, rest->args[1]) &&
        is_same_everywhere(pair, start))
        affine_assume_range(&pair->space, NULL, dim, (Range){start, rest->args[1]});
}

/* Joins the indices number QUOTIENT and REST of both; true when they are one now, in the place of the first. */
static bool join(const Pair *pair, Analyzer *an, ExprList *a, ExprList *b, int quotient, int rest)
{
    if (quotient == rest || !divides_alike(pair, a->data[quotient], b->data[quotient]))
        return false;
    const Expr *joined_a = quotient_joined(an, pair->ctx, a->data[quotient], a->data[rest]),
               *joined_b = quotient_joined(an, pair->ctx, b->data[quotient], b->data[rest]);
    if (!joined_a || !joined_b)
        return false;
    a->data[quotient] = joined_a;
    b->data[quotient] = joined_b;
    a->data[rest] = a->data[--a->count];
    b->data[rest] = b->data[--b->count];
    return true;
}

void pair_assume_quotients(Pair *pair)
{
    ExprList a = {0}, b = {0};
    if (!argument_is_on(pair->ctx, ARGUMENT_QUOTIENTS) || pair->a->buffer != pair->b->buffer || !access_point_uncast(pair->ctx, pair->a, &a) || !access_point_uncast(pair->ctx, pair->b, &b))
        return;
    Analyzer *an = analyzer_new(pair->ctx);
    bool joined = false;
    for (int i = 0; i < a.count; i++) {
        assume_rest_in_range(pair, a.data[i], pair->element + i);
        assume_rest_in_range(pair, b.data[i], pair->element + i);
        drop_common_addend(pair, &a.data[i], &b.data[i]);
    }
    for (int i = 0; i < a.count; i++)
        for (int j = 0; j < a.count; j++)
            if (join(pair, an, &a, &b, i, j)) {
                joined = true;
                i = j = -1; /* the joined one may be part of another */
                break;
            }
    for (int i = 0; joined && i < a.count; i++)
        affine_assume_compare(&pair->space, EXPR_EQ, pair->env_a, a.data[i], pair->env_b, b.data[i]);
}
