/* Operations (T.exp, T.popcount, ...) compiled for scalars and vectors and compared with libm and with definitions written here. */
#include "tests/unit/codegen_helpers.h"

#include <math.h>

#include "interp/interp.h"

enum { SAMPLES = 16, LANES = 5 };

static DType type_of(const char *name)
{
    DType dtype;
    assert_true(dtype_parse(name, &dtype));
    return dtype;
}

/* --- Elementary functions --- */

typedef struct {
    Op op;
    double (*function)(double);
    double low, high;
} UnaryCase;

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static const UnaryCase unary_cases[] = {
    {OP_EXP, exp, -8, 8},       {OP_EXP2, exp2, -8, 8},       {OP_EXP10, exp10, -4, 4},    {OP_LOG, log, 0.1, 50},
    {OP_LOG2, log2, 0.1, 50},   {OP_LOG10, log10, 0.1, 50},   {OP_LOG1P, log1p, -0.5, 50}, {OP_SQRT, sqrt, 0, 50},
    {OP_RSQRT, rsqrt, 0.1, 9},  {OP_SIN, sin, -5, 5},         {OP_COS, cos, -5, 5},        {OP_TAN, tan, -1.4, 1.4},
    {OP_SINH, sinh, -4, 4},     {OP_COSH, cosh, -4, 4},       {OP_TANH, tanh, -4, 4},      {OP_ASIN, asin, -1, 1},
    {OP_ACOS, acos, -1, 1},     {OP_ATAN, atan, -9, 9},       {OP_ASINH, asinh, -9, 9},    {OP_ACOSH, acosh, 1, 9},
    {OP_ATANH, atanh, -.9, .9}, {OP_SIGMOID, sigmoid, -6, 6}, {OP_ERF, erf, -2, 2},        {OP_FABS, fabs, -3, 3},
    {OP_FLOOR, floor, -4, 4},   {OP_CEIL, ceil, -4, 4},       {OP_ROUND, round, -4, 4},    {OP_NEARBYINT, nearbyint, -4, 4},
    {OP_TRUNC, trunc, -4, 4},
};
enum { UNARY_CASES = sizeof unary_cases / sizeof *unary_cases };

/* The unit in the last place of VALUE in DTYPE. */
static double unit_of(DType dtype, double value)
{
    int precision = dtype.code == DT_BFLOAT ? 8 : dtype.bits == 16 ? 11 : dtype.bits == 32 ? 24 : 53, exponent;
    frexp(value, &exponent);
    int least = dtype.code == DT_BFLOAT || dtype.bits == 32 ? -126 : dtype.bits == 16 ? -14 : -1022;
    return ldexp(1, (exponent - 1 < least ? least : exponent - 1) - precision + 1);
}

/* B[i] = op(A[i]) over all samples: the first LANES as a vector, the rest one by one. */
static const Func *unary_func(Context *ctx, Op op, DType dtype, const char *name)
{
    Maker maker = maker_new(ctx, name);
    Buffer *a = maker_buffer(&maker, "A", dtype, SAMPLES), *b = maker_buffer(&maker, "B", dtype, SAMPLES);
    Var *i = index_var(ctx, "i");
    const Expr *lanes = ramp(ctx, int32(ctx, 0), 1, LANES), *single = op_add_int(ctx, expr_var(ctx, i), LANES);
    const Stmt *parts[] = {
        store_at(ctx, b, lanes, call(ctx, dtype_with_lanes(dtype, LANES), op, 1, load_at(ctx, a, lanes))),
        loop(ctx, i, int32(ctx, SAMPLES - LANES), store_at(ctx, b, single, call(ctx, dtype, op, 1, load_at(ctx, a, single)))),
    };
    return maker_func(&maker, stmt_seq(ctx, parts, 2));
}

static void check_unary(Context *ctx, Jit *jit, DType dtype, const UnaryCase *unary, const char *name, double units)
{
    uint8_t source[SAMPLES * 8], result[SAMPLES * 8];
    double values[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        double step = (unary->high - unary->low) / (SAMPLES - 1);
        values[i] = dtype_round_float(dtype, i % 4 == 3 && unary->low < 0 ? (int)(unary->low + i * step) + 0.5 : unary->low + i * step);
        if (unary->op == OP_ACOSH && values[i] < 1)
            values[i] = 1;
        interp_write_real(dtype, source + i * dtype_bytes(dtype), values[i]);
    }
    JitArg args[] = {{.pointer = source}, {.pointer = result}};
    assert_int_equal(find(ctx, jit, name)(args), 0);
    for (int i = 0; i < SAMPLES; i++) {
        double got = interp_read_real(dtype, result + i * dtype_bytes(dtype)), want = unary->function(values[i]);
        if (!(fabs(got - want) <= units * unit_of(dtype, want)) && !(isnan(got) && isnan(want)))
            fail_msg("%s(%g) in %s gives %.17g, not %.17g", op_info(unary->op)->name, values[i], dtype_name(ctx, dtype), got, want);
    }
}

