/* Debug information (-g): a line table that maps machine code to .tir lines, and the functions' names. */
#ifndef TIRC_CODEGEN_LLVM_DEBUG_H
#define TIRC_CODEGEN_LLVM_DEBUG_H

#include "codegen/llvm_gen.h"

/* Prepares UNIT's module for debug information, if the options ask for it; and completes it. */
void llvm_debug_open(LlvmUnit *unit);
void llvm_debug_close(LlvmUnit *unit);
/* Opens the scope of GEN's function, which begins at SPAN. */
void llvm_debug_begin(FuncGen *gen, Span span);
/* What is emitted from now on comes from SPAN. A place in no file leaves the location as it is. */
void llvm_debug_locate(FuncGen *gen, Span span);

#endif
