/* Conversions between all types, as scalars and as vectors, at the ends and between neighbours of each type: compiled code and the
   interpreter against exact arithmetic in long double. */
#include "tests/unit/codegen_helpers.h"

#include <math.h>

#include "ir/fold.h"
#include "interp/interp.h"

enum { TYPES = 13, ELEMENTS = 256, GUARD = 64 };
static const char *const type_names[TYPES] = {"bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
                                              "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};

/* --- Values --- */

typedef struct {
    DType dtype;
    uint8_t bytes[ELEMENTS * 8];
    int count;
} Values;

static void add_bits(Values *values, uint64_t bits)
{
    int bytes = dtype_bytes(values->dtype);
    assert_true(values->count < ELEMENTS);
    memcpy(values->bytes + values->count++ * bytes, &bits, (size_t)bytes);
}

/* Around each power of two: itself, its neighbours, and where 8, 11, 24 and 53 bits have a tie that one more bit decides. */
static void add_integers(Values *values)
{
    static const int precisions[] = {8, 11, 24, 53};
    int bits = values->dtype.bits, step = bits == 64 ? 9 : bits == 32 ? 7 : 5;
    add_bits(values, 0);
    add_bits(values, UINT64_MAX);
    for (int top = bits - 1; top > 0; top -= top > bits - 3 ? 1 : step) {
        uint64_t power = UINT64_C(1) << top;
        add_bits(values, power);
        add_bits(values, power - 1);
        add_bits(values, power + 1);
        for (int p = 0; p < 4; p++) {
            if (precisions[p] >= top)
                continue;
            uint64_t half = UINT64_C(1) << (top - precisions[p]);
            add_bits(values, power + half);
            add_bits(values, power + half + 1);
            add_bits(values, power + 3 * half - 1);
            add_bits(values, 0 - (power + half + 1));
        }
    }
}

/* The float of DTYPE that is nearest to VALUE, as bits. */
static uint64_t float_bits(DType dtype, double value)
{
    uint64_t bits = 0;
    interp_write_real(dtype, &bits, dtype_round_float(dtype, value));
    return bits;
}

static void add_floats(Values *values)
{
    static const double ends[] = {0x1p7, 0x1p8,  0x1p15,        0x1p16,        0x1p31,   0x1p32,    0x1p63,   0x1p64, 0.5,
                                  1.0,   1.5,    65504,         65520,         0x1p-14,  0x1p-24,   0x1p-25,  1e-40,  0x1p-126,
                                  3e38,  0x1p53, 0x1.fffffep127, 0x1.fffffffep127, 0x1p-149, 0x1p-1074, 1.00390625, 1.01171875};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int sign = 0; sign < 2; sign++) {
            uint64_t bits = float_bits(values->dtype, sign ? -ends[i] : ends[i]);
            add_bits(values, bits);
            add_bits(values, bits + 1);
            add_bits(values, bits - 1);
        }
    add_bits(values, float_bits(values->dtype, 0.0));
    add_bits(values, float_bits(values->dtype, -0.0));
    add_bits(values, float_bits(values->dtype, INFINITY));
    add_bits(values, float_bits(values->dtype, NAN));
}

static Values values_of(DType dtype)
{
    Values values = {.dtype = dtype};
    if (dtype.code == DT_BOOL) {
        add_bits(&values, 0);
        add_bits(&values, 1);
    } else if (dtype_is_float(dtype)) {
        add_floats(&values);
    } else {
        add_integers(&values);
    }
    return values;
}

/* --- What is right --- */

static long double exact_value(DType dtype, const void *at)
{
    if (dtype_is_float(dtype))
        return interp_read_real(dtype, at);
    int64_t value = interp_read_integer(dtype, at);
    return dtype.code == DT_UINT ? (long double)(uint64_t)value : (long double)value;
}

