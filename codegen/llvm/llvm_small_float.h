/* Floats of up to 8 bits, as i8, to and from float32. */
#ifndef TIRC_CODEGEN_LLVM_SMALL_FLOAT_H
#define TIRC_CODEGEN_LLVM_SMALL_FLOAT_H

#include "codegen/llvm/llvm_gen.h"

/* VALUE of the small type DTYPE as float32: exact. */
LLVMValueRef emit_small_to_float(FuncGen *gen, LLVMValueRef value, DType dtype);
/* VALUE, a float32, rounded to the small type DTYPE; see ir/small_float.h. */
LLVMValueRef emit_float_to_small(FuncGen *gen, LLVMValueRef value, DType dtype);

#endif
