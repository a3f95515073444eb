/* Printing of programs that are built by hand: every kind of statement and expression, names, and what a program must not depend on. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "print/print.h"
#include "verify/verify.h"

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

/* --- shorthands --- */

static Str str(const char *text)
{
    return context_intern(ctx, text);
}

static const Expr *num(int64_t value)
{
    return expr_int(ctx, DTYPE_INT32, value);
}

static const Expr *real(double value)
{
    return expr_float(ctx, DTYPE_FLOAT32, value);
}

static Var *new_var(const char *name, DType dtype)
{
    return var_new(ctx, str(name), dtype, span_none());
}

static const Expr *use(Var *var)
{
    return expr_var(ctx, var);
}

static Buffer *new_buffer(const char *name, int64_t extent)
{
    const Expr *shape[] = {num(extent)};
    return buffer_new(ctx, str(name), DTYPE_FLOAT32, 1, shape, NULL, span_none());
}

static const Expr *load(Buffer *buffer, const Expr *index)
{
    return expr_load(ctx, buffer, &index, 1, NULL, span_none());
}

static const Stmt *store(Buffer *buffer, const Expr *index, const Expr *value)
{
    return stmt_store(ctx, buffer, &index, 1, value, NULL, span_none());
}

static const Stmt *loop(Var *var, int64_t extent, const Stmt *body)
{
    return stmt_for_serial(ctx, var, NULL, expr_int(ctx, var->dtype, extent), body, span_none());
}

static const Stmt *seq(const Stmt *first, const Stmt *second)
{
    const Stmt *items[] = {first, second};
    return stmt_seq(ctx, items, 2);
}

/* A function "f" of the buffers PARAMS. */
static Func *new_func(Buffer *const *params, int count, const Stmt *body)
{
    Func *func = ARENA_NEW(ctx->arena, Func);
    *func = (Func){.name = str("f"), .param_count = count, .return_type = DTYPE_VOID, .body = body};
    func->params = ARENA_ARRAY(ctx->arena, Param, count);
    for (int i = 0; i < count; i++)
        func->params[i] = (Param){.param = new_var("handle", DTYPE_HANDLE), .buffer = params[i]};
    return func;
}

#define HEADER "# from tvm.script import tir as T\n\n@T.prim_func\n"

/* BODY over the one parameter A prints as EXPECTED, and is well formed. */
static void expect_body(Buffer *parameter, const Stmt *body, const char *expected)
{
    const Func *func = new_func(&parameter, 1, body);
    const char *why = NULL;
    if (!verify_func(ctx, func, STAGE_SURFACE, &why))
        fail_msg("%s", why);
    const char *text = print_func(ctx, func);
    assert_string_equal(text, arena_printf(ctx->arena, HEADER "def f(A: T.Buffer((16,), \"float32\")):\n%s", expected));
    assert_string_equal(print_func(ctx, func), text);
}

static void expect_expr(const Expr *expr, const char *expected)
{
    assert_string_equal(print_expr(ctx, expr), expected);
}

/* --- expressions --- */

static void test_constants(void **state)
{
    (void)state;
    expect_expr(num(-5), "-5");
    expect_expr(expr_int(ctx, DTYPE_INT64, INT64_MIN), "T.int64(-9223372036854775808)");
    expect_expr(expr_int(ctx, DTYPE(DT_UINT, 64), -1), "T.uint64(18446744073709551615)");
    expect_expr(expr_int(ctx, DTYPE(DT_INT, 8), -128), "T.int8(-128)");
    expect_expr(expr_bool(ctx, true), "T.bool(True)");
    expect_expr(expr_bool(ctx, false), "T.bool(False)");
    expect_expr(expr_string(ctx, str("a\"b'c\\d\te\nf\rg\x01\x7f")), "\"a\\\"b'c\\\\d\\te\\nf\\rg\\x01\\x7F\"");
    expect_expr(expr_string(ctx, str("\xc3\xa9")), "\"\xc3\xa9\"");
}

