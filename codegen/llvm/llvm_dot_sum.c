/* The dot-product instructions of the targets. See llvm_dot.h. */
#include <string.h>

#include "codegen/llvm/llvm_dot.h"

/* --- What the target has --- */

static bool target_has(const LlvmTarget *target, const char *feature)
{
    return llvm_target_sign(target, feature) == '+';
}

/* x86: unsigned times signed bytes only. What a feature builds on is asked for too: it may have been turned off. */
static bool x86_kind(const LlvmTarget *target, bool a_signed, bool b_signed, DotKind *kind)
{
    bool avx2 = target_has(target, "avx") && target_has(target, "avx2");
    bool wide = avx2 && target_has(target, "avx512f") && target_has(target, "avx512bw") &&
                target_has(target, "avx512vl") && target_has(target, "avx512vnni");
    if (!wide && !(avx2 && target_has(target, "avxvnni")))
        return false;
    bool is_swapped = a_signed && !b_signed;
    *kind = (DotKind){.is_swapped = is_swapped,
                      .flips_first = a_signed && b_signed,
                      .flips_second = !a_signed && !b_signed,
                      .instruction = "llvm.x86.avx512.vpdpbusd.",
                      .bytes = wide ? 64 : 32,
                      .is_x86 = true};
    return true;
}

/* AArch64: both signed or both unsigned. Of a mix the unsigned operand is flipped. */
static bool aarch64_kind(const LlvmTarget *target, bool a_signed, bool b_signed, DotKind *kind)
{
    if (llvm_target_sign(target, "neon") == '-' || !target_has(target, "dotprod"))
        return false;
    *kind = (DotKind){.flips_first = !a_signed && b_signed,
                      .flips_second = a_signed && !b_signed,
                      .instruction = a_signed || b_signed ? "llvm.aarch64.neon.sdot" : "llvm.aarch64.neon.udot",
                      .bytes = 16};
    return true;
}

bool dot_kind(const LlvmTarget *target, bool a_signed, bool b_signed, DotKind *kind)
{
    if (!strcmp(target->arch, "x86_64"))
        return x86_kind(target, a_signed, b_signed, kind);
    return !strcmp(target->arch, "aarch64") && aarch64_kind(target, a_signed, b_signed, kind);
}

bool dot_takes(const DotKind *kind, int bytes)
{
    return bytes % kind->bytes == 0 || (kind->is_x86 && bytes < kind->bytes && (bytes == 16 || bytes == 32));
}

/* --- One instruction --- */

static LLVMValueRef dot_instruction(FuncGen *gen, const DotKind *kind, LLVMValueRef sum, LLVMValueRef first, LLVMValueRef second)
{
    LLVMTypeRef type = LLVMTypeOf(sum);
    if (!kind->is_x86)
        return emit_intrinsic2(gen, kind->instruction, type, LLVMTypeOf(first), (LLVMValueRef[]){sum, first, second}, 3);
    LLVMValueRef args[] = {sum, LLVMBuildBitCast(gen->builder, first, type, ""), LLVMBuildBitCast(gen->builder, second, type, "")};
    return emit_intrinsic(gen, context_internf(gen->ctx, "%s%d", kind->instruction, 32 * llvm_lanes(type)), NULL, args, 3);
}

static LLVMValueRef piece(FuncGen *gen, LLVMValueRef vector, int first, int count)
{
    if (count == llvm_lanes(LLVMTypeOf(vector)))
        return vector;
    int *picks = ARENA_ARRAY(gen->ctx->arena, int, count);
    for (int i = 0; i < count; i++)
        picks[i] = first + i;
    return emit_shuffle(gen, vector, NULL, picks, count);
}

/* --- Sums --- */

static LLVMValueRef new_sum(FuncGen *gen, LLVMTypeRef type)
{
    LLVMValueRef slot = emit_stack_slot(gen, type, 1, 64);
    LLVMSetAlignment(LLVMBuildStore(gen->builder, LLVMConstNull(type), slot), 64);
    return slot;
}

static LLVMValueRef read_sum(FuncGen *gen, LLVMTypeRef type, LLVMValueRef slot)
{
    return LLVMBuildLoad2(gen->builder, type, slot, "");
}

DotSum dot_sum_begin(FuncGen *gen, const DotKind *kind, int bytes)
{
    LLVMTypeRef type = LLVMVectorType(gen->build->i32, (unsigned)bytes / 4);
    bool flips = kind->flips_first || kind->flips_second;
    return (DotSum){type, new_sum(gen, type), flips ? new_sum(gen, type) : NULL};
}

static void add_products(FuncGen *gen, const DotKind *kind, LLVMTypeRef type, LLVMValueRef slot, LLVMValueRef first, LLVMValueRef second)
{
    int lanes = (int)LLVMGetVectorSize(type), step = lanes < kind->bytes / 4 ? lanes : kind->bytes / 4;
    LLVMTypeRef part = LLVMVectorType(gen->build->i32, (unsigned)step);
    for (int i = 0; i < lanes; i += step) {
        LLVMValueRef at = LLVMConstInt(gen->build->i64, (unsigned long long)i, false);
        LLVMValueRef pointer = LLVMBuildInBoundsGEP2(gen->builder, gen->build->i32, slot, &at, 1, "");
        LLVMValueRef sum = LLVMBuildLoad2(gen->builder, part, pointer, "");
        sum = dot_instruction(gen, kind, sum, piece(gen, first, 4 * i, 4 * step), piece(gen, second, 4 * i, 4 * step));
        LLVMBuildStore(gen->builder, sum, pointer);
    }
}

void dot_sum_add(FuncGen *gen, const DotKind *kind, const DotSum *sum, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef first = kind->is_swapped ? b : a, second = kind->is_swapped ? a : b;
    LLVMValueRef sign_bits = llvm_const_splat(LLVMConstInt(gen->build->i8, 0x80, false), llvm_lanes(LLVMTypeOf(a)));
    if (kind->flips_first) {
        add_products(gen, kind, sum->type, sum->excess, sign_bits, second);
        first = LLVMBuildXor(gen->builder, first, sign_bits, "");
    } else if (kind->flips_second) {
        add_products(gen, kind, sum->type, sum->excess, first, sign_bits);
        second = LLVMBuildXor(gen->builder, second, sign_bits, "");
    }
    add_products(gen, kind, sum->type, sum->sum, first, second);
}

LLVMValueRef dot_sum_value(FuncGen *gen, const DotSum *sum)
{
    LLVMValueRef value = read_sum(gen, sum->type, sum->sum);
    return sum->excess ? LLVMBuildSub(gen->builder, value, read_sum(gen, sum->type, sum->excess), "") : value;
}
