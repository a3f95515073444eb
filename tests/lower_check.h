/* Checks lowering on a program: after every pass the function is well formed, prints as text that reads back as the same function and
   lowers on from there to the same result, and computes, run by the interpreter on the same random data, exactly what the source computes.

   Directives, in comments of the .tir file:
     # sizes: n=4 m=0; n=1 m=1     runs with these values of the symbolic sizes (else one run with random ones)
     # expect PASS: TEXT            what the pass gives, printed, holds TEXT
     # reject PASS: TEXT            it does not
     # registers: 64 32             the target has 32 vector registers of 64 bytes (else 16 of 32 bytes)
     # no-check                     the source is run without the interpreter's checks of parallel and vectorized loops */
#ifndef TIRC_TESTS_LOWER_CHECK_H
#define TIRC_TESTS_LOWER_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/argdata.h"
#include "print/print.h"
#include "verify/equal.h"
#include "verify/verify.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "passes/lower/lower.h"
#include "support/strbuf.h"

typedef struct {
    const char *pass;
    Stage stage;
    const Func *func;
} LoweredStep;

typedef struct {
    Context *ctx;
    const char *name, *text;
    const Module *module;
    VEC(LoweredStep) steps;
    int register_bytes, registers; /* of the target */
    bool verbose, failed;
} LowerCheck;

__attribute__((format(printf, 3, 4))) static inline void lower_fail(LowerCheck *check, const char *pass, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: after %s: %s\n", check->name, pass, arena_vprintf(check->ctx->arena, format, args));
    va_end(args);
    check->failed = true;
}

static inline void lower_note_step(void *data, const char *pass, const Func *func, double seconds)
{
    LowerCheck *check = data;
    int count;
    (void)seconds;
    LoweredStep step = {pass, lower_passes(&count)[lower_find_pass(pass)].gives, func};
    vec_push(check->ctx->arena, &check->steps, step);
}

static inline void lower_tell_registers(void *data, int *bytes, int *count)
{
    const LowerCheck *check = data;
    *bytes = check->register_bytes;
    *count = check->registers;
}

/* --- Directives --- */
/* The text of the next line from *AT on that begins with "# KEY" (KEY ends with a space or colon), or NULL; *AT is moved behind it. */
static inline const char *lower_next_directive(LowerCheck *check, const char **at, const char *key)
{
    const char *prefix = arena_printf(check->ctx->arena, "# %s", key), *line = *at;
    while (*line) {
        const char *end = line + strcspn(line, "\n");
        *at = *end ? end + 1 : end;
        if (!strncmp(line, prefix, strlen(prefix)))
            return arena_strndup(check->ctx->arena, line + strlen(prefix), (size_t)(end - line) - strlen(prefix));
        line = *at;
    }
    return NULL;
}

static inline void lower_check_expectations(LowerCheck *check, const char *key, bool wanted)
{
    const char *at = check->text, *directive;
    while ((directive = lower_next_directive(check, &at, key))) {
        size_t length = strcspn(directive, ":");
        const char *pass = arena_strndup(check->ctx->arena, directive, length), *wanted_text = directive + length + 2;
        bool found = false, known = false;
        for (int i = 0; i < check->steps.count; i++) {
            if (strcmp(check->steps.data[i].pass, pass))
                continue;
            known = true;
            found |= strstr(print_func(check->ctx, check->steps.data[i].func), wanted_text) != NULL;
        }
        if (!known || found != wanted)
            lower_fail(check, pass, wanted ? "expected text is missing: %s" : "unwanted text: %s", wanted_text);
    }
}

/* --- Round trips --- */
static inline void lower_check_round_trip(LowerCheck *check, const LoweredStep *step, const Func *final)
{
    Context *ctx = check->ctx;
    const char *why = NULL, *printed = print_func(ctx, step->func);
    if (!verify_func(ctx, step->func, step->stage, &why)) {
        lower_fail(check, step->pass, "not well formed: %s", why);
        return;
    }
    const Module *again = complete_module(ctx, parse_module_text(ctx, step->pass, printed, strlen(printed)));
    if (!again || again->func_count != 1) {
        lower_fail(check, step->pass, "the printed text cannot be read");
        return;
    }
    if (!func_equal(ctx, step->func, again->funcs[0], &why))
        lower_fail(check, step->pass, "the printed text is another function: %s", why);
    if (strcmp(printed, print_func(ctx, again->funcs[0])))
        lower_fail(check, step->pass, "the second print differs");
    LowerOptions options = {.start_after = step->pass, .vector_registers = lower_tell_registers, .data = check};
    const Func *rest = lower_func(ctx, again, again->funcs[0], &options);
    if (!rest)
        lower_fail(check, step->pass, "the printed text does not lower on");
    else if (!func_equal(ctx, rest, final, &why))
        lower_fail(check, step->pass, "the printed text lowers to something else: %s", why);
}

/* --- Runs --- */
static inline bool lower_run(LowerCheck *check, const Func *func, ArgData *data, bool checks)
{
    InterpOptions options = {.checks = checks, .step_limit = 100000000, .module = check->module};
    InterpResult result;
    bool good = interp_run(check->ctx, func, argdata_interp_args(data), &options, &result);
    return good && !argdata_damaged(data);
}

