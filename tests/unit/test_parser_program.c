/* The front end's second half: what programs become. Wording of errors and printed forms are in tests/cases/parse; here are structure,
   types, symbols, the pieces of modules, and limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "verify/verify.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "support/strbuf.h"

static Context *ctx;

static int set_up(void **state)
{
    (void)state;
    ctx = context_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    context_free(ctx);
    return 0;
}

static const Module *try_program(const char *text)
{
    return complete_module(ctx, parse_module_text(ctx, "test", text, strlen(text)));
}

static const Module *program(const char *text)
{
    const Module *module = try_program(text);
    const char *why = "";
    if (!module)
        diag_flush(ctx, stderr, false);
    assert_non_null(module);
    if (!verify_module(ctx, module, STAGE_SCHEDULED, &why))
        fail_msg("%s", why);
    return module;
}

/* The only function of a program with parameters PARAMS and the body LINES, each of which ends in a newline and is indented by 4. */
static const Func *function(const char *params, const char *lines)
{
    return program(arena_printf(ctx->arena, "@T.prim_func\ndef f(%s):\n%s", params, lines))->funcs[0];
}

static const Expr *evaluated(const char *params, const char *text)
{
    return function(params, arena_printf(ctx->arena, "    T.evaluate(%s)\n", text))->body->as.evaluate;
}

#define PARAMS "A: T.Buffer((8, 8), \"float32\"), B: T.Buffer((8,), \"int32\"), n: T.int64, h: T.float16"

/* --- types --- */

static void expect_type(const char *text, const char *type)
{
    assert_string_equal(dtype_name(ctx, evaluated(PARAMS, text)->dtype), type);
}

static void test_types(void **state)
{
    (void)state;
    expect_type("1", "int32");
    expect_type("3000000000", "int64");
    expect_type("1.5", "float32");
    expect_type("n + 1", "int64");
    expect_type("B[0] + n", "int64");
    expect_type("h * 2", "float16");
    expect_type("h * 2.5", "float16");
    expect_type("B[0] * 2.5", "float32");
    expect_type("h + A[0, 0]", "float32");
    expect_type("B[0] < n", "bool");
    expect_type("T.clz(n)", "int32");
    expect_type("T.popcount(n)", "int64");
    expect_type("T.isnan(h)", "bool");
    expect_type("T.pow(h, 2)", "float16");
    expect_type("T.call_extern(\"int8\", \"f\")", "int8");
    expect_type("T.call_extern(\"f\", dtype=\"void\")", "void");
    expect_type("B[0:4]", "int32x4");
    expect_type("B[0:8:2] + 1", "int32x4");
    expect_type("B[0:4] < 2", "boolx4");
    expect_type("T.Broadcast(h, 4)", "float16x4");
    expect_type("T.reinterpret(\"int16\", h)", "int16");
    expect_type("T.address_of(B[1])", "handle");
    expect_type("n << 2", "int64");
    expect_type("T.if_then_else(n > 0, B[0], n)", "int64");
}

static void test_literals_keep_their_text(void **state)
{
    (void)state;
    const Expr *tenth = evaluated("", "T.float32(0.1)"), *most = evaluated("", "T.uint64(18446744073709551615)");
    assert_true(tenth->value.literal == 0.1);
    assert_true(tenth->value.real == (double)0.1f);
    assert_int_equal(most->value.integer, -1);
    assert_true(evaluated("", "T.int64(-9223372036854775808)")->value.integer == INT64_MIN);
}

/* --- functions --- */

static void test_params(void **state)
{
    (void)state;
    const Func *func = function("a: T.handle, n: T.int32, B: T.Buffer((4, n)), p: T.handle(\"int8\", \"shared\")",
                                "    m = T.int32()\n    A = T.match_buffer(a, (m, n), \"int8\", strides=[\"s\", 1], offset_factor=4)\n    A[0, 0] = T.int8(1)\n");
    assert_int_equal(func->param_count, 4);
    assert_true(func->params[0].matched && func->params[0].buffer);
    assert_false(func->params[2].matched);
    assert_null(func->params[1].buffer);
    const Buffer *a = func->params[0].buffer, *b = func->params[2].buffer;
    assert_string_equal(a->name, "A");
    assert_string_equal(a->data->name, "A");
    assert_int_equal(a->shape[0]->kind, EXPR_VAR);
    assert_true(expr_is_var(a->shape[1], func->params[1].param));
    assert_string_equal(a->strides[0]->value.var->name, "s");
    assert_int_equal(a->elem_offset->kind, EXPR_VAR);
    assert_int_equal(a->offset_factor, 4);
    assert_null(b->strides);
    assert_true(expr_is_int(b->elem_offset, 0));
    assert_string_equal(dtype_name(ctx, b->dtype), "float32");
    assert_int_equal(func->params[3].param->pointee.bits, 8);
    assert_string_equal(func->params[3].param->pointee_scope, "shared");
}

