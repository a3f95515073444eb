/* Functions as a whole: arguments and dimensions, checks at entry, loops and ways out of them, scratch memory, parallel loops. */
#include "tests/unit/codegen_helpers.h"

#include "runtime/tirc_rt.h"

static const Expr *true_value(Context *ctx)
{
    return expr_bool(ctx, true);
}

static const Stmt *if_less(Context *ctx, const Expr *a, const Expr *b, const Stmt *then_body, const Stmt *else_body)
{
    return stmt_if(ctx, expr_binary(ctx, EXPR_LT, a, b), then_body, else_body, span_none());
}

static const Stmt *evaluate(Context *ctx, const Expr *expr)
{
    return stmt_evaluate(ctx, expr, span_none());
}

/* A scratch buffer of EXTENT elements; its allocation goes around a body with allocate. */
static Buffer *scratch(Context *ctx, const char *name, DType dtype, const Expr *extent)
{
    return buffer_new(ctx, context_intern(ctx, name), dtype, 1, &extent, NULL, span_none());
}

static const Stmt *allocate(Context *ctx, Buffer *buffer, const Stmt *body)
{
    Stmt stmt = {.kind = STMT_ALLOCATE};
    stmt.as.allocate.var = buffer->data;
    stmt.as.allocate.dtype = buffer->dtype;
    stmt.as.allocate.extents = buffer->shape;
    stmt.as.allocate.extent_count = 1;
    stmt.as.allocate.scope = buffer->scope;
    stmt.as.allocate.condition = true_value(ctx);
    stmt.as.allocate.body = body;
    return stmt_new(ctx, &stmt);
}

static const Stmt *require(Context *ctx, const Expr *condition, const char *message)
{
    Stmt stmt = {.kind = STMT_ASSERT};
    stmt.as.assertion.condition = condition;
    stmt.as.assertion.message = expr_string(ctx, context_intern(ctx, message));
    stmt.as.assertion.body = stmt_empty(ctx);
    return stmt_new(ctx, &stmt);
}

/* --- Arguments --- */

/* B[i] = A[i] * s, the scalar of each type. */
static void test_scalar_arguments(void **state)
{
    (void)state;
    static const char *const types[] = {"int8",  "uint8",  "int16",   "uint16",  "int32", "uint32",
                                        "int64", "uint64", "float32", "float64", "bool"};
    Context *ctx = context_new();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        DType dtype;
        assert_true(dtype_parse(types[i], &dtype));
        Maker maker = maker_new(ctx, "f");
        Buffer *b = maker_buffer(&maker, "B", DTYPE_FLOAT64, 1);
        Var *s = maker_scalar(&maker, "s", dtype);
        const Func *func = maker_func(&maker, store_at(ctx, b, int32(ctx, 0), expr_cast(ctx, DTYPE_FLOAT64, expr_var(ctx, s))));
        double result;
        int64_t value = dtype.code == DT_BOOL ? 1 : dtype.code == DT_UINT ? dtype_max_int(dtype) : -5;
        JitArg args[] = {{.pointer = &result}, dtype_is_float(dtype) ? jit_arg_real(dtype, -5) : jit_arg_integer(dtype, value)};
        assert_int_equal(run(ctx, func, args, NULL), 0);
        assert_true(result == (double)value);
    }
    context_free(ctx);
}

static void test_half_arguments(void **state)
{
    (void)state;
    static const char *const types[] = {"float16", "bfloat16"};
    Context *ctx = context_new();
    for (int i = 0; i < 2; i++) {
        DType dtype;
        assert_true(dtype_parse(types[i], &dtype));
        Maker maker = maker_new(ctx, "f");
        Buffer *b = maker_buffer(&maker, "B", DTYPE_FLOAT32, 1);
        Var *s = maker_scalar(&maker, "s", dtype);
        const Func *func =
            maker_func(&maker, store_at(ctx, b, int32(ctx, 0),
                                        expr_cast(ctx, DTYPE_FLOAT32, op_add(ctx, expr_var(ctx, s), expr_float(ctx, dtype, 1)))));
        float result;
        JitArg args[] = {{.pointer = &result}, jit_arg_real(dtype, 2.5)};
        assert_int_equal(run(ctx, func, args, NULL), 0);
        assert_true(result == 3.5f);
    }
    context_free(ctx);
}

