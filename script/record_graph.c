/* See record_graph.h. */
#include "script/record_graph.h"

#include <stdlib.h>
#include <string.h>

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

const Json *record_node_field(const Json *node, const char *name)
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

const Json *record_node_at(const Json *nodes, const Json *index)
{
    int64_t number;
    return whole_number(index, &number) ? json_item(nodes, number) : NULL;
}

const Json *record_node(const Json *nodes, const Json *node, const char *name)
{
    return record_node_at(nodes, record_node_field(node, name));
}

/* A node that is a string: of the newest form, or of the oldest. */
static const char *text_of(const Json *node)
{
    const Json *data = json_get(node, "data");
    data = data ? data : json_get(node, "repr_str");
    return json_is(data, JSON_STRING) ? data->text : NULL;
}

const char *record_text_at(const Json *nodes, const Json *index)
{
    return text_of(record_node_at(nodes, index));
}

const char *record_node_text(const Json *nodes, const Json *node, const char *name)
{
    const Json *value = record_node_field(node, name);
    const char *inner = record_text_at(nodes, value);
    return inner ? inner : json_is(value, JSON_STRING) ? value->text : NULL;
}

bool record_node_int(const Json *nodes, const Json *node, const char *name, int64_t *result)
{
    const Json *value = record_node_field(node, name);
    /* where types are nodes, what a constant holds is a node too */
    if (record_node_field(node, "ty") && json_is(value, JSON_INT))
        value = json_get(record_node_at(nodes, value), "data");
    return whole_number(value, result);
}

const Json *record_node_list(const Json *nodes, const Json *node, const char *name)
{
    const Json *list = json_get(record_node(nodes, node, name), "data");
    return json_is(list, JSON_LIST) ? list : NULL;
}

const char *record_node_dtype(const Json *nodes, const Json *node)
{
    const Json *type = record_node(nodes, node, "ty");
    if (type)
        return strcmp(record_node_type(type), "PrimType") ? NULL : record_node_dtype(nodes, type);
    const Json *dtype = record_node_field(node, "dtype");
    if (json_is(dtype, JSON_INT))
        return record_node_dtype(nodes, record_node_at(nodes, dtype));
    return json_is(dtype, JSON_STRING) ? dtype->text : NULL;
}
