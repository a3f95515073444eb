/* Calls that compiled code makes into the runtime (runtime/tirc_rt.h). No other file knows the names and types of that interface. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_RUNTIME_H
#define TIRC_CODEGEN_LLVM_LLVM_RUNTIME_H

#include "codegen/llvm/llvm_gen.h"

/* SIZE (i64) bytes aligned to ALIGNMENT, or null. */
LLVMValueRef emit_runtime_alloc(FuncGen *gen, LLVMValueRef size, unsigned alignment);
void emit_runtime_free(FuncGen *gen, LLVMValueRef block);
/* True for a value that emit_runtime_alloc made. */
bool is_runtime_block(LLVMValueRef value);
/* Sets the text of tirc_last_error; the code to return (i32). */
LLVMValueRef emit_runtime_error(FuncGen *gen, const char *message);
/* Runs BODY, of llvm_parallel_body_type, over [BEGIN, END) in parallel; 0 or the code of a body that failed (i32). */
LLVMValueRef emit_runtime_parallel_for(FuncGen *gen, LLVMValueRef begin, LLVMValueRef end, LLVMValueRef body, LLVMValueRef closure);
/* i32 (i64 begin, i64 end, ptr closure) */
LLVMTypeRef llvm_parallel_body_type(const LlvmBuild *build);

#endif
