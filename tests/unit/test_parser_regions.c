/* What the front end infers: linear sums, intervals, and the regions of blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "passes/regions/infer_regions.h"
#include "ir/interval.h"
#include "ir/linear_sum.h"
#include "print/print.h"
#include "ir/walk.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "support/strbuf.h"

static Context *ctx;
static Var *x, *y;

static int set_up(void **state)
{
    (void)state;
    ctx = context_new();
    x = var_new(ctx, context_intern(ctx, "x"), DTYPE_INT32, span_none());
    y = var_new(ctx, context_intern(ctx, "y"), DTYPE_INT32, span_none());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    context_free(ctx);
    return 0;
}

static const Expr *num(int64_t value)
{
    return expr_int(ctx, DTYPE_INT32, value);
}

/* --- linear sums --- */

/* The value that the function's only statement evaluates, with its scalar parameters x and y. */
static const Expr *expression(const char *text)
{
    const char *program = arena_printf(
        ctx->arena, "@T.prim_func\ndef f(x: T.int32, y: T.int32, u: T.uint32, A: T.Buffer((64,), \"int32\")):\n    T.evaluate(%s)\n", text);
    const Module *module = complete_module(ctx, parse_module_text(ctx, "test", program, strlen(program)));
    assert_non_null(module);
    Subst subst = {0};
    subst_var(ctx, &subst, module->funcs[0]->params[0].param, expr_var(ctx, x));
    subst_var(ctx, &subst, module->funcs[0]->params[1].param, expr_var(ctx, y));
    return subst_expr(ctx, &subst, module->funcs[0]->body->as.evaluate);
}

static void expect_simplified(const char *text, const char *result)
{
    assert_string_equal(print_expr(ctx, linear_simplify(ctx, expression(text))), result);
}

static void test_simplify(void **state)
{
    (void)state;
    expect_simplified("x + 16 - x", "16");
    expect_simplified("x * 16 + 16 - x * 16", "16");
    expect_simplified("3 - (x - 2) * 4", "11 - x * 4");
    expect_simplified("x - y - x", "0 - y");
    expect_simplified("x * 2 + y - x", "x + y");
    expect_simplified("(x * 16 + 5) // 16", "x");
    expect_simplified("(x * 16 + y) // 16", "x + y // 16");
    expect_simplified("(x * 16 + 37) % 16", "5");
    expect_simplified("(x + 63) // 64", "(x + 63) // 64");
    expect_simplified("(x - 64) // 64", "x // 64 - 1");
    expect_simplified("(x + 3) // 4 - x // 4", "(x % 4 + 3) // 4");
    expect_simplified("(y + 9) // 4 * 2 + x - y // 4 * 2", "(y % 4 + 9) // 4 * 2 + x");
    expect_simplified("T.min(x + 3, x + 1)", "x + 1");
    expect_simplified("T.max(x + 3, x + 1) - x", "3");
    expect_simplified("T.max(x, y)", "T.max(x, y)");
    expect_simplified("T.min(T.min(x, y), x)", "T.min(x, y)");
    expect_simplified("T.max(T.max(T.max(x, y), 3), y)", "T.max(T.max(x, y), 3)");
    expect_simplified("T.max(T.min(x, y), y)", "T.max(T.min(x, y), y)");
    expect_simplified("A[x + 1 - 1 + 0]", "A[x]");
    expect_simplified("u + T.uint32(1) - u", "u + T.uint32(1) - u");
    expect_simplified("x * y - y * x", "x * y - y * x");
    expect_simplified("x * 2147483647 * 4", "x * 2147483647 * 4");
}

/* On small ranges, negatives included, a simplified expression has the value of the original. */
static int64_t evaluate(const Expr *expr, int64_t x_value, int64_t y_value)
{
    Subst subst = {0};
    subst_var(ctx, &subst, x, num(x_value));
    subst_var(ctx, &subst, y, num(y_value));
    Rewriter fold = {.ctx = ctx};
    const Expr *constant = rewrite_expr(&fold, subst_expr(ctx, &subst, expr));
    const Expr *simple = linear_simplify(ctx, constant);
    assert_int_equal(simple->kind, EXPR_INT);
    return simple->value.integer;
}

