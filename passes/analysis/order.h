/* What the question whether dependent accesses keep their order knows of two programs. Private to reordered.c and order_arguments.c. */
#ifndef TIRC_PASSES_ANALYSIS_ORDER_H
#define TIRC_PASSES_ANALYSIS_ORDER_H

#include "passes/analysis/pair.h"

/* An access of the old part and its image in the new part. */
typedef struct {
    const Access *old_access, *new_access;
    bool keeps_loops; /* the step left all loops, bindings and conditions around it as they were */
    bool involved;    /* the question is about pairs with such an access */
    bool in_init;     /* of a block */
} Image;
typedef VEC(Image) ImageList;
typedef VEC(const Image *) ImageRefs;

typedef struct {
    Context *ctx;
    const Func *before;
    Map sizes;
    ImageList images;
    Map allocated; /* data variables of the buffers that the program allocates; see is_allocated */
    bool has_allocated;
    Map apart;     /* of those asked for: block of a reduction -> bool, see commute */
} OrderCheck;

/* The goal ORDERED: what A and B do to a common element keeps its order. */
typedef struct OrderGoal {
    OrderCheck *check;
    const OrderQuestion *question;
    const AccessList *before, *after;
    const Image *a, *b;
} OrderGoal;

/* What names the instance of FRAME: the iterators of all blocks around it, and the loops inside of the innermost block that has iterators,
   outermost first. The loops around such a block only run its instances. Without one all loops count. */
FrameList order_identity(Context *ctx, const Frame *frame);
/* The scan and opaque axes of the reduction that ACCESS is part of, and of the blocks inside: updates keep their order along them. */
FrameList order_axes(Context *ctx, const Access *access);
/* The updates of one reduction commute, but for those that differ in order_axes; its init stays in front of those of its own point only. */
bool order_commutes(OrderCheck *check, const Access *first, const Access *second);

#endif
