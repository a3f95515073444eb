/* Conversions between types. Floats convert to integers towards zero and saturate; NaN becomes 0. */
#include <math.h>
#include <string.h>

#include "codegen/llvm/llvm_gen.h"

static LLVMValueRef int_to_int(FuncGen *gen, LLVMValueRef value, DType from, DType to)
{
    LLVMTypeRef type = llvm_value_type(gen->build, to);
    if (from.bits >= to.bits)
        return from.bits == to.bits ? value : LLVMBuildTrunc(gen->builder, value, type, "");
    return from.code == DT_INT ? LLVMBuildSExt(gen->builder, value, type, "") : LLVMBuildZExt(gen->builder, value, type, "");
}

static LLVMValueRef to_bool(FuncGen *gen, LLVMValueRef value, DType from)
{
    if (!dtype_is_float(from))
        return LLVMBuildICmp(gen->builder, LLVMIntNE, value, llvm_const_zero(gen->build, from), "");
    LLVMValueRef wide = emit_widen(gen, value, from);
    return LLVMBuildFCmp(gen->builder, LLVMRealUNE, wide, LLVMConstNull(LLVMTypeOf(wide)), "");
}

/* A float64 as the float32 that rounds to 16 bits and less as the float64 itself would: towards zero, with the last bit set when that was not exact
   ("round to odd"). Rounding to nearest twice could be off. */
static LLVMValueRef double_to_odd_float(FuncGen *gen, LLVMValueRef value, int lanes)
{
    LLVMBuilderRef builder = gen->builder;
    DType bits_type = dtype_with_lanes(DTYPE_INT32, lanes);
    LLVMTypeRef i32 = llvm_value_type(gen->build, bits_type), f32 = llvm_with_lanes(gen->build->f32, lanes), f64 = LLVMTypeOf(value);
    LLVMValueRef nearest = LLVMBuildFPTrunc(builder, value, f32, ""), back = LLVMBuildFPExt(builder, nearest, f64, "");
    LLVMValueRef size = emit_intrinsic(gen, "llvm.fabs", f64, &value, 1), back_size = emit_intrinsic(gen, "llvm.fabs", f64, &back, 1);
    LLVMValueRef too_large = LLVMBuildFCmp(builder, LLVMRealOGT, back_size, size, "");
    LLVMValueRef inexact = LLVMBuildFCmp(builder, LLVMRealONE, back, value, "");
    LLVMValueRef bits = LLVMBuildBitCast(builder, nearest, i32, "");
    bits = LLVMBuildSub(builder, bits, LLVMBuildZExt(builder, too_large, i32, ""), "");
    bits = LLVMBuildOr(builder, bits, LLVMBuildZExt(builder, inexact, i32, ""), "");
    return LLVMBuildBitCast(builder, bits, f32, "");
}

static LLVMValueRef float_to_float(FuncGen *gen, LLVMValueRef value, DType from, DType to)
{
    LLVMValueRef wide = emit_widen(gen, value, from);
    if (to.bits == 64)
        return from.bits == 64 ? wide : LLVMBuildFPExt(gen->builder, wide, llvm_value_type(gen->build, to), "");
    if (from.bits == 64 && to.bits <= 16)
        wide = double_to_odd_float(gen, wide, to.lanes);
    else if (from.bits == 64)
        wide = LLVMBuildFPTrunc(gen->builder, wide, llvm_value_type(gen->build, to), "");
    return emit_narrow(gen, wide, to);
}

/* An integer of 64 bits as the float64 that rounds to 16 bits and less as the integer itself would: beyond 2^53, what a float64 has no place for
   leaves its trace in the last bit that it has ("round to odd"). */
