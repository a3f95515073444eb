/* Loops, axes and buffer shapes of a piece of a program in another integer type. */
#ifndef TIRC_PASSES_SCHEDULE_INDEX_WIDTH_H
#define TIRC_PASSES_SCHEDULE_INDEX_WIDTH_H

#include "ir/stmt.h"

/* BODY with every loop variable and block iterator in the integer type TYPE, and with them the shapes, strides and offsets of the buffers
   it allocates and of BUFFERS (COUNT of them, NULL entries allowed; replaced in the array), the variables that these define included.
   Stored values, let variables and arguments of calls that hold no such variable keep their types. */
const Stmt *index_width_set(Context *ctx, const Stmt *body, Buffer **buffers, int count, DType type);

#endif
