/* Operators and conversions of every type, compiled and compared with values computed here. */
#include "tests/unit/codegen_helpers.h"

#include <math.h>

#include "interp/interp.h"

static const char *const integer_types[] = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"};
static const char *const float_types[] = {"float16", "bfloat16", "float32", "float64"};
enum { INTEGER_TYPES = 9, FLOAT_TYPES = 4, MAX_PAIRS = 1024 };

static DType type_of(const char *name)
{
    DType dtype;
    assert_true(dtype_parse(name, &dtype));
    return dtype;
}

/* --- Sample values --- */

static int integer_samples(DType dtype, int64_t *values)
{
    static const int64_t seeds[] = {
        0, 1, 2, 3, 5, 7, 8, 64, 100, -1, -2, -3, -7, -8, -100, INT64_MIN, INT64_MAX, INT64_MIN + 1, 0x123456789abcdef};
    int count = 0;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        values[count++] = dtype_wrap(dtype, seeds[i]);
    values[count++] = dtype_min_int(dtype);
    values[count++] = dtype_max_int(dtype);
    return count;
}

static int float_samples(DType dtype, double *values)
{
    static const double seeds[] = {0,     -0.0, 1,    -1,   0.5,  1.5,   -2.5,  3.25,     7,         -7,  100,    1e-3,
                                   65504, 1e5,  -1e5, 1e-7, 3e38, 1e-40, 1e300, INFINITY, -INFINITY, NAN, 1.0 / 3};
    int count = sizeof seeds / sizeof *seeds;
    for (int i = 0; i < count; i++)
        values[i] = dtype_round_float(dtype, seeds[i]);
    return count;
}

/* Vectorizing hundreds of loops takes LLVM seconds: it is done for some types only. */
static CodegenOptions options_for(DType dtype)
{
    CodegenOptions options = codegen_default_options();
    bool vectorize = dtype.bits == 32 ? dtype.code != DT_UINT : dtype.bits == 8 ? dtype.code == DT_UINT : dtype.code == DT_BFLOAT;
    options.opt_level = vectorize ? 2 : 1;
    return options;
}

/* --- Running one elementwise function --- */

typedef struct {
    Context *ctx;
    Maker maker;
    Buffer *a, *b, *result;
    const Expr *index;
    Var *i;
} Elementwise;

static Elementwise elementwise_new(Context *ctx, const char *name, DType operand, DType result, int count)
{
    Elementwise e = {.ctx = ctx, .maker = maker_new(ctx, name)};
    e.a = maker_buffer(&e.maker, "A", operand, count);
    e.b = maker_buffer(&e.maker, "B", operand, count);
    e.result = maker_buffer(&e.maker, "C", result, count);
    e.i = index_var(ctx, "i");
    e.index = expr_var(ctx, e.i);
    return e;
}

/* One vector store of all COUNT elements. */
static const Func *vector_binary_func(Context *ctx, int kind, DType dtype, int count)
{
    Elementwise e = elementwise_new(ctx, context_internf(ctx, "op%d", kind), dtype, dtype, count);
    const Expr *at = ramp(ctx, int32(ctx, 0), 1, count);
    return maker_func(&e.maker,
                      store_at(ctx, e.result, at, expr_binary(ctx, (ExprKind)kind, load_at(ctx, e.a, at), load_at(ctx, e.b, at))));
}

static const Func *elementwise_func(Elementwise *e, const Expr *value, int count)
{
    return maker_func(&e->maker, loop(e->ctx, e->i, int32(e->ctx, count), store_at(e->ctx, e->result, e->index, value)));
}

static bool is_logic(int kind)
{
    return kind == EXPR_AND || kind == EXPR_OR;
}

static const Func *binary_func(Context *ctx, int kind, DType dtype, int count)
{
    DType result = kind >= EXPR_EQ ? DTYPE_BOOL : dtype;
    Elementwise e = elementwise_new(ctx, context_internf(ctx, "op%d", kind), dtype, result, count);
    const Expr *value = expr_binary(ctx, (ExprKind)kind, load_at(ctx, e.a, e.index), load_at(ctx, e.b, e.index));
    return elementwise_func(&e, value, count);
}

/* --- Integers --- */

static int64_t floor_quotient(__int128 a, __int128 b)
{
    __int128 q = a / b;
    return (int64_t)(q - (q * b != a && (a < 0) != (b < 0)));
}

