/* Accesses to flat buffers with symbolic strides: B[i * m + j] and B[k * m + l] are one element just where i is k and j is l, with j and l
   in [0, m). isl knows no products of sizes, but it compares i and k. */
#ifndef TIRC_PASSES_ANALYSIS_NORMAL_ACCESS_ROWS_H
#define TIRC_PASSES_ANALYSIS_NORMAL_ACCESS_ROWS_H

#include "passes/analysis/normal/rows.h"

/* Names the elements of flat buffers by digits in ACCESSES, all those of FUNC, where each access is shown to have digits in their ranges:
   then two of them are of one element just where all digits agree. */
void accesses_split_rows(Context *ctx, const Func *func, AccessList *accesses);
/* ACCESS, or ACCESSES, in coordinates of the program's buffers. A cheap argument may hold for these alone: it takes the guard
   f < n * m for what it is only where an index is f. */
Access access_unsplit(const Access *access);
AccessList accesses_unsplit(Context *ctx, const AccessList *accesses);

#endif
