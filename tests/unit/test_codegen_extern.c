/* Calls of C functions and LLVM intrinsics, and LLVM IR that a function imports. */
#include "tests/unit/codegen_helpers.h"

#include <unistd.h>

/* --- Functions that compiled code calls, found in this process (which exports what begins with tirc_) --- */

int32_t tirc_test_sum(const float *data, int32_t count, float *result);
double tirc_test_mixed(int8_t a, uint8_t b, int16_t c, uint16_t d, int64_t e, float f, double g, uint8_t flag);
uint8_t tirc_test_is_odd(int32_t x);
uint16_t tirc_test_half_bits(uint16_t bits);
int32_t tirc_test_length(const char *text);

int32_t tirc_test_sum(const float *data, int32_t count, float *result)
{
    *result = 0;
    for (int i = 0; i < count; i++)
        *result += data[i];
    return 7;
}

double tirc_test_mixed(int8_t a, uint8_t b, int16_t c, uint16_t d, int64_t e, float f, double g, uint8_t flag)
{
    return a + b + c + d + (double)e + (double)f + g + flag;
}

uint8_t tirc_test_is_odd(int32_t x)
{
    return x & 1;
}

uint16_t tirc_test_half_bits(uint16_t bits)
{
    return bits ^ 0x8000;
}

int32_t tirc_test_length(const char *text)
{
    return (int32_t)strlen(text);
}

static const Expr *text(Context *ctx, const char *string)
{
    return expr_string(ctx, context_intern(ctx, string));
}

static const Stmt *evaluate(Context *ctx, const Expr *expr)
{
    return stmt_evaluate(ctx, expr, span_none());
}

static const Expr *address(Context *ctx, const Expr *load)
{
    return call(ctx, DTYPE_HANDLE, OP_ADDRESS_OF, 1, load);
}

static const Expr *access_ptr(Context *ctx, Buffer *buffer, const Expr *offset)
{
    const Expr *type = call(ctx, buffer->dtype, OP_TYPE_ANNOTATION, 0);
    return call(ctx, DTYPE_HANDLE, OP_TVM_ACCESS_PTR, 5, type, expr_var(ctx, buffer->data), offset, int32(ctx, 1), int32(ctx, 1));
}

static void test_pointers(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *a = maker_buffer(&maker, "A", DTYPE_FLOAT32, 10), *b = maker_buffer(&maker, "B", DTYPE_FLOAT32, 3),
           *c = maker_buffer(&maker, "C", DTYPE_INT32, 1);
    const Expr *first = call(ctx, DTYPE_INT32, OP_CALL_EXTERN, 4, text(ctx, "tirc_test_sum"), access_ptr(ctx, a, int32(ctx, 2)),
                             int32(ctx, 3), address(ctx, load_at(ctx, b, int32(ctx, 1))));
    const Expr *second = call(ctx, DTYPE_INT32, OP_CALL_EXTERN, 4, text(ctx, "tirc_test_sum"), expr_var(ctx, a->data), int32(ctx, 10),
                              address(ctx, load_at(ctx, b, ramp(ctx, int32(ctx, 2), 1, 1))));
    const Stmt *parts[] = {store_at(ctx, c, int32(ctx, 0), first), evaluate(ctx, second)};
    float numbers[10], sums[3] = {0};
    int32_t code = 0;
    for (int i = 0; i < 10; i++)
        numbers[i] = (float)i;
    JitArg args[] = {{.pointer = numbers}, {.pointer = sums}, {.pointer = &code}};
    assert_int_equal(run(ctx, maker_func(&maker, stmt_seq(ctx, parts, 2)), args, NULL), 0);
    assert_int_equal(code, 7);
    assert_true(sums[0] == 0 && sums[1] == 2 + 3 + 4 && sums[2] == 45);
    context_free(ctx);
}

