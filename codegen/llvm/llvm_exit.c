/* Ways out of a function. */
#include "codegen/llvm/llvm_gen.h"
#include "codegen/llvm/llvm_runtime.h"

/* Frees the heap block at INDEX and those outside of it, then returns CODE. */
static void leave_from(FuncGen *gen, int index, LLVMValueRef code)
{
    if (index < 0) {
        LLVMBuildRet(gen->builder, code);
        return;
    }
    HeapBlock *block = &gen->heap_blocks.data[index];
    LLVMBasicBlockRef from = LLVMGetInsertBlock(gen->builder);
    bool first = !block->cleanup;
    if (first)
        block->cleanup = emit_block(gen, "cleanup");
    LLVMBuildBr(gen->builder, block->cleanup);
    if (first) {
        emit_at(gen, block->cleanup);
        block->code = LLVMBuildPhi(gen->builder, gen->build->i32, "code");
        emit_runtime_free(gen, block->memory);
        leave_from(gen, index - 1, block->code);
    }
    LLVMAddIncoming(block->code, &code, &from, 1);
}

void emit_leave(FuncGen *gen, LLVMValueRef code)
{
    leave_from(gen, gen->heap_blocks.count - 1, code);
}

void emit_return(FuncGen *gen, LLVMValueRef code)
{
    emit_leave(gen, code);
    emit_at(gen, emit_block(gen, "unreachable"));
}

void emit_unlikely(FuncGen *gen, LLVMValueRef branch)
{
    LLVMContextRef llvm = gen->build->llvm;
    LLVMMetadataRef rare = LLVMValueAsMetadata(LLVMConstInt(gen->build->i32, 1, false));
    LLVMMetadataRef usual = LLVMValueAsMetadata(LLVMConstInt(gen->build->i32, 1 << 20, false));
    LLVMMetadataRef weights[] = {LLVMMDStringInContext2(llvm, "branch_weights", sizeof "branch_weights" - 1), rare, usual};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(llvm, "prof", sizeof "prof" - 1),
                    LLVMMetadataAsValue(llvm, LLVMMDNodeInContext2(llvm, weights, 3)));
}

void emit_fail_if(FuncGen *gen, LLVMValueRef failed, const char *message)
{
    LLVMBasicBlockRef fail = emit_block(gen, "fail"), go_on = emit_block(gen, "checked");
    emit_unlikely(gen, LLVMBuildCondBr(gen->builder, failed, fail, go_on));
    emit_at(gen, fail);
    emit_leave(gen, emit_runtime_error(gen, message));
    emit_at(gen, go_on);
}
