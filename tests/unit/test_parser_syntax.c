/* The front end's first half: tokens, layout, grammar, recovery from errors, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "parser/ast.h"
#include "parser/parser.h"
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

static const AstNode *parse_bytes(const char *text, size_t length)
{
    return parse_python(ctx, source_add(ctx->sources, "test", text, length));
}

static const AstNode *parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

/* The expression that TEXT, without errors, consists of. */
static const AstNode *parse_expression(const char *text)
{
    const AstNode *file = parse(text);
    assert_int_equal(diag_error_count(ctx), 0);
    assert_int_equal(file->as.list.count, 1);
    assert_int_equal(file->as.list.items[0]->kind, AST_EXPR_STMT);
    return file->as.list.items[0]->as.operand;
}

/* --- writing trees as fully parenthesized text --- */

static void write_node(StrBuf *out, const AstNode *node);

static void write_list(StrBuf *out, AstList list)
{
    for (int i = 0; i < list.count; i++) {
        strbuf_add(out, i ? " " : "");
        write_node(out, list.items[i]);
    }
}

static void write_optional(StrBuf *out, const AstNode *node)
{
    if (node)
        write_node(out, node);
    else
        strbuf_add(out, "_");
}

static void write_operator(StrBuf *out, const AstNode *node)
{
    if (node->kind == AST_UNARY) {
        strbuf_printf(out, "%s ", ast_op_text(node->as.unary.op));
        write_node(out, node->as.unary.operand);
    } else if (node->kind == AST_BINARY) {
        write_node(out, node->as.binary.left);
        strbuf_printf(out, " %s ", ast_op_text(node->as.binary.op));
        write_node(out, node->as.binary.right);
    } else if (node->kind == AST_COMPARE) {
        write_node(out, node->as.compare.first);
        for (int i = 0; i < node->as.compare.rest.count; i++) {
            strbuf_printf(out, " %s ", ast_op_text(node->as.compare.ops[i]));
            write_node(out, node->as.compare.rest.items[i]);
        }
    } else {
        strbuf_printf(out, "%s ", ast_op_text(node->as.bool_op.op));
        write_list(out, node->as.bool_op.operands);
    }
}

static void write_call(StrBuf *out, const AstNode *node)
{
    strbuf_add(out, "call ");
    write_node(out, node->as.call.callee);
    for (int i = 0; i < node->as.call.args.count; i++) {
        strbuf_add(out, " ");
        write_node(out, node->as.call.args.items[i]);
    }
    for (int i = 0; i < node->as.call.keyword_count; i++) {
        strbuf_printf(out, " %s=", node->as.call.keywords[i].name ? node->as.call.keywords[i].name : "**");
        write_node(out, node->as.call.keywords[i].value);
    }
}

static void write_compound(StrBuf *out, const AstNode *node)
{
    switch (node->kind) {
    case AST_TUPLE: strbuf_add(out, "tuple "); write_list(out, node->as.list); break;
    case AST_LIST: strbuf_add(out, "list "); write_list(out, node->as.list); break;
    case AST_SET: strbuf_add(out, "set "); write_list(out, node->as.list); break;
    case AST_DICT:
        strbuf_add(out, "dict");
        for (int i = 0; i < node->as.dict.keys.count; i++) {
            strbuf_add(out, " ");
            write_optional(out, node->as.dict.keys.items[i]);
            strbuf_add(out, ":");
            write_node(out, node->as.dict.values.items[i]);
        }
        break;
    case AST_CALL: write_call(out, node); break;
    case AST_ATTRIBUTE: write_node(out, node->as.attribute.value); strbuf_printf(out, ".%s", node->as.attribute.name); break;
    case AST_SUBSCRIPT:
        write_node(out, node->as.subscript.value);
        strbuf_add(out, " at ");
        write_node(out, node->as.subscript.index);
        break;
    case AST_SLICE:
        strbuf_add(out, "slice ");
        write_optional(out, node->as.slice.lower);
        strbuf_add(out, " ");
        write_optional(out, node->as.slice.upper);
        strbuf_add(out, " ");
        write_optional(out, node->as.slice.step);
        break;
    case AST_CONDITIONAL:
        write_node(out, node->as.conditional.if_true);
        strbuf_add(out, " if ");
        write_node(out, node->as.conditional.condition);
        strbuf_add(out, " else ");
        write_node(out, node->as.conditional.if_false);
        break;
    case AST_LAMBDA:
        strbuf_add(out, "lambda");
        for (int i = 0; i < node->as.lambda.param_count; i++)
            strbuf_printf(out, " %s", node->as.lambda.params[i].name);
        strbuf_add(out, ": ");
        write_node(out, node->as.lambda.body);
        break;
    case AST_STARRED: strbuf_add(out, "star "); write_node(out, node->as.operand); break;
    case AST_COMPREHENSION: strbuf_add(out, "each "); write_node(out, node->as.comprehension.element); break;
    default: write_operator(out, node); break;
    }
}

