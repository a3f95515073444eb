/* See record_trace.h. Everything that goes into the text is a number, a string that is quoted anew, or a name of one letter and digits. */
#include "script/record_trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "script/record_expr.h"

typedef struct {
    const char *name, *step, *inputs, *attributes;
} Instruction;

static const Instruction instructions[] = {
#define X(name, step, inputs, attributes) {name, step, inputs, attributes},
#include "script/instructions.def"
#undef X
};

typedef struct {
    StrBuf *text;
    const char *function;
    bool first;         /* no argument stands before */
    const char *reason; /* what is wrong */
} Writer;

static bool fail(Writer *writer, const char *reason)
{
    if (!writer->reason)
        writer->reason = reason;
    return false;
}

/* "b0", "l12", "v3", "_": what an instruction gave. */
static bool is_name(const char *text)
{
    if (!strcmp(text, "_"))
        return true;
    bool good = text[0] && strchr("blv", text[0]) && text[1];
    for (const char *c = text + 1; good && *c; c++)
        good = isdigit((unsigned char)*c);
    return good;
}

static void add_quoted(StrBuf *text, const char *string)
{
    strbuf_add(text, "\"");
    for (const char *c = string; *c; c++)
        strbuf_printf(text, *c == '\n' ? "\\n" : *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    strbuf_add(text, "\"");
}

static void add_number(StrBuf *text, const Json *value)
{
    char digits[40];
    if (value->kind == JSON_INT) {
        strbuf_printf(text, "%" PRId64, value->integer);
        return;
    }
    snprintf(digits, sizeof digits, "%.17g", value->real);
    strbuf_printf(text, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

/* A string of the inputs: what an instruction gave, None, or a string in quotes of its own. */
static bool add_reference(Writer *writer, const char *string)
{
    if (is_name(string) || !strcmp(string, "None")) {
        strbuf_add(writer->text, string);
        return true;
    }
    const char *reason;
    size_t at;
    const Json *inner = json_read(writer->text->arena, string, strlen(string), &reason, &at);
    if (!json_is(inner, JSON_STRING))
        return fail(writer, "an input is neither what an instruction gave nor a string in quotes");
    add_quoted(writer->text, inner->text);
    return true;
}

static bool add_value(Writer *writer, const Json *value, bool input)
{
    StrBuf *text = writer->text;
    switch (value->kind) {
    case JSON_NULL: strbuf_add(text, "None"); return true;
    case JSON_BOOL: strbuf_add(text, value->boolean ? "True" : "False"); return true;
    case JSON_INT:
    case JSON_REAL: add_number(text, value); return true;
    case JSON_STRING:
        if (input)
            return add_reference(writer, value->text);
        add_quoted(text, value->text);
        return true;
    default: break;
    }
    strbuf_add(text, value->kind == JSON_LIST ? "[" : "{");
    for (int i = 0; i < value->count; i++) {
        strbuf_add(text, i ? ", " : "");
        if (value->kind == JSON_OBJECT) {
            add_quoted(text, value->keys[i]);
            strbuf_add(text, ": ");
        }
        if (!add_value(writer, &value->items[i], input))
            return false;
    }
    strbuf_add(text, value->kind == JSON_LIST ? "]" : "}");
    return true;
}

static void begin_argument(Writer *writer, const char *name, int length)
{
    strbuf_add(writer->text, writer->first ? "" : ", ");
    if (length)
        strbuf_printf(writer->text, "%.*s=", length, name);
    writer->first = false;
}

/* An index map is the JSON of a graph, in a string; no map: any other value. */
static bool add_map(Writer *writer, const Json *value, bool pairs)
{
    if (!json_is(value, JSON_STRING))
        return add_value(writer, value, false);
    const char *reason;
    size_t at;
    const Json *graph = json_read(writer->text->arena, value->text, strlen(value->text), &reason, &at);
    reason = graph ? record_graph_lambda(writer->text, graph, pairs) : reason;
    return !reason || fail(writer, reason);
}

/* A buffer by its INDEX, and TYPE 0 among the reads or 1 among the writes. */
static bool add_buffer(Writer *writer, const Json *index, const Json *type)
{
    if (!json_is(index, JSON_INT) || !json_is(type, JSON_INT))
        return fail(writer, "a buffer is no pair of numbers");
    strbuf_printf(writer->text, "(\"%s\", %" PRId64 ")", type->integer ? "write" : "read", index->integer);
    return true;
}

/* VALUE of the kind that SPEC begins with. */
static bool add_of_kind(Writer *writer, const char *spec, const Json *value, bool input)
{
    bool ranges = !strncmp(spec, "ranges:", 7);
    if (ranges || !strncmp(spec, "map:", 4))
        return add_map(writer, value, ranges);
    if (!json_is(value, JSON_INT))
        return add_value(writer, value, input);
    if (!strncmp(spec, "side:", 5))
        strbuf_add(writer->text, value->integer ? "\"write\"" : "\"read\"");
    else
        strbuf_add(writer->text, value->integer ? "True" : "False");
    return true;
}

/* The arguments that SPEC names, from VALUES. */
static bool add_arguments(Writer *writer, const char *spec, const Json *values, bool inputs)
{
    int next = 0;
    while (*spec && next < values->count) {
        int length = (int)strcspn(spec, " ");
        const char *colon = memchr(spec, ':', (size_t)length), *name = colon ? colon + 1 : spec;
        int name_length = length - (int)(name - spec);
        bool rest = name_length > 3 && !strncmp(name + name_length - 3, "...", 3), all = *name == '*';
        if (all || rest) {
            if (rest) {
                begin_argument(writer, name, name_length - 3);
                strbuf_add(writer->text, "[");
                writer->first = true;
            }
            for (; next < values->count; next++) {
                begin_argument(writer, "", 0);
                if (!add_value(writer, &values->items[next], inputs))
                    return false;
            }
            strbuf_add(writer->text, rest ? "]" : "");
            writer->first = false;
            return true;
        }
        const Json *value = &values->items[next++];
        begin_argument(writer, name, name_length);
        bool ok;
        if (colon && !strncmp(spec, "buffer:", 7))
            ok = add_buffer(writer, value, json_item(values, next++));
        else if (colon)
            ok = add_of_kind(writer, spec, value, inputs);
        else if (!inputs && name_length == 9 && !strncmp(name, "func_name", 9))
            ok = (add_quoted(writer->text, writer->function), true);
        else
            ok = add_value(writer, value, inputs);
        if (!ok)
            return false;
        spec += length + (spec[length] == ' ');
    }
    return next == values->count || fail(writer, "an instruction has more values than it takes");
}

static bool add_outputs(Writer *writer, const Json *outputs)
{
    for (int i = 0; i < outputs->count; i++) {
        const Json *name = &outputs->items[i];
        if (name->kind != JSON_STRING || !is_name(name->text))
            return fail(writer, "what an instruction gives has no such name as b0, l1 or v2");
        strbuf_printf(writer->text, "%s%s", i ? ", " : "", name->text);
    }
    strbuf_add(writer->text, outputs->count ? " = " : "");
    return true;
}

/* Steps that give a list take a comma behind a single name. */
static bool gives_list(const char *step)
{
    static const char *const steps[] = {"get_loops", "get_child_blocks", "get_producers", "get_consumers", "get_output_blocks",
                                        "split", "loop_partition", "sample_perfect_tile", "sample_partitioned_tile"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!strcmp(step, steps[i]))
            return true;
    return false;
}

static const Json *decision_of(const Json *decisions, int number)
{
    for (int i = 0; i < decisions->count; i++) {
        const Json *at = json_item(&decisions->items[i], 0);
        if (json_is(at, JSON_INT) && at->integer == number)
            return json_item(&decisions->items[i], 1);
    }
    return NULL;
}

static bool add_instruction(Writer *writer, const Json *item, const Json *decision)
{
    const Json *name = json_item(item, 0), *inputs = json_item(item, 1), *attributes = json_item(item, 2), *outputs = json_item(item, 3);
    if (!json_is(name, JSON_STRING) || !json_is(inputs, JSON_LIST) || !json_is(attributes, JSON_LIST) || !json_is(outputs, JSON_LIST))
        return fail(writer, "an instruction is no list of its name, inputs, attributes and outputs");
    const Instruction *known = NULL;
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        known = strcmp(instructions[i].name, name->text) ? known : &instructions[i];
    if (!known) {
        StrBuf reason = {.arena = writer->text->arena};
        strbuf_add(&reason, "unknown instruction ");
        add_quoted(&reason, name->text);
        return fail(writer, strbuf_text(&reason));
    }
    if (outputs->count == 1 && gives_list(known->step)) {
        const Json *only = json_item(outputs, 0);
        if (!json_is(only, JSON_STRING) || !is_name(only->text))
            return fail(writer, "what an instruction gives has no such name as b0, l1 or v2");
        strbuf_printf(writer->text, "%s, = ", only->text);
    } else if (!add_outputs(writer, outputs)) {
        return false;
    }
    strbuf_printf(writer->text, "sch.%s(", known->step);
    writer->first = true;
    if (!add_arguments(writer, known->inputs, inputs, true) || !add_arguments(writer, known->attributes, attributes, false))
        return false;
    if (decision) {
        begin_argument(writer, "decision", (int)strlen("decision"));
        if (!add_value(writer, decision, false))
            return false;
    }
    strbuf_add(writer->text, ")\n");
    return true;
}

const char *record_trace_text(StrBuf *text, const Json *trace, const char *function)
{
    const Json *items = json_item(trace, 0), *decisions = json_item(trace, 1);
    Writer writer = {.text = text, .function = function};
    if (!json_is(items, JSON_LIST) || !json_is(decisions, JSON_LIST))
        return "a trace is no list of instructions and decisions";
    for (int i = 0; i < items->count; i++)
        if (!add_instruction(&writer, &items->items[i], decision_of(decisions, i)))
            return writer.reason;
    return NULL;
}
