/* Lowered programs in the form in which the reference prints them: launches of threads, and accesses of one dimension whose indices are
   products and sums as they are written. */
#ifndef TIRC_PASSES_LOWER_MEMORY_FLAT_FORM_H
#define TIRC_PASSES_LOWER_MEMORY_FLAT_FORM_H

#include "passes/lower/core/state.h"

/* The name of the variable that is the thread index THREAD: threadIdx_x of "threadIdx.x". */
Str thread_name(Context *ctx, Str thread);
/* STMT with its loops over threads as launches; virtual threads are loops. */
const Stmt *launch_threads(Context *ctx, const Stmt *stmt);

/* The flat buffers of a function. */
typedef struct {
    Context *ctx;
    bool declares;       /* declarations stay, of flat buffers; buffers that are flat already stay themselves */
    Map flat;            /* Buffer -> Buffer of one dimension over the same memory */
    VEC(Buffer *) order; /* the flat ones in the order of their first use */
} FlatBuffers;
/* STMT with accesses of one dimension, to buffers that FLAT then knows; without FLAT->declares nothing declares them. */
const Stmt *flat_accesses(FlatBuffers *flat, const Stmt *stmt);

#endif
