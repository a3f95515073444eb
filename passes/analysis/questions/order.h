/* What the question whether dependent accesses keep their order knows of two programs. Private to reordered.c and order_arguments.c. */
#ifndef TIRC_PASSES_ANALYSIS_QUESTIONS_ORDER_H
#define TIRC_PASSES_ANALYSIS_QUESTIONS_ORDER_H

#include "passes/analysis/pairs/pair.h"

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

/* Which pairs of accesses must keep their order from BEFORE to AFTER; see dependence_order_kept. */
typedef struct {
    const Func *before, *after;
    const Stmt *old_part, *new_part;
    const Block *involved; /* one access of each pair lies inside of it; NULL: any */
    bool (*wanted)(void *data, const Access *a, const Access *b); /* NULL: all pairs */
    void *data;
    /* NULL, or the one block that moved, in front of its consumers: in each iteration of the loops around it and them it computes all that
       they read */
    const Block *moved;
} OrderQuestion;

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
bool order_changes(Context *ctx, const OrderQuestion *question, Conflict *conflict);

#endif
