/* Bounds, congruences, proofs and the scoping of assumptions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arith_random.h"

/* --- Bounds and congruences hold for every value --- */

static void check_facts_at(Generator *g, Analyzer *an, const Expr *expr, const SmallRange *ranges)
{
    IntBound bound = analyzer_bound(an, expr);
    ModularSet set = analyzer_modular(an, expr);
    for (int i = 0; i < 40; i++) {
        Assignment env = {0};
        int64_t value;
        random_assignment(g, ranges, &env);
        if (!text_value(expr, &env, &value))
            continue;
        bool congruent = set.coeff ? floor_modulo(value, set.coeff) == set.base : value == set.base;
        if (value < bound.min || value > bound.max || !congruent)
            fail_msg("%s may be %d, not only in [%lld, %lld] and %lld * k + %lld", text_of(g->scope->ctx, expr), (int)value,
                     (long long)bound.min, (long long)bound.max, (long long)set.coeff, (long long)set.base);
    }
}

static void random_facts_hold(void **state)
{
    (void)state;
    Random random = {777};
    for (int i = 0; i < 3000; i++) {
        Context *ctx = context_new();
        TextScope scope = text_scope(ctx);
        Generator g = {&scope, &random, i % 2 ? "ijk" : "IJ", i % 3 == 0};
        const Expr *expr = random_int(&g, 4);
        SmallRange ranges[8];
        random_ranges(&g, ranges);
        Analyzer *an = analyzer_new(ctx);
        bind_small_ranges(an, &g, ranges);
        check_facts_at(&g, an, expr, ranges);
        context_free(ctx);
    }
}

static void random_proofs_are_sound(void **state)
{
    (void)state;
    Random random = {4242};
    int proved = 0;
    for (int i = 0; i < 2000; i++) {
        Context *ctx = context_new();
        TextScope scope = text_scope(ctx);
        Generator g = {&scope, &random, "ijkx", i % 4 == 0};
        const Expr *condition = random_bool(&g, 2), *assumed = random_bool(&g, 1);
        SmallRange ranges[8];
        random_ranges(&g, ranges);
        Analyzer *an = analyzer_new(ctx);
        bind_small_ranges(an, &g, ranges);
        if (i % 2)
            analyzer_assume(an, assumed);
        bool proof = analyzer_prove(an, condition) || analyzer_prove_symbolic(an, condition);
        proved += proof;
        assert_false(analyzer_refutes(an, condition) && analyzer_prove(an, condition));
        for (int k = 0; proof && k < 40; k++) {
            Assignment env = {0};
            int64_t holds = 1, value;
            random_assignment(&g, ranges, &env);
            if ((i % 2 && (!text_value(assumed, &env, &holds) || !holds)) || !text_value(condition, &env, &value))
                continue;
            if (!value)
                fail_msg("%s was proved", text_of(ctx, condition));
        }
        context_free(ctx);
    }
    assert_true(proved > 100);
}

/* --- Particular facts --- */

typedef struct {
    Context *ctx;
    TextScope scope;
    Analyzer *an;
} Setting;

static Setting setting_new(const char *text)
{
    Context *ctx = context_new();
    Setting setting = {ctx, text_scope(ctx), analyzer_new(ctx)};
    VarRange ranges[8];
    analyzer_bind_ranges(setting.an, ranges, text_ranges(&setting.scope, text, ranges));
    return setting;
}

static bool proves(Setting *setting, const char *condition)
{
    return analyzer_prove(setting->an, text_expr(&setting->scope, condition));
}

static void assert_bound(Setting *setting, const char *expr, int64_t min, int64_t max)
{
    IntBound bound = analyzer_bound(setting->an, text_expr(&setting->scope, expr));
    assert_int_equal(bound.min, min);
    assert_int_equal(bound.max, max);
}

static void bounds_are_tight(void **state)
{
    (void)state;
    Setting s = setting_new("i:0:8 j:-3:7 n:0:100");
    assert_bound(&s, "i * 4 + j", -3, 31);
    assert_bound(&s, "0 - i", -7, 0);
    assert_bound(&s, "j // 2", -2, 1);
    assert_bound(&s, "T.Div(j, 2)", -1, 1);
    assert_bound(&s, "j % 4", 0, 3);
    assert_bound(&s, "T.truncmod(j, 2)", -1, 1);
    assert_bound(&s, "x * 4 % 6", 0, 4);
    assert_bound(&s, "i * j", -21, 21);
    assert_bound(&s, "T.min(i, 3)", 0, 3);
    assert_bound(&s, "T.Select(i < 3, i, 20)", 0, 20);
    assert_bound(&s, "x", INT32_MIN, INT32_MAX);
    assert_bound(&s, "X", BOUND_NEG_INF, BOUND_POS_INF);
    assert_bound(&s, "X * 2 + Y", BOUND_NEG_INF, BOUND_POS_INF);
    assert_bound(&s, "n // i", 0, 99);
    context_free(s.ctx);
}

