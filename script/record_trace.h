/* The trace of a tuning record as the text of a script. */
#ifndef TIRC_SCRIPT_RECORD_TRACE_H
#define TIRC_SCRIPT_RECORD_TRACE_H

#include "support/json.h"
#include "support/strbuf.h"

/* Adds the steps of TRACE, [[instruction, ...], [[number, decision], ...]], an instruction being [name, inputs, attributes, outputs], to TEXT. What is
   found by name is found in FUNCTION. NULL, or in words what is wrong. */
const char *record_trace_text(StrBuf *text, const Json *trace, const char *function);

#endif
