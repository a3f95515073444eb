/* Checks the traces of schedules: traces [FILE.sched]... runs each script, without files those of the test cases and examples, applies the
   text of its trace to the unscheduled program, and compares: the program must print the same bytes, and so must the trace of the trace.
   Scripts that are refused are left out, and those that define what a trace does not hold. -v prints the traces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/print.h"
#include "parser/parser.h"
#include "passes/analysis/questions/callees.h"
#include "script/script.h"
#include "support/strbuf.h"
#include "tests/cases.h"

typedef struct {
    Context *ctx;
    const char *name;
    FILE *sink;
    bool verbose;
} Check;

static bool complain(const Check *check, const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s%s%s\n", check->name, what, detail ? ": " : "", detail ? detail : "");
    return false;
}

/* The file PATH; NULL where there is none. */
static const char *read_file(Context *ctx, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    StrBuf text = {.arena = ctx->arena};
    char chunk[4096];
    size_t size;
    while ((size = fread(chunk, 1, sizeof chunk, file)) > 0)
        strbuf_add_bytes(&text, chunk, size);
    fclose(file);
    return strbuf_text(&text);
}

/* The program of the case; NULL where there is none. */
static const char *program_text(const Check *check)
{
    const char *path = case_program(check->ctx->arena, check->name);
    return path ? read_file(check->ctx, path) : NULL;
}

/* What SCRIPT makes of MODULE, and of which program; NULL where it is refused. */
static const Module *run(const Check *check, const char *script, const Module *module, const Module **source, const char **trace)
{
    Context *ctx = check->ctx;
    const AstNode *file = parse_python(ctx, source_add(ctx->sources, check->name, script, strlen(script)));
    ScriptOptions options = {.out = check->sink, .trace = trace};
    return file && !diag_error_count(ctx) ? script_run(ctx, file, module, &options, source) : NULL;
}

static bool check_script(const Check *check)
{
    Context *ctx = check->ctx;
    const char *script = read_file(ctx, check->name), *program = script ? program_text(check) : NULL;
    const Module *module = program ? program_complete(ctx, parse_module_text(ctx, check->name, program, strlen(program))) : NULL, *source;
    const char *trace = NULL, *again = NULL;
    const Module *scheduled = module ? run(check, script, module, &source, &trace) : NULL;
    if (!scheduled || strstr(script, "TensorIntrin.register") || strstr(script, "Schedule(sch.mod"))
        return true;
    if (check->verbose)
        puts(trace);
    const Module *replayed = run(check, trace, source, &source, &again);
    if (!replayed)
        return complain(check, "its trace is refused", diag_first_error(ctx, (DiagMark){0}));
    if (strcmp(print_module(ctx, scheduled), print_module(ctx, replayed)))
        return complain(check, "its trace gives another program", NULL);
    return !strcmp(trace, again) || complain(check, "the trace of its trace differs", NULL);
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && !strcmp(argv[1], "-v"), good = true;
    glob_t found = {0};
    if (argc == 1 + verbose) {
        found = case_files("sched");
        glob("examples/*/*.sched", GLOB_APPEND, NULL, &found);
    }
    char **names = found.gl_pathc ? found.gl_pathv : argv + 1 + verbose;
    int count = found.gl_pathc ? (int)found.gl_pathc : argc - 1 - verbose;
    FILE *sink = fopen("/dev/null", "w");
    for (int i = 0; i < count; i++) {
        Check check = {context_new(), names[i], sink, verbose};
        good &= check_script(&check);
        context_free(check.ctx);
    }
    fclose(sink);
    if (found.gl_pathc)
        globfree(&found);
    return !good;
}
