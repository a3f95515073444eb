/* Structural equality: renamings are equal both ways, every other difference is found and described. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ir/stmt.h"
#include "verify/equal.h"

static Context *ctx;

static int set_up(void **state)
{
    (void)state;
    ctx = context_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    context_free(ctx);
    return 0;
}

static Str str(const char *text)
{
    return context_intern(ctx, text);
}

static const Expr *num(int64_t value)
{
    return expr_int(ctx, DTYPE_INT32, value);
}

static Var *new_var(const char *name, DType dtype)
{
    return var_new(ctx, str(name), dtype, span_none());
}

static Buffer *new_buffer(const char *name, const Expr *extent)
{
    return buffer_new(ctx, str(name), DTYPE_FLOAT32, 1, &extent, NULL, span_none());
}

static const Stmt *store(Buffer *buffer, const Expr *index, double value)
{
    return stmt_store(ctx, buffer, &index, 1, expr_float(ctx, DTYPE_FLOAT32, value), NULL, span_none());
}

/* What the variants of one small program differ in. */
typedef struct {
    const char *loop_name, *buffer_name, *block_name;
    int extent, alignment, factor, annotation, predicate, axis_extent;
    double value;
    bool parallel, swapped, read, init, stride, private_func, extra;
    IterKind kind;
} Variant;

static const Variant base = {
    .loop_name = "i", .buffer_name = "A", .block_name = "b", .extent = 4, .axis_extent = 4, .alignment = 64, .value = 1};

/* A(n): for i, j: block(vi = i): where, A[vi + j] = value */
static const Func *make(Variant v)
{
    Var *n = new_var("n", DTYPE_INT32), *i = new_var(v.loop_name, DTYPE_INT32), *j = new_var("j", DTYPE_INT32),
        *vi = new_var("vi", DTYPE_INT32);
    Buffer *a = new_buffer(v.buffer_name, expr_var(ctx, n));
    a->data_alignment = v.alignment;
    a->offset_factor = v.factor;
    const Expr *stride = expr_var(ctx, new_var("s", DTYPE_INT32));
    a->strides = v.stride ? arena_copy(ctx->arena, &stride, sizeof stride) : NULL;
    Iter iter = {vi, {num(0), num(v.axis_extent)}, v.kind, span_none()};
    const Expr *binding = expr_var(ctx, v.swapped ? j : i), *index = expr_binary(ctx, EXPR_ADD, expr_var(ctx, vi), expr_var(ctx, j));
    Region region = region_point(ctx, a, &index);
    BlockStmt block = {.block = block_new(ctx, str(v.block_name), span_none()), .iter_count = 1, .iters = &iter, .bindings = &binding};
    block.reads = block.writes = arena_copy(ctx->arena, &region, sizeof region);
    block.write_count = 1;
    block.read_count = v.read;
    block.init = v.init ? store(a, index, 0) : NULL;
    block.body = store(a, index, v.value);
    if (v.predicate)
        block.predicate = expr_binary(ctx, EXPR_LT, expr_var(ctx, i), num(v.predicate));
    if (v.annotation)
        block.annotations = attrs_set(ctx, block.annotations, str("k"), attr_expr(ctx, num(v.annotation)));
    const Stmt *inner = stmt_for_serial(ctx, j, NULL, expr_var(ctx, n), stmt_block(ctx, block, span_none()), span_none());
    ForStmt loop = {.var = i, .min = num(0), .extent = num(v.extent), .kind = v.parallel ? FOR_PARALLEL : FOR_SERIAL, .body = inner};
    const Stmt *items[] = {stmt_for(ctx, loop, span_none()), store(a, num(0), 5)};
    Func *func = ARENA_NEW(ctx->arena, Func);
    *func = (Func){.name = str("f"),
                   .param_count = 1,
                   .return_type = DTYPE_VOID,
                   .is_private = v.private_func,
                   .body = stmt_seq(ctx, items, 1 + v.extra)};
    func->params = ARENA_ARRAY(ctx->arena, Param, 1);
    func->params[0] = (Param){.param = new_var("a", DTYPE_HANDLE), .buffer = a};
    return func;
}

