/* Sums of products of 8-bit integers by the target's dot-product instructions. */
#ifndef TIRC_CODEGEN_LLVM_LLVM_DOT_H
#define TIRC_CODEGEN_LLVM_LLVM_DOT_H

#include "codegen/llvm/llvm_gen.h"

/* One kind of dot product on the target. Each lane of 32 bits gains the sum of four products of bytes: A's times B's. The target may lack
   the mix of signs that is wanted. Then one operand's sign bits are flipped, which shifts its values by 128, and a second sum, of 128 times
   the other operand, is what the first one has too much. */
typedef struct {
    bool is_swapped;             /* the instruction takes B first */
    bool flips_first, flips_second; /* of the operands as the instruction takes them */
    const char *instruction;     /* the LLVM intrinsic, without the vector length */
    int bytes;                   /* of the longest vectors that it takes */
    bool is_x86;
} DotKind;

/* False where the target has no dot product. A_SIGNED, B_SIGNED: the operands are int8, not uint8. */
bool dot_kind(const LlvmTarget *target, bool a_signed, bool b_signed, DotKind *kind);
/* True when KIND has a form for vectors of BYTES bytes, or several of its longest ones make them up. */
bool dot_takes(const DotKind *kind, int bytes);
/* A running sum: <n x i32> in memory of the function, which LLVM turns into registers. EXCESS: what must be taken away in the end, or
   NULL. */
typedef struct {
    LLVMTypeRef type;
    LLVMValueRef sum, excess;
} DotSum;
DotSum dot_sum_begin(FuncGen *gen, const DotKind *kind, int bytes);
/* Adds the products of the vectors of bytes A and B. Bytes that are zero in both add nothing. */
void dot_sum_add(FuncGen *gen, const DotKind *kind, const DotSum *sum, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef dot_sum_value(FuncGen *gen, const DotSum *sum);

/* Emits the serial loop STMT by dot products; false, with nothing emitted, where it is no sum of products of bytes or the target has no
   instruction for it. Sums of integers wrap, so that their order does not change them. */
bool emit_dot_loop(FuncGen *gen, const Stmt *stmt);

#endif
