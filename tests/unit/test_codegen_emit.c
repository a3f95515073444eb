/* What comes out: kinds of output, targets, options, determinism, undefined symbols; and the C header, with a C program that calls the
   object through it. */
#include "tests/unit/codegen_helpers.h"

#include <unistd.h>

enum { ALL_KINDS = 1u << EMIT_OBJECT | 1u << EMIT_ASSEMBLY | 1u << EMIT_LLVM_IR | 1u << EMIT_BITCODE };

/* B[i] = A[i] + 1 over COUNT elements. */
static const Func *simple_func(Context *ctx, const char *name, int count)
{
    Maker maker = maker_new(ctx, name);
    Buffer *a = maker_buffer(&maker, "A", DTYPE_FLOAT32, count), *b = maker_buffer(&maker, "B", DTYPE_FLOAT32, count);
    Var *i = index_var(ctx, "i");
    const Expr *at = expr_var(ctx, i);
    return maker_func(
        &maker, loop(ctx, i, int32(ctx, count), store_at(ctx, b, at, op_add(ctx, load_at(ctx, a, at), expr_float(ctx, DTYPE_FLOAT32, 1)))));
}

static bool compile(Context *ctx, const Func *func, const CodegenOptions *options, unsigned kinds, CodegenOutput *out)
{
    return backend_find(NULL)->compile(ctx, module_of(ctx, &func, 1), options, kinds, out);
}

/* --- Kinds --- */

static void test_kinds(void **state)
{
    (void)state;
    Context *ctx = context_new();
    CodegenOptions options = codegen_default_options();
    options.source_name = "some/where/add.tir";
    CodegenOutput out;
    require_ok(ctx, compile(ctx, simple_func(ctx, "f", 10), &options, ALL_KINDS, &out));
    assert_memory_equal(out.bytes[EMIT_OBJECT].data, "\177ELF", 4);
    assert_memory_equal(out.bytes[EMIT_BITCODE].data, "BC\xc0\xde", 4);
    assert_non_null(strstr(out.bytes[EMIT_ASSEMBLY].data, "f:"));
    assert_non_null(strstr(out.bytes[EMIT_LLVM_IR].data, "source_filename = \"add.tir\""));
    CodegenOutput only;
    require_ok(ctx, compile(ctx, simple_func(ctx, "f", 10), &options, 1u << EMIT_OBJECT, &only));
    assert_null(only.bytes[EMIT_LLVM_IR].data);
    assert_int_equal(only.bytes[EMIT_OBJECT].length, out.bytes[EMIT_OBJECT].length);
    context_free(ctx);
}

static void test_kind_names(void **state)
{
    (void)state;
    EmitKind kind;
    for (int i = 0; i < EMIT_KIND_COUNT; i++) {
        assert_true(emit_kind_find(emit_kind_info((EmitKind)i)->name, &kind));
        assert_int_equal(kind, i);
    }
    assert_false(emit_kind_find("exe", &kind));
    assert_non_null(backend_find("llvm"));
    assert_null(backend_find("cuda"));
}

static void test_same_bytes_again(void **state)
{
    (void)state;
    CodegenOptions options = codegen_default_options();
    options.debug_info = true;
    options.source_name = "add.tir";
    Context *first = context_new(), *second = context_new();
    CodegenOutput a, b;
    require_ok(first, compile(first, simple_func(first, "f", 10), &options, ALL_KINDS, &a));
    require_ok(second, compile(second, simple_func(second, "f", 10), &options, ALL_KINDS, &b));
    for (int i = 0; i < EMIT_KIND_COUNT; i++) {
        assert_int_equal(a.bytes[i].length, b.bytes[i].length);
        assert_memory_equal(a.bytes[i].data, b.bytes[i].data, a.bytes[i].length);
    }
    context_free(first);
    context_free(second);
}

static void test_empty_module(void **state)
{
    (void)state;
    Context *ctx = context_new();
    CodegenOptions options = codegen_default_options();
    CodegenOutput out;
    require_ok(ctx, backend_find(NULL)->compile(ctx, module_of(ctx, NULL, 0), &options, ALL_KINDS, &out));
    assert_memory_equal(out.bytes[EMIT_OBJECT].data, "\177ELF", 4);
    context_free(ctx);
}

