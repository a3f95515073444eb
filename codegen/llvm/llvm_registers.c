/* See llvm_registers.h. */
#include "codegen/llvm/llvm_registers.h"

#include <string.h>

int llvm_vector_bytes(const LlvmTarget *target)
{
    if (strcmp(target->arch, "x86_64"))
        return 16;
    return llvm_target_sign(target, "avx512f") == '+' ? 64 : llvm_target_sign(target, "avx") == '+' ? 32 : 16;
}

VectorRegisters llvm_vector_registers(Context *ctx, const CodegenOptions *options)
{
    LlvmTarget target;
    if (!llvm_target_open(ctx, options, &target))
        return (VectorRegisters){0};
    bool is_x86 = !strcmp(target.arch, "x86_64"), is_known = is_x86 || !strcmp(target.arch, "aarch64");
    return (VectorRegisters){target.vector_bytes, is_known ? (is_x86 && target.vector_bytes < 64 ? 16 : 32) : 0};
}