static void test_scalars(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_FLOAT64, 1), *c = maker_buffer(&maker, "C", DTYPE_BOOL, 2),
           *d = maker_buffer(&maker, "D", DTYPE(DT_FLOAT, 16), 1);
    const Expr *mixed[] = {text(ctx, "tirc_test_mixed"),
                           expr_int(ctx, DTYPE(DT_INT, 8), -100),
                           expr_int(ctx, DTYPE(DT_UINT, 8), 200),
                           expr_int(ctx, DTYPE(DT_INT, 16), -30000),
                           expr_int(ctx, DTYPE(DT_UINT, 16), 60000),
                           expr_int(ctx, DTYPE_INT64, INT64_C(1) << 40),
                           expr_float(ctx, DTYPE_FLOAT32, 0.5),
                           expr_float(ctx, DTYPE_FLOAT64, 0.25),
                           expr_bool(ctx, true)};
    const Expr *half =
        call(ctx, DTYPE(DT_FLOAT, 16), OP_CALL_PURE_EXTERN, 2, text(ctx, "tirc_test_half_bits"), expr_float(ctx, DTYPE(DT_FLOAT, 16), 1.5));
    const Stmt *parts[] = {
        store_at(ctx, b, int32(ctx, 0), expr_call(ctx, DTYPE_FLOAT64, OP_CALL_EXTERN, mixed, 9, span_none())),
        store_at(ctx, c, int32(ctx, 0), call(ctx, DTYPE_BOOL, OP_CALL_PURE_EXTERN, 2, text(ctx, "tirc_test_is_odd"), int32(ctx, 3))),
        store_at(ctx, c, int32(ctx, 1), call(ctx, DTYPE_BOOL, OP_CALL_PURE_EXTERN, 2, text(ctx, "tirc_test_is_odd"), int32(ctx, 4))),
        store_at(ctx, d, int32(ctx, 0), half),
    };
    double sum = 0;
    uint8_t odd[2];
    uint16_t bits;
    JitArg args[] = {{.pointer = &sum}, {.pointer = odd}, {.pointer = &bits}};
    assert_int_equal(run(ctx, maker_func(&maker, stmt_seq(ctx, parts, 4)), args, NULL), 0);
    assert_true(sum == -100 + 200 - 30000 + 60000 + 0x1p40 + 0.5 + 0.25 + 1);
    assert_int_equal(odd[0], 1);
    assert_int_equal(odd[1], 0);
    assert_int_equal(bits, 0x3e00 ^ 0x8000);
    context_free(ctx);
}

static void test_strings_and_null(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", DTYPE_INT32, 2);
    const Expr *is_null = call(ctx, DTYPE_BOOL, OP_ISNULLPTR, 1, expr_var(ctx, b->data));
    const Stmt *parts[] = {
        store_at(ctx, b, int32(ctx, 0), call(ctx, DTYPE_INT32, OP_CALL_EXTERN, 2, text(ctx, "tirc_test_length"), text(ctx, "hello"))),
        store_at(ctx, b, int32(ctx, 1), expr_cast(ctx, DTYPE_INT32, is_null))};
    int32_t result[2] = {-1, -1};
    JitArg args[] = {{.pointer = result}};
    assert_int_equal(run(ctx, maker_func(&maker, stmt_seq(ctx, parts, 2)), args, NULL), 0);
    assert_int_equal(result[0], 5);
    assert_int_equal(result[1], 0);
    context_free(ctx);
}

/* A pure function runs lane by lane, and only for the lanes that need it. */
static void test_pure_calls_on_vectors(void **state)
{
    (void)state;
    static const int lane_counts[] = {3, 40};
    for (int k = 0; k < 2; k++) {
        Context *ctx = context_new();
        int lanes = lane_counts[k];
        Maker maker = maker_new(ctx, "f");
        Buffer *a = maker_buffer(&maker, "A", DTYPE_INT32, lanes), *b = maker_buffer(&maker, "B", DTYPE_BOOL, lanes);
        const Expr *at = ramp(ctx, int32(ctx, 0), 1, lanes), *limit = expr_broadcast(ctx, int32(ctx, lanes / 2), lanes),
                   *guard = expr_binary(ctx, EXPR_LT, at, limit);
        const Expr *odd =
            call(ctx, dtype_with_lanes(DTYPE_BOOL, lanes), OP_CALL_PURE_EXTERN, 2, text(ctx, "tirc_test_is_odd"), load_at(ctx, a, at));
        const Expr *value = call(ctx, odd->dtype, OP_IF_THEN_ELSE, 3, guard, odd, expr_broadcast(ctx, expr_bool(ctx, true), lanes));
        int32_t numbers[40];
        uint8_t result[40];
        for (int i = 0; i < lanes; i++)
            numbers[i] = i * 3;
        JitArg args[] = {{.pointer = numbers}, {.pointer = result}};
        assert_int_equal(run(ctx, maker_func(&maker, store_at(ctx, b, at, value)), args, NULL), 0);
        for (int i = 0; i < lanes; i++)
            assert_int_equal(result[i], i < lanes / 2 ? i % 2 : 1);
        context_free(ctx);
    }
}

/* --- LLVM intrinsics --- */