static void test_stride_names(void **state)
{
    (void)state;
    const Func *func = function("a: T.handle", "    s = T.int32()\n    A = T.match_buffer(a, (4, 4), strides=[s, 1])\n    A[0, 0] = 1.0\n");
    assert_string_equal(func->params[0].buffer->strides[0]->value.var->name, "A_s0");
}

static void test_function_properties(void **state)
{
    (void)state;
    const Module *module = program(
        "@T.prim_func(private=True)\ndef f(x: T.int32) -> T.int32:\n    T.func_attr({\"a\": 1, \"b\": [True, None]})\n    return x\n");
    const Func *func = module->funcs[0];
    assert_true(func->is_private);
    assert_string_equal(dtype_name(ctx, func->return_type), "int32");
    assert_int_equal(func->attrs.count, 2);
    assert_int_equal(attrs_get(func->attrs, "b")->kind, ATTR_LIST);
    assert_int_equal(attrs_get(func->attrs, "b")->items[1]->kind, ATTR_NONE);
    assert_true(expr_is_call(func->body->as.evaluate, OP_RET));
}

static void test_root_blocks(void **state)
{
    (void)state;
    const Func *plain = function(PARAMS, "    B[0] = 1\n");
    assert_int_equal(plain->body->kind, STMT_STORE);
    const Func *allocates = function(PARAMS, "    C = T.alloc_buffer((4,))\n    C[0] = 1.0\n");
    assert_int_equal(allocates->body->kind, STMT_BLOCK);
    assert_string_equal(allocates->body->as.block.block->name, "root");
    assert_int_equal(allocates->body->as.block.alloc_count, 1);
    const Func *written = function(PARAMS, "    with T.block(\"root\"):\n        T.reads(B[0:4])\n        B[0] = 1\n");
    assert_int_equal(written->body->as.block.read_count, 1);
    assert_true(written->body->as.block.writes_inferred);
    assert_int_equal(written->body->as.block.write_count, 0);
    const Func *two = function(PARAMS, "    with T.block(\"a\"):\n        B[0] = 1\n    with T.block(\"b\"):\n        B[1] = 2\n");
    assert_int_equal(two->body->as.block.body->kind, STMT_SEQ);
}

/* --- statements --- */

static void test_lets_enclose_the_rest(void **state)
{
    (void)state;
    const Stmt *body = function(PARAMS, "    x = B[0]\n    B[1] = x\n    y: T.int32 = x + 1\n    B[2] = y\n    B[3] = x\n")->body;
    assert_int_equal(body->kind, STMT_LET);
    assert_int_equal(body->as.let.body->kind, STMT_SEQ);
    assert_int_equal(body->as.let.body->as.seq.count, 2);
    assert_int_equal(body->as.let.body->as.seq.items[1]->kind, STMT_LET);
    assert_int_equal(body->as.let.body->as.seq.items[1]->as.let.body->as.seq.count, 2);
}

static void test_each_variable_is_bound_once(void **state)
{
    (void)state;
    const Stmt *body =
        function(
            PARAMS,
            "    x = T.int32()\n    with T.LetStmt(B[0], var=x):\n        B[1] = x\n    with T.LetStmt(B[2], var=x):\n        B[3] = x\n")
            ->body;
    const Stmt *first = body->as.seq.items[0], *second = body->as.seq.items[1];
    assert_ptr_not_equal(first->as.let.var, second->as.let.var);
    assert_true(expr_is_var(second->as.let.body->as.store.value, second->as.let.var));
}

