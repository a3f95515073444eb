/* See record_graph.h. */
#include "script/record_graph.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100, LARGEST = 10000 };

const Json *record_graph_nodes(const Json *graph)
{
    const Json *nodes = json_get(graph, "nodes");
    return json_is(nodes, JSON_LIST) ? nodes : NULL;
}

const char *record_node_type(const Json *node)
{
    const Json *type = json_get(node, "type");
    type = type ? type : json_get(node, "type_key");
    if (!json_is(type, JSON_STRING))
        return "";
    const char *point = strrchr(type->text, '.');
    return point ? point + 1 : type->text;
}

static const Json *field(const Json *node, const char *name)
{
    const Json *value = json_get(json_get(node, "data"), name);
    return value ? value : json_get(json_get(node, "attrs"), name);
}

static bool whole_number(const Json *value, int64_t *result)
{
    char *end;
    if (json_is(value, JSON_INT)) {
        *result = value->integer;
        return true;
    }
    if (!json_is(value, JSON_STRING) || !*value->text)
        return false;
    *result = strtoll(value->text, &end, 10);
    return !*end;
}

static const Json *node_at(const Json *nodes, const Json *index)
{
    int64_t number;
    return whole_number(index, &number) ? json_item(nodes, number) : NULL;
}

const char *record_node_text(const Json *nodes, const Json *node, const char *name)
{
    const Json *value = field(node, name);
    if (json_is(value, JSON_STRING))
        return value->text;
    const Json *string = node_at(nodes, value), *data = json_get(string, "data");
    return json_is(data, JSON_STRING) ? data->text : NULL;
}

/* --- index maps --- */

typedef struct {
    StrBuf *text;
    const Json *nodes;
    int depth, count; /* of expressions: nodes may be shared, or hold themselves */
} Lambda;

static bool is_identifier(const char *name)
{
    bool good = name && *name && !isdigit((unsigned char)*name);
    for (const char *c = name; good && *c; c++)
        good = isalnum((unsigned char)*c) || *c == '_';
    return good;
}

static bool add_expr(Lambda *lambda, const Json *node);

static bool add_constant(Lambda *lambda, const Json *node)
{
    int64_t value;
    if (!whole_number(field(node, "value"), &value))
        return false;
    strbuf_printf(lambda->text, "%" PRId64, value);
    return true;
}

static bool add_real(Lambda *lambda, const Json *node)
{
    const Json *value = field(node, "value");
    if (!json_is(value, JSON_REAL) && !json_is(value, JSON_INT))
        return false;
    char digits[40];
    snprintf(digits, sizeof digits, "%.17g", value->real);
    strbuf_printf(lambda->text, "%s%s", digits, strpbrk(digits, ".en") ? "" : ".0");
    return true;
}

static bool add_binary(Lambda *lambda, const Json *node, const char *before, const char *between)
{
    strbuf_printf(lambda->text, "%s(", before);
    bool ok = add_expr(lambda, node_at(lambda->nodes, field(node, "a")));
    strbuf_add(lambda->text, between);
    ok = ok && add_expr(lambda, node_at(lambda->nodes, field(node, "b")));
    strbuf_add(lambda->text, ")");
    return ok;
}

static bool add_expr(Lambda *lambda, const Json *node)
{
    static const struct {
        const char *type, *before, *between;
    } binary[] = {{"Add", "", " + "},      {"Sub", "", " - "},  {"Mul", "", " * "},          {"FloorDiv", "", " // "},
                  {"FloorMod", "", " % "}, {"Min", "min", ", "}, {"Max", "max", ", "}};
    const char *type = record_node_type(node);
    if (lambda->depth == DEEPEST || lambda->count == LARGEST)
        return false;
    lambda->depth++;
    lambda->count++;
    bool ok = false;
    if (!strcmp(type, "Var") || !strcmp(type, "SizeVar")) {
        const char *name = record_node_text(lambda->nodes, node, "name");
        ok = is_identifier(name);
        strbuf_add(lambda->text, ok ? name : "");
    } else if (!strcmp(type, "IntImm")) {
        ok = add_constant(lambda, node);
    } else if (!strcmp(type, "FloatImm")) {
        ok = add_real(lambda, node);
    }
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (!strcmp(type, binary[i].type))
            ok = add_binary(lambda, node, binary[i].before, binary[i].between);
    lambda->depth--;
    return ok;
}

const char *record_graph_lambda(StrBuf *text, const Json *graph)
{
    const Json *nodes = record_graph_nodes(graph), *root = json_get(graph, "root_index");
    const Json *map = node_at(nodes, root ? root : json_get(graph, "root"));
    if (strcmp(record_node_type(map), "IndexMap"))
        return "no index map";
    Lambda lambda = {text, nodes, 0, 0};
    const Json *inputs = json_get(node_at(nodes, field(map, "initial_indices")), "data");
    const Json *results = json_get(node_at(nodes, field(map, "final_indices")), "data");
    if (!json_is(inputs, JSON_LIST) || !json_is(results, JSON_LIST))
        return "an index map without indices";
    strbuf_add(text, "lambda");
    for (int i = 0; i < inputs->count; i++) {
        const Json *var = node_at(nodes, json_item(inputs, i));
        strbuf_add(text, i ? ", " : " ");
        if (strcmp(record_node_type(var), "Var") || !add_expr(&lambda, var))
            return "an index map whose inputs are no variables";
    }
    strbuf_add(text, ": (");
    for (int i = 0; i < results->count; i++) {
        if (!add_expr(&lambda, node_at(nodes, json_item(results, i))))
            return "an index map with an expression that is not known";
        strbuf_add(text, ", ");
    }
    strbuf_add(text, ")");
    return NULL;
}
