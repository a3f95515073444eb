/* See llvm_registers.h. LLVM's C interface does not tell features: the host lists all of its own; for a processor that was named, the
   assembly of one vector addition tells. */
#include "codegen/llvm_registers.h"

#include <string.h>

/* How FEATURES mention NAME last: '+', '-', or 0 for not at all. */
static char feature_sign(const char *features, const char *name)
{
    char sign = 0;
    size_t length = strlen(name);
    for (const char *at = features; at && *at; at = strchr(at, ','), at += at != NULL)
        if (!strncmp(at + 1, name, length) && (at[1 + length] == ',' || !at[1 + length]))
            sign = *at;
    return sign;
}

/* The assembly of an addition of two vectors of 64 bytes. */
static LLVMMemoryBufferRef compile_addition(const LlvmTarget *target, LLVMContextRef llvm)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("registers", llvm);
    llvm_target_set_module(target, module);
    LLVMTypeRef vector = LLVMVectorType(LLVMFloatTypeInContext(llvm), 16), params[] = {vector, vector};
    LLVMValueRef function = LLVMAddFunction(module, "add", LLVMFunctionType(vector, params, 2, false));
    llvm_target_set_function(target, function);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(llvm, function, ""));
    LLVMBuildRet(builder, LLVMBuildFAdd(builder, LLVMGetParam(function, 0), LLVMGetParam(function, 1), ""));
    LLVMDisposeBuilder(builder);
    char *message = NULL;
    LLVMMemoryBufferRef assembly = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(target->machine, module, LLVMAssemblyFile, &message, &assembly))
        LLVMDisposeMessage(message);
    LLVMDisposeModule(module);
    return assembly;
}

static int bytes_by_assembly(const LlvmTarget *target)
{
    LLVMContextRef llvm = LLVMContextCreate();
    LLVMMemoryBufferRef assembly = compile_addition(target, llvm);
    int bytes = 16;
    if (assembly) {
        const char *text = LLVMGetBufferStart(assembly);
        bytes = strstr(text, "zmm") ? 64 : strstr(text, "ymm") ? 32 : 16;
        LLVMDisposeMemoryBuffer(assembly);
    }
    LLVMContextDispose(llvm);
    return bytes;
}

int llvm_vector_bytes(const LlvmTarget *target)
{
    if (strcmp(target->arch, "x86_64"))
        return 16;
    char avx512 = feature_sign(target->features, "avx512f"), avx = feature_sign(target->features, "avx");
    if (!avx512 || !avx)
        return bytes_by_assembly(target);
    return avx512 == '+' ? 64 : avx == '+' ? 32 : 16;
}
