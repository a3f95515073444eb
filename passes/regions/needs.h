/* What a function needs of the sizes that it is called with: an access that runs whatever its data are stays inside of its buffer.

     A: T.Buffer((n,)), B: T.Buffer((m,)), C: T.Buffer((T.max(n, m),))
     for i in range(T.max(n, m)):
         C[i] = A[i] + B[i]                   ->      T.max(n, m) - 1 < n,  T.max(n, m) - 1 < m

   Known are accesses of parameters at sums of loop variables, lanes and sizes, outside of conditions: their first and last places are reached.
   Steps of schedules hide some of them behind guards, so the needs are found before. */
#ifndef TIRC_PASSES_REGIONS_NEEDS_H
#define TIRC_PASSES_REGIONS_NEEDS_H

#include "ir/stmt.h"

/* FUNC with its needs; FUNC itself where they are known already. */
const Func *func_with_needs(Context *ctx, const Func *func);

#endif