static void write_node(StrBuf *out, const AstNode *node)
{
    switch (node->kind) {
    case AST_NAME: strbuf_add(out, node->as.name); return;
    case AST_INT: strbuf_printf(out, "%llu", (unsigned long long)node->as.integer); return;
    case AST_FLOAT: strbuf_printf(out, "%g", node->as.real); return;
    case AST_STRING: strbuf_printf(out, "'%s'", node->as.text); return;
    case AST_BOOL: strbuf_add(out, node->as.boolean ? "True" : "False"); return;
    case AST_NONE: strbuf_add(out, "None"); return;
    case AST_ELLIPSIS: strbuf_add(out, "..."); return;
    default: break;
    }
    strbuf_add(out, "(");
    write_compound(out, node);
    strbuf_add(out, ")");
}

static void expect(const char *text, const char *tree)
{
    StrBuf out = {.arena = ctx->arena};
    write_node(&out, parse_expression(text));
    assert_string_equal(strbuf_text(&out), tree);
}

/* --- expressions --- */

static void test_precedence(void **state)
{
    (void)state;
    expect("a + b * c - d", "((a + (b * c)) - d)");
    expect("-a ** -b", "(- (a ** (- b)))");
    expect("a ** b ** c", "(a ** (b ** c))");
    expect("not a == b", "(not (a == b))");
    expect("a or b and not c or d", "(or a (and b (not c)) d)");
    expect("a < b <= c != d", "(a < b <= c != d)");
    expect("a | b ^ c & d << e + f", "(a | (b ^ (c & (d << (e + f)))))");
    expect("a // b % c / d @ e", "((((a // b) % c) / d) @ e)");
    expect("~a.b[c](d)", "(~ (call ((a.b) at c) d))");
    expect("a if b else c if d else e", "(a if b else (c if d else e))");
    expect("a not in b", "(a not in b)");
    expect("a is not None", "(a is not None)");
    expect("lambda x, y=1: x + y", "(lambda x y: (x + y))");
    expect("lambda: 0", "(lambda: 0)");
}

static void test_displays_and_calls(void **state)
{
    (void)state;
    expect("()", "(tuple )");
    expect("(a,)", "(tuple a)");
    expect("a, b", "(tuple a b)");
    expect("(a)", "a");
    expect("[a, *b,]", "(list a (star b))");
    expect("{}", "(dict)");
    expect("{'a': 1, **b}", "(dict 'a':1 _:b)");
    expect("{1, 2}", "(set 1 2)");
    expect("f(a, *b, c=1, **d)", "(call f a (star b) c=1 **=d)");
    expect("f()", "(call f)");
    expect("f(x for x in y)", "(call f (each x))");
    expect("[x + 1 for x, y in z if x if y]", "(each (x + 1))");
    expect("a[1:2, ::3, :, b, ...]", "(a at (tuple (slice 1 2 _) (slice _ _ 3) (slice _ _ _) b ...))");
    expect("a[()]", "(a at (tuple ))");
    expect("a[*b]", "(a at (star b))");
}

/* --- literals --- */

static void test_numbers(void **state)
{
    (void)state;
    expect("1_000 + 0xff + 0o17 + 0b101", "(((1000 + 255) + 15) + 5)");
    expect("18446744073709551615", "18446744073709551615");
    expect("1e-5 + .5 + 1. + 1_0.5e1", "(((1e-05 + 0.5) + 1) + 105)");
    expect("0", "0");
    expect("1.e3", "1000");
}

static void test_strings(void **state)
{
    (void)state;
    expect("'a' \"b\" '''c''' \"\"\"d\"\"\"", "'abcd'");
    expect("'\\n\\t\\\\\\'\\x41\\101\\u00e9'", "'\n\t\\'AA\xc3\xa9'");
    expect("r'\\n' 'x' u'y' f'z'", "'\\nxyz'");
    expect("'''a\n'b\" ''c'''", "'a\n'b\" ''c'");
    expect("'a\\\nb'", "'ab'");
    expect("\"\"\"a\"b\"\"\"", "'a\"b'");
}

