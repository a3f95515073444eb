/* Whether the iterations of a loop may run side by side in vectors. Private to passes/lower. */
#ifndef TIRC_PASSES_LOWER_VECTOR_LANES_H
#define TIRC_PASSES_LOWER_VECTOR_LANES_H

#include "passes/lower/core/state.h"

/* Where loops stand: AN knows what holds around them in FUNC, ROOTS the views (see effects.h). */
typedef struct {
    Context *ctx;
    const Func *func;
    Analyzer *an;
    const Map *roots;
} LaneScope;

/* The iterations of LOOP, a for statement of constant extent in PART, which is to stand in the function, are shown not to depend on one
   another. */
bool lanes_are_independent(const LaneScope *scope, const Stmt *part, const Stmt *loop);

#endif