static void test_debug_lines(void **state)
{
    (void)state;
    Context *ctx = context_new();
    CodegenOptions options = codegen_default_options();
    options.debug_info = true;
    options.source_name = "add.tir";
    CodegenOutput out;
    uint32_t file = source_add(ctx->sources, "add.tir", "one\ntwo\nthree\n", 14);
    const Func *func = simple_func(ctx, "f", 10);
    Stmt *body = arena_copy(ctx->arena, func->body, sizeof *body), *store = arena_copy(ctx->arena, func->body->as.loop.body, sizeof *store);
    store->span = (Span){file, 4, 7};
    body->as.loop.body = store;
    require_ok(ctx, compile(ctx, func_with_body(ctx, func, body), &options, ALL_KINDS, &out));
    assert_non_null(strstr(out.bytes[EMIT_LLVM_IR].data, "!DILocation(line: 2, column: 1"));
    assert_non_null(strstr(out.bytes[EMIT_LLVM_IR].data, "!DIFile(filename: \"add.tir\", directory: \".\""));
    context_free(ctx);
}

/* Private functions are there only for others of the module. */
static void test_private_functions(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Func *hidden = arena_copy(ctx->arena, simple_func(ctx, "hidden", 10), sizeof(Func));
    hidden->is_private = true;
    const Func *funcs[] = {simple_func(ctx, "f", 10), hidden};
    CodegenOptions options = codegen_default_options();
    CodegenOutput out;
    require_ok(ctx, backend_find(NULL)->compile(ctx, module_of(ctx, funcs, 2), &options, ALL_KINDS, &out));
    assert_null(strstr(out.bytes[EMIT_ASSEMBLY].data, ".globl\thidden"));
    assert_non_null(strstr(out.bytes[EMIT_ASSEMBLY].data, ".globl\tf"));
    context_free(ctx);
}

/* --- Targets --- */

static void test_targets(void **state)
{
    (void)state;
    static const struct {
        const char *target, *cpu, *features;
        int machine; /* e_machine of the ELF header */
    } cases[] = {
        {"x86_64-linux-gnu", NULL, NULL, 62},           {"x86_64-linux-gnu", "haswell", NULL, 62},
        {"x86_64-linux-gnu", NULL, "+avx2,-fma", 62},   {"aarch64-linux-gnu", NULL, NULL, 183},
        {"aarch64-linux-gnu", "cortex-a72", NULL, 183}, {"riscv64-linux-gnu", NULL, NULL, 243},
        {"riscv64-linux-gnu", NULL, "+v", 243},         {NULL, "generic", NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Context *ctx = context_new();
        CodegenOptions options = codegen_default_options();
        options.target = cases[i].target;
        options.cpu = cases[i].cpu;
        options.features = cases[i].features;
        CodegenOutput out;
        require_ok(ctx, compile(ctx, simple_func(ctx, "f", 100), &options, 1u << EMIT_OBJECT, &out));
        if (cases[i].machine)
            assert_int_equal((unsigned char)out.bytes[EMIT_OBJECT].data[18], cases[i].machine);
        context_free(ctx);
    }
}

static void test_target_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *target, *cpu, *features, *message;
    } cases[] = {
        {"sparc-linux", NULL, NULL, "target 'sparc-unknown-linux' is not supported: tirc compiles for x86_64, aarch64 and riscv64"},
        {"i386-linux-gnu", NULL, NULL, "is not supported"},
        {"x86_64-linux-gnux32", NULL, NULL, "its pointers have 32 bits"},
        {"x86_64-linux-gnu", "z80", NULL, "'z80' is not a recognized processor for this target"},
        {"x86_64-linux-gnu", NULL, "+avx9", "'+avx9' is not a recognized feature for this target"},
        {"x86_64-linux-gnu", "pentium", NULL, "64-bit code requested on a subtarget that doesn't support it"},
        {NULL, "cortex-a72", NULL, "'cortex-a72' is not a recognized processor for this target"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Context *ctx = context_new();
        CodegenOptions options = codegen_default_options();
        options.target = cases[i].target;
        options.cpu = cases[i].cpu;
        options.features = cases[i].features;
        const char *message = refusal(ctx, simple_func(ctx, "f", 10), &options);
        if (!strstr(message, cases[i].message))
            fail_msg("'%s' does not contain '%s'", message, cases[i].message);
        context_free(ctx);
    }
}

/* --- The header --- */

static char test_dir[64];

static int enter_dir(void **state)
{
    (void)state;
    strcpy(test_dir, "/tmp/tirc-test-XXXXXX");
    return mkdtemp(test_dir) ? 0 : -1;
}

static int leave_dir(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", test_dir);
    return system(command);
}

static void write_file(const char *name, const char *data, size_t length)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", test_dir, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* The exit code of a shell command in the test's folder. */
static int shell(const char *command)
{
    char line[512];
    snprintf(line, sizeof line, "cd %s && %s", test_dir, command);
    return system(line);
}