static void test_floats(void **state)
{
    (void)state;
    expect_expr(real(0), "T.float32(0.0)");
    expect_expr(real(-0.0), "T.float32(-0.0)");
    expect_expr(real(-2.5), "T.float32(-2.5)");
    expect_expr(real(0.1), "T.float32(0.10000000000000001)");
    expect_expr(real(1e-5), "T.float32(1.0000000000000001e-05)");
    expect_expr(real(0.70710678118654757), "T.float32(0.70710678118654757)");
    expect_expr(real(1e20), "T.float32(100000000000000000000.0)");
    expect_expr(real(INFINITY), "T.float32(\"inf\")");
    expect_expr(real(-INFINITY), "T.float32(\"-inf\")");
    expect_expr(real(NAN), "T.float32(\"nan\")");
    expect_expr(expr_float(ctx, DTYPE(DT_FLOAT, 16), 65504), "T.float16(65504.0)");
    expect_expr(expr_float(ctx, DTYPE(DT_BFLOAT, 16), 1.5), "T.bfloat16(1.5)");
    expect_expr(expr_float(ctx, DTYPE_FLOAT64, 123456.789), "T.float64(123456.789)");
    /* a computed constant shows its own value */
    expect_expr(op_add(ctx, real(0.1), real(0.2)), "T.float32(0.30000001192092896)");
    expect_expr(op_negate(ctx, real(0.1), span_none()), "T.float32(-0.10000000000000001)");
    expect_expr(real(1e300), "T.float32(\"inf\")");
}

static const Expr *binary(ExprKind kind, const Expr *a, const Expr *b)
{
    return expr_binary(ctx, kind, a, b);
}

static void test_parentheses(void **state)
{
    (void)state;
    const Expr *x = use(new_var("x", DTYPE_INT32)), *y = use(new_var("y", DTYPE_INT32));
    const Expr *p = use(new_var("p", DTYPE_BOOL)), *q = use(new_var("q", DTYPE_BOOL));
    const Expr *difference = binary(EXPR_SUB, x, y), *less = binary(EXPR_LT, x, y);
    expect_expr(binary(EXPR_SUB, difference, x), "x - y - x");
    expect_expr(binary(EXPR_SUB, x, difference), "x - (x - y)");
    expect_expr(binary(EXPR_MUL, difference, x), "(x - y) * x");
    expect_expr(binary(EXPR_ADD, binary(EXPR_MUL, x, num(128)), binary(EXPR_ADD, binary(EXPR_MUL, y, num(128)), x)), "x * 128 + (y * 128 + x)");
    expect_expr(binary(EXPR_FLOORMOD, binary(EXPR_FLOORDIV, binary(EXPR_MUL, x, y), num(3)), num(5)), "x * y // 3 % 5");
    expect_expr(binary(EXPR_MUL, x, binary(EXPR_FLOORDIV, y, num(3))), "x * (y // 3)");
    expect_expr(binary(EXPR_SUB, x, num(-1)), "x - -1");
    expect_expr(binary(EXPR_AND, binary(EXPR_AND, p, q), p), "p and q and p");
    expect_expr(binary(EXPR_AND, p, binary(EXPR_AND, q, p)), "p and (q and p)");
    expect_expr(binary(EXPR_OR, binary(EXPR_AND, p, q), expr_not(ctx, p)), "p and q or not p");
    expect_expr(binary(EXPR_AND, p, binary(EXPR_OR, p, q)), "p and (p or q)");
    expect_expr(expr_not(ctx, binary(EXPR_AND, p, q)), "not (p and q)");
    expect_expr(expr_not(ctx, less), "not x < y");
    expect_expr(binary(EXPR_EQ, expr_not(ctx, p), q), "(not p) == q");
    /* without parentheses these would be chained comparisons */
    expect_expr(binary(EXPR_EQ, less, p), "(x < y) == p");
    expect_expr(binary(EXPR_EQ, p, less), "p == (x < y)");
}

static void test_operators_that_would_not_read_back(void **state)
{
    (void)state;
    const Expr *x = use(new_var("x", DTYPE_INT32)), *p = use(new_var("p", DTYPE_BOOL));
    expect_expr(binary(EXPR_ADD, num(1), num(2)), "T.Add(1, 2)");
    expect_expr(binary(EXPR_ADD, x, num(0)), "T.Add(x, 0)");
    expect_expr(binary(EXPR_MUL, x, num(1)), "T.Mul(x, 1)");
    expect_expr(binary(EXPR_FLOORDIV, x, num(1)), "T.FloorDiv(x, 1)");
    expect_expr(binary(EXPR_FLOORMOD, x, num(0)), "T.FloorMod(x, 0)");
    expect_expr(binary(EXPR_MAX, num(1), num(2)), "T.Max(1, 2)");
    expect_expr(binary(EXPR_MIN, x, x), "T.min(x, x)");
    expect_expr(binary(EXPR_AND, expr_bool(ctx, true), p), "T.And(T.bool(True), p)");
    expect_expr(binary(EXPR_EQ, num(1), num(2)), "T.EQ(1, 2)");
    expect_expr(expr_not(ctx, expr_bool(ctx, true)), "T.Not(T.bool(True))");
    expect_expr(binary(EXPR_DIV, x, num(2)), "T.Div(x, 2)");
    expect_expr(binary(EXPR_DIV, real(1), use(new_var("z", DTYPE_FLOAT32))), "T.float32(1.0) / z");
    expect_expr(binary(EXPR_MOD, x, num(2)), "T.truncmod(x, 2)");
    expect_expr(binary(EXPR_ADD, p, p), "T.Add(p, p)");
}

