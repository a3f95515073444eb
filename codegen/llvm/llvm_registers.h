/* What the vector registers of a target are. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_REGISTERS_H
#define TIRC_CODEGEN_LLVM_LLVM_REGISTERS_H

#include "codegen/llvm/llvm_target.h"

/* The bytes of the widest vector register that code for TARGET uses: 64 with AVX-512, 32 with AVX, else 16. */
int llvm_vector_bytes(const LlvmTarget *target);
/* See backend.h. */
VectorRegisters llvm_vector_registers(Context *ctx, const CodegenOptions *options);

#endif
