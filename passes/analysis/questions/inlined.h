/* A function in which calls of functions of the program are replaced by what they do. Private to callees.c. */
#ifndef TIRC_PASSES_ANALYSIS_QUESTIONS_INLINED_H
#define TIRC_PASSES_ANALYSIS_QUESTIONS_INLINED_H

#include "ir/stmt.h"

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

/* Two buffers of one memory that a call gives to parameters of which the callee writes one, and blocks that store to all elements of each; NULL where
   it cannot be told which these are. */
typedef struct {
    const Expr *call;
    const Func *callee;
    const Buffer *params[2];
    Block *elements[2];
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

#endif
