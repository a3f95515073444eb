/* What a program certainly does wrong, whatever its inputs are. */
#ifndef TIRC_PASSES_ANALYSIS_QUESTIONS_FAULTS_H
#define TIRC_PASSES_ANALYSIS_QUESTIONS_FAULTS_H

#include "passes/analysis/model/access.h"

typedef struct {
    Span span;
    const char *text; /* "A[16] is read at i = 15, out of the bounds of 'A'"; in ctx->arena */
} Fault;
typedef VEC(Fault) FaultList;

/* The faults of FUNC, in program order, at most one for each access and axis: accesses out of bounds or outside of the declared regions of
   a block around them, and iterators bound to values outside of their domains; buffers that are written
   and whose strides make one cell of two elements. Only those that some iteration commits, for all sizes for
   which the statement runs at all. Not looked at: calls, loops without a known number of iterations, vectors, views of another layout. */
FaultList faults_collect(Context *ctx, const Func *func);

#endif
