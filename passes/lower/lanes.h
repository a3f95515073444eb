/* Whether the iterations of a loop may run side by side in vectors. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_LANES_H
#define TIRC_PASSES_LOWER_LANES_H

#include "passes/lower/state.h"

/* The iterations of LOOP, a for statement of constant extent, are shown not to depend on one another. AN knows what holds around it, ROOTS
   the views (see effects.h). */
bool lanes_are_independent(Context *ctx, Analyzer *an, const Map *roots, const Stmt *loop);

#endif
