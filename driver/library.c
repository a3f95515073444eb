/* The interface of libtirc (tirc.h): from texts to programs, through schedule scripts, to bytes. Nothing here writes files. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/driver.h"
#include "driver/files.h"
#include "driver/run.h"
#include "print/print.h"
#include "parser/parser.h"
#include "passes/analysis/prove/explain.h"
#include "passes/analysis/questions/callees.h"
#include "script/script.h"
#include "support/bug.h"
#include "support/warning.h"

enum { LARGEST_TEXT = 1 << 30 };

/* --- Contexts --- */

tirc_context *tirc_context_new(void)
{
    Driver *driver = xmalloc(sizeof *driver);
    *driver = (Driver){
        .ctx = context_new(), .options_arena = arena_new(), .options = options_default(), .out = stdout, .err = stderr};
    driver_note_time(driver, NULL);
    return driver;
}

void tirc_context_release(tirc_context *context)
{
    if (!context)
        return;
    context_free(context->ctx);
    *context = (Driver){.ctx = context_new(),
                        .options_arena = context->options_arena,
                        .options = context->options,
                        .out = context->out,
                        .err = context->err};
    driver_use_options(context);
    driver_note_time(context, NULL);
}

void tirc_context_free(tirc_context *context)
{
    if (!context)
        return;
    context_free(context->ctx);
    arena_free(context->options_arena);
    free(context);
}

/* OPTIONS with WORDS, both of ARENA; false after a diagnostic. */
static bool read_options(Driver *driver, Arena *arena, const char *const *words, int count, Options *options)
{
    const char **copies = ARENA_ARRAY(arena, const char *, count);
    for (int i = 0; i < count; i++) {
        if (!words[i])
            return driver_error(driver, "tirc_set_options: word %d is NULL", i);
        copies[i] = arena_strndup(arena, words[i], strlen(words[i]));
    }
    if (!options_parse(driver->ctx, arena, copies, count, options))
        return false;
    return !options->inputs.count || driver_error(driver, "'%s' is no option; inputs are given to tirc_read", options->inputs.data[0]);
}

/* What is wrong shows first in an arena that goes again: that of the options keeps what it is given. */
static bool set_options(Driver *driver, const char *const *words, int count)
{
    if (count < 0 || (count && !words))
        return driver_error(driver, "tirc_set_options: no words are given");
    Arena *trial = arena_new();
    Options options = driver->options;
    bool good = read_options(driver, trial, words, count, &options);
    arena_free(trial);
    options = driver->options;
    if (!good || !read_options(driver, driver->options_arena, words, count, &options))
        return false;
    driver->options = options;
    driver_use_options(driver);
    return true;
}

int tirc_set_options(tirc_context *context, const char *const *words, int count)
{
    return context && set_options(context, words, count) ? 0 : -1;
}

void driver_use_options(Driver *driver)
{
    Options *options = &driver->options;
    driver->ctx->diag_options = (DiagOptions){options->warnings, (int)options->error_limit, options->json};
    driver->ctx->arguments_off = options->arguments_off;
    if (options->explain)
        explain_start(driver->ctx);
    driver->ctx->new_spellings = options->new_spellings;
    for (int i = 0; i < options->unknown_warnings.count; i++)
        diag_warning(driver->ctx, WARNING_UNKNOWN_WARNING_OPTION, span_none(), "%s", options->unknown_warnings.data[i]);
    options->unknown_warnings.count = 0;
}

void tirc_set_output(tirc_context *context, FILE *output)
{
    if (context)
        context->out = output ? output : stdout;
}

/* --- Texts and programs --- */

void driver_add_file(Driver *driver, const char *path)
{
    for (int i = 0; i < driver->files.count; i++)
        if (!strcmp(driver->files.data[i], path))
            return;
    const char *copy = arena_strndup(driver->ctx->base_arena, path, strlen(path));
    vec_push(driver->ctx->base_arena, &driver->files, copy);
}

/* For ScriptOptions.read_file; DATA is a StepView. */
static void note_file(void *data, const char *path)
{
    driver_add_file(((StepView *)data)->driver, path);
}

/* For ScriptOptions.call_function; DATA is a StepView. */
static bool call_function(void *data, const Module *module, const Func *func, const ScriptArray *arrays, Span span)
{
    return driver_call_function(((StepView *)data)->driver, module, func, arrays, span);
}

