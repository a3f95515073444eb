/* Calls of functions of the script and of the methods of schedules, modules and lists. Those of Python packages are in package.c. */
#include "script/nd_array.h"
#include "script/methods.h"
#include "script/te.h"

#include <string.h>

#include "passes/schedule/check/checks.h"
#include "print/print.h"
#include "ir/scalable.h"

enum { DEEPEST_CALL = 200 };

/* --- functions and lambdas of the script --- */

/* Puts keyword argument INDEX under the parameter it names. */
static bool bind_keyword(Script *script, const AstParam *params, int count, const Arguments *arguments, int index, Value *values,
                         bool *bound)
{
    for (int i = 0; i < count; i++) {
        if (params[i].name != arguments->keyword_names[index] || params[i].stars)
            continue;
        if (bound[i])
            return script_raise(script, arguments->keyword_spans[index], EXCEPTION_TypeError, "'%s' is given twice", params[i].name);
        values[i] = arguments->keywords[index];
        bound[i] = true;
        return true;
    }
    for (int i = 0; i < count; i++)
        if (params[i].stars == 2)
            return script_dict_set(script, values[i], (Value){.kind = VALUE_STRING, .as.text = arguments->keyword_names[index]},
                                   arguments->keywords[index]);
    VEC(const char *) names = {0};
    for (int i = 0; i < count; i++)
        if (params[i].name)
            vec_push(script->ctx->arena, &names, params[i].name);
    const char *near = diag_closest(arguments->keyword_names[index], names.data, names.count);
    DiagMark before = diag_mark(script->ctx);
    script_unknown(script, arguments->keyword_spans[index], near, "there is no parameter '%s'", arguments->keyword_names[index]);
    return script_raised(script, before, EXCEPTION_TypeError);
}

/* The parameter at INDEX of PARAMS stands as Python lets it: each name once, one '*', and a default where one is before it. */
static bool check_parameter(Script *script, const AstParam *params, int index)
{
    const AstParam *param = &params[index];
    bool default_before = false, star_before = false, stars_before = false;
    for (int i = 0; i < index; i++) {
        if (param->name && params[i].name == param->name)
            return script_error(script, param->span, "the parameter '%s' is named twice", param->name);
        default_before |= params[i].default_value != NULL;
        star_before |= params[i].stars == 1;
        stars_before |= params[i].stars == 2;
    }
    if (stars_before)
        return script_error(script, param->span, "no parameter may stand behind one with '**'");
    if (param->stars == 1 && star_before)
        return script_error(script, param->span, "only one parameter may have a '*'");
    if (!param->stars && !star_before && default_before && !param->default_value)
        return script_error(script, param->span, "'%s' needs a default, as a parameter before it has one", param->name);
    return true;
}

bool script_parameters(Script *script, const AstParam *params, int count, Value **defaults)
{
    *defaults = ARENA_ARRAY(script->ctx->arena, Value, count);
    for (int i = 0; i < count; i++)
        if (!check_parameter(script, params, i) || (params[i].default_value && !script_eval(script, params[i].default_value, &(*defaults)[i])))
            return false;
    return true;
}

