/* How much arithmetic a program does. */
#ifndef TIRC_DRIVER_FLOPS_H
#define TIRC_DRIVER_FLOPS_H

#include "ir/argdata.h"

/* Floating point additions, subtractions, multiplications and divisions that one run of FUNC with the sizes of DATA executes; -1 when it
   depends on more than sizes. */
double flops_count(const ArgData *data, const Func *func);

#endif
