/* Functions of a script that steps call: the lambda of an index map gets indices that are expressions, and what it makes of them are the map's
   results. */
#include "script/script_internal.h"

#include <string.h>

typedef struct {
    IndexFunction function; /* first: what a step gets */
    Script *script;
    const Object *def;
} ScriptFunction;

static const AstParam *parameters_of(const Object *def, int *count)
{
    const AstNode *node = def->as.def.node;
    *count = node->kind == AST_LAMBDA ? node->as.lambda.param_count : node->as.def.param_count;
    return node->kind == AST_LAMBDA ? node->as.lambda.params : node->as.def.params;
}

/* The names of COUNT indices that the parameters of DEF get: *rest gets those that are left over, rest_0, rest_1, ... False after a
   diagnostic where they do not fit. */
static bool name_indices(Script *script, const Object *def, Span span, int count, Str *names)
{
    int parameter_count, taken = 0, plain = 0;
    const AstParam *params = parameters_of(def, &parameter_count);
    bool rest = false;
    for (int i = 0; i < parameter_count; i++)
        plain += !params[i].stars;
    for (int i = 0; i < parameter_count; i++) {
        rest |= params[i].stars != 0;
        if (!params[i].stars && taken < count)
            names[taken++] = params[i].name;
        for (int k = 0; params[i].stars && plain + k < count; k++)
            names[taken++] = context_internf(script->ctx, "%s_%d", params[i].name ? params[i].name : "i", k);
    }
    if (taken == count && plain <= count && (rest || plain == count))
        return true;
    return script_error(script, span, "the function takes %s%d ind%s, and there %s %d", rest ? "at least " : "", plain,
                        plain == 1 ? "ex" : "ices", count == 1 ? "is" : "are", count);
}

static bool is_separator(Value value)
{
    const Object *object = value_object(value, OBJECT_NAMESPACE);
    const char *last = object ? strrchr(object->as.path, '.') : NULL;
    return last && !strcmp(last + 1, VALUE_SEPARATOR);
}

/* The separators among the results, which are names of a package to the script, as a step knows them. */
static void name_separators(Value *result)
{
    for (int i = 0; result->kind == VALUE_LIST && i < result->as.list->count; i++)
        if (is_separator(result->as.list->items[i]))
            result->as.list->items[i] = (Value){.kind = VALUE_STRING, .as.text = VALUE_SEPARATOR};
}

static bool apply(IndexFunction *function, int count, DType type, Var **inputs, Value *result)
{
    const ScriptFunction *self = (ScriptFunction *)function;
    Script *script = self->script;
    Arena *arena = script->ctx->arena;
    Str *names = ARENA_ARRAY(arena, Str, count);
    Arguments arguments = {.positional = ARENA_ARRAY(arena, Value, count), .positional_count = count, .span = function->span};
    if (!name_indices(script, self->def, function->span, count, names))
        return false;
    for (int i = 0; i < count; i++) {
        inputs[i] = var_new(script->ctx, names[i], type, span_none());
        arguments.positional[i] = (Value){.kind = VALUE_EXPR, .span = function->span, .as.expr = expr_var(script->ctx, inputs[i])};
    }
    script->mapping++;
    bool ok = script_call_def(script, self->def, &arguments, result);
    script->mapping--;
    if (!ok || !script_can_walk(script, *result, function->span))
        return false;
    name_separators(result);
    function->count = count;
    function->inputs = inputs;
    function->result = *result;
    return true;
}

Value script_index_function(Script *script, Value value)
{
    const Object *def = value_object(value, OBJECT_DEF);
    if (!def)
        return value;
    ScriptFunction *function = ARENA_NEW(script->ctx->arena, ScriptFunction);
    *function = (ScriptFunction){{.apply = apply, .span = value.span}, script, def};
    return (Value){.kind = VALUE_FUNCTION, .span = value.span, .as.function = &function->function};
}

/* tvm.tir.IndexMap.from_func(f), T.index_map(f): F itself, which each step gives the indices that it has. An inverse map is worked out, never
   taken as given. */
bool script_make_index_map(Script *script, const char *name, const Arguments *arguments, Value *result)
{
    static const char *const keywords[] = {"mapping_function", "ndim", "inverse_index_map", "index_dtype"};
    if (!script_check_keywords(script, name, arguments, 4, keywords, sizeof keywords / sizeof *keywords))
        return false;
    const Value *given = arguments->positional_count ? &arguments->positional[0] : script_keyword(arguments, "mapping_function");
    if (!given || !value_object(*given, OBJECT_DEF))
        return script_error(script, given ? given->span : arguments->span, "%s needs a lambda or a function of the script", name);
    *result = *given;
    return true;
}