static const Expr *call(DType dtype, Op op, int count, const Expr *a, const Expr *b, const Expr *c)
{
    const Expr *args[] = {a, b, c};
    return expr_call(ctx, dtype, op, args, count, span_none());
}

static void test_calls(void **state)
{
    (void)state;
    Var *x_var = new_var("x", DTYPE_INT32);
    const Expr *x = use(x_var), *name = expr_string(ctx, str("f"));
    expect_expr(call(DTYPE_FLOAT32, OP_CALL_EXTERN, 2, name, x, NULL), "T.call_extern(\"float32\", \"f\", x)");
    expect_expr(call(DTYPE_INT32, OP_TVM_STRUCT_GET, 3, x, num(0), num(1)), "T.tvm_struct_get(x, 0, 1, \"int32\")");
    expect_expr(call(DTYPE_FLOAT32, OP_TYPE_ANNOTATION, 0, NULL, NULL, NULL), "T.type_annotation(\"float32\")");
    expect_expr(call(DTYPE_INT32, OP_SHIFT_LEFT, 2, x, num(2), NULL), "T.shift_left(x, 2)");
    expect_expr(call(DTYPE_VOID, OP_RET, 0, NULL, NULL, NULL), "T.ret()");
    expect_expr(expr_cast(ctx, DTYPE_FLOAT32, x), "T.Cast(\"float32\", x)");
    expect_expr(expr_select(ctx, binary(EXPR_LT, x, num(1)), x, num(2)), "T.Select(x < 1, x, 2)");
    expect_expr(expr_let(ctx, x_var, num(3), binary(EXPR_ADD, x, num(1))), "T.Let(x + 1, where={x: 3})");
}

static void test_vectors(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 64);
    const Expr *x = use(new_var("x", DTYPE_INT32));
    expect_expr(load(a, expr_ramp(ctx, num(0), num(1), 4)), "A[0:4]");
    expect_expr(load(a, expr_ramp(ctx, x, num(1), 4)), "A[x:x + 4]");
    expect_expr(load(a, expr_ramp(ctx, x, num(2), 4)), "A[x:x + 8:2]");
    expect_expr(load(a, expr_ramp(ctx, num(8), num(-1), 4)), "A[T.Ramp(8, -1, 4)]");
    expect_expr(load(a, expr_ramp(ctx, x, x, 4)), "A[T.Ramp(x, x, 4)]");
    expect_expr(load(a, expr_broadcast(ctx, x, 4)), "A[T.Broadcast(x, 4)]");
    const Expr *ramp = expr_ramp(ctx, num(0), num(1), 4), *mask = expr_broadcast(ctx, expr_bool(ctx, true), 4);
    expect_expr(expr_load(ctx, a, &ramp, 1, mask, span_none()), "A.vload([T.Ramp(0, 1, 4)], predicate=T.Broadcast(T.bool(True), 4))");
    const Expr *parts[] = {load(a, ramp), num(1)};
    expect_expr(expr_shuffle(ctx, DTYPE_FLOAT32, parts, 2, 1), "T.Shuffle([A[0:4]], [1])");
    Buffer *scalar = buffer_new(ctx, str("S"), DTYPE_INT32, 0, NULL, NULL, span_none());
    expect_expr(expr_load(ctx, scalar, NULL, 0, NULL, span_none()), "S[()]");
}

static void test_regions(void **state)
{
    (void)state;
    const Expr *shape[] = {num(16), num(16), num(16)}, *i = use(new_var("i", DTYPE_INT32));
    Buffer *a = buffer_new(ctx, str("A"), DTYPE_FLOAT32, 3, shape, NULL, span_none());
    Range ranges[] = {{i, num(1)}, {binary(EXPR_MUL, i, num(4)), num(4)}, {num(2), num(3)}};
    Region region = {a, ranges, span_none()};
    assert_string_equal(print_region(ctx, &region), "A[i, i * 4:i * 4 + 4, 2:5]");
    Region whole = region_whole(ctx, a);
    assert_string_equal(print_region(ctx, &whole), "A[0:16, 0:16, 0:16]");
}

