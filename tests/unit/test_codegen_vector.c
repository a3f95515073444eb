/* Vectors: every shape of access at odd and large lane counts, masks, laziness lane by lane, slices of wide stores, and that explicit
   vectors become vector instructions. */
#include "tests/unit/codegen_helpers.h"

static const int lane_counts[] = {2, 3, 5, 16, 17, 64, 100, 1024};
enum { LANE_COUNTS = 8, SPACE = 4200 };
/* An index far outside of every buffer: a load there would end the test. */
static const int64_t far_away = INT64_C(1) << 40;

/* One function (A, B, I, C) -> C per test, over buffers of SPACE elements. */
typedef struct {
    Context *ctx;
    Maker maker;
    Buffer *a, *b, *indices, *c;
    int32_t a_values[SPACE], b_values[SPACE], index_values[SPACE], c_values[SPACE];
} Bench;

static Bench *bench_new(void)
{
    Context *ctx = context_new();
    Bench *bench = ARENA_NEW(ctx->arena, Bench);
    bench->ctx = ctx;
    bench->maker = maker_new(ctx, "f");
    bench->a = maker_buffer(&bench->maker, "A", DTYPE_INT32, SPACE);
    bench->b = maker_buffer(&bench->maker, "B", DTYPE_INT32, SPACE);
    bench->indices = maker_buffer(&bench->maker, "I", DTYPE_INT32, SPACE);
    bench->c = maker_buffer(&bench->maker, "C", DTYPE_INT32, SPACE);
    for (int i = 0; i < SPACE; i++) {
        bench->a_values[i] = i * 7 % 1000 - 300;
        bench->b_values[i] = i * 13 % 500;
        bench->index_values[i] = i * 31 % SPACE;
        bench->c_values[i] = -1;
    }
    return bench;
}

static void bench_run(Bench *bench, const Stmt *body)
{
    JitArg args[] = {
        {.pointer = bench->a_values}, {.pointer = bench->b_values}, {.pointer = bench->index_values}, {.pointer = bench->c_values}};
    assert_int_equal(run(bench->ctx, maker_func(&bench->maker, body), args, NULL), 0);
}

static void bench_free(Bench *bench)
{
    context_free(bench->ctx);
}

static const Expr *masked_load_at(Context *ctx, Buffer *buffer, const Expr *index, const Expr *mask)
{
    return expr_load(ctx, buffer, &index, 1, mask, span_none());
}

static const Stmt *masked_store_at(Context *ctx, Buffer *buffer, const Expr *index, const Expr *value, const Expr *mask)
{
    return stmt_store(ctx, buffer, &index, 1, value, mask, span_none());
}

static const Expr *splat(Context *ctx, int64_t value, int lanes)
{
    return expr_broadcast(ctx, int32(ctx, value), lanes);
}

/* True in the first COUNT lanes of LANES. */
static const Expr *first_lanes(Context *ctx, int count, int lanes)
{
    return expr_binary(ctx, EXPR_LT, ramp(ctx, int32(ctx, 0), 1, lanes), splat(ctx, count, lanes));
}

/* --- Shapes of access --- */

static void test_contiguous(void **state)
{
    (void)state;
    for (int k = 0; k < LANE_COUNTS; k++) {
        Bench *bench = bench_new();
        Context *ctx = bench->ctx;
        int lanes = lane_counts[k];
        const Expr *from = ramp(ctx, int32(ctx, 3), 1, lanes), *to = ramp(ctx, int32(ctx, 1), 1, lanes);
        bench_run(bench, store_at(ctx, bench->c, to, op_add(ctx, load_at(ctx, bench->a, from), load_at(ctx, bench->b, to))));
        for (int i = 0; i < SPACE; i++)
            assert_int_equal(bench->c_values[i], i >= 1 && i < lanes + 1 ? bench->a_values[i + 2] + bench->b_values[i] : -1);
        bench_free(bench);
    }
}

