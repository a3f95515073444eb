/* The run of a whole script: the names that are there from the start, and what is to be said or done at its end; see script.h. */
#include "passes/schedule/check/concurrency.h"
#include "script/script_internal.h"
#include "support/warning.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* TEXT as an integer or float if it reads as one in Python, else as a string; false when it is an integer of more than 64 bits. */
static bool definition_value(Script *script, const char *text, Value *value)
{
    const char *digits = text + (*text == '-' || *text == '+');
    bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    char *end;
    errno = 0;
    *value = (Value){.kind = VALUE_INT, .as.integer = strtoll(text, &end, hexadecimal ? 16 : 10)};
    bool number = (*digits >= '0' && *digits <= '9') || *digits == '.';
    if (number && !*end && end != text)
        return !errno;
    *value = (Value){.kind = VALUE_FLOAT, .as.real = strtod(text, &end)};
    if (!number || *end || end == text)
        *value = (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, text)};
    return true;
}

/* -D NAME=VALUE; a NAME alone is 1. */
static bool define(Script *script, const char *definition)
{
    const char *equals = strchr(definition, '=');
    Str name = context_internf(script->ctx, "%.*s", (int)(equals ? equals - definition : (long)strlen(definition)), definition);
    if (!*name || strspn(name, "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != strlen(name) ||
        (*name >= '0' && *name <= '9'))
        return script_error(script, span_none(), "-D %s: '%s' is not a name", definition, name);
    Value value;
    if (!definition_value(script, equals ? equals + 1 : "1", &value))
        return script_error(script, span_none(), "-D %s: the number does not fit in 64 bits", definition);
    script_set(script, name, value);
    return true;
}

bool script_define_presets(Script *script)
{
    for (int i = 0; i < script->options->definition_count; i++)
        if (!define(script, script->options->definitions[i]))
            return false;
    return true;
}

void script_predefine_packages(Script *script)
{
    static const char *const namespaces[][2] = {{"tvm", "tvm"}, {"tir", "tvm.tir"}, {"te", "tvm.te"}, {"topi", "tvm.topi"}, {"relax", "tvm.relax"},
                                                {"T", "tvm.script.tir"}, {"I", "tvm.script.ir"}, {"IPython", "IPython"}};
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
        script_set(script, context_intern(script->ctx, namespaces[i][0]),
                   script_object(script, (Object){.kind = OBJECT_NAMESPACE, .as.path = context_intern(script->ctx, namespaces[i][1])}));
}

/* The names that are there from the start: sch, tvm and tir, and what the input calls its module and functions. */
static void predefine(Script *script)
{
    Context *ctx = script->ctx;
    Value input = script_object(script, (Object){.kind = OBJECT_MODULE, .as.module = script->input});
    script_set(script, context_intern(ctx, "Module"), input);
    if (script->input->name)
        script_set(script, script->input->name, input);
    for (int i = 0; script->input->bare && i < script->input->func_count; i++)
        script_set(script, script->input->funcs[i]->name, input);
    script_predefine_packages(script);
    script_set(script, context_intern(ctx, "sch"),
               script_object(script, (Object){.kind = OBJECT_SCHEDULE, .as.schedule = script->schedule}));
}

/* --- the end --- */

static const Object *uncalled_def(const Script *script, Value value)
{
    const Object *def = value_object(value, OBJECT_DEF);
    return def && def->as.def.node->kind == AST_DEF && !map_has(&script->called, def->as.def.node) ? def : NULL;
}

/* A trace as TVM prints it is a function that nobody calls. */
static bool apply_trace(Script *script)
{
    Context *ctx = script->ctx;
    const Value *trace = map_get(&script->globals->values, context_intern(ctx, "apply_trace"));
    const Object *def = trace ? uncalled_def(script, *trace) : NULL;
    if (!def)
        return true;
    const Value *named = map_get(&script->globals->values, context_intern(ctx, "sch"));
    bool is_schedule = named && value_object(*named, OBJECT_SCHEDULE);
    Value sch = is_schedule ? *named : script_object(script, (Object){.kind = OBJECT_SCHEDULE, .as.schedule = script->schedule}), result;
    Arguments arguments = {.positional = &sch, .positional_count = 1, .span = def->as.def.node->span};
    return script_call_def(script, def, &arguments, &result);
}

/* The result of a script is the schedule made last, or the copy of one that `sch` names at the end. */
static void choose_schedule(Script *script)
{
    const Value *named = map_get(&script->globals->values, context_intern(script->ctx, "sch"));
    const Object *object = named ? value_object(*named, OBJECT_SCHEDULE) : NULL;
    if (object && map_has(&script->copies, object->as.schedule))
        script->schedule = object->as.schedule;
}

/* A script that changes nothing is hardly what was meant. */
static void warn_of_no_step(Script *script, const AstNode *file)
{
    if (script->steps_made)
        return;
    Span begin = file->as.list.count ? file->as.list.items[0]->span : file->span;
    diag_warning(script->ctx, WARNING_EMPTY_SCHEDULE, begin, "the script makes no step: it leaves the program as it is");
    const Map *globals = &script->globals->values;
    for (int i = 0; i < globals->count; i++) {
        const Value *value = globals->entries[i].value;
        const Object *def = value ? uncalled_def(script, *value) : NULL;
        if (def)
            diag_note(script->ctx, def->as.def.node->as.def.name_span, "nothing calls '%s'", def->as.def.node->as.def.name);
    }
}

/* The rules of operations are called after the run, when its caller and the functions that it gave are gone. */
void script_keep(Script *script)
{
    ScriptOptions *options = arena_copy(script->ctx->base_arena, script->options, sizeof *options);
    *options = (ScriptOptions){.out = options->out, .seed = options->seed, .clang = options->clang};
    *script->kept = *script;
    script->kept->options = options;
}

const Module *script_run(Context *ctx, const AstNode *file, const Module *module, const ScriptOptions *options, const Module **source)
{
    Script script = {.ctx = ctx, .options = options, .input = script_with_builtin_intrinsics(ctx, module)};
    script.kept = ARENA_NEW(ctx->base_arena, Script);
    script.globals = script.scope = ARENA_NEW(ctx->arena, Environment);
    script.schedule = schedule_new(ctx, script.input, module_index_for_schedule(module, "main"));
    script_seed(&script, script.schedule, NULL);
    map_set(ctx->arena, &script.sources, script.input, (void *)module);
    map_set(ctx->arena, &script.sources, script.schedule, (void *)module);
    for (int i = 0; i < module->intrin_count; i++)
        vec_push(ctx->arena, &script.intrins, module->intrins[i]);
    predefine(&script);
    if (!script_define_presets(&script))
        return NULL;
    if (script_run_body(&script, file->as.list) != FLOW_NEXT || !apply_trace(&script))
        return NULL;
    choose_schedule(&script);
    if (!check_threads(script.schedule, options->will_run))
        return NULL;
    script_keep(&script);
    warn_of_no_step(&script, file);
    if (options->trace)
        *options->trace = script_trace_text(&script, script.schedule);
    *source = map_get(&script.sources, script.schedule);
    return script.schedule->module;
}