static const Func *intrinsic_func(Context *ctx, DType dtype, const Expr *value)
{
    Maker maker = maker_new(ctx, "f");
    Buffer *b = maker_buffer(&maker, "B", dtype_scalar(dtype), 4);
    return maker_func(&maker, store_at(ctx, b, dtype.lanes > 1 ? ramp(ctx, int32(ctx, 0), 1, dtype.lanes) : int32(ctx, 0), value));
}

static void test_llvm_intrinsics(void **state)
{
    (void)state;
    Context *ctx = context_new();
    DType quad = dtype_with_lanes(DTYPE_FLOAT32, 4), uint32 = DTYPE(DT_UINT, 32);
    const Expr *three = expr_broadcast(ctx, expr_float(ctx, DTYPE_FLOAT32, 3), 4),
               *lookup = call(ctx, DTYPE_INT32, OP_LLVM_LOOKUP_INTRINSIC_ID, 1, text(ctx, "llvm.fma"));
    const Expr *fma = call(ctx, quad, OP_CALL_LLVM_PURE_INTRIN, 4, lookup, three, three, three);
    float floats[4];
    JitArg args[] = {{.pointer = floats}};
    assert_int_equal(run(ctx, intrinsic_func(ctx, quad, fma), args, NULL), 0);
    assert_true(floats[0] == 12 && floats[3] == 12);
    const Expr *counted =
        call(ctx, uint32, OP_CALL_LLVM_PURE_INTRIN, 3, text(ctx, "llvm.ctpop"), expr_int(ctx, uint32, 1), expr_int(ctx, uint32, 0xff));
    uint32_t bits = 0;
    args[0].pointer = &bits;
    assert_int_equal(run(ctx, intrinsic_func(ctx, uint32, counted), args, NULL), 0);
    assert_int_equal(bits, 8);
    const Expr *largest =
        call(ctx, DTYPE_INT32, OP_CALL_LLVM_PURE_INTRIN, 2, text(ctx, "llvm.vector.reduce.smax"), ramp(ctx, int32(ctx, 5), 10, 4));
    assert_int_equal(run(ctx, intrinsic_func(ctx, DTYPE_INT32, largest), args, NULL), 0);
    assert_int_equal(bits, 35);
    context_free(ctx);
}

static void test_llvm_intrinsic_refusals(void **state)
{
    (void)state;
    Context *ctx = context_new();
    const Expr *unknown =
        call(ctx, DTYPE_FLOAT32, OP_CALL_LLVM_PURE_INTRIN, 2, text(ctx, "llvm.nonsense"), expr_float(ctx, DTYPE_FLOAT32, 1));
    assert_string_equal(refusal(ctx, intrinsic_func(ctx, DTYPE_FLOAT32, unknown), NULL), "LLVM has no intrinsic 'llvm.nonsense'");
    const Expr *wrong = call(ctx, DTYPE_INT32, OP_CALL_LLVM_PURE_INTRIN, 2, text(ctx, "llvm.sqrt"), int32(ctx, 1));
    assert_string_equal(refusal(ctx, intrinsic_func(ctx, DTYPE_INT32, wrong), NULL), "'llvm.sqrt' cannot be called with these types");
    const Expr *number =
        call(ctx, DTYPE_FLOAT32, OP_CALL_LLVM_PURE_INTRIN, 2, expr_int(ctx, DTYPE(DT_UINT, 32), 150), expr_float(ctx, DTYPE_FLOAT32, 1));
    assert_string_equal(refusal(ctx, intrinsic_func(ctx, DTYPE_FLOAT32, number), NULL),
                        "LLVM has no intrinsic of this number: state its name");
    context_free(ctx);
}

/* What the processor does not have makes LLVM end the process; the user hears of it as of any other mistake. */
static void test_missing_instruction(void **state)
{
    (void)state;
    Context *ctx = context_new();
    const Expr *crc = call(ctx, DTYPE_INT32, OP_CALL_LLVM_PURE_INTRIN, 3, text(ctx, "llvm.x86.sse42.crc32.32.8"), int32(ctx, 1),
                           expr_int(ctx, DTYPE(DT_INT, 8), 2));
    const Func *func = intrinsic_func(ctx, DTYPE_INT32, crc);
    CodegenOptions options = codegen_default_options();
    options.target = "x86_64-linux-gnu";
    assert_non_null(
        strstr(refusal(ctx, func, &options),
               "LLVM cannot generate code for x86_64-unknown-linux-gnu (generic): Cannot select: intrinsic %llvm.x86.sse42.crc32.32.8"));
    options.features = "+sse4.2,+crc32";
    CodegenOutput out;
    require_ok(ctx, backend_find(NULL)->compile(ctx, module_of(ctx, &func, 1), &options, 1u << EMIT_OBJECT, &out));
    context_free(ctx);
}

