/* How much arithmetic a program does, and how much of its arguments it touches. */
#ifndef TIRC_DRIVER_FLOPS_H
#define TIRC_DRIVER_FLOPS_H

#include "interp/argdata.h"

/* The work of one run. Floating point additions, subtractions, multiplications and divisions, those of float64 apart from those of narrower
   types; calls of functions count nothing. KNOWN: they depend on nothing but sizes. BYTES: the sizes of the buffers among the arguments that
   are read, and once more of those that are written; a result that its block sets first is not read. */
typedef struct {
    double flops32, flops64, bytes;
    bool known;
} Work;

/* The work of FUNC with the sizes of DATA. */
Work work_count(const ArgData *data, const Func *func);

#endif
