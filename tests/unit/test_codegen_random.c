/* Random expressions over all types, scalar and vector: compiled code against the interpreter, bit for bit. */
#include "tests/unit/codegen_helpers.h"

#include <math.h>

#include "interp/interp.h"

#ifndef RANDOM_MODULES
#define RANDOM_MODULES 8
#endif
enum { FUNCS_PER_MODULE = 12, STORES = 4, ELEMENTS = 64, TYPES = 14, MAX_DEPTH = 4 };

static const char *const type_names[TYPES] = {"int8", "int16",   "int32",   "int64",   "uint8",  "uint32",
                                              "bool", "float32", "float64", "float16", "uint16", "bfloat16", "float8_e4m3fn", "float8_e5m2fnuz"};
static const int lane_choices[] = {1, 1, 1, 2, 3, 5, 8, 16, 17, 33};

typedef struct {
    Context *ctx;
    uint64_t random;
    Buffer *in[TYPES], *out[TYPES];
    DType types[TYPES];
    Var *i;
    int lanes;
} Generator;

static uint64_t next_random(Generator *g)
{
    g->random ^= g->random << 13;
    g->random ^= g->random >> 7;
    g->random ^= g->random << 17;
    return g->random;
}

static int choose(Generator *g, int count)
{
    return (int)((next_random(g) >> 33) % (uint64_t)count);
}

static DType with_lanes(const Generator *g, int type)
{
    return dtype_with_lanes(g->types[type], g->lanes);
}

static const Expr *make_expr(Generator *g, int type, int depth);

static const Expr *spread(const Generator *g, const Expr *scalar)
{
    return g->lanes > 1 ? expr_broadcast(g->ctx, scalar, g->lanes) : scalar;
}

static const Expr *make_constant(Generator *g, int type)
{
    static const int64_t values[] = {0, 1, 2, 3, 5, 7, 8, 100, -1, -2, -3, -8, -100, INT64_MAX, INT64_MIN, 1 << 20};
    DType dtype = g->types[type];
    int64_t value = values[choose(g, 16)];
    if (dtype_is_float(dtype))
        return spread(g, expr_float(g->ctx, dtype, (double)(value % 1000000) / 4));
    return spread(g, expr_int(g->ctx, dtype, dtype_wrap(dtype, value)));
}

/* 0, 1, 2, ... over lanes or iterations. */
static const Expr *position(const Generator *g)
{
    return g->lanes > 1 ? ramp(g->ctx, int32(g->ctx, 0), 1, g->lanes) : expr_var(g->ctx, g->i);
}

static const Expr *make_load(Generator *g, int type, int depth)
{
    const Expr *index = position(g);
    if (depth > 0 && choose(g, 3) == 0)
        index = expr_binary(g->ctx, EXPR_FLOORMOD, make_expr(g, 2, depth - 1), spread(g, int32(g->ctx, ELEMENTS)));
    else if (choose(g, 3) == 0)
        index = expr_binary(g->ctx, EXPR_SUB, spread(g, int32(g->ctx, ELEMENTS - 1)), index);
    return load_at(g->ctx, g->in[type], index);
}

/* A load that would be out of bounds without its guard. */
static const Expr *make_guarded_load(Generator *g, int type)
{
    int limit = choose(g, g->lanes > 1 ? g->lanes + 1 : 16);
    const Expr *at = position(g), *guard = expr_binary(g->ctx, EXPR_LT, at, spread(g, int32(g->ctx, limit)));
    const Expr *index = expr_binary(g->ctx, EXPR_ADD, at, spread(g, int32(g->ctx, ELEMENTS - limit)));
    return call(g->ctx, with_lanes(g, type), OP_IF_THEN_ELSE, 3, guard, load_at(g->ctx, g->in[type], index), make_constant(g, type));
}

static const Expr *make_binary(Generator *g, int type, int depth)
{
    static const ExprKind kinds[] = {EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_MOD, EXPR_FLOORDIV, EXPR_FLOORMOD, EXPR_MIN, EXPR_MAX};
    return expr_binary(g->ctx, kinds[choose(g, 9)], make_expr(g, type, depth - 1), make_expr(g, type, depth - 1));
}

static const Expr *make_bits(Generator *g, int type, int depth)
{
    static const Op ops[] = {OP_SHIFT_LEFT, OP_SHIFT_RIGHT, OP_BITWISE_AND, OP_BITWISE_OR, OP_BITWISE_XOR};
    return call(g->ctx, with_lanes(g, type), ops[choose(g, 5)], 2, make_expr(g, type, depth - 1), make_expr(g, type, depth - 1));
}