static int64_t expected_integer(int kind, DType dtype, int64_t a64, int64_t b64)
{
    bool large = dtype.code == DT_UINT && dtype.bits == 64;
    __int128 a = large ? (__int128)(uint64_t)a64 : a64, b = large ? (__int128)(uint64_t)b64 : b64;
    switch (kind) {
    case EXPR_ADD: return dtype_wrap(dtype, (int64_t)(a + b));
    case EXPR_SUB: return dtype_wrap(dtype, (int64_t)(a - b));
    case EXPR_MUL: return dtype_wrap(dtype, (int64_t)((unsigned __int128)a * (unsigned __int128)b));
    case EXPR_DIV: return b ? dtype_wrap(dtype, (int64_t)(a / b)) : 0;
    case EXPR_MOD: return b ? dtype_wrap(dtype, (int64_t)(a % b)) : 0;
    case EXPR_FLOORDIV: return b ? dtype_wrap(dtype, floor_quotient(a, b)) : 0;
    case EXPR_FLOORMOD: return b ? dtype_wrap(dtype, (int64_t)(a - (__int128)floor_quotient(a, b) * b)) : 0;
    case EXPR_MIN: return a < b ? a64 : b64;
    case EXPR_MAX: return a > b ? a64 : b64;
    case EXPR_EQ: return a == b;
    case EXPR_NE: return a != b;
    case EXPR_LT: return a < b;
    case EXPR_LE: return a <= b;
    case EXPR_GT: return a > b;
    case EXPR_GE: return a >= b;
    case EXPR_AND: return a && b;
    default: return a || b;
    }
}

static void check_integer_type(Context *ctx, DType dtype, bool vector)
{
    int64_t samples[64], a[MAX_PAIRS], b[MAX_PAIRS];
    int sample_count = integer_samples(dtype, samples), count = 0, func_count = 0;
    for (int i = 0; i < sample_count; i++)
        for (int j = 0; j < sample_count; j++, count++)
            a[count] = samples[i], b[count] = samples[j];
    uint8_t a_memory[MAX_PAIRS * 8], b_memory[MAX_PAIRS * 8], result[MAX_PAIRS * 8];
    int bytes = dtype_bytes(dtype);
    for (int i = 0; i < count; i++) {
        interp_write_integer(dtype, a_memory + i * bytes, a[i]);
        interp_write_integer(dtype, b_memory + i * bytes, b[i]);
    }
    const Func *funcs[32];
    for (int kind = EXPR_ADD; vector && kind <= EXPR_MAX; kind++)
        funcs[func_count++] = vector_binary_func(ctx, kind, dtype, count);
    for (int kind = EXPR_ADD; !vector && kind <= EXPR_OR; kind++)
        if (is_logic(kind) == (dtype.code == DT_BOOL) || (kind >= EXPR_EQ && !is_logic(kind)))
            funcs[func_count++] = binary_func(ctx, kind, dtype, count);
    CodegenOptions options = options_for(dtype);
    Jit *jit = jit_with(ctx, funcs, func_count, &options);
    JitArg args[] = {{.pointer = a_memory}, {.pointer = b_memory}, {.pointer = result}};
    for (int f = 0; f < func_count; f++) {
        int kind = atoi(funcs[f]->name + 2);
        DType result_type = kind >= EXPR_EQ ? DTYPE_BOOL : dtype;
        assert_int_equal(find(ctx, jit, funcs[f]->name)(args), 0);
        for (int i = 0; i < count; i++) {
            int64_t got = interp_read_integer(result_type, result + i * dtype_bytes(result_type)),
                    want = expected_integer(kind, dtype, a[i], b[i]);
            if (got != want)
                fail_msg("%s %s: %lld, %lld gives %lld, not %lld", dtype_name(ctx, dtype), expr_kind_info((ExprKind)kind)->name,
                         (long long)a[i], (long long)b[i], (long long)got, (long long)want);
        }
    }
    jit_close(jit);
}

static void test_integer_operators(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGER_TYPES; i++) {
        Context *ctx = context_new();
        check_integer_type(ctx, type_of(integer_types[i]), false);
        context_free(ctx);
    }
}

/* Vectors divide in another way than scalars. */
static void test_integer_vectors(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGER_TYPES - 1; i++) {
        Context *ctx = context_new();
        check_integer_type(ctx, type_of(integer_types[i]), true);
        context_free(ctx);
    }
}