/* B[0] = n, the number of elements of A, through a dimension of type DTYPE. */
static const Func *dimension_func(Context *ctx, DType dtype)
{
    Maker maker = maker_new(ctx, "f");
    Var *n = var_new(ctx, context_intern(ctx, "n"), dtype, span_none());
    maker_buffer_of(&maker, "A", DTYPE_FLOAT32, expr_var(ctx, n));
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT64, 1);
    return maker_func(&maker, store_at(ctx, b, int32(ctx, 0), expr_cast(ctx, DTYPE_INT64, expr_var(ctx, n))));
}

static void test_dimensions(void **state)
{
    (void)state;
    static const struct {
        DType dtype;
        int64_t value;
        bool fits;
    } cases[] = {
        {DTYPE(DT_INT, 32), 7, true},
        {DTYPE(DT_INT, 32), INT32_MAX, true},
        {DTYPE(DT_INT, 32), INT64_C(1) << 31, false},
        {DTYPE(DT_INT, 32), INT64_C(1) << 32, false},
        {DTYPE(DT_INT, 64), INT64_C(1) << 40, true},
        {DTYPE(DT_UINT, 16), 65535, true},
        {DTYPE(DT_UINT, 16), 65536, false},
        {DTYPE(DT_UINT, 16), -1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Context *ctx = context_new();
        int64_t result = -1;
        JitArg args[] = {{.pointer = NULL}, {.pointer = &result}, {.integer = cases[i].value}};
        int code = run(ctx, dimension_func(ctx, cases[i].dtype), args, NULL);
        assert_int_equal(code != 0, !cases[i].fits);
        assert_int_equal(result, cases[i].fits ? cases[i].value : -1);
        if (!cases[i].fits)
            assert_non_null(strstr(tirc_last_error(), "f: argument 'n' is out of the range of"));
        context_free(ctx);
    }
}

static void test_assert_fails_before_any_write(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 1);
    Var *n = maker_scalar(&maker, "n", DTYPE_INT32);
    const Stmt *parts[] = {require(ctx, expr_binary(ctx, EXPR_GE, expr_var(ctx, n), int32(ctx, 0)), "n must not be negative"),
                           store_at(ctx, b, int32(ctx, 0), expr_var(ctx, n))};
    const Func *func = maker_func(&maker, stmt_seq(ctx, parts, 2));
    Jit *jit = jit_with(ctx, &func, 1, NULL);
    int32_t result = 99;
    JitArg good[] = {{.pointer = &result}, {.integer = 3}}, bad[] = {{.pointer = &result}, {.integer = -3}};
    assert_int_not_equal(find(ctx, jit, "f")(bad), 0);
    assert_int_equal(result, 99);
    assert_string_equal(tirc_last_error(), "f: n must not be negative");
    assert_int_equal(find(ctx, jit, "f")(good), 0);
    assert_int_equal(result, 3);
    jit_close(jit);
    context_free(ctx);
}

/* --- Loops --- */