static void test_loops(void **state)
{
    (void)state;
    const Stmt *loop = function(PARAMS, "    for i, j in T.grid(4, n):\n        B[i] = 1\n")->body;
    assert_int_equal(loop->kind, STMT_FOR);
    assert_string_equal(dtype_name(ctx, loop->as.loop.var->dtype), "int32");
    assert_string_equal(dtype_name(ctx, loop->as.loop.body->as.loop.var->dtype), "int64");
    const Stmt *bound =
        function(PARAMS, "    for i in T.thread_binding(2, 6, \"threadIdx.x\", annotations={\"a\": 1}):\n        B[i] = 1\n")->body;
    assert_int_equal(bound->as.loop.kind, FOR_THREAD);
    assert_string_equal(bound->as.loop.thread, "threadIdx.x");
    assert_true(expr_is_int(bound->as.loop.min, 2) && expr_is_int(bound->as.loop.extent, 4));
    assert_int_equal(bound->as.loop.annotations.count, 1);
}

static void test_store_converts(void **state)
{
    (void)state;
    assert_int_equal(function(PARAMS, "    A[0, 0] = 1\n")->body->as.store.value->kind, EXPR_FLOAT);
    assert_int_equal(function(PARAMS, "    A[0, 0] = B[0]\n")->body->as.store.value->kind, EXPR_CAST);
    assert_int_equal(function(PARAMS, "    B[0:4] = 2\n")->body->as.store.value->kind, EXPR_BROADCAST);
    int warnings = ctx->diagnostics.count;
    function(PARAMS, "    B[0] = A[0, 0]\n");
    assert_int_equal(ctx->diagnostics.count, warnings + 1);
    assert_int_equal(ctx->diagnostics.data[warnings].severity, DIAG_WARNING);
}

static void test_blocks(void **state)
{
    (void)state;
    const Stmt *root =
        function(PARAMS, "    for i, j in T.grid(4, 4):\n        with T.block(\"b\"):\n            v, w = T.axis.remap(\"SR\", [i, j])\n"
                         "            u = T.axis.spatial((2, 6), i + 2)\n            T.where(i < 3)\n            T.block_attr({\"k\": 1})\n"
                         "            with T.init():\n                B[v] = 0\n            B[v] = B[v] + w + u\n")
            ->body;
    const BlockStmt *block = &root->as.block.body->as.loop.body->as.loop.body->as.block;
    assert_int_equal(block->iter_count, 3);
    assert_int_equal(block->iters[1].kind, ITER_REDUCE);
    assert_string_equal(block->iters[0].var->name, "v");
    assert_true(expr_is_int(block->iters[2].domain.min, 2) && expr_is_int(block->iters[2].domain.extent, 4));
    assert_int_equal(block->predicate->kind, EXPR_LT);
    assert_non_null(block->init);
    assert_int_equal(block->annotations.count, 1);
    assert_true(block->reads_inferred && block->writes_inferred);
    assert_int_equal(block->read_count, 0);
    assert_int_equal(block->write_count, 1);
}

static void test_access_pointers(void **state)
{
    (void)state;
    const Expr *whole = evaluated(PARAMS, "A.access_ptr(\"rw\")"), *part = evaluated(PARAMS, "A.access_ptr(\"r\", offset=8, extent=4)");
    assert_true(expr_is_call(whole, OP_TVM_ACCESS_PTR));
    assert_true(expr_is_int(whole->args[3], 64) && expr_is_int(whole->args[4], 3));
    assert_true(expr_is_int(part->args[2], 8) && expr_is_int(part->args[3], 4) && expr_is_int(part->args[4], 1));
    const Expr *wide = evaluated(PARAMS, "B.access_ptr(\"w\", content_lanes=4)");
    assert_int_equal(wide->args[0]->dtype.lanes, 4);
    assert_true(expr_is_int(wide->args[3], 2));
}

/* --- modules --- */

#define SMALL(name) "@T.prim_func\ndef " name "(a: T.handle):\n    A = T.match_buffer(a, (4,))\n    A[0] = 1.0\n"