/* --- Imported LLVM IR --- */

static const char twice_ir[] = "@calls = global i32 0\n"
                               "define i32 @twice(ptr %x) #0 {\n"
                               "  %v = load float, ptr %x\n"
                               "  %d = call float @helper(float %v)\n"
                               "  store float %d, ptr %x\n"
                               "  ret i32 0\n"
                               "}\n"
                               "define internal float @helper(float %v) #0 {\n"
                               "  %d = fmul float %v, 2.0\n"
                               "  ret float %d\n"
                               "}\n"
                               "attributes #0 = { noinline optnone }\n";

static Attrs import_attr(Context *ctx, const char *source)
{
    AttrValue *list = ARENA_NEW(ctx->arena, AttrValue);
    const AttrValue *item = attr_expr(ctx, text(ctx, source));
    *list = (AttrValue){.kind = ATTR_LIST, .count = 1};
    list->items = arena_copy(ctx->arena, &item, sizeof item);
    return attrs_set(ctx, (Attrs){0}, context_intern(ctx, "tirc.import_llvm"), list);
}

/* f(A): twice(A + 1), with SOURCE imported. */
static const Func *importing_func(Context *ctx, const char *name, const char *source, const char *callee)
{
    Maker maker = maker_new(ctx, name);
    maker.attrs = import_attr(ctx, source);
    Buffer *a = maker_buffer(&maker, "A", DTYPE_FLOAT32, 3);
    return maker_func(&maker,
                      evaluate(ctx, call(ctx, DTYPE_INT32, OP_CALL_EXTERN, 2, text(ctx, callee), access_ptr(ctx, a, int32(ctx, 1)))));
}

static const char *ir_of(Context *ctx, const Func *func, const CodegenOptions *options)
{
    CodegenOutput out;
    require_ok(ctx, backend_find(NULL)->compile(ctx, module_of(ctx, &func, 1), options, 1u << EMIT_LLVM_IR, &out));
    return out.bytes[EMIT_LLVM_IR].data;
}

static void test_import_text(void **state)
{
    (void)state;
    Context *ctx = context_new();
    const Func *funcs[] = {importing_func(ctx, "f", twice_ir, "twice"), importing_func(ctx, "g", twice_ir, "twice")};
    Jit *jit = jit_with(ctx, funcs, 2, NULL);
    float values[3] = {1, 2, 3};
    JitArg args[] = {{.pointer = values}};
    assert_int_equal(find(ctx, jit, "f")(args), 0);
    assert_int_equal(find(ctx, jit, "g")(args), 0);
    assert_true(values[0] == 1 && values[1] == 8 && values[2] == 3);
    jit_close(jit);
    CodegenOptions options = codegen_default_options();
    const char *ir = ir_of(ctx, funcs[0], &options);
    assert_null(strstr(ir, "@twice"));
    assert_null(strstr(ir, "@helper"));
    context_free(ctx);
}

static void test_import_extern(void **state)
{
    (void)state;
    Context *ctx = context_new();
    CodegenOptions options = codegen_default_options();
    const char *names[] = {"twice"};
    options.extern_names = names;
    options.extern_count = 1;
    assert_non_null(strstr(ir_of(ctx, importing_func(ctx, "f", twice_ir, "twice"), &options), "@twice(ptr"));
    context_free(ctx);
}

static void test_import_file(void **state)
{
    (void)state;
    Context *ctx = context_new();
    char dir[] = "/tmp/tirc-test-XXXXXX";
    assert_non_null(mkdtemp(dir));
    const char *path = context_internf(ctx, "%s/twice.ll", dir);
    FILE *file = fopen(path, "w");
    fputs(twice_ir, file);
    fclose(file);
    CodegenOptions options = codegen_default_options();
    const Func *func = importing_func(ctx, "f", path, "twice");
    CodegenOutput out;
    require_ok(ctx, backend_find(NULL)->compile(ctx, module_of(ctx, &func, 1), &options, 1u << EMIT_OBJECT, &out));
    assert_int_equal(out.import_count, 1);
    assert_string_equal(out.imports[0], path);
    remove(path);
    assert_non_null(strstr(refusal(ctx, func, &options), "cannot read the LLVM IR"));
    rmdir(dir);
    context_free(ctx);
}

