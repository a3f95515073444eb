/* Runs the passes of passes/transform/transforms.def on every program below tests/cases/lower and tests/cases/passes: each one on its own where
   the program has the form that it needs, and all in their order. After each pass the function is well formed, prints as text that reads back
   as the same function, and computes, run by the interpreter on the same random data, exactly what the source computes. Directives are those of
   lower_check.h (sizes, no-check). With arguments: the programs to check. Runs from the top of the tree. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "passes/transform/transform.h"
#include "tests/lower_check.h"

/* FUNC of the module of CHECK after the pass at ROW; NULL where it is refused. What is said of it is forgotten. */
static const Func *apply(LowerCheck *check, const Func *func, int row)
{
    Module one = *check->module;
    one.funcs = &func;
    one.func_count = 1;
    const Module *result = transform_module(check->ctx, &one, row, true);
    if (!result)
        diag_clear(check->ctx);
    return result ? result->funcs[0] : NULL;
}

static void check_print(LowerCheck *check, const char *pass, const Func *func)
{
    Context *ctx = check->ctx;
    const char *why = NULL, *printed = print_func(ctx, func);
    const Module *again = complete_module(ctx, parse_module_text(ctx, pass, printed, strlen(printed)));
    if (!again || again->func_count != 1)
        lower_fail(check, pass, "the printed text cannot be read:\n%s", printed);
    else if (!func_equal(ctx, func, again->funcs[0], &why))
        lower_fail(check, pass, "the printed text is another function: %s\n%s", why, printed);
    else if (strcmp(printed, print_func(ctx, again->funcs[0])))
        lower_fail(check, pass, "the second print differs:\n%s", printed);
}

static void check_source(LowerCheck *check, const Func *source)
{
    int count;
    const Transform *rows = transforms(&count);
    const Func *chain = source;
    check->steps.count = 0;
    for (int i = 0; i < count; i++) {
        const Func *alone = apply(check, source, i), *next = apply(check, chain, i);
        if (alone && alone != source)
            vec_push(check->ctx->arena, &check->steps, ((LoweredStep){rows[i].name, rows[i].gives, alone}));
        if (next && next != chain && chain != source)
            vec_push(check->ctx->arena, &check->steps, ((LoweredStep){rows[i].name, rows[i].gives, next}));
        chain = next ? next : chain;
    }
    for (int i = 0; i < check->steps.count; i++)
        check_print(check, check->steps.data[i].pass, check->steps.data[i].func);
    lower_check_runs(check, source);
}

static bool check_file(const char *name)
{
    LowerCheck check = {.ctx = context_new(), .name = name};
    check.text = lower_read_file(check.ctx, name);
    check.module = check.text ? complete_module(check.ctx, parse_module_text(check.ctx, name, check.text, strlen(check.text))) : NULL;
    if (!check.module)
        lower_fail(&check, "(start)", "cannot be read");
    for (int i = 0; check.module && i < check.module->func_count; i++)
        check_source(&check, check.module->funcs[i]);
    if (check.failed)
        diag_flush(check.ctx, stderr, false);
    context_free(check.ctx);
    return !check.failed;
}

static int check_folder(const char *pattern, size_t fewest)
{
    glob_t files;
    int failed = 0;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char refused[512];
        snprintf(refused, sizeof refused, "%.*s.err", (int)strlen(files.gl_pathv[i]) - 4, files.gl_pathv[i]);
        FILE *err = fopen(refused, "r");
        if (err)
            fclose(err); /* a refusal: the case runner compares it */
        else
            failed += !check_file(files.gl_pathv[i]);
    }
    assert_true(files.gl_pathc >= fewest);
    globfree(&files);
    return failed;
}

static void check_corpus(void **state)
{
    (void)state;
    assert_int_equal(check_folder("tests/cases/lower/*.tir", 60), 0);
    assert_int_equal(check_folder("tests/cases/passes/*.tir", 5), 0);
}

int main(int argc, char **argv)
{
    bool good = true;
    for (int i = 1; i < argc; i++)
        good &= check_file(argv[i]);
    if (argc > 1)
        return good ? 0 : 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(check_corpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