static void test_simplify_keeps_values(void **state)
{
    (void)state;
    static const char *const texts[] = {"(x * 4 + y) // 4",
                                        "(x * 4 - y + 3) % 4",
                                        "(x * -6 + 5) // 3",
                                        "(x * 2 + y * 4 - 7) // 2",
                                        "(x - 8) % 8 + (y + 8) // 8",
                                        "T.min(x - 2, x + y - y)",
                                        "(x * 3 + 1) // 3 * 3 + (x * 3 + 1) % 3",
                                        "(x + 5) // 3 - x // 3",
                                        "y // 4 * 2 - (y - 3) // 4 * 2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const Expr *original = expression(texts[i]), *simplified = linear_simplify(ctx, original);
        for (int64_t a = -9; a <= 9; a++)
            for (int64_t b = -9; b <= 9; b++)
                assert_int_equal(evaluate(original, a, b), evaluate(simplified, a, b));
    }
}

static void test_difference(void **state)
{
    (void)state;
    int64_t difference;
    assert_true(linear_difference(ctx, expression("x * 16 + 16"), expression("x * 16"), &difference));
    assert_int_equal(difference, 16);
    assert_false(linear_difference(ctx, expression("x"), expression("y"), &difference));
}

/* --- intervals --- */

/* The interval of TEXT where x runs from LOW to HIGH contains all its values, and its ends are met where EXACT. */
static void expect_interval(const char *text, int64_t low, int64_t high, bool exact)
{
    IntervalScope scope = {0};
    const Expr *expr = expression(text);
    interval_set(ctx, &scope, x, &(Interval){num(low), num(high)});
    Interval interval = interval_of_expr(ctx, &scope, expr);
    assert_true(interval_is_known(interval));
    for (int64_t b = -3; b <= 3; b++) {
        int64_t first = evaluate(interval.min, 0, b), last = evaluate(interval.max, 0, b), least = INT64_MAX, most = INT64_MIN;
        for (int64_t a = low; a <= high; a++) {
            int64_t value = evaluate(expr, a, b);
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
        assert_true(first <= least && most <= last);
        assert_true(!exact || (first == least && last == most));
    }
}

static void test_intervals(void **state)
{
    (void)state;
    expect_interval("x + y", -4, 5, true);
    expect_interval("y - x", -4, 5, true);
    expect_interval("x * 3", -4, 5, true);
    expect_interval("x * -3 + y", -4, 5, true);
    expect_interval("x // 4", -5, 6, true);
    expect_interval("x // -4", -5, 6, true);
    expect_interval("x % 8", 1, 6, true);
    expect_interval("x % 4", -3, 6, true);
    expect_interval("(y * 8 + x) % 8", 2, 5, true);
    expect_interval("T.min(x, 3)", -5, 6, true);
    expect_interval("T.max(x, y)", -5, 6, true);
    expect_interval("x - x", 0, 3, false);
}

static void test_unknown_intervals(void **state)
{
    (void)state;
    IntervalScope scope = {0};
    interval_set(ctx, &scope, x, &(Interval){num(0), num(3)});
    assert_false(interval_is_known(interval_of_expr(ctx, &scope, expression("x * y"))));
    assert_false(interval_is_known(interval_of_expr(ctx, &scope, expression("A[x]"))));
    assert_false(interval_is_known(interval_of_expr(ctx, &scope, expression("T.shift_left(x, 1)"))));
    assert_true(interval_is_known(interval_of_expr(ctx, &scope, expression("A[y]"))));
}

/* --- regions of blocks --- */

/* The regions of the block with axes vi and vj that holds BODY (lines of two levels), as "reads | writes". */
static void expect_regions(const char *body, const char *result)
{
    const char *program = arena_printf(ctx->arena,
                                       "@T.prim_func\ndef f(A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64,), \"int32\")):\n    for i, j in T.grid(16, 16):\n"
                                       "        with T.block(\"b\"):\n            vi, vj = T.axis.remap(\"SR\", [i, j])\n%s",
                                       body);
    const Module *module = complete_module(ctx, parse_module_text(ctx, "test", program, strlen(program)));
    if (!module)
        diag_flush(ctx, stderr, false);
    assert_non_null(module);
    const Stmt *stmt = module->funcs[0]->body;
    while (stmt->kind != STMT_BLOCK || stmt->as.block.iter_count == 0)
        stmt = stmt_body(stmt);
    StrBuf out = {.arena = ctx->arena};
    for (int i = 0; i < stmt->as.block.read_count; i++)
        strbuf_printf(&out, "%s ", print_region(ctx, &stmt->as.block.reads[i]));
    strbuf_add(&out, "|");
    for (int i = 0; i < stmt->as.block.write_count; i++)
        strbuf_printf(&out, " %s", print_region(ctx, &stmt->as.block.writes[i]));
    assert_string_equal(strbuf_text(&out), result);
    assert_true(stmt->as.block.writes_inferred);
}

#define LINE(text) "            " text "\n"

static void test_regions(void **state)
{
    (void)state;
    expect_regions(LINE("A[vi, vj] = 1.0"), "| A[vi, vj]");
    expect_regions(LINE("A[vi, vj] = A[vi, vj] + 1.0"), "A[vi, vj] | A[vi, vj]");
    expect_regions(LINE("B[vi] = B[vj] + B[vj + 2]"), "B[vj:vj + 3] | B[vi]");
    expect_regions(LINE("with T.init():") LINE("    A[vi, 0] = 0.0") LINE("A[vi, 0] += A[vi, vj] + B[vj]"), "B[vj] | A[vi, 0]");
    expect_regions(LINE("for k in range(3):") LINE("    B[vi * 3 + k] = k"), "| B[vi * 3:vi * 3 + 3]");
    expect_regions(LINE("for k in range(3):") LINE("    for l in range(k, 4):") LINE("        B[l] = k"), "| B[0:6]");
    expect_regions(LINE("for k in range(9):") LINE("    if k < 4 and k >= 1:") LINE("        B[k] = 1"), "| B[1:4]");
    expect_regions(LINE("for k in range(9):") LINE("    if k < vi and k < 4:") LINE("        B[k] = 1"), "| B[0:9]");
    expect_regions(LINE("for k in range(9):") LINE("    if not (k < 4):") LINE("        B[k] = 1"), "| B[4:9]");
    expect_regions(LINE("for k in range(9):") LINE("    B[vi] = T.if_then_else(k * 2 > 5, B[k], 0)"), "B[3:9] | B[vi]");
    expect_regions(LINE("k: T.int32 = vi + 1") LINE("B[k] = 2"), "| B[vi + 1]");
    expect_regions(LINE("B[0:8:2] = B[8:12]"), "B[8:12] | B[0:7]");
    expect_regions(LINE("B[B[vi]] = 1"), "B[vi] | B[B[vi]]");
    expect_regions(LINE("for k in range(2):") LINE("    B[B[k]] = 1"), "B[0:2] | B[0:64]");
    expect_regions(LINE("T.evaluate(T.call_extern(\"int32\", \"f\", A.access_ptr(\"rw\")))"), "A[0:64, 0:64] | A[0:64, 0:64]");
    expect_regions(LINE("L = T.alloc_buffer((4,))") LINE("L[0] = A[vi, 0]") LINE("A[vi, 1] = L[0]"), "A[vi, 0] | A[vi, 1]");
    expect_regions(LINE("V = T.match_buffer(A[vi, 8:16], (8,))") LINE("V[2] = V[3]"), "A[vi, 11] | A[vi, 10]");
    expect_regions(LINE("for k in range(4):") LINE("    with T.block(\"inner\"):") LINE("        vk = T.axis.spatial(4, k)")
                       LINE("        B[vi * 4 + vk] = B[vk]"),
                   "B[0:4] | B[vi * 4:vi * 4 + 4]");
    expect_regions(LINE("while B[vi] > 0:") LINE("    B[vi] = B[vj]"),
                   "B[T.min(vi, vj):T.min(vi, vj) + (T.max(vi, vj) + 1 - T.min(vi, vj))] | B[vi]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_simplify, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_simplify_keeps_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_difference, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_intervals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown_intervals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_regions, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
