/* What the partners of a moved block touch of a buffer. */
#ifndef TIRC_PASSES_SCHEDULE_MOVE_MOVE_USES_H
#define TIRC_PASSES_SCHEDULE_MOVE_MOVE_USES_H

#include "passes/analysis/normal/rows.h"
#include "passes/schedule/move/move.h"

/* A region of PARTNER, in terms of its iterators. */
typedef struct {
    const TreeNode *partner;
    Region region;
} Use;
typedef VEC(Use) UseList;

/* What the partners touch of BUFFER: what they declare that they read, and what they read to be entered (reverse: what they declare
   that they write). */
UseList move_partner_uses(Move *move, const Buffer *buffer);
/* Names the elements of a flat buffer with symbolic strides by digits, in OWN, a region of the moved block, and USES, those of its partners:
   B[vi * m + vj] as B[vi, vj]. NULL, with nothing changed, where it has none or that cannot be done. What comes of it need only be likely:
   that each iteration has what it needs is shown after the move. */
const AccessRows *move_split_rows(Move *move, Region *own, UseList *uses);

#endif