static void check_unary_type(const char *type, bool wide)
{
    Context *ctx = context_new();
    DType dtype = type_of(type);
    const Func *funcs[UNARY_CASES];
    for (int i = 0; i < UNARY_CASES; i++)
        funcs[i] = unary_func(ctx, unary_cases[i].op, dtype, context_internf(ctx, "f%d", i));
    CodegenOptions options = codegen_default_options();
    options.opt_level = 1;
    options.wide_math = wide;
    Jit *jit = jit_with(ctx, funcs, UNARY_CASES, &options);
    for (int i = 0; i < UNARY_CASES; i++)
        check_unary(ctx, jit, dtype, &unary_cases[i], funcs[i]->name, wide ? 0.5 : 4);
    jit_close(jit);
    context_free(ctx);
}

static void test_unary_functions(void **state)
{
    (void)state;
    check_unary_type("float16", false);
    check_unary_type("bfloat16", false);
    check_unary_type("float32", false);
    check_unary_type("float64", false);
    check_unary_type("float32", true);
    check_unary_type("float16", true);
}

/* --- Several arguments --- */

/* C[i] = op(A[i], B[i]) of type RESULT over COUNT elements. */
static void run_binary(Op op, DType a_type, DType b_type, DType result_type, int count, void *a, void *b, void *result)
{
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *first = maker_buffer(&maker, "A", a_type, count), *second = maker_buffer(&maker, "B", b_type, count);
    Buffer *out = maker_buffer(&maker, "C", result_type, count);
    Var *i = index_var(ctx, "i");
    const Expr *at = expr_var(ctx, i), *value = call(ctx, result_type, op, 2, load_at(ctx, first, at), load_at(ctx, second, at));
    JitArg args[] = {{.pointer = a}, {.pointer = b}, {.pointer = result}};
    assert_int_equal(run(ctx, maker_func(&maker, loop(ctx, i, int32(ctx, count), store_at(ctx, out, at, value))), args, NULL), 0);
    context_free(ctx);
}

static void test_binary_functions(void **state)
{
    (void)state;
    static const struct {
        Op op;
        double (*function)(double, double);
    } cases[] = {{OP_ATAN2, atan2}, {OP_POW, pow}, {OP_HYPOT, hypot}, {OP_COPYSIGN, copysign}, {OP_FMOD, fmod}, {OP_NEXTAFTER, nextafter}};
    double a[] = {1.5, 2, 0.25, 7.5, 3, 9}, b[] = {2.5, -1, 0.5, -2, 3, 0}, result[6];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        run_binary(cases[k].op, DTYPE_FLOAT64, DTYPE_FLOAT64, DTYPE_FLOAT64, 6, a, b, result);
        for (int i = 0; i < 6; i++) {
            double want = cases[k].function(a[i], b[i]);
            assert_true(fabs(result[i] - want) <= 2 * unit_of(DTYPE_FLOAT64, want) || (isnan(want) && isnan(result[i])));
        }
    }
}

static void test_nextafter(void **state)
{
    (void)state;
    float a[] = {0, -0.0f, 1, 1, -1, -1, INFINITY, 3.4028235e38f, 5, NAN, 1e-45f}, b[] = {1, -1, 2, 0, 0, -2, 0, INFINITY, 5, 1, 0},
          result[11];
    run_binary(OP_NEXTAFTER, DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT32, 11, a, b, result);
    for (int i = 0; i < 11; i++)
        assert_true(isnan(result[i]) ? isnan(nextafterf(a[i], b[i]))
                                     : result[i] == nextafterf(a[i], b[i]) && signbit(result[i]) == signbit(nextafterf(a[i], b[i])));
    uint16_t half_a[] = {0x3c00, 0x3c00, 0x0000, 0x7bff}, half_b[] = {0x4000, 0x0000, 0xbc00, 0x7c00}, half[4];
    DType type = type_of("float16");
    run_binary(OP_NEXTAFTER, type, type, type, 4, half_a, half_b, half);
    static const uint16_t half_expected[] = {0x3c01, 0x3bff, 0x8001, 0x7c00};
    assert_memory_equal(half, half_expected, sizeof half);
}

