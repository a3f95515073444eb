/* The fuzzer: fuzz [-n PROGRAMS] [-s SEED] [-o FOLDER]. For each program a random schedule; for each accepted step: the print round-trips, the verifier holds, the interpreter agrees with the
   unscheduled program; at the end the compiled object agrees. Each refusal has a message and changes nothing. A failure is shrunk and written to FOLDER as a test. Prints a table of accepted and refused
   steps and "N passed, N failed". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen/backend.h"
#include "driver/jit.h"
#include "fuzz.h"
#include "ir/argdata.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parser.h"
#include "passes/lower/lower.h"
#include "script/script.h"

enum { MOST_STEPS = 8, MOST_NAMES = 64 };

typedef struct {
    const char *name;
    long accepted, refused;
} Count;
/* What the process of a program leaves to its parent, which also sees it when the process crashes. */
typedef struct {
    Count counts[MOST_NAMES];
    int count;
    char program[8192], steps[4096];
} Table;

typedef struct {
    Context *ctx;
    const Module *source, *current;
    ArgData *inputs, *expected; /* expected: after the unscheduled program ran */
    int64_t length;
    bool threads;
    const char *failure;
} Trial;

static void count_step(Table *table, const char *name, bool accepted)
{
    int i = 0;
    while (i < table->count && strcmp(table->counts[i].name, name))
        i++;
    if (i == table->count)
        table->counts[table->count++].name = name;
    if (accepted)
        table->counts[i].accepted++;
    else
        table->counts[i].refused++;
}

