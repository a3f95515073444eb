/* Shared by reindex, reindex_cache_read and reindex_cache_write: a block's one access to a buffer, the other buffer and indices that take its place,
   and the nest that copies between both. */
#ifndef TIRC_PASSES_SCHEDULE_CACHE_REINDEX_H
#define TIRC_PASSES_SCHEDULE_CACHE_REINDEX_H

#include "passes/arith/analyzer.h"
#include "passes/schedule/core/schedule.h"

typedef struct {
    Schedule *sch;
    const TreeNode *block, *scope;
    const TreeNode **loops;   /* around the block in its scope, outermost first */
    int loop_count;
    const TreeNode *anchor;   /* the copy stands before this statement, or AFTER it */
    bool after;
    int shared;               /* how many of the loops, the first ones, are around the anchor too */
    bool writes;              /* the block's writes are meant, not its reads */
    bool whole;               /* the copy runs over the whole domains of the axes, not over the instances that the block has */
    Buffer *buffer, *copy;
    const Expr *const *accessed; /* the indices of the accesses as they are written */
    const Expr **indices;     /* of the buffer, over axes of the block: the same in all its accesses */
    const Expr **new_indices; /* of the copy, over the same axes */
    int *axes;                /* which axes of the block these are, in order */
    int axis_count;
    bool at_start;            /* a copy of what no block of the scope writes stands at the start of it, not before the nest */
    bool conditional;         /* some access is not made in every instance */
} Reindex;

/* Sets all but what concerns the copy, which is to stand beside the nest of loops that hold just the block; false after a refusal. */
bool reindex_begin(Schedule *sch, Reindex *reindex, const TreeNode *block, Buffer *buffer, bool writes);
/* The loops hold just the block; false after a refusal. */
bool reindex_check_nest(const Reindex *reindex);
/* Moves the place of the copy to where cache_read or cache_write would put it; false after a refusal. */
bool reindex_place(Reindex *reindex);
/* Where the range of ITER ends, if it is known not to start below 0; else NULL after a refusal. */
const Expr *reindex_axis_end(const Reindex *reindex, const Iter *iter);
/* INDICES (COUNT) mention axis number AXIS of the block. */
bool reindex_uses_axis(const Reindex *reindex, const Expr *const *indices, int count, int axis);
/* The copy has all that the block reads, or the buffer gets all that it wrote; false after a refusal. */
bool reindex_check(const Reindex *reindex);
/* Copies element by element over LOOPS and EXTENTS (LOOP_COUNT of them), in a block under NAME with ITERS (axis_count) for the axes; then the block
   uses the copy, and the scope allocates it. False after a refusal. */
bool reindex_apply(const Reindex *reindex, Str name, const Iter *iters, const Expr *const *bindings, const Expr *predicate,
                   const ForStmt *loops, int loop_count, Value *result);

#endif
