/* Calls: functions of the script, methods of a schedule and of modules, and the few functions of Python packages that schedules use. */
#include "script/script_internal.h"

#include <string.h>

#include "ir/print.h"

enum { DEEPEST_CALL = 200 };

/* --- functions and lambdas of the script --- */

/* Puts keyword argument INDEX under the parameter it names. */
static bool bind_keyword(Script *script, const AstParam *params, int count, const Arguments *arguments, int index, Value *values,
                         bool *bound)
{
    for (int i = 0; i < count; i++) {
        if (params[i].name != arguments->keyword_names[index])
            continue;
        if (bound[i])
            return script_error(script, arguments->keyword_spans[index], "'%s' is given twice", params[i].name);
        values[i] = arguments->keywords[index];
        bound[i] = true;
        return true;
    }
    const char **names = ARENA_ARRAY(script->ctx->arena, const char *, count);
    for (int i = 0; i < count; i++)
        names[i] = params[i].name;
    const char *near = diag_closest(arguments->keyword_names[index], names, count);
    return script_error(script, arguments->keyword_spans[index], "there is no parameter '%s'%s%s%s", arguments->keyword_names[index],
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool bind_parameters(Script *script, const Object *def, const AstParam *params, int count, const Arguments *arguments, Value *values)
{
    bool *bound = ARENA_ARRAY(script->ctx->arena, bool, count);
    int taken = 0;
    for (int i = 0; i < count; i++) {
        if (params[i].stars == 1 && params[i].name) {
            values[i] = script_list(script, arguments->positional + taken, arguments->positional_count - taken, true);
            taken = arguments->positional_count;
            bound[i] = true;
        } else if (params[i].stars) {
            return script_error(script, params[i].span, "a parameter with '**' and a bare '*' are not part of schedule scripts");
        } else if (taken < arguments->positional_count) {
            values[i] = arguments->positional[taken++];
            bound[i] = true;
        }
    }
    if (taken < arguments->positional_count)
        return script_error(script, arguments->positional[taken].span, "%d argument%s given to %d parameter%s", arguments->positional_count,
                            arguments->positional_count == 1 ? " is" : "s are", count, count == 1 ? "" : "s");
    for (int i = 0; i < arguments->keyword_count; i++)
        if (!bind_keyword(script, params, count, arguments, i, values, bound))
            return false;
    for (int i = 0; i < count; i++) {
        if (!bound[i] && !params[i].default_value)
            return script_error(script, arguments->span, "the argument '%s' is missing", params[i].name);
        if (!bound[i])
            values[i] = def->as.def.defaults[i];
    }
    return true;
}

bool script_call_def(Script *script, const Object *def, const Arguments *arguments, Value *result)
{
    const AstNode *node = def->as.def.node;
    bool lambda = node->kind == AST_LAMBDA;
    const AstParam *params = lambda ? node->as.lambda.params : node->as.def.params;
    int count = lambda ? node->as.lambda.param_count : node->as.def.param_count;
    Value *values = ARENA_ARRAY(script->ctx->arena, Value, count);
    if (script->calls.count >= DEEPEST_CALL)
        return script_error(script, arguments->span, "calls are nested more than %d deep", DEEPEST_CALL);
    if (!bind_parameters(script, def, params, count, arguments, values))
        return false;
    Environment *caller = script->scope;
    int loops = script->loops;
    script->scope = ARENA_NEW(script->ctx->arena, Environment);
    script->scope->outer = def->as.def.closure;
    for (int i = 0; i < count; i++)
        script_set(script, params[i].name, values[i]);
    vec_push(script->ctx->arena, &script->calls, arguments->span);
    script->loops = 0;
    script->returned = value_none();
    bool ok =
        lambda ? script_eval(script, node->as.lambda.body, &script->returned) : script_run_body(script, node->as.def.body) != FLOW_ERROR;
    script->calls.count--;
    script->loops = loops;
    script->scope = caller;
    *result = script->returned;
    return ok;
}

/* --- functions of packages --- */

static bool namespace_schedule(Script *script, const Arguments *arguments, Value *result)
{
    const Object *module = arguments->positional_count ? value_object(arguments->positional[0], OBJECT_MODULE) : NULL;
    const Object *func = arguments->positional_count ? value_object(arguments->positional[0], OBJECT_FUNC) : NULL;
    if (!module && !func)
        return script_error(script, arguments->span, "Schedule needs the module that the input text defines");
    if (module) {
        int only = module->as.module->func_count == 1 ? 0 : -1;
        for (int i = 0; i < module->as.module->func_count; i++)
            if (!strcmp(module->as.module->funcs[i]->name, "main"))
                only = i;
        script->schedule = schedule_new(script->ctx, module->as.module, only);
    }
    *result = script_object(script, (Object){.kind = OBJECT_SCHEDULE, .as.schedule = script->schedule});
    return true;
}

static bool print_argument(Script *script, const Arguments *arguments, Value *result)
{
    if (!arguments->positional_count)
        return script_error(script, arguments->span, "there is nothing to print");
    const char *text = script_text(script, arguments->positional[0]);
    size_t length = strlen(text);
    fprintf(script->options->out, "%s%s", text, length && text[length - 1] == '\n' ? "" : "\n");
    *result = value_none();
    return true;
}

/* T.int64(4), or with TYPED tvm.tir.IntImm("int64", 4): the number, which takes the type that it is needed in. */
static bool namespace_integer(Script *script, const char *name, bool typed, const Arguments *arguments, Value *result)
{
    const Value *values = arguments->positional;
    if (arguments->positional_count != (typed ? 2 : 1) || arguments->keyword_count || (typed && values[0].kind != VALUE_STRING))
        return script_error(script, arguments->span, typed ? "%s takes a type and an int" : "%s takes an int", name);
    DType type;
    if (!dtype_parse(typed ? values[0].as.text : name, &type) || !dtype_is_integer(type) || type.lanes != 1)
        return script_error(script, values[0].span, "\"%s\" is no integer type", values[0].as.text);
    const Value *value = &values[typed ? 1 : 0];
    if (value->kind != VALUE_INT)
        return script_error(script, value->span, "an int is needed here, not %s", script_type_phrase(script, *value));
    if (value->as.integer < dtype_min_int(type) || value->as.integer > dtype_max_int(type))
        return script_error(script, value->span, "%lld does not fit in %s", (long long)value->as.integer,
                            typed ? values[0].as.text : name);
    *result = *value;
    return true;
}

static bool is_integer_type(const char *name)
{
    DType type;
    return dtype_parse(name, &type) && dtype_is_integer(type) && type.lanes == 1;
}

bool script_call_namespace(Script *script, Str path, const Arguments *arguments, Value *result)
{
    const char *last = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
    bool display = !strcmp(last, "Code") || !strcmp(last, "display");
    if (!strcmp(last, "Schedule"))
        return namespace_schedule(script, arguments, result);
    if (display && !strncmp(path, "IPython", 7))
        return print_argument(script, arguments, result);
    if (!strcmp(last, "IntImm") || is_integer_type(last))
        return namespace_integer(script, last, !strcmp(last, "IntImm"), arguments, result);
    return script_error(script, arguments->span, "'%s' is not part of schedule scripts", path);
}

/* --- methods --- */

/* Puts the arguments of a call into the order of the primitive's parameters. */
static bool bind_primitive(Script *script, const Primitive *primitive, const Parameter *parameters, int count, const Arguments *arguments,
                           Value *values)
{
    int taken = 0;
    bool bound[MOST_PARAMETERS] = {false};
    for (int i = 0; i < count && taken < arguments->positional_count; i++) {
        values[i] = arguments->positional[taken];
        bound[i] = true;
        if (!parameters[i].variadic) {
            taken++;
            continue;
        }
        bool one_list = arguments->positional_count - taken == 1 && values[i].kind == VALUE_LIST;
        if (!one_list)
            values[i] = script_list(script, arguments->positional + taken, arguments->positional_count - taken, false);
        values[i].span = arguments->span;
        taken = arguments->positional_count;
    }
    if (taken < arguments->positional_count)
        return script_error(script, arguments->positional[taken].span, "%s takes at most %d argument%s", primitive->name, count,
                            count == 1 ? "" : "s");
    for (int k = 0; k < arguments->keyword_count; k++) {
        const char *names[MOST_PARAMETERS];
        int found = -1;
        for (int i = 0; i < count; i++) {
            names[i] = parameters[i].name;
            if (!strcmp(parameters[i].name, arguments->keyword_names[k]))
                found = i;
        }
        if (found < 0) {
            const char *near = diag_closest(arguments->keyword_names[k], names, count);
            return script_error(script, arguments->keyword_spans[k], "%s has no parameter '%s'%s%s%s", primitive->name,
                                arguments->keyword_names[k], near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
        if (bound[found])
            return script_error(script, arguments->keyword_spans[k], "'%s' is given twice", parameters[found].name);
        values[found] = arguments->keywords[k];
        bound[found] = true;
    }
    for (int i = 0; i < count; i++) {
        if (!bound[i] && !parameters[i].has_default)
            return script_error(script, arguments->span, "%s needs the argument '%s'", primitive->name, parameters[i].name);
        if (!bound[i])
            values[i] = parameters[i].default_value;
    }
    return true;
}

static bool run_primitive(Script *script, Schedule *sch, const Primitive *primitive, const Arguments *arguments, Value *result)
{
    Parameter parameters[MOST_PARAMETERS];
    Value values[MOST_PARAMETERS] = {{0}};
    int count = primitive_parameters(script->ctx, primitive, parameters);
    if (!bind_primitive(script, primitive, parameters, count, arguments, values))
        return false;
    Step step = schedule_begin(sch, primitive->name, arguments->span);
    schedule_set_arguments(sch, values, count);
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        ok = primitive_convert(sch, primitive, &parameters[i], &values[i]);
    *result = value_none();
    ok = schedule_end(sch, step, ok && primitive->run(sch, values, result));
    if (!ok)
        script_note_calls(script);
    if (ok && sch->module != step.module && script->options->after_step)
        script->options->after_step(script->options->data, sch, arguments->span);
    return ok;
}

static bool work_on(Script *script, Schedule *sch, const Arguments *arguments)
{
    if (arguments->positional_count != 1 || arguments->positional[0].kind != VALUE_STRING)
        return script_error(script, arguments->positional_count ? arguments->positional[0].span : arguments->span,
                            "work_on takes the name of a function");
    const char *names[64];
    int count = sch->module->func_count < 64 ? sch->module->func_count : 64;
    for (int i = 0; i < count; i++) {
        names[i] = sch->module->funcs[i]->name;
        if (!strcmp(names[i], arguments->positional[0].as.text)) {
            sch->func_index = i;
            return true;
        }
    }
    const char *near = diag_closest(arguments->positional[0].as.text, names, count);
    return script_error(script, arguments->positional[0].span, "the module has no function '%s'%s%s%s", arguments->positional[0].as.text,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool unknown_method(Script *script, const char *what, Str name, Span span)
{
    VEC(const char *) names = {0};
    for (int i = 0; i < schedule_primitive_count; i++)
        vec_push(script->ctx->arena, &names, schedule_primitives[i].name);
    vec_push(script->ctx->arena, &names, "work_on");
    const char *near = !strcmp(what, "schedule") ? diag_closest(name, names.data, names.count) : NULL;
    return script_error(script, span, "a %s has no method '%s'%s%s%s", what, name, near ? "; did you mean '" : "", near ? near : "",
                        near ? "'?" : "");
}

/* show() prints, script() gives the text. */
static bool module_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result)
{
    const char *text = self->kind == OBJECT_MODULE ? print_module(script->ctx, self->as.module) : print_func(script->ctx, self->as.func);
    *result = value_none();
    if (!strcmp(name, "show"))
        fputs(text, script->options->out);
    else if (!strcmp(name, "script"))
        *result = (Value){.kind = VALUE_STRING, .as.text = context_internf(script->ctx, "%.*s", (int)(strlen(text) - 1), text)};
    else
        return unknown_method(script, "module", name, arguments->method_span);
    return true;
}

/* LIST is VALUE or lies somewhere in it. */
static bool value_holds_list(Value value, const ValueList *list)
{
    if (value.kind != VALUE_LIST && value.kind != VALUE_DICT)
        return false;
    bool holds = value.as.list == list;
    for (int i = 0; i < value.as.list->count && !holds; i++)
        holds = value_holds_list(value.as.list->items[i], list);
    return holds;
}

/* append and extend change the list itself, as in Python. */
static bool list_method(Script *script, ValueList *list, Str name, const Arguments *arguments, Value *result)
{
    bool append = !strcmp(name, "append");
    const ValueList *others = append || !arguments->positional_count ? NULL : script_items(arguments->positional[0]);
    if (arguments->positional_count != 1 || arguments->keyword_count || (!append && !others))
        return script_error(script, arguments->span, append ? "append takes one argument" : "extend takes a list");
    int count = append ? 1 : others->count;
    if (count > SCRIPT_MOST_ITEMS - list->count)
        return script_error(script, arguments->span, "the list would have more than %d items", SCRIPT_MOST_ITEMS);
    const Value *items = append ? arguments->positional : others->items;
    for (int i = 0; i < count; i++)
        if (value_holds_list(items[i], list))
            return script_error(script, arguments->span, "a list cannot hold itself");
    if (list->count + count > list->capacity) {
        list->capacity = 2 * (list->count + count);
        Value *moved = ARENA_ARRAY(script->ctx->arena, Value, list->capacity);
        if (list->count)
            memcpy(moved, list->items, sizeof *moved * (size_t)list->count);
        list->items = moved;
    }
    if (count)
        memmove(list->items + list->count, items, sizeof *items * (size_t)count);
    list->count += count;
    *result = value_none();
    return true;
}

bool script_call_method(Script *script, const Object *method, const Arguments *arguments, Value *result)
{
    const Object *self = method->as.method.self;
    Str name = method->as.method.name;
    if (self->kind == OBJECT_LIST)
        return list_method(script, self->as.list, name, arguments, result);
    if (self->kind != OBJECT_SCHEDULE)
        return module_method(script, self, name, arguments, result);
    Schedule *sch = self->as.schedule;
    const Primitive *primitive = primitive_find(name);
    *result = value_none();
    if (!strcmp(name, "work_on"))
        return work_on(script, sch, arguments);
    if (!strcmp(name, "show"))
        return module_method(script, &(Object){.kind = OBJECT_MODULE, .as.module = sch->module}, name, arguments, result);
    if (!primitive)
        return unknown_method(script, "schedule", name, arguments->method_span);
    return run_primitive(script, sch, primitive, arguments, result);
}
