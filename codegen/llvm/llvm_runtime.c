/* See llvm_runtime.h. */
#include "codegen/llvm/llvm_runtime.h"

#include <string.h>

static const char alloc_name[] = "tirc_alloc";

LLVMValueRef emit_runtime_alloc(FuncGen *gen, LLVMValueRef size, unsigned alignment)
{
    LLVMValueRef args[] = {size, LLVMConstInt(gen->build->i64, alignment, false)};
    LLVMValueRef block = emit_c_call(gen, alloc_name, gen->build->pointer, args, 2);
    LLVMAddCallSiteAttribute(block, LLVMAttributeReturnIndex, llvm_attribute(gen->build, "noalias", 0));
    LLVMAddCallSiteAttribute(block, LLVMAttributeReturnIndex, llvm_attribute(gen->build, "align", alignment));
    return block;
}

void emit_runtime_free(FuncGen *gen, LLVMValueRef block)
{
    emit_c_call(gen, "tirc_free", gen->build->void_type, &block, 1);
}

bool is_runtime_block(LLVMValueRef value)
{
    size_t length;
    return LLVMIsACallInst(value) && !strcmp(LLVMGetValueName2(LLVMGetCalledValue(value), &length), alloc_name);
}

LLVMValueRef emit_runtime_error(FuncGen *gen, const char *message)
{
    LLVMValueRef text = emit_text(gen, message);
    return emit_c_call(gen, "tirc_set_error", gen->build->i32, &text, 1);
}

LLVMTypeRef llvm_parallel_body_type(const LlvmBuild *build)
{
    LLVMTypeRef types[] = {build->i64, build->i64, build->pointer};
    return LLVMFunctionType(build->i32, types, 3, false);
}

LLVMValueRef emit_runtime_parallel_for(FuncGen *gen, LLVMValueRef begin, LLVMValueRef end, LLVMValueRef body, LLVMValueRef closure)
{
    LLVMValueRef args[] = {begin, end, body, closure};
    return emit_c_call(gen, "tirc_parallel_for", gen->build->i32, args, 4);
}