static void test_names(void **state)
{
    (void)state;
    expect("gr\xc3\xb6\xc3\x9f\x65 + _x1 + \xe6\xb3\xa8", "((gr\xc3\xb6\xc3\x9f\x65 + _x1) + \xe6\xb3\xa8)");
    expect("iffy + nota + inx", "((iffy + nota) + inx)");
}

/* --- statements and layout --- */

static void test_statements(void **state)
{
    (void)state;
    const AstNode *file =
        parse("a = b = c\nx: T.int32 = 1\ny: int\nz += 2; w //= 3\nreturn\nassert a, 'b'\nimport a.b as c, d\nfrom e.f import g as h, i\n");
    assert_int_equal(diag_error_count(ctx), 0);
    assert_int_equal(file->as.list.count, 9);
    const AstNode *const *items = file->as.list.items;
    assert_int_equal(items[0]->as.assign.targets.count, 2);
    assert_non_null(items[1]->as.ann_assign.value);
    assert_null(items[2]->as.ann_assign.value);
    assert_int_equal(items[4]->as.aug_assign.op, AST_OP_FLOORDIV);
    assert_null(items[5]->as.operand);
    assert_string_equal(items[7]->as.import.items[0].module, "a.b");
    assert_string_equal(items[7]->as.import.items[0].alias, "c");
    assert_null(items[7]->as.import.items[1].name);
    assert_string_equal(items[8]->as.import.items[1].module, "e.f");
    assert_string_equal(items[8]->as.import.items[1].name, "i");
}

static void test_compound_statements(void **state)
{
    (void)state;
    const AstNode *file = parse(
        "@a.b(c=1)\n@d\ndef f(x: T.handle, *y, z=1, **w) -> None:\n    for i, (j, k) in g: pass\n    else:\n        break\n"
        "    if a:\n        b\n    elif c:\n        d\n    else:\n        e\n    with p as q, r:\n        while s:\n            continue\n"
        "class C(D):\n    pass\n");
    assert_int_equal(diag_error_count(ctx), 0);
    assert_int_equal(file->as.list.count, 2);
    const AstNode *def = file->as.list.items[0];
    assert_int_equal(def->as.def.decorators.count, 2);
    assert_int_equal(def->as.def.param_count, 4);
    assert_int_equal(def->as.def.params[1].stars, 1);
    assert_int_equal(def->as.def.params[3].stars, 2);
    assert_non_null(def->as.def.params[2].default_value);
    assert_int_equal(def->as.def.returns->kind, AST_NONE);
    assert_int_equal(def->as.def.body.count, 3);
    const AstNode *loop = def->as.def.body.items[0], *branch = def->as.def.body.items[1], *with = def->as.def.body.items[2];
    assert_int_equal(loop->as.for_loop.target->as.list.items[1]->kind, AST_TUPLE);
    assert_int_equal(loop->as.for_loop.else_body.count, 1);
    assert_int_equal(branch->as.branch.else_body.items[0]->kind, AST_IF);
    assert_int_equal(branch->as.branch.else_body.items[0]->as.branch.else_body.count, 1);
    assert_int_equal(with->as.with.item_count, 2);
    assert_null(with->as.with.items[1].target);
    assert_int_equal(file->as.list.items[1]->as.class_def.bases.count, 1);
}

static void test_layout(void **state)
{
    (void)state;
    const AstNode *file = parse(
        "\xef\xbb\xbf# first\r\n\r\nif a:\r\n\tb = (1,\r\n2,\r\n   3) # inside\r\n\r\n\tc = 1 + \\\r\n 2\r\n  # odd comment\r\n\f\nd = 4");
    assert_int_equal(diag_error_count(ctx), 0);
    assert_int_equal(file->as.list.count, 2);
    assert_int_equal(file->as.list.items[0]->as.branch.body.count, 2);
}

static void test_spans(void **state)
{
    (void)state;
    const char *text = "x = aa.b(c)[1] + 'z'\n";
    const AstNode *value = parse(text)->as.list.items[0]->as.assign.value;
    assert_int_equal(value->span.begin, 4);
    assert_int_equal(value->span.end, strlen(text) - 1);
    assert_int_equal(value->as.binary.left->span.end, 14);
    assert_int_equal(value->as.binary.left->as.subscript.value->as.call.callee->as.attribute.name_span.begin, 7);
}