/* An exported function for the test of the interface: NAME(out int64[1], x: DTYPE): out[0] = int64(x) (floats times 4). */
static const Func *scalar_func(Context *ctx, const char *type)
{
    DType dtype;
    assert_true(dtype_parse(type, &dtype));
    Maker maker = maker_new(ctx, context_internf(ctx, "take_%s", type));
    Buffer *out = maker_buffer(&maker, "out", DTYPE_INT64, 1);
    Var *x = maker_scalar(&maker, "x", dtype);
    const Expr *value = dtype_is_float(dtype) ? op_mul(ctx, expr_var(ctx, x), expr_float(ctx, dtype, 4)) : expr_var(ctx, x);
    return maker_func(&maker, store_at(ctx, out, int32(ctx, 0), expr_cast(ctx, DTYPE_INT64, value)));
}

/* copy(A[n] of TYPE, B[n]) with names that C reserves. */
static const Func *copy_func(Context *ctx, const char *type)
{
    DType dtype;
    assert_true(dtype_parse(type, &dtype));
    Maker maker = maker_new(ctx, context_internf(ctx, "copy_%s", type));
    Var *n = var_new(ctx, context_intern(ctx, "class"), DTYPE_INT32, span_none()), *i = index_var(ctx, "i");
    Buffer *a = maker_buffer_of(&maker, "int", dtype, expr_var(ctx, n)), *b = maker_buffer_of(&maker, "register", dtype, expr_var(ctx, n));
    return maker_func(&maker, loop(ctx, i, expr_var(ctx, n), store_at(ctx, b, expr_var(ctx, i), load_at(ctx, a, expr_var(ctx, i)))));
}

static const char *const scalar_types[] = {"int8",   "int16", "int32",   "int64",    "uint8",   "uint16", "uint32",
                                           "uint64", "bool",  "float16", "bfloat16", "float32", "float64"};
enum { SCALAR_TYPES = sizeof scalar_types / sizeof *scalar_types };

static const char c_program[] =
    "#include \"api.h\"\n#include \"api.h\"\n#include <stdio.h>\n"
    "int tirc_set_error(const char *message);\n"
    "int tirc_set_error(const char *message) { (void)message; return 1; }\n"
    "#define CHECK(call, wanted) do { int64_t got = 0; if (call || got != (int64_t)(wanted)) { printf(\"%s: %lld\\n\", #call, (long long)got); failures++; } } while (0)\n"
    "int main(void)\n{\n    int failures = 0;\n"
    "    CHECK(take_int8(&got, -100), -100);\n    CHECK(take_int16(&got, -30000), -30000);\n    CHECK(take_int32(&got, -5), -5);\n    CHECK(take_int64(&got, -(INT64_C(1) << 60)), -(INT64_C(1) << 60));\n"
    "    CHECK(take_uint8(&got, 200), 200);\n    CHECK(take_uint16(&got, 60000), 60000);\n    CHECK(take_uint32(&got, 4000000000u), 4000000000u);\n    CHECK(take_uint64(&got, UINT64_MAX), -1);\n"
    "    CHECK(take_bool(&got, 1), 1);\n    CHECK(take_float16(&got, 0x3e00), 6);\n    CHECK(take_bfloat16(&got, 0x3fc0), 6);\n    CHECK(take_float32(&got, 1.5f), 6);\n    CHECK(take_float64(&got, -1.5), -6);\n"
    "    uint16_t half[3] = {1, 2, 3}, half_copy[3];\n    failures += copy_float16(half, half_copy, 3) || half_copy[2] != 3;\n"
    "    uint8_t flags[2] = {1, 0}, flags_copy[2] = {9, 9};\n    failures += copy_bool(flags, flags_copy, 2) || flags_copy[0] != 1 || flags_copy[1] != 0;\n"
    "    failures += copy_bool(flags, flags_copy, INT64_C(1) << 32) == 0;\n"
    "    failures += tir_main(half, half) != 0;\n"
    "    return failures;\n}\n";

static const Module *interface_module(Context *ctx)
{
    const Func *funcs[SCALAR_TYPES + 3];
    for (int i = 0; i < SCALAR_TYPES; i++)
        funcs[i] = scalar_func(ctx, scalar_types[i]);
    funcs[SCALAR_TYPES] = copy_func(ctx, "float16");
    funcs[SCALAR_TYPES + 1] = copy_func(ctx, "bool");
    Maker maker = maker_new(ctx, "main");
    maker_buffer(&maker, "A", DTYPE(DT_UINT, 16), 3);
    maker_buffer(&maker, "A", DTYPE(DT_UINT, 16), 3);
    funcs[SCALAR_TYPES + 2] = maker_func(&maker, stmt_empty(ctx));
    return module_of(ctx, funcs, SCALAR_TYPES + 3);
}

