/* A reduction block on its way to two: shared by rfactor and its predicates. */
#ifndef TIRC_PASSES_SCHEDULE_REDUCE_RFACTOR_INTERNAL_H
#define TIRC_PASSES_SCHEDULE_REDUCE_RFACTOR_INTERNAL_H

#include "passes/analysis/model/reduction.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/schedule.h"

typedef VEC(Iter) IterList;

typedef struct {
    Schedule *sch;
    const TreeNode *loop, *block, *scope;
    const TreeNode **loops; /* around the block, outermost first */
    int loop_count;
    int shared; /* so many of them, from outside, hold other statements too */
    const Reduction *reduction;
    int axis;                           /* where the partial results get their new dimension */
    Buffer *partial[MOST_REDUCED];      /* one for each target */
    Block *partial_block;
    bool started;                       /* all partial results that are combined certainly are */
} Factoring;

/* Finds the block, its scope and the loops around it; false after a refusal. */
bool rfactor_find_nest(Factoring *f);
/* The partial results may be computed in front of the outermost loop; false after a refusal. */
bool rfactor_check_inputs_stay(Factoring *f);
/* Those of one point do not take the place of another point's, which are combined later; false after a refusal. */
bool rfactor_check_results_stay(Factoring *f);
/* Puts PARTIAL, the nest of the partial results over all loops, and COMBINING, over those that are not shared, into the program. */
void rfactor_place(Factoring *f, const Stmt *partial, const Stmt *combining);

/* An axis of KIND of BLOCK is bound to something that VAR, a loop, takes part in. */
bool rfactor_loop_is_used(const BlockStmt *block, const Var *var, IterKind kind);
/* Whether the combination runs without LOOP: what is left of the reduction. */
bool rfactor_loop_is_reduced_before(const Factoring *f, const TreeNode *loop);
/* What the combination keeps of PREDICATE, the block's: the parts that speak of no reduction loop, and for the others which partial results
   have any update at all. */
const Expr *rfactor_remaining_predicate(const Factoring *f, const Expr *predicate);
/* Each partial result that is combined where REMAINING holds, which that gave, is started by an update in the first iterations of the loops
   that are reduced before: these are no empty loops, and the block's predicate holds there. A cheap argument; false where it does not do. */
bool rfactor_first_iterations_run(const Factoring *f, const Expr *remaining);

/* INDICES of a target with LANE, which tells partial results apart, inserted. */
const Expr **rfactor_indices(Factoring *f, const Expr *const *indices, int count, const Expr *lane);
/* BODY with its lets, which hold the new values of two targets, named after the buffers that these go to: v_<buffer>. */
const Stmt *rfactor_name_lets(Context *ctx, const Stmt *body);
/* What combines the partial results of LANE into the targets. */
const Stmt *rfactor_combining_body(Factoring *f, const Expr *lane);

#endif
