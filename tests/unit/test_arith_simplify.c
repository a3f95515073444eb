/* Simplification: printed forms, meaning kept on random expressions, and what must be left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arith_random.h"

/* --- Printed forms --- */

typedef struct {
    const char *ranges, *assumed, *before, *after;
} Form;

static void check_form(const Form *form)
{
    Context *ctx = context_new();
    TextScope scope = text_scope(ctx);
    Analyzer *an = analyzer_new(ctx);
    VarRange ranges[8];
    analyzer_bind_ranges(an, ranges, text_ranges(&scope, form->ranges, ranges));
    if (form->assumed)
        analyzer_assume(an, text_expr(&scope, form->assumed));
    const Expr *wanted = text_expr(&scope, form->after), *found = analyzer_simplify(an, text_expr(&scope, form->before));
    bool same_number = wanted->kind == EXPR_INT && expr_is_int(found, wanted->value.integer);
    if (!same_number && !expr_equal(wanted, found))
        fail_msg("%s becomes %s, not %s", form->before, text_of(ctx, found), form->after);
    if (found != wanted && !expr_equal(analyzer_simplify(an, found), found))
        fail_msg("%s simplifies further", text_of(ctx, found));
    context_free(ctx);
}

static const Form forms[] = {
    /* sums: by falling scale, positive terms first, equal ones in order of writing */
    {"", NULL, "x + y * 4 - 3", "y * 4 + x - 3"},
    {"", NULL, "j + i * 16", "i * 16 + j"},
    {"", NULL, "x - y + y", "x"},
    {"", NULL, "x * 3 + x", "x * 4"},
    {"", NULL, "5 - x", "5 - x"},
    {"", NULL, "x * -3", "x * -3"},
    {"", NULL, "0 - x * 2 - 1", "0 - x * 2 - 1"},
    {"", NULL, "x * z + z", "(x + 1) * z"},
    {"", NULL, "z * (x * 4)", "z * x * 4"},
    {"", NULL, "X * 4 + Y - 3", "X * 4 + Y - 3"},
    {"", NULL, "(K + 8) % 16 // 8", "(K // 8 + 1) % 2"},
    /* split and fused loops */
    {"i:0:8 j:0:16", NULL, "(i * 16 + j) // 16", "i"},
    {"i:0:8 j:0:16", NULL, "(i * 16 + j) % 16", "j"},
    {"i:0:8 j:0:16", NULL, "(i * 16 + j) // 4", "i * 4 + j // 4"},
    {"i:0:8 j:0:16 k:0:4", NULL, "((i * 16 + j) * 4 + k) // 64", "i"},
    {"", NULL, "x // 4 * 4 + x % 4", "x"},
    {"", NULL, "x % 8 // 4 * 4 + x % 4", "x % 8"},
    {"", NULL, "x // 4 // 8", "x // 32"},
    {"", NULL, "x // 4 % 8", "x % 32 // 4"},
    {"x:0:128", NULL, "x // 128", "0"},
    {"", NULL, "(n + 15) // 16", "(n + 15) // 16"},
    {"", NULL, "(x * 4 + 3) // 4", "x"},
    {"", NULL, "(x * 4 + 5) // 4", "x + 1"},
    {"", NULL, "(z - 5) % 3", "(z + 1) % 3"},
    {"", NULL, "x * y // y", "x"},
    {"", NULL, "(n + 15) // 16 * 16 - n", "15 - (n + 15) % 16"},
    /* minima and maxima */
    {"", NULL, "T.min(16, n - i * 16)", "T.min(16, n - i * 16)"},
    {"i:0:8", NULL, "T.max(i, -1)", "i"},
    {"", NULL, "T.min(x + 3, x + 5)", "x + 3"},
    {"", NULL, "T.max(x - 1, y) + 1", "T.max(x, y + 1)"},
    {"", NULL, "T.min(T.min(x, 4), y)", "T.min(T.min(x, y), 4)"},
    {"", NULL, "T.min(x * 4, 8)", "T.min(x, 2) * 4"},
    /* comparisons */
    {"i:0:8 j:0:2", NULL, "i * 2 + j < 5", "i * 2 + j < 5"},
    {"i:0:n", NULL, "i < n", "T.bool(True)"},
    {"i:0:n", NULL, "i + 1 <= n", "T.bool(True)"},
    {"i:0:n", NULL, "n <= i", "T.bool(False)"},
    {"y:0:8", NULL, "x * 8 + y < 16", "x < 2"},
    {"y:-7:15", NULL, "x * 8 + y < 16", "x * 8 + y < 16"},
    {"", NULL, "x + 3 < y + 4", "x <= y"},
    {"", NULL, "x >= 4", "4 <= x"},
    {"", NULL, "x * 4 < 9", "x < 3"},
    {"", NULL, "x * -4 < 9", "-3 < x"},
    {"", NULL, "x // 4 < 3", "x < 12"},
    {"x:0:8", NULL, "x <= 0", "x == 0"},
    {"", NULL, "x + 3 == 5", "x == 2"},
    {"", NULL, "x * 2 == y * 2 + 1", "T.bool(False)"},
    /* logic */
    {"", NULL, "x < 5 and x >= 5", "T.bool(False)"},
    {"", NULL, "x < 5 or x > 3", "T.bool(True)"},
    {"", NULL, "x < 5 and (y < 3 and x < 7)", "x < 5 and y < 3 and x < 7"},
    {"", NULL, "not (p and x < 3)", "not p or 3 <= x"},
    {"", NULL, "x < y or x == y", "x <= y"},
    {"", NULL, "x // 4 == 3 and x % 4 == 2", "x == 14"},
    /* choices */
    {"", NULL, "T.Select(x < 3, y, y)", "y"},
    {"x:0:3", NULL, "T.Select(x < 3, y, z)", "y"},
    {"", NULL, "T.if_then_else(x < 3, T.if_then_else(y < 2, z, 0), 0)", "T.if_then_else(x < 3 and y < 2, z, 0)"},
    {"", NULL, "T.if_then_else(x < 3, T.min(x, 3), 0)", "T.if_then_else(x < 3, x, 0)"},
    /* assumptions */
    {"", "x < 5", "x < 7", "T.bool(True)"},
    {"", "x < y", "x < y", "T.bool(True)"},
    {"", "x < y", "y <= x", "T.bool(False)"},
    {"", "x % 4 == 0", "x % 4", "0"},
    {"", "x >= 0 and x < 16", "x // 16", "0"},
    /* a loop of one iteration is its value */
    {"i:3:1", NULL, "i * 4 + j", "j + 12"},
    /* casts to wider indices move inward */
    {"", NULL, "T.Cast(\"int64\", x * 4 + y) - T.Cast(\"int64\", y)", "T.Cast(\"int64\", x) * 4"},
};

