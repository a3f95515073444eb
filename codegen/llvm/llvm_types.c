/* How tirc's types look as values, in memory and in C calls. */
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/llvm_gen.h"
#include "ir/small_float.h"
#include "support/bug.h"

LLVMTypeRef llvm_with_lanes(LLVMTypeRef scalar, int lanes)
{
    return lanes == 1 ? scalar : LLVMVectorType(scalar, (unsigned)lanes);
}

int llvm_lanes(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(type) : 1;
}

static LLVMTypeRef int_type(const LlvmBuild *build, int bits)
{
    switch (bits) {
    case 8: return build->i8;
    case 16: return build->i16;
    case 32: return build->i32;
    default: return build->i64;
    }
}

static LLVMTypeRef scalar_type(const LlvmBuild *build, DType dtype)
{
    switch ((DTypeCode)dtype.code) {
    case DT_VOID: return build->void_type;
    case DT_BOOL: return build->i1;
    case DT_INT:
    case DT_UINT: return int_type(build, dtype.bits);
    case DT_FLOAT: return dtype.bits == 16 ? build->half : dtype.bits == 32 ? build->f32 : build->f64;
    case DT_BFLOAT: return build->i16;
    case DT_HANDLE: return build->pointer;
    default: CHECK(small_float(dtype)); return build->i8;
    }
}

LLVMTypeRef llvm_value_type(const LlvmBuild *build, DType dtype)
{
    return llvm_with_lanes(scalar_type(build, dtype), dtype.lanes);
}

LLVMTypeRef llvm_memory_type(const LlvmBuild *build, DType dtype)
{
    return dtype.code == DT_BOOL ? llvm_with_lanes(build->i8, dtype.lanes) : llvm_value_type(build, dtype);
}

LLVMTypeRef llvm_abi_type(const LlvmBuild *build, DType dtype)
{
    bool is_half = dtype.code == DT_FLOAT && dtype.bits == 16;
    return is_half ? llvm_with_lanes(build->i16, dtype.lanes) : llvm_memory_type(build, dtype);
}

LLVMValueRef llvm_const_splat(LLVMValueRef constant, int lanes)
{
    if (lanes == 1)
        return constant;
    LLVMValueRef *items = xmalloc(sizeof *items * (size_t)lanes);
    for (int i = 0; i < lanes; i++)
        items[i] = constant;
    LLVMValueRef vector = LLVMConstVector(items, (unsigned)lanes);
    free(items);
    return vector;
}

LLVMValueRef llvm_const_int(const LlvmBuild *build, DType dtype, int64_t value)
{
    return llvm_const_splat(LLVMConstInt(scalar_type(build, dtype), (unsigned long long)value, true), dtype.lanes);
}

LLVMValueRef llvm_const_float(const LlvmBuild *build, DType dtype, double value)
{
    const SmallFloat *small = small_float(dtype);
    if (small)
        return llvm_const_splat(LLVMConstInt(build->i8, small_float_bits(small, value), false), dtype.lanes);
    if (dtype.code != DT_BFLOAT)
        return llvm_const_splat(LLVMConstReal(scalar_type(build, dtype), value), dtype.lanes);
    float rounded = (float)dtype_round_float(dtype_scalar(dtype), value);
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return llvm_const_splat(LLVMConstInt(build->i16, bits >> 16, false), dtype.lanes);
}

LLVMValueRef llvm_const_zero(const LlvmBuild *build, DType dtype)
{
    return LLVMConstNull(llvm_value_type(build, dtype));
}

LLVMValueRef emit_to_memory(FuncGen *gen, LLVMValueRef value, DType dtype)
{
    return dtype.code == DT_BOOL ? LLVMBuildZExt(gen->builder, value, llvm_memory_type(gen->build, dtype), "") : value;
}

LLVMValueRef emit_from_memory(FuncGen *gen, LLVMValueRef value, DType dtype)
{
    if (dtype.code != DT_BOOL)
        return value;
    return LLVMBuildICmp(gen->builder, LLVMIntNE, value, LLVMConstNull(llvm_memory_type(gen->build, dtype)), "");
}

LLVMValueRef emit_to_abi(FuncGen *gen, LLVMValueRef value, DType dtype)
{
    LLVMTypeRef type = llvm_abi_type(gen->build, dtype);
    if (dtype.code == DT_BOOL)
        return emit_to_memory(gen, value, dtype);
    return LLVMTypeOf(value) == type ? value : LLVMBuildBitCast(gen->builder, value, type, "");
}

LLVMValueRef emit_from_abi(FuncGen *gen, LLVMValueRef value, DType dtype)
{
    LLVMTypeRef type = llvm_value_type(gen->build, dtype);
    if (dtype.code == DT_BOOL)
        return emit_from_memory(gen, value, dtype);
    return LLVMTypeOf(value) == type ? value : LLVMBuildBitCast(gen->builder, value, type, "");
}

LLVMAttributeRef llvm_attribute(const LlvmBuild *build, const char *name, uint64_t value)
{
    return LLVMCreateEnumAttribute(build->llvm, LLVMGetEnumAttributeKindForName(name, strlen(name)), value);
}

void llvm_mark_extension(const LlvmBuild *build, LLVMValueRef function_or_call, unsigned index, DType dtype)
{
    if (dtype.lanes > 1 || dtype.code == DT_HANDLE || dtype.code == DT_VOID)
        return;
    bool narrow = dtype.bits < 32, word = dtype.bits == 32 && dtype_is_integer(dtype) && build->target.extends_int32;
    if (!narrow && !word)
        return;
    LLVMAttributeRef attribute = llvm_attribute(build, dtype.code == DT_INT || word ? "signext" : "zeroext", 0);
    if (LLVMIsAFunction(function_or_call))
        LLVMAddAttributeAtIndex(function_or_call, index, attribute);
    else
        LLVMAddCallSiteAttribute(function_or_call, index, attribute);
}
