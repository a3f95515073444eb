/* Loads and stores of elements at unrelated addresses.

   Gathers go in pieces whose lanes are a power of two and fit one register: where LLVM has to widen a gather by itself, it may add one
   without any lane, for which LLVM 19 picks registers that the instruction does not allow. */
#include "codegen/llvm_gen.h"

enum { GATHER_LANES = 16 };

LLVMValueRef emit_conditional_load(FuncGen *gen, LLVMTypeRef type, LLVMValueRef pointer, unsigned alignment, LLVMValueRef condition)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(gen->builder), load = NULL, done = NULL;
    if (condition) {
        load = emit_block(gen, "load");
        done = emit_block(gen, "load.done");
        LLVMBuildCondBr(gen->builder, condition, load, done);
        emit_at(gen, load);
    }
    LLVMValueRef value = LLVMBuildLoad2(gen->builder, type, pointer, "");
    LLVMSetAlignment(value, alignment);
    if (!condition)
        return value;
    emit_jump(gen, done);
    emit_at(gen, done);
    return emit_phi(gen, LLVMConstNull(type), before, value, load);
}

/* MASK, or all LANES. */
static LLVMValueRef full_mask(FuncGen *gen, LLVMValueRef mask, int lanes)
{
    return mask ? mask : llvm_const_splat(LLVMConstInt(gen->build->i1, 1, false), lanes);
}

static LLVMValueRef slice(FuncGen *gen, LLVMValueRef vector, int first, int count)
{
    int picks[GATHER_LANES];
    if (!vector || count == llvm_lanes(LLVMTypeOf(vector)))
        return vector;
    for (int i = 0; i < count; i++)
        picks[i] = first + i;
    return emit_shuffle(gen, vector, NULL, picks, count);
}

/* TARGET with the lanes from FIRST on taken from PIECE. */
static LLVMValueRef place(FuncGen *gen, LLVMValueRef target, LLVMValueRef piece, int first)
{
    int lanes = llvm_lanes(LLVMTypeOf(target)), count = llvm_lanes(LLVMTypeOf(piece)), *picks = ARENA_ARRAY(gen->ctx->arena, int, lanes);
    if (lanes == count)
        return piece;
    for (int i = 0; i < lanes; i++)
        picks[i] = i < count ? i : -1;
    LLVMValueRef widened = emit_shuffle(gen, piece, NULL, picks, lanes);
    for (int i = 0; i < lanes; i++)
        picks[i] = i >= first && i < first + count ? lanes + i - first : i;
    return emit_shuffle(gen, target, widened, picks, lanes);
}

static LLVMValueRef gather_piece(FuncGen *gen, LLVMTypeRef element, LLVMValueRef pointers, unsigned alignment, LLVMValueRef mask, int first,
                                 int count)
{
    LLVMTypeRef type = LLVMVectorType(element, (unsigned)count);
    pointers = slice(gen, pointers, first, count);
    mask = full_mask(gen, slice(gen, mask, first, count), count);
    LLVMValueRef args[] = {pointers, LLVMConstInt(gen->build->i32, alignment, false), mask, LLVMConstNull(type)};
    return emit_intrinsic2(gen, "llvm.masked.gather", type, LLVMTypeOf(pointers), args, 4);
}

LLVMValueRef emit_gather(FuncGen *gen, LLVMTypeRef type, LLVMValueRef pointers, unsigned alignment, LLVMValueRef mask)
{
    int lanes = llvm_lanes(type);
    LLVMTypeRef element = LLVMGetElementType(type);
    LLVMValueRef result = LLVMConstNull(type);
    for (int first = 0, count; first < lanes; first += count) {
        for (count = GATHER_LANES; count > lanes - first; count /= 2)
            continue;
        if (count > 1) {
            result = place(gen, result, gather_piece(gen, element, pointers, alignment, mask, first, count), first);
        } else {
            LLVMValueRef condition = mask ? emit_lane(gen, mask, first) : NULL;
            result = emit_with_lane(gen, result, emit_conditional_load(gen, element, emit_lane(gen, pointers, first), alignment, condition),
                                    first);
        }
    }
    return result;
}

void emit_scatter(FuncGen *gen, LLVMValueRef value, LLVMValueRef pointers, unsigned alignment, LLVMValueRef mask)
{
    int lanes = llvm_lanes(LLVMTypeOf(value));
    LLVMValueRef args[] = {value, pointers, LLVMConstInt(gen->build->i32, alignment, false), full_mask(gen, mask, lanes)};
    emit_intrinsic2(gen, "llvm.masked.scatter", LLVMTypeOf(value), LLVMTypeOf(pointers), args, 4);
}
