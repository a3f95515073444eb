/* What the implementation of a tensor intrinsic does, against what its description does. */
#ifndef TIRC_PASSES_SCHEDULE_BLOCK_IMPLEMENTATION_H
#define TIRC_PASSES_SCHEDULE_BLOCK_IMPLEMENTATION_H

#include "passes/schedule/core/schedule.h"

/* INTRIN's implementation may stand for its description in BLOCK, a block of the program that matches the description: both write the same
   elements, in an init and behind it, and of what they write both read what was there before, or neither does. Refuses otherwise. */
bool check_implementation_does_as_described(Schedule *sch, const TensorIntrin *intrin, const BlockStmt *block);
/* The same of an intrinsic that is registered: false after a diagnostic in its implementation, where that is certainly
   wrong, or certainly leaves out an element that the description writes. */
bool check_registered_implementation(Context *ctx, const TensorIntrin *intrin);

#endif