/* Counts the rounds of a loop from MIN over EXTENT, all values and their sum. */
static void check_loop(DType dtype, int64_t min, int64_t extent, bool constant)
{
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT64, 2);
    Var *low = maker_scalar(&maker, "low", dtype), *count = maker_scalar(&maker, "count", dtype),
        *i = var_new(ctx, context_intern(ctx, "i"), dtype, span_none());
    const Expr *zero = int32(ctx, 0), *one = int32(ctx, 1), *index = expr_cast(ctx, DTYPE_INT64, expr_var(ctx, i));
    const Stmt *body[] = {store_at(ctx, b, zero, op_add(ctx, load_at(ctx, b, zero), expr_int(ctx, DTYPE_INT64, 1))),
                          store_at(ctx, b, one, op_add(ctx, load_at(ctx, b, one), index))};
    const Expr *first = constant ? expr_int(ctx, dtype, min) : expr_var(ctx, low),
               *rounds = constant ? expr_int(ctx, dtype, extent) : expr_var(ctx, count);
    const Func *func = maker_func(&maker, stmt_for_serial(ctx, i, first, rounds, stmt_seq(ctx, body, 2), span_none()));
    int64_t result[2] = {0, 0}, rounds_expected = extent > 0 ? extent : 0;
    JitArg args[] = {{.pointer = result}, jit_arg_integer(dtype, min), jit_arg_integer(dtype, extent)};
    assert_int_equal(run(ctx, func, args, NULL), 0);
    assert_int_equal(result[0], rounds_expected);
    assert_int_equal(result[1], rounds_expected * min + rounds_expected * (rounds_expected - 1) / 2);
    context_free(ctx);
}

static void test_loop_ranges(void **state)
{
    (void)state;
    for (int constant = 0; constant < 2; constant++) {
        check_loop(DTYPE_INT32, 0, 10, constant);
        check_loop(DTYPE_INT32, 5, 1, constant);
        check_loop(DTYPE_INT32, 5, 0, constant);
        check_loop(DTYPE_INT32, 5, -3, constant);
        check_loop(DTYPE_INT32, -4, 9, constant);
        check_loop(DTYPE_INT32, INT32_MAX - 2, 2, constant);
        check_loop(DTYPE_INT64, INT64_C(1) << 40, 3, constant);
        check_loop(DTYPE(DT_UINT, 8), 250, 5, constant);
    }
}

/* while B[0] < 100: B[0] = B[0] * 2 + 1 */
static void test_while(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 1);
    const Expr *value = load_at(ctx, b, int32(ctx, 0));
    const Stmt *step = store_at(ctx, b, int32(ctx, 0), op_add_int(ctx, op_mul_int(ctx, value, 2), 1));
    const Func *func = maker_func(&maker, stmt_while(ctx, expr_binary(ctx, EXPR_LT, value, int32(ctx, 100)), step, span_none()));
    int32_t start = 1;
    JitArg args[] = {{.pointer = &start}};
    assert_int_equal(run(ctx, func, args, NULL), 0);
    assert_int_equal(start, 127);
    context_free(ctx);
}

/* Rounds 3 and 4 are skipped, round 7 leaves; each round has a heap block, which must not leak. */
static void test_break_and_continue(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 10);
    Var *i = index_var(ctx, "i"), *n = maker_scalar(&maker, "n", DTYPE_INT32);
    Buffer *temporary = scratch(ctx, "T", DTYPE_INT32, expr_var(ctx, n));
    const Expr *at = expr_var(ctx, i), *middle = expr_binary(ctx, EXPR_AND, expr_binary(ctx, EXPR_GE, at, int32(ctx, 3)),
                                                             expr_binary(ctx, EXPR_LE, at, int32(ctx, 4)));
    const Stmt *body[] = {
        store_at(ctx, temporary, int32(ctx, 0), at),
        stmt_if(ctx, middle, evaluate(ctx, call(ctx, DTYPE_VOID, OP_CONTINUE_LOOP, 0)), NULL, span_none()),
        if_less(ctx, int32(ctx, 6), at, evaluate(ctx, call(ctx, DTYPE_VOID, OP_BREAK_LOOP, 0)), NULL),
        store_at(ctx, b, at, load_at(ctx, temporary, int32(ctx, 0))),
    };
    const Func *func = maker_func(&maker, loop(ctx, i, int32(ctx, 10), allocate(ctx, temporary, stmt_seq(ctx, body, 4))));
    int32_t result[10];
    memset(result, -1, sizeof result);
    JitArg args[] = {{.pointer = result}, {.integer = 4}};
    assert_int_equal(run(ctx, func, args, NULL), 0);
    for (int k = 0; k < 10; k++)
        assert_int_equal(result[k], k < 7 && k != 3 && k != 4 ? k : -1);
    context_free(ctx);
}

