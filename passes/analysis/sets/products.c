/* Sets with products and quotients of sizes, which isl does not know: x // m, i * m + j, f < n * m.

   Each such product becomes a variable (polynomial.h), which is known to grow with its factor: where s >= 0, for any d,

     a - b >= d  implies  a * s - b * s >= d * s        a - b <= d  implies  a * s - b * s <= d * s

   isl decides the set without these implications first. It gives a point; where that breaks one of them, the set is cut in two: the part in which
   the left side does not hold, and the part in which the right side does. This ends when all parts are empty, which is a proof, or when a point
   keeps all implications, or after so many tests. A cut with an empty side is preferred: it only adds what follows.

   A minimum is a variable that is at most either value; where it is less than both, the set is cut, too.

   Not handled: divisors that are not known to be positive, conditions with "or". */
#include <isl/constraint.h>
#include <isl/id.h>
#include <isl/lp.h>
#include <isl/point.h>
#include <isl/val.h>

#include "passes/analysis/prove/portfolio.h"
#include "passes/analysis/sets/polynomial.h"

enum { MOST_TESTS = 400, MOST_TRIED = 24 };
static const int64_t MOST_COORDINATE = INT64_C(1) << 28;

/* A set whose dimensions are parameters and then those of the space. */
typedef struct {
    Context *ctx;
    const Polynomials *all;
    Map positions;  /* parameter -> its number + 1, as a pointer */
    int params, tests; /* TESTS: of whether a part is empty */
} Search;

static int position_of(const Search *search, LinearTermOf variable)
{
    return variable.param ? (int)(intptr_t)map_get(&search->positions, variable.param) - 1 : search->params + variable.dim;
}

/* --- points --- */

/* The value of FORM where the dimensions have VALUES; false for a variable that the set does not have. */
static bool value_at(const Search *search, const LinearForm *form, const int64_t *values, int64_t *result)
{
    *result = form->constant;
    for (int i = 0; i < form->count; i++) {
        int position = position_of(search, form->terms[i]);
        int64_t product;
        if (!form->terms[i].coefficient)
            continue;
        if (position < 0 || __builtin_mul_overflow(form->terms[i].coefficient, values[position], &product) ||
            __builtin_add_overflow(*result, product, result))
            return false;
    }
    return true;
}

/* The DIMS coordinates of a point of PART in VALUES; false when one is large. *EMPTY: there is none. */
static bool find_point(isl_basic_set *part, int dims, int64_t *values, bool *empty)
{
    isl_point *point = isl_basic_set_sample_point(isl_basic_set_copy(part));
    *empty = point && isl_point_is_void(point) == isl_bool_true;
    bool known = point && !*empty;
    for (int i = 0; known && i < dims; i++) {
        isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, i);
        known = value && isl_val_cmp_si(value, MOST_COORDINATE) < 0 && isl_val_cmp_si(value, -MOST_COORDINATE) > 0;
        values[i] = known ? isl_val_get_num_si(value) : 0;
        isl_val_free(value);
    }
    isl_point_free(point);
    return known;
}

/* --- cuts --- */

/* Two sets that all points lie in which keep an implication: one form or the other is at least 0. */
typedef struct {
    LinearForm sides[2];
    int64_t distance; /* the less, the more it says */
} Cut;
typedef VEC(Cut) CutList;

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

/* SIGN * FORM + CONSTANT. */
static bool signed_form(const LinearForm *form, int sign, int64_t constant, LinearForm *result)
{
    *result = (LinearForm){.constant = constant};
    return linear_add_form(result, form, sign);
}

/* The implication between A and B that the point breaks, with the least distance of a few. */
static bool cut_between(const Search *search, const ScaledValue *a, const ScaledValue *b, const int64_t *point, Cut *cut)
{
    const LinearForm *key = &search->all->keys.data[a->key];
    LinearForm values = a->value, products = a->product;
    int64_t apart, scaled, size;
    if (!linear_add_form(&values, &b->value, -1) || !linear_add_form(&products, &b->product, -1) ||
        !value_at(search, &values, point, &apart) || !value_at(search, &products, point, &scaled) ||
        !value_at(search, key, point, &size) || size < 0)
        return false;
    const int64_t distances[] = {0, 1, -1, apart};
    for (int i = 0; i < 4; i++) {
        int64_t distance = distances[i], expected;
        if (__builtin_mul_overflow(distance, size, &expected))
            continue;
        bool grows = apart >= distance && scaled < expected;
        int sign = grows ? 1 : -1;
        cut->distance = magnitude(distance);
        if (grows || (apart <= distance && scaled > expected))
            return linear_add_form(&products, key, -distance) && signed_form(&products, sign, 0, &cut->sides[0]) &&
                   signed_form(&values, -sign, sign * distance - 1, &cut->sides[1]);
    }
    return false;
}

