/* Operations on bit patterns: bitwise logic, shifts, counting, fixed-point multiplication, float classification, nextafter,
   reinterpretation. */
#include "codegen/llvm/llvm_gen.h"

/* ARGUMENT with LANES lanes: an operand that stayed scalar counts for all. */
static LLVMValueRef emit_lanes(FuncGen *gen, const Expr *argument, int lanes)
{
    LLVMValueRef value = emit_expr(gen, argument);
    return argument->dtype.lanes == lanes ? value : emit_splat(gen, value, lanes);
}

/* --- Counting --- */

static LLVMValueRef count_bits(FuncGen *gen, const Expr *call)
{
    LLVMValueRef args[] = {emit_expr(gen, call->args[0]), LLVMConstInt(gen->build->i1, 0, false)};
    bool leading = call->value.op == OP_CLZ;
    LLVMValueRef count = emit_intrinsic(gen, leading ? "llvm.ctlz" : "llvm.ctpop", LLVMTypeOf(args[0]), args, leading ? 2 : 1);
    DType unsigned_type = call->args[0]->dtype;
    unsigned_type.code = DT_UINT;
    return emit_cast(gen, count, unsigned_type, call->dtype);
}

/* --- Fixed point --- */

static LLVMValueRef wide_lanes(FuncGen *gen, const Expr *argument, DType wide)
{
    return emit_cast(gen, emit_lanes(gen, argument, wide.lanes), dtype_with_lanes(argument->dtype, wide.lanes), wide);
}

/* VALUE * 2^-SHIFT with halves rounded up. */
static LLVMValueRef rounding_shift(FuncGen *gen, DType wide, LLVMValueRef value, LLVMValueRef shift)
{
    LLVMValueRef one = llvm_const_int(gen->build, wide, 1);
    LLVMValueRef half = emit_shift(gen, true, wide, one, LLVMBuildSub(gen->builder, shift, one, ""));
    return emit_shift(gen, false, wide, LLVMBuildAdd(gen->builder, value, half, ""), shift);
}

/* (x, y, q, s): x * y * 2^(s - q) in 64 bits. A positive s shifts x left before, a negative one adds to the shift right. */
static LLVMValueRef multiply_shift(FuncGen *gen, const Expr *call)
{
    DType wide = dtype_with_lanes(DTYPE_INT64, call->dtype.lanes);
    LLVMValueRef x = wide_lanes(gen, call->args[0], wide), y = wide_lanes(gen, call->args[1], wide);
    LLVMValueRef q = wide_lanes(gen, call->args[2], wide), s = wide_lanes(gen, call->args[3], wide),
                 zero = llvm_const_zero(gen->build, wide);
    LLVMValueRef left = emit_int_binary(gen, EXPR_MAX, wide, s, zero), right = LLVMBuildSub(gen->builder, left, s, "");
    LLVMValueRef product = LLVMBuildMul(gen->builder, emit_shift(gen, true, wide, x, left), y, "");
    return emit_cast(gen, rounding_shift(gen, wide, product, LLVMBuildAdd(gen->builder, right, q, "")), wide, call->dtype);
}

/* (x, y, left, right, q, shifts left, shifts right): x * y * 2^(left - right - q), the left shift only where the sixth argument is true. */
static LLVMValueRef multiply_shift_per_axis(FuncGen *gen, const Expr *call)
{
    DType wide = dtype_with_lanes(DTYPE_INT64, call->dtype.lanes), flag = dtype_with_lanes(DTYPE_BOOL, call->dtype.lanes);
    LLVMValueRef x = wide_lanes(gen, call->args[0], wide), y = wide_lanes(gen, call->args[1], wide);
    LLVMValueRef left = wide_lanes(gen, call->args[2], wide), right = wide_lanes(gen, call->args[3], wide),
                 q = wide_lanes(gen, call->args[4], wide);
    LLVMValueRef shifted = LLVMBuildSelect(gen->builder, wide_lanes(gen, call->args[5], flag), emit_shift(gen, true, wide, x, left), x, "");
    LLVMValueRef product = LLVMBuildMul(gen->builder, shifted, y, "");
    return emit_cast(gen, rounding_shift(gen, wide, product, LLVMBuildAdd(gen->builder, right, q, "")), wide, call->dtype);
}

/* --- Floats --- */

static LLVMValueRef classify(FuncGen *gen, const Expr *call)
{
    DType dtype = call->args[0]->dtype;
    if (!dtype_is_float(dtype))
        return llvm_const_int(gen->build, call->dtype, call->value.op == OP_ISFINITE);
    LLVMValueRef value = emit_widen(gen, emit_expr(gen, call->args[0]), dtype);
    if (call->value.op == OP_ISNAN)
        return LLVMBuildFCmp(gen->builder, LLVMRealUNO, value, value, "");
    LLVMValueRef size = emit_intrinsic(gen, "llvm.fabs", LLVMTypeOf(value), &value, 1);
    LLVMValueRef infinity = llvm_const_float(gen->build, (DType){DT_FLOAT, dtype.bits == 64 ? 64 : 32, dtype.lanes}, __builtin_inf());
    return LLVMBuildFCmp(gen->builder, call->value.op == OP_ISINF ? LLVMRealOEQ : LLVMRealOLT, size, infinity, "");
}