static void test_return(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 1);
    Var *n = maker_scalar(&maker, "n", DTYPE_INT32);
    const Stmt *parts[] = {
        if_less(ctx, expr_var(ctx, n), int32(ctx, 5), evaluate(ctx, call(ctx, DTYPE_VOID, OP_RET, 1, int32(ctx, 0))), NULL),
        store_at(ctx, b, int32(ctx, 0), expr_var(ctx, n))};
    const Func *func = maker_func(&maker, stmt_seq(ctx, parts, 2));
    Jit *jit = jit_with(ctx, &func, 1, NULL);
    int32_t result = -1;
    JitArg small[] = {{.pointer = &result}, {.integer = 3}}, large[] = {{.pointer = &result}, {.integer = 8}};
    assert_int_equal(find(ctx, jit, "f")(small), 0);
    assert_int_equal(result, -1);
    assert_int_equal(find(ctx, jit, "f")(large), 0);
    assert_int_equal(result, 8);
    jit_close(jit);
    context_free(ctx);
}

/* --- Scratch memory --- */

static int live_blocks, taken_blocks;
static bool refuse_blocks;

static void *counting_alloc(size_t size, size_t alignment)
{
    if (refuse_blocks || size > (size_t)1 << 40)
        return NULL;
    assert_int_equal(alignment, 64);
    live_blocks++;
    taken_blocks++;
    return aligned_alloc(alignment, (size + alignment) / alignment * alignment);
}

static void counting_free(void *block)
{
    live_blocks--;
    free(block);
}

/* B[i] = T[i] + 1 after T[i] = i, over a scratch buffer of EXTENT elements (NULL: n). */
static const Func *scratch_func(Context *ctx, const char *name, const Expr *extent)
{
    Maker maker = maker_new(ctx, name);
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 1000000);
    Var *n = maker_scalar(&maker, "n", DTYPE_INT64), *i = index_var(ctx, "i"), *j = index_var(ctx, "j");
    Buffer *temporary = scratch(ctx, "T", DTYPE_INT32, extent ? extent : expr_var(ctx, n));
    const Stmt *parts[] = {
        loop(ctx, i, expr_cast(ctx, DTYPE_INT32, expr_var(ctx, n)), store_at(ctx, temporary, expr_var(ctx, i), expr_var(ctx, i))),
        loop(ctx, j, expr_cast(ctx, DTYPE_INT32, expr_var(ctx, n)),
             store_at(ctx, b, expr_var(ctx, j), op_add_int(ctx, load_at(ctx, temporary, expr_var(ctx, j)), 1)))};
    return maker_func(&maker, allocate(ctx, temporary, stmt_seq(ctx, parts, 2)));
}

static void check_scratch(const Expr *extent, Context *ctx, int64_t n, int blocks, bool fails)
{
    const Func *func = scratch_func(ctx, "f", extent);
    int32_t *result = calloc(100000, sizeof *result);
    JitArg args[] = {{.pointer = result}, {.integer = n}};
    taken_blocks = live_blocks = 0;
    assert_int_equal(run(ctx, func, args, NULL) != 0, fails);
    assert_int_equal(taken_blocks, blocks);
    assert_int_equal(live_blocks, 0);
    for (int i = 0; i < n && !fails; i++)
        assert_int_equal(result[i], i + 1);
    if (fails)
        assert_string_equal(tirc_last_error(), "f: out of memory for 'T'");
    free(result);
}

static void test_scratch_memory(void **state)
{
    (void)state;
    Context *ctx = context_new();
    tirc_set_allocator(counting_alloc, counting_free);
    check_scratch(int32(ctx, 16384), ctx, 16384, 0, false);
    check_scratch(int32(ctx, 16385), ctx, 16385, 1, false);
    check_scratch(NULL, ctx, 0, 1, false);
    check_scratch(NULL, ctx, 777, 1, false);
    check_scratch(NULL, ctx, INT64_C(1) << 61, 0, true);
    refuse_blocks = true;
    check_scratch(NULL, ctx, 10, 0, true);
    refuse_blocks = false;
    tirc_set_allocator(NULL, NULL);
    context_free(ctx);
}

