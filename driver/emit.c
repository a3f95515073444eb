/* Writing: code, headers, dependency rules; all outputs are written aside and put in place together. */
#include <string.h>

#include "codegen/backend.h"
#include "driver/depfile.h"
#include "driver/driver.h"
#include "driver/files.h"
#include "print/print.h"

typedef VEC(OutputFile) OutputList;

/* PATH with the part after the last dot of its file name replaced by ENDING. */
static const char *with_ending(Arena *arena, const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    int length = (int)(dot && dot != path && dot != slash + 1 ? dot - path : (long)strlen(path));
    return arena_printf(arena, "%.*s.%s", length, path, ending);
}

/* The name of the input without folders, with ENDING: where outputs go that -o does not name. */
static const char *default_output(Driver *driver, const char *ending)
{
    const char *input = driver->options.inputs.data[0], *slash = strrchr(input, '/');
    if (!strcmp(input, "-"))
        input = "out";
    return with_ending(driver->ctx->arena, slash ? slash + 1 : input, ending);
}

/* An output must not take the place of a file that was read, or of another output. */
static bool is_free(Driver *driver, const OutputList *outputs, const OutputFile *file)
{
    for (int i = 0; i < driver->files.count; i++)
        if (file_same(file->path, driver->files.data[i]))
            return driver_error(driver, "the output '%s' would overwrite an input", file->path);
    for (int i = 0; i < driver->options.option_files.count; i++)
        if (file_same(file->path, driver->options.option_files.data[i]))
            return driver_error(driver, "the output '%s' would overwrite the options in it", file->path);
    for (int i = 0; i < outputs->count; i++)
        if (output_same(file, &outputs->data[i]))
            return driver_error(driver, "two outputs are to be written to '%s'", file->path);
    return true;
}

static bool add_output(Driver *driver, OutputList *outputs, const char *path, const char *data, size_t length)
{
    OutputFile file;
    const char *reason;
    if (!output_open(driver->ctx->arena, path, data, length, &file, &reason))
        return driver_error(driver, "cannot write '%s': %s", path, reason);
    if (!is_free(driver, outputs, &file))
        return false;
    vec_push(driver->ctx->arena, outputs, file);
    return true;
}

/* -MD: a make rule for TARGET over every file that was read. */
static bool add_depfile(Driver *driver, OutputList *outputs, const char *target)
{
    const Options *options = &driver->options;
    Arena *arena = driver->ctx->arena;
    if (!target || !strcmp(target, "-"))
        target = default_output(driver, "o");
    TextList files = {0};
    for (int i = 0; i < driver->files.count; i++)
        vec_push(arena, &files, driver->files.data[i]);
    for (int i = 0; i < options->option_files.count; i++)
        vec_push(arena, &files, options->option_files.data[i]);
    const char *named = options->depfile_target, *path = options->depfile_name ? options->depfile_name : with_ending(arena, target, "d");
    const char *text = depfile_text(arena, named ? named : target, named != NULL, &files, options->depfile_phony);
    return add_output(driver, outputs, path, text, strlen(text));
}

static bool add_code(Driver *driver, unsigned kinds, const CodegenOutput *code, OutputList *outputs, const char **first_path)
{
    bool single = !(driver->options.emit & (driver->options.emit - 1));
    for (int kind = 0; kind < EMIT_KIND_COUNT; kind++) {
        if (!(kinds & 1u << kind))
            continue;
        const char *ending = emit_kind_info((EmitKind)kind)->suffix;
        const char *path = driver->options.output
                               ? (single ? driver->options.output : with_ending(driver->ctx->arena, driver->options.output, ending))
                               : default_output(driver, ending);
        if (!*first_path)
            *first_path = path;
        if (!add_output(driver, outputs, path, code->bytes[kind].data, code->bytes[kind].length))
            return false;
    }
    return true;
}

/* A text output that --emit asks for. The ending of a program is not .tir alone, or it would overwrite its own input. */
static bool emit_text(Driver *driver, OutputList *outputs, const char *ending, const char *path, const char *text, const char **first_path)
{
    if (!path)
        path = driver->options.output ? with_ending(driver->ctx->arena, driver->options.output, ending) : default_output(driver, ending);
    if (!*first_path)
        *first_path = path;
    return add_output(driver, outputs, path, text, strlen(text));
}

static bool prepare_outputs(Driver *driver, const CodegenOutput *code, OutputList *outputs)
{
    const Options *options = &driver->options;
    unsigned emit = options_emitted(options), compiled = emit & EMIT_BITS_COMPILED;
    if (options->syntax_only)
        return !options->depfile || add_depfile(driver, outputs, options->output);
    const char *first_path = NULL, *only = emit & (emit - 1) ? NULL : options->output;
    if (compiled && !add_code(driver, compiled, code, outputs, &first_path))
        return false;
    if (emit & EMIT_BIT_TIR &&
        !emit_text(driver, outputs, "scheduled.tir", only, print_module(driver->ctx, driver->program->module), &first_path))
        return false;
    const char *header = options->header ? options->header : only;
    if ((emit & EMIT_BIT_HEADER || options->header) &&
        !emit_text(driver, outputs, "h", header, header_text(driver->ctx, driver->program->module, driver->program->source, header),
                   &first_path))
        return false;
    return !options->depfile || add_depfile(driver, outputs, first_path);
}

bool driver_write(Driver *driver, const CodegenOutput *code)
{
    OutputList outputs = {0};
    const OutputFile *failed;
    const char *reason;
    if (!prepare_outputs(driver, code, &outputs))
        return false;
    if (!outputs_write(driver->ctx->arena, outputs.data, outputs.count, &failed, &reason))
        return driver_error(driver, "cannot write '%s': %s", failed->path, reason);
    for (int i = 0; i < outputs.count; i++) {
        const char *path = outputs.data[i].path;
        driver_say(driver, "wrote %s (%zu bytes)", strcmp(path, "-") ? path : "to standard output", outputs.data[i].length);
    }
    return true;
}