static void expect_equal(Variant v)
{
    const char *why = "";
    if (!func_equal(ctx, make(base), make(v), &why))
        fail_msg("%s", why);
    assert_true(func_equal(ctx, make(v), make(base), NULL));
}

/* V differs from the base program, and the reason mentions REASON. */
static void expect_difference(Variant v, const char *reason)
{
    const char *why = "";
    assert_false(func_equal(ctx, make(base), make(v), &why));
    if (!strstr(why, reason))
        fail_msg("'%s' does not say '%s'", why, reason);
    assert_false(func_equal(ctx, make(v), make(base), NULL));
}

static Variant variant(void)
{
    return base;
}
#define WITH(field, new_value)                                                                                                               \
    Variant v = variant();                                                                                                                   \
    v.field = new_value

static void test_renamings(void **state)
{
    (void)state;
    expect_equal(base);
    WITH(loop_name, "outer");
    v.buffer_name = "j";
    expect_equal(v);
    v = base;
    v.factor = 1; /* as when no factor is stated */
    expect_equal(v);
}

#define DIFFERENCE(name, field, new_value, reason)                                                                                           \
    static void name(void **state)                                                                                                           \
    {                                                                                                                                        \
        (void)state;                                                                                                                         \
        WITH(field, new_value);                                                                                                              \
        expect_difference(v, reason);                                                                                                        \
    }
DIFFERENCE(test_extent, extent, 5, "function 'f': extent of a loop: 4 and 5")
DIFFERENCE(test_kind, parallel, true, "of other kinds")
DIFFERENCE(test_block_name, block_name, "c", "name of a block: 'b' and 'c'")
DIFFERENCE(test_alignment, alignment, 128, "declared differently")
DIFFERENCE(test_factor, factor, 4, "declared differently")
DIFFERENCE(test_strides, stride, true, "declared differently")
DIFFERENCE(test_annotation, annotation, 3, "annotations of the block")
DIFFERENCE(test_predicate, predicate, 3, "predicate of a block: T.bool(True) and i < 3")
DIFFERENCE(test_axis, axis_extent, 3, "block 'b': extent of an axis: 4 and 3")
DIFFERENCE(test_axis_kind, kind, ITER_REDUCE, "axes 'vi' and 'vi' are of other kinds")
DIFFERENCE(test_value, value, 2, "stored value: T.float32(1.0) and T.float32(2.0)")
DIFFERENCE(test_swapped_loops, swapped, true, "bindings: i and j")
DIFFERENCE(test_reads, read, true, "reads: 0 and 1")
DIFFERENCE(test_init, init, true, "init")
DIFFERENCE(test_private, private_func, true, "private")
DIFFERENCE(test_extra_statement, extra, true, "statements of other kinds: for i, j in T.grid(4, n):")

/* Two variables on one side must not stand for one on the other. */
static void test_one_to_one(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", num(16));
    Var *i = new_var("i", DTYPE_INT32), *j = new_var("j", DTYPE_INT32), *k = new_var("k", DTYPE_INT32), *l = new_var("l", DTYPE_INT32);
    const Expr *both = expr_binary(ctx, EXPR_ADD, expr_var(ctx, i), expr_var(ctx, j)),
               *one = expr_binary(ctx, EXPR_ADD, expr_var(ctx, k), expr_var(ctx, k));
    const Stmt *x =
        stmt_for_serial(ctx, i, NULL, num(4), stmt_for_serial(ctx, j, NULL, num(4), store(a, both, 1), span_none()), span_none());
    const Stmt *y =
        stmt_for_serial(ctx, k, NULL, num(4), stmt_for_serial(ctx, l, NULL, num(4), store(a, one, 1), span_none()), span_none());
    const char *why = NULL;
    assert_false(stmt_equal(ctx, x, y, &why));
    assert_string_equal(why, "indices of a store: i + j and k + k");
    assert_false(stmt_equal(ctx, y, x, NULL));
    assert_true(stmt_equal(ctx, x, x, NULL));
}

