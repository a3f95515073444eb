/* Arithmetic of the reference interpreter against plain C: every pair of 8-bit operands, and chosen values for the wider types and
   floats. */
#include "test_interp.h"

#include <math.h>

/* --- 8-bit operators, exhaustively --- */
static int floor_division(int a, int b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static int c_add(int a, int b)
{
    return a + b;
}
static int c_subtract(int a, int b)
{
    return a - b;
}
static int c_multiply(int a, int b)
{
    return a * b;
}
static int c_floormod(int a, int b)
{
    return a - b * floor_division(a, b);
}
static int c_divide(int a, int b)
{
    return a / b;
}
static int c_remainder(int a, int b)
{
    return a % b;
}
static int c_min(int a, int b)
{
    return a < b ? a : b;
}
static int c_max(int a, int b)
{
    return a > b ? a : b;
}
static int c_less(int a, int b)
{
    return a < b;
}
static int c_greater_equal(int a, int b)
{
    return a >= b;
}
static int c_and(int a, int b)
{
    return a & b;
}
static int c_xor(int a, int b)
{
    return a ^ b;
}

typedef struct {
    const char *text;
    int (*function)(int, int);
    bool divides;
} Operator;

static const Operator operators[] = {
    {"A[i] + B[j]", c_add, false},
    {"A[i] - B[j]", c_subtract, false},
    {"A[i] * B[j]", c_multiply, false},
    {"A[i] // B[j]", floor_division, true},
    {"A[i] % B[j]", c_floormod, true},
    {"T.truncdiv(A[i], B[j])", c_divide, true},
    {"T.truncmod(A[i], B[j])", c_remainder, true},
    {"T.min(A[i], B[j])", c_min, false},
    {"T.max(A[i], B[j])", c_max, false},
    {"T.Cast(\"TYPE\", A[i] < B[j])", c_less, false},
    {"T.Cast(\"TYPE\", A[i] >= B[j])", c_greater_equal, false},
    {"A[i] & B[j]", c_and, false},
    {"A[i] ^ B[j]", c_xor, false},
};

static const char operator_program[] = "@T.prim_func\n"
                                       "def main(A: T.Buffer((256,), \"TYPE\"), B: T.Buffer((255,), \"TYPE\"), C: T.Buffer((256, 255), \"TYPE\")):\n"
                                       "    for i, j in T.grid(256, 255):\n"
                                       "        C[i, j] = EXPRESSION\n";

static void replace_all(char *text, size_t size, const char *from, const char *to)
{
    char result[2048];
    size_t length = 0;
    for (const char *p = text; *p;) {
        bool match = !strncmp(p, from, strlen(from));
        length += (size_t)snprintf(result + length, sizeof result - length, "%.*s", match ? (int)strlen(to) : 1, match ? to : p);
        p += match ? strlen(from) : 1;
    }
    snprintf(text, size, "%s", result);
}

static Ran run_operator(const char *expression, const char *type)
{
    char text[2048];
    snprintf(text, sizeof text, "%s", operator_program);
    replace_all(text, sizeof text, "EXPRESSION", expression);
    replace_all(text, sizeof text, "TYPE", type);
    Ran ran = ran_prepare(text, 1, NULL, 0);
    uint8_t *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B");
    for (int i = 0; i < 256; i++)
        a[i] = (uint8_t)i;
    for (int i = 0; i < 255; i++) /* all divisors but 0 */
        b[i] = (uint8_t)(i + 1);
    ran_run(&ran);
    assert_no_findings(&ran);
    return ran;
}

static void test_int8_operators(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
        Ran ran = run_operator(operators[k].text, "int8");
        const int8_t *c = ran_data(&ran, "C");
        for (int i = 0; i < 256; i++)
            for (int j = 0; j < 255; j++)
                assert_int_equal(c[i * 255 + j], (int8_t)operators[k].function((int8_t)i, (int8_t)(j + 1)));
        ran_free(&ran);
    }
}

static void test_uint8_operators(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
        Ran ran = run_operator(operators[k].text, "uint8");
        const uint8_t *c = ran_data(&ran, "C");
        for (int i = 0; i < 256; i++)
            for (int j = 0; j < 255; j++)
                assert_int_equal(c[i * 255 + j], (uint8_t)operators[k].function(i, j + 1));
        ran_free(&ran);
    }
}