/* Constant divisors take other paths than variable ones. */
static void test_constant_divisors(void **state)
{
    (void)state;
    static const int64_t divisors[] = {1, 2, 3, 7, 8, 64, 100, -1, -2, -3, -8};
    static const int kinds[] = {EXPR_DIV, EXPR_MOD, EXPR_FLOORDIV, EXPR_FLOORMOD};
    Context *ctx = context_new();
    int64_t samples[64];
    int count = integer_samples(DTYPE_INT32, samples), func_count = 0;
    int32_t a[64], result[64];
    for (int i = 0; i < count; i++)
        a[i] = (int32_t)samples[i];
    const Func *funcs[64];
    for (int k = 0; k < 4; k++)
        for (size_t d = 0; d < sizeof divisors / sizeof *divisors; d++) {
            Elementwise e = elementwise_new(ctx, context_internf(ctx, "f%d_%zu", k, d), DTYPE_INT32, DTYPE_INT32, count);
            funcs[func_count++] =
                elementwise_func(&e, expr_binary(ctx, (ExprKind)kinds[k], load_at(ctx, e.a, e.index), int32(ctx, divisors[d])), count);
        }
    Jit *jit = jit_with(ctx, funcs, func_count, NULL);
    JitArg args[] = {{.pointer = a}, {.pointer = a}, {.pointer = result}};
    for (int f = 0; f < func_count; f++) {
        int k = funcs[f]->name[1] - '0', d = atoi(funcs[f]->name + 3);
        assert_int_equal(find(ctx, jit, funcs[f]->name)(args), 0);
        for (int i = 0; i < count; i++)
            assert_int_equal(result[i], expected_integer(kinds[k], DTYPE_INT32, a[i], divisors[d]));
    }
    jit_close(jit);
    context_free(ctx);
}

/* --- Floats --- */

static double expected_real(int kind, double a, double b)
{
    switch (kind) {
    case EXPR_ADD: return a + b;
    case EXPR_SUB: return a - b;
    case EXPR_MUL: return a * b;
    case EXPR_DIV: return a / b;
    case EXPR_MOD: return fmod(a, b);
    case EXPR_FLOORDIV: return floor(a / b);
    case EXPR_FLOORMOD: return a - b * floor(a / b);
    case EXPR_MIN: return a < b ? a : b;
    case EXPR_MAX: return a > b ? a : b;
    case EXPR_EQ: return a == b;
    case EXPR_NE: return a != b;
    case EXPR_LT: return a < b;
    case EXPR_LE: return a <= b;
    case EXPR_GT: return a > b;
    default: return a >= b;
    }
}