static void test_failure_frees_blocks(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 1);
    Var *n = maker_scalar(&maker, "n", DTYPE_INT32);
    Buffer *outer = scratch(ctx, "outer", DTYPE_INT32, expr_var(ctx, n)), *inner = scratch(ctx, "inner", DTYPE_INT32, expr_var(ctx, n));
    const Stmt *body[] = {store_at(ctx, outer, int32(ctx, 0), int32(ctx, 1)), store_at(ctx, inner, int32(ctx, 0), int32(ctx, 1)),
                          require(ctx, expr_binary(ctx, EXPR_LT, expr_var(ctx, n), int32(ctx, 5)), "too many"),
                          store_at(ctx, b, int32(ctx, 0), int32(ctx, 7))};
    const Func *func = maker_func(&maker, allocate(ctx, outer, allocate(ctx, inner, stmt_seq(ctx, body, 4))));
    tirc_set_allocator(counting_alloc, counting_free);
    int32_t result = 0;
    JitArg args[] = {{.pointer = &result}, {.integer = 9}};
    taken_blocks = live_blocks = 0;
    assert_int_not_equal(run(ctx, func, args, NULL), 0);
    assert_int_equal(taken_blocks, 2);
    assert_int_equal(live_blocks, 0);
    assert_int_equal(result, 0);
    tirc_set_allocator(NULL, NULL);
    context_free(ctx);
}

static void test_no_heap(void **state)
{
    (void)state;
    Context *ctx = context_new();
    CodegenOptions options = codegen_default_options();
    options.no_heap = true;
    assert_string_equal(refusal(ctx, scratch_func(ctx, "f", NULL), &options),
                        "buffer 'T' needs memory from the heap, which --no-heap forbids");
    CodegenOutput out;
    const Func *small = scratch_func(ctx, "g", int32(ctx, 100));
    require_ok(ctx, backend_find(NULL)->compile(ctx, module_of(ctx, &small, 1), &options, 1u << EMIT_OBJECT, &out));
    context_free(ctx);
}

static void test_constants(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_FLOAT32, 3);
    const Expr *extent = int32(ctx, 3), *data[3];
    for (int i = 0; i < 3; i++)
        data[i] = expr_float(ctx, DTYPE_FLOAT32, i * 1.5);
    Buffer *table = scratch(ctx, "table", DTYPE_FLOAT32, extent);
    Var *i = index_var(ctx, "i");
    Stmt stmt = {.kind = STMT_ALLOCATE_CONST};
    stmt.as.allocate_const.var = table->data;
    stmt.as.allocate_const.dtype = DTYPE_FLOAT32;
    stmt.as.allocate_const.extents = &extent;
    stmt.as.allocate_const.extent_count = 1;
    stmt.as.allocate_const.data = data;
    stmt.as.allocate_const.data_count = 3;
    stmt.as.allocate_const.body =
        loop_kind(ctx, FOR_PARALLEL, i, int32(ctx, 3), store_at(ctx, b, expr_var(ctx, i), load_at(ctx, table, expr_var(ctx, i))));
    float result[3];
    JitArg args[] = {{.pointer = result}};
    assert_int_equal(run(ctx, maker_func(&maker, stmt_new(ctx, &stmt)), args, NULL), 0);
    for (int k = 0; k < 3; k++)
        assert_true(result[k] == k * 1.5f);
    context_free(ctx);
}

/* --- Parallel loops --- */

static int parts_run;

/* Runs a range in three parts, last one first. */
static int backwards(int64_t begin, int64_t end, tirc_loop_body body, void *closure)
{
    int64_t step = (end - begin + 2) / 3;
    for (int64_t part = begin + 2 * step; part >= begin; part -= step) {
        int64_t stop = part + step < end ? part + step : end;
        parts_run++;
        int code = part < stop ? body(part, stop, closure) : 0;
        if (code)
            return code;
    }
    return 0;
}