/* A minimum or maximum that the point has not as either of the two: it is one of them. */
static bool cut_extremum(const Search *search, const Extremum *extremum, const int64_t *point, Cut *cut)
{
    int sign = extremum->max ? -1 : 1;
    cut->distance = 0;
    for (int i = 0; i < 2; i++) {
        int64_t apart;
        LinearForm difference = {0};
        if (!linear_add_term(&difference, (LinearTermOf){.param = extremum->var}, 1) ||
            !linear_add_form(&difference, &extremum->values[i], -1) || !value_at(search, &difference, point, &apart) || !apart ||
            !signed_form(&difference, sign, 0, &cut->sides[i]))
            return false;
    }
    return true;
}

/* The implications that the point breaks, those with the least distances first. */
static CutList broken_cuts(const Search *search, const int64_t *point)
{
    const Polynomials *all = search->all;
    const ScaledValue none = {0};
    CutList cuts = {0};
    Cut cut;
    for (int i = 0; i < all->scaled.count; i++)
        for (int j = i; j < all->scaled.count; j++) {
            const ScaledValue *a = &all->scaled.data[i], *b = &all->scaled.data[j];
            if (a->key == b->key && cut_between(search, a, i == j ? &none : b, point, &cut))
                vec_push(search->ctx->arena, &cuts, cut);
        }
    for (int i = 0; i < all->extrema.count; i++)
        if (cut_extremum(search, &all->extrema.data[i], point, &cut))
            vec_push(search->ctx->arena, &cuts, cut);
    for (int i = 1; i < cuts.count; i++)
        for (int j = i; j > 0 && cuts.data[j].distance < cuts.data[j - 1].distance; j--) {
            cut = cuts.data[j];
            cuts.data[j] = cuts.data[j - 1];
            cuts.data[j - 1] = cut;
        }
    return cuts;
}

/* FORM over the dimensions of PART. */
static isl_aff *aff_of(const Search *search, isl_basic_set *part, const LinearForm *form)
{
    isl_aff *aff = isl_aff_zero_on_domain(isl_local_space_from_space(isl_basic_set_get_space(part)));
    aff = isl_aff_set_constant_val(aff, isl_val_int_from_si(affine_isl(search->ctx), form->constant));
    for (int i = 0; i < form->count; i++)
        if (form->terms[i].coefficient)
            aff = isl_aff_set_coefficient_val(aff, isl_dim_in, position_of(search, form->terms[i]),
                                              isl_val_int_from_si(affine_isl(search->ctx), form->terms[i].coefficient));
    return aff;
}

/* PART (taken) where FORM >= 0. */
static isl_basic_set *where(const Search *search, isl_basic_set *part, const LinearForm *form)
{
    return isl_basic_set_add_constraint(part, isl_inequality_from_aff(aff_of(search, part, form)));
}

/* FORM is negative all over PART: seen by rational numbers, which takes less time than by integers. */
static bool is_negative(Search *search, isl_basic_set *part, const LinearForm *form)
{
    search->tests++;
    isl_aff *aff = aff_of(search, part, form);
    isl_val *most = isl_basic_set_max_lp_val(part, aff);
    bool negative = most && isl_val_is_neg(most) == isl_bool_true;
    isl_aff_free(aff);
    isl_val_free(most);
    return negative;
}

/* Cuts PART (taken) by one of CUTS into PARTS; the second is NULL where it would have nothing. No other cut is as good then. */
static void cut_part(Search *search, isl_basic_set *part, const CutList *cuts, isl_basic_set *parts[2])
{
    parts[1] = NULL;
    for (int i = 0; i < cuts->count && i < MOST_TRIED; i++)
        for (int side = 1; side >= 0; side--)
            if (is_negative(search, part, &cuts->data[i].sides[side])) {
                parts[0] = where(search, part, &cuts->data[i].sides[1 - side]);
                return;
            }
    parts[1] = where(search, isl_basic_set_copy(part), &cuts->data[0].sides[1]);
    parts[0] = where(search, part, &cuts->data[0].sides[0]);
}

/* PART (taken) has no point that keeps all implications. */
static bool part_is_empty(Search *search, isl_basic_set *part)
{
    int dims = part ? (int)isl_basic_set_dim(part, isl_dim_set) : -1; /* none where the quota is exhausted */
    if (dims < 0) {
        isl_basic_set_free(part);
        return false;
    }
    int64_t *point = ARENA_ARRAY(search->ctx->arena, int64_t, dims);
    bool empty, found = find_point(part, dims, point, &empty);
    CutList cuts = {0};
    search->ctx->work += (uint64_t)dims;
    if (found && ++search->tests <= MOST_TESTS)
        cuts = broken_cuts(search, point);
    if (!cuts.count) {
        isl_basic_set_free(part);
        return empty;
    }
    isl_basic_set *parts[2];
    cut_part(search, part, &cuts, parts);
    bool first = part_is_empty(search, parts[0]);
    if (first && parts[1])
        return part_is_empty(search, parts[1]);
    isl_basic_set_free(parts[1]);
    return first;
}

/* --- the set --- */