static void test_import_refusals(void **state)
{
    (void)state;
    Context *ctx = context_new();
    assert_non_null(strstr(refusal(ctx, importing_func(ctx, "f", "define i32 @twice(ptr %x) {\n  ret i33 0\n}\n", "twice"), NULL),
                           "cannot parse the imported LLVM IR"));
    assert_string_equal(refusal(ctx, importing_func(ctx, "f", "define i32 @twice(i32 %x) {\n  ret i32 0\n}\n", "twice"), NULL),
                        "'twice' is called with other types than it is defined with");
    assert_string_equal(refusal(ctx, importing_func(ctx, "twice", twice_ir, "twice"), NULL), "there are two definitions of 'twice'");
    assert_non_null(strstr(
        refusal(ctx,
                importing_func(ctx, "f", "target triple = \"riscv64-linux-gnu\"\n\ndefine i32 @twice(ptr %x) {\n  ret i32 0\n}\n", "twice"),
                NULL),
        "imported LLVM IR is for riscv64-linux-gnu"));
    const Func *funcs[] = {importing_func(ctx, "f", twice_ir, "twice"),
                           importing_func(ctx, "g", "\ndefine i32 @twice(ptr %x) {\n  ret i32 0\n}\n", "twice")};
    CodegenOptions options = codegen_default_options();
    CodegenOutput out;
    DiagMark mark = diag_mark(ctx);
    assert_false(backend_find(NULL)->compile(ctx, module_of(ctx, funcs, 2), &options, 1u << EMIT_OBJECT, &out));
    assert_string_equal(diag_first_error(ctx, mark), "imported LLVM IR defines 'twice' a second time");
    context_free(ctx);
}

/* --- Calls that cannot be --- */

static void test_call_refusals(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    const Expr *vector = ramp(ctx, int32(ctx, 0), 1, 4);
    const Func *func = maker_func(&maker, evaluate(ctx, call(ctx, DTYPE_INT32, OP_CALL_EXTERN, 2, text(ctx, "g"), vector)));
    assert_string_equal(refusal(ctx, func, NULL), "'g' cannot be called on vectors: only call_pure_extern may run lane by lane");
    func = maker_func(&maker, evaluate(ctx, call(ctx, DTYPE_INT32, OP_CALL_EXTERN, 1, text(ctx, "nobody_defines_this"))));
    Jit *jit = jit_with(ctx, &func, 1, NULL);
    DiagMark mark = diag_mark(ctx);
    assert_null(jit_find(jit, context_intern(ctx, "f")));
    assert_non_null(strstr(diag_first_error(ctx, mark), "nobody_defines_this"));
    jit_close(jit);
    context_free(ctx);
}

/* Functions of one module call each other, whatever their order and content. */
static void test_calls_within_the_module(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker caller = maker_new(ctx, "f"), callee = maker_new(ctx, "g");
    Buffer *a = maker_buffer(&caller, "A", DTYPE_INT32, 8), *b = maker_buffer(&callee, "B", DTYPE_INT32, 8);
    Var *i = index_var(ctx, "i");
    const Expr *at = ramp(ctx, int32(ctx, 0), 1, 8);
    const Stmt *parts[] = {loop(ctx, i, int32(ctx, 8), store_at(ctx, a, expr_var(ctx, i), int32(ctx, 5))),
                           evaluate(ctx, call(ctx, DTYPE_INT32, OP_CALL_EXTERN, 2, text(ctx, "g"), access_ptr(ctx, a, int32(ctx, 0))))};
    const Func *funcs[] = {maker_func(&caller, stmt_seq(ctx, parts, 2)),
                           maker_func(&callee, store_at(ctx, b, at, op_add(ctx, load_at(ctx, b, at), at)))};
    Jit *jit = jit_with(ctx, funcs, 2, NULL);
    int32_t values[8];
    JitArg args[] = {{.pointer = values}};
    assert_int_equal(find(ctx, jit, "f")(args), 0);
    for (int k = 0; k < 8; k++)
        assert_int_equal(values[k], 5 + k);
    jit_close(jit);
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_strings_and_null),
        cmocka_unit_test(test_pure_calls_on_vectors),
        cmocka_unit_test(test_llvm_intrinsics),
        cmocka_unit_test(test_llvm_intrinsic_refusals),
        cmocka_unit_test(test_missing_instruction),
        cmocka_unit_test(test_import_text),
        cmocka_unit_test(test_import_extern),
        cmocka_unit_test(test_import_file),
        cmocka_unit_test(test_import_refusals),
        cmocka_unit_test(test_call_refusals),
        cmocka_unit_test(test_calls_within_the_module),
    };
    return cmocka_run_group_tests_name("codegen_extern", tests, NULL, NULL);
}