/* for i in parallel(n): T[0:2] = i, s; B[i] = T[0] + T[1] + A[i] + i (int64), with everything captured. */
static const Func *parallel_func(Context *ctx)
{
    Maker maker = maker_new(ctx, "f");
    Var *n = var_new(ctx, context_intern(ctx, "n"), DTYPE_INT32, span_none());
    Buffer *a = maker_buffer_of(&maker, "A", DTYPE_INT32, expr_var(ctx, n)),
           *b = maker_buffer_of(&maker, "B", DTYPE_INT32, expr_var(ctx, n));
    Var *s = maker_scalar(&maker, "s", DTYPE_INT32), *i = index_var(ctx, "i"),
        *v = var_new(ctx, context_intern(ctx, "v"), dtype_with_lanes(DTYPE_INT32, 2), span_none());
    Buffer *temporary = scratch(ctx, "T", DTYPE_INT32, int32(ctx, 2));
    const Expr *at = expr_var(ctx, i), *pair = ramp(ctx, int32(ctx, 0), 1, 2);
    const Expr *sum =
        op_add(ctx, op_add(ctx, load_at(ctx, temporary, int32(ctx, 0)), load_at(ctx, temporary, int32(ctx, 1))), load_at(ctx, a, at));
    const Stmt *body[] = {store_at(ctx, temporary, pair, expr_var(ctx, v)), store_at(ctx, temporary, int32(ctx, 0), at),
                          store_at(ctx, b, at, op_add(ctx, sum, op_mul(ctx, at, expr_var(ctx, n))))};
    const Stmt *parallel = loop_kind(ctx, FOR_PARALLEL, i, expr_var(ctx, n), allocate(ctx, temporary, stmt_seq(ctx, body, 3)));
    return maker_func(&maker, stmt_let(ctx, v, expr_broadcast(ctx, expr_var(ctx, s), 2), parallel, span_none()));
}

static void test_parallel(void **state)
{
    (void)state;
    Context *ctx = context_new();
    const Func *func = parallel_func(ctx);
    Jit *jit = jit_with(ctx, &func, 1, NULL);
    JitFunction function = find(ctx, jit, "f");
    int32_t a[1000], b[1000];
    for (int i = 0; i < 1000; i++)
        a[i] = i * 3;
    for (int launcher = 0; launcher < 2; launcher++)
        for (int n = 0; n <= 1000; n = n * 3 + 1) {
            memset(b, 0, sizeof b);
            tirc_set_parallel(launcher ? backwards : NULL);
            JitArg args[] = {{.pointer = a}, {.pointer = b}, {.integer = 17}, {.integer = n}};
            assert_int_equal(function(args), 0);
            for (int i = 0; i < 1000; i++)
                assert_int_equal(b[i], i < n ? i + 17 + 3 * i + i * n : 0);
        }
    assert_true(parts_run > 0);
    tirc_set_parallel(NULL);
    jit_close(jit);
    context_free(ctx);
}