static void test_ldexp(void **state)
{
    (void)state;
    float a[] = {1.5f, -3, 1}, result[3], float_exponents[] = {3, -2, 10.7f};
    int32_t exponents[] = {3, -2, 10};
    run_binary(OP_LDEXP, DTYPE_FLOAT32, DTYPE_INT32, DTYPE_FLOAT32, 3, a, exponents, result);
    for (int i = 0; i < 3; i++)
        assert_true(result[i] == ldexpf(a[i], exponents[i]));
    run_binary(OP_LDEXP, DTYPE_FLOAT32, DTYPE_FLOAT32, DTYPE_FLOAT32, 3, a, float_exponents, result);
    for (int i = 0; i < 3; i++)
        assert_true(result[i] == ldexpf(a[i], exponents[i]));
}

static void test_integer_power(void **state)
{
    (void)state;
    int32_t a[] = {2, -3, 7, 0, 0, 1, -1, -1, 2, 2147483647, -2147483647 - 1}, b[] = {10, 3, 0, 0, -1, -5, -3, -4, -1, 2, 1}, result[11];
    static const int32_t expected[] = {1024, -27, 1, 1, 0, 1, -1, 1, 0, 1, -2147483647 - 1};
    run_binary(OP_POW, DTYPE_INT32, DTYPE_INT32, DTYPE_INT32, 11, a, b, result);
    assert_memory_equal(result, expected, sizeof result);
}

/* --- Bits --- */

static void test_shifts(void **state)
{
    (void)state;
    int32_t a[] = {1, -1, -8, 5, 1, -1, 7, 1}, count[] = {31, 31, 1, 0, 32, 32, -1, 100}, result[8];
    static const int32_t left[] = {-2147483647 - 1, -2147483647 - 1, -16, 5, 0, 0, 0, 0}, right[] = {0, -1, -4, 5, 0, -1, 0, 0};
    run_binary(OP_SHIFT_LEFT, DTYPE_INT32, DTYPE_INT32, DTYPE_INT32, 8, a, count, result);
    assert_memory_equal(result, left, sizeof result);
    run_binary(OP_SHIFT_RIGHT, DTYPE_INT32, DTYPE_INT32, DTYPE_INT32, 8, a, count, result);
    assert_memory_equal(result, right, sizeof result);
    uint8_t small[] = {0x81, 0xff, 3}, small_count[] = {1, 7, 8}, small_result[3];
    static const uint8_t small_right[] = {0x40, 1, 0};
    DType uint8 = type_of("uint8");
    run_binary(OP_SHIFT_RIGHT, uint8, uint8, uint8, 3, small, small_count, small_result);
    assert_memory_equal(small_result, small_right, sizeof small_result);
}

static void test_bit_operations(void **state)
{
    (void)state;
    uint32_t a[] = {0, 1, 0xffffffff, 0x12345678}, b[] = {5, 0xff, 0x0f0f0f0f, 0xffff}, result[4];
    DType uint32 = type_of("uint32");
    run_binary(OP_BITWISE_AND, uint32, uint32, uint32, 4, a, b, result);
    for (int i = 0; i < 4; i++)
        assert_int_equal(result[i], a[i] & b[i]);
    run_binary(OP_BITWISE_OR, uint32, uint32, uint32, 4, a, b, result);
    for (int i = 0; i < 4; i++)
        assert_int_equal(result[i], a[i] | b[i]);
    run_binary(OP_BITWISE_XOR, uint32, uint32, uint32, 4, a, b, result);
    for (int i = 0; i < 4; i++)
        assert_int_equal(result[i], a[i] ^ b[i]);
}

/* out[i] = op(A[i]) with the result type RESULT. */
static void run_unary(Op op, DType type, DType result_type, int count, void *a, void *result)
{
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *source = maker_buffer(&maker, "A", type, count), *out = maker_buffer(&maker, "B", result_type, count);
    Var *i = index_var(ctx, "i");
    const Expr *at = expr_var(ctx, i);
    JitArg args[] = {{.pointer = a}, {.pointer = result}};
    const Stmt *body = store_at(ctx, out, at, call(ctx, result_type, op, 1, load_at(ctx, source, at)));
    assert_int_equal(run(ctx, maker_func(&maker, loop(ctx, i, int32(ctx, count), body)), args, NULL), 0);
    context_free(ctx);
}

