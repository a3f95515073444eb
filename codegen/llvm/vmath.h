/* Elementary functions as inline polynomials, on scalars and on vectors of any number of lanes.

   Each function is one sequence of operations per lane: the scalar form and every vector form give the same bits, so a schedule does not
   change a result. No operation here carries fast-math flags. Where a target has no fused multiply-add, llvm.fmuladd rounds twice; the
   bounds hold there too. The bounds (docs/runtime.md, tests/vector-math) are in units in the last place of the correct result. */
#ifndef TIRC_CODEGEN_LLVM_VMATH_H
#define TIRC_CODEGEN_LLVM_VMATH_H

#include "codegen/llvm/llvm_gen.h"

/* OP on ARGS, float32 or float64 values of one type; NULL for an operation that has no inline form. */
LLVMValueRef vmath_emit(FuncGen *gen, Op op, LLVMValueRef *args);

#endif
