/* transform_layout: what its parts share. The padding that a map leaves in the new buffer is filled in one of three ways. */
#ifndef TIRC_PASSES_SCHEDULE_LAYOUT_TRANSFORM_LAYOUT_H
#define TIRC_PASSES_SCHEDULE_LAYOUT_TRANSFORM_LAYOUT_H

#include "passes/schedule/layout/layout.h"

typedef struct {
    Schedule *sch;
    Buffer *old_buffer, *new_buffer;
    IndexMap map;
    IndexInverse inverse;
    Var **pad_vars; /* of the function that gives the padding: one for each dimension of the new buffer */
    const Expr *pad_value;
} LayoutTransform;

/* Adds to the function what fills the padding of the new buffer, which is not there yet: SCOPE is the statement that holds all uses of the
   buffer. Where nothing writes the buffer, a block says with T.assume what is there; where a nest goes over the elements of the old buffer, it goes
   over those of the new one and chooses; else a block behind the last write fills the padding. *ADDED: the block made, or NULL. The statement that
   stands for SCOPE then, or NULL after a refusal. */
const Stmt *layout_fill_padding(LayoutTransform *transform, const Stmt *scope, Block **added);

#endif
