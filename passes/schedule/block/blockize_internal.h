/* One block divided into an outer and an inner part: shared by blockize over a loop and over a list of blocks. */
#ifndef TIRC_PASSES_SCHEDULE_BLOCK_BLOCKIZE_INTERNAL_H
#define TIRC_PASSES_SCHEDULE_BLOCK_BLOCKIZE_INTERNAL_H

#include "passes/analysis/model/access_point.h"
#include "ir/walk.h"
#include "passes/arith/iter_map.h"
#include "passes/schedule/core/schedule.h"

typedef VEC(Iter) IterList;
typedef VEC(Region) RegionVec;

typedef struct {
    Schedule *sch;
    Analyzer *an;
    const Stmt *block_stmt;
    const TreeNode **loops; /* the inner loops, outermost first */
    int loop_count;
    bool preserve_unit_iters;
    SubspaceDivision division;
    IterList outer_iters, inner_iters;
    ExprList outer_bindings, inner_bindings;
    Subst subst;     /* iterators of the block -> outer and inner ones */
    BlockStmt inner; /* the block with the inner iterators */
    Region *reads, *writes; /* of the original block, substituted */
} Blockizing;

/* Divides the block by the OUTSIDE loops and its inner loops and derives the new iterators; false when it does not divide. */
bool blockize_prepare(Blockizing *b, const VarRange *outside, int outside_count);
/* b->reads and b->writes anew, after b->subst changed. */
void blockize_substitute_regions(Blockizing *b);
/* The inner block below its loops. */
const Stmt *blockize_inner(Blockizing *b);
/* Adds what the block reads and writes while the inner iterators run to the union per buffer, in the declared order or BACKWARDS. */
void blockize_add_regions(Blockizing *b, bool backwards, RegionVec *reads, RegionVec *writes);

#endif
