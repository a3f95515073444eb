/* What calls of code outside of the program may touch: the regions that the block around declares, and what they are given pointers to. */
#ifndef TIRC_PASSES_ANALYSIS_MODEL_CALL_REGIONS_H
#define TIRC_PASSES_ANALYSIS_MODEL_CALL_REGIONS_H

#include "passes/analysis/model/reduction.h"

/* The data variable of the memory that VAR, the data variable of a buffer or view, lies in. */
typedef const Var *(*MemoryOf)(const void *data, const Var *var);
typedef VEC(Buffer *) BufferList;
/* CALL in FUNC stays inside of the regions of BLOCK around it (NULL: none), and of the buffers *BEYOND that it is given pointers to but that
   BLOCK declares nothing of. Only the text can say so of foreign code: regions that are inferred follow from what is seen of the call. */
bool call_keeps_regions(Context *ctx, const Func *func, const BlockStmt *block, const Expr *call, MemoryOf memory_of, const void *data, BufferList *beyond);
/* CALL, which stays inside of the regions of BLOCK around it, is given a pointer that may lead to the memory of TARGET, a buffer's data
   variable: to TARGET itself, or to memory that the block does not declare. */
bool call_may_reach(const BlockStmt *block, const Expr *call, const Var *target, MemoryOf memory_of, const void *data);
/* The same for one of the targets of REDUCTION. */
bool call_may_reach_target(const BlockStmt *block, const Expr *call, const Reduction *reduction, MemoryOf memory_of, const void *data);

#endif
