/* The pipeline, top to bottom: options, text to syntax trees to a program, the schedule script, then one of: show, interpret, check, time,
   emit. */
#include <string.h>

#include "driver/data.h"
#include "driver/driver.h"
#include "driver/reference.h"
#include "ir/scalable.h"
#include "ir/print.h"
#include "passes/lower/lower.h"
#include "script/script.h"
#include "support/bug.h"
#include "support/strbuf.h"

/* The inputs or scripts that the command line names. */
static const tirc_text *named_texts(Driver *driver, const TextList *paths)
{
    tirc_text *texts = ARENA_ARRAY(driver->ctx->arena, tirc_text, paths->count);
    for (int i = 0; i < paths->count; i++)
        texts[i] = (tirc_text){.name = paths->data[i]};
    return texts;
}

static bool read_program(Driver *driver)
{
    const Options *options = &driver->options;
    driver->program = tirc_read(driver, named_texts(driver, &options->inputs), options->inputs.count);
    if (driver->program && options->schedules.count)
        driver->program = tirc_schedule(driver, driver->program, named_texts(driver, &options->schedules), options->schedules.count);
    return driver->program != NULL;
}

/* What the command line asks for beside files: the first of these that fails ends the run. */
static int run_program(Driver *driver)
{
    const Options *options = &driver->options;
    int code = options->interpret ? driver_interpret(driver) : EXIT_OK;
    if (code == EXIT_OK && options->check)
        code = driver_check(driver);
    if (code == EXIT_OK && options->run)
        code = driver_run_function(driver);
    if (code == EXIT_OK && options->time)
        code = driver_time(driver);
    if (code == EXIT_OK && options->remarks)
        code = driver_remarks(driver);
    return code;
}

/* --run runs one function, --func's or the one that is meant without it. False after a diagnostic. */
static bool choose_function(Driver *driver, const Module *module)
{
    const Func *chosen = driver->options.run ? driver_find_function(driver, module, driver->options.func) : NULL;
    if (chosen)
        driver->options.func = chosen->name;
    return chosen || !driver->options.run;
}

/* What is interpreted or run in this process has no operations of scripts: their rules lower them. False after a diagnostic. */
static bool lower_operations(Driver *driver)
{
    const Options *options = &driver->options;
    if (!options->interpret && !options->run && !options->check && !options->time)
        return true;
    const tirc_program *program = driver->program;
    tirc_program lowered = {script_lower_intrinsics(driver->ctx, program->source), NULL};
    lowered.module = program->module == program->source ? lowered.source : script_lower_intrinsics(driver->ctx, program->module);
    if (lowered.source != program->source || lowered.module != program->module)
        driver->program = arena_copy(driver->ctx->arena, &lowered, sizeof lowered);
    return lowered.source && lowered.module;
}

static int driver_run(Driver *driver)
{
    const Options *options = &driver->options;
    bool writes = options_emitted(options) || options->header;
    bool compiles = options->syntax_only || options->run || options->check || options->time || options->remarks || options_emitted(options) & EMIT_BITS_COMPILED;
    bool interprets = options->interpret && !compiles; /* which says more of what is wrong, and looks at this afterwards */
    driver->will_run = compiles || options->interpret;
    if (!read_program(driver) || !choose_function(driver, driver->program->module) ||
        !driver_check_sizes(driver, driver->program->source) || !data_check_names(driver, driver->program->source) ||
        !(interprets || driver_check_claims(driver, driver->program, compiles)))
        return EXIT_DIAGNOSED;
    driver_note_time(driver, "check axis claims");
    explain_print_rest(driver, "the whole program");
    if (options->syntax_only)
        return !options->depfile || driver_emit(driver) ? EXIT_OK : EXIT_DIAGNOSED;
    if (options->show == SHOW_RESULT)
        fputs(print_module(driver->ctx, driver->program->module), driver->out);
    if (!lower_operations(driver))
        return EXIT_DIAGNOSED;
    int code = run_program(driver);
    if (code != EXIT_OK)
        return code;
    if (options->print_after.count && !writes && !driver_lower(driver, driver->program->module, true))
        return EXIT_DIAGNOSED;
    return !(writes || options->depfile) || driver_emit(driver) ? EXIT_OK : EXIT_DIAGNOSED;
}

typedef struct {
    Driver *driver;
    bool report;
} PassReport;