static void test_masked(void **state)
{
    (void)state;
    for (int k = 0; k < LANE_COUNTS; k++) {
        Bench *bench = bench_new();
        Context *ctx = bench->ctx;
        int lanes = lane_counts[k], active = lanes * 2 / 3;
        const Expr *at = ramp(ctx, int32(ctx, 0), 1, lanes), *mask = first_lanes(ctx, active, lanes);
        const Expr *sum = op_add(ctx, masked_load_at(ctx, bench->a, at, mask), splat(ctx, 1, lanes));
        bench_run(bench, masked_store_at(ctx, bench->c, at, sum, mask));
        for (int i = 0; i < SPACE; i++)
            assert_int_equal(bench->c_values[i], i < active ? bench->a_values[i] + 1 : -1);
        bench_free(bench);
    }
}

static void test_strides(void **state)
{
    (void)state;
    static const int strides[] = {-1, -2, 2, 3, 4, 7};
    for (int k = 0; k < LANE_COUNTS; k++)
        for (int s = 0; s < 6; s++) {
            Bench *bench = bench_new();
            Context *ctx = bench->ctx;
            int lanes = lane_counts[k] > 100 ? 500 : lane_counts[k], stride = strides[s], start = stride < 0 ? -stride * (lanes - 1) : 0;
            const Expr *strided = ramp(ctx, int32(ctx, start), stride, lanes), *plain = ramp(ctx, int32(ctx, 0), 1, lanes);
            const Stmt *parts[] = {store_at(ctx, bench->c, strided, load_at(ctx, bench->a, plain)),
                                   store_at(ctx, bench->b, plain, load_at(ctx, bench->a, strided))};
            bench_run(bench, stmt_seq(ctx, parts, 2));
            for (int i = 0; i < lanes; i++) {
                assert_int_equal(bench->c_values[start + i * stride], bench->a_values[i]);
                assert_int_equal(bench->b_values[i], bench->a_values[start + i * stride]);
            }
            bench_free(bench);
        }
}

static void test_masked_strides(void **state)
{
    (void)state;
    static const int strides[] = {-1, 2, 5};
    for (int s = 0; s < 3; s++) {
        Bench *bench = bench_new();
        Context *ctx = bench->ctx;
        int lanes = 17, active = 11, stride = strides[s], start = stride < 0 ? -stride * (lanes - 1) : 0;
        const Expr *at = ramp(ctx, int32(ctx, start), stride, lanes), *mask = first_lanes(ctx, active, lanes);
        bench_run(bench, masked_store_at(ctx, bench->c, at, masked_load_at(ctx, bench->a, at, mask), mask));
        for (int i = 0; i < lanes; i++)
            assert_int_equal(bench->c_values[start + i * stride], i < active ? bench->a_values[start + i * stride] : -1);
        bench_free(bench);
    }
}

static void test_gather_and_scatter(void **state)
{
    (void)state;
    for (int k = 0; k < LANE_COUNTS; k++) {
        Bench *bench = bench_new();
        Context *ctx = bench->ctx;
        int lanes = lane_counts[k] > 100 ? 128 : lane_counts[k];
        const Expr *at = ramp(ctx, int32(ctx, 0), 1, lanes), *picked = load_at(ctx, bench->indices, at);
        const Stmt *parts[] = {store_at(ctx, bench->b, at, load_at(ctx, bench->a, picked)),
                               store_at(ctx, bench->c, picked, load_at(ctx, bench->a, at))};
        bench_run(bench, stmt_seq(ctx, parts, 2));
        for (int i = 0; i < lanes; i++) {
            assert_int_equal(bench->b_values[i], bench->a_values[i * 31 % SPACE]);
            assert_int_equal(bench->c_values[i * 31 % SPACE], bench->a_values[i]);
        }
        bench_free(bench);
    }
}

/* All lanes one element: the last lane that is active stays. */
static void test_uniform(void **state)
{
    (void)state;
    Bench *bench = bench_new();
    Context *ctx = bench->ctx;
    int lanes = 5;
    const Expr *at = ramp(ctx, int32(ctx, 0), 1, lanes), *one = splat(ctx, 9, lanes);
    const Stmt *parts[] = {store_at(ctx, bench->b, at, load_at(ctx, bench->a, one)),
                           store_at(ctx, bench->c, one, load_at(ctx, bench->a, at)),
                           masked_store_at(ctx, bench->c, splat(ctx, 20, lanes), load_at(ctx, bench->a, at), first_lanes(ctx, 3, lanes))};
    bench_run(bench, stmt_seq(ctx, parts, 3));
    for (int i = 0; i < lanes; i++)
        assert_int_equal(bench->b_values[i], bench->a_values[9]);
    assert_int_equal(bench->c_values[9], bench->a_values[4]);
    assert_int_equal(bench->c_values[20], bench->a_values[2]);
    bench_free(bench);
}