/* --- statements --- */

static void test_loops(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Var *i = new_var("i", DTYPE_INT32), *j = new_var("j", DTYPE_INT32), *k = new_var("k", DTYPE_INT32);
    const Stmt *inner = store(a, use(k), real(1));
    const Stmt *dependent = stmt_for_serial(ctx, k, NULL, use(i), inner, span_none());
    expect_body(a, loop(i, 4, loop(j, 2, dependent)), "    for i, j in T.grid(4, 2):\n        for k in range(i):\n            A[k] = T.float32(1.0)\n");
    const Stmt *shifted = stmt_for_serial(ctx, k, use(i), num(3), inner, span_none());
    expect_body(a, loop(i, 4, shifted), "    for i in range(4):\n        for k in range(i, i + 3):\n            A[k] = T.float32(1.0)\n");
    ForStmt thread = {.var = i, .min = num(0), .extent = num(4), .kind = FOR_THREAD, .thread = str("threadIdx.x"), .body = store(a, use(i), real(1))};
    expect_body(a, stmt_for(ctx, thread, span_none()), "    for i in T.thread_binding(4, thread=\"threadIdx.x\"):\n        A[i] = T.float32(1.0)\n");
    ForStmt annotated = {.var = i, .min = num(0), .extent = num(4), .body = store(a, use(i), real(1))};
    annotated.annotations = attrs_set(ctx, annotated.annotations, str("b"), attr_expr(ctx, num(1)));
    annotated.annotations = attrs_set(ctx, annotated.annotations, str("a"), attr_expr(ctx, expr_string(ctx, str("x"))));
    expect_body(a, loop(j, 2, stmt_for(ctx, annotated, span_none())),
                "    for j in range(2):\n        for i in T.serial(4, annotations={\"a\": \"x\", \"b\": 1}):\n            A[i] = T.float32(1.0)\n");
}

static void test_branches(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    const Expr *less = binary(EXPR_LT, load(a, num(0)), real(1));
    const Stmt *one = store(a, num(0), real(1)), *two = store(a, num(1), real(2));
    expect_body(a, stmt_if(ctx, less, one, two, span_none()),
                "    if A[0] < T.float32(1.0):\n        A[0] = T.float32(1.0)\n    else:\n        A[1] = T.float32(2.0)\n");
    expect_body(a, stmt_if(ctx, less, stmt_empty(ctx), NULL, span_none()), "    if A[0] < T.float32(1.0):\n        pass\n");
    expect_body(a, stmt_while(ctx, less, one, span_none()), "    while A[0] < T.float32(1.0):\n        A[0] = T.float32(1.0)\n");
    expect_body(a, stmt_empty(ctx), "    pass\n");
    expect_body(a, stmt_evaluate(ctx, num(0), span_none()), "    T.evaluate(0)\n");
    expect_body(a, stmt_evaluate(ctx, call(DTYPE_VOID, OP_RET, 1, num(7), NULL, NULL), span_none()), "    return 7\n");
}

/* A let ends its sequence or becomes a with statement. */
static void test_lets(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Var *x = new_var("x", DTYPE_INT32), *y = new_var("x", DTYPE_INT32);
    const Stmt *inner = stmt_let(ctx, x, num(1), store(a, use(x), real(1)), span_none());
    expect_body(a, inner, "    x: T.int32 = 1\n    A[x] = T.float32(1.0)\n");
    expect_body(a, seq(inner, store(a, num(2), real(2))), "    with T.LetStmt(1) as x:\n        A[x] = T.float32(1.0)\n    A[2] = T.float32(2.0)\n");
    expect_body(a, stmt_let(ctx, y, num(2), inner, span_none()), "    x: T.int32 = 2\n    x_1: T.int32 = 1\n    A[x_1] = T.float32(1.0)\n");
    Var *pointer = var_new_pointer(ctx, str("p"), DTYPE_FLOAT32, str("global"), span_none());
    const Stmt *alias = stmt_let(ctx, pointer, use(a->data), stmt_evaluate(ctx, use(pointer), span_none()), span_none());
    expect_body(a, alias, "    p: T.handle(\"float32\", \"global\") = A.data\n    T.evaluate(p)\n");
    expect_body(a, seq(alias, store(a, num(2), real(2))),
                "    p = T.handle(\"float32\", \"global\")\n    with T.LetStmt(A.data, var=p):\n        T.evaluate(p)\n    A[2] = T.float32(2.0)\n");
}