/* The number of TEXT among the sources of the context; 0 after a diagnostic. */
static uint32_t load_text(Driver *driver, const tirc_text *text)
{
    Context *ctx = driver->ctx;
    if (text->text)
        return source_add(ctx->sources, text->name, text->text, text->length);
    FileText file;
    const char *reason;
    if (!file_read(ctx->base_arena, text->name, &file, &reason)) {
        driver_error(driver, "cannot read '%s': %s", text->name, reason);
        return 0;
    }
    bool standard = !strcmp(text->name, "-");
    if (!standard)
        driver_add_file(driver, text->name);
    driver_say(driver, "read %s (%zu bytes)", standard ? "standard input" : text->name, file.length);
    return source_add(ctx->sources, standard ? "<stdin>" : text->name, file.text, file.length);
}

/* TEXTS, the argument of FUNCTION, are texts. False after a diagnostic. */
static bool check_texts(Driver *driver, const char *function, const tirc_text *texts, int count)
{
    if (!texts || count <= 0)
        return driver_error(driver, "%s: no text is given", function);
    for (int i = 0; i < count; i++) {
        if (!texts[i].name)
            return driver_error(driver, "%s: text %d has no name", function, i);
        if (texts[i].text && texts[i].length > LARGEST_TEXT)
            return driver_error(driver, "%s: '%s' is longer than 1 GiB", function, texts[i].name);
    }
    return true;
}

bool driver_check_program(Driver *driver, const char *function, const tirc_program *program)
{
    if (!program)
        return driver_error(driver, "%s: no program is given", function);
    for (int i = 0; i < driver->programs.count; i++)
        if (driver->programs.data[i] == program)
            return true;
    return driver_error(driver, "%s: the program is not of this context, or was released", function);
}

/* Reads and parses COUNT texts; NULL after a diagnostic. */
static const AstNode **parse_texts(Driver *driver, const tirc_text *texts, int count)
{
    const AstNode **trees = ARENA_ARRAY(driver->ctx->arena, const AstNode *, count);
    for (int i = 0; i < count; i++) {
        uint32_t source = load_text(driver, &texts[i]);
        if (!source)
            return NULL;
        trees[i] = parse_python(driver->ctx, source);
    }
    return trees;
}

static const tirc_program *new_program(Driver *driver, const Module *source, const Module *module, const Module *lowered)
{
    tirc_program *program = ARENA_NEW(driver->ctx->base_arena, tirc_program);
    *program = (tirc_program){source, module, lowered};
    vec_push(driver->ctx->base_arena, &driver->programs, (const tirc_program *)program);
    return program;
}

/* The program of the parsed TREES, or that which they compute when they are run. */
static bool read_module(Driver *driver, const AstNode *const *trees, int count, const Module **module)
{
    const Options *options = &driver->options;
    Module *elaborated;
    StepView view = {driver, NULL};
    ScriptOptions script_options = {.out = driver->out,
                                    .definitions = options->definitions.data,
                                    .definition_count = options->definitions.count,
                                    .seed = options->seed,
                                    .clang = options->clang,
                                    .read_file = note_file,
                                    .call_function = call_function,
                                    .data = &view,
                                    .will_run = driver->will_run};
    bool runs = script_is_program(driver->ctx, trees, count);
    if (runs)
        *module = script_run_program(driver->ctx, trees, count, &script_options);
    else
        *module = elaborate(driver->ctx, trees, count, &elaborated) ? elaborated : NULL;
    return *module != NULL;
}

const tirc_program *tirc_read(tirc_context *context, const tirc_text *texts, int count)
{
    if (!context || !check_texts(context, "tirc_read", texts, count))
        return NULL;
    const AstNode **trees = parse_texts(context, texts, count);
    if (!trees)
        return NULL;
    driver_note_time(context, "parse");
    const Module *surface, *module = NULL;
    bool ok = read_module(context, trees, count, &surface) && !diag_error_count(context->ctx);
    driver_note_time(context, "elaborate");
    if (ok)
        module = program_complete(context->ctx, surface);
    if (module)
        driver_check_intrins(context, module);
    driver_note_time(context, "complete");
    return module && !diag_error_count(context->ctx) ? new_program(context, module, module, NULL) : NULL;
}