static LLVMValueRef int64_to_odd_double(FuncGen *gen, LLVMValueRef value, DType from)
{
    enum { SPARE_BITS = 64 - 53 };
    const int64_t unit = INT64_C(1) << SPARE_BITS, exact = INT64_C(1) << 53;
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef zero = llvm_const_zero(gen->build, from), spare = LLVMBuildAnd(builder, value, llvm_const_int(gen->build, from, unit - 1), "");
    LLVMValueRef marked = LLVMBuildOr(builder, value, llvm_const_int(gen->build, from, unit), "");
    LLVMValueRef odd = LLVMBuildSelect(builder, LLVMBuildICmp(builder, LLVMIntNE, spare, zero, ""), marked, value, "");
    odd = LLVMBuildAnd(builder, odd, llvm_const_int(gen->build, from, -unit), "");
    int64_t bias = from.code == DT_INT ? exact : 0; /* one comparison for both ends */
    LLVMValueRef biased = LLVMBuildAdd(builder, value, llvm_const_int(gen->build, from, bias), "");
    LLVMValueRef is_exact = LLVMBuildICmp(builder, LLVMIntULE, biased, llvm_const_int(gen->build, from, exact + bias), "");
    LLVMValueRef used = LLVMBuildSelect(builder, is_exact, value, odd, "");
    LLVMTypeRef type = llvm_with_lanes(gen->build->f64, from.lanes);
    return from.code == DT_INT ? LLVMBuildSIToFP(builder, used, type, "") : LLVMBuildUIToFP(builder, used, type, "");
}

static LLVMValueRef int_to_float(FuncGen *gen, LLVMValueRef value, DType from, DType to)
{
    if (to.bits <= 16 && from.bits == 64)
        return float_to_float(gen, int64_to_odd_double(gen, value, from), dtype_with_lanes(DTYPE_FLOAT64, to.lanes), to);
    if (to.bits <= 16) {
        DType exact = dtype_with_lanes(from.bits <= 16 ? DTYPE_FLOAT32 : DTYPE_FLOAT64, to.lanes);
        return float_to_float(gen, int_to_float(gen, value, from, exact), exact, to);
    }
    LLVMTypeRef type = llvm_value_type(gen->build, to);
    return from.code == DT_INT ? LLVMBuildSIToFP(gen->builder, value, type, "") : LLVMBuildUIToFP(gen->builder, value, type, "");
}

/* The greatest and least values of an integer type as floats: LEAST is exact, ABOVE the first float beyond the range, and WITHIN the last one in
   it, of a float type with DIGITS binary digits. */
typedef struct {
    double least, within, above;
} FloatRange;

static FloatRange range_of(DType integer, int digits)
{
    int bits = integer.code == DT_INT ? integer.bits - 1 : integer.bits;
    double above = ldexp(1, bits);
    return (FloatRange){integer.code == DT_INT ? -above : 0, above - ldexp(1, bits > digits ? bits - digits : 0), above};
}

/* VALUE within [least, within]; NaN stays. The comparisons and choices are one instruction each. */
static LLVMValueRef clamp_to_range(FuncGen *gen, LLVMValueRef value, DType type, FloatRange range)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef least = llvm_const_float(gen->build, type, range.least), within = llvm_const_float(gen->build, type, range.within);
    value = LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealOLT, value, least, ""), least, value, "");
    return LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealOGT, value, within, ""), within, value, "");
}

/* The instructions of x86 that convert floats to int32: of BITS bits, LANES at a time; those of 512 bits take a mask and a rounding too. */
static const struct {
    int bits, lanes;
    const char *name;
} x86_conversions[] = {{32, 16, "llvm.x86.avx512.mask.cvttps2dq.512"},
                       {32, 8, "llvm.x86.avx.cvtt.ps2dq.256"},
                       {32, 4, "llvm.x86.sse2.cvttps2dq"},
                       {64, 8, "llvm.x86.avx512.mask.cvttpd2dq.512"},
                       {64, 4, "llvm.x86.avx.cvtt.pd2dq.256"}};

/* VALUE, floats of TYPE that int32 holds or NaN, as int32 whose lower 16 bits are 0 for NaN: x86 gives INT32_MIN for it, where LLVM's
   conversion of NaN gives anything. NULL where the target has no such instruction. */