static void test_counting(void **state)
{
    (void)state;
    int32_t a[] = {0, 1, -1, 0x00f0, -2147483647 - 1}, result[5];
    static const int32_t bits[] = {0, 1, 32, 4, 1}, zeros[] = {32, 31, 0, 24, 0};
    run_unary(OP_POPCOUNT, DTYPE_INT32, DTYPE_INT32, 5, a, result);
    assert_memory_equal(result, bits, sizeof result);
    run_unary(OP_CLZ, DTYPE_INT32, DTYPE_INT32, 5, a, result);
    assert_memory_equal(result, zeros, sizeof result);
    int8_t small[] = {0, 1, -1};
    static const int32_t small_zeros[] = {8, 7, 0};
    run_unary(OP_CLZ, type_of("int8"), DTYPE_INT32, 3, small, result);
    assert_memory_equal(result, small_zeros, sizeof small_zeros);
    int64_t large[] = {1, -1};
    run_unary(OP_CLZ, DTYPE_INT64, DTYPE_INT32, 2, large, result);
    assert_int_equal(result[0], 63);
    assert_int_equal(result[1], 0);
}

static void test_integers_in_float_operations(void **state)
{
    (void)state;
    int32_t a[] = {-5, 5, -2147483647 - 1}, result[3];
    run_unary(OP_FABS, DTYPE_INT32, DTYPE_INT32, 3, a, result);
    assert_int_equal(result[0], 5);
    assert_int_equal(result[2], -2147483647 - 1);
    run_unary(OP_FLOOR, DTYPE_INT32, DTYPE_INT32, 3, a, result);
    assert_int_equal(result[0], -5);
    run_unary(OP_BITWISE_NOT, DTYPE_INT32, DTYPE_INT32, 3, a, result);
    assert_int_equal(result[0], 4);
}

static void test_classification(void **state)
{
    (void)state;
    float a[] = {1, NAN, INFINITY, -INFINITY, 1e-45f};
    uint8_t result[5];
    static const uint8_t nan[] = {0, 1, 0, 0, 0}, infinite[] = {0, 0, 1, 1, 0}, finite[] = {1, 0, 0, 0, 1};
    run_unary(OP_ISNAN, DTYPE_FLOAT32, DTYPE_BOOL, 5, a, result);
    assert_memory_equal(result, nan, 5);
    run_unary(OP_ISINF, DTYPE_FLOAT32, DTYPE_BOOL, 5, a, result);
    assert_memory_equal(result, infinite, 5);
    run_unary(OP_ISFINITE, DTYPE_FLOAT32, DTYPE_BOOL, 5, a, result);
    assert_memory_equal(result, finite, 5);
    uint16_t half[] = {0x7c00, 0x7e00, 0x3c00, 0x7bff, 0};
    static const uint8_t half_infinite[] = {1, 0, 0, 0, 0};
    run_unary(OP_ISINF, type_of("float16"), DTYPE_BOOL, 5, half, result);
    assert_memory_equal(result, half_infinite, 5);
}

static void test_reinterpret(void **state)
{
    (void)state;
    float a[] = {1, -2, NAN};
    int32_t bits[3];
    run_unary(OP_REINTERPRET, DTYPE_FLOAT32, DTYPE_INT32, 3, a, bits);
    assert_memory_equal(bits, a, sizeof a);
    uint16_t half[] = {0x3c00}, same[1];
    run_unary(OP_REINTERPRET, type_of("bfloat16"), type_of("float16"), 1, half, same);
    assert_int_equal(same[0], 0x3c00);
}

/* --- Fixed point --- */

static int32_t expected_multiply_shift(int64_t x, int64_t y, int q, int s)
{
    int64_t left = s > 0 ? s : 0, right = (s < 0 ? -s : 0) + q;
    return (int32_t)((x * (INT64_C(1) << left) * y + (INT64_C(1) << (right - 1))) >> right);
}