static void forms_are_the_expected_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        check_form(&forms[i]);
}

/* --- Meaning --- */

static void check_same_value(Generator *g, const Expr *before, const Expr *after, const SmallRange *ranges, const Assignment *env)
{
    int64_t value, result;
    if (!text_value(before, env, &value))
        return;
    if (text_value(after, env, &result) && value == result)
        return;
    char text[256] = "";
    for (size_t i = 0; i < strlen(g->letters); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %c=%d in [%d, +%d)", g->letters[i],
                 (int)env->values[(int)g->letters[i]], (int)ranges[i].min, (int)ranges[i].extent);
    fail_msg("%s became %s: differs at%s", text_of(g->scope->ctx, before), text_of(g->scope->ctx, after), text);
}

static void check_random_expression(Random *random, const char *letters, bool truncates, bool condition)
{
    Context *ctx = context_new();
    TextScope scope = text_scope(ctx);
    Generator g = {&scope, random, letters, truncates};
    const Expr *before = condition ? random_bool(&g, 3) : random_int(&g, 4);
    SmallRange ranges[8];
    random_ranges(&g, ranges);
    Analyzer *an = analyzer_new(ctx);
    bind_small_ranges(an, &g, ranges);
    const Expr *results[] = {analyzer_simplify_canonical(an, before), analyzer_simplify_rewrite(an, before), analyzer_simplify(an, before)};
    for (int i = 0; i < 40; i++) {
        Assignment env = {0};
        random_assignment(&g, ranges, &env);
        for (int k = 0; k < 3; k++)
            check_same_value(&g, before, results[k], ranges, &env);
    }
    context_free(ctx);
}

