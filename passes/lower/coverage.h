/* Whether a buffer is private to an iteration: each of its elements that the iteration reads, the iteration wrote before. Private to
   passes/lower. */
#ifndef TIRC_PASSES_LOWER_COVERAGE_H
#define TIRC_PASSES_LOWER_COVERAGE_H

#include "passes/lower/state.h"

/* True when it is shown that every read of BUFFER in BODY (which holds no block axes and no init any more) comes after writes of BODY to
   the same elements. AN knows the loops and conditions around BODY; it learns those inside, and assumptions made on the way are undone.
   Declared write regions of a block count as written where a call in it takes a pointer to BUFFER. */
bool coverage_is_private(Analyzer *an, const Stmt *body, const Buffer *buffer);

#endif