/* The first parameter whose memory differs, or NULL. */
static inline const char *lower_difference(const ArgData *a, const ArgData *b)
{
    for (int i = 0; i < a->func->param_count; i++)
        if (a->items[i].arg.data && memcmp(a->items[i].arg.data, b->items[i].arg.data, (size_t)a->items[i].arg.bytes))
            return a->items[i].param->param->name;
    return NULL;
}

static inline void lower_check_run(LowerCheck *check, const Func *source, const ArgOptions *sizes)
{
    ArgData *input = argdata_new(check->ctx, source, sizes);
    if (!input) {
        lower_fail(check, "(source)", "no arguments");
        return;
    }
    ArgData *expected = argdata_copy(input);
    bool checks = !strstr(check->text, "# no-check");
    if (!lower_run(check, source, expected, checks))
        lower_fail(check, "(source)", "the source itself does not run");
    for (int i = 0; i < check->steps.count && !check->failed; i++) {
        const LoweredStep *step = &check->steps.data[i];
        ArgData *actual = argdata_copy(input);
        if (!lower_run(check, step->func, actual, false))
            lower_fail(check, step->pass, "does not run");
        else if (lower_difference(expected, actual))
            lower_fail(check, step->pass, "computes another '%s'", lower_difference(expected, actual));
        argdata_free(actual);
    }
    argdata_free(expected);
    argdata_free(input);
}

/* Runs with the sizes of one part of a "# sizes:" directive, "n=4 m=0". */
static inline void lower_run_sizes(LowerCheck *check, const Func *source, const char *part, uint64_t seed)
{
    ArgSize sizes[8];
    ArgOptions options = {.seed = seed, .sizes = sizes};
    char name[32];
    long long value;
    int used;
    while (options.size_count < 8 && sscanf(part, " %31[^= ;]=%lld%n", name, &value, &used) == 2) {
        sizes[options.size_count++] = (ArgSize){.name = context_intern(check->ctx, name), .value = value};
        part += used;
    }
    lower_check_run(check, source, &options);
}

static inline void lower_check_runs(LowerCheck *check, const Func *source)
{
    const char *at = check->text, *sizes = lower_next_directive(check, &at, "sizes:");
    uint64_t seed = 1;
    if (!sizes)
        sizes = "";
    while (sizes && !check->failed) {
        lower_run_sizes(check, source, sizes, seed++);
        sizes = strchr(sizes, ';');
        sizes += sizes != NULL;
    }
}

/* --- Files --- */
static inline void lower_read_registers(LowerCheck *check)
{
    const char *at = check->text ? check->text : "", *registers = lower_next_directive(check, &at, "registers:");
    if (!registers || sscanf(registers, "%d %d", &check->register_bytes, &check->registers) != 2) {
        check->register_bytes = 32;
        check->registers = 16;
    }
}

static inline void lower_check_func(LowerCheck *check, const Func *source)
{
    LowerOptions options = {.vector_registers = lower_tell_registers, .after_pass = lower_note_step, .data = check};
    check->steps.count = 0;
    const Func *final = lower_func(check->ctx, check->module, source, &options);
    if (!final) {
        lower_fail(check, "(start)", "does not lower");
        return;
    }
    for (int i = 0; check->verbose && i < check->steps.count; i++)
        if (i == 0 || check->steps.data[i].func != check->steps.data[i - 1].func)
            printf("# after %s\n%s\n", check->steps.data[i].pass, print_func(check->ctx, check->steps.data[i].func));
    lower_check_expectations(check, "expect ", true);
    lower_check_expectations(check, "reject ", false);
    for (int i = 0; i < check->steps.count; i++)
        if (i == 0 || check->steps.data[i].func != check->steps.data[i - 1].func)
            lower_check_round_trip(check, &check->steps.data[i], final);
    lower_check_runs(check, source);
}

static inline const char *lower_read_file(Context *ctx, const char *name)
{
    FILE *file = fopen(name, "rb");
    StrBuf text = {.arena = ctx->arena};
    char chunk[4096];
    size_t size;
    if (!file)
        return NULL;
    while ((size = fread(chunk, 1, sizeof chunk, file)) > 0)
        strbuf_add_bytes(&text, chunk, size);
    fclose(file);
    return strbuf_text(&text);
}

/* True when the file NAME passes all checks; else what failed was written to stderr. VERBOSE: what each pass gives goes to stdout. */
static inline bool lower_check_file(const char *name, bool verbose)
{
    LowerCheck check = {.ctx = context_new(), .name = name, .verbose = verbose};
    check.text = lower_read_file(check.ctx, name);
    lower_read_registers(&check);
    check.module = check.text ? complete_module(check.ctx, parse_module_text(check.ctx, name, check.text, strlen(check.text))) : NULL;
    if (!check.module)
        lower_fail(&check, "(start)", "cannot be read");
    for (int i = 0; check.module && i < check.module->func_count; i++)
        lower_check_func(&check, check.module->funcs[i]);
    if (check.failed)
        diag_flush(check.ctx, stderr, false);
    context_free(check.ctx);
    return !check.failed;
}

#endif