static void after_pass(void *data, const char *pass, const Func *func, double seconds)
{
    PassReport *report = data;
    Driver *driver = report->driver;
    driver_add_time(driver, pass, seconds);
    for (int i = 0; report->report && i < driver->options.print_after.count; i++)
        if (!strcmp(driver->options.print_after.data[i], pass) || !strcmp(driver->options.print_after.data[i], "all"))
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
    for (int i = -1; i < driver->options.print_after.count; i++) {
        const char *name = i < 0 ? driver->options.start_after : driver->options.print_after.data[i];
        if (!name || lower_find_pass(name) >= 0 || (i >= 0 && !strcmp(name, "all")))
            continue;
        const char *near = diag_closest(name, names, count + 1);
        return driver_error(driver, "there is no pass '%s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
                            near ? "'?" : "");
    }
    return true;
}

const Module *driver_lower(Driver *driver, const Module *module, bool report)
{
    if (!check_pass_names(driver) || !scalable_refuse(driver->ctx, module, "compiled; it can be shown"))
        return NULL;
    module = script_lower_intrinsics(driver->ctx, module);
    if (!module)
        return NULL;
    PassReport pass_report = {driver, report};
    LowerOptions options = {.bounds_check = driver->options.bounds_check,
                            .verify_each = driver->options.verify_each,
                            .start_after = driver->options.start_after,
                            .after_pass = after_pass,
                            .data = &pass_report};
    bool ok = true;
    int errors = diag_error_count(driver->ctx);
    const Module *lowered = module;
    for (int i = 0; i < module->func_count; i++) {
        int before = diag_error_count(driver->ctx);
        const Func *func = lower_func(driver->ctx, module, module->funcs[i], &options);
        ok &= func != NULL;
        if (diag_error_count(driver->ctx) > before)
            driver_blame_step(driver, module->funcs[i]);
        if (func)
            lowered = module_with_func(driver->ctx, lowered, i, func);
    }
    return ok && diag_error_count(driver->ctx) == errors ? lowered : NULL;
}

/* --- start and end --- */

static void print_times(Driver *driver)
{
    StrBuf table = {.arena = driver->ctx->arena};
    double total = 0;
    for (int i = 0; i < driver->times.count; i++)
        total += driver->times.data[i].seconds;
    strbuf_printf(&table, "%10s  %6s  phase\n", "ms", "share");
    for (int i = 0; i < driver->times.count; i++)
        strbuf_printf(&table, "%10.3f  %5.1f%%  %s\n", driver->times.data[i].seconds * 1e3,
                      100 * driver->times.data[i].seconds / (total > 0 ? total : 1), driver->times.data[i].name);
    strbuf_printf(&table, "%10.3f  100.0%%  total\n", total * 1e3);
    if (driver->options.json)
        diag_say(driver->ctx, driver->err, strbuf_text(&table));
    else
        fputs(strbuf_text(&table), driver->err);
}

static void flush_diagnostics(Driver *driver)
{
    ColorMode color = driver->options.color;
    diag_flush(driver->ctx, driver->err, color == COLOR_ALWAYS || (color == COLOR_AUTO && driver_uses_color(driver->err)));
}

/* Closing standard output tells of a full disk that buffered writes did not. */
static int finish(Driver *driver, int code)
{
    flush_diagnostics(driver);
    if ((fflush(driver->out) || ferror(driver->out)) && code == EXIT_OK) {
        driver_error(driver, "cannot write to standard output");
        flush_diagnostics(driver);
        code = EXIT_DIAGNOSED;
    }
    return code;
}

static int print_help(Driver *driver)
{
    const char *topic = driver->options.help, *name = strchr(topic, '=');
    if (!topic[0])
        options_help(driver->out);
    return !topic[0] || reference_print(driver->ctx, driver->out, name ? name + 1 : NULL) ? EXIT_OK : EXIT_USAGE;
}

int driver_main(int argc, char **argv, FILE *out, FILE *err)
{
    Driver *driver = tirc_context_new();
    const Options *options = &driver->options;
    driver->out = out;
    driver->err = err;
    int code = EXIT_OK;
    bool good = options_parse(driver->ctx, driver->options_arena, (const char *const *)argv + 1, argc - 1, &driver->options);
    driver_use_options(driver);
    if (!good || !options_consistent(driver->ctx, options))
        code = EXIT_USAGE;
    else if (options->help)
        code = print_help(driver);
    else if (options->version)
        fprintf(out, "tirc %s\n", TIRC_VERSION);
    else
        code = driver_run(driver);
    code = finish(driver, code);
    if (options->time_report && code != EXIT_USAGE)
        print_times(driver);
    tirc_context_free(driver);
    return code;
}
