/* The pass `complete`: from the program that a text says (surface) to one whose blocks all have their regions (scheduled).

     with T.block("C"):                              with T.block("C"):
         vi = T.axis.spatial(16, i)                      vi = T.axis.spatial(16, i)
         C[vi] = A[vi, 0] + A[vi, 1]         ->          T.reads(A[vi, 0:2])
                                                         T.writes(C[vi])
                                                         C[vi] = A[vi, 0] + A[vi, 1]

   Stated regions stay as they are. The regions of a root block stay empty. Pointers of lets are followed (see pointers.h). */
#ifndef TIRC_PASSES_REGIONS_COMPLETE_H
#define TIRC_PASSES_REGIONS_COMPLETE_H

#include "ir/stmt.h"

/* FUNC with the regions that its text leaves out; FUNC itself where it leaves out none. NULL after a diagnostic: a pointer hides what is accessed. */
const Func *complete_func(Context *ctx, const Func *func);
/* MODULE with all its functions complete, those of its tensor intrinsics too; NULL after diagnostics, and for NULL. Of blocks that call functions
   of it nothing is known of these calls (CALLEES_UNKNOWN). */
const Module *complete_module(Context *ctx, const Module *module);

/* The calls of functions of MODULE that stand in BLOCK itself, not in a block inside. */
ExprList block_callee_calls(Context *ctx, const Module *module, const BlockStmt *block);
/* STMT holds such a call. */
bool stmt_calls_functions(Context *ctx, const Module *module, const Stmt *stmt);

/* FUNC after a step, before which it was BEFORE (NULL: not known): the regions of all blocks that keep theirs inferred (block_keeps_regions_inferred)
   as its printed text gives them. FUNC itself where none differs. */
const Func *func_infer_regions(Context *ctx, const Func *before, const Func *func);
/* The buffers that FUNC declares: data variable -> the first Buffer over it. */
Map func_buffers_by_data(Context *ctx, const Func *func);

#endif