static bool bind_parameters(Script *script, const Object *def, const AstParam *params, int count, const Arguments *arguments, Value *values)
{
    bool *bound = ARENA_ARRAY(script->ctx->arena, bool, count);
    int taken = 0;
    bool by_name = false; /* behind a '*' */
    for (int i = 0; i < count; i++) {
        if (params[i].stars == 2) {
            values[i] = script_list(script, NULL, 0, false);
            values[i].kind = VALUE_DICT;
            bound[i] = true;
        } else if (params[i].stars && params[i].name) {
            by_name = true;
            values[i] = script_list(script, arguments->positional + taken, arguments->positional_count - taken, true);
            taken = arguments->positional_count;
            bound[i] = true;
        } else if (params[i].stars) {
            by_name = bound[i] = true;
        } else if (!by_name && taken < arguments->positional_count) {
            values[i] = arguments->positional[taken++];
            bound[i] = true;
        }
    }
    Span extra = taken < arguments->positional_count ? arguments->positional[taken].span : span_none();
    if (taken < arguments->positional_count)
        return script_raise(script, extra.file ? extra : arguments->span, EXCEPTION_TypeError, "%d argument%s given to %d parameter%s", arguments->positional_count,
                            arguments->positional_count == 1 ? " is" : "s are", count, count == 1 ? "" : "s");
    for (int i = 0; i < arguments->keyword_count; i++)
        if (!bind_keyword(script, params, count, arguments, i, values, bound))
            return false;
    for (int i = 0; i < count; i++) {
        if (!bound[i] && !params[i].default_value)
            return script_raise(script, arguments->span, EXCEPTION_TypeError, "the argument '%s' is missing", params[i].name);
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
    script->scope->locals = script_locals(script, node);
    script->scope->elsewhere = script_elsewhere(script, node);
    for (int i = 0; i < count; i++)
        if (params[i].name)
            script_set(script, params[i].name, values[i]);
    vec_push(script->ctx->arena, &script->calls, arguments->span);
    map_set(script->ctx->arena, &script->called, node, (void *)node);
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
            const char *in_trace = script_trace_spelling(primitive, &parameters[i]);
            names[i] = parameters[i].name;
            if (!strcmp(parameters[i].name, arguments->keyword_names[k]) || (in_trace && !strcmp(in_trace, arguments->keyword_names[k])))
                found = i;
        }
        if (found < 0) {
            const char *near = diag_closest(arguments->keyword_names[k], names, count);
            return script_unknown(script, arguments->keyword_spans[k], near, "%s has no parameter '%s'", primitive->name,
                                  arguments->keyword_names[k]);
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

/* What a scalable vector reaches is not known, so that no step on its program can be shown to be legal. */
static bool script_can_step(Script *script, const Schedule *sch, const char *name, Span span)
{
    Span place;
    for (int i = 0; i < sch->module->func_count && script->ctx->has_scalable; i++) {
        if (!func_is_scalable(sch->module->funcs[i], &place))
            continue;
        script_error(script, span, "%s: the program has vectors of T.vscale() lanes, and no step takes such a program", name);
        diag_note(script->ctx, place, "one is here");
        return false;
    }
    return true;
}

/* FUNC_INDEX: the function that the step acted on. */
static void record(Schedule *sch, const Primitive *primitive, const Value *given, const Value *values, const Module *before, int func_index,
                   Value *result)
{
    int acted_on = sch->func_index;
    sch->func_index = func_index;
    trace_record(sch, primitive, given, values, before, result);
    sch->func_index = acted_on;
}

/* A buffer, such as that of a region of a block, as the name by which steps find it among what their block reads and writes. */
static Value buffer_as_name(Value value)
{
    const Object *buffer = value_object(value, OBJECT_BUFFER);
    return buffer ? (Value){.kind = VALUE_STRING, .span = value.span, .as.text = buffer->as.buffer->name} : value;
}

static bool run_primitive(Script *script, Schedule *sch, const Primitive *primitive, const Arguments *arguments, Value *result)
{
    Parameter parameters[MOST_PARAMETERS];
    Value given[MOST_PARAMETERS] = {{0}}, values[MOST_PARAMETERS];
    int count = primitive_parameters(script->ctx, primitive, parameters);
    if (!bind_primitive(script, primitive, parameters, count, arguments, given))
        return false;
    for (int i = 0; i < count; i++)
        if (!script_can_walk(script, given[i], given[i].span))
            return false;
    for (int i = 0; i < count; i++)
        if (!strcmp(parameters[i].type, "Buffer"))
            given[i] = buffer_as_name(given[i]);
    memcpy(values, given, sizeof values);
    if (script->mapping)
        return script_error(script, arguments->span, "%s: a function that a step calls takes no step itself", primitive->name);
    for (int i = 0; i < count; i++)
        values[i] = script_index_function(script, values[i]);
    bool only_asks = !strncmp(primitive->name, "get_", 4) || !strcmp(primitive->result, "bool");
    if (!only_asks && !script_can_step(script, sch, primitive->name, arguments->span))
        return false;
    Step step = schedule_begin(sch, primitive->name, arguments->span);
    schedule_set_arguments(sch, values, count);
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        ok = trace_decide(sch, &values[i]) && primitive_convert(sch, primitive, &parameters[i], &values[i]);
    *result = value_none();
    int func_index = sch->func_index;
    ok = ok && primitive->run(sch, values, result);
    if (sch->func_index >= 0)
        func_index = sch->func_index;
    ok = schedule_end(sch, step, ok && check_after_step(sch, step.module));
    if (ok && strcmp(primitive->result, "bool")) /* an answer is no step of the trace */
        record(sch, primitive, given, values, step.module, func_index, result);
    if (!ok)
        script_note_calls(script);
    script->steps_made += ok && !only_asks;
    if (ok && sch->module != step.module && script->options->after_step)
        script->options->after_step(script->options->data, sch, arguments->span);
    if (!only_asks && script->options->after_call)
        script->options->after_call(script->options->data, arguments->span, ok);
    return ok;
}

bool script_check_keywords(Script *script, const char *name, const Arguments *arguments, int positional, const char *const *keywords,
                           int count)
{
    if (arguments->positional_count > positional)
        return script_error(script, arguments->positional[positional].span, "%s takes %s%d argument%s", name, positional ? "at most " : "",
                            positional, positional == 1 ? "" : "s");
    for (int k = 0; k < arguments->keyword_count; k++) {
        bool known = false;
        for (int i = 0; i < count; i++)
            known |= !strcmp(keywords[i], arguments->keyword_names[k]);
        const char *near = known ? NULL : diag_closest(arguments->keyword_names[k], keywords, count);
        if (!known)
            return script_unknown(script, arguments->keyword_spans[k], near, "%s has no parameter '%s'", name,
                                  arguments->keyword_names[k]);
    }
    return true;
}

const Value *script_keyword(const Arguments *arguments, const char *name)
{
    for (int k = 0; k < arguments->keyword_count; k++)
        if (!strcmp(arguments->keyword_names[k], name))
            return &arguments->keywords[k];
    return NULL;
}

/* show() prints, script() gives the text. The arguments of TVM that choose colours and the like make no difference here. */
bool script_module_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result)
{
    static const char *const ignored[] = {"style", "black_format", "show_meta"};
    if (!script_check_keywords(script, name, arguments, 0, ignored, sizeof ignored / sizeof *ignored))
        return false;
    const char *text = self->kind == OBJECT_MODULE ? print_module(script->ctx, self->as.module) : print_func(script->ctx, self->as.func);
    *result = value_none();
    if (!strcmp(name, "show"))
        fputs(text, script->options->out);
    else
        *result = (Value){.kind = VALUE_STRING, .as.text = context_internf(script->ctx, "%.*s", (int)(strlen(text) - 1), text)};
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

bool script_can_hold(Script *script, const ValueList *list, Value value, Span span)
{
    if (!script_can_walk(script, value, span))
        return false;
    return !value_holds_list(value, list) || script_error(script, span, "a list or dict cannot hold itself");
}

bool script_append(Script *script, ValueList *list, const Value *items, int count, Span span)
{
    if (count > SCRIPT_MOST_ITEMS - list->count)
        return script_error(script, span, "the list would have more than %d items", SCRIPT_MOST_ITEMS);
    for (int i = 0; i < count; i++)
        if (!script_can_hold(script, list, items[i], span))
            return false;
    if (list->count + count > list->capacity) {
        list->capacity = 2 * (list->count + count);
        Value *moved = ARENA_ARRAY(script->ctx->arena, Value, list->capacity);
        script->made += list->capacity;
        if (list->count)
            memcpy(moved, list->items, sizeof *moved * (size_t)list->count);
        list->items = moved;
    }
    if (count)
        memmove(list->items + list->count, items, sizeof *items * (size_t)count);
    list->count += count;
    return true;
}

/* str.upper(text): the method NAME of the type TYPE, of its first argument. */
static bool call_unbound(Script *script, const char *type, const char *name, const Arguments *arguments, Value *result)
{
    Arguments rest = *arguments;
    if (!strcmp(type, "dict") && !strcmp(name, "fromkeys"))
        return script_dict_from_keys(script, arguments, result);
    if (!rest.positional_count || strcmp(script_class_of(rest.positional[0]), type))
        return script_error(script, arguments->span, "%s.%s needs a %s as its first argument", type, name, type);
    rest.positional++;
    rest.positional_count--;
    return method_call(script, arguments->positional[0], name, &rest, result);
}

bool script_call_method(Script *script, const Object *method, const Arguments *arguments, Value *result)
{
    const Object *self = method->as.method.self;
    Str name = method->as.method.name;
    if (self->kind == OBJECT_OPERATION || (self->kind == OBJECT_VALUE && !method_find(self->as.value, name)))
        return te_method(script, self, name, arguments, result);
    if (self->kind == OBJECT_ARRAY)
        return nd_method(script, self, name, arguments, result);
    if (self->kind == OBJECT_BUILTIN)
        return call_unbound(script, builtin_name(self->as.builtin), name, arguments, result);
    if (self->kind == OBJECT_BUILDER)
        return te_builder_call(script, self, name, arguments, result);
    if (self->kind == OBJECT_STAGES)
        return te_stages_call(script, self, name, arguments, result);
    if (self->kind == OBJECT_STAGE)
        return te_stage_call(script, self, name, arguments, result);
    if (self->kind == OBJECT_BUFFER)
        return te_buffer_method(script, self, arguments, result);
    if (self->kind == OBJECT_FUNC && !strcmp(name, "with_attr"))
        return script_with_attr(script, self->as.func, arguments, result);
    if (self->kind == OBJECT_FUNC && !strcmp(name, "without_attr"))
        return script_without_attr(script, self->as.func, arguments, result);
    if (self->kind == OBJECT_MODULE && !strcmp(name, "get_global_var"))
        return script_global_var(script, self->as.module, arguments, result);
    if (self->kind == OBJECT_MODULE && !strcmp(name, "update_func"))
        return script_update_func(script, self, arguments, result);
    if (self->kind == OBJECT_VALUE)
        return method_call(script, self->as.value, name, arguments, result);
    if (self->kind == OBJECT_TRACE)
        return script_trace_method(script, self, name, arguments, result);
    if (self->kind != OBJECT_SCHEDULE)
        return script_module_method(script, self, name, arguments, result);
    Schedule *sch = self->as.schedule;
    const Primitive *primitive = primitive_find(name);
    *result = value_none();
    if (!primitive)
        return script_schedule_method(script, self, name, arguments, result);
    if (!strcmp(name, "tensorize"))
        script_want_intrinsics(script, arguments);
    sch->module = script_add_intrins(script, sch->module);
    DiagMark before = diag_mark(script->ctx);
    bool ok = run_primitive(script, sch, primitive, arguments, result);
    if (!ok && !script->mapping)
        script_raised(script, before, EXCEPTION_ScheduleError);
    return ok;
}
