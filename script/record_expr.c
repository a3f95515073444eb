/* See record_expr.h. */
#include "script/record_expr.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_identifier(const char *name)
{
    bool good = name && *name && !isdigit((unsigned char)*name);
    for (const char *c = name; good && *c; c++)
        good = isalnum((unsigned char)*c) || *c == '_';
    return good;
}

static bool is_buffer(const RecordWriter *writer, const Json *node)
{
    return !strcmp(record_node_type(node), "Buffer") || !strcmp(record_node_type(record_node(writer->nodes, node, "ty")), "BufferType");
}

bool record_add_buffer(RecordWriter *writer, const Json *node)
{
    if (!node || !writer->numbered || !is_buffer(writer, node))
        return false;
    strbuf_printf(writer->text, "b%d", (int)(node - writer->nodes->items));
    return true;
}

/* The memory of a buffer, which is a variable in older graphs. */
static bool add_data(RecordWriter *writer, const Json *node)
{
    const Json *nodes = writer->nodes;
    writer->count += nodes->count / 16;
    for (int i = 0; i < nodes->count && writer->count < RECORD_LARGEST; i++)
        if (!strcmp(record_node_type(&nodes->items[i]), "Buffer") && record_node(nodes, &nodes->items[i], "data") == node) {
            strbuf_printf(writer->text, "b%d.data", i);
            return true;
        }
    return false;
}

static bool add_var(RecordWriter *writer, const Json *node)
{
    if (writer->numbered && !strcmp(record_node_type(record_node(writer->nodes, node, "type_annotation")), "PointerType"))
        return add_data(writer, node);
    if (writer->numbered) {
        strbuf_printf(writer->text, "v%d", (int)(node - writer->nodes->items));
        return !is_buffer(writer, node);
    }
    const char *name = record_node_text(writer->nodes, node, "name");
    bool good = is_identifier(name);
    strbuf_add(writer->text, good ? name : "");
    return good;
}

static bool add_int(RecordWriter *writer, const Json *node)
{
    const char *dtype = record_node_dtype(writer->nodes, node);
    int64_t value;
    if (!record_node_int(writer->nodes, node, "value", &value) || (writer->numbered && !is_identifier(dtype)))
        return false;
    if (!writer->numbered || !strcmp(dtype, "int32"))
        strbuf_printf(writer->text, "%" PRId64, value);
    else if (!strcmp(dtype, "bool"))
        strbuf_printf(writer->text, "T.bool(%s)", value ? "True" : "False");
    else
        strbuf_printf(writer->text, "T.%s(%" PRId64 ")", dtype, value);
    return true;
}

static bool add_real(RecordWriter *writer, const Json *node)
{
    const Json *value = record_node_field(node, "value");
    const char *dtype = record_node_dtype(writer->nodes, node);
    char *end = "x";
    double real = json_is(value, JSON_STRING) ? strtod(value->text, &end) : value ? value->real : NAN;
    bool is_number = json_is(value, JSON_STRING) ? *value->text && !*end : json_is(value, JSON_REAL) || json_is(value, JSON_INT);
    if (!is_number || (writer->numbered && !is_identifier(dtype)) || !isfinite(real))
        return false;
    char digits[40];
    snprintf(digits, sizeof digits, "%.17g", real);
    strbuf_printf(writer->text, writer->numbered ? "T.%s(" : "%.0s", dtype ? dtype : "");
    strbuf_printf(writer->text, "%s%s%s", digits, strpbrk(digits, ".en") ? "" : ".0", writer->numbered ? ")" : "");
    return true;
}

bool record_add_exprs(RecordWriter *writer, const Json *list)
{
    for (int i = 0; list && i < list->count; i++) {
        strbuf_add(writer->text, i ? ", " : "");
        if (!record_add_expr(writer, record_node_at(writer->nodes, &list->items[i])))
            return false;
    }
    return list != NULL;
}

/* The parts of an expression: the fields FIRST, SECOND and THIRD of NODE (NULL: no more) behind BEFORE, with BETWEEN between them. */
typedef struct {
    const char *type, *before, *between;
    const char *parts[3];
} Form;

