/* One instruction of x86-64 in the assembly that LLVM prints. */
#ifndef TIRC_CODEGEN_LLVM_MACHINE_INSTRUCTION_H
#define TIRC_CODEGEN_LLVM_MACHINE_INSTRUCTION_H

#include "codegen/llvm/machine_code.h"

typedef struct {
    unsigned kinds; /* 1 << CODE_LOAD | ... */
    int lanes, vector_bytes;
    double float_bytes;
    int result;       /* the number of the vector register that it writes; -1: none */
    uint32_t sources; /* the vector registers that it computes the result from: 1 << number | ... */
    bool adds;        /* it is a sum, product or the like of floats */
    Str callee;
} Instruction;

/* The instruction in [TEXT, END), with LLVM's comment behind it. */
Instruction instruction_read(Context *ctx, const char *text, const char *end);

#endif