/* Symbols that are bound outside must be the same ones. */
static void test_free_symbols(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", num(16)), *b = new_buffer("A", num(16));
    assert_true(stmt_equal(ctx, store(a, num(0), 1), store(a, num(0), 1), NULL));
    assert_false(stmt_equal(ctx, store(a, num(0), 1), store(b, num(0), 1), NULL));
    assert_false(stmt_equal(ctx, store(a, num(0), 1), store(a, expr_int(ctx, DTYPE_INT64, 0), 1), NULL));
}

static void test_lets(void **state)
{
    (void)state;
    Var *x = new_var("x", DTYPE_INT32), *y = new_var("y", DTYPE_INT32);
    Buffer *a = new_buffer("A", num(16));
    const Expr *p = expr_let(ctx, x, num(1), expr_binary(ctx, EXPR_ADD, expr_var(ctx, x), num(2)));
    const Expr *q = expr_let(ctx, y, num(1), expr_binary(ctx, EXPR_ADD, expr_var(ctx, y), num(2)));
    const Expr *r = expr_let(ctx, y, num(1), expr_binary(ctx, EXPR_ADD, num(1), num(2)));
    assert_true(stmt_equal(ctx, store(a, p, 1), store(a, q, 1), NULL));
    assert_false(stmt_equal(ctx, store(a, p, 1), store(a, r, 1), NULL));
    const Stmt *s = stmt_let(ctx, x, num(1), store(a, expr_var(ctx, x), 1), span_none()),
               *t = stmt_let(ctx, y, num(1), store(a, expr_var(ctx, y), 1), span_none());
    assert_true(stmt_equal(ctx, s, t, NULL));
    assert_false(stmt_equal(ctx, s, stmt_let(ctx, y, num(1), store(a, num(1), 1), span_none()), NULL));
}

static void test_modules(void **state)
{
    (void)state;
    Func *f = arena_copy(ctx->arena, make(base), sizeof *f), *g = arena_copy(ctx->arena, make(base), sizeof *g);
    g->name = str("g");
    f->attrs = attrs_set(ctx, f->attrs, str("global_symbol"), attr_expr(ctx, expr_string(ctx, str("f"))));
    const Func *forward[] = {f, g}, *backward[] = {g, make(base)};
    Module a = {.funcs = forward, .func_count = 2}, b = {.funcs = backward, .func_count = 2}, c = {.funcs = forward, .func_count = 1};
    const char *why = "";
    assert_true(module_equal(ctx, &a, &b, &why));
    assert_false(module_equal(ctx, &a, &c, &why));
    assert_string_equal(why, "functions: 2 and 1 of them");
    b.bare = true;
    assert_false(module_equal(ctx, &a, &b, &why));
    g->attrs = attrs_set(ctx, g->attrs, str("k"), attr_expr(ctx, num(1)));
    const Func *plain = make(base);
    Func *renamed = arena_copy(ctx->arena, plain, sizeof *plain);
    renamed->name = str("g");
    assert_false(func_equal(ctx, g, renamed, &why));
    assert_string_equal(why, "function 'g': attributes: 1 and 0 of them");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_renamings),  TEST(test_extent),        TEST(test_kind),       TEST(test_block_name), TEST(test_alignment),
        TEST(test_factor),     TEST(test_strides),       TEST(test_annotation), TEST(test_predicate),  TEST(test_axis),
        TEST(test_axis_kind),  TEST(test_value),         TEST(test_reads),      TEST(test_init),       TEST(test_swapped_loops),
        TEST(test_private),    TEST(test_extra_statement), TEST(test_one_to_one), TEST(test_free_symbols), TEST(test_lets),
        TEST(test_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
