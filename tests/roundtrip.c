/* Checks that programs survive being printed: roundtrip FILE.tir... reads each file, verifies it, prints it, reads the text back, and
   checks that the result is structurally equal and prints the same bytes. Without files it takes the test cases and examples, except the
   cases of refused input. Says what failed on stderr; exit code 1 then. With -v the printed text goes to stdout. */
#include <stdio.h>
#include <string.h>

#include "print/print.h"
#include "verify/equal.h"
#include "verify/verify.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "script/script.h"
#include "support/strbuf.h"
#include "tests/cases.h"

static bool read_file(Context *ctx, const char *name, StrBuf *text)
{
    FILE *file = fopen(name, "rb");
    if (!file)
        return false;
    char chunk[4096];
    size_t size;
    text->arena = ctx->arena;
    while ((size = fread(chunk, 1, sizeof chunk, file)) > 0)
        strbuf_add_bytes(text, chunk, size);
    fclose(file);
    return true;
}

static bool complain(const char *name, const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s%s%s\n", name, what, detail ? ": " : "", detail ? detail : "");
    return false;
}

/* The first line in which A and B differ, from A. */
static const char *first_difference(Context *ctx, const char *a, const char *b)
{
    size_t at = 0, line = 0;
    while (a[at] && a[at] == b[at])
        if (a[at++] == '\n')
            line = at;
    return arena_strndup(ctx->arena, a + line, strcspn(a + line, "\n"));
}

/* MODULE at STAGE, surface or scheduled, is read back as it is printed. */
static bool check_stage(Context *ctx, const char *name, const Module *module, Stage stage, bool verbose)
{
    const char *why = NULL;
    if (!verify_module(ctx, module, stage, &why))
        return complain(name, "is not well formed", why);
    const char *printed = print_module(ctx, module);
    if (verbose)
        fputs(printed, stdout);
    const Module *again = parse_module_text(ctx, "printed text", printed, strlen(printed));
    if (stage == STAGE_SCHEDULED)
        again = complete_module(ctx, again);
    if (!again)
        return complain(name, "what was printed cannot be read", NULL);
    if (!module_equal(ctx, module, again, &why))
        return complain(name, "what was printed is another program", why);
    const char *reprinted = print_module(ctx, again);
    return !strcmp(printed, reprinted) || complain(name, "the second print differs", first_difference(ctx, printed, reprinted));
}

/* MODULE, surface or scheduled, and as the pass `complete` makes it. */
static bool check_module(Context *ctx, const char *name, const Module *module, bool verbose)
{
    const Module *complete = complete_module(ctx, module);
    if (!complete)
        return complain(name, "has regions that cannot be inferred", NULL);
    return (complete == module || check_stage(ctx, name, module, STAGE_SURFACE, false)) && check_stage(ctx, name, complete, STAGE_SCHEDULED, verbose);
}

/* A function by itself, as those of a tensor intrinsic, which are not part of the printed module. */
static bool check_func(Context *ctx, const char *name, const Func *func)
{
    Module module = {.bare = true, .funcs = &func, .func_count = 1};
    return check_module(ctx, name, &module, false);
}

/* The program that TEXT is, or computes when it is run; NULL after errors. */
static const Module *read_program(Context *ctx, const char *name, const char *text, size_t length)
{
    const AstNode *file = parse_python(ctx, source_add(ctx->sources, name, text, length));
    Module *module;
    ScriptOptions options = {.out = stderr};
    if (script_is_program(ctx, &file, 1))
        return script_run_program(ctx, &file, 1, &options);
    return elaborate(ctx, &file, 1, &module) ? module : NULL;
}

static bool check_text(Context *ctx, const char *name, const char *text, size_t length, bool verbose)
{
    const Module *module = read_program(ctx, name, text, length);
    if (!module)
        return complain(name, "cannot be read", NULL);
    bool good = check_module(ctx, name, module, verbose);
    for (int i = 0; i < module->intrin_count; i++)
        good &= check_func(ctx, name, module->intrins[i].description) && check_func(ctx, name, module->intrins[i].implementation);
    return good;
}

static bool check_file(const char *name, bool verbose)
{
    Context *ctx = context_new();
    StrBuf text = {0};
    bool good = read_file(ctx, name, &text) ? check_text(ctx, name, strbuf_text(&text), text.length, verbose)
                                            : complain(name, "cannot be opened", NULL);
    diag_flush(ctx, stderr, false);
    context_free(ctx);
    return good;
}

/* True when FILE.err, expected diagnostics, stands beside FILE.tir. */
static bool is_refused(const char *name)
{
    char expected[4096];
    snprintf(expected, sizeof expected, "%.*s.err", (int)(strlen(name) - strlen(".tir")), name);
    return !access(expected, R_OK);
}

static bool check_cases(void)
{
    bool good = true;
    glob_t found = case_files("tir");
    if (!found.gl_pathc)
        return complain("tests/cases", "holds no cases; run this in the root of the repository", NULL);
    glob("examples/*/*.tir", GLOB_APPEND, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        good &= is_refused(found.gl_pathv[i]) || check_file(found.gl_pathv[i], false);
    globfree(&found);
    return good;
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && !strcmp(argv[1], "-v"), good = true;
    for (int i = 1 + verbose; i < argc; i++)
        good &= check_file(argv[i], verbose);
    if (argc == 1)
        good = check_cases();
    return good ? 0 : 1;
}
