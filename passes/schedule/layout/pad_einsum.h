/* Inside pad_einsum: the block, what it accesses, and whether padding changes what it computes. */
#ifndef TIRC_PASSES_SCHEDULE_LAYOUT_PAD_EINSUM_H
#define TIRC_PASSES_SCHEDULE_LAYOUT_PAD_EINSUM_H

#include "passes/schedule/core/schedule.h"

/* A buffer that the block accesses, at the same indices everywhere. */
typedef struct {
    Buffer *buffer;
    const Expr *const *indices; /* each an axis of the block or a constant */
    bool written;
    Buffer *padded; /* NULL: it needs no padding */
} Operand;

typedef struct {
    Schedule *sch;
    const TreeNode *node;
    const BlockStmt *block;
    Operand *operands;
    int operand_count;
    const char *fault;        /* what the block does that no einsum does */
    const TreeNode **loops;   /* around the block in its scope, outermost first */
    int loop_count;
    const TreeNode *top;      /* the outermost of them, or the block */
    const Expr **extents;     /* of each axis, padded */
    const TreeNode **padded_loops; /* of each axis that becomes longer: its loop; else NULL */
    bool any;                 /* some axis becomes longer */
} Einsum;

typedef VEC(const Stmt *) StmtList;
typedef VEC(Block *) BlockList;

/* Some index of OPERAND is an axis that becomes longer. */
bool einsum_pads(const Einsum *step, const Operand *operand);
/* The loop that AXIS is bound to, for it alone, over its domain; NULL: there is none. */
const TreeNode *einsum_own_loop(const Einsum *step, int axis);
/* What the padding holds. */
const Expr *einsum_zero(Context *ctx, DType type);
/* The instances beyond the old domain change nothing that is read, and all that is copied back is written; false after a refusal. */
bool einsum_check(Einsum *step);

#endif