static const Expr *make_math(Generator *g, int type, int depth)
{
    static const Op ops[] = {OP_FLOOR, OP_CEIL, OP_ROUND, OP_NEARBYINT, OP_TRUNC, OP_FABS, OP_SQRT, OP_EXP, OP_TANH, OP_SIGMOID};
    return call(g->ctx, with_lanes(g, type), ops[choose(g, 10)], 1, make_expr(g, type, depth - 1));
}

static const Expr *make_bool(Generator *g, int depth)
{
    int operand = choose(g, TYPES);
    switch (choose(g, 4)) {
    case 0: return expr_not(g->ctx, make_expr(g, 6, depth - 1));
    case 1: return expr_binary(g->ctx, choose(g, 2) ? EXPR_AND : EXPR_OR, make_expr(g, 6, depth - 1), make_expr(g, 6, depth - 1));
    default:
        return expr_binary(g->ctx, (ExprKind)(EXPR_EQ + choose(g, 6)), make_expr(g, operand, depth - 1), make_expr(g, operand, depth - 1));
    }
}

static const Expr *make_let(Generator *g, int type, int depth)
{
    int value_type = choose(g, TYPES);
    Var *var = var_new(g->ctx, context_intern(g->ctx, "v"), with_lanes(g, value_type), span_none());
    const Expr *value = make_expr(g, value_type, depth - 1);
    const Expr *use = value_type == type ? expr_var(g->ctx, var) : expr_cast(g->ctx, with_lanes(g, type), expr_var(g->ctx, var));
    return expr_let(g->ctx, var, value, expr_binary(g->ctx, EXPR_MAX, use, make_expr(g, type, depth - 1)));
}

static const Expr *make_choice(Generator *g, int type, int depth)
{
    const Expr *condition = make_expr(g, 6, depth - 1), *a = make_expr(g, type, depth - 1), *b = make_expr(g, type, depth - 1);
    return choose(g, 2) ? expr_select(g->ctx, condition, a, b) : call(g->ctx, with_lanes(g, type), OP_IF_THEN_ELSE, 3, condition, a, b);
}

static const Expr *make_expr(Generator *g, int type, int depth)
{
    bool is_float = dtype_is_float(g->types[type]), is_bool = g->types[type].code == DT_BOOL;
    if (depth <= 0)
        return choose(g, 3) ? make_load(g, type, 0) : make_constant(g, type);
    switch (choose(g, 10)) {
    case 0: return make_load(g, type, depth);
    case 1: return make_guarded_load(g, type);
    case 2: return expr_cast(g->ctx, with_lanes(g, type), make_expr(g, choose(g, TYPES), depth - 1));
    case 3: return make_choice(g, type, depth);
    case 4: return make_let(g, type, depth);
    case 5: return is_bool ? make_bool(g, depth) : is_float ? make_math(g, type, depth) : make_bits(g, type, depth);
    default: return is_bool ? make_bool(g, depth) : make_binary(g, type, depth);
    }
}

/* out[...] = random expressions; each store is a vector store or a loop over 16 elements. */
static const Func *make_func(Generator *g, const char *name)
{
    Maker maker = maker_new(g->ctx, name);
    const Stmt *stores[STORES];
    Param params[2 * TYPES];
    for (int t = 0; t < TYPES; t++) {
        assert_true(dtype_parse(type_names[t], &g->types[t]));
        maker.param_count = 0;
        g->in[t] = maker_buffer(&maker, "I", g->types[t], ELEMENTS);
        g->out[t] = maker_buffer(&maker, "O", g->types[t], ELEMENTS);
        params[2 * t] = maker.params[0];
        params[2 * t + 1] = maker.params[1];
    }
    for (int s = 0; s < STORES; s++) {
        int type = choose(g, TYPES);
        g->lanes = lane_choices[choose(g, 10)];
        g->i = index_var(g->ctx, "i");
        const Expr *value = make_expr(g, type, MAX_DEPTH);
        stores[s] = store_at(g->ctx, g->out[type], position(g), value);
        if (g->lanes == 1)
            stores[s] = loop(g->ctx, g->i, int32(g->ctx, 16), stores[s]);
    }
    Func *func = arena_copy(g->ctx->arena, maker_func(&maker, stmt_seq(g->ctx, stores, STORES)), sizeof *func);
    func->params = arena_copy(g->ctx->arena, params, sizeof params);
    func->param_count = 2 * TYPES;
    return func;
}

/* --- Memory for both sides --- */

