/* tvm.contrib in scripts: C to LLVM IR by clang, as micro-kernels are written in notebooks:

     temp = utils.tempdir()
     ll_code = clang.create_llvm(cc_code, output=temp.relpath("temp.ll"))
     sch.annotate(i, "pragma_import_llvm", ll_code)

   Nothing is written: a path in a tempdir is a name that output= takes, and the result is the text of the module. */
#include "script/script_internal.h"

#include <string.h>

#include "support/clang.h"

#define TEMPORARY "<tempdir>/"

/* The source or sources that create_llvm is given: one text or path. */
static bool find_source(Script *script, const Arguments *arguments, Value *source)
{
    const Value *given = arguments->positional_count ? &arguments->positional[0] : script_keyword(arguments, "inputs");
    if (given && given->kind == VALUE_LIST && given->as.list->count == 1)
        given = &given->as.list->items[0];
    if (!given || given->kind != VALUE_STRING)
        return script_error(script, given ? given->span : arguments->span, "create_llvm takes the text of a C program, or the path of one file");
    *source = *given;
    return true;
}

/* Adds the strings of the list options= to WORDS. */
static bool find_options(Script *script, const Arguments *arguments, const char ***words, int *count)
{
    const Value *given = arguments->positional_count > 2 ? &arguments->positional[2] : script_keyword(arguments, "options");
    *words = NULL;
    *count = 0;
    if (!given || given->kind == VALUE_NONE)
        return true;
    if (given->kind != VALUE_LIST)
        return script_error(script, given->span, "options of clang are a list of strings");
    *words = ARENA_ARRAY(script->ctx->arena, const char *, given->as.list->count);
    for (int i = 0; i < given->as.list->count; i++) {
        Value option = given->as.list->items[i];
        if (option.kind != VALUE_STRING)
            return script_error(script, option.span, "an option of clang is a string, not %s", script_type_phrase(script, option));
        (*words)[(*count)++] = option.as.text;
    }
    return true;
}

/* The output of create_llvm is nowhere but in a tempdir. */
static bool check_output(Script *script, const Arguments *arguments)
{
    const Value *output = arguments->positional_count > 1 ? &arguments->positional[1] : script_keyword(arguments, "output");
    bool good = !output || output->kind == VALUE_NONE || (output->kind == VALUE_STRING && !strncmp(output->as.text, TEMPORARY, sizeof TEMPORARY - 1));
    return good || script_error(script, output->span, "scripts write no files: leave output= out, or name a path of utils.tempdir()");
}

static bool create_llvm(Script *script, const Arguments *arguments, Value *result)
{
    static const char *const keywords[] = {"inputs", "output", "options", "cc"};
    Context *ctx = script->ctx;
    Value source = value_none();
    ClangRun run = {.program = script->options->clang};
    const char **options, *text;
    if (!script_check_keywords(script, "create_llvm", arguments, 4, keywords, 4) || !find_source(script, arguments, &source) ||
        !check_output(script, arguments) || !find_options(script, arguments, &options, &run.option_count))
        return false;
    const Value *command = arguments->positional_count > 3 ? &arguments->positional[3] : script_keyword(arguments, "cc");
    if (command && command->kind == VALUE_STRING && !run.program)
        run.program = command->as.text;
    run.options = options;
    run.is_text = clang_is_text(source.as.text);
    run.source = run.is_text ? source.as.text : source_path(ctx->sources, ctx->arena, arguments->span, source.as.text);
    if (!clang_run(ctx->arena, &run, &text))
        return script_error(script, arguments->span, "cannot compile the C%s%s: %s", run.is_text ? "" : " of ", run.is_text ? "" : run.source, text);
    if (!run.is_text && script->options->read_file)
        script->options->read_file(script->options->data, run.source);
    *result = (Value){.kind = VALUE_STRING, .as.text = context_intern(ctx, text)};
    return true;
}

bool script_call_contrib(Script *script, const char *name, const Arguments *arguments, Value *result)
{
    if (!strcmp(name, "create_llvm"))
        return create_llvm(script, arguments, result);
    if (!strcmp(name, "tempdir")) {
        *result = script_object(script, (Object){.kind = OBJECT_NAMESPACE, .as.path = context_intern(script->ctx, "tvm.contrib.utils.TempDirectory")});
        return true;
    }
    if (strcmp(name, "relpath") || arguments->positional_count != 1 || arguments->positional[0].kind != VALUE_STRING)
        return script_error(script, arguments->span, "'%s' cannot be called so", name);
    *result = (Value){.kind = VALUE_STRING, .as.text = context_internf(script->ctx, TEMPORARY "%s", arguments->positional[0].as.text)};
    return true;
}