static LLVMValueRef low_bits_of_float(FuncGen *gen, LLVMValueRef value, DType type)
{
    const LlvmTarget *target = &gen->build->target;
    int bytes = type.bits / 8 * type.lanes, lanes = type.lanes, count = sizeof x86_conversions / sizeof *x86_conversions, found = 0;
    while (found < count && (x86_conversions[found].bits != type.bits || x86_conversions[found].lanes != lanes))
        found++;
    if (found == count || strcmp(target->arch, "x86_64") || bytes > target->vector_bytes)
        return NULL;
    enum { CURRENT_DIRECTION = 4 };
    LLVMValueRef args[] = {value, LLVMConstNull(llvm_value_type(gen->build, dtype_with_lanes(DTYPE_INT32, lanes))),
                           LLVMConstAllOnes(LLVMIntTypeInContext(gen->build->llvm, (unsigned)lanes)),
                           LLVMConstInt(gen->build->i32, CURRENT_DIRECTION, false)};
    return emit_intrinsic(gen, x86_conversions[found].name, NULL, args, bytes == 64 ? 4 : 1);
}

static LLVMValueRef int_of_float(FuncGen *gen, LLVMValueRef value, DType to)
{
    LLVMTypeRef type = llvm_value_type(gen->build, to);
    return to.code == DT_INT ? LLVMBuildFPToSI(gen->builder, value, type, "") : LLVMBuildFPToUI(gen->builder, value, type, "");
}

/* The conversion of a value that is in range, between clamps: LLVM's saturating conversion becomes one scalar conversion for each lane. What
   it gives for NaN is not chosen. Types below 32 bits go through int32, for which processors have instructions. */
static LLVMValueRef float_to_int(FuncGen *gen, LLVMValueRef value, DType from, DType to)
{
    DType type = dtype_with_lanes(from.bits == 64 ? DTYPE_FLOAT64 : DTYPE_FLOAT32, from.lanes);
    LLVMValueRef wide = emit_widen(gen, value, from);
    FloatRange range = range_of(to, type.bits == 64 ? 53 : 24);
    LLVMValueRef inside = clamp_to_range(gen, wide, type, range), is_number = LLVMBuildFCmp(gen->builder, LLVMRealORD, wide, wide, "");
    DType through = to.bits < 32 ? dtype_with_lanes(DTYPE_INT32, to.lanes) : to;
    LLVMValueRef result = to.bits < 32 ? low_bits_of_float(gen, inside, type) : NULL;
    if (!result)
        result = LLVMBuildSelect(gen->builder, is_number, int_of_float(gen, inside, through), llvm_const_zero(gen->build, through), "");
    if (to.bits < 32)
        return LLVMBuildTrunc(gen->builder, result, llvm_value_type(gen->build, to), "");
    if (range.within + 1 == range.above)
        return result;
    LLVMValueRef beyond = LLVMBuildFCmp(gen->builder, LLVMRealOGE, wide, llvm_const_float(gen->build, type, range.above), "");
    int64_t greatest = to.code == DT_UINT ? -1 : to.bits == 64 ? INT64_MAX : ((int64_t)1 << (to.bits - 1)) - 1;
    return LLVMBuildSelect(gen->builder, beyond, llvm_const_int(gen->build, to, greatest), result, "");
}

LLVMValueRef emit_cast(FuncGen *gen, LLVMValueRef value, DType from, DType to)
{
    LLVMTypeRef type = llvm_value_type(gen->build, to);
    if (from.code == to.code && from.bits == to.bits)
        return value;
    if (to.code == DT_BOOL)
        return to_bool(gen, value, from);
    if (from.code == DT_HANDLE)
        return LLVMBuildPtrToInt(gen->builder, value, type, "");
    if (to.code == DT_HANDLE)
        return LLVMBuildIntToPtr(gen->builder, value, type, "");
    if (dtype_is_float(from))
        return dtype_is_float(to) ? float_to_float(gen, value, from, to) : float_to_int(gen, value, from, to);
    return dtype_is_float(to) ? int_to_float(gen, value, from, to) : int_to_int(gen, value, from, to);
}