static void test_multiply_shift(void **state)
{
    (void)state;
    static const int32_t multipliers[] = {1 << 30, 1395864371, 1}, shifts[] = {-3, -1, 0, 1, 2, 5};
    int32_t a[] = {0, 1, -1, 2, -2, 7, -7, 100, 12345, -54321}, result[10];
    Context *ctx = context_new();
    const Func *funcs[18];
    for (int f = 0; f < 18; f++) {
        Maker maker = maker_new(ctx, context_internf(ctx, "f%d", f));
        Buffer *in = maker_buffer(&maker, "A", DTYPE_INT32, 10), *out = maker_buffer(&maker, "B", DTYPE_INT32, 10);
        const Expr *lanes = ramp(ctx, int32(ctx, 0), 1, 10);
        const Expr *value = call(ctx, dtype_with_lanes(DTYPE_INT32, 10), OP_Q_MULTIPLY_SHIFT, 4, load_at(ctx, in, lanes),
                                 int32(ctx, multipliers[f / 6]), int32(ctx, 31), int32(ctx, shifts[f % 6]));
        funcs[f] = maker_func(&maker, store_at(ctx, out, lanes, value));
    }
    Jit *jit = jit_with(ctx, funcs, 18, NULL);
    JitArg args[] = {{.pointer = a}, {.pointer = result}};
    for (int f = 0; f < 18; f++) {
        assert_int_equal(find(ctx, jit, funcs[f]->name)(args), 0);
        for (int i = 0; i < 10; i++)
            assert_int_equal(result[i], expected_multiply_shift(a[i], multipliers[f / 6], 31, shifts[f % 6]));
    }
    jit_close(jit);
    context_free(ctx);
}

static void test_multiply_shift_per_axis(void **state)
{
    (void)state;
    int32_t a[] = {5, -5, 1000}, result[3];
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *in = maker_buffer(&maker, "A", DTYPE_INT32, 3), *out = maker_buffer(&maker, "B", DTYPE_INT32, 3);
    Var *i = index_var(ctx, "i");
    const Expr *at = expr_var(ctx, i),
               *value = call(ctx, DTYPE_INT32, OP_Q_MULTIPLY_SHIFT_PER_AXIS, 7, load_at(ctx, in, at), int32(ctx, 1395864371), int32(ctx, 2),
                             int32(ctx, 0), int32(ctx, 31), expr_bool(ctx, true), expr_bool(ctx, false));
    JitArg args[] = {{.pointer = a}, {.pointer = result}};
    assert_int_equal(run(ctx, maker_func(&maker, loop(ctx, i, int32(ctx, 3), store_at(ctx, out, at, value))), args, NULL), 0);
    for (int k = 0; k < 3; k++)
        assert_int_equal(result[k], expected_multiply_shift(a[k], 1395864371, 31, 2));
    context_free(ctx);
}

/* --- Refusals --- */

static void test_refusals(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 1);
    const Expr *zero = int32(ctx, 0);
    const Func *func = maker_func(&maker, store_at(ctx, b, zero, call(ctx, DTYPE_INT32, OP_EXP, 1, zero)));
    assert_string_equal(refusal(ctx, func, NULL), "T.exp needs a float, not int32");
    func = maker_func(&maker, stmt_evaluate(ctx, call(ctx, DTYPE_INT32, OP_TVM_WARP_ACTIVEMASK, 0), span_none()));
    assert_string_equal(refusal(ctx, func, NULL), "T.tvm_warp_activemask cannot be compiled for a CPU");
    func = maker_func(&maker, stmt_evaluate(ctx, call(ctx, DTYPE_INT32, OP_CALL_PACKED, 1, expr_string(ctx, "g")), span_none()));
    assert_string_equal(refusal(ctx, func, NULL), "T.call_packed needs TVM's runtime, which an object does not have");
    func = maker_func(&maker, store_at(ctx, b, zero, call(ctx, DTYPE_INT32, OP_REINTERPRET, 1, expr_int(ctx, DTYPE_INT64, 1))));
    assert_string_equal(refusal(ctx, func, NULL), "T.reinterpret from int64 to int32 changes the size");
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary_functions),
        cmocka_unit_test(test_binary_functions),
        cmocka_unit_test(test_nextafter),
        cmocka_unit_test(test_ldexp),
        cmocka_unit_test(test_integer_power),
        cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_bit_operations),
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_integers_in_float_operations),
        cmocka_unit_test(test_classification),
        cmocka_unit_test(test_reinterpret),
        cmocka_unit_test(test_multiply_shift),
        cmocka_unit_test(test_multiply_shift_per_axis),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("codegen_math", tests, NULL, NULL);
}