static const Form forms[] = {
    {"Add", "(", " + ", {"a", "b"}},        {"Sub", "(", " - ", {"a", "b"}},         {"Mul", "(", " * ", {"a", "b"}},
    {"FloorDiv", "(", " // ", {"a", "b"}},  {"FloorMod", "(", " % ", {"a", "b"}},    {"EQ", "(", " == ", {"a", "b"}},
    {"NE", "(", " != ", {"a", "b"}},        {"LT", "(", " < ", {"a", "b"}},          {"LE", "(", " <= ", {"a", "b"}},
    {"GT", "(", " > ", {"a", "b"}},         {"GE", "(", " >= ", {"a", "b"}},         {"And", "(", " and ", {"a", "b"}},
    {"Or", "(", " or ", {"a", "b"}},        {"Not", "(not ", "", {"a"}},             {"Mod", "T.truncmod(", ", ", {"a", "b"}},
    {"LShift", "(", " << ", {"a", "b"}},    {"RShift", "(", " >> ", {"a", "b"}},     {"BitwiseAnd", "(", " & ", {"a", "b"}},
    {"BitwiseOr", "(", " | ", {"a", "b"}},  {"BitwiseXor", "(", " ^ ", {"a", "b"}},  {"BitwiseNot", "(~", "", {"a"}},
    {"Select", "T.Select(", ", ", {"condition", "true_value", "false_value"}},       {"Ramp", "T.Ramp(", ", ", {"base", "stride", "lanes"}},
    {"Broadcast", "T.Broadcast(", ", ", {"value", "lanes"}},
};

static bool add_parts(RecordWriter *writer, const Json *node, const char *before, const char *between, const char *const parts[3])
{
    strbuf_add(writer->text, before);
    for (int i = 0; i < 3 && parts[i]; i++) {
        strbuf_add(writer->text, i ? between : "");
        if (!record_add_expr(writer, record_node(writer->nodes, node, parts[i])))
            return false;
    }
    strbuf_add(writer->text, ")");
    return true;
}

static bool add_load(RecordWriter *writer, const Json *node)
{
    const Json *indices = record_node_list(writer->nodes, node, "indices"), *source = record_node(writer->nodes, node, "source");
    const char *mask = record_node_type(record_node(writer->nodes, node, "predicate"));
    if (*mask && strcmp(mask, "None") != 0) /* of lanes: no program of blocks has one */
        return false;
    if (!record_add_buffer(writer, source ? source : record_node(writer->nodes, node, "buffer")) || !indices)
        return false;
    strbuf_add(writer->text, indices->count ? "[" : "[()");
    bool ok = record_add_exprs(writer, indices);
    strbuf_add(writer->text, "]");
    return ok;
}

static const char *operation_of(const RecordWriter *writer, const Json *node)
{
    const Json *op = record_node(writer->nodes, node, "op");
    const Json *text = json_get(op, "data");
    text = text ? text : json_get(op, "repr_str");
    if (strcmp(record_node_type(op), "Op") || !json_is(text, JSON_STRING))
        return NULL;
    const char *point = strrchr(text->text, '.'), *name = point ? point + 1 : text->text;
    return is_identifier(name) ? name : NULL;
}

/* The type of the result stands before the arguments of these. */
static bool names_type(const char *operation)
{
    static const char *const operations[] = {"call_extern", "call_pure_extern", "reinterpret", "type_annotation"};
    bool names = false;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        names |= !strcmp(operation, operations[i]);
    return names;
}

static bool add_call(RecordWriter *writer, const Json *node)
{
    const char *operation = operation_of(writer, node), *dtype = record_node_dtype(writer->nodes, node);
    const Json *args = record_node_list(writer->nodes, node, "args");
    if (!operation || !args)
        return false;
    if (!strcmp(operation, "buffer_data")) {
        bool ok = args->count == 1 && record_add_buffer(writer, record_node_at(writer->nodes, &args->items[0]));
        strbuf_add(writer->text, ".data");
        return ok;
    }
    strbuf_printf(writer->text, "T.%s(", operation);
    if (names_type(operation)) {
        if (!dtype || (*dtype && !is_identifier(dtype)))
            return false;
        strbuf_printf(writer->text, "\"%s\"%s", *dtype ? dtype : "void", args->count ? ", " : "");
    }
    bool ok = record_add_exprs(writer, args);
    strbuf_add(writer->text, ")");
    return ok;
}