static bool fail(Trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(Trial *trial, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    trial->failure = arena_vprintf(trial->ctx->arena, format, args);
    va_end(args);
    return false;
}

static bool interpret(Trial *trial, const Func *func, const ArgData *data, bool checks)
{
    InterpOptions options = {.checks = checks};
    InterpSymbol *symbols = ARENA_ARRAY(trial->ctx->arena, InterpSymbol, data->signature->dim_count);
    for (int i = 0; i < data->signature->dim_count; i++)
        symbols[i] = (InterpSymbol){data->signature->dims[i], data->dims[i]};
    options.symbols = symbols;
    options.symbol_count = data->signature->dim_count;
    InterpResult result;
    return interp_run(trial->ctx, func, argdata_interp_args(data), &options, &result);
}

static bool begin_trial(Trial *trial, const char *program, uint64_t seed)
{
    trial->ctx = context_new();
    trial->source = trial->current = parse_module_text(trial->ctx, "fuzz.tir", program, strlen(program));
    if (!trial->source)
        return fail(trial, "the program does not parse: %s", diag_first_error(trial->ctx, (DiagMark){0, 0}));
    ArgOptions options = {.seed = seed};
    trial->inputs = argdata_new(trial->ctx, trial->source->funcs[0], &options);
    if (!trial->inputs)
        return fail(trial, "no arguments can be made");
    trial->expected = argdata_copy(trial->inputs);
    trial->length = argdata_reduction_length(trial->inputs, trial->source->funcs[0]) * 64;
    if (!interpret(trial, trial->source->funcs[0], trial->expected, true))
        return fail(trial, "the unscheduled program: %s", diag_first_error(trial->ctx, (DiagMark){0, 0}));
    return true;
}

static void end_trial(Trial *trial)
{
    if (trial->inputs)
        argdata_free(trial->inputs);
    if (trial->expected)
        argdata_free(trial->expected);
    context_free(trial->ctx);
}

static bool check_text(Trial *trial)
{
    Context *ctx = trial->ctx;
    const char *why, *printed = print_module(ctx, trial->current);
    if (!verify_module(ctx, trial->current, STAGE_SCHEDULED, &why))
        return fail(trial, "not well formed: %s", why);
    const Module *again = parse_module_text(ctx, "printed", printed, strlen(printed));
    if (!again)
        return fail(trial, "the printed program does not read back: %s", diag_first_error(ctx, (DiagMark){0, 0}));
    if (!module_equal(ctx, trial->current, again, &why))
        return fail(trial, "the printed program reads back as another one: %s", why);
    return !strcmp(printed, print_module(ctx, again)) || fail(trial, "the second print differs");
}

static bool check_results(Trial *trial, const ArgData *actual, const char *what)
{
    ArgMismatch mismatch;
    if (argdata_damaged(actual))
        return fail(trial, "%s writes outside of its buffers", what);
    if (argdata_compare(trial->expected, actual, trial->length, &mismatch))
        return true;
    return fail(trial, "%s gives %s = %.9g, not %.9g", what, mismatch.element, mismatch.actual, mismatch.expected);
}

static bool check_interpreted(Trial *trial)
{
    ArgData *actual = argdata_copy(trial->inputs);
    bool ok = interpret(trial, trial->current->funcs[0], actual, true);
    ok = ok ? check_results(trial, actual, "the interpreter") : fail(trial, "the interpreter finds: %s", diag_first_error(trial->ctx, (DiagMark){0, 0}));
    argdata_free(actual);
    return ok;
}

static const JitArg *jit_arguments(Trial *trial, const ArgData *data)
{
    JitArg *args = ARENA_ARRAY(trial->ctx->arena, JitArg, data->func->param_count + data->signature->dim_count);
    for (int i = 0; i < data->func->param_count; i++)
        args[i].pointer = data->items[i].arg.data;
    for (int i = 0; i < data->signature->dim_count; i++)
        args[data->func->param_count + i].integer = data->dims[i];
    return args;
}

static bool check_compiled(Trial *trial)
{
    LowerOptions options = {0};
    const Func *lowered = lower_func(trial->ctx, trial->current, trial->current->funcs[0], &options);
    if (!lowered)
        return fail(trial, "lowering refuses: %s", diag_first_error(trial->ctx, (DiagMark){0, 0}));
    CodegenOptions codegen = codegen_default_options();
    codegen.fp_contract = false;
    Jit *jit = jit_open(trial->ctx);
    JitFunction function = jit && jit_add_module(jit, module_with_func(trial->ctx, trial->current, 0, lowered), codegen, NULL) ? jit_find(jit, func_signature(trial->ctx, lowered)->symbol) : NULL;
    ArgData *actual = argdata_copy(trial->inputs);
    bool ok = function ? function(jit_arguments(trial, actual)) == 0 || fail(trial, "the compiled function returns an error") : fail(trial, "code generation fails");
    ok = ok && check_results(trial, actual, "the compiled function");
    argdata_free(actual);
    if (jit)
        jit_close(jit);
    return ok;
}

/* Runs one line of a script; *ACCEPTED tells whether the step was. False when something is wrong. */
static bool run_step(Trial *trial, const char *step, bool *accepted)
{
    Context *ctx = trial->ctx;
    DiagMark mark = diag_mark(ctx);
    FILE *sink = fopen("/dev/null", "w");
    ScriptOptions options = {.out = sink};
    const Module *before = trial->current;
    const char *printed = print_module(ctx, before);
    const AstNode *script = parse_python(ctx, source_add(ctx->sources, "step", step, strlen(step)));
    const Module *after = script_run(ctx, script, before, &options);
    fclose(sink);
    *accepted = after != NULL;
    if (!after) {
        const char *message = diag_first_error(ctx, mark);
        bool unchanged = !strcmp(printed, print_module(ctx, before));
        bool ok = (message && *message) || fail(trial, "a refusal without a message");
        diag_rollback(ctx, mark);
        return ok && (unchanged || fail(trial, "a refused step changed the program"));
    }
    trial->current = after;
    trial->threads |= strstr(step, "sch.bind") != NULL;
    return check_text(trial) && check_interpreted(trial);
}

static const char *replay(const char *program, const char *const *steps, int count, uint64_t seed)
{
    static char text[512];
    Trial trial = {0};
    bool accepted, ok = begin_trial(&trial, program, seed);
    for (int i = 0; ok && i < count; i++)
        ok = run_step(&trial, steps[i], &accepted);
    ok = ok && (trial.threads || check_compiled(&trial));
    snprintf(text, sizeof text, "%s", ok ? "" : trial.failure);
    end_trial(&trial);
    return ok ? NULL : text;
}

static void write_case(const char *folder, const char *program, const char *steps, uint64_t seed)
{
    char path[4096];
    for (int part = 0; part < 2; part++) {
        snprintf(path, sizeof path, "%s/fuzz-%llu.%s", folder, (unsigned long long)seed, part ? "sched" : "tir");
        FILE *file = fopen(path, "w");
        if (!file)
            continue;
        fputs(part ? steps : program, file);
        fclose(file);
    }
    fflush(stdout);
}

/* Drops steps as long as the failure stays, then writes what is left. */
static void report(const char *folder, const char *program, const char **steps, int count, uint64_t seed)
{
    for (int i = count - 1; i >= 0; i--) {
        const char *without[MOST_STEPS];
        int kept = 0;
        for (int j = 0; j < count; j++)
            if (j != i)
                without[kept++] = steps[j];
        if (!replay(program, without, kept, seed))
            continue;
        memcpy(steps, without, sizeof *steps * (size_t)kept);
        count = kept;
    }
    const char *why = replay(program, steps, count, seed);
    printf("FAIL seed %llu: %s\n", (unsigned long long)seed, why ? why : "(not reproduced)");
    StrBuf text = {.arena = arena_new()};
    for (int i = 0; i < count; i++)
        strbuf_printf(&text, "%s\n", steps[i]);
    write_case(folder, program, strbuf_text(&text), seed);
    arena_free(text.arena);
}

static bool run_seed(uint64_t seed, const char *folder, Table *table)
{
    Random random = {seed * 1000003};
    Arena *arena = arena_new();
    const char *program = random_program(&random, arena), *steps[MOST_STEPS], *primitive;
    snprintf(table->program, sizeof table->program, "%s", program);
    table->steps[0] = 0;
    Trial trial = {0};
    int count = 0, wanted = 1 + random_below(&random, MOST_STEPS);
    bool accepted, ok = begin_trial(&trial, program, seed);
    while (ok && count < wanted) {
        const char *step = random_step(&random, trial.ctx, trial.current, &primitive);
        steps[count++] = arena_strndup(arena, step, strlen(step));
        size_t used = strlen(table->steps);
        snprintf(table->steps + used, sizeof table->steps - used, "%s\n", step);
        ok = run_step(&trial, step, &accepted);
        count_step(table, primitive, accepted);
    }
    ok = ok && (trial.threads || check_compiled(&trial));
    end_trial(&trial);
    if (!ok)
        report(folder, program, steps, count, seed);
    arena_free(arena);
    return ok;
}

/* Runs SEED in a process of its own, so that a crash is a failure like others. */
static bool run_apart(uint64_t seed, const char *folder, Table *table)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bool ok = run_seed(seed, folder, table);
        fflush(stdout);
        _exit(!ok);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
        return WEXITSTATUS(status) == 0;
    printf("FAIL seed %llu: the process ended with status %d\n", (unsigned long long)seed, status);
    write_case(folder, table->program, table->steps, seed);
    return false;
}

int main(int argc, char **argv)
{
    long programs = 100, first = 1, failed = 0;
    const char *folder = "/tmp";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-n"))
            programs = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "-s"))
            first = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "-o"))
            folder = argv[i + 1];
    }
    Table *table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED)
        return 2;
    for (long seed = first; seed < first + programs; seed++)
        failed += !run_apart((uint64_t)seed, folder, table);
    printf("%-24s %10s %10s\n", "primitive", "accepted", "refused");
    for (int i = 0; i < table->count; i++)
        printf("%-24s %10ld %10ld\n", table->counts[i].name, table->counts[i].accepted, table->counts[i].refused);
    printf("%ld passed, %ld failed\n", programs - failed, failed);
    return failed != 0;
}
