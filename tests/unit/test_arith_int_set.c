/* Intervals with symbolic ends, and the regions that an access covers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arith_random.h"
#include "passes/arith/int_set.h"

/* --- Expected ends --- */

typedef struct {
    const char *domain, *expr, *min, *max; /* NULL: no end */
} SetCase;

static void assert_end(Analyzer *an, TextScope *scope, const char *what, const Expr *end, const char *wanted)
{
    if (!end || !wanted) {
        if (end || wanted)
            fail_msg("%s: an end is %s", what, end ? text_of(scope->ctx, end) : "missing");
        return;
    }
    const Expr *simple = analyzer_simplify(an, end), *expected = text_expr(scope, wanted);
    if (!expr_equal(simple, expected) && !(expected->kind == EXPR_INT && expr_is_int(simple, expected->value.integer)))
        fail_msg("%s: an end is %s, not %s", what, text_of(scope->ctx, simple), wanted);
}

static void check_set(const SetCase *c)
{
    Context *ctx = context_new();
    TextScope scope = text_scope(ctx);
    Analyzer *an = analyzer_new(ctx);
    VarRange ranges[8];
    Domain domain = domain_from_ranges(ctx, ranges, text_ranges(&scope, c->domain, ranges));
    IntSet set = int_set_eval(an, text_expr(&scope, c->expr), &domain);
    assert_end(an, &scope, c->expr, set.min, c->min);
    assert_end(an, &scope, c->expr, set.max, c->max);
    context_free(ctx);
}