static void assumptions_end_with_their_scope(void **state)
{
    (void)state;
    Setting s = setting_new("i:0:8");
    assert_false(proves(&s, "i < 4"));
    AnalyzerScope outer = analyzer_enter(s.an);
    analyzer_assume(s.an, text_expr(&s.scope, "i < 4 and x % 8 == 2 and y < z"));
    assert_true(proves(&s, "i < 4"));
    assert_true(proves(&s, "x % 4 == 2"));
    assert_true(proves(&s, "y + 1 <= z"));
    AnalyzerScope inner = analyzer_enter(s.an);
    analyzer_assume(s.an, text_expr(&s.scope, "i >= 2"));
    assert_true(proves(&s, "i // 2 == 1"));
    analyzer_leave(s.an, inner);
    assert_false(proves(&s, "i // 2 == 1"));
    assert_true(proves(&s, "i < 4"));
    analyzer_leave(s.an, outer);
    assert_false(proves(&s, "i < 4"));
    assert_false(proves(&s, "x % 4 == 2"));
    assert_false(proves(&s, "y <= z"));
    context_free(s.ctx);
}

static void negated_assumptions_count(void **state)
{
    (void)state;
    Setting s = setting_new("");
    analyzer_assume(s.an, text_expr(&s.scope, "not (x < 3 or y >= 5)"));
    assert_true(proves(&s, "x >= 3"));
    assert_true(proves(&s, "y < 5"));
    context_free(s.ctx);
}

static void rebinding_replaces_what_was_known(void **state)
{
    (void)state;
    Setting s = setting_new("i:0:n");
    assert_true(proves(&s, "i < n"));
    VarRange range[1];
    text_ranges(&s.scope, "i:2:16", range);
    analyzer_bind_range(s.an, range[0].var, range[0].range);
    assert_false(proves(&s, "i < n"));
    assert_true(proves(&s, "i < 18"));
    AnalyzerScope scope = analyzer_enter(s.an);
    text_ranges(&s.scope, "i:0:100", range);
    analyzer_bind_range(s.an, range[0].var, range[0].range);
    analyzer_leave(s.an, scope);
    assert_false(proves(&s, "i < 18"));
    assert_true(proves(&s, "i < 100"));
    context_free(s.ctx);
}

static void bindings_of_other_kinds(void **state)
{
    (void)state;
    Setting s = setting_new("");
    analyzer_bind_nonnegative(s.an, text_var(&s.scope, 'n'));
    assert_true(proves(&s, "n >= 0"));
    assert_true(proves(&s, "n // 16 * 16 <= n"));
    analyzer_bind_modular(s.an, text_var(&s.scope, 'm'), 16, 0);
    assert_true(proves(&s, "m % 8 == 0"));
    analyzer_bind_value(s.an, text_var(&s.scope, 'k'), text_expr(&s.scope, "x * 4 + 1"));
    assert_true(proves(&s, "k % 4 == 1"));
    VarRange unit[1];
    text_ranges(&s.scope, "i:5:1", unit);
    analyzer_bind_range_opaque(s.an, unit[0].var, unit[0].range);
    assert_true(proves(&s, "i == 5"));
    assert_true(expr_is_var(analyzer_simplify(s.an, text_expr(&s.scope, "i")), unit[0].var));
    context_free(s.ctx);
}

static void symbolic_bounds_prove_more(void **state)
{
    (void)state;
    Setting s = setting_new("i:0:n j:0:16");
    const Expr *condition = text_expr(&s.scope, "i * 16 + j < n * 16");
    assert_true(analyzer_prove_symbolic(s.an, condition));
    assert_false(analyzer_prove_symbolic(s.an, text_expr(&s.scope, "i * 16 + j < n * 16 - 1")));
    assert_true(analyzer_prove_equal(s.an, text_expr(&s.scope, "(n + 3) * 4"), text_expr(&s.scope, "n * 4 + 12")));
    assert_true(analyzer_prove_less(s.an, text_expr(&s.scope, "i"), text_expr(&s.scope, "n")));
    assert_true(analyzer_prove_less_equal(s.an, text_expr(&s.scope, "i"), text_expr(&s.scope, "n - 1")));
    assert_true(analyzer_prove_at_least(s.an, text_expr(&s.scope, "i + j"), 0));
    assert_true(analyzer_prove_below(s.an, text_expr(&s.scope, "j"), 16));
    assert_false(analyzer_prove_below(s.an, text_expr(&s.scope, "j"), 15));
    context_free(s.ctx);
}

static void points_refute(void **state)
{
    (void)state;
    Setting s = setting_new("i:0:n j:0:16");
    assert_true(analyzer_refutes(s.an, text_expr(&s.scope, "i > 0")));
    assert_true(analyzer_refutes(s.an, text_expr(&s.scope, "i + 1 < n")));
    assert_true(analyzer_refutes(s.an, text_expr(&s.scope, "i * 16 + j < n * 16 - 1")));
    assert_true(analyzer_refutes(s.an, text_expr(&s.scope, "i == j")));
    assert_false(analyzer_refutes(s.an, text_expr(&s.scope, "i < n")));
    assert_false(analyzer_refutes(s.an, text_expr(&s.scope, "i * 16 + j < n * 16")));
    analyzer_assume(s.an, text_expr(&s.scope, "i > 0"));
    assert_false(analyzer_refutes(s.an, text_expr(&s.scope, "i > 0")));
    context_free(s.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_facts_hold),
        cmocka_unit_test(random_proofs_are_sound),
        cmocka_unit_test(bounds_are_tight),
        cmocka_unit_test(assumptions_end_with_their_scope),
        cmocka_unit_test(negated_assumptions_count),
        cmocka_unit_test(rebinding_replaces_what_was_known),
        cmocka_unit_test(bindings_of_other_kinds),
        cmocka_unit_test(symbolic_bounds_prove_more),
        cmocka_unit_test(points_refute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
