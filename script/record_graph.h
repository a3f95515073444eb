/* Graphs of nodes as TVM writes them to JSON, of both ages:

     {"root_index": 2, "nodes": [{"type": "None"}, {"type": "ffi.String", "data": "i"}, {"type": "tirx.Var", "data": {"name": 1, ...}}]}
     {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "tir.Var", "attrs": {"name": "i", ...}}]}

   A field that is a node is its number, in the older form as a string. */
#ifndef TIRC_SCRIPT_RECORD_GRAPH_H
#define TIRC_SCRIPT_RECORD_GRAPH_H

#include "support/json.h"
#include "support/strbuf.h"

/* The nodes of GRAPH; NULL where it is no such graph. */
const Json *record_graph_nodes(const Json *graph);
/* The name of NODE's type without what stands before its last point: "Var"; "" where it has none. */
const char *record_node_type(const Json *node);
/* The text that the field NAME of NODE holds, in itself or as a node; NULL: none. */
const char *record_node_text(const Json *nodes, const Json *node, const char *name);
/* Adds the index map that GRAPH is as a lambda of a script. NULL, or in words what is wrong with it. */
const char *record_graph_lambda(StrBuf *text, const Json *graph);

#endif