static void test_paths(void **state)
{
    (void)state;
    const AstNode *node = parse_expression("T.axis.remap");
    assert_true(ast_is_path(node, "T.axis.remap"));
    assert_false(ast_is_path(node, "T.axis"));
    assert_false(ast_is_path(node, "axis.remap"));
    assert_false(ast_is_path(node, "S.T.axis.remap"));
    assert_string_equal(ast_path(ctx, node), "T.axis.remap");
    assert_null(ast_path(ctx, parse_expression("f().g")));
}

/* --- errors --- */

/* Errors that TEXT gives. */
static int errors_of(const char *text)
{
    int before = diag_error_count(ctx);
    parse(text);
    return diag_error_count(ctx) - before;
}

static void test_recovery(void **state)
{
    (void)state;
    assert_int_equal(errors_of("a = = 1\nb = 2 +\nc\nd e\nf = 3\n"), 3);
    assert_int_equal(errors_of("for i in x\n    a b\n    c\nif y\n    z = (1\n"), 4);
    assert_int_equal(errors_of("f(a, b\ndef g():\n    pass\n"), 1);
    assert_int_equal(errors_of("f(a]\ng[b)\nh}\n"), 3);
    assert_int_equal(errors_of("x = 'abc\ny = 'd'\n"), 1);
    assert_int_equal(errors_of("f('abc)\ny = 1\n"), 1);
    assert_int_equal(errors_of("x = '''abc\ny = 1\n"), 1);
    assert_int_equal(errors_of("if a:\n        b\n    c\n"), 1);
    assert_int_equal(errors_of("1 = a\nf() = b\n(c, 2) = d\n[e, f] = g\n"), 3);
    assert_int_equal(errors_of("x = 1 $ 2\n"), 1);
}

static void test_junk(void **state)
{
    (void)state;
    static const char bytes[] = "ab = \xff\xfe 1\n\x80 = 2\n'\xc3('\n\"\\x4\"\n";
    parse_bytes(bytes, sizeof bytes - 1);
    assert_true(diag_error_count(ctx) >= 4);
}

/* A NUL byte ends what is read of a file: one error, and none about what it cuts off. */
static void test_nul_byte(void **state)
{
    (void)state;
    static const char bytes[] = "a = f(1,\0 2)\n)) = \xff\n";
    parse_bytes(bytes, sizeof bytes - 1);
    assert_int_equal(diag_error_count(ctx), 1);
}

/* TEXT repeated COUNT times. */
static const char *repeat(const char *text, int count)
{
    StrBuf out = {.arena = ctx->arena};
    for (int i = 0; i < count; i++)
        strbuf_add(&out, text);
    return strbuf_text(&out);
}

static void test_limits(void **state)
{
    (void)state;
    assert_int_equal(errors_of(arena_printf(ctx->arena, "%s1%s\n", repeat("(", 200), repeat(")", 200))), 0);
    assert_int_equal(errors_of(arena_printf(ctx->arena, "%s1%s\n", repeat("(", 201), repeat(")", 201))), 1);
    assert_int_equal(errors_of(repeat("[", 100000)), 1);
    assert_int_equal(errors_of(arena_printf(ctx->arena, "x = 1%s\n", repeat(" + 1", 900))), 0);
    assert_int_equal(errors_of(arena_printf(ctx->arena, "x = 1%s\n", repeat(" + 1", 100000))), 1);
    assert_true(errors_of(arena_printf(ctx->arena, "x = %s1\n", repeat("-", 100000))) >= 1);
    assert_int_equal(errors_of(arena_printf(ctx->arena, "x = a%s\n", repeat(".b", 100000))), 1);
    assert_true(errors_of(arena_printf(ctx->arena, "x = %s1\n", repeat("lambda: ", 20000))) >= 1);
    StrBuf blocks = {.arena = ctx->arena};
    for (int i = 0; i < 150; i++)
        strbuf_printf(&blocks, "%*sif a:\n", i, "");
    assert_int_equal(errors_of(strbuf_text(&blocks)), 1);
    assert_true(errors_of(arena_printf(ctx->arena, "if a: b\n%selse: c\n", repeat("elif a: b\n", 5000))) >= 1);
}

static void test_large_text(void **state)
{
    (void)state;
    const AstNode *file = parse(repeat("x = f(a[1], b + 2, 'text')  # comment\n", 50000));
    assert_int_equal(diag_error_count(ctx), 0);
    assert_int_equal(file->as.list.count, 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_precedence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_displays_and_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_strings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_statements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_compound_statements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_layout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spans, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_recovery, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_junk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nul_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_large_text, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
