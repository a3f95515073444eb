/* A function in which calls of functions of the program are replaced by what they do. Private to callees.c and the files inlined*.c. */
#ifndef TIRC_PASSES_ANALYSIS_QUESTIONS_INLINED_H
#define TIRC_PASSES_ANALYSIS_QUESTIONS_INLINED_H

#include "ir/walk.h"

/* One call, and the blocks that stand in its place. */
typedef struct {
    const Expr *call;
    const Func *callee;
    const BlockStmt *around; /* the innermost block around, which declares regions */
    Block *body;             /* the callee's body, in terms of the caller's buffers */
    Block *writes, *reads;   /* stores to all that the block around declares to write, and to read */
    Map memories;            /* data variables of the memory that the call is given pointers to */
    bool renamed;            /* elements are named by other indices than the program's */
} InlinedCall;

/* Two parameters that a call may give one memory, and of which the callee may write one; blocks that store to all elements of each, as parts of the
   buffers that are passed and as parts of flat memory. NULL where it cannot be told which these are. */
typedef struct {
    const Expr *call;
    const Func *callee;
    const char *params[2];
    bool certain; /* it is one memory */
    bool written; /* the callee writes to one of them */
    Block *elements[2], *flat_elements[2];
} SharedMemory;

typedef struct {
    const Func *func;
    VEC(InlinedCall) calls;
    VEC(SharedMemory) shared; /* of all calls of functions of the module */
    Map known; /* data variables of the buffers of the caller */
} InlinedFunc;

/* FUNC with those of its calls of functions of MODULE inlined that are statements of their own, in blocks that declare regions, and whose callees
   use their parameters in loads and stores alone, with a layout that can be told from that of the memory passed. What calls pass twice stands before
   them. */
InlinedFunc func_inline_calls(Context *ctx, const Module *module, const Func *func);

/* --- what inlined.c, inlined_place.c and inlined_shared.c know of each other --- */

typedef struct {
    Context *ctx;
    const Module *module;
    const Func *func;
    Map buffers; /* data variable -> the first buffer over it */
    Map lets;    /* Var of a pointer -> its value */
    const BlockStmt *block; /* innermost */
    InlinedFunc *result;
    int depth; /* of calls in one another */
} Inlining;

/* A parameter of the callee, and where its first element lies in the memory that is passed. */
typedef struct {
    const Buffer *param;
    Buffer layout; /* its shape and strides in terms of the caller */
    Buffer *target;
    const Expr **start; /* target->ndim */
    const Expr **strides; /* NULL: those of the last dimensions of the target; else param->ndim, in elements of a flat target */
    bool flat;            /* the target is a buffer that the program does not have */
} Placed;
typedef VEC(Placed) PlacedList;

/* inlined_place.c: adds PARAM of the callee, whose sizes are those of SUBST, and which the call gives POINTER; false where it cannot be told where
   PARAM lies. FLAT: as a part of the flat memory in any case. */
bool inlined_place_param(const Inlining *inlining, Subst *subst, const Buffer *param, const Expr *pointer, bool flat, PlacedList *list);

/* inlined.c */
/* The values of the scalar parameters and sizes of CALLEE; false where one is no number. */
bool inlined_scalars(const Inlining *inlining, const Expr *call, const Func *callee, Subst *subst);
/* BODY of the callee over the memory that the call passes; NULL where that cannot be told. */
const Stmt *inlined_over_memory(Context *ctx, const Stmt *body, const PlacedList *placed);
/* A store to each element of REGION that its buffer has: no element is meant that it does not have. */
const Stmt *inlined_store_to_region(Context *ctx, const Region *region);
/* BODY in a new block *BLOCK called NAME. */
const Stmt *inlined_block(Context *ctx, const Stmt *body, const char *name, Block **block);

/* inlined_shared.c: stores to the elements of those parameters of CALLEE that CALL gives one memory, where the callee may write one of them. */
const Stmt *inlined_shared(Inlining *inlining, const Expr *call, const Func *callee);

#endif