static const Stmt *allocate(Var *var, const Stmt *body)
{
    const Expr **extents = ARENA_ARRAY(ctx->arena, const Expr *, 1);
    extents[0] = num(8);
    Stmt stmt = {.kind = STMT_ALLOCATE};
    stmt.as.allocate.var = var;
    stmt.as.allocate.dtype = DTYPE_FLOAT32;
    stmt.as.allocate.extents = extents;
    stmt.as.allocate.extent_count = 1;
    stmt.as.allocate.scope = str("global");
    stmt.as.allocate.condition = expr_bool(ctx, true);
    stmt.as.allocate.body = body;
    return stmt_new(ctx, &stmt);
}

static const Stmt *declare(Buffer *buffer, bool explicit_declaration, const Stmt *body)
{
    return stmt_new(ctx, &(Stmt){.kind = STMT_DECL_BUFFER, .as.declare = {buffer, explicit_declaration, body}});
}

static void test_allocations(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16), *b = new_buffer("B", 8), *view = buffer_clone(ctx, b);
    const Expr *half[] = {num(4)};
    const Stmt *body = store(b, num(0), real(1));
    expect_body(a, allocate(b->data, declare(b, false, body)),
                "    B = T.allocate([8], \"float32\", \"global\")\n    B_1 = T.Buffer((8,), data=B)\n    B_1[0] = T.float32(1.0)\n");
    expect_body(a, allocate(b->data, declare(b, true, body)), "    B = T.decl_buffer((8,))\n    B[0] = T.float32(1.0)\n");
    expect_body(a, seq(allocate(b->data, declare(b, true, body)), store(a, num(0), real(0))),
                "    with T.decl_buffer((8,)) as B:\n        B[0] = T.float32(1.0)\n    A[0] = T.float32(0.0)\n");
    view->shape = half;
    expect_body(a, allocate(b->data, declare(b, true, declare(view, true, store(view, num(0), load(b, num(0)))))),
                "    B = T.decl_buffer((8,))\n    B_1 = T.decl_buffer((4,), data=B.data)\n    B_1[0] = B[0]\n");
}

static void test_attributes(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Stmt attr = {.kind = STMT_ATTR, .as.attr = {.node = use(a->data), .key = str("k"), .value = num(1), .body = store(a, num(0), real(1))}};
    expect_body(a, stmt_new(ctx, &attr), "    T.attr(A.data, \"k\", 1)\n    A[0] = T.float32(1.0)\n");
    expect_body(a, seq(stmt_new(ctx, &attr), store(a, num(1), real(1))),
                "    with T.attr(A.data, \"k\", 1):\n        A[0] = T.float32(1.0)\n    A[1] = T.float32(1.0)\n");
    Var *thread = new_var("tx", DTYPE_INT32);
    Stmt launch = {.kind = STMT_FOR, .as.loop = {thread, num(0), num(4), FOR_THREAD, true, str("threadIdx.x"), {0}, NULL}};
    launch.as.loop.body = store(a, use(thread), real(1));
    expect_body(a, stmt_new(ctx, &launch), "    tx = T.launch_thread(\"threadIdx.x\", 4)\n    A[tx] = T.float32(1.0)\n");
    Stmt assertion = {.kind = STMT_ASSERT, .as.assertion = {binary(EXPR_LT, load(a, num(0)), real(1)), expr_string(ctx, str("no")), stmt_empty(ctx)}};
    expect_body(a, stmt_new(ctx, &assertion), "    assert A[0] < T.float32(1.0), \"no\"\n");
    expect_body(a, seq(stmt_new(ctx, &assertion), store(a, num(0), real(1))),
                "    with T.Assert(A[0] < T.float32(1.0), \"no\"):\n        pass\n    A[0] = T.float32(1.0)\n");
}

/* --- blocks --- */

static BlockStmt plain_block(const char *name, const Stmt *body)
{
    return (BlockStmt){.block = block_new(ctx, str(name), span_none()), .body = body};
}