/* Sums of ramps and broadcasts are recognized as ramps. */
static void test_composed_indices(void **state)
{
    (void)state;
    Bench *bench = bench_new();
    Context *ctx = bench->ctx;
    const Expr *lane = ramp(ctx, int32(ctx, 0), 1, 8);
    const Expr *index = op_add(ctx, op_mul(ctx, lane, splat(ctx, 3, 8)), splat(ctx, 10, 8));
    const Expr *minus = expr_binary(ctx, EXPR_SUB, splat(ctx, 40, 8), lane);
    const Stmt *parts[] = {store_at(ctx, bench->c, lane, load_at(ctx, bench->a, index)),
                           store_at(ctx, bench->b, lane, load_at(ctx, bench->a, minus))};
    bench_run(bench, stmt_seq(ctx, parts, 2));
    for (int i = 0; i < 8; i++) {
        assert_int_equal(bench->c_values[i], bench->a_values[10 + 3 * i]);
        assert_int_equal(bench->b_values[i], bench->a_values[40 - i]);
    }
    bench_free(bench);
}

/* --- Vectors of vectors --- */

static void test_nested_ramps_and_broadcasts(void **state)
{
    (void)state;
    Bench *bench = bench_new();
    Context *ctx = bench->ctx;
    const Expr *inner = ramp(ctx, int32(ctx, 0), 1, 3), *all = ramp(ctx, int32(ctx, 0), 1, 12);
    const Expr *grid = expr_ramp(ctx, inner, splat(ctx, 10, 3), 12), *repeated = expr_broadcast(ctx, inner, 4);
    const Stmt *parts[] = {store_at(ctx, bench->c, all, load_at(ctx, bench->a, grid)), store_at(ctx, bench->b, all, repeated)};
    bench_run(bench, stmt_seq(ctx, parts, 2));
    for (int i = 0; i < 12; i++) {
        assert_int_equal(bench->c_values[i], bench->a_values[i % 3 + i / 3 * 10]);
        assert_int_equal(bench->b_values[i], i % 3);
    }
    bench_free(bench);
}

static void test_shuffle(void **state)
{
    (void)state;
    Bench *bench = bench_new();
    Context *ctx = bench->ctx;
    const Expr *first = load_at(ctx, bench->a, ramp(ctx, int32(ctx, 0), 1, 4)),
               *second = load_at(ctx, bench->b, ramp(ctx, int32(ctx, 0), 1, 2));
    const Expr *args[] = {first, second, int32(ctx, 5), int32(ctx, 0), int32(ctx, 3), int32(ctx, 4), int32(ctx, 0)};
    const Expr *picked = expr_shuffle(ctx, dtype_with_lanes(DTYPE_INT32, 5), args, 7, 2);
    const Expr *one[] = {first, load_at(ctx, bench->indices, int32(ctx, 0))};
    const Stmt *parts[] = {store_at(ctx, bench->c, ramp(ctx, int32(ctx, 0), 1, 5), picked),
                           store_at(ctx, bench->c, int32(ctx, 5), expr_shuffle(ctx, DTYPE_INT32, one, 2, 1))};
    bench->index_values[0] = 2;
    bench_run(bench, stmt_seq(ctx, parts, 2));
    static const int from_b[] = {1, 0, 0, 1, 0}, lane[] = {1, 0, 3, 0, 0};
    for (int i = 0; i < 5; i++)
        assert_int_equal(bench->c_values[i], from_b[i] ? bench->b_values[lane[i]] : bench->a_values[lane[i]]);
    assert_int_equal(bench->c_values[5], bench->a_values[2]);
    bench_free(bench);
}

/* --- Laziness --- */

static const Expr *far_lane_index(Context *ctx, const Expr *guard, const Expr *index)
{
    DType wide = dtype_with_lanes(DTYPE_INT64, index->dtype.lanes);
    const Expr *far = expr_broadcast(ctx, expr_int(ctx, DTYPE_INT64, far_away), index->dtype.lanes);
    return expr_select(ctx, guard, expr_cast(ctx, wide, index), far);
}

