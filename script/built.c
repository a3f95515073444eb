/* tvm.build: a program whose functions a script calls on arrays. The one who runs the script compiles and calls them. */
#include <string.h>

#include "script/nd_array.h"
#include "script/te.h"

bool script_build(Script *script, const char *name, const Arguments *arguments, Value *result)
{
    const Value *values[5];
    if (!te_bind(script, name, arguments, "inputs args? target? name? target_host?", values))
        return false;
    Value module = *values[0];
    if (value_object(module, OBJECT_STAGES) || value_object(module, OBJECT_FUNC)) {
        Value positional[] = {module, values[1] ? *values[1] : value_none()};
        Str keyword = context_intern(script->ctx, "name");
        Arguments lowered = {.positional = positional, .positional_count = values[1] ? 2 : 1, .span = arguments->span};
        if (values[3] && values[3]->kind == VALUE_STRING) {
            lowered.keyword_count = 1;
            lowered.keywords = (Value *)values[3];
            lowered.keyword_names = &keyword;
            lowered.keyword_spans = (Span *)&values[3]->span;
        }
        if (!te_lower(script, &lowered, &module))
            return false;
    }
    const Object *program = value_object(module, OBJECT_MODULE);
    if (!program)
        return script_error(script, arguments->span, "%s takes a program, not %s", name, script_type_phrase(script, module));
    script->lowered_last = program->as.module;
    *result = script_object(script, (Object){.kind = OBJECT_BUILT, .as.built = {program->as.module, NULL}});
    return true;
}

/* A number of the script as an array without dimensions of the type of PARAM. */
static const NdArray *scalar(Script *script, const Param *param, Value value, Span span)
{
    const NdArray *array;
    DType dtype = param->param->dtype;
    bool number = dtype.lanes == 1 && (dtype_is_integer(dtype) || dtype.code == DT_BOOL || (dtype.code == DT_FLOAT && dtype.bits >= 32));
    if (value.kind == VALUE_LIST || !number) {
        script_error(script, span, "a number of type %s cannot be given here", dtype_name(script->ctx, dtype));
        return NULL;
    }
    return nd_from_value(script, value, dtype, span, &array) ? array : NULL;
}

bool script_call_built(Script *script, const Object *built, const Arguments *arguments, Value *result)
{
    const Module *module = built->as.built.module;
    const Func *func = built->as.built.func;
    Span span = arguments->span;
    if (!func && module->func_count == 1)
        func = module->funcs[0];
    if (!func)
        return script_error(script, span, "the program has several functions: write lib[\"name\"](...)");
    if (!script->options->call_function)
        return script_error(script, span, "functions cannot be called here");
    if (arguments->keyword_count || arguments->positional_count != func->param_count)
        return script_error(script, span, "'%s' takes %d arguments, not %d", func->name, func->param_count, arguments->positional_count);
    ScriptArray *arrays = ARENA_ARRAY(script->ctx->arena, ScriptArray, func->param_count);
    const NdArray **compact = ARENA_ARRAY(script->ctx->arena, const NdArray *, func->param_count);
    for (int i = 0; i < func->param_count; i++) {
        const NdArray *array = nd_array(arguments->positional[i]);
        bool buffer = func->params[i].buffer != NULL;
        if (buffer && !array)
            return script_error(script, span, "argument %d of '%s' must be an array, not %s", i, func->name, script_type_phrase(script, arguments->positional[i]));
        compact[i] = buffer ? nd_copy(script, array, array->dtype, span) : scalar(script, &func->params[i], arguments->positional[i], span);
        if (!compact[i])
            return false;
        arrays[i] = (ScriptArray){compact[i]->dtype, compact[i]->ndim, compact[i]->shape, compact[i]->data};
    }
    if (!script->options->call_function(script->options->data, script_add_intrins(script, module), func, arrays, span)) {
        script_note_calls(script);
        return false;
    }
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer && !nd_assign(script, nd_array(arguments->positional[i]), nd_value(script, compact[i]), span))
            return false;
    *result = value_none();
    return true;
}