static void test_modules(void **state)
{
    (void)state;
    assert_true(program(SMALL("f"))->bare);
    assert_false(program(SMALL("f") SMALL("g"))->bare);
    const Module *module =
        program("@I.ir_module\nclass M:\n    I.module_attrs({\"v\": 1})\n    @T.prim_func\n    def main(A: T.Buffer((4,))):\n        A[0] "
                "= 1.0\n" SMALL("desc") SMALL("impl") SMALL("other") "tvm.tir.TensorIntrin.register(\"x\", desc, impl)\n");
    assert_false(module->bare);
    assert_string_equal(module->name, "M");
    assert_int_equal(module->attrs.count, 1);
    assert_int_equal(module->func_count, 2);
    assert_non_null(module_find(module, "other"));
    assert_null(module_find(module, "desc"));
    assert_string_equal(module_intrin(module, "x")->implementation->name, "impl");
}

static void test_several_files(void **state)
{
    (void)state;
    const char *texts[] = {"N = 4\n" SMALL("f"), "@T.prim_func\ndef g(A: T.Buffer((N,))):\n    A[0] = 1.0\n",
                           SMALL("d") "tvm.tir.TensorIntrin.register(\"x\", d, d)\n"};
    const AstNode *files[3];
    Module *module;
    for (int i = 0; i < 3; i++)
        files[i] = parse_python(ctx, source_add(ctx->sources, "file", texts[i], strlen(texts[i])));
    assert_true(elaborate(ctx, files, 3, &module));
    assert_int_equal(module->func_count, 2);
    assert_int_equal(module->intrin_count, 1);
    const AstNode *twice[] = {files[0], files[0]};
    assert_false(elaborate(ctx, twice, 2, &module));
}

static void test_spans_point_into_the_text(void **state)
{
    (void)state;
    const char *text = "@T.prim_func\ndef f(B: T.Buffer((8,), \"int32\")):\n    for i in range(8):\n        B[i] = i * 2\n";
    const Func *func = program(text)->funcs[0];
    Place place;
    assert_true(source_place(ctx->sources, func->body->span, &place));
    assert_int_equal(place.line, 3);
    assert_true(source_place(ctx->sources, func->body->as.loop.body->as.store.value->span, &place));
    assert_int_equal(place.line, 4);
    assert_int_equal(place.column, 16);
    assert_true(source_place(ctx->sources, func->body->as.loop.var->span, &place));
    assert_int_equal(place.column, 9);
    assert_true(source_place(ctx->sources, func->name_span, &place));
    assert_int_equal(place.column, 5);
}

/* --- limits --- */

static void test_many_errors(void **state)
{
    (void)state;
    StrBuf text = {.arena = ctx->arena};
    strbuf_add(&text, "@T.prim_func\ndef f():\n");
    for (int i = 0; i < 100; i++)
        strbuf_add(&text, "    T.nothing()\n");
    assert_null(try_program(strbuf_text(&text)));
    assert_int_equal(diag_error_count(ctx), 100);
}

static void test_deep_lets(void **state)
{
    (void)state;
    for (int count = 900; count <= 20000; count += 19100) {
        StrBuf text = {.arena = ctx->arena};
        strbuf_add(&text, "@T.prim_func\ndef f(B: T.Buffer((4,), \"int32\")):\n");
        for (int i = 0; i < count; i++)
            strbuf_printf(&text, "    x%d = B[0] + %s%d\n", i, i ? "x" : "", i ? i - 1 : 0);
        assert_int_equal(try_program(strbuf_text(&text)) != NULL, count == 900);
    }
    assert_int_equal(diag_error_count(ctx), 1);
}

/* Each let doubles the one before; substituting them all would take a thousand doublings. */
static void test_lets_that_double(void **state)
{
    (void)state;
    StrBuf text = {.arena = ctx->arena};
    strbuf_add(&text, "@T.prim_func\ndef f(B: T.Buffer((4,), \"int32\")):\n    for i in range(4):\n        with T.block(\"b\"):\n          "
                      "  v = T.axis.spatial(4, i)\n            x0 = v\n");
    for (int i = 1; i < 500; i++)
        strbuf_printf(&text, "            x%d = x%d + x%d\n", i, i - 1, i - 1);
    strbuf_add(&text, "            B[x499] = 1\n");
    program(strbuf_text(&text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_literals_keep_their_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_params, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stride_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_function_properties, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_root_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lets_enclose_the_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_each_variable_is_bound_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_loops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_store_converts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_access_pointers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_modules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_several_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spans_point_into_the_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_deep_lets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lets_that_double, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