/* Lanes whose condition is false must not load. */
static void test_lazy_if_then_else(void **state)
{
    (void)state;
    for (int k = 0; k < LANE_COUNTS; k++) {
        Bench *bench = bench_new();
        Context *ctx = bench->ctx;
        int lanes = lane_counts[k] > 100 ? 100 : lane_counts[k], active = lanes / 2;
        const Expr *at = ramp(ctx, int32(ctx, 0), 1, lanes), *guard = first_lanes(ctx, active, lanes);
        const Expr *value =
            call(ctx, at->dtype, OP_IF_THEN_ELSE, 3, guard, load_at(ctx, bench->a, far_lane_index(ctx, guard, at)), splat(ctx, 77, lanes));
        const Expr *inverse = call(ctx, at->dtype, OP_IF_THEN_ELSE, 3, expr_not(ctx, guard), splat(ctx, 77, lanes),
                                   load_at(ctx, bench->a, far_lane_index(ctx, guard, at)));
        const Stmt *parts[] = {store_at(ctx, bench->c, at, value), store_at(ctx, bench->b, at, inverse)};
        bench_run(bench, stmt_seq(ctx, parts, 2));
        for (int i = 0; i < lanes; i++) {
            assert_int_equal(bench->c_values[i], i < active ? bench->a_values[i] : 77);
            assert_int_equal(bench->b_values[i], i < active ? bench->a_values[i] : 77);
        }
        bench_free(bench);
    }
}

