/* Exceptions of scripts: raise, try and except. A diagnostic that Python would have raised too has a kind and can be caught, and so can the refusal
   of a step. What is refused because it is not part of scripts, or because a limit of the interpreter is reached, cannot: a handler would hide
   that Python goes on there. */
#include "script/exception.h"
#include "script/text.h"

#include <string.h>

static const struct {
    const char *name;
    ExceptionKind base;
} kinds[] = {
    {"", EXCEPTION_NONE},
#define EXCEPTION(name, base) {#name, EXCEPTION_##base},
#include "script/exceptions.def"
#undef EXCEPTION
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

ExceptionKind exception_find(const char *path)
{
    const char *name = strrchr(path, '.') ? strrchr(path, '.') + 1 : path;
    bool own = !strncmp(path, "tvm.", 4);
    for (int i = 1; i < KIND_COUNT; i++)
        if (!strcmp(kinds[i].name, name))
            return (i == EXCEPTION_TVMError || i == EXCEPTION_ScheduleError) == own ? (ExceptionKind)i : EXCEPTION_NONE;
    return EXCEPTION_NONE;
}

const char *exception_name(ExceptionKind kind)
{
    return kinds[kind].name;
}

bool exception_is(ExceptionKind kind, ExceptionKind base)
{
    while (kind != base && kind != EXCEPTION_Exception && kind != EXCEPTION_NONE)
        kind = kinds[kind].base;
    return kind == base && kind != EXCEPTION_NONE;
}

/* The kind of exception that VALUE, a class, names. */
static ExceptionKind class_kind(Value value)
{
    const Object *object = value.kind == VALUE_SCRIPT ? value.as.script : NULL;
    bool named = object && (object->kind == OBJECT_TYPE || object->kind == OBJECT_NAMESPACE);
    return named ? exception_find(object->as.path) : EXCEPTION_NONE;
}

bool script_is_exception_class(Value value)
{
    return class_kind(value) != EXCEPTION_NONE;
}

static Value exception_value(Script *script, ExceptionKind kind, const ValueList *args, const char *text)
{
    return script_object(script, (Object){.kind = OBJECT_EXCEPTION, .as.exception = {kind, args, text}});
}

bool script_make_exception(Script *script, Value class, const Arguments *arguments, Value *result)
{
    if (arguments->keyword_count)
        return script_error(script, arguments->keyword_spans[0], "an exception takes no keyword '%s'", arguments->keyword_names[0]);
    const ValueList *args = script_list(script, arguments->positional, arguments->positional_count, true).as.list;
    *result = exception_value(script, class_kind(class), args, NULL);
    return true;
}

bool exception_text(Script *script, const Object *exception, const char **text)
{
    const ValueList *args = exception->as.exception.args;
    *text = "";
    if (args->count == 0)
        return true;
    if (args->count > 1)
        return script_repr(script, (Value){.kind = VALUE_LIST, .as.list = (ValueList *)args}, text);
    return exception->as.exception.kind == EXCEPTION_KeyError ? script_repr(script, args->items[0], text) : script_text(script, args->items[0], text);
}

bool exception_repr(Script *script, const Object *exception, const char **text)
{
    const ValueList *args = exception->as.exception.args;
    if (!script_repr(script, (Value){.kind = VALUE_LIST, .as.list = (ValueList *)args}, text))
        return false;
    int length = (int)strlen(*text);
    *text = context_internf(script->ctx, args->count == 1 ? "%s%.*s)" : "%s%.*s", exception_name(exception->as.exception.kind),
                            args->count == 1 ? length - 2 : length, *text);
    return true;
}

/* --- raising --- */

/* The diagnostic since BEFORE is an exception of KIND with ARGS, or with its text. */
static void set_raised(Script *script, DiagMark before, ExceptionKind kind, const ValueList *args)
{
    const char *text = diag_first_error(script->ctx, before);
    Value message = script_string(script, text ? text : "");
    if (!args)
        args = script_list(script, &message, 1, true).as.list;
    script->raised = (Raised){exception_value(script, kind, args, text), before, diag_error_count(script->ctx)};
}

bool script_raise(Script *script, Span span, ExceptionKind kind, const char *format, ...)
{
    DiagMark before = diag_mark(script->ctx);
    va_list args;
    va_start(args, format);
    script_error(script, span, "%s", arena_vprintf(script->ctx->arena, format, args));
    va_end(args);
    set_raised(script, before, kind, NULL);
    return false;
}

bool script_raise_with(Script *script, Span span, ExceptionKind kind, Value argument, const char *text)
{
    DiagMark before = diag_mark(script->ctx);
    script_error(script, span, "%s", text);
    set_raised(script, before, kind, script_list(script, &argument, 1, true).as.list);
    return false;
}

bool script_raised(Script *script, DiagMark before, ExceptionKind kind)
{
    set_raised(script, before, kind, NULL);
    return false;
}

/* Diagnoses EXCEPTION, an object, at SPAN. */
static bool raise_object(Script *script, const Object *exception, Span span)
{
    DiagMark before = diag_mark(script->ctx);
    const char *text = exception->as.exception.text, *words;
    if (!text && !exception_text(script, exception, &words))
        return false;
    if (!text)
        text = context_internf(script->ctx, "%s%s%s", exception_name(exception->as.exception.kind), *words ? ": " : "", words);
    script_error(script, span, "%s", text);
    set_raised(script, before, exception->as.exception.kind, exception->as.exception.args);
    return false;
}

bool script_run_raise(Script *script, const AstNode *node)
{
    Value value;
    if (!node->as.operand)
        return script->handled ? raise_object(script, script->handled, node->span)
                               : script_raise(script, node->span, EXCEPTION_RuntimeError, "no exception is being handled here, to be raised again");
    if (!script_eval(script, node->as.operand, &value))
        return false;
    Arguments none = {.span = node->span};
    if (script_is_exception_class(value) && !script_make_exception(script, value, &none, &value))
        return false;
    const Object *exception = value_object(value, OBJECT_EXCEPTION);
    return exception ? raise_object(script, exception, node->span)
                     : script_raise(script, node->span, EXCEPTION_TypeError, "only exceptions are raised, not %s", script_type_phrase(script, value));
}

/* --- catching --- */

/* The error that a statement has just ended with can be caught. */
static bool can_catch(const Script *script)
{
    return script->raised.errors > 0 && script->raised.errors == diag_error_count(script->ctx);
}

/* TYPE of a handler names KIND, one of its bases, or a tuple with one that does. */
static bool type_matches(Script *script, Value type, ExceptionKind kind, Span span, bool *matches)
{
    *matches = exception_is(kind, class_kind(type));
    if (type.kind == VALUE_LIST && type.as.list->is_tuple) {
        for (int i = 0; i < type.as.list->count && !*matches; i++)
            if (!type_matches(script, type.as.list->items[i], kind, span, matches))
                return false;
        return true;
    }
    const Object *object = type.kind == VALUE_SCRIPT ? type.as.script : NULL;
    if (script_is_exception_class(type))
        return true;
    if (object && object->kind == OBJECT_NAMESPACE)
        return script_error(script, span, "'%s' is no exception that scripts know", object->as.path);
    return script_raise(script, span, EXCEPTION_TypeError, "'except' takes exceptions, not %s", script_type_phrase(script, type));
}

/* The first of HANDLERS that takes what was raised; NULL: none, or one fails (*FAILED). */
static const AstNode *find_handler(Script *script, AstList handlers, ExceptionKind kind, bool *failed)
{
    *failed = false;
    for (int i = 0; i < handlers.count; i++) {
        const AstNode *handler = handlers.items[i], *type = handler->as.handler.type;
        Value value;
        bool matches = !type;
        *failed = type && (!script_eval(script, type, &value) || !type_matches(script, value, kind, type->span, &matches));
        if (*failed || matches)
            return *failed ? NULL : handler;
    }
    return NULL;
}

static Flow run_handler(Script *script, const AstNode *handler, const Object *exception)
{
    const Object *outer = script->handled;
    Str name = handler->as.handler.name;
    if (name)
        script_set(script, name, (Value){.kind = VALUE_SCRIPT, .as.script = (Object *)exception});
    script->handled = exception;
    Flow flow = script_run_body(script, handler->as.handler.body);
    script->handled = outer;
    if (name)
        script_unset(script, name);
    return flow;
}

static Flow handle(Script *script, const AstNode *node)
{
    const Raised raised = script->raised;
    const Object *exception = raised.exception.as.script;
    bool failed;
    const AstNode *handler = find_handler(script, node->as.attempt.handlers, exception->as.exception.kind, &failed);
    if (!handler) {
        if (!failed)
            script->raised = raised;
        return FLOW_ERROR;
    }
    diag_rollback(script->ctx, raised.before);
    script->raised = (Raised){.errors = 0};
    return run_handler(script, handler, exception);
}

/* `finally`: it runs in any case, and its own way out, where it has one, is the one that counts. */
static Flow run_finally(Script *script, AstList body, Flow flow)
{
    const Raised raised = script->raised;
    Value returned = script->returned;
    Flow last = script_run_body(script, body);
    if (last == FLOW_NEXT) {
        script->raised = raised;
        script->returned = returned;
        return flow;
    }
    if (flow == FLOW_ERROR && last != FLOW_ERROR)
        diag_rollback(script->ctx, raised.before);
    return last;
}

Flow script_run_try(Script *script, const AstNode *node)
{
    int loops = script->loops;
    Flow flow = script_run_body(script, node->as.attempt.body);
    script->loops = loops;
    if (flow == FLOW_ERROR && can_catch(script))
        flow = handle(script, node);
    else if (flow == FLOW_NEXT)
        flow = script_run_body(script, node->as.attempt.else_body);
    script->loops = loops;
    bool stops = flow == FLOW_ERROR && !can_catch(script); /* at once: nothing that follows has a meaning */
    return stops || !node->as.attempt.finally_body.count ? flow : run_finally(script, node->as.attempt.finally_body, flow);
}