static long double round_exact(DType dtype, long double value)
{
    int precision = dtype.code == DT_BFLOAT ? 8 : dtype.bits == 16 ? 11 : dtype.bits == 32 ? 24 : 53;
    int least = dtype.code == DT_BFLOAT ? -133 : dtype.bits == 16 ? -24 : dtype.bits == 32 ? -149 : -1074;
    int exponent;
    if (value == 0 || !isfinite(value))
        return value;
    frexpl(value, &exponent);
    int unit = exponent - precision > least ? exponent - precision : least;
    long double rounded = ldexpl(nearbyintl(ldexpl(value, -unit)), unit);
    int most = dtype.bits == 16 && dtype.code == DT_FLOAT ? 16 : dtype.bits == 64 ? 1024 : 128;
    return fabsl(rounded) >= ldexpl(1, most) ? copysignl(INFINITY, value) : rounded;
}

static int64_t saturate_exact(DType dtype, long double value)
{
    int bits = dtype.code == DT_INT ? dtype.bits - 1 : dtype.bits;
    long double limit = ldexpl(1, bits), least = dtype.code == DT_INT ? -limit : 0;
    value = truncl(value);
    if (isnan(value))
        return 0;
    if (value >= limit)
        return dtype.code == DT_INT ? dtype_max_int(dtype) : (int64_t)(UINT64_MAX >> (64 - bits));
    if (value <= least)
        return dtype_min_int(dtype);
    return dtype.code == DT_UINT ? (int64_t)(uint64_t)value : (int64_t)value;
}

/* The bytes of the element at AT converted to TO; *IS_NAN when they are those of some NaN. */
static uint64_t expected_bits(DType from, DType to, const void *at, bool *is_nan)
{
    uint64_t bits = 0;
    long double value = exact_value(from, at);
    *is_nan = dtype_is_float(to) && isnan(value);
    if (to.code == DT_BOOL)
        bits = value != 0;
    else if (dtype_is_float(to))
        interp_write_real(to, &bits, (double)round_exact(to, value));
    else if (dtype_is_float(from))
        interp_write_integer(to, &bits, saturate_exact(to, value));
    else
        interp_write_integer(to, &bits, dtype_wrap(to, interp_read_integer(from, at)));
    return bits;
}

/* --- The functions --- */

/* O[i] = Cast(to, I[i]), LANES elements at a time. */
static const Func *make_cast(Context *ctx, const char *name, DType from, DType to, int count, int lanes)
{
    Maker maker = maker_new(ctx, name);
    Buffer *in = maker_buffer(&maker, "I", from, ELEMENTS), *out = maker_buffer(&maker, "O", to, ELEMENTS);
    Var *i = index_var(ctx, "i");
    const Expr *index = expr_var(ctx, i);
    if (lanes > 1)
        index = ramp(ctx, expr_binary(ctx, EXPR_MUL, index, int32(ctx, lanes)), 1, lanes);
    const Stmt *store = store_at(ctx, out, index, expr_cast(ctx, dtype_with_lanes(to, lanes), load_at(ctx, in, index)));
    return maker_func(&maker, loop(ctx, i, int32(ctx, (count + lanes - 1) / lanes), store));
}

static void compare(const Values *values, DType to, const uint8_t *got, const char *who)
{
    int from_bytes = dtype_bytes(values->dtype), to_bytes = dtype_bytes(to);
    for (int i = 0; i < values->count; i++) {
        const uint8_t *at = values->bytes + i * from_bytes;
        bool is_nan;
        uint64_t expected = expected_bits(values->dtype, to, at, &is_nan), result = 0, source = 0;
        memcpy(&result, got + i * to_bytes, (size_t)to_bytes);
        memcpy(&source, at, (size_t)from_bytes);
        if (is_nan ? !isnan(interp_read_real(to, &result)) : result != expected)
            fail_msg("%s: type %d of bits %llx to type %d of %d bits gives %llx, not %llx", who, values->dtype.code * 1000 + values->dtype.bits,
                     (unsigned long long)source, to.code, to.bits, (unsigned long long)result, (unsigned long long)expected);
    }
}