/* Nested parallel loops; a failure inside comes out as the code, with its message, and frees the outer block. */
static void test_nested_parallel_failure(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 100);
    Var *n = maker_scalar(&maker, "n", DTYPE_INT32), *limit = maker_scalar(&maker, "limit", DTYPE_INT32), *i = index_var(ctx, "i"),
        *j = index_var(ctx, "j");
    Buffer *block = scratch(ctx, "T", DTYPE_INT32, expr_var(ctx, n));
    const Expr *index = op_add(ctx, op_mul_int(ctx, expr_var(ctx, i), 10), expr_var(ctx, j));
    const Stmt *inner[] = {require(ctx, expr_binary(ctx, EXPR_LT, index, expr_var(ctx, limit)), "beyond the limit"),
                           store_at(ctx, b, index, load_at(ctx, block, int32(ctx, 0)))};
    const Stmt *loops =
        loop_kind(ctx, FOR_PARALLEL, i, int32(ctx, 10), loop_kind(ctx, FOR_PARALLEL, j, int32(ctx, 10), stmt_seq(ctx, inner, 2)));
    const Stmt *parts[] = {store_at(ctx, block, int32(ctx, 0), int32(ctx, 5)), loops};
    const Func *func = maker_func(&maker, allocate(ctx, block, stmt_seq(ctx, parts, 2)));
    Jit *jit = jit_with(ctx, &func, 1, NULL);
    int32_t result[100] = {0};
    tirc_set_allocator(counting_alloc, counting_free);
    live_blocks = 0;
    JitArg good[] = {{.pointer = result}, {.integer = 3}, {.integer = 100}}, bad[] = {{.pointer = result}, {.integer = 3}, {.integer = 55}};
    assert_int_equal(find(ctx, jit, "f")(good), 0);
    for (int k = 0; k < 100; k++)
        assert_int_equal(result[k], 5);
    tirc_set_error("");
    assert_int_not_equal(find(ctx, jit, "f")(bad), 0);
    assert_string_equal(tirc_last_error(), "f: beyond the limit");
    assert_int_equal(live_blocks, 0);
    tirc_set_allocator(NULL, NULL);
    jit_close(jit);
    context_free(ctx);
}

/* --- Refusals --- */

static void test_refusals(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 10);
    Var *i = index_var(ctx, "i");
    const Stmt *store = store_at(ctx, b, expr_var(ctx, i), int32(ctx, 0));
    ForStmt bound = {.var = i,
                     .min = int32(ctx, 0),
                     .extent = int32(ctx, 10),
                     .kind = FOR_THREAD,
                     .thread = context_intern(ctx, "threadIdx.x"),
                     .body = store};
    assert_string_equal(refusal(ctx, maker_func(&maker, stmt_for(ctx, bound, span_none())), NULL),
                        "loop 'i' is bound to threadIdx.x, which cannot be compiled for a CPU");
    const Stmt *ret = evaluate(ctx, call(ctx, DTYPE_VOID, OP_RET, 0)), *leave = evaluate(ctx, call(ctx, DTYPE_VOID, OP_BREAK_LOOP, 0));
    assert_string_equal(refusal(ctx, maker_func(&maker, loop_kind(ctx, FOR_PARALLEL, i, int32(ctx, 10), ret)), NULL),
                        "T.ret cannot leave a parallel loop");
    assert_string_equal(refusal(ctx, maker_func(&maker, loop_kind(ctx, FOR_PARALLEL, i, int32(ctx, 10), leave)), NULL),
                        "T.break_loop cannot leave a parallel loop");
    assert_string_equal(refusal(ctx, maker_func(&maker, leave), NULL), "T.break_loop is not inside a loop");
    assert_string_equal(refusal(ctx, maker_func(&maker, store), NULL), "'i' has no value here");
    const Func *twice[] = {maker_func(&maker, stmt_empty(ctx)), maker_func(&maker, stmt_empty(ctx))};
    CodegenOutput out;
    CodegenOptions options = codegen_default_options();
    DiagMark mark = diag_mark(ctx);
    assert_false(backend_find(NULL)->compile(ctx, module_of(ctx, twice, 2), &options, 1u << EMIT_OBJECT, &out));
    assert_string_equal(diag_first_error(ctx, mark), "there are two definitions of 'f'");
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_arguments), cmocka_unit_test(test_half_arguments),       cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_assert_fails_before_any_write), cmocka_unit_test(test_loop_ranges), cmocka_unit_test(test_while),
        cmocka_unit_test(test_break_and_continue), cmocka_unit_test(test_return),             cmocka_unit_test(test_scratch_memory),
        cmocka_unit_test(test_failure_frees_blocks), cmocka_unit_test(test_no_heap),          cmocka_unit_test(test_constants),
        cmocka_unit_test(test_parallel),         cmocka_unit_test(test_nested_parallel_failure), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("codegen_func", tests, NULL, NULL);
}
