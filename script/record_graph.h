/* Graphs of nodes as TVM writes them to JSON, of all ages:

     {"root_index": 2, "nodes": [{"type": "None"}, {"type": "ffi.String", "data": "i"}, {"type": "ir.Var", "data": {"name": 1, ...}}]}
     {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "tir.Var", "attrs": {"name": "i", ...}}]}

   A field that is a node is its number, in the oldest form as a string. */
#ifndef TIRC_SCRIPT_RECORD_GRAPH_H
#define TIRC_SCRIPT_RECORD_GRAPH_H

#include "support/json.h"

/* The nodes of GRAPH; NULL where it is no such graph. */
const Json *record_graph_nodes(const Json *graph);
/* The name of NODE's type without what stands before its last point: "Var"; "" where it has none. */
const char *record_node_type(const Json *node);
/* The field NAME of NODE as it stands; NULL: there is none. */
const Json *record_node_field(const Json *node, const char *name);
/* The node with the number INDEX, and the node that the field NAME of NODE is; NULL: there is none. */
const Json *record_node_at(const Json *nodes, const Json *index);
const Json *record_node(const Json *nodes, const Json *node, const char *name);
/* The text that the node with the number INDEX is, and that the field NAME of NODE holds, in itself or as a node; NULL: none. */
const char *record_text_at(const Json *nodes, const Json *index);
const char *record_node_text(const Json *nodes, const Json *node, const char *name);
/* The integer that the field NAME of NODE holds. False: it holds none. */
bool record_node_int(const Json *nodes, const Json *node, const char *name, int64_t *result);
/* The numbers of the nodes in the list, or of the keys and values in turn of the map, that the field NAME of NODE is; NULL: none. */
const Json *record_node_list(const Json *nodes, const Json *node, const char *name);
/* The type of what an expression, variable or buffer NODE stands for: "float32"; NULL: it has none of numbers. */
const char *record_node_dtype(const Json *nodes, const Json *node);

#endif