static void test_header_and_interface(void **state)
{
    (void)state;
    Context *ctx = context_new();
    const Module *module = interface_module(ctx);
    const char *header = header_text(ctx, module, NULL, "out/api.h");
    write_file("api.h", header, strlen(header));
    write_file("main.c", c_program, strlen(c_program));
    write_file("main.cpp", "#include \"api.h\"\n", strlen("#include \"api.h\"\n"));
    assert_int_equal(shell("gcc -std=c99 -Wall -Wextra -pedantic -Werror -c main.c"), 0);
    if (!shell("command -v g++ >/dev/null"))
        assert_int_equal(shell("g++ -std=c++98 -Wall -Wextra -pedantic -Wno-long-long -Werror -fsyntax-only main.cpp && g++ -Wall -Wextra "
                               "-pedantic -Werror -fsyntax-only main.cpp"),
                         0);
    for (int level = 0; level <= 2; level += 2) {
        CodegenOptions options = codegen_default_options();
        options.opt_level = level;
        CodegenOutput out;
        require_ok(ctx, backend_find(NULL)->compile(ctx, module, &options, 1u << EMIT_OBJECT, &out));
        write_file("kernels.o", out.bytes[EMIT_OBJECT].data, out.bytes[EMIT_OBJECT].length);
        assert_int_equal(shell("gcc -pie -o program main.o kernels.o && ./program"), 0);
    }
    context_free(ctx);
}

static void test_header_text(void **state)
{
    (void)state;
    Context *ctx = context_new();
    Maker maker = maker_new(ctx, "f");
    Var *n = var_new(ctx, context_intern(ctx, "n"), DTYPE_INT32, span_none()),
        *s = var_new(ctx, context_intern(ctx, "s"), DTYPE_INT64, span_none());
    Buffer *a = maker_buffer_of(&maker, "A", DTYPE_FLOAT32, expr_var(ctx, n)),
           *b = maker_buffer_of(&maker, "B", DTYPE_FLOAT32, expr_var(ctx, n));
    const Expr *stride = expr_var(ctx, s);
    b->strides = arena_copy(ctx->arena, &stride, sizeof stride);
    a->data_alignment = 32;
    maker_scalar(&maker, "alpha", DTYPE_FLOAT32);
    const char *header = header_text(
        ctx, module_of(ctx, (const Func *[]){maker_func(&maker, store_at(ctx, b, int32(ctx, 0), load_at(ctx, a, int32(ctx, 0))))}, 1), NULL,
        "my-kernel.h");
    assert_non_null(strstr(header, "#ifndef MY_KERNEL_H\n#define MY_KERNEL_H\n"));
    assert_non_null(strstr(header, "     A: float32[n], read, aligned to 32 bytes\n"));
    assert_non_null(strstr(header, "     B: float32[n], written, strides in elements [s]\n"));
    assert_non_null(strstr(header, "     n: from the declaration of A, in the range of int32\n"));
    assert_non_null(strstr(header, "     s: from the declaration of B\n"));
    assert_non_null(strstr(header, "int f(const float *TIRC_RESTRICT A, float *TIRC_RESTRICT B, float alpha, int64_t n, int64_t s);\n"));
    context_free(ctx);
}

/* An object that uses nothing of the runtime refers to nothing at all. */
static void test_no_undefined_symbols(void **state)
{
    (void)state;
    Context *ctx = context_new();
    CodegenOptions options = codegen_default_options();
    CodegenOutput out;
    require_ok(ctx, compile(ctx, simple_func(ctx, "f", 1000), &options, 1u << EMIT_OBJECT, &out));
    write_file("simple.o", out.bytes[EMIT_OBJECT].data, out.bytes[EMIT_OBJECT].length);
    assert_int_equal(shell("test -z \"$(nm -u simple.o)\""), 0);
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),        cmocka_unit_test(test_kind_names),     cmocka_unit_test(test_same_bytes_again),
        cmocka_unit_test(test_empty_module), cmocka_unit_test(test_debug_lines),    cmocka_unit_test(test_private_functions),
        cmocka_unit_test(test_targets),      cmocka_unit_test(test_target_refusals), cmocka_unit_test(test_header_and_interface),
        cmocka_unit_test(test_header_text),  cmocka_unit_test(test_no_undefined_symbols),
    };
    return cmocka_run_group_tests_name("codegen_emit", tests, enter_dir, leave_dir);
}