static void random_expressions_keep_their_value(void **state)
{
    (void)state;
    Random random = {12345};
    for (int i = 0; i < 1500; i++)
        check_random_expression(&random, i % 3 == 0 ? "IJK" : "ijkx", i % 4 == 0, i % 5 < 2);
}

/* --- What must be left alone --- */

static bool constants_fit(const Expr *expr)
{
    if (expr->kind == EXPR_INT && !dtype_holds(expr->dtype, expr->value.integer))
        return false;
    for (int i = 0; i < expr->arg_count; i++)
        if (!constants_fit(expr->args[i]))
            return false;
    return true;
}

/* Where folding would leave the type, the constants stay apart. */
static void constants_do_not_overflow(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "x * 65536 * 65536",           "x + 2147483647 + 1",           "x - -2147483648",  "x * 2147483647 * 2 // 2", "x // 65536 // 65536",
        "x * 65536 % 3 * 65536 * 2",   "T.min(x + 2147483647, x) + 9", "x - 2147483647 - 9", "x * -2147483648 * -1",   "2147483647 - x < -9",
        "x * 2147483647 < y * 65536 * 65536",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Context *ctx = context_new();
        TextScope scope = text_scope(ctx);
        const Expr *before = text_expr(&scope, cases[i]), *after = analyzer_simplify(analyzer_new(ctx), before);
        assert_true(constants_fit(after));
        for (int64_t x = -3; x <= 3; x++) {
            Assignment env = {{['x'] = x, ['y'] = 1 - x}};
            int64_t value, result;
            assert_true(text_value(before, &env, &value));
            assert_true(text_value(after, &env, &result));
            if (value != result)
                fail_msg("%s became %s", cases[i], text_of(ctx, after));
        }
        context_free(ctx);
    }
    Context *ctx = context_new();
    TextScope scope = text_scope(ctx);
    assert_true(
        constants_fit(analyzer_simplify(analyzer_new(ctx), text_expr(&scope, "X * 4611686018427387904 * 4 + X * 4611686018427387904"))));
    context_free(ctx);
}