static void interpret(Context *ctx, const Func *func, const Values *values, uint8_t *out)
{
    static const int64_t shape = ELEMENTS;
    InterpArg args[2] = {
        {.data = (void *)values->bytes, .bytes = ELEMENTS * dtype_bytes(func->params[0].buffer->dtype), .ndim = 1, .shape = &shape},
        {.data = out, .bytes = ELEMENTS * dtype_bytes(func->params[1].buffer->dtype), .ndim = 1, .shape = &shape},
    };
    InterpOptions options = {0};
    require_ok(ctx, interp_run(ctx, func, args, &options, NULL));
}

static void check_type(DType from, const char *cpu, int level, int lanes)
{
    Context *ctx = context_new();
    const Func *funcs[TYPES];
    DType to[TYPES];
    Values values = values_of(from);
    CodegenOptions options = codegen_default_options();
    options.cpu = cpu;
    options.opt_level = level;
    for (int t = 0; t < TYPES; t++) {
        assert_true(dtype_parse(type_names[t], &to[t]));
        funcs[t] = make_cast(ctx, context_internf(ctx, "cast_%d", t), from, to[t], values.count, lanes);
    }
    Jit *jit = jit_with(ctx, funcs, TYPES, &options);
    for (int t = 0; t < TYPES; t++) {
        static uint8_t out[ELEMENTS * 8 + GUARD];
        JitArg args[] = {{.pointer = values.bytes}, {.pointer = out}};
        assert_int_equal(find(ctx, jit, funcs[t]->name)(args), 0);
        compare(&values, to[t], out, "compiled");
        memset(out, 0, sizeof out);
        interpret(ctx, funcs[t], &values, out);
        compare(&values, to[t], out, "interpreted");
    }
    jit_close(jit);
    context_free(ctx);
}

static void test_all_casts(void **state)
{
    (void)state;
    static const struct {
        const char *cpu;
        int level, lanes;
    } forms[] = {{NULL, 2, 1}, {NULL, 0, 1}, {"generic", 2, 1}, {NULL, 2, 8}, {"generic", 1, 4}, {NULL, 2, 5}, {NULL, 0, 16}};
    for (int t = 0; t < TYPES; t++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            DType from;
            assert_true(dtype_parse(type_names[t], &from));
            check_type(from, forms[f].cpu, forms[f].level, forms[f].lanes);
        }
}

/* A constant that is converted while it is compiled becomes the value that it becomes at run time. */
static void test_constants(void **state)
{
    (void)state;
    Context *ctx = context_new();
    for (int from_type = 1; from_type < TYPES; from_type++)
        for (int to_type = 1; to_type < TYPES; to_type++) {
            DType from, to;
            assert_true(dtype_parse(type_names[from_type], &from) && dtype_parse(type_names[to_type], &to));
            Values values = values_of(from);
            for (int i = 0; i < values.count; i++) {
                const uint8_t *at = values.bytes + i * dtype_bytes(from);
                bool is_nan;
                uint64_t expected = expected_bits(from, to, at, &is_nan), result = 0;
                const Expr *constant =
                    dtype_is_float(from) ? expr_float(ctx, from, interp_read_real(from, at)) : expr_int(ctx, from, interp_read_integer(from, at));
                const Expr *folded = fold_cast(ctx, to, constant);
                if (!folded || is_nan)
                    continue;
                if (dtype_is_float(to))
                    interp_write_real(to, &result, folded->value.real);
                else
                    interp_write_integer(to, &result, folded->value.integer);
                assert_int_equal(result, expected);
            }
        }
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_casts), cmocka_unit_test(test_constants)};
    return cmocka_run_group_tests_name("codegen_cast", tests, NULL, NULL);
}
