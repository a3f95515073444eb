/* Arithmetic on floats. float16, bfloat16 and smaller ones compute in float32 and round after each operation, which for + - * / gives the
   correctly rounded result.

   bfloat16 values are i16 bit patterns: LLVM's own conversions flush denormals on some processors and call a library on others. */
#include "codegen/llvm/llvm_gen.h"
#include "codegen/llvm/llvm_small_float.h"
#include "support/bug.h"

enum { BFLOAT_SHIFT = 16, BFLOAT_QUIET_BIT = 0x40 };

static LLVMValueRef int_constant(FuncGen *gen, int bits, int lanes, int64_t value)
{
    return llvm_const_int(gen->build, (DType){DT_INT, (uint8_t)bits, (uint16_t)lanes}, value);
}

static LLVMValueRef bfloat_to_float(FuncGen *gen, LLVMValueRef value, int lanes)
{
    LLVMTypeRef i32 = llvm_with_lanes(gen->build->i32, lanes), f32 = llvm_with_lanes(gen->build->f32, lanes);
    LLVMValueRef bits = LLVMBuildZExt(gen->builder, value, i32, "");
    return LLVMBuildBitCast(gen->builder, LLVMBuildShl(gen->builder, bits, int_constant(gen, 32, lanes, BFLOAT_SHIFT), ""), f32, "");
}

/* To nearest even: adding 0x7fff plus the last kept bit carries into the kept half exactly when it must round up; overflow runs into
   infinity. NaN keeps its sign and becomes quiet. */
static LLVMValueRef float_to_bfloat(FuncGen *gen, LLVMValueRef value, int lanes)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMTypeRef i16 = llvm_with_lanes(gen->build->i16, lanes), i32 = llvm_with_lanes(gen->build->i32, lanes);
    LLVMValueRef shift = int_constant(gen, 32, lanes, BFLOAT_SHIFT);
    LLVMValueRef bits = LLVMBuildBitCast(builder, value, i32, ""), kept = LLVMBuildLShr(builder, bits, shift, "");
    LLVMValueRef even = LLVMBuildAnd(builder, kept, int_constant(gen, 32, lanes, 1), "");
    LLVMValueRef bias = LLVMBuildAdd(builder, even, int_constant(gen, 32, lanes, 0x7fff), "");
    LLVMValueRef rounded = LLVMBuildLShr(builder, LLVMBuildAdd(builder, bits, bias, ""), shift, "");
    LLVMValueRef is_nan = LLVMBuildFCmp(builder, LLVMRealUNO, value, value, "");
    LLVMValueRef quiet = LLVMBuildOr(builder, kept, int_constant(gen, 32, lanes, BFLOAT_QUIET_BIT), "");
    return LLVMBuildTrunc(builder, LLVMBuildSelect(builder, is_nan, quiet, rounded, ""), i16, "");
}

LLVMValueRef emit_widen(FuncGen *gen, LLVMValueRef value, DType dtype)
{
    if (dtype.code > DT_HANDLE)
        return emit_small_to_float(gen, value, dtype);
    if (dtype.code == DT_BFLOAT)
        return bfloat_to_float(gen, value, dtype.lanes);
    return dtype.bits == 16 ? LLVMBuildFPExt(gen->builder, value, llvm_with_lanes(gen->build->f32, dtype.lanes), "") : value;
}

LLVMValueRef emit_narrow(FuncGen *gen, LLVMValueRef value, DType dtype)
{
    if (dtype.code > DT_HANDLE)
        return emit_float_to_small(gen, value, dtype);
    if (dtype.code == DT_BFLOAT)
        return float_to_bfloat(gen, value, dtype.lanes);
    return dtype.bits == 16 ? LLVMBuildFPTrunc(gen->builder, value, llvm_value_type(gen->build, dtype), "") : value;
}

LLVMValueRef emit_relaxed(FuncGen *gen, LLVMValueRef operation)
{
    if (!LLVMIsAInstruction(operation) || !LLVMCanValueUseFastMathFlags(operation))
        return operation;
    if (gen->build->options->fast_math)
        LLVMSetFastMathFlags(operation, LLVMFastMathAll);
    else if (gen->build->options->fp_contract)
        LLVMSetFastMathFlags(operation, LLVMFastMathAllowContract);
    return operation;
}

static LLVMRealPredicate predicate(ExprKind kind)
{
    switch (kind) {
    case EXPR_EQ: return LLVMRealOEQ;
    case EXPR_NE: return LLVMRealUNE;
    case EXPR_LT: return LLVMRealOLT;
    case EXPR_LE: return LLVMRealOLE;
    case EXPR_GT: return LLVMRealOGT;
    default: return LLVMRealOGE;
    }
}

/* floor(a / b) and a - b * floor(a / b), in float64: a quotient rounded to the type itself could reach the next integer. */
static LLVMValueRef floor_division(FuncGen *gen, bool remainder, DType dtype, LLVMValueRef a, LLVMValueRef b)
{
    DType wide = dtype_with_lanes(DTYPE_FLOAT64, dtype.lanes);
    a = emit_cast(gen, a, dtype, wide);
    b = emit_cast(gen, b, dtype, wide);
    LLVMValueRef quotient = LLVMBuildFDiv(gen->builder, a, b, ""), floor = emit_intrinsic(gen, "llvm.floor", LLVMTypeOf(a), &quotient, 1);
    if (!remainder)
        return emit_cast(gen, floor, wide, dtype);
    return emit_cast(gen, LLVMBuildFSub(gen->builder, a, LLVMBuildFMul(gen->builder, b, floor, ""), ""), wide, dtype);
}

static LLVMValueRef float_arithmetic(FuncGen *gen, ExprKind kind, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = gen->builder;
    switch (kind) {
    case EXPR_ADD: return emit_relaxed(gen, LLVMBuildFAdd(builder, a, b, ""));
    case EXPR_SUB: return emit_relaxed(gen, LLVMBuildFSub(builder, a, b, ""));
    case EXPR_MUL: return emit_relaxed(gen, LLVMBuildFMul(builder, a, b, ""));
    case EXPR_DIV: return emit_relaxed(gen, LLVMBuildFDiv(builder, a, b, ""));
    case EXPR_MOD: return LLVMBuildFRem(builder, a, b, "");
    case EXPR_MIN: return LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealOLT, a, b, ""), a, b, "");
    case EXPR_MAX: return LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealOGT, a, b, ""), a, b, "");
    default: BUG("not a binary operation: %s", expr_kind_info(kind)->name);
    }
}

LLVMValueRef emit_float_binary(FuncGen *gen, ExprKind kind, DType dtype, LLVMValueRef a, LLVMValueRef b)
{
    if (kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD)
        return floor_division(gen, kind == EXPR_FLOORMOD, dtype, a, b);
    a = emit_widen(gen, a, dtype);
    b = emit_widen(gen, b, dtype);
    if (kind >= EXPR_EQ && kind <= EXPR_GE)
        return LLVMBuildFCmp(gen->builder, predicate(kind), a, b, "");
    return emit_narrow(gen, float_arithmetic(gen, kind, a, b), dtype);
}
