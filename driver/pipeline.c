/* The pipeline: all stages of a command stand in driver_run, in order. */
#include "driver/data.h"
#include "driver/driver.h"
#include "print/print.h"
#include "script/script.h"
#include "support/bug.h"

/* The inputs or scripts that the command line names. */
static const tirc_text *named_texts(Driver *driver, const TextList *paths)
{
    tirc_text *texts = ARENA_ARRAY(driver->ctx->arena, tirc_text, paths->count);
    for (int i = 0; i < paths->count; i++)
        texts[i] = (tirc_text){.name = paths->data[i]};
    return texts;
}

/* The scripts that the command line names, and those of databases. NULL after a diagnostic. */
static const tirc_text *schedule_texts(Driver *driver)
{
    const TextList *paths = &driver->options.schedules;
    tirc_text *texts = (tirc_text *)named_texts(driver, paths);
    for (int i = 0; i < paths->count; i++)
        if (driver_is_database(paths->data[i]) && !driver_database_script(driver, driver->program, paths->data[i], &texts[i]))
            return NULL;
    return texts;
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
    tirc_program lowered = {.source = script_lower_intrinsics(driver->ctx, program->source)};
    lowered.module = program->module == program->source ? lowered.source : script_lower_intrinsics(driver->ctx, program->module);
    if (lowered.source != program->source || lowered.module != program->module)
        driver->program = arena_copy(driver->ctx->arena, &lowered, sizeof lowered);
    return lowered.source && lowered.module;
}

/* What the command line wants of a program. */
typedef struct {
    bool runs;      /* it is interpreted or compiled: what only is a fault then is an error */
    bool compiles;
    bool writes;    /* files */
    unsigned kinds; /* of code that is written */
} Wanted;

static Wanted wanted_of(const Options *options)
{
    unsigned emitted = options_emitted(options);
    Wanted wanted = {.kinds = options->syntax_only ? 0 : emitted & EMIT_BITS_COMPILED};
    wanted.compiles = options->syntax_only || options->run || options->check || options->time || options->remarks || emitted & EMIT_BITS_COMPILED;
    wanted.runs = wanted.compiles || options->interpret;
    wanted.writes = !options->syntax_only && (emitted || options->header);
    return wanted;
}

/* What can be said of the program before it runs. The interpreter says more of what is wrong; where nothing is compiled it does so alone. */
static bool check_program(Driver *driver, const tirc_program *program, Wanted wanted)
{
    return choose_function(driver, program->module) && driver_check_sizes(driver, program->source) && data_check_names(driver, program->source) &&
           ((driver->options.interpret && !wanted.compiles) || driver_check_claims(driver, program, wanted.compiles));
}

/* The object's interface can be said in C, where that is needed. */
static bool check_interface(Driver *driver, Wanted wanted)
{
    bool needed = wanted.writes && (wanted.kinds || options_emitted(&driver->options) & EMIT_BIT_HEADER || driver->options.header);
    if (!needed)
        return true;
    int errors = diag_error_count(driver->ctx);
    bool good = interface_check(driver->ctx, driver->program->module);
    if (good)
        interface_warn(driver->ctx, driver->program->module);
    return good && diag_error_count(driver->ctx) == errors; /* -Werror makes errors of what is warned of */
}

/* --pass prints what it makes where the command line asks for nothing else. */
static bool shows_result(const Options *options)
{
    Options rest = *options;
    rest.passes.count = 0;
    bool alone = options->passes.count && !options_view(&rest) && !options->output && !options->emit;
    return !options->syntax_only && (options->show == SHOW_RESULT || alone);
}

int driver_run(Driver *driver)
{
    const Options *options = &driver->options;
    const Wanted wanted = wanted_of(options);
    driver->will_run = wanted.runs;

    /* read */
    driver->program = tirc_read(driver, named_texts(driver, &options->inputs), options->inputs.count);
    /* schedule */
    if (driver->program && options->schedules.count) {
        const tirc_text *scripts = schedule_texts(driver);
        driver->program = scripts ? tirc_schedule(driver, driver->program, scripts, options->schedules.count) : NULL;
    }
    /* transform */
    if (driver->program && options->passes.count)
        driver->program = driver_transform(driver, driver->program);
    /* check claims */
    if (!driver->program || !check_program(driver, driver->program, wanted))
        return EXIT_DIAGNOSED;
    driver_note_time(driver, "check axis claims");
    explain_print_rest(driver, "the whole program");
    /* show, interpret, run */
    if (shows_result(options))
        fputs(print_module(driver->ctx, driver->program->module), driver->out);
    if (!options->syntax_only && !lower_operations(driver))
        return EXIT_DIAGNOSED;
    int code = options->syntax_only ? EXIT_OK : run_program(driver);
    if (code != EXIT_OK)
        return code;
    /* lower */
    const Module *lowered = NULL;
    bool lowers = wanted.kinds || (options->print_after.count && !wanted.writes && !options->syntax_only);
    if (!check_interface(driver, wanted) || (lowers && !(lowered = driver_lower(driver, driver->program->module, true))))
        return EXIT_DIAGNOSED;
    /* generate */
    CodegenOutput output = {0};
    if (wanted.kinds && !driver_generate(driver, lowered, wanted.kinds, &output))
        return EXIT_DIAGNOSED;
    /* write */
    return !(wanted.writes || options->depfile) || driver_write(driver, &output) ? EXIT_OK : EXIT_DIAGNOSED;
}
