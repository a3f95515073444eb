/* Ways out of a function. */
#include "codegen/llvm_gen.h"
#include "codegen/llvm_runtime.h"

void emit_return(FuncGen *gen, LLVMValueRef code)
{
    emit_free_heap(gen, 0);
    LLVMBuildRet(gen->builder, code);
    emit_at(gen, emit_block(gen, "unreachable"));
}

/* Tells LLVM that the first target of BRANCH is hardly ever taken. */
static void mark_unlikely(FuncGen *gen, LLVMValueRef branch)
{
    LLVMContextRef llvm = gen->build->llvm;
    LLVMMetadataRef rare = LLVMValueAsMetadata(LLVMConstInt(gen->build->i32, 1, false));
    LLVMMetadataRef usual = LLVMValueAsMetadata(LLVMConstInt(gen->build->i32, 1 << 20, false));
    LLVMMetadataRef weights[] = {LLVMMDStringInContext2(llvm, "branch_weights", sizeof "branch_weights" - 1), rare, usual};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(llvm, "prof", sizeof "prof" - 1), LLVMMetadataAsValue(llvm, LLVMMDNodeInContext2(llvm, weights, 3)));
}

void emit_fail_if(FuncGen *gen, LLVMValueRef failed, const char *message)
{
    LLVMBasicBlockRef fail = emit_block(gen, "fail"), go_on = emit_block(gen, "checked");
    mark_unlikely(gen, LLVMBuildCondBr(gen->builder, failed, fail, go_on));
    emit_at(gen, fail);
    LLVMValueRef code = emit_runtime_error(gen, message);
    emit_free_heap(gen, 0);
    LLVMBuildRet(gen->builder, code);
    emit_at(gen, go_on);
}