static void test_blocks(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Var *i = new_var("i", DTYPE_INT32), *j = new_var("j", DTYPE_INT32), *vi = new_var("vi", DTYPE_INT32), *vj = new_var("vj", DTYPE_INT32);
    Iter iters[] = {{vi, {num(0), num(4)}, ITER_SPATIAL, span_none()}, {vj, {num(0), num(4)}, ITER_REDUCE, span_none()}};
    const Expr *bindings[] = {use(i), use(j)};
    const Expr *index = use(vi);
    Region write = region_point(ctx, a, &index);
    BlockStmt block = plain_block("b", store(a, index, binary(EXPR_ADD, load(a, index), real(1))));
    block.iters = iters;
    block.bindings = bindings;
    block.iter_count = 2;
    block.reads = block.writes = &write;
    block.read_count = block.write_count = 1;
    block.init = store(a, index, real(0));
    block.predicate = binary(EXPR_LT, use(i), num(3));
    const Stmt *root = stmt_block(ctx, plain_block("root", loop(i, 4, loop(j, 4, stmt_block(ctx, block, span_none())))), span_none());
    static const char rest[] = "            T.where(i < 3)\n            T.reads(A[vi])\n            T.writes(A[vi])\n            with T.init():\n                A[vi] = T.float32(0.0)\n"
                               "            A[vi] = A[vi] + T.float32(1.0)\n";
    static const char head[] = "    # with T.block(\"root\"):\n    for i, j in T.grid(4, 4):\n        with T.block(\"b\"):\n";
    expect_body(a, root, arena_printf(ctx->arena, "%s            vi, vj = T.axis.remap(\"SR\", [i, j])\n%s", head, rest));
    iters[1].domain.extent = num(5);
    root = stmt_block(ctx, plain_block("root", loop(i, 4, loop(j, 4, stmt_block(ctx, block, span_none())))), span_none());
    expect_body(a, root, arena_printf(ctx->arena, "%s            vi = T.axis.spatial(4, i)\n            vj = T.axis.reduce(5, j)\n%s", head, rest));
}

/* The root block is left out where reading puts it back. */
static void test_root_blocks(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16), *b = new_buffer("B", 8);
    const Stmt *one = store(a, num(0), real(1)), *inner = stmt_block(ctx, plain_block("x", one), span_none());
    static const char shown[] = "    with T.block(\"root\"):\n        T.reads()\n        T.writes()\n";
    expect_body(a, stmt_block(ctx, plain_block("root", one), span_none()), arena_printf(ctx->arena, "%s        A[0] = T.float32(1.0)\n", shown));
    expect_body(a, stmt_block(ctx, plain_block("root", inner), span_none()),
                arena_printf(ctx->arena, "%s        with T.block(\"x\"):\n            T.reads()\n            T.writes()\n            A[0] = T.float32(1.0)\n", shown));
    BlockStmt allocating = plain_block("root", one);
    allocating.allocs = &b;
    allocating.alloc_count = 1;
    expect_body(a, stmt_block(ctx, allocating, span_none()), "    # with T.block(\"root\"):\n    B = T.alloc_buffer((8,))\n    A[0] = T.float32(1.0)\n");
    allocating.block = block_new(ctx, str("other"), span_none());
    expect_body(a, stmt_block(ctx, allocating, span_none()),
                "    with T.block(\"other\"):\n        T.reads()\n        T.writes()\n        B = T.alloc_buffer((8,))\n        A[0] = T.float32(1.0)\n");
}

/* --- functions --- */

static void expect_func(const Func *func, const char *expected)
{
    assert_string_equal(print_func(ctx, func), arena_printf(ctx->arena, "%s%s", HEADER, expected));
}

static void test_buffer_parameters(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Var *m = new_var("m", DTYPE_INT32), *n = new_var("n", DTYPE_INT32);
    const Expr *shape[] = {use(m), use(n)}, *strides[] = {use(new_var("s", DTYPE_INT32)), num(1)};
    Buffer *b = buffer_new(ctx, str("B"), DTYPE(DT_FLOAT, 16), 2, shape, str("shared"), span_none());
    b->strides = strides;
    b->offset_factor = 4;
    Var *offset = new_var("elem_offset", DTYPE_INT32);
    offset->unnamed = true;
    b->elem_offset = use(offset);
    b->data_alignment = 128;
    Buffer *params[] = {a, b};
    const Expr *indices[] = {use(m), strides[0]};
    const Stmt *body = store(a, binary(EXPR_ADD, strides[0], b->elem_offset), expr_cast(ctx, DTYPE_FLOAT32, expr_load(ctx, b, indices, 2, NULL, span_none())));
    expect_func(new_func(params, 2, body),
                "def f(A: T.Buffer((16,), \"float32\"), handle: T.handle):\n    m, n = T.int32(), T.int32()\n"
                "    B = T.match_buffer(handle, (m, n), \"float16\", strides=(\"s\", 1), scope=\"shared\", align=128, offset_factor=4)\n"
                "    A[B.strides[0] + B.elem_offset] = T.Cast(\"float32\", B[m, B.strides[0]])\n");
    offset->unnamed = false;
    expect_func(new_func(params, 2, body),
                "def f(A: T.Buffer((16,), \"float32\"), handle: T.handle):\n    m, n, elem_offset = T.int32(), T.int32(), T.int32()\n"
                "    B = T.match_buffer(handle, (m, n), \"float16\", strides=(\"s\", 1), elem_offset=elem_offset, scope=\"shared\", align=128, offset_factor=4)\n"
                "    A[B.strides[0] + elem_offset] = T.Cast(\"float32\", B[m, B.strides[0]])\n");
    const Expr *same[] = {strides[0], strides[0]};
    b->strides = same;
    b->offset_factor = 0;
    b->elem_offset = num(8);
    expect_func(new_func(params, 2, stmt_empty(ctx)),
                "def f(A: T.Buffer((16,), \"float32\"), handle: T.handle):\n    m, n, s = T.int32(), T.int32(), T.int32()\n"
                "    B = T.match_buffer(handle, (m, n), \"float16\", strides=(s, s), elem_offset=8, scope=\"shared\", align=128)\n");
}