/* --- Wide integers --- */
/* Runs "C[i] = EXPRESSION" over all pairs (A[i], B[i]) of COUNT int64 values, read as TYPE of 64 bits. */
static void run_wide(const char *expression, const char *type, const int64_t *a, const int64_t *b, int64_t *c, int count)
{
    char text[1024];
    snprintf(text, sizeof text,
             "@T.prim_func\ndef main(A: T.Buffer((%d,), \"%s\"), B: T.Buffer((%d,), \"%s\"), C: T.Buffer((%d,), \"%s\")):\n    for i in range(%d):\n        "
             "C[i] = %s\n",
             count, type, count, type, count, type, count, expression);
    Ran ran = ran_prepare(text, 1, NULL, 0);
    memcpy(ran_data(&ran, "A"), a, sizeof *a * (size_t)count);
    memcpy(ran_data(&ran, "B"), b, sizeof *b * (size_t)count);
    ran_run(&ran);
    assert_no_findings(&ran);
    memcpy(c, ran_data(&ran, "C"), sizeof *c * (size_t)count);
    ran_free(&ran);
}

static void test_int64(void **state)
{
    (void)state;
    static const int64_t a[] = {INT64_MAX, INT64_MIN, INT64_MIN, -7, INT64_MAX}, b[] = {1, -1, 3, 2, INT64_MAX};
    int64_t c[5];
    run_wide("A[i] + B[i]", "int64", a, b, c, 5);
    assert_true(c[0] == INT64_MIN && c[1] == INT64_MAX && c[3] == -5 && c[4] == -2);
    run_wide("A[i] * B[i]", "int64", a, b, c, 5);
    assert_true(c[0] == INT64_MAX && c[1] == INT64_MIN && c[2] == INT64_MIN && c[4] == 1);
    run_wide("A[i] // B[i]", "int64", a, b, c, 5);
    assert_true(c[1] == INT64_MIN && c[2] == INT64_MIN / 3 - 1 && c[3] == -4 && c[4] == 1);
    run_wide("A[i] % B[i]", "int64", a, b, c, 5);
    assert_true(c[1] == 0 && c[2] == 1 && c[3] == 1 && c[4] == 0);
}

static void test_uint64(void **state)
{
    (void)state;
    static const int64_t a[] = {-1, -1, 5}, b[] = {10, 2, -1};
    int64_t c[3];
    run_wide("A[i] // B[i]", "uint64", a, b, c, 3);
    assert_true(c[0] == (int64_t)(UINT64_MAX / 10) && c[1] == (int64_t)(UINT64_MAX / 2) && c[2] == 0);
    run_wide("A[i] % B[i]", "uint64", a, b, c, 3);
    assert_true(c[0] == 5 && c[1] == 1 && c[2] == 5);
    run_wide("T.max(A[i], B[i])", "uint64", a, b, c, 3);
    assert_true(c[0] == -1 && c[2] == -1);
    run_wide("T.Cast(\"uint64\", A[i] < B[i])", "uint64", a, b, c, 3);
    assert_true(c[0] == 0 && c[1] == 0 && c[2] == 1);
    run_wide("T.shift_right(A[i], T.uint64(60))", "uint64", a, b, c, 3);
    assert_true(c[0] == 15 && c[2] == 0);
}

static void test_bits(void **state)
{
    (void)state;
    static const int64_t a[] = {0, 1, -1, 255, INT64_MIN}, b[] = {1, 63, 8, 4, 1};
    int64_t c[5];
    run_wide("T.popcount(A[i])", "int64", a, b, c, 5);
    assert_true(c[0] == 0 && c[1] == 1 && c[2] == 64 && c[3] == 8 && c[4] == 1);
    run_wide("T.Cast(\"int64\", T.clz(A[i]))", "int64", a, b, c, 5);
    assert_true(c[0] == 64 && c[1] == 63 && c[2] == 0 && c[3] == 56 && c[4] == 0);
    run_wide("T.shift_left(A[i], B[i])", "int64", a, b, c, 5);
    assert_true(c[0] == 0 && c[1] == INT64_MIN && c[2] == -256 && c[3] == 4080 && c[4] == 0);
    run_wide("T.shift_right(A[i], B[i])", "int64", a, b, c, 5);
    assert_true(c[1] == 0 && c[2] == -1 && c[3] == 15 && c[4] == INT64_MIN / 2);
    run_wide("T.bitwise_not(A[i])", "int64", a, b, c, 5);
    assert_true(c[0] == -1 && c[2] == 0 && c[3] == -256 && c[4] == INT64_MAX);
}