static void division_by_zero_stays(void **state)
{
    (void)state;
    static const Form kept[] = {
        {"", NULL, "x // 0", "x // 0"},
        {"", NULL, "x % 0", "x % 0"},
        {"", NULL, "T.Div(x, 0)", "T.Div(x, 0)"},
        {"", NULL, "T.truncmod(x * 4, 0)", "T.truncmod(x * 4, 0)"},
        {"", NULL, "5 // 0", "5 // 0"},
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        check_form(&kept[i]);
}

static void floats_are_not_reassociated(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Var *var = var_new(ctx, context_intern(ctx, "f"), DTYPE_FLOAT32, span_none());
    const Expr *f = expr_var(ctx, var), *one = expr_float(ctx, DTYPE_FLOAT32, 1), *zero = expr_float(ctx, DTYPE_FLOAT32, 0);
    Analyzer *an = analyzer_new(ctx);
    const Expr *kept[] = {
        expr_binary(ctx, EXPR_SUB, expr_binary(ctx, EXPR_ADD, f, one), one),
        expr_binary(ctx, EXPR_SUB, f, f),
        expr_binary(ctx, EXPR_MUL, f, zero),
        expr_binary(ctx, EXPR_ADD, f, f),
        expr_not(ctx, expr_binary(ctx, EXPR_LT, f, one)),
        expr_binary(ctx, EXPR_OR, expr_binary(ctx, EXPR_LE, f, one), expr_binary(ctx, EXPR_LT, one, f)),
        expr_binary(ctx, EXPR_GT, f, one),
        expr_binary(ctx, EXPR_MIN, f, one),
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_true(expr_equal(analyzer_simplify(an, kept[i]), kept[i]));
    const Expr *times_one = expr_binary(ctx, EXPR_MUL, f, one);
    assert_ptr_equal(analyzer_simplify(an, times_one), f);
    context_free(ctx);
}

static void narrow_types_wrap(void **state)
{
    (void)state;
    Context *ctx = context_new();
    DType types[] = {DTYPE(DT_INT, 8), DTYPE(DT_UINT, 8), DTYPE(DT_UINT, 32), DTYPE(DT_INT, 16), DTYPE(DT_UINT, 64)};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const Expr *a = expr_var(ctx, var_new(ctx, context_intern(ctx, "a"), types[i], span_none()));
        const Expr *larger = expr_binary(ctx, EXPR_ADD, a, expr_int(ctx, types[i], 1));
        /* not true for the greatest value, whose successor wraps */
        const Expr *condition = expr_binary(ctx, EXPR_LT, a, larger);
        Analyzer *an = analyzer_new(ctx);
        assert_false(analyzer_prove(an, condition));
        IntBound bound = analyzer_bound(an, larger), whole = analyzer_bound(an, a);
        assert_true(bound.min <= whole.min && bound.max >= whole.max);
    }
    context_free(ctx);
}

static void stored_values_keep_their_arithmetic(void **state)
{
    (void)state;
    Context *ctx = context_new();
    TextScope scope = text_scope(ctx);
    const Expr *extent = expr_int(ctx, DTYPE_INT32, 64);
    Buffer *buffer = buffer_new(ctx, context_intern(ctx, "A"), DTYPE_INT32, 1, &extent, NULL, span_none());
    const Expr *index = text_expr(&scope, "x * 4 + 8 - x * 4"), *eight = expr_int(ctx, DTYPE_INT32, 8),
               *two = expr_int(ctx, DTYPE_INT32, 2);
    const Expr *load = expr_load(ctx, buffer, &index, 1, NULL, span_none()), *simple = expr_load(ctx, buffer, &eight, 1, NULL, span_none());
    /* A[i] * 2 // 2 is not A[i] when the product wraps */
    const Expr *value = expr_binary(ctx, EXPR_FLOORDIV, expr_binary(ctx, EXPR_MUL, load, two), two);
    const Expr *wanted = expr_binary(ctx, EXPR_FLOORDIV, expr_binary(ctx, EXPR_MUL, simple, two), two);
    Analyzer *an = analyzer_new(ctx);
    assert_true(expr_equal(analyzer_simplify_indices(an, an, value), wanted));
    context_free(ctx);
}

static void calls_with_effects_stay(void **state)
{
    (void)state;
    Context *ctx = context_new();
    const Expr *name = expr_string(ctx, context_intern(ctx, "next"));
    const Expr *call = expr_call(ctx, DTYPE_INT32, OP_CALL_EXTERN, &name, 1, span_none());
    const Expr *difference = expr_binary(ctx, EXPR_SUB, call, call),
               *product = expr_binary(ctx, EXPR_MUL, call, expr_int(ctx, DTYPE_INT32, 0));
    Analyzer *an = analyzer_new(ctx);
    assert_true(expr_equal(analyzer_simplify(an, difference), difference));
    assert_true(expr_equal(analyzer_simplify(an, product), product));
    context_free(ctx);
}

/* --- Vectors --- */

/* The value of lane LANE of EXPR, built of ramps, broadcasts and binary operations on them. */
static int64_t lane_value(const Expr *expr, int lane, const Assignment *env)
{
    int64_t a, b, value = 0;
    if (expr->dtype.lanes == 1 || expr->kind == EXPR_BROADCAST) {
        assert_true(text_value(expr->dtype.lanes == 1 ? expr : expr->args[0], env, &value));
        return value;
    }
    if (expr->kind == EXPR_RAMP) {
        assert_true(text_value(expr->args[0], env, &a));
        assert_true(text_value(expr->args[1], env, &b));
        return a + lane * b;
    }
    a = lane_value(expr->args[0], lane, env);
    b = lane_value(expr->args[1], lane, env);
    switch (expr->kind) {
    case EXPR_ADD: return a + b;
    case EXPR_SUB: return a - b;
    case EXPR_MUL: return a * b;
    case EXPR_FLOORDIV: return floor_divide(a, b);
    case EXPR_FLOORMOD: return floor_modulo(a, b);
    default: return a < b;
    }
}

static void vectors_keep_their_lanes(void **state)
{
    (void)state;
    static const char *const bases[] = {"x * 4", "x", "x * 8 + 3", "5"}, *const scalars[] = {"4", "3", "y", "8"};
    static const int strides[] = {1, 2, 4, -1}, kinds[] = {EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_FLOORDIV, EXPR_FLOORMOD, EXPR_LT};
    enum { LANES = 4 };
    for (int n = 0; n < 4 * 4 * 4 * 6 * 2; n++) {
        Context *ctx = context_new();
        TextScope scope = text_scope(ctx);
        ExprKind kind = (ExprKind)kinds[n / 64 % 6];
        bool division = kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD;
        const Expr *ramp = expr_ramp(ctx, text_expr(&scope, bases[n % 4]), expr_int(ctx, DTYPE_INT32, strides[n / 4 % 4]), LANES);
        const Expr *other = expr_broadcast(ctx, text_expr(&scope, scalars[n / 16 % 4]), LANES);
        const Expr *before = n / 384 && !division ? expr_binary(ctx, kind, other, ramp) : expr_binary(ctx, kind, ramp, other);
        const Expr *after = analyzer_simplify(analyzer_new(ctx), before);
        for (int lane = 0; lane < LANES; lane++)
            for (int64_t x = -3; x <= 3; x++) {
                Assignment env = {{['x'] = x, ['y'] = 7}};
                assert_int_equal(lane_value(before, lane, &env), lane_value(after, lane, &env));
            }
        context_free(ctx);
    }
}

/* --- Size --- */

static const Expr *long_sum(TextScope *scope, int terms)
{
    const Expr *sum = expr_var(scope->ctx, text_var(scope, 'i'));
    for (int i = 1; i < terms; i++) {
        const Expr *term = expr_var(scope->ctx, text_var(scope, (char)('a' + i % 15)));
        const Expr *scaled = expr_binary(scope->ctx, EXPR_MUL, term, expr_int(scope->ctx, DTYPE_INT32, i % 5 + 1));
        sum = expr_binary(scope->ctx, i % 7 ? EXPR_ADD : EXPR_MIN, scaled, sum);
        if (i % 11 == 0)
            sum = expr_binary(scope->ctx, EXPR_FLOORDIV, sum, expr_int(scope->ctx, DTYPE_INT32, 3));
    }
    return sum;
}

static void large_expressions_are_bounded(void **state)
{
    (void)state;
    Context *ctx = context_new();
    TextScope scope = text_scope(ctx);
    assert_non_null(analyzer_simplify(analyzer_new(ctx), long_sum(&scope, 500)));
    assert_non_null(analyzer_simplify(analyzer_new(ctx), long_sum(&scope, 4000)));
    /* shared halves: a tree of 2 to the 60 nodes */
    const Expr *doubled = expr_binary(ctx, EXPR_MIN, expr_var(ctx, text_var(&scope, 'x')), expr_var(ctx, text_var(&scope, 'y')));
    for (int i = 0; i < 60; i++)
        doubled = expr_binary(ctx, i % 2 ? EXPR_MAX : EXPR_ADD, doubled, doubled);
    assert_non_null(analyzer_simplify(analyzer_new(ctx), doubled));
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_the_expected_ones),
        cmocka_unit_test(random_expressions_keep_their_value),
        cmocka_unit_test(constants_do_not_overflow),
        cmocka_unit_test(division_by_zero_stays),
        cmocka_unit_test(floats_are_not_reassociated),
        cmocka_unit_test(narrow_types_wrap),
        cmocka_unit_test(stored_values_keep_their_arithmetic),
        cmocka_unit_test(calls_with_effects_stay),
        cmocka_unit_test(vectors_keep_their_lanes),
        cmocka_unit_test(large_expressions_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