/* A factor alone would make the offset a variable. */
static void test_zero_offset_with_factor(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    a->offset_factor = 4;
    expect_func(new_func(&a, 1, stmt_empty(ctx)), "def f(handle: T.handle):\n    A = T.match_buffer(handle, (16,), elem_offset=0, offset_factor=4)\n");
}

static void test_function_attributes(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Func *func = new_func(&a, 1, stmt_empty(ctx));
    func->attrs = attrs_set(ctx, func->attrs, str("global_symbol"), attr_expr(ctx, expr_string(ctx, str("f"))));
    expect_func(func, "def f(A: T.Buffer((16,), \"float32\")):\n    pass\n");
    func->attrs = attrs_set(ctx, func->attrs, str("global_symbol"), attr_expr(ctx, expr_string(ctx, str("g"))));
    AttrValue none = {.kind = ATTR_NONE};
    const AttrValue *items[] = {attr_expr(ctx, num(1)), &none};
    AttrValue list = {.kind = ATTR_LIST, .items = items, .count = 2}, dict = {.kind = ATTR_DICT};
    func->attrs = attrs_set(ctx, func->attrs, str("z"), &list);
    func->attrs = attrs_set(ctx, func->attrs, str("d"), &dict);
    func->attrs = attrs_set(ctx, func->attrs, str("b"), attr_expr(ctx, expr_bool(ctx, true)));
    expect_func(func, "def f(A: T.Buffer((16,), \"float32\")):\n    T.func_attr({\"b\": T.bool(True), \"d\": {}, \"global_symbol\": \"g\", \"z\": [1, None]})\n");
    func->attrs = (Attrs){0};
    func->is_private = true;
    func->return_type = DTYPE_INT32;
    assert_string_equal(print_func(ctx, func),
                        "# from tvm.script import tir as T\n\n@T.prim_func(private=True)\ndef f(A: T.Buffer((16,), \"float32\")) -> T.int32:\n    pass\n");
}

static void test_modules(void **state)
{
    (void)state;
    const Func *funcs[3];
    static const char *const names[] = {"main", "zeta", "alpha"};
    for (int i = 0; i < 3; i++) {
        Func *func = new_func(NULL, 0, stmt_empty(ctx));
        func->name = str(names[i]);
        func->param_count = 1;
        func->params = ARENA_ARRAY(ctx->arena, Param, 1);
        func->params[0].param = new_var("Module", DTYPE_INT32);
        funcs[i] = func;
    }
    Module module = {.funcs = funcs, .func_count = 3};
    module.attrs = attrs_set(ctx, module.attrs, str("a"), attr_expr(ctx, num(1)));
    assert_string_equal(print_module(ctx, &module), "# from tvm.script import ir as I\n# from tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n"
                                                    "    I.module_attrs({\"a\": 1})\n"
                                                    "    @T.prim_func\n    def alpha(Module_1: T.int32):\n        pass\n\n"
                                                    "    @T.prim_func\n    def zeta(Module_1: T.int32):\n        pass\n\n"
                                                    "    @T.prim_func\n    def main(Module_1: T.int32):\n        pass\n");
    Module bare = {.bare = true, .funcs = funcs, .func_count = 1};
    assert_string_equal(print_module(ctx, &bare), HEADER "def main(Module: T.int32):\n    pass\n");
    Module empty = {0};
    assert_string_equal(print_module(ctx, &empty), "# from tvm.script import ir as I\n\n@I.ir_module\nclass Module:\n    pass\n");
}

