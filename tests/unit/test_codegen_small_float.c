/* Floats of up to 8 bits: what each pattern stands for and what float32 values become, against a plain table; and for all patterns and many
   values compiled code, in vectors too, against the nearest number of the type, found by looking at them all. */
#include "tests/unit/codegen_helpers.h"

#include <math.h>

#include "interp/interp.h"
#include "ir/small_float.h"

enum { PATTERNS = 256, VALUES = 2048 };

static const char *const type_names[] = {"float8_e3m4",     "float8_e4m3",    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
                                         "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn",      "float6_e3m2fn", "float4_e2m1fn"};
enum { TYPES = sizeof type_names / sizeof *type_names };

static DType type_of(const char *name)
{
    DType type;
    assert_true(dtype_parse(name, &type));
    return type;
}

static void assert_same(const char *name, double expected, double got)
{
    if (isnan(expected) ? !isnan(got) : expected != got || signbit(expected) != signbit(got))
        fail_msg("%s: %g, not %g", name, got, expected);
}

static void test_table(void **state)
{
    (void)state;
    uint8_t bits;
#define NUMBER(type, pattern, value) \
    bits = pattern;                  \
    assert_same(#type, value, interp_read_real(type_of(#type), &bits));
#define ROUNDED(type, value, pattern)                    \
    interp_write_real(type_of(#type), &bits, (float)(value)); \
    assert_int_equal(bits, pattern);
#include "tests/unit/small_floats.def"
#undef NUMBER
#undef ROUNDED
}

/* O[i] = Cast(to, I[i]), LANES elements at a time. */
static const Func *make_cast(Context *ctx, const char *name, DType from, DType to, int count, int lanes)
{
    Maker maker = maker_new(ctx, name);
    Buffer *in = maker_buffer(&maker, "I", from, count), *out = maker_buffer(&maker, "O", to, count);
    Var *i = index_var(ctx, "i");
    const Expr *index = expr_var(ctx, i);
    if (lanes > 1)
        index = ramp(ctx, expr_binary(ctx, EXPR_MUL, index, int32(ctx, lanes)), 1, lanes);
    const Stmt *store = store_at(ctx, out, index, expr_cast(ctx, dtype_with_lanes(to, lanes), load_at(ctx, in, index)));
    return maker_func(&maker, loop(ctx, i, int32(ctx, count / lanes), store));
}

static void run_cast(DType from, DType to, int count, int lanes, const void *in, void *out)
{
    Context *ctx = context_new();
    const Func *func = make_cast(ctx, "cast", from, to, count, lanes);
    CodegenOptions options = codegen_default_options();
    Jit *jit = jit_with(ctx, &func, 1, &options);
    JitArg args[] = {{.pointer = (void *)in}, {.pointer = out}};
    assert_int_equal(find(ctx, jit, "cast")(args), 0);
    jit_close(jit);
    context_free(ctx);
}

static void check_patterns(DType type, int lanes)
{
    uint8_t patterns[PATTERNS];
    float floats[PATTERNS];
    double doubles[PATTERNS];
    for (int i = 0; i < PATTERNS; i++)
        patterns[i] = (uint8_t)i;
    run_cast(type, DTYPE_FLOAT32, PATTERNS, lanes, patterns, floats);
    run_cast(type, DTYPE_FLOAT64, PATTERNS, lanes, patterns, doubles);
    for (int i = 0; i < PATTERNS; i++) {
        assert_same("float32", interp_read_real(type, &patterns[i]), floats[i]);
        assert_same("float64", interp_read_real(type, &patterns[i]), doubles[i]);
    }
}

/* Values of each size, those halfway between two numbers of the type, and their neighbours. */
static int make_values(DType type, float *values)
{
    int count = 0;
    for (int i = 0; i < PATTERNS; i++) {
        uint8_t low = (uint8_t)i, high = (uint8_t)(i + 1);
        float middle = (float)((interp_read_real(type, &low) + interp_read_real(type, &high)) / 2);
        values[count++] = middle;
        values[count++] = nextafterf(middle, INFINITY);
        values[count++] = nextafterf(middle, -INFINITY);
    }
    const float rest[] = {0, -0.0f, INFINITY, -INFINITY, 1e-44f, -1e-44f, 3e38f, -3e38f, 1e9f, 0x1p20f, 0x1.fffffep-127f};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        values[count++] = rest[i];
    for (uint32_t bits = 12345; count < VALUES; bits = bits * 1664525 + 1013904223)
        memcpy(&values[count++], &bits, sizeof bits);
    return count;
}

/* No number of the type is nearer to VALUE than that of PATTERN, and of two as near its pattern is the even one. */
static void assert_nearest(DType type, float value, uint8_t pattern)
{
    double chosen = interp_read_real(type, &pattern), largest = dtype_largest_float(type);
    bool power = small_float(type)->kind == SMALL_POWER; /* no zero, no sign, and halves go up */
    if (isnan(value) || isnan(chosen) || isinf(chosen) || fabs(value) > largest || (power && value <= 0))
        return; /* in the table */
    for (int i = 0; i < PATTERNS >> (8 - type.bits); i++) {
        uint8_t other = (uint8_t)i;
        double number = interp_read_real(type, &other), distance = fabs(number - value), own = fabs(chosen - value);
        if (isnan(number) || isinf(number) || distance > own || number == chosen)
            continue;
        if (distance < own || (power ? number > chosen : (pattern & 1) && !(other & 1)))
            fail_msg("%g becomes %g, and %g is nearer", value, chosen, number);
    }
}

static void test_compiled(void **state)
{
    (void)state;
    static float values[VALUES];
    static double wide[VALUES];
    static uint8_t scalar[VALUES], vector[VALUES], from_double[VALUES];
    for (int t = 0; t < TYPES; t++) {
        DType type = type_of(type_names[t]);
        check_patterns(type, 1);
        check_patterns(type, 8);
        int count = make_values(type, values);
        for (int i = 0; i < count; i++)
            wide[i] = values[i];
        run_cast(DTYPE_FLOAT32, type, count, 1, values, scalar);
        run_cast(DTYPE_FLOAT32, type, count, 16, values, vector);
        run_cast(DTYPE_FLOAT64, type, count, 4, wide, from_double);
        for (int i = 0; i < count; i++) {
            uint8_t interpreted;
            interp_write_real(type, &interpreted, values[i]);
            assert_nearest(type, values[i], interpreted);
            assert_int_equal(vector[i], scalar[i]);
            assert_int_equal(from_double[i], scalar[i]);
            if (!isnan(values[i])) /* the sign of a NaN is not kept everywhere */
                assert_int_equal(scalar[i], interpreted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_compiled)};
    return cmocka_run_group_tests_name("codegen_small_float", tests, NULL, NULL);
}