static void test_fixed_point(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\ndef main(A: T.Buffer((4,), \"int32\"), C: T.Buffer((4,), \"int32\")):\n"
                               "    for i in range(4):\n        C[i] = T.q_multiply_shift(A[i], 1395864371, 31, -9)\n";
    Ran ran = ran_prepare(text, 1, NULL, 0);
    int32_t *a = ran_data(&ran, "A"), *c = ran_data(&ran, "C");
    static const int32_t values[] = {1000, -1000, 787, 100000};
    memcpy(a, values, sizeof values);
    ran_run(&ran);
    assert_no_findings(&ran);
    for (int i = 0; i < 4; i++)
        assert_int_equal(c[i], (int32_t)floor(values[i] * (1395864371.0 / 0x1p31) / 512 + 0.5));
    ran_free(&ran);
}

/* --- Floats --- */
typedef struct {
    const char *expression;
    double a, b, expected;
} RealCase;

/* C = EXPRESSION of A and B of type TYPE. */
static double run_real(const char *type, const char *expression, double a, double b)
{
    char text[1024];
    snprintf(text, sizeof text,
             "@T.prim_func\ndef main(A: T.Buffer((), \"%s\"), B: T.Buffer((), \"%s\"), C: T.Buffer((), \"%s\")):\n    C[()] = %s\n", type,
             type, type, expression);
    Ran ran = ran_prepare(text, 1, NULL, 0);
    DType t;
    assert_true(dtype_parse(type, &t));
    interp_write_real(t, ran_data(&ran, "A"), dtype_round_float(t, a));
    interp_write_real(t, ran_data(&ran, "B"), dtype_round_float(t, b));
    ran_run(&ran);
    assert_no_findings(&ran);
    double result = interp_read_real(t, ran_data(&ran, "C"));
    ran_free(&ran);
    return result;
}

static void assert_same_real(double expected, double actual)
{
    if (!(expected == actual && signbit(expected) == signbit(actual)) && !(isnan(expected) && isnan(actual)))
        fail_msg("expected %.17g, got %.17g", expected, actual);
}

static void test_float64_functions(void **state)
{
    (void)state;
    const RealCase cases[] = {
        {"T.exp(A[()])", 1.5, 0, exp(1.5)},
        {"T.exp2(A[()])", 1.5, 0, exp2(1.5)},
        {"T.exp10(A[()])", 2, 0, exp10(2)},
        {"T.log(A[()])", 3, 0, log(3)},
        {"T.log2(A[()])", 8, 0, 3},
        {"T.log10(A[()])", 1000, 0, log10(1000)},
        {"T.log1p(A[()])", 1e-9, 0, log1p(1e-9)},
        {"T.sqrt(A[()])", 2, 0, sqrt(2)},
        {"T.rsqrt(A[()])", 4, 0, 0.5},
        {"T.sin(A[()])", 1, 0, sin(1)},
        {"T.cos(A[()])", 1, 0, cos(1)},
        {"T.tan(A[()])", 1, 0, tan(1)},
        {"T.sinh(A[()])", 1, 0, sinh(1)},
        {"T.cosh(A[()])", 1, 0, cosh(1)},
        {"T.tanh(A[()])", 1, 0, tanh(1)},
        {"T.asin(A[()])", 0.5, 0, asin(0.5)},
        {"T.acos(A[()])", 0.5, 0, acos(0.5)},
        {"T.atan(A[()])", 0.5, 0, atan(0.5)},
        {"T.atan2(A[()], B[()])", 1, -2, atan2(1, -2)},
        {"T.sigmoid(A[()])", 0, 0, 0.5},
        {"T.erf(A[()])", 0.5, 0, erf(0.5)},
        {"T.pow(A[()], B[()])", 2, 0.5, sqrt(2)},
        {"T.fabs(A[()])", -3, 0, 3},
        {"T.floor(A[()])", -1.5, 0, -2},
        {"T.ceil(A[()])", -1.5, 0, -1},
        {"T.trunc(A[()])", -1.5, 0, -1},
        {"T.copysign(A[()], B[()])", 3, -0.0, -3},
        {"T.hypot(A[()], B[()])", 3, 4, 5},
        {"T.fmod(A[()], B[()])", -7, 3, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_same_real(cases[i].expected, run_real("float64", cases[i].expression, cases[i].a, cases[i].b));
}

static void test_rounding_functions(void **state)
{
    (void)state;
    assert_same_real(3, run_real("float32", "T.round(A[()])", 2.5, 0));
    assert_same_real(-3, run_real("float32", "T.round(A[()])", -2.5, 0));
    assert_same_real(2, run_real("float32", "T.nearbyint(A[()])", 2.5, 0));
    assert_same_real(-2, run_real("float32", "T.nearbyint(A[()])", -2.5, 0));
    assert_same_real(4, run_real("float32", "T.nearbyint(A[()])", 3.5, 0));
}

/* T.max(a, b) is a > b ? a : b, so that a NaN on either side gives the second operand. */
static void test_min_max_nan(void **state)
{
    (void)state;
    assert_same_real(1, run_real("float32", "T.max(A[()], B[()])", NAN, 1));
    assert_same_real(NAN, run_real("float32", "T.max(A[()], B[()])", 1, NAN));
    assert_same_real(1, run_real("float32", "T.min(A[()], B[()])", NAN, 1));
    assert_same_real(NAN, run_real("float32", "T.min(A[()], B[()])", 1, NAN));
    assert_same_real(-0.0, run_real("float32", "T.max(A[()], B[()])", 0.0, -0.0));
    assert_same_real(0.0, run_real("float32", "T.min(A[()], B[()])", -0.0, 0.0));
}

static void test_rounding_to_type(void **state)
{
    (void)state;
    assert_same_real((float)0.1f + 0.2f, run_real("float32", "A[()] + B[()]", 0.1, 0.2));
    assert_same_real((float)(1.0f / 3.0f), run_real("float32", "A[()] / B[()]", 1, 3));
    assert_same_real(2048, run_real("float16", "A[()] + B[()]", 2048, 1)); /* a tie, to even */
    assert_same_real(2052, run_real("float16", "A[()] + B[()]", 2050, 1.5));
    assert_same_real(INFINITY, run_real("float16", "A[()] + B[()]", 65504, 16));
    assert_same_real(65504, run_real("float16", "A[()] + B[()]", 65504, 15));
    assert_same_real(0x1p-24, run_real("float16", "A[()] * B[()]", 0x1p-14, 0x1p-10));
    assert_same_real(256, run_real("bfloat16", "A[()] + B[()]", 256, 1));
    assert_same_real(260, run_real("bfloat16", "A[()] + B[()]", 256, 3));
    assert_same_real(-0.0, run_real("bfloat16", "A[()] * B[()]", -0.0, 1));
}

/* One rounding: the product is not rounded before the sum. */
static void test_fma(void **state)
{
    (void)state;
    double a = 1 + 0x1p-12;
    assert_same_real(fmaf((float)a, (float)a, -1), run_real("float32", "T.fma(A[()], A[()], B[()])", a, -1));
    assert_true(fmaf((float)a, (float)a, -1) != (float)a * (float)a - 1);
}

/* --- Conversions --- */
typedef struct {
    const char *from, *to;
    double value;
    int64_t expected;
} CastCase;

static int64_t run_cast(const char *from, const char *to, double value)
{
    char text[512];
    snprintf(text, sizeof text,
             "@T.prim_func\ndef main(A: T.Buffer((), \"%s\"), C: T.Buffer((), \"%s\")):\n    C[()] = T.Cast(\"%s\", A[()])\n", from, to,
             to);
    Ran ran = ran_prepare(text, 1, NULL, 0);
    DType f, t;
    assert_true(dtype_parse(from, &f));
    assert_true(dtype_parse(to, &t));
    if (dtype_is_float(f))
        interp_write_real(f, ran_data(&ran, "A"), value);
    else
        interp_write_integer(f, ran_data(&ran, "A"), (int64_t)value);
    ran_run(&ran);
    assert_no_findings(&ran);
    int64_t result = dtype_is_float(t) ? (int64_t)interp_read_real(t, ran_data(&ran, "C")) : interp_read_integer(t, ran_data(&ran, "C"));
    ran_free(&ran);
    return result;
}

static void test_casts(void **state)
{
    (void)state;
    const CastCase cases[] = {
        {"float32", "int32", 2.9, 2},
        {"float32", "int32", -2.9, -2},
        {"float32", "int8", 300, 127},
        {"float32", "int8", -300, -128},
        {"float64", "int64", 1e30, INT64_MAX},
        {"float64", "int64", -1e30, INT64_MIN},
        {"float32", "uint8", -1, 0},
        {"float32", "uint8", 255.9, 255},
        {"float32", "uint8", 256, 255},
        {"float64", "uint64", 1e30, -1},
        {"float32", "int32", NAN, 0},
        {"float32", "int32", INFINITY, INT32_MAX},
        {"float32", "bool", 0.25, 1},
        {"float32", "bool", 0, 0},
        {"int32", "int8", 300, 44},
        {"int32", "uint8", -1, 255},
        {"int8", "uint64", -1, -1},
        {"uint32", "int64", 4294967295.0, 4294967295},
        {"int32", "bool", 256, 1},
        {"bool", "int32", 1, 1},
        {"int64", "float32", 16777217, 16777216},
        {"int32", "float16", 2049, 2048},
        {"uint8", "int8", 200, -56},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(run_cast(cases[i].from, cases[i].to, cases[i].value), cases[i].expected);
}

/* int64 to float32 rounds once: by way of double this value would round down. */
static void test_cast_rounds_once(void **state)
{
    (void)state;
    int64_t value = (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1;
    static const char text[] =
        "@T.prim_func\ndef main(A: T.Buffer((), \"int64\"), C: T.Buffer((), \"float32\")):\n    C[()] = T.Cast(\"float32\", A[()])\n";
    Ran ran = ran_prepare(text, 1, NULL, 0);
    *(int64_t *)ran_data(&ran, "A") = value;
    ran_run(&ran);
    assert_true(*(float *)ran_data(&ran, "C") == (float)value);
    assert_true((float)value != (float)(double)value);
    ran_free(&ran);
}

static void test_reinterpret(void **state)
{
    (void)state;
    static const char text[] =
        "@T.prim_func\ndef main(A: T.Buffer((), \"float32\"), C: T.Buffer((), \"int32\"), D: T.Buffer((), \"float32\")):\n"
        "    C[()] = T.reinterpret(\"int32\", A[()])\n    D[()] = T.reinterpret(\"float32\", C[()] + 1)\n";
    Ran ran = ran_prepare(text, 1, NULL, 0);
    *(float *)ran_data(&ran, "A") = 1;
    ran_run(&ran);
    assert_no_findings(&ran);
    assert_int_equal(*(int32_t *)ran_data(&ran, "C"), 0x3f800000);
    assert_true(*(float *)ran_data(&ran, "D") == 1 + 0x1p-23f);
    ran_free(&ran);
}

/* Every float16 and bfloat16 pattern survives reading and writing. */
static void test_half_formats(void **state)
{
    (void)state;
    const DType types[] = {DTYPE(DT_FLOAT, 16), DTYPE(DT_BFLOAT, 16)};
    for (int k = 0; k < 2; k++)
        for (int bits = 0; bits < 65536; bits++) {
            uint16_t in = (uint16_t)bits, out;
            double value = interp_read_real(types[k], &in);
            interp_write_real(types[k], &out, value);
            assert_true(isnan(value) ? isnan(interp_read_real(types[k], &out)) : in == out);
            assert_true(isnan(value) || dtype_round_float(types[k], value) == value);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_int8_operators),
        cmocka_unit_test(test_uint8_operators),
        cmocka_unit_test(test_int64),
        cmocka_unit_test(test_uint64),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_fixed_point),
        cmocka_unit_test(test_float64_functions),
        cmocka_unit_test(test_rounding_functions),
        cmocka_unit_test(test_min_max_nan),
        cmocka_unit_test(test_rounding_to_type),
        cmocka_unit_test(test_fma),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_cast_rounds_once),
        cmocka_unit_test(test_reinterpret),
        cmocka_unit_test(test_half_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
