/* See llvm_registers.h. */
#include "codegen/llvm/llvm_registers.h"

#include <string.h>

int llvm_vector_bytes(const LlvmTarget *target)
{
    if (strcmp(target->arch, "x86_64"))
        return 16;
    return llvm_target_sign(target, "avx512f") == '+' ? 64 : llvm_target_sign(target, "avx") == '+' ? 32 : 16;
}