typedef struct {
    uint8_t bytes[2 * TYPES][ELEMENTS * 8];
} Memory;

static void fill(Generator *g, Memory *memory)
{
    memset(memory, 0, sizeof *memory);
    for (int t = 0; t < TYPES; t++)
        for (int i = 0; i < ELEMENTS; i++) {
            DType dtype = g->types[t];
            void *at = memory->bytes[2 * t] + i * dtype_bytes(dtype);
            int64_t value = (int64_t)next_random(g) >> (choose(g, 8) * 8);
            if (dtype_is_float(dtype))
                interp_write_real(dtype, at,
                                  dtype_round_float(dtype, choose(g, 16)  ? (double)(value % 100000) / 8
                                                           : choose(g, 2) ? NAN
                                                                          : INFINITY));
            else
                interp_write_integer(dtype, at, dtype_wrap(dtype, value));
        }
}

static void run_compiled(JitFunction function, Memory *memory)
{
    JitArg args[2 * TYPES];
    for (int i = 0; i < 2 * TYPES; i++)
        args[i].pointer = memory->bytes[i];
    assert_int_equal(function(args), 0);
}

static void run_interpreted(Context *ctx, const Func *func, Memory *memory)
{
    static const int64_t shape = ELEMENTS;
    InterpArg args[2 * TYPES] = {0};
    for (int i = 0; i < 2 * TYPES; i++)
        args[i] = (InterpArg){
            .data = memory->bytes[i], .bytes = ELEMENTS * dtype_bytes(func->params[i].buffer->dtype), .ndim = 1, .shape = &shape};
    InterpOptions options = {.finding_limit = 1 << 30};
    InterpResult result;
    interp_run(ctx, func, args, &options, &result);
    if (!result.completed)
        diag_flush(ctx, stderr, false);
    assert_true(result.completed);
    assert_int_equal(result.kinds & ~(1u << INTERP_DIVISION), 0);
}

/* Equal bytes, but for NaNs, which may differ in sign and payload. */
static void compare(const Func *func, uint64_t seed, const Memory *compiled, const Memory *interpreted)
{
    for (int b = 1; b < 2 * TYPES; b += 2) {
        DType dtype = func->params[b].buffer->dtype;
        for (int i = 0; i < ELEMENTS; i++) {
            const void *a = compiled->bytes[b] + i * dtype_bytes(dtype), *c = interpreted->bytes[b] + i * dtype_bytes(dtype);
            if (!memcmp(a, c, (size_t)dtype_bytes(dtype)) ||
                (dtype_is_float(dtype) && isnan(interp_read_real(dtype, a)) && isnan(interp_read_real(dtype, c))))
                continue;
            if (dtype_is_float(dtype))
                fail_msg("seed %llu %s: %s[%d] is %.17g, the interpreter says %.17g", (unsigned long long)seed, func->name,
                         type_names[b / 2], i, interp_read_real(dtype, a), interp_read_real(dtype, c));
            fail_msg("seed %llu %s: %s[%d] is %lld, the interpreter says %lld", (unsigned long long)seed, func->name, type_names[b / 2], i,
                     (long long)interp_read_integer(dtype, a), (long long)interp_read_integer(dtype, c));
        }
    }
}

static void check_seed(uint64_t seed)
{
    static Memory input, compiled, interpreted;
    Context *ctx = context_new();
    Generator g = {.ctx = ctx, .random = seed * 0x9e3779b97f4a7c15ull + 1};
    const Func *funcs[FUNCS_PER_MODULE];
    for (int f = 0; f < FUNCS_PER_MODULE; f++)
        funcs[f] = make_func(&g, context_internf(ctx, "f%d", f));
    CodegenOptions options = codegen_default_options();
    options.opt_level = (int)(seed % 4);
    options.fp_contract = false;
    options.wide_math = true;
    options.cpu = seed % 3 ? NULL : "generic";
    Jit *jit = jit_with(ctx, funcs, FUNCS_PER_MODULE, &options);
    for (int f = 0; f < FUNCS_PER_MODULE; f++) {
        fill(&g, &input);
        compiled = interpreted = input;
        run_compiled(find(ctx, jit, funcs[f]->name), &compiled);
        run_interpreted(ctx, funcs[f], &interpreted);
        compare(funcs[f], seed, &compiled, &interpreted);
    }
    jit_close(jit);
    context_free(ctx);
}

static void test_random_expressions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= RANDOM_MODULES; seed++)
        check_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_expressions)};
    return cmocka_run_group_tests_name("codegen_random", tests, NULL, NULL);
}
