/* The text of a trace, as TVM prints it: a Python function that makes the steps on another schedule. */
#include <stdlib.h>
#include <string.h>

#include "print/print.h"
#include "ir/walk.h"
#include "script/script_internal.h"
#include "support/strbuf.h"

/* Where TVM spells a parameter of a step otherwise than its Python function does; NULL: it stands without its name. */
static const struct {
    const char *primitive, *parameter, *spelling;
} spellings[] = {
    {"get_child_blocks", "block_or_loop", NULL},
    {"get_output_blocks", "scope_block", "block"},
};

typedef struct {
    Context *ctx;
    StrBuf text;
    Map names; /* handle -> Str */
    Subst renamed; /* sampled values -> the same under their names here */
} TraceText;

static void add_value(TraceText *trace, Value value, bool annotation);

/* Escapes what would end the string. */
static void add_string(StrBuf *text, const char *string)
{
    strbuf_add(text, "\"");
    for (const char *c = string; *c; c++) {
        if (*c == '\n')
            strbuf_add(text, "\\n");
        else
            strbuf_printf(text, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    strbuf_add(text, "\"");
}

static void add_real(StrBuf *text, double value, bool annotation)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.17g", value);
    bool whole = digits[strspn(digits, "-0123456789")] == 0;
    strbuf_printf(text, "%s%s", digits, whole && annotation ? ".0" : "");
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In the order of the keys' texts. */
static void add_dict(TraceText *trace, const ValueList *list, bool annotation)
{
    int count = list->count / 2;
    const char **items = ARENA_ARRAY(trace->ctx->arena, const char *, count);
    StrBuf outer = trace->text;
    for (int i = 0; i < count; i++) {
        trace->text = (StrBuf){.arena = trace->ctx->arena};
        add_value(trace, list->items[2 * i], annotation);
        strbuf_add(&trace->text, ": ");
        add_value(trace, list->items[2 * i + 1], annotation);
        items[i] = strbuf_text(&trace->text);
    }
    trace->text = outer;
    qsort(items, (size_t)count, sizeof *items, compare_text);
    strbuf_add(&trace->text, "{");
    for (int i = 0; i < count; i++)
        strbuf_printf(&trace->text, "%s%s", i ? ", " : "", items[i]);
    strbuf_add(&trace->text, "}");
}

static void add_list(TraceText *trace, const ValueList *list, bool annotation)
{
    strbuf_add(&trace->text, list->is_tuple && !annotation ? "(" : "[");
    for (int i = 0; i < list->count; i++) {
        strbuf_add(&trace->text, i ? ", " : "");
        add_value(trace, list->items[i], annotation);
    }
    strbuf_add(&trace->text, list->is_tuple && !annotation ? ")" : "]");
}

/* The function as the indices and results that it was called with. */
static void add_function(TraceText *trace, const IndexFunction *function)
{
    Value result = function->result;
    const Value *items = result.kind == VALUE_LIST ? result.as.list->items : &result;
    int count = result.kind == VALUE_LIST ? result.as.list->count : 1;
    strbuf_add(&trace->text, "lambda");
    for (int i = 0; i < function->count; i++)
        strbuf_printf(&trace->text, "%s%s", i ? ", " : " ", function->inputs[i]->name);
    strbuf_add(&trace->text, ": ");
    if (count && items[0].kind == VALUE_LIST) { /* ranges */
        add_list(trace, result.as.list, false);
        return;
    }
    strbuf_add(&trace->text, "(");
    for (int i = 0; i < count; i++) {
        strbuf_add(&trace->text, i ? " " : "");
        add_value(trace, items[i], false);
        strbuf_add(&trace->text, ",");
    }
    strbuf_add(&trace->text, ")");
}

/* ANNOTATION: the value goes into the program as it is, so that 1.0 must not become 1. */
static void add_value(TraceText *trace, Value value, bool annotation)
{
    const char *name = value.handle ? map_get(&trace->names, value.handle) : NULL;
    switch (value.kind) {
    case VALUE_NONE: strbuf_add(&trace->text, "None"); break;
    case VALUE_BOOL: strbuf_add(&trace->text, value.as.boolean ? "True" : "False"); break;
    case VALUE_INT: strbuf_printf(&trace->text, "%lld", (long long)value.as.integer); break;
    case VALUE_FLOAT: add_real(&trace->text, value.as.real, annotation); break;
    case VALUE_STRING: add_string(&trace->text, value.as.text); break;
    case VALUE_LIST: add_list(trace, value.as.list, annotation); break;
    case VALUE_DICT: add_dict(trace, value.as.list, annotation); break;
    case VALUE_LOOP:
    case VALUE_BLOCK: strbuf_add(&trace->text, name ? name : "_"); break;
    case VALUE_EXPR: strbuf_add(&trace->text, print_expr(trace->ctx, subst_expr(trace->ctx, &trace->renamed, value.as.expr))); break;
    case VALUE_FUNCTION: add_function(trace, value.as.function); break;
    case VALUE_SCRIPT: strbuf_add(&trace->text, "None"); break;
    }
}

static void add_output(TraceText *trace, Value output)
{
    const char *prefix = output.kind == VALUE_BLOCK ? "b" : output.kind == VALUE_LOOP ? "l" : "v";
    Str name = context_internf(trace->ctx, "%s%d", prefix, trace->names.count);
    map_set(trace->ctx->arena, &trace->names, output.handle, (void *)name);
    strbuf_add(&trace->text, name);
    if (output.kind != VALUE_EXPR)
        return;
    const Var *var = output.as.expr->value.var;
    subst_var(trace->ctx, &trace->renamed, var, expr_var(trace->ctx, var_new(trace->ctx, name, var->dtype, span_none())));
}

/* "b0 = ", "l1, l2 = ", "l3, = " of a list with one item. */
static void add_outputs(TraceText *trace, Value output)
{
    if (output.kind == VALUE_NONE || (output.kind == VALUE_LIST && !output.as.list->count))
        return;
    if (output.kind != VALUE_LIST)
        add_output(trace, output);
    for (int i = 0; output.kind == VALUE_LIST && i < output.as.list->count; i++) {
        strbuf_add(&trace->text, i ? ", " : "");
        add_output(trace, output.as.list->items[i]);
    }
    strbuf_add(&trace->text, output.kind == VALUE_LIST && output.as.list->count == 1 ? ", = " : " = ");
}

const char *script_trace_spelling(const Primitive *primitive, const Parameter *parameter)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (!strcmp(spellings[i].primitive, primitive->name) && !strcmp(spellings[i].parameter, parameter->name))
            return spellings[i].spelling;
    return parameter->name;
}

/* What TVM writes before the value of PARAMETER. */
static void add_parameter(TraceText *trace, const Primitive *primitive, const Parameter *parameter)
{
    const char *spelling = script_trace_spelling(primitive, parameter);
    if (spelling)
        strbuf_printf(&trace->text, "%s=", spelling);
}

/* TVM leaves out consumer_blocks where there are none. */
static bool is_left_out(const Parameter *parameter, Value value)
{
    bool none = value.kind == VALUE_NONE || (value.kind == VALUE_LIST && !value.as.list->count);
    return none && !strcmp(parameter->name, "consumer_blocks");
}

static void add_step(TraceText *trace, const TraceStep *step)
{
    Parameter parameters[MOST_PARAMETERS];
    int count = primitive_parameters(trace->ctx, step->primitive, parameters);
    StrBuf before = trace->text;
    trace->text = (StrBuf){.arena = trace->ctx->arena};
    bool first = true;
    for (int i = 0; i < count; i++) {
        Value value = step->inputs[i];
        bool annotation = !strcmp(parameters[i].type, "any");
        if (is_left_out(&parameters[i], value))
            continue;
        for (int k = 0; parameters[i].variadic && k < value.as.list->count; k++) {
            strbuf_add(&trace->text, first ? "" : ", ");
            add_value(trace, value.as.list->items[k], false);
            first = false;
        }
        if (parameters[i].variadic)
            continue;
        strbuf_add(&trace->text, first ? "" : ", ");
        add_parameter(trace, step->primitive, &parameters[i]);
        add_value(trace, value, annotation);
        first = false;
    }
    const char *arguments = strbuf_text(&trace->text);
    trace->text = before;
    add_outputs(trace, step->output);
    strbuf_printf(&trace->text, "sch.%s(%s)", print_spelling(trace->ctx, step->primitive->name), arguments);
}

const char *script_trace_text(Script *script, const Schedule *sch)
{
    TraceText trace = {.ctx = script->ctx, .text = {.arena = script->ctx->arena}};
    strbuf_printf(&trace.text, "%s\ndef apply_trace(sch: %s) -> None:\n", print_spelling(script->ctx, "# from tvm import tir"),
                  print_spelling(script->ctx, "tir.Schedule"));
    for (int i = 0; i < sch->trace.steps.count; i++) {
        strbuf_add(&trace.text, i ? "\n  " : "  ");
        add_step(&trace, &sch->trace.steps.data[i]);
    }
    if (!sch->trace.steps.count)
        strbuf_add(&trace.text, "  pass");
    return strbuf_text(&trace.text);
}