/* A contiguous load under a condition: what lies behind the buffer's end is not touched either. */
static void test_lazy_contiguous_load(void **state)
{
    (void)state;
    Bench *bench = bench_new();
    Context *ctx = bench->ctx;
    Var *base = maker_scalar(&bench->maker, "base", DTYPE_INT64);
    const Expr *at = ramp(ctx, int32(ctx, 0), 1, 8), *never = first_lanes(ctx, 0, 8);
    const Expr *value =
        call(ctx, at->dtype, OP_IF_THEN_ELSE, 3, never, load_at(ctx, bench->a, ramp(ctx, expr_var(ctx, base), 1, 8)), splat(ctx, 5, 8));
    JitArg args[] = {{.pointer = bench->a_values},
                     {.pointer = bench->b_values},
                     {.pointer = bench->index_values},
                     {.pointer = bench->c_values},
                     {.integer = far_away}};
    assert_int_equal(run(ctx, maker_func(&bench->maker, store_at(ctx, bench->c, at, value)), args, NULL), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(bench->c_values[i], 5);
    bench_free(bench);
}

static void test_lazy_and_or(void **state)
{
    (void)state;
    Bench *bench = bench_new();
    Context *ctx = bench->ctx;
    int lanes = 12;
    const Expr *at = ramp(ctx, int32(ctx, 0), 1, lanes), *guard = first_lanes(ctx, 7, lanes);
    const Expr *positive = expr_binary(ctx, EXPR_GT, load_at(ctx, bench->a, far_lane_index(ctx, guard, at)), splat(ctx, -280, lanes));
    const Expr *both = expr_binary(ctx, EXPR_AND, guard, positive), *either = expr_binary(ctx, EXPR_OR, expr_not(ctx, guard), positive);
    const Stmt *parts[] = {store_at(ctx, bench->c, at, expr_cast(ctx, at->dtype, both)),
                           store_at(ctx, bench->b, at, expr_cast(ctx, at->dtype, either))};
    bench_run(bench, stmt_seq(ctx, parts, 2));
    for (int i = 0; i < lanes; i++) {
        assert_int_equal(bench->c_values[i], i < 7 && bench->a_values[i] > -280);
        assert_int_equal(bench->b_values[i], i >= 7 || bench->a_values[i] > -280);
    }
    bench_free(bench);
}

/* A scalar load inside of a vector operand happens only if some lane needs it. */
static void test_lazy_broadcast(void **state)
{
    (void)state;
    for (int needed = 0; needed < 2; needed++) {
        Bench *bench = bench_new();
        Context *ctx = bench->ctx;
        const Expr *at = ramp(ctx, int32(ctx, 0), 1, 6), *guard = first_lanes(ctx, needed * 2, 6);
        const Expr *scalar = load_at(ctx, bench->a, expr_int(ctx, DTYPE_INT64, needed ? 3 : far_away));
        const Expr *value = call(ctx, at->dtype, OP_IF_THEN_ELSE, 3, guard, expr_broadcast(ctx, scalar, 6), splat(ctx, 8, 6));
        bench_run(bench, store_at(ctx, bench->c, at, value));
        for (int i = 0; i < 6; i++)
            assert_int_equal(bench->c_values[i], needed && i < 2 ? bench->a_values[3] : 8);
        bench_free(bench);
    }
}

static void test_lazy_scalars(void **state)
{
    (void)state;
    Bench *bench = bench_new();
    Context *ctx = bench->ctx;
    Var *i = index_var(ctx, "i");
    const Expr *at = expr_var(ctx, i), *guard = expr_binary(ctx, EXPR_LT, at, int32(ctx, 5));
    const Expr *index = expr_select(ctx, guard, expr_cast(ctx, DTYPE_INT64, at), expr_int(ctx, DTYPE_INT64, far_away));
    const Expr *load = load_at(ctx, bench->a, index), *positive = expr_binary(ctx, EXPR_GT, load, int32(ctx, -280));
    const Expr *value = op_add(ctx, call(ctx, DTYPE_INT32, OP_IF_THEN_ELSE, 3, guard, load, int32(ctx, 1000)),
                               expr_cast(ctx, DTYPE_INT32, expr_binary(ctx, EXPR_AND, guard, positive)));
    bench_run(bench, loop(ctx, i, int32(ctx, 10), store_at(ctx, bench->c, at, value)));
    for (int k = 0; k < 10; k++)
        assert_int_equal(bench->c_values[k], k < 5 ? bench->a_values[k] + (bench->a_values[k] > -280) : 1000);
    bench_free(bench);
}

/* --- Wide stores --- */

/* A[1:] = A[:-1] reads everything before it writes: no slices. A = A + B in place may be sliced. */
static void test_overlapping_wide_store(void **state)
{
    (void)state;
    Bench *bench = bench_new();
    Context *ctx = bench->ctx;
    int lanes = 1000, original[SPACE];
    memcpy(original, bench->a_values, sizeof original);
    const Expr *from = ramp(ctx, int32(ctx, 0), 1, lanes), *to = ramp(ctx, int32(ctx, 1), 1, lanes),
               *at = ramp(ctx, int32(ctx, 2000), 1, lanes);
    const Stmt *parts[] = {store_at(ctx, bench->a, to, load_at(ctx, bench->a, from)),
                           store_at(ctx, bench->a, at, op_add(ctx, load_at(ctx, bench->a, at), load_at(ctx, bench->b, at)))};
    bench_run(bench, stmt_seq(ctx, parts, 2));
    for (int i = 0; i < lanes; i++) {
        assert_int_equal(bench->a_values[i + 1], original[i]);
        assert_int_equal(bench->a_values[2000 + i], original[2000 + i] + bench->b_values[2000 + i]);
    }
    bench_free(bench);
}

/* Slices of everything that a wide value can be made of. */
static void test_wide_expressions(void **state)
{
    (void)state;
    Bench *bench = bench_new();
    Context *ctx = bench->ctx;
    int lanes = 700;
    DType wide = dtype_with_lanes(DTYPE_INT32, lanes);
    Var *v = var_new(ctx, context_intern(ctx, "v"), wide, span_none()), *w = var_new(ctx, context_intern(ctx, "w"), wide, span_none());
    const Expr *at = ramp(ctx, int32(ctx, 0), 1, lanes),
               *even = expr_binary(ctx, EXPR_EQ, op_floormod(ctx, at, splat(ctx, 2, lanes)), splat(ctx, 0, lanes));
    const Expr *value = expr_select(ctx, even, load_at(ctx, bench->a, at), expr_let(ctx, w, load_at(ctx, bench->b, at), expr_var(ctx, w)));
    value = op_add(ctx, value, expr_var(ctx, v));
    value = call(ctx, wide, OP_BITWISE_XOR, 2, value, expr_broadcast(ctx, ramp(ctx, int32(ctx, 0), 1, 7), 100));
    value = call(ctx, wide, OP_IF_THEN_ELSE, 3, even, value,
                 expr_cast(ctx, wide, expr_cast(ctx, dtype_with_lanes(DTYPE_FLOAT32, lanes), value)));
    const Stmt *body = masked_store_at(ctx, bench->c, at, value, first_lanes(ctx, 650, lanes));
    bench_run(bench, stmt_let(ctx, v, load_at(ctx, bench->indices, at), body, span_none()));
    for (int i = 0; i < lanes; i++)
        assert_int_equal(bench->c_values[i], i < 650 ? ((i % 2 ? bench->b_values[i] : bench->a_values[i]) + i * 31 % SPACE) ^ i % 7 : -1);
    bench_free(bench);
}

/* --- Other element types --- */

static void test_bool_and_byte_vectors(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    DType int8;
    assert_true(dtype_parse("int8", &int8));
    Buffer *bytes = maker_buffer(&maker, "A", int8, 17), *flags = maker_buffer(&maker, "B", DTYPE_BOOL, 17);
    const Expr *at = ramp(ctx, int32(ctx, 0), 1, 17), *zero = expr_broadcast(ctx, expr_int(ctx, int8, 0), 17);
    const Stmt *parts[] = {
        store_at(ctx, flags, at, expr_binary(ctx, EXPR_LT, load_at(ctx, bytes, at), zero)),
        store_at(ctx, bytes, at, expr_cast(ctx, zero->dtype, expr_not(ctx, load_at(ctx, flags, at)))),
    };
    int8_t a[17];
    uint8_t b[18];
    memset(b, 9, sizeof b);
    for (int i = 0; i < 17; i++)
        a[i] = (int8_t)(i * 50);
    int8_t original[17];
    memcpy(original, a, sizeof a);
    JitArg args[] = {{.pointer = a}, {.pointer = b}};
    assert_int_equal(run(ctx, maker_func(&maker, stmt_seq(ctx, parts, 2)), args, NULL), 0);
    for (int i = 0; i < 17; i++) {
        assert_int_equal(b[i], original[i] < 0);
        assert_int_equal(a[i], original[i] >= 0);
    }
    assert_int_equal(b[17], 9);
    context_free(ctx);
}

static void test_vector_elements(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    DType quad = dtype_with_lanes(DTYPE_FLOAT32, 4);
    Buffer *a = maker_buffer(&maker, "A", quad, 6), *b = maker_buffer(&maker, "B", quad, 6);
    const Stmt *parts[] = {store_at(ctx, b, int32(ctx, 1), load_at(ctx, a, int32(ctx, 2))),
                           store_at(ctx, b, ramp(ctx, int32(ctx, 2), 1, 3), load_at(ctx, a, ramp(ctx, int32(ctx, 0), 1, 3)))};
    float from[24], to[24] = {0};
    for (int i = 0; i < 24; i++)
        from[i] = (float)i;
    JitArg args[] = {{.pointer = from}, {.pointer = to}};
    assert_int_equal(run(ctx, maker_func(&maker, stmt_seq(ctx, parts, 2)), args, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_true(to[4 + i] == from[8 + i]);
    for (int i = 0; i < 12; i++)
        assert_true(to[8 + i] == from[i]);
    context_free(ctx);
}

/* --- The code --- */

static const char *assembly_of(Context *ctx, const Func *func, const char *target, const char *cpu)
{
    CodegenOptions options = codegen_default_options();
    options.target = target;
    options.cpu = cpu;
    CodegenOutput out;
    require_ok(ctx, backend_find(NULL)->compile(ctx, module_of(ctx, &func, 1), &options, 1u << EMIT_ASSEMBLY, &out));
    return out.bytes[EMIT_ASSEMBLY].data;
}

/* Accumulators in a local buffer with constant indices stay in registers over the whole loop. */
static void test_vector_code(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *a = maker_buffer(&maker, "A", DTYPE_FLOAT32, 1024), *b = maker_buffer(&maker, "B", DTYPE_FLOAT32, 16 * 1024),
           *c = maker_buffer(&maker, "C", DTYPE_FLOAT32, 16);
    const Expr *extent = int32(ctx, 16), *lanes = ramp(ctx, int32(ctx, 0), 1, 16);
    Buffer *sum = buffer_new(ctx, context_intern(ctx, "sum"), DTYPE_FLOAT32, 1, &extent, context_intern(ctx, "local"), span_none());
    Var *k = index_var(ctx, "k");
    const Expr *row = load_at(ctx, b, ramp(ctx, op_mul_int(ctx, expr_var(ctx, k), 16), 1, 16));
    const Expr *product = op_mul(ctx, expr_broadcast(ctx, load_at(ctx, a, expr_var(ctx, k)), 16), row);
    const Stmt *parts[] = {
        store_at(ctx, sum, lanes, expr_broadcast(ctx, expr_float(ctx, DTYPE_FLOAT32, 0), 16)),
        loop(ctx, k, int32(ctx, 1024), store_at(ctx, sum, lanes, op_add(ctx, load_at(ctx, sum, lanes), product))),
        store_at(ctx, c, lanes, load_at(ctx, sum, lanes)),
    };
    Stmt allocate = {.kind = STMT_ALLOCATE};
    allocate.as.allocate.var = sum->data;
    allocate.as.allocate.dtype = DTYPE_FLOAT32;
    allocate.as.allocate.extents = &extent;
    allocate.as.allocate.extent_count = 1;
    allocate.as.allocate.scope = sum->scope;
    allocate.as.allocate.condition = expr_bool(ctx, true);
    allocate.as.allocate.body = stmt_seq(ctx, parts, 3);
    const Func *func = maker_func(&maker, stmt_new(ctx, &allocate));
    const char *text = assembly_of(ctx, func, "x86_64-linux-gnu", "skylake-avx512");
    assert_non_null(strstr(text, "zmm"));
    assert_non_null(strstr(text, "vfmadd"));
    assert_null(strstr(text, "rsp"));
    assert_non_null(strstr(assembly_of(ctx, func, "aarch64-linux-gnu", NULL), "fmla"));
    assert_non_null(strstr(assembly_of(ctx, func, "x86_64-linux-gnu", NULL), "mulps"));
    context_free(ctx);
}

/* --- Refusals --- */

static void test_refusals(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *a = maker_buffer(&maker, "A", DTYPE_INT32, 64);
    const Expr *at = ramp(ctx, int32(ctx, 0), 1, 8), *half = load_at(ctx, a, ramp(ctx, int32(ctx, 0), 1, 4));
    const Expr *value = call(ctx, at->dtype, OP_IF_THEN_ELSE, 3, first_lanes(ctx, 3, 8), expr_broadcast(ctx, half, 2), splat(ctx, 0, 8));
    assert_string_equal(refusal(ctx, maker_func(&maker, store_at(ctx, a, at, value)), NULL),
                        "a vector of 4 lanes that is only needed where a condition over 8 lanes holds cannot be compiled");
    const Expr *out[] = {half, int32(ctx, 4)};
    assert_string_equal(refusal(ctx, maker_func(&maker, store_at(ctx, a, int32(ctx, 0), expr_shuffle(ctx, DTYPE_INT32, out, 2, 1))), NULL),
                        "a Shuffle index is out of range");
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contiguous),          cmocka_unit_test(test_masked),
        cmocka_unit_test(test_strides),             cmocka_unit_test(test_masked_strides),
        cmocka_unit_test(test_gather_and_scatter),  cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_composed_indices),    cmocka_unit_test(test_nested_ramps_and_broadcasts),
        cmocka_unit_test(test_shuffle),             cmocka_unit_test(test_lazy_if_then_else),
        cmocka_unit_test(test_lazy_contiguous_load), cmocka_unit_test(test_lazy_and_or),
        cmocka_unit_test(test_lazy_broadcast),      cmocka_unit_test(test_lazy_scalars),
        cmocka_unit_test(test_overlapping_wide_store), cmocka_unit_test(test_wide_expressions),
        cmocka_unit_test(test_bool_and_byte_vectors), cmocka_unit_test(test_vector_elements),
        cmocka_unit_test(test_vector_code),         cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("codegen_vector", tests, NULL, NULL);
}
