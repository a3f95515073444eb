/* The functions of transforms.def; private to passes/transform. */
#ifndef TIRC_PASSES_TRANSFORM_INTERNAL_H
#define TIRC_PASSES_TRANSFORM_INTERNAL_H

#include "passes/lower/core/state.h"

#define X(name, reference, function, needs, gives, doc) LowerFunction function;
#define ALIAS(other, name)
#include "passes/transform/transforms.def"
#undef X
#undef ALIAS

/* BODY in a block without axes that allocates BUFFERS (COUNT of them); MEMORY: data Var -> Buffer of what is declared around it. */
const Stmt *block_without_axes(Context *ctx, const Stmt *body, Buffer **buffers, int count, const Map *memory);

#endif