/* Gives the space of ALL what GOAL's left out, and what its terms stand for, as far as these are polynomials. */
static void add_omitted(Polynomials *all, const Goal *goal)
{
    for (const AffineOmission *omission = goal->space->omitted; omission; omission = omission->earlier) {
        LinearForm a, b;
        bool less = omission->kind == EXPR_LT || omission->kind == EXPR_LE;
        if (!polynomial_of(all, omission->env_a, omission->a, &a) || !polynomial_of(all, omission->env_b, omission->b, &b))
            continue;
        LinearForm sum = less ? b : a;
        sum.constant -= omission->kind == EXPR_LT || omission->kind == EXPR_GT;
        if (linear_add_form(&sum, less ? &a : &b, -1))
            affine_add_form(all->space, &sum, omission->kind == EXPR_EQ);
    }
    const AffineTerms *terms = goal->space->terms;
    for (int i = 0; terms && i < terms->known.count; i++) {
        const AffineTerm *term = &terms->known.data[i];
        LinearForm value;
        if (polynomial_of(all, term->env, term->expr, &value) && linear_add_term(&value, (LinearTermOf){.param = term->var}, -1))
            affine_add_form(all->space, &value, true);
    }
    polynomials_complete(all);
}

/* A row for each product, so that the set has its variables. */
static void mention_products(Polynomials *all)
{
    for (int i = 0; i < all->scaled.count; i++) {
        LinearForm same = all->scaled.data[i].product;
        for (int t = 0; t < same.count; t++)
            same.terms[t].coefficient = 0;
        same.constant = 0;
        affine_add_form(all->space, &same, true);
    }
}

typedef struct {
    Search *search;
    bool empty;
} PartSearch;

static isl_stat check_part(isl_basic_set *part, void *data)
{
    PartSearch *parts = data;
    parts->empty = parts->empty && part_is_empty(parts->search, part);
    return isl_stat_ok;
}

static bool set_is_empty(const Polynomials *all, isl_set *set)
{
    Search search = {.ctx = all->space->ctx, .all = all, .params = (int)isl_set_dim(set, isl_dim_param)};
    for (int i = 0; i < search.params; i++) {
        isl_id *id = isl_set_get_dim_id(set, isl_dim_param, (unsigned)i);
        map_set(search.ctx->arena, &search.positions, isl_id_get_user(id), (void *)(intptr_t)(i + 1));
        isl_id_free(id);
    }
    set = isl_set_move_dims(set, isl_dim_set, 0, isl_dim_param, 0, (unsigned)search.params);
    PartSearch parts = {&search, true};
    bool searched = isl_set_foreach_basic_set(set, check_part, &parts) == isl_stat_ok;
    isl_set_free(set);
    return searched && parts.empty;
}

/* --- numbers for sizes --- */

enum { MOST_SIZES = 8, ASSIGNMENTS = 3 };
static const int64_t assignments[ASSIGNMENTS][MOST_SIZES] = {{2, 3, 5, 2, 3, 5, 2, 3}, {3, 2, 2, 3, 2, 2, 3, 2}, {17, 34, 18, 33, 19, 35, 20, 36}};

/* GOAL's set with what it left out has a point where the sizes are numbers, those of NUMBERS: then nothing is left to be shown. */
static bool has_point_with(const Goal *goal, const Map *numbers)
{
    AffineSpace with = affine_copy(goal->space);
    Polynomials all = {.space = &with, .numbers = numbers};
    for (int i = 0; i < numbers->count; i++) {
        LinearForm size = {.constant = -((const Expr *)numbers->entries[i].value)->value.integer};
        linear_add_term(&size, (LinearTermOf){.param = (Var *)numbers->entries[i].key}, 1);
        affine_add_form(&with, &size, true);
    }
    add_omitted(&all, goal);
    affine_settle(&with);
    bool has = with.set && isl_set_is_empty(with.set) == isl_bool_false;
    affine_free(&with);
    return has;
}

static bool has_point_for_some_sizes(const Goal *goal)
{
    const Map *sizes = &goal->space->sizes;
    Context *ctx = goal->ctx;
    for (int a = 0; a < ASSIGNMENTS; a++) {
        Map numbers = {0};
        for (int i = 0; i < sizes->count; i++) {
            Var *size = (Var *)sizes->entries[i].key;
            map_set(ctx->arena, &numbers, size, (void *)expr_int(ctx, size->dtype, assignments[a][i % MOST_SIZES]));
        }
        if (has_point_with(goal, &numbers))
            return true;
    }
    return false;
}

/* --- the argument --- */

Answer empty_by_products(const Goal *goal)
{
    AffineSpace with = affine_copy(goal->space);
    Polynomials all = {.space = &with};
    if (!with.has_point || (!with.omitted && !with.terms)) {
        affine_free(&with);
        return answer_unknown("nothing was left out");
    }
    add_omitted(&all, goal);
    mention_products(&all);
    if (!all.scaled.count || has_point_for_some_sizes(goal)) {
        affine_free(&with);
        return answer_unknown("it has a point for some sizes");
    }
    affine_settle(&with);
    return answer_if(with.set && set_is_empty(&all, affine_bound_params(with.set, &with.sizes, with.terms)));
}