const tirc_program *tirc_schedule(tirc_context *context, const tirc_program *program, const tirc_text *scripts, int count)
{
    if (!context || !driver_check_program(context, "tirc_schedule", program) || !check_texts(context, "tirc_schedule", scripts, count))
        return NULL;
    Context *ctx = context->ctx;
    const Options *options = &context->options;
    const AstNode **trees = parse_texts(context, scripts, count);
    if (!trees || diag_error_count(ctx))
        return NULL;
    bool steps = options->show == SHOW_STEPS || options->show == SHOW_DIFF;
    StepView view = {context, steps ? print_module(ctx, program->module) : NULL};
    ScriptOptions script_options = {.out = context->out,
                                    .definitions = options->definitions.data,
                                    .definition_count = options->definitions.count,
                                    .seed = options->seed,
                                    .will_run = context->will_run,
                                    .clang = options->clang,
                                    .read_file = note_file,
                                    .call_function = call_function,
                                    .after_step = step_view_after,
                                    .after_call = options->explain ? explain_view_after : NULL,
                                    .data = &view};
    const Module *source, *module = script_run(ctx, parse_join(ctx, trees, count), program->module, &script_options, &source);
    driver_note_time(context, "schedule");
    if (!module || diag_error_count(ctx))
        return NULL;
    return new_program(context, source == program->module ? program->source : source, module, NULL);
}

int tirc_check(tirc_context *context, const tirc_program *program)
{
    return context && driver_check_program(context, "tirc_check", program) && driver_check_claims(context, program, true) ? 0 : -1;
}

const tirc_program *tirc_lower(tirc_context *context, const tirc_program *program)
{
    if (!context || !driver_check_program(context, "tirc_lower", program))
        return NULL;
    if (program->lowered)
        return program;
    const Module *lowered = driver_check_claims(context, program, true) ? driver_lower(context, program->module, true) : NULL;
    return lowered ? new_program(context, program->source, program->module, lowered) : NULL;
}

/* --- Bytes --- */

/* Of what tirc_emit gives, all but machine code; NULL after a diagnostic. */
static const char *emit_text(Driver *driver, const tirc_program *program, unsigned emit, size_t *length)
{
    if (emit == EMIT_BIT_HEADER && !interface_check(driver->ctx, program->module))
        return NULL;
    const char *text = emit == EMIT_BIT_TIR ? print_module(driver->ctx, program->lowered ? program->lowered : program->module)
                                            : header_text(driver->ctx, program->module, program->source, NULL);
    *length = strlen(text);
    return text;
}

const char *tirc_emit(tirc_context *context, const tirc_program *program, const char *kind, size_t *length)
{
    unsigned emit = 0;
    size_t unused;
    length = length ? length : &unused;
    *length = 0;
    if (!context || !driver_check_program(context, "tirc_emit", program))
        return NULL;
    if (!kind) {
        driver_error(context, "tirc_emit: no kind is given");
        return NULL;
    }
    if (!options_emit_kind(context->ctx, kind, &emit))
        return NULL;
    if (emit == EMIT_BIT_TIR || emit == EMIT_BIT_HEADER)
        return emit_text(context, program, emit, length);
    CodegenOutput output;
    const Module *lowered = program->lowered;
    if (!lowered && driver_check_claims(context, program, true))
        lowered = driver_lower(context, program->module, true);
    if (!lowered || !driver_generate(context, lowered, emit, &output))
        return NULL;
    for (int i = 0; i < EMIT_KIND_COUNT; i++)
        if (emit == 1u << i) {
            *length = output.bytes[i].length;
            return output.bytes[i].data;
        }
    return NULL;
}

/* --- What was said, and what was read --- */

const char *tirc_diagnostics(tirc_context *context)
{
    char *text = NULL;
    size_t length = 0;
    if (!context)
        return "";
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return "";
    diag_flush(context->ctx, stream, context->options.color == COLOR_ALWAYS);
    diag_clear(context->ctx);
    fclose(stream);
    const char *copy = arena_strndup(context->ctx->base_arena, text, length);
    free(text);
    return copy;
}

const char *tirc_file(const tirc_context *context, int index)
{
    return context && index >= 0 && index < context->files.count ? context->files.data[index] : NULL;
}

/* --- Shared with the command --- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void driver_add_time(Driver *driver, const char *name, double seconds)
{
    for (int i = 0; i < driver->times.count; i++)
        if (!strcmp(driver->times.data[i].name, name)) {
            driver->times.data[i].seconds += seconds;
            return;
        }
    PhaseTime entry = {name, seconds};
    vec_push(driver->ctx->base_arena, &driver->times, entry);
}

void driver_note_time(Driver *driver, const char *name)
{
    double time = now();
    if (name)
        driver_add_time(driver, name, time - driver->last_time);
    driver->last_time = time;
}

bool driver_error(Driver *driver, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(driver->ctx, span_none(), "%s", arena_vprintf(driver->ctx->arena, format, args));
    va_end(args);
    return false;
}

void driver_say(const Driver *driver, const char *format, ...)
{
    if (!driver->options.verbose)
        return;
    va_list args;
    va_start(args, format);
    diag_say(driver->ctx, driver->err, arena_vprintf(driver->ctx->arena, format, args));
    va_end(args);
}