static bool same_real(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void check_float_type(Context *ctx, DType dtype)
{
    double samples[64], a[MAX_PAIRS], b[MAX_PAIRS];
    int sample_count = float_samples(dtype, samples), count = 0, func_count = 0, bytes = dtype_bytes(dtype);
    uint8_t a_memory[MAX_PAIRS * 8], b_memory[MAX_PAIRS * 8], result[MAX_PAIRS * 8];
    for (int i = 0; i < sample_count; i++)
        for (int j = 0; j < sample_count; j++, count++) {
            a[count] = samples[i], b[count] = samples[j];
            interp_write_real(dtype, a_memory + count * bytes, a[count]);
            interp_write_real(dtype, b_memory + count * bytes, b[count]);
        }
    const Func *funcs[32];
    for (int kind = EXPR_ADD; kind <= EXPR_GE; kind++)
        funcs[func_count++] = binary_func(ctx, kind, dtype, count);
    CodegenOptions options = options_for(dtype);
    Jit *jit = jit_with(ctx, funcs, func_count, &options);
    JitArg args[] = {{.pointer = a_memory}, {.pointer = b_memory}, {.pointer = result}};
    for (int f = 0; f < func_count; f++) {
        int kind = atoi(funcs[f]->name + 2);
        assert_int_equal(find(ctx, jit, funcs[f]->name)(args), 0);
        for (int i = 0; i < count; i++) {
            double want = dtype_round_float(dtype, expected_real(kind, a[i], b[i]));
            double got = kind >= EXPR_EQ ? result[i] : interp_read_real(dtype, result + i * bytes);
            if (!same_real(got, want))
                fail_msg("%s %s: %g, %g gives %g, not %g", dtype_name(ctx, dtype), expr_kind_info((ExprKind)kind)->name, a[i], b[i], got,
                         want);
        }
    }
    jit_close(jit);
}

static void test_float_operators(void **state)
{
    (void)state;
    for (int i = 0; i < FLOAT_TYPES; i++) {
        Context *ctx = context_new();
        check_float_type(ctx, type_of(float_types[i]));
        context_free(ctx);
    }
}

/* --- Conversions --- */

static double expected_as_real(DType from, int64_t integer, double real)
{
    if (dtype_is_float(from))
        return real;
    return from.code == DT_UINT ? (double)(uint64_t)integer : (double)integer;
}

static int64_t saturated(DType to, double value)
{
    if (isnan(value))
        return 0;
    value = trunc(value);
    double least = (double)dtype_min_int(to), most = to.bits == 64 && to.code == DT_UINT ? 0x1p64 : (double)dtype_max_int(to);
    if (value <= least)
        return dtype_min_int(to);
    if (value >= most)
        return to.bits == 64 && to.code == DT_UINT ? -1 : dtype_max_int(to);
    return to.code == DT_UINT ? (int64_t)(uint64_t)value : (int64_t)value;
}

static int64_t expected_cast_integer(DType from, DType to, int64_t integer, double real)
{
    if (to.code == DT_BOOL)
        return dtype_is_float(from) ? real != 0 : integer != 0;
    return dtype_is_float(from) ? saturated(to, real) : dtype_wrap(to, integer);
}

static double expected_cast_real(DType from, DType to, int64_t integer, double real)
{
    if (!dtype_is_float(from) && to.bits == 32)
        return from.code == DT_UINT ? (float)(uint64_t)integer : (float)integer;
    return dtype_round_float(to, expected_as_real(from, integer, real));
}

static void check_cast(Context *ctx, Jit *jit, DType from, DType to, const char *name)
{
    int64_t integers[64] = {0};
    double reals[64] = {0};
    int count = dtype_is_float(from) ? float_samples(from, reals) : integer_samples(from, integers);
    uint8_t source[64 * 8], result[64 * 8];
    for (int i = 0; i < count; i++)
        if (dtype_is_float(from))
            interp_write_real(from, source + i * dtype_bytes(from), reals[i]);
        else
            interp_write_integer(from, source + i * dtype_bytes(from), integers[i]);
    JitArg args[] = {{.pointer = source}, {.pointer = source}, {.pointer = result}, {.integer = count}};
    assert_int_equal(find(ctx, jit, name)(args), 0);
    for (int i = 0; i < count; i++) {
        void *at = result + i * dtype_bytes(to);
        if (dtype_is_float(to)) {
            if (!same_real(interp_read_real(to, at), expected_cast_real(from, to, integers[i], reals[i])))
                fail_msg("%s: %lld or %g gives %g", name, (long long)integers[i], reals[i], interp_read_real(to, at));
        } else if (interp_read_integer(to, at) != expected_cast_integer(from, to, integers[i], reals[i])) {
            fail_msg("%s: %lld or %g gives %lld", name, (long long)integers[i], reals[i], (long long)interp_read_integer(to, at));
        }
    }
}

static DType nth_type(int index)
{
    return type_of(index < INTEGER_TYPES ? integer_types[index] : float_types[index - INTEGER_TYPES]);
}

static void test_conversions(void **state)
{
    (void)state;
    Context *ctx = context_new();
    const Func *funcs[(INTEGER_TYPES + FLOAT_TYPES) * (INTEGER_TYPES + FLOAT_TYPES)];
    int count = 0;
    for (int i = 0; i < INTEGER_TYPES + FLOAT_TYPES; i++)
        for (int j = 0; j < INTEGER_TYPES + FLOAT_TYPES; j++) {
            DType from = nth_type(i), to = nth_type(j);
            Elementwise e =
                elementwise_new(ctx, context_internf(ctx, "%s_to_%s", dtype_name(ctx, from), dtype_name(ctx, to)), from, to, 64);
            Var *n = maker_scalar(&e.maker, "n", DTYPE_INT32);
            const Stmt *body = store_at(ctx, e.result, e.index, expr_cast(ctx, to, load_at(ctx, e.a, e.index)));
            funcs[count++] = maker_func(&e.maker, loop(ctx, e.i, expr_var(ctx, n), body));
        }
    CodegenOptions options = codegen_default_options();
    options.opt_level = 1;
    Jit *jit = jit_with(ctx, funcs, count, &options);
    for (int i = 0; i < count; i++)
        check_cast(ctx, jit, nth_type(i / (INTEGER_TYPES + FLOAT_TYPES)), nth_type(i % (INTEGER_TYPES + FLOAT_TYPES)), funcs[i]->name);
    jit_close(jit);
    context_free(ctx);
}

/* Neighbours that may be computed in one vector of fewer bits: an unsigned conversion needs all that a sign fills. */
static void test_unsigned_neighbours(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    static const DType wide[] = {DTYPE(DT_UINT, 32), DTYPE(DT_UINT, 64)};
    int16_t values[COUNT] = {-1, 5, INT16_MIN, -300};
    for (int t = 0; t < 2; t++) {
        Context *ctx = context_new();
        Elementwise e = elementwise_new(ctx, "f", DTYPE(DT_INT, 16), DTYPE_FLOAT32, COUNT);
        const Expr *value = expr_cast(ctx, DTYPE_FLOAT32, expr_cast(ctx, wide[t], load_at(ctx, e.a, e.index)));
        const Func *func = elementwise_func(&e, op_add(ctx, value, expr_float(ctx, DTYPE_FLOAT32, 0.5)), COUNT);
        float result[COUNT];
        JitArg args[] = {{.pointer = values}, {.pointer = values}, {.pointer = result}};
        assert_int_equal(run(ctx, func, args, NULL), 0);
        for (int i = 0; i < COUNT; i++)
            assert_true(result[i] == 0.5f + (t ? (float)(uint64_t)values[i] : (float)(uint32_t)values[i]));
        context_free(ctx);
    }
}

/* Rounding float64 to 16 bits by way of float32 would round these twice. */
static void test_double_to_half_rounds_once(void **state)
{
    (void)state;
    Context *ctx = context_new();
    double values[] = {1 + 0x1p-11 + 0x1p-40,   1 + 0x1p-11 - 0x1p-40, 65520 - 1e-9, 65520, 0x1p-25 + 0x1p-60, 0x1p-25,
                       -(1 + 0x1p-8 + 0x1p-50), 1 + 0x1p-8 - 0x1p-50};
    enum { COUNT = sizeof values / sizeof *values };
    for (int f = 0; f < 2; f++) {
        DType to = type_of(float_types[f]);
        Elementwise e = elementwise_new(ctx, "f", DTYPE_FLOAT64, to, COUNT);
        const Func *func = elementwise_func(&e, expr_cast(ctx, to, load_at(ctx, e.a, e.index)), COUNT);
        uint16_t result[COUNT];
        JitArg args[] = {{.pointer = values}, {.pointer = values}, {.pointer = result}};
        assert_int_equal(run(ctx, func, args, NULL), 0);
        for (int i = 0; i < COUNT; i++)
            assert_true(same_real(interp_read_real(to, &result[i]), dtype_round_float(to, values[i])));
    }
    context_free(ctx);
}

/* a * b + c becomes one operation only while contraction is on, and never across the rounding of a 16-bit type. */
static void test_contraction(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Elementwise e = elementwise_new(ctx, "f", DTYPE_FLOAT32, DTYPE_FLOAT32, 8);
    const Expr *product = op_mul(ctx, load_at(ctx, e.a, e.index), load_at(ctx, e.b, e.index));
    const Func *func = elementwise_func(&e, op_add(ctx, product, load_at(ctx, e.result, e.index)), 8);
    for (int on = 0; on < 2; on++) {
        CodegenOptions options = codegen_default_options();
        options.fp_contract = on;
        options.target = "x86_64-linux-gnu";
        options.cpu = "haswell";
        CodegenOutput out;
        require_ok(ctx, backend_find(NULL)->compile(ctx, module_of(ctx, &func, 1), &options, 1u << EMIT_ASSEMBLY, &out));
        assert_int_equal(strstr(out.bytes[EMIT_ASSEMBLY].data, "fmadd") != NULL, on);
    }
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integer_operators), cmocka_unit_test(test_integer_vectors), cmocka_unit_test(test_constant_divisors),
        cmocka_unit_test(test_float_operators),   cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_unsigned_neighbours),     cmocka_unit_test(test_double_to_half_rounds_once),
        cmocka_unit_test(test_contraction),
    };
    return cmocka_run_group_tests_name("codegen_ops", tests, NULL, NULL);
}
