/* Loops, axes and buffer shapes of a piece of a program in another integer type. */
#ifndef TIRC_PASSES_SCHEDULE_BLOCK_INDEX_WIDTH_H
#define TIRC_PASSES_SCHEDULE_BLOCK_INDEX_WIDTH_H

#include "ir/stmt.h"

/* BODY with every loop variable and block iterator in the integer type TYPE. The same type goes to shapes, strides and offsets of the
   buffers that BODY allocates and of BUFFERS, and to the variables that these define. BUFFERS has COUNT entries, some may be NULL; the new
   ones take their places. Stored values, let variables and arguments of calls that hold no such variable keep their types. */
const Stmt *index_width_set(Context *ctx, const Stmt *body, Buffer **buffers, int count, DType type);

#endif
