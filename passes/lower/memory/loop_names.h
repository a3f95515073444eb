/* Which loops name which buffers. A pass that works on one buffer after the other asks this of all loops each time: what a loop names is found once.
   Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_MEMORY_LOOP_NAMES_H
#define TIRC_PASSES_LOWER_MEMORY_LOOP_NAMES_H

#include "passes/lower/core/state.h"

typedef struct {
    Arena *arena;
    Map sets; /* the STMT_FOR asked of so far -> Map *, whose keys are buffers and variables */
} LoopNames;

/* LOOP, a STMT_FOR, accesses BUFFER, declares a region of it, or has its pointer. */
bool loop_names_buffer(LoopNames *names, const Stmt *loop, const Buffer *buffer);

#endif
