/* Programs of graphs (record_graph.h). */
#ifndef TIRC_SCRIPT_RECORD_PROGRAM_H
#define TIRC_SCRIPT_RECORD_PROGRAM_H

#include "ir/stmt.h"
#include "script/record_graph.h"

/* The functions in the graph with NODES, complete, as a module; names of variables are no more what they were, and attributes are left out. NULL where the
   graph holds something that is not known; nothing is diagnosed. */
const Module *record_graph_program(Context *ctx, const Json *nodes);

#endif