/* --- names --- */

static void test_names(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Var *outer = new_var("i", DTYPE_INT32), *inner = new_var("i", DTYPE_INT32), *sibling = new_var("i", DTYPE_INT32);
    Var *reserved = new_var("T", DTYPE_INT32), *odd = new_var("a.b", DTYPE_INT32), *nameless = new_var("", DTYPE_INT32);
    const Stmt *first = loop(inner, 2, store(a, use(inner), real(1))), *second = loop(sibling, 2, store(a, use(sibling), real(2)));
    expect_body(a, loop(outer, 4, seq(first, second)),
                "    for i in range(4):\n        for i_1 in range(2):\n            A[i_1] = T.float32(1.0)\n        for i_1 in range(2):\n            A[i_1] = T.float32(2.0)\n");
    expect_body(a, loop(reserved, 4, loop(odd, 4, loop(nameless, 4, store(a, use(reserved), real(1))))),
                "    for T_1, a_b, v in T.grid(4, 4, 4):\n        A[T_1] = T.float32(1.0)\n");
}

/* Free suffixes are found again after a scope has ended, also when the name was taken by itself. */
static void test_suffixes(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Var *x = new_var("i", DTYPE_INT32), *x1 = new_var("i_1", DTYPE_INT32), *y = new_var("i", DTYPE_INT32), *z = new_var("i", DTYPE_INT32);
    const Stmt *taken = loop(x1, 2, loop(y, 3, store(a, use(y), real(1)))), *free_again = loop(z, 3, store(a, use(z), real(1)));
    expect_body(a, loop(x, 4, seq(taken, free_again)),
                "    for i in range(4):\n        for i_1, i_2 in T.grid(2, 3):\n            A[i_2] = T.float32(1.0)\n        for i_1 in range(3):\n            A[i_1] = T.float32(1.0)\n");
}

static void test_undefined_variable(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Var *x = new_var("x", DTYPE_INT32);
    const Func *func = new_func(&a, 1, store(a, use(x), load(a, use(x))));
    expect_func(func, "def f(A: T.Buffer((16,), \"float32\")):\n    x = T.int32()\n    A[x] = A[x]\n");
    assert_string_equal(print_stmt(ctx, func->body), "A[x] = A[x]\n");
}

/* The variable of a let expression is declared where the statement stands, anew for each let, and keeps its name to the end of the suite. */
static void test_let_variables(void **state)
{
    (void)state;
    Buffer *a = new_buffer("A", 16);
    Var *x = new_var("x", DTYPE_INT32), *i = new_var("i", DTYPE_INT32), *j = new_var("j", DTYPE_INT32);
    const Expr *let = expr_let(ctx, x, num(3), binary(EXPR_ADD, use(x), num(1)));
    const Stmt *first = stmt_for_serial(ctx, i, NULL, let, store(a, use(i), real(1)), span_none());
    const Stmt *second = stmt_for_serial(ctx, j, NULL, let, store(a, let, real(2)), span_none());
    expect_body(a, seq(first, second), "    x = T.int32()\n    for i in range(T.Let(x + 1, where={x: 3})):\n        A[i] = T.float32(1.0)\n"
                                       "    x_1 = T.int32()\n    for j in range(T.Let(x_1 + 1, where={x_1: 3})):\n"
                                       "        x_2 = T.int32()\n        A[T.Let(x_2 + 1, where={x_2: 3})] = T.float32(2.0)\n");
    expect_expr(load(a, expr_ramp(ctx, let, num(1), 4)), "A[T.Ramp(T.Let(x + 1, where={x: 3}), 1, 4)]");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_constants),
        TEST(test_floats),
        TEST(test_parentheses),
        TEST(test_operators_that_would_not_read_back),
        TEST(test_calls),
        TEST(test_vectors),
        TEST(test_regions),
        TEST(test_loops),
        TEST(test_branches),
        TEST(test_lets),
        TEST(test_allocations),
        TEST(test_attributes),
        TEST(test_blocks),
        TEST(test_root_blocks),
        TEST(test_buffer_parameters),
        TEST(test_zero_offset_with_factor),
        TEST(test_function_attributes),
        TEST(test_modules),
        TEST(test_names),
        TEST(test_suffixes),
        TEST(test_undefined_variable),
        TEST(test_let_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
