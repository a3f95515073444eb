/* Debug information (-g): a line table that maps machine code to .tir lines, functions, their parameters, loop variables,
   lets and axes of blocks. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_DEBUG_H
#define TIRC_CODEGEN_LLVM_LLVM_DEBUG_H

#include "codegen/llvm/llvm_gen.h"

/* Prepares UNIT's module for debug information, if the options ask for it; and completes it. */
void llvm_debug_open(LlvmUnit *unit);
void llvm_debug_close(LlvmUnit *unit);
/* Opens the scope of GEN's function, which begins at SPAN. */
void llvm_debug_begin(FuncGen *gen, Span span);
/* What is emitted from now on comes from SPAN. A place in no file leaves the location as it is. */
void llvm_debug_locate(FuncGen *gen, Span span);
/* Opens a scope for variables that begins at SPAN; gives the one around it, which llvm_debug_leave goes back to. */
LLVMMetadataRef llvm_debug_enter(FuncGen *gen, Span span);
void llvm_debug_leave(FuncGen *gen, LLVMMetadataRef outer);
/* From here on NAME stands for VALUE, of VAR's type. ARGUMENT: its number among the parameters from 1 on; 0: a local variable. */
void llvm_debug_variable(FuncGen *gen, Str name, const Var *var, LLVMValueRef value, unsigned argument);
/* Describes the axes that the store at SPAN is seen from, in a scope of their own; gives the one around it, for llvm_debug_leave. What is emitted
   from now on comes from SPAN. */
LLVMMetadataRef llvm_debug_axes(FuncGen *gen, Span span);

#endif
