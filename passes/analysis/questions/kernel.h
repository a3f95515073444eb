/* A kernel seen as its threads run it: every access below one nest of all its thread indices. Private to passes/analysis.

   Before                                        After
     for bx in blockIdx.x:                         for blockIdx.x, threadIdx.x:
         block X                                       X
         for tx in threadIdx.x: block Y                Y, with tx = threadIdx.x
         for tx in threadIdx.x: block Z                Z, with tx = threadIdx.x

   Only the ways to the accesses are rewritten, not the program. */
#ifndef TIRC_PASSES_ANALYSIS_QUESTIONS_KERNEL_H
#define TIRC_PASSES_ANALYSIS_QUESTIONS_KERNEL_H

#include "passes/analysis/pairs/pair.h"

typedef struct {
    Str name;     /* "threadIdx.x" */
    bool is_block;
    Var *var;     /* its index: what the loops with this tag count */
    const ForStmt *loop; /* the first one whose extent is known where the kernel begins; NULL: there is none */
    const Stmt *loop_stmt;
} KernelTag;

typedef struct {
    Context *ctx;
    const Stmt *stmt; /* its outermost thread-bound loop */
    VEC(KernelTag) tags; /* those of blocks first */
    /* Its accesses, and those of the rest of the function that may matter to it: to what it touches that is no global argument, to what is
       read for a value that is bound around it, and fences. As they are and as the threads run them: one to one, in program order. */
    AccessList original, accesses;
    Map sizes;
    Map allocated; /* data variables that blocks inside of the kernel allocate */
} Kernel;

/* The kernel of SET's function whose outermost thread-bound loop is STMT. No accesses where a tag has no loop with an extent that is known
   where the kernel begins. In CTX's arena. */
Kernel kernel_of_loop(const KernelSet *set, const Stmt *stmt);
/* The access number INDEX of KERNEL runs in the kernel. */
bool kernel_holds(const Kernel *kernel, int index);
/* Who sees the memory of ACCESS: what the kernel itself allocates, each thread allocates. */
ScopeClass kernel_scope(const Kernel *kernel, const Access *access);

#endif
