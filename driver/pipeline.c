/* The pipeline, top to bottom: options, text to syntax trees to a program, the schedule script, then one of: show, interpret, check, time, emit. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver/driver.h"
#include "driver/files.h"
#include "ir/print.h"
#include "parser/parser.h"
#include "passes/lower/lower.h"
#include "script/script.h"
#include "support/bug.h"

static int driver_run(Driver *driver)
{
    const Options *options = driver->options;
    bool wants_output = options->emit || options->output || options->header;
    bool only_shown = (options->show || options->print_after.count) && !wants_output;
    bool compiles = !options->interpret && (options->check || options->time || !only_shown);
    if (!driver_parse(driver) || !driver_schedule(driver) || !driver_check_claims(driver, driver->source, compiles))
        return EXIT_DIAGNOSED;
    if (options->show == SHOW_RESULT)
        fputs(print_module(driver->ctx, driver->scheduled), driver->out);
    if (options->interpret)
        return driver_interpret(driver);
    if (options->check || options->time) {
        int code = options->check ? driver_check(driver) : EXIT_OK;
        return code == EXIT_OK && options->time ? driver_time(driver) : code;
    }
    if (options->show && !wants_output)
        return EXIT_OK;
    if (options->print_after.count && !wants_output)
        return driver_lower(driver, driver->scheduled, true) ? EXIT_OK : EXIT_DIAGNOSED;
    return driver_emit(driver) ? EXIT_OK : EXIT_DIAGNOSED;
}

static uint32_t load_source(Driver *driver, const char *path)
{
    FileText file;
    const char *reason;
    if (!file_read(driver->ctx->base_arena, path, &file, &reason)) {
        driver_error(driver, "cannot read '%s': %s", path, reason);
        return 0;
    }
    if (strcmp(path, "-"))
        vec_push(driver->ctx->base_arena, &driver->prerequisites, path);
    return source_add(driver->ctx->sources, strcmp(path, "-") ? path : "<stdin>", file.text, file.length);
}

bool driver_parse(Driver *driver)
{
    int count = driver->options->inputs.count;
    const AstNode **files = ARENA_ARRAY(driver->ctx->arena, const AstNode *, count);
    for (int i = 0; i < count; i++) {
        uint32_t source = load_source(driver, driver->options->inputs.data[i]);
        if (!source)
            return false;
        files[i] = parse_python(driver->ctx, source);
    }
    driver_note_time(driver, "parse");
    Module *module;
    bool ok = elaborate(driver->ctx, files, count, &module) && !diag_error_count(driver->ctx);
    driver_note_time(driver, "elaborate");
    driver->source = driver->scheduled = ok ? module : NULL;
    return ok;
}

bool driver_schedule(Driver *driver)
{
    const Options *options = driver->options;
    if (!options->schedule)
        return true;
    uint32_t source = load_source(driver, options->schedule);
    if (!source)
        return false;
    const AstNode *script = parse_python(driver->ctx, source);
    if (diag_error_count(driver->ctx))
        return false;
    bool steps = options->show == SHOW_STEPS || options->show == SHOW_DIFF;
    StepView view = {driver, steps ? print_module(driver->ctx, driver->source) : NULL};
    ScriptOptions script_options = {.out = driver->out, .definitions = options->definitions.data, .definition_count = options->definitions.count};
    if (steps) {
        script_options.after_step = step_view_after;
        script_options.data = &view;
    }
    driver->scheduled = script_run(driver->ctx, script, driver->source, &script_options);
    driver_note_time(driver, "schedule");
    return driver->scheduled && !diag_error_count(driver->ctx);
}

typedef struct {
    Driver *driver;
    bool report;
} PassReport;

static void after_pass(void *data, const char *pass, const Func *func, double seconds)
{
    PassReport *report = data;
    Driver *driver = report->driver;
    PhaseTime time = {pass, seconds};
    vec_push(driver->ctx->base_arena, &driver->times, time);
    for (int i = 0; report->report && i < driver->options->print_after.count; i++)
        if (!strcmp(driver->options->print_after.data[i], pass) || !strcmp(driver->options->print_after.data[i], "all"))
            fprintf(driver->out, "# after %s\n%s", pass, print_func(driver->ctx, func));
}

/* --print-after and --start-after name passes; false after a diagnostic with what is close. */
static bool check_pass_names(Driver *driver)
{
    int count;
    const LowerPass *passes = lower_passes(&count);
    const char **names = ARENA_ARRAY(driver->ctx->arena, const char *, count + 1);
    for (int i = 0; i < count; i++)
        names[i] = passes[i].name;
    names[count] = "all";
    for (int i = -1; i < driver->options->print_after.count; i++) {
        const char *name = i < 0 ? driver->options->start_after : driver->options->print_after.data[i];
        if (!name || lower_find_pass(name) >= 0 || (i >= 0 && !strcmp(name, "all")))
            continue;
        const char *near = diag_closest(name, names, count + 1);
        return driver_error(driver, "there is no pass '%s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return true;
}

const Module *driver_lower(Driver *driver, const Module *module, bool report)
{
    if (!check_pass_names(driver))
        return NULL;
    PassReport pass_report = {driver, report};
    LowerOptions options = {driver->options->bounds_check, driver->options->start_after, after_pass, &pass_report};
    bool ok = true;
    const Module *lowered = module;
    for (int i = 0; i < module->func_count; i++) {
        const Func *func = lower_func(driver->ctx, module, module->funcs[i], &options);
        ok &= func != NULL;
        if (func)
            lowered = module_with_func(driver->ctx, lowered, i, func);
    }
    driver->last_time = -1;
    return ok && !diag_error_count(driver->ctx) ? lowered : NULL;
}

/* --- times, errors, start and end --- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void driver_note_time(Driver *driver, const char *name)
{
    double time = now();
    PhaseTime entry = {name, time - driver->last_time};
    if (name && driver->last_time >= 0)
        vec_push(driver->ctx->base_arena, &driver->times, entry);
    driver->last_time = time;
}

static void print_times(Driver *driver)
{
    double total = 0;
    for (int i = 0; i < driver->times.count; i++)
        total += driver->times.data[i].seconds;
    fprintf(driver->err, "%10s  %6s  phase\n", "ms", "share");
    for (int i = 0; i < driver->times.count; i++)
        fprintf(driver->err, "%10.3f  %5.1f%%  %s\n", driver->times.data[i].seconds * 1e3, 100 * driver->times.data[i].seconds / (total > 0 ? total : 1),
                driver->times.data[i].name);
    fprintf(driver->err, "%10.3f  100.0%%  total\n", total * 1e3);
}

bool driver_error(Driver *driver, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(driver->ctx, span_none(), "%s", arena_vprintf(driver->ctx->arena, format, args));
    va_end(args);
    return false;
}

/* Closing standard output tells of a full disk that buffered writes did not. */
static int finish_output(Driver *driver, int code)
{
    diag_flush(driver->ctx, driver->err, isatty(fileno(driver->err)));
    if ((fflush(driver->out) || ferror(driver->out)) && code == EXIT_OK) {
        fputs("tirc: error: cannot write to standard output\n", driver->err);
        code = EXIT_DIAGNOSED;
    }
    return code;
}

int driver_main(int argc, char **argv, FILE *out, FILE *err)
{
    Context *ctx = context_new();
    Options options;
    int code = EXIT_OK;
    if (!options_parse(ctx->base_arena, argc, argv, err, &options)) {
        code = EXIT_USAGE;
    } else if (options.help) {
        options_help(out);
    } else if (options.version) {
        fprintf(out, "tirc %s\n", TIRC_VERSION);
    } else {
        ctx->warnings_are_errors = options.warnings_are_errors;
        ctx->no_warnings = options.no_warnings;
        Driver driver = {.ctx = ctx, .options = &options, .out = out, .err = err};
        driver_note_time(&driver, NULL);
        driver.last_time = now();
        code = finish_output(&driver, driver_run(&driver));
        if (options.time_report)
            print_times(&driver);
        context_free(ctx);
        return code;
    }
    if (fflush(out) || ferror(out))
        code = EXIT_DIAGNOSED;
    context_free(ctx);
    return code;
}
