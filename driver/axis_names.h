/* The axes of blocks, which lowering replaces by their bindings, for debug information. */
#ifndef TIRC_DRIVER_AXIS_NAMES_H
#define TIRC_DRIVER_AXIS_NAMES_H

#include "codegen/backend.h"

/* Adds the axes of FUNC, a scheduled function, to AXES, each at the stores that it is seen from. */
void axis_names_collect(Context *ctx, const Func *func, AxisNames *axes);

#endif
