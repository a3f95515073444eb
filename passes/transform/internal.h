/* The functions of transforms.def; private to passes/transform. */
#ifndef TIRC_PASSES_TRANSFORM_INTERNAL_H
#define TIRC_PASSES_TRANSFORM_INTERNAL_H

#include "passes/lower/state.h"

#define X(name, reference, function, needs, doc) LowerFunction function;
#define ALIAS(other, name)
#include "passes/transform/transforms.def"
#undef X
#undef ALIAS

#endif