/* The neighbour of x towards y, on the bits: their order as integers is that of the sizes of the floats. */
static LLVMValueRef next_after(FuncGen *gen, const Expr *call)
{
    LLVMBuilderRef builder = gen->builder;
    DType dtype = call->dtype, bits_type = {DT_INT, dtype.bits, dtype.lanes};
    LLVMTypeRef int_type = llvm_value_type(gen->build, bits_type), type = llvm_value_type(gen->build, dtype);
    LLVMValueRef x = emit_expr(gen, call->args[0]), y = emit_expr(gen, call->args[1]);
    LLVMValueRef wide_x = emit_widen(gen, x, dtype), wide_y = emit_widen(gen, y, dtype), zero = LLVMConstNull(LLVMTypeOf(wide_x));
    LLVMValueRef x_bits = LLVMBuildBitCast(builder, x, int_type, ""), y_bits = LLVMBuildBitCast(builder, y, int_type, "");
    LLVMValueRef one = llvm_const_int(gen->build, bits_type, 1), sign = llvm_const_int(gen->build, bits_type, dtype_min_int(bits_type));
    LLVMValueRef upwards = LLVMBuildFCmp(builder, LLVMRealOLT, wide_x, wide_y, ""),
                 positive = LLVMBuildFCmp(builder, LLVMRealOGT, wide_x, zero, "");
    LLVMValueRef grows = LLVMBuildICmp(builder, LLVMIntEQ, upwards, positive, "");
    LLVMValueRef bits = LLVMBuildSelect(builder, grows, LLVMBuildAdd(builder, x_bits, one, ""), LLVMBuildSub(builder, x_bits, one, ""), "");
    LLVMValueRef smallest = LLVMBuildOr(builder, LLVMBuildAnd(builder, y_bits, sign, ""), one, "");
    bits = LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealOEQ, wide_x, zero, ""), smallest, bits, "");
    bits = LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealOEQ, wide_x, wide_y, ""), y_bits, bits, "");
    LLVMValueRef sum = LLVMBuildBitCast(builder, emit_narrow(gen, LLVMBuildFAdd(builder, wide_x, wide_y, ""), dtype), int_type, "");
    bits = LLVMBuildSelect(builder, LLVMBuildFCmp(builder, LLVMRealUNO, wide_x, wide_y, ""), sum, bits, "");
    return LLVMBuildBitCast(builder, bits, type, "");
}

/* --- Reinterpretation and masks --- */

static LLVMValueRef reinterpret(FuncGen *gen, const Expr *call)
{
    DType from = call->args[0]->dtype, to = call->dtype;
    LLVMValueRef value = emit_expr(gen, call->args[0]);
    if (from.code == DT_HANDLE || to.code == DT_HANDLE)
        return emit_cast(gen, value, from, to);
    if (dtype_bytes(from) * from.lanes != dtype_bytes(to) * to.lanes) {
        diag_error(gen->ctx, call->span, "T.reinterpret from %s to %s changes the size", dtype_name(gen->ctx, from),
                   dtype_name(gen->ctx, to));
        return emit_nothing(gen, call);
    }
    value = LLVMBuildBitCast(gen->builder, emit_to_memory(gen, value, from), llvm_memory_type(gen->build, to), "");
    return emit_from_memory(gen, value, to);
}

static LLVMValueRef active_lanes(FuncGen *gen, const Expr *call)
{
    LLVMValueRef args[] = {emit_expr(gen, call->args[0]), emit_expr(gen, call->args[1])};
    return emit_intrinsic2(gen, "llvm.get.active.lane.mask", llvm_value_type(gen->build, call->dtype), LLVMTypeOf(args[0]), args, 2);
}

static LLVMValueRef bitwise(FuncGen *gen, const Expr *call)
{
    LLVMValueRef a = emit_expr(gen, call->args[0]), b = emit_lanes(gen, call->args[1], call->dtype.lanes);
    switch (call->value.op) {
    case OP_BITWISE_AND: return LLVMBuildAnd(gen->builder, a, b, "");
    case OP_BITWISE_OR: return LLVMBuildOr(gen->builder, a, b, "");
    case OP_BITWISE_XOR: return LLVMBuildXor(gen->builder, a, b, "");
    default: return emit_shift(gen, call->value.op == OP_SHIFT_LEFT, call->dtype, a, b);
    }
}

LLVMValueRef emit_bit_call(FuncGen *gen, const Expr *call)
{
    switch (call->value.op) {
    case OP_POPCOUNT:
    case OP_CLZ: return count_bits(gen, call);
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
    case OP_BITWISE_AND:
    case OP_BITWISE_OR:
    case OP_BITWISE_XOR: return bitwise(gen, call);
    case OP_BITWISE_NOT: return LLVMBuildNot(gen->builder, emit_expr(gen, call->args[0]), "");
    case OP_Q_MULTIPLY_SHIFT: return multiply_shift(gen, call);
    case OP_Q_MULTIPLY_SHIFT_PER_AXIS: return multiply_shift_per_axis(gen, call);
    case OP_NEXTAFTER: return next_after(gen, call);
    case OP_ISNAN:
    case OP_ISINF:
    case OP_ISFINITE: return classify(gen, call);
    case OP_REINTERPRET: return reinterpret(gen, call);
    case OP_GET_ACTIVE_LANE_MASK: return active_lanes(gen, call);
    default: return NULL;
    }
}