static void evaluation_gives_the_ends(void **state)
{
    (void)state;
    static const SetCase cases[] = {
        {"i:0:16", "i + n", "n", "n + 15"},
        {"i:0:16", "n - i", "n - 15", "n"},
        {"i:0:16 j:0:4", "i * 4 + j", "0", "63"},
        {"i:0:16", "i * -2 + 3", "-27", "3"},
        {"i:0:n", "i * 2", "0", "n * 2 - 2"},
        {"i:0:16", "i // 4", "0", "3"},
        {"i:0:16", "i // -4", "-4", "0"},
        {"i:0:16", "(i + 3) % 8", "0", "7"},
        {"i:0:4", "(i + 3) % 8", "3", "6"},
        {"i:0:16", "T.min(i, n)", "T.min(0, n)", "T.min(15, n)"},
        {"i:0:16", "T.Select(x < 3, i, n)", "T.min(0, n)", "T.max(15, n)"},
        {"i:0:16 j:0:i", "j", "0", "14"},
        {"i:0:16 j:0:4", "i * j", NULL, NULL},
        {"i:0:16", "n", "n", "n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_set(&cases[i]);
}

static void random_sets_hold_every_value(void **state)
{
    (void)state;
    Random random = {31};
    for (int i = 0; i < 2000; i++) {
        Context *ctx = context_new();
        TextScope scope = text_scope(ctx);
        Generator g = {&scope, &random, "ijkx", i % 3 == 0};
        const Expr *expr = random_int(&g, 4);
        Analyzer *an = analyzer_new(ctx);
        VarRange ranges[2];
        Domain domain = domain_from_ranges(ctx, ranges, text_ranges(&scope, "i:0:7 j:-3:5", ranges));
        IntSet set = int_set_eval(an, expr, &domain);
        static const SmallRange values[] = {{0, 7}, {-3, 5}, {-4, 9}, {-4, 9}};
        for (int k = 0; k < 40; k++) {
            Assignment env = {0};
            int64_t value, end;
            random_assignment(&g, values, &env);
            if (!text_value(expr, &env, &value))
                continue;
            assert_false(set.empty);
            if (set.min && text_value(set.min, &env, &end) && end > value)
                fail_msg("%s may be below %s", text_of(ctx, expr), text_of(ctx, set.min));
            if (set.max && text_value(set.max, &env, &end) && end < value)
                fail_msg("%s may be above %s", text_of(ctx, expr), text_of(ctx, set.max));
        }
        context_free(ctx);
    }
}

/* --- Set operations --- */

static IntSet set_of(TextScope *scope, const char *min, const char *max)
{
    return (IntSet){text_expr(scope, min), text_expr(scope, max), false};
}

static void unions_and_intersections(void **state)
{
    (void)state;
    Context *ctx = context_new();
    TextScope scope = text_scope(ctx);
    Analyzer *an = analyzer_new(ctx);
    IntSet low = set_of(&scope, "0", "7"), high = set_of(&scope, "4", "20"), far = set_of(&scope, "30", "40"),
           symbolic = set_of(&scope, "n", "n + 3");
    IntSet both = int_set_union(an, low, high), shared = int_set_intersect(an, low, high);
    assert_end(an, &scope, "union", both.min, "0");
    assert_end(an, &scope, "union", both.max, "20");
    assert_end(an, &scope, "intersection", shared.min, "4");
    assert_end(an, &scope, "intersection", shared.max, "7");
    assert_true(int_set_intersect(an, low, far).empty);
    assert_false(int_set_intersect(an, low, symbolic).empty);
    assert_true(int_set_intersect(an, int_set_nothing(), low).empty);
    assert_end(an, &scope, "union with nothing", int_set_union(an, int_set_nothing(), low).max, "7");
    assert_null(int_set_union(an, low, int_set_everything()).min);
    IntSet gapless[] = {low, far, high};
    IntSet certain = int_set_union_lower(an, gapless, 3);
    assert_end(an, &scope, "lower union", certain.max, "20");
    assert_true(int_set_union_lower(an, NULL, 0).empty);
    context_free(ctx);
}

static void sets_against_ranges(void **state)
{
    (void)state;
    Context *ctx = context_new();
    TextScope scope = text_scope(ctx);
    Analyzer *an = analyzer_new(ctx);
    VarRange ranges[2];
    text_ranges(&scope, "i:0:8 j:n:4", ranges);
    assert_true(int_set_matches_range(an, set_of(&scope, "0", "7"), ranges[0].range));
    assert_false(int_set_matches_range(an, set_of(&scope, "0", "6"), ranges[0].range));
    assert_true(int_set_covers_range(an, set_of(&scope, "-1", "7"), ranges[0].range));
    assert_true(int_set_covers_range(an, int_set_everything(), ranges[0].range));
    assert_false(int_set_covers_range(an, set_of(&scope, "1", "7"), ranges[0].range));
    assert_true(int_set_within_range(an, set_of(&scope, "n + 1", "n + 3"), ranges[1].range));
    assert_false(int_set_within_range(an, int_set_everything(), ranges[1].range));
    Range cover = int_set_cover_range(an, set_of(&scope, "n", "n + 3"), ranges[0].range);
    assert_true(expr_is_int(cover.extent, 4));
    assert_ptr_equal(int_set_cover_range(an, int_set_everything(), ranges[0].range).min, ranges[0].range.min);
    assert_true(int_set_is_point(int_set_from_range(ctx, range_point(ctx, text_expr(&scope, "n")))));
    context_free(ctx);
}

/* --- Regions --- */

typedef struct {
    const char *iters, *predicate;
    const char *mins[2];
    int extents[2], ndim;
    bool strict; /* whether the covered set is exactly a box */
    const char *low[2], *high[2]; /* of the upper bound */
} RegionCase;

static void check_region(const RegionCase *c)
{
    Context *ctx = context_new();
    TextScope scope = text_scope(ctx);
    Analyzer *an = analyzer_new(ctx);
    VarRange iters[8];
    int count = text_ranges(&scope, c->iters, iters);
    Range ranges[2];
    for (int i = 0; i < c->ndim; i++)
        ranges[i] = (Range){text_expr(&scope, c->mins[i]), expr_int(ctx, DTYPE_INT32, c->extents[i])};
    RegionQuery query = {ranges, c->ndim, iters, count, c->predicate ? text_expr(&scope, c->predicate) : NULL};
    IntSet strict[2], upper[2];
    bool exact = region_strict_bound(an, &query, strict);
    if (exact != c->strict)
        fail_msg("%s: exact: %d", c->mins[0], exact);
    region_upper_bound(an, &query, upper);
    for (int i = 0; i < c->ndim; i++) {
        assert_end(an, &scope, c->mins[i], upper[i].min, c->low[i]);
        assert_end(an, &scope, c->mins[i], upper[i].max, c->high[i]);
    }
    context_free(ctx);
}

static void regions_of_loops(void **state)
{
    (void)state;
    static const RegionCase cases[] = {
        {"i:0:8 j:0:16", NULL, {"i * 16 + j"}, {1}, 1, true, {"0"}, {"127"}},
        {"j:0:16", NULL, {"i * 16 + j"}, {1}, 1, true, {"i * 16"}, {"i * 16 + 15"}},
        {"i:0:8 j:0:16", "i * 16 + j < 100", {"i * 16 + j"}, {1}, 1, true, {"0"}, {"99"}},
        {"i:0:8 k:0:3", NULL, {"i + k"}, {1}, 1, true, {"0"}, {"9"}},
        {"i:0:8", NULL, {"i * 4"}, {4}, 1, true, {"0"}, {"31"}},
        {"i:0:8", NULL, {"i * 4"}, {2}, 1, false, {"0"}, {"29"}},
        {"i:0:8", NULL, {"7 - i"}, {1}, 1, true, {"0"}, {"7"}},
        {"i:0:8", NULL, {"i", "i"}, {1, 1}, 2, false, {"0", "0"}, {"7", "7"}},
        {"i:0:8 j:0:4", NULL, {"i // 2", "i % 2 * 4 + j"}, {1, 1}, 2, true, {"0", "0"}, {"3", "7"}},
        {"i:0:8 j:0:8", NULL, {"i * j"}, {1}, 1, false, {NULL}, {NULL}},
        {"i:0:n", NULL, {"i + 1"}, {1}, 1, true, {"1"}, {"n"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_region(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_gives_the_ends),
        cmocka_unit_test(random_sets_hold_every_value),
        cmocka_unit_test(unions_and_intersections),
        cmocka_unit_test(sets_against_ranges),
        cmocka_unit_test(regions_of_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
