/* Shared by the primitives that rebuild loops: what they require of loops, guards on blocks, and bindings in simplest form. */
#ifndef TIRC_PASSES_SCHEDULE_CORE_LOOPS_H
#define TIRC_PASSES_SCHEDULE_CORE_LOOPS_H

#include "ir/walk.h"
#include "passes/arith/iter_map.h"
#include "passes/schedule/core/schedule.h"

/* The nodes of LOOPS, a list of loops, in their order; NULL after a refusal, as where one is given twice. */
const TreeNode **loops_given(Schedule *sch, const ValueList *loops);
/* VAR is that of one of the COUNT RANGES. */
bool loops_include(const VarRange *ranges, int count, const Var *var);
/* The domains of the loops around NODE up to its scope, outermost first; *COUNT of them. */
VarRange *loops_ranges_around(Schedule *sch, const TreeNode *node, int *count);
/* The same, and beyond a scope without axes, such as loop_partition makes, those around it too: what bindings at NODE may mention. */
VarRange *loops_ranges_outside(Schedule *sch, const TreeNode *node, int *count);
/* The domains of the COUNT loops. */
VarRange *loops_ranges(Schedule *sch, const TreeNode *const *loops, int count);
/* REGION of the block at NODE in terms of the loops around it, with the block's bindings put in, and the values of the lets of its scope
   around it; where such a value reads memory, the whole dimension. */
Region loops_bound_region(Schedule *sch, const TreeNode *node, Region region);
/* An analyzer that knows all that holds at NODE: the domains of all loops and block iterators around it, the predicates of the blocks, and
   sizes as >= 0. For proofs; not for expressions that are to be printed. */
Analyzer *loops_context(Schedule *sch, const TreeNode *node);
/* EXPR, to be worked out at NODE, with 1 for each divisor that may be 0: other loops over a size of 0, which the divisions come from, need not
   run for that. *RUNNING knows what holds where the loops around NODE run; NULL at first, it is made when it is needed. */
const Expr *loops_guard_divisors(Schedule *sch, const TreeNode *node, Analyzer **running, const Expr *expr);
/* CONCLUSION holds in all iterations of the COUNT nested LOOPS, outermost first, in which GIVEN (NULL: nothing) holds; false where this
   cannot be shown. */
bool loops_imply(Schedule *sch, const TreeNode *const *loops, int count, const Expr *given, const Expr *conclusion);

/* LOOP counts from 0. */
bool loop_starts_at_zero(Schedule *sch, const TreeNode *loop);
/* LOOP with its start taken into its body, so that it counts from 0 under the same variable; NULL after a refusal. Nodes that were found
   before are invalid where the loop did not count from 0. */
const TreeNode *loops_count_from_zero(Schedule *sch, const TreeNode *loop);

/* A break or continue that leaves or continues the loop at NODE; NULL: there is none. */
const Expr *loop_jump(const TreeNode *node);

/* --- What split, fuse and their like require of a loop; false after a refusal --- */
/* LOOP has no annotation and is not bound to a thread. */
bool check_loop_is_plain(Schedule *sch, const TreeNode *loop);
/* The bounds of LOOP read no memory that statements of PARTS (COUNT) write, and have no effect: a step may evaluate them anywhere in these. */
bool check_bounds_are_kept(Schedule *sch, const TreeNode *loop, const Stmt *const *parts, int count);
/* The same for each of the COUNT loops and for all that TOP, a statement around them, holds. */
bool check_bounds_of_nest_are_kept(Schedule *sch, const TreeNode *const *loops, int count, const Stmt *top);
/* No break or continue below LOOP leaves or continues it: such a statement would act on another loop afterwards. */
bool check_loop_has_no_jump(Schedule *sch, const TreeNode *loop);
/* A guard on the topmost blocks below LOOP guards all that LOOP does: no statement, and no expression with an effect or a load, lies
   outside of blocks. */
bool check_loop_is_guardable(Schedule *sch, const TreeNode *loop);

/* --- Building --- */
/* Adds the sides of the conjunction PREDICATE to PARTS, from the left; constant true adds nothing. */
void loops_split_conjunction(Context *ctx, const Expr *predicate, ExprList *parts);
/* STMT with CONDITION added by `and` to the predicate of each topmost block. */
const Stmt *loops_guard_blocks(Context *ctx, const Stmt *stmt, const Expr *condition);
/* STMT with the bindings of its topmost blocks (opaque blocks are passed through) written in simplest form as maps of the loops in STMT and
   of OUTER (COUNT of them). Iterators of extent 1 are kept in them when PRESERVE_UNIT_ITERS. */
const Stmt *loops_simplify_bindings(Schedule *sch, const Stmt *stmt, const VarRange *outer, int count, bool preserve_unit_iters);
/* STMT with VALUES in place of variables of loops. A block that mentions such a variable itself, which one without axes may, comes to read
   what its value reads, and states so. */
const Stmt *loops_substitute(Context *ctx, Subst *values, const Stmt *stmt);
/* A serial loop from 0. */
const Stmt *loops_serial(Context *ctx, Var *var, const Expr *extent, const Stmt *body, Span span);

#endif
