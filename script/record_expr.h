/* Expressions of graphs (record_graph.h) as text. */
#ifndef TIRC_SCRIPT_RECORD_EXPR_H
#define TIRC_SCRIPT_RECORD_EXPR_H

#include "script/record_graph.h"
#include "support/strbuf.h"

typedef struct {
    StrBuf *text;
    const Json *nodes;
    bool numbered; /* of a program: variables are called v, and buffers b, with the number of their node, and numbers have their types; else as in a lambda */
    int depth;     /* of expressions and statements: nodes may be shared, or hold themselves */
    int count;
} RecordWriter;

enum { RECORD_DEEPEST = 100, RECORD_LARGEST = 100000 };

/* Adds the expression that NODE is. False: it has a part that is not known, or it is deeper or longer than a program's. */
bool record_add_expr(RecordWriter *writer, const Json *node);
/* Adds the expressions whose nodes have the numbers in LIST, with commas between them. */
bool record_add_exprs(RecordWriter *writer, const Json *list);
/* Adds the name of the buffer that NODE is. */
bool record_add_buffer(RecordWriter *writer, const Json *node);
/* Adds the index map that GRAPH is as a lambda of a script, its results two by two where they are PAIRS. NULL, or in words what is wrong with it. */
const char *record_graph_lambda(StrBuf *text, const Json *graph, bool pairs);

#endif
