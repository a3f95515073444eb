/* Writing out a loop. Private to the passes. */
#ifndef TIRC_PASSES_LOWER_LOOPS_UNROLL_H
#define TIRC_PASSES_LOWER_LOOPS_UNROLL_H

#include "passes/lower/core/state.h"

/* The iterations of the loop STMT one after the other; STMT as a serial loop, after a diagnostic where there are too many, if that cannot be. */
const Stmt *stmt_written_out(Context *ctx, const Stmt *stmt);

#endif
