/* The search for the least point of a space of linear rows says what isl says of the set, and finds the same point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <isl/point.h>
#include <isl/val.h>

#include "passes/analysis/affine_rows.h"
#include "support/context.h"

enum { DIMS = 3, SPACES = 600 };

typedef struct {
    Context *ctx;
    uint64_t random;
    Var *size, *dims[DIMS];
    const AffineEnv *env;
    Map sizes;
    AffineSpace space;
} Trial;

static int random_below(Trial *trial, int count)
{
    trial->random = trial->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((trial->random >> 33) % (uint64_t)count);
}

static const Expr *number(Trial *trial, int64_t value)
{
    return expr_int(trial->ctx, DTYPE_INT64, value);
}

static const Expr *random_atom(Trial *trial)
{
    int choice = random_below(trial, DIMS + 2);
    if (choice == DIMS + 1)
        return number(trial, random_below(trial, 9) - 3);
    return expr_var(trial->ctx, choice == DIMS ? trial->size : trial->dims[choice]);
}

static const Expr *random_sum(Trial *trial, int depth)
{
    Context *ctx = trial->ctx;
    if (!depth)
        return random_atom(trial);
    const Expr *a = random_sum(trial, depth - 1), *b = random_sum(trial, depth - 1);
    switch (random_below(trial, 8)) {
    case 0: return op_floordiv(ctx, a, number(trial, 2 + random_below(trial, 4)));
    case 1: return op_floormod(ctx, a, number(trial, 2 + random_below(trial, 4)));
    case 2: return op_mul(ctx, a, number(trial, random_below(trial, 5) - 1));
    case 3: return expr_binary(ctx, EXPR_MIN, a, b);
    case 4: return expr_binary(ctx, EXPR_MAX, a, b);
    case 5: return op_sub(ctx, a, b);
    default: return op_add(ctx, a, b);
    }
}

static const Expr *random_condition(Trial *trial)
{
    static const ExprKind kinds[] = {EXPR_LT, EXPR_LE, EXPR_EQ, EXPR_EQ, EXPR_NE, EXPR_GE};
    ExprKind kind = kinds[random_below(trial, (int)(sizeof kinds / sizeof *kinds))];
    return op_compare(trial->ctx, kind, random_sum(trial, 1 + random_below(trial, 2)), random_sum(trial, 1));
}

/* Loops from 0 on, over constants or the size, and some conditions. */
static void make_space(Trial *trial)
{
    Context *ctx = trial->ctx;
    trial->size = var_new(ctx, context_intern(ctx, "n"), DTYPE_INT64, span_none());
    map_set(ctx->arena, &trial->sizes, trial->size, trial->size);
    for (int i = 0; i < DIMS; i++) {
        trial->dims[i] = var_new(ctx, context_internf(ctx, "x%d", i), DTYPE_INT64, span_none());
        AffineEnv env = {trial->env, trial->dims[i], i, NULL};
        trial->env = arena_copy(ctx->arena, &env, sizeof env);
    }
    trial->space = affine_universe(ctx, DIMS, &trial->sizes);
    for (int i = 0; i < DIMS; i++) {
        const Expr *extent = random_below(trial, 2) ? expr_var(ctx, trial->size) : number(trial, 1 + random_below(trial, 20));
        affine_assume_range(&trial->space, trial->env, i, (Range){number(trial, 0), extent});
    }
    for (int i = 1 + random_below(trial, 3); i > 0; i--)
        affine_assume(&trial->space, trial->env, random_condition(trial), random_below(trial, 3) == 0);
}

static int64_t coordinate(isl_point *point, int position)
{
    isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, position);
    int64_t number = isl_val_get_num_si(value);
    isl_val_free(value);
    return number;
}

/* SET (taken) has its least point where POINT says. */
static void check_point(isl_set *set, const AffinePoint *point)
{
    int params = (int)isl_set_dim(set, isl_dim_param);
    assert_int_equal(params, point->param_count);
    set = isl_set_lexmin(isl_set_move_dims(set, isl_dim_set, 0, isl_dim_param, 0, (unsigned)params));
    isl_point *least = isl_set_sample_point(set);
    for (int i = 0; i < params + DIMS; i++)
        assert_int_equal(coordinate(least, i), point->values[i]);
    isl_point_free(least);
}

/* What the search says of a random space; isl must agree. */
static SetVerdict check_space(uint64_t seed)
{
    Trial trial = {.ctx = context_new(), .random = seed};
    make_space(&trial);
    AffineSpace copy = affine_copy(&trial.space);
    SetVerdict found = affine_search(&trial.space);
    isl_set *set = affine_bound_params(affine_take_set(&copy), &trial.sizes, NULL);
    isl_bool empty = found == SET_UNKNOWN || !set ? isl_bool_error : isl_set_is_empty(set);
    if (empty != isl_bool_error)
        assert_int_equal(found == SET_EMPTY, empty == isl_bool_true);
    if (empty == isl_bool_false)
        check_point(set, trial.space.point);
    else
        isl_set_free(set);
    affine_free(&trial.space);
    context_free(trial.ctx);
    return found;
}

static void test_isl_agrees(void **state)
{
    (void)state;
    int counts[3] = {0};
    for (int i = 0; i < SPACES; i++)
        counts[check_space((uint64_t)i * 7919 + 1)]++;
    assert_true(counts[SET_HAS_POINT] > SPACES / 3);
    assert_true(counts[SET_EMPTY] > SPACES / 30);
    assert_true(counts[SET_UNKNOWN] < SPACES / 3);
}

/* x0 < x1 and x1 < x0 hold nowhere, whatever n is: no value is tried for it. */
static void test_contradiction(void **state)
{
    (void)state;
    Trial trial = {.ctx = context_new(), .random = 1};
    make_space(&trial);
    affine_free(&trial.space);
    trial.space = affine_universe(trial.ctx, DIMS, &trial.sizes);
    affine_assume_dims(&trial.space, EXPR_LT, 0, 1);
    affine_assume_dims(&trial.space, EXPR_LT, 1, 0);
    assert_int_equal(affine_search(&trial.space), SET_EMPTY);
    affine_free(&trial.space);
    context_free(trial.ctx);
}

/* A point is of no use once the space was restricted again. */
static void test_point_is_of_its_restrictions(void **state)
{
    (void)state;
    Trial trial = {.ctx = context_new(), .random = 1};
    make_space(&trial);
    affine_free(&trial.space);
    trial.space = affine_universe(trial.ctx, DIMS, &trial.sizes);
    for (int i = 0; i < DIMS; i++)
        affine_assume_range(&trial.space, trial.env, i, (Range){number(&trial, 0), expr_var(trial.ctx, trial.size)});
    assert_int_equal(affine_verdict(&trial.space), SET_HAS_POINT);
    int64_t values[DIMS];
    const char *params;
    assert_true(affine_sample(&trial.space, values, &params));
    assert_string_equal(params, "n = 1");
    affine_assume_dims(&trial.space, EXPR_LT, 0, 1);
    assert_true(affine_sample(&trial.space, values, &params));
    assert_string_equal(params, "n = 2");
    assert_int_equal(values[1], 1);
    affine_free(&trial.space);
    context_free(trial.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_isl_agrees),
        cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_point_is_of_its_restrictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