/* Quotients of integers are cut off: T.Div says so. */
static bool add_quotient(RecordWriter *writer, const Json *node)
{
    const char *dtype = record_node_dtype(writer->nodes, node);
    bool real = dtype && (!strncmp(dtype, "float", 5) || !strncmp(dtype, "bfloat", 6));
    return add_parts(writer, node, real ? "(" : "T.Div(", real ? " / " : ", ", (const char *const[3]){"a", "b"});
}

static bool add_other(RecordWriter *writer, const Json *node, const char *type)
{
    if (!strcmp(type, "BufferLoad") || !strcmp(type, "TensorLoad"))
        return add_load(writer, node);
    if (!strcmp(type, "Call"))
        return add_call(writer, node);
    if (!strcmp(type, "Div"))
        return add_quotient(writer, node);
    if (!strcmp(type, "StringImm")) {
        const char *string = record_node_text(writer->nodes, node, "value");
        strbuf_add_json(writer->text, string ? string : "");
        return string != NULL;
    }
    const char *dtype = record_node_dtype(writer->nodes, node);
    if (strcmp(type, "Cast") || !is_identifier(dtype))
        return false;
    strbuf_printf(writer->text, "T.Cast(\"%s\", ", dtype);
    return add_parts(writer, node, "", "", (const char *const[3]){"value"});
}

static bool add_expr(RecordWriter *writer, const Json *node)
{
    const char *type = record_node_type(node);
    if (!strcmp(type, "Var") || !strcmp(type, "SizeVar"))
        return add_var(writer, node);
    if (!strcmp(type, "IntImm"))
        return add_int(writer, node);
    if (!strcmp(type, "FloatImm"))
        return add_real(writer, node);
    if (!strcmp(type, "Min") || !strcmp(type, "Max")) {
        strbuf_printf(writer->text, "%s%s", writer->numbered ? "T." : "", type[1] == 'i' ? "min" : "max");
        return add_parts(writer, node, "(", ", ", (const char *const[3]){"a", "b"});
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(type, forms[i].type))
            return add_parts(writer, node, forms[i].before, forms[i].between, forms[i].parts);
    return writer->numbered && add_other(writer, node, type);
}

bool record_add_expr(RecordWriter *writer, const Json *node)
{
    if (writer->depth == RECORD_DEEPEST || writer->count >= RECORD_LARGEST)
        return false;
    writer->depth++;
    writer->count++;
    bool ok = add_expr(writer, node);
    writer->depth--;
    return ok;
}

/* --- index maps --- */

const char *record_graph_lambda(StrBuf *text, const Json *graph, bool pairs)
{
    const Json *nodes = record_graph_nodes(graph), *root = json_get(graph, "root_index");
    const Json *map = record_node_at(nodes, root ? root : json_get(graph, "root"));
    if (strcmp(record_node_type(map), "IndexMap"))
        return "no index map";
    RecordWriter writer = {.text = text, .nodes = nodes};
    const Json *inputs = record_node_list(nodes, map, "initial_indices"), *results = record_node_list(nodes, map, "final_indices");
    if (!inputs || !results)
        return "an index map without indices";
    if (pairs && results->count % 2)
        return "ranges that are no pairs";
    strbuf_add(text, "lambda");
    for (int i = 0; i < inputs->count; i++) {
        const Json *var = record_node_at(nodes, json_item(inputs, i));
        strbuf_add(text, i ? ", " : " ");
        if (strcmp(record_node_type(var), "Var") || !record_add_expr(&writer, var))
            return "an index map whose inputs are no variables";
    }
    strbuf_add(text, ": (");
    for (int i = 0; i < results->count; i++) {
        strbuf_add(text, pairs && i % 2 == 0 ? "(" : "");
        if (!record_add_expr(&writer, record_node_at(nodes, json_item(results, i))))
            return "an index map with an expression that is not known";
        strbuf_add(text, pairs && i % 2 ? "), " : ", ");
    }
    strbuf_add(text, ")");
    return NULL;
}
