/* Which part of an allocated buffer a statement accesses. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_MEMORY_NEEDED_H
#define TIRC_PASSES_LOWER_MEMORY_NEEDED_H

#include "passes/arith/int_set.h"
#include "passes/lower/memory/loop_names.h"

/* A box that holds every element of BUFFER that BODY may access, in terms of what is visible around BODY: buffer->ndim sets in OUT, ends
   missing where nothing is known. AN knows the loops around BODY and learns those inside. False when the layout of the buffer must stay as
   it is: its own pointer (not that of a view of it) is used, or nothing accesses it. */
bool needed_region(Analyzer *an, LoopNames *names, const Stmt *body, const Buffer *buffer, IntSet *out);

#endif
