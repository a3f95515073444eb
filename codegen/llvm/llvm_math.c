/* Calls of operations: the mathematics of llvm_math.def, what is composed of it, and the dispatch to the other families. */
#include "codegen/llvm/llvm_gen.h"
#include "codegen/llvm/vmath.h"

typedef enum { MATH_NONE, MATH_VECTOR, MATH_INLINE, MATH_LIBM } MathStyle;
typedef struct {
    MathStyle style;
    const char *name;
} MathInfo;

static const MathInfo math_infos[OP_COUNT] = {
#define X(op, style, name) [OP_##op] = {MATH_##style, name},
#include "codegen/llvm/llvm_math.def"
#undef X
};

/* --- Floats --- */

/* The C function NAME on scalars; it touches no memory (errno is not looked at). */
static LLVMValueRef call_libm(FuncGen *gen, LLVMValueRef *args, int arg_count, const char *name)
{
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    const char *full = type == gen->build->f32 ? context_internf(gen->ctx, "%sf", name) : name;
    LLVMValueRef call = emit_c_call(gen, full, type, args, arg_count);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, llvm_attribute(gen->build, "memory", 0));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, llvm_attribute(gen->build, "willreturn", 0));
    return call;
}

typedef struct {
    const char *name;
    int arg_count;
} LibmWork;

static LLVMValueRef libm_lane(FuncGen *gen, LLVMValueRef *args, void *data)
{
    const LibmWork *work = data;
    return call_libm(gen, args, work->arg_count, work->name);
}

static LLVMValueRef one_like(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    int lanes = llvm_lanes(type);
    return llvm_const_splat(LLVMConstReal(lanes > 1 ? LLVMGetElementType(type) : type, 1.0), lanes);
}

static LLVMValueRef sigmoid_by_libm(FuncGen *gen, LLVMValueRef value);

static LLVMValueRef apply_math(FuncGen *gen, Op op, LLVMValueRef *args, int arg_count)
{
    const MathInfo *info = &math_infos[op];
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    if (info->style == MATH_VECTOR)
        return emit_intrinsic(gen, context_internf(gen->ctx, "llvm.%s", info->name), type, args, arg_count);
    if (info->style == MATH_INLINE && !gen->build->options->wide_math)
        return vmath_emit(gen, op, args);
    if (op == OP_SIGMOID)
        return sigmoid_by_libm(gen, args[0]);
    int lanes = llvm_lanes(type);
    if (lanes == 1)
        return call_libm(gen, args, arg_count, info->name);
    LibmWork work = {info->name, arg_count};
    return emit_each_lane(gen, LLVMGetElementType(type), args, arg_count, lanes, libm_lane, &work);
}

/* As the interpreter computes it, with e = exp(-|x|): 1 / (1 + e), or e / (1 + e) where x is negative. */
static LLVMValueRef sigmoid_by_libm(FuncGen *gen, LLVMValueRef value)
{
    LLVMValueRef minus = apply_math(gen, OP_FABS, &value, 1);
    minus = LLVMBuildFNeg(gen->builder, minus, "");
    LLVMValueRef power = apply_math(gen, OP_EXP, &minus, 1), one = one_like(value);
    LLVMValueRef is_negative = LLVMBuildFCmp(gen->builder, LLVMRealOLT, value, LLVMConstNull(LLVMTypeOf(value)), "");
    LLVMValueRef upper = LLVMBuildSelect(gen->builder, is_negative, power, one, "");
    return LLVMBuildFDiv(gen->builder, upper, LLVMBuildFAdd(gen->builder, one, power, ""), "");
}

static LLVMValueRef reciprocal(FuncGen *gen, LLVMValueRef value)
{
    return emit_relaxed(gen, LLVMBuildFDiv(gen->builder, one_like(value), value, ""));
}

/* The exponent of ldexp is an integer, or a float that is cut to one. */
static LLVMValueRef ldexp_lanes(FuncGen *gen, const Expr *call, LLVMValueRef value)
{
    DType exponent_type = dtype_with_lanes(DTYPE_INT32, call->dtype.lanes);
    LLVMValueRef args[] = {value, emit_cast(gen, emit_expr(gen, call->args[1]), call->args[1]->dtype, exponent_type)};
    LibmWork work = {"ldexp", 2};
    if (call->dtype.lanes == 1)
        return libm_lane(gen, args, &work);
    return emit_each_lane(gen, LLVMGetElementType(LLVMTypeOf(value)), args, 2, call->dtype.lanes, libm_lane, &work);
}

/* The type in which operations on DTYPE are computed. */
static DType computing_type(FuncGen *gen, DType dtype)
{
    bool wide = gen->build->options->wide_math || dtype.bits == 64;
    return dtype_with_lanes(wide ? DTYPE_FLOAT64 : DTYPE_FLOAT32, dtype.lanes);
}

static LLVMValueRef emit_float_call(FuncGen *gen, const Expr *call)
{
    DType type = computing_type(gen, call->dtype);
    LLVMValueRef args[3] = {NULL}, result;
    int own_args = call->value.op == OP_LDEXP ? 1 : call->arg_count;
    for (int i = 0; i < own_args; i++)
        args[i] = emit_cast(gen, emit_expr(gen, call->args[i]), call->args[i]->dtype, type);
    switch (call->value.op) {
    case OP_RSQRT: result = reciprocal(gen, apply_math(gen, OP_SQRT, args, 1)); break;
    case OP_LDEXP:
        warn_lane_calls(gen, call->span, call->dtype.lanes, "T.ldexp");
        result = ldexp_lanes(gen, call, args[0]);
        break;
    default:
        if (math_infos[call->value.op].style == MATH_LIBM)
            warn_lane_calls(gen, call->span, call->dtype.lanes, context_internf(gen->ctx, "T.%s", op_info(call->value.op)->name));
        result = apply_math(gen, call->value.op, args, call->arg_count);
        break;
    }
    return emit_cast(gen, result, type, call->dtype);
}

static LLVMValueRef power_lane(FuncGen *gen, LLVMValueRef *args, void *data)
{
    return emit_int_power(gen, *(const DType *)data, args[0], args[1]);
}

static LLVMValueRef emit_power(FuncGen *gen, const Expr *call)
{
    DType scalar = dtype_scalar(call->dtype);
    LLVMValueRef args[] = {emit_expr(gen, call->args[0]), emit_cast(gen, emit_expr(gen, call->args[1]), call->args[1]->dtype, call->dtype)};
    if (call->dtype.lanes == 1)
        return power_lane(gen, args, &scalar);
    return emit_each_lane(gen, llvm_value_type(gen->build, scalar), args, 2, call->dtype.lanes, power_lane, &scalar);
}

/* The operations of the family that make sense on integers. */
static LLVMValueRef emit_int_call(FuncGen *gen, const Expr *call)
{
    if (call->value.op == OP_POW)
        return emit_power(gen, call);
    LLVMValueRef value = emit_expr(gen, call->args[0]), zero = llvm_const_zero(gen->build, call->dtype);
    switch (call->value.op) {
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND:
    case OP_NEARBYINT:
    case OP_TRUNC: return value;
    case OP_FABS:
        if (call->dtype.code != DT_INT)
            return value;
        LLVMValueRef negative = LLVMBuildICmp(gen->builder, LLVMIntSLT, value, zero, "");
        return LLVMBuildSelect(gen->builder, negative, LLVMBuildNeg(gen->builder, value, ""), value, "");
    default:
        diag_error(gen->ctx, call->span, "T.%s needs a float, not %s", op_info(call->value.op)->name, dtype_name(gen->ctx, call->dtype));
        return zero;
    }
}

/* --- The dispatch --- */

static LLVMValueRef refuse(FuncGen *gen, const Expr *call)
{
    diag_error(gen->ctx, call->span, "T.%s cannot be compiled for a CPU", op_info(call->value.op)->name);
    return emit_nothing(gen, call);
}

static LLVMValueRef refuse_packed(FuncGen *gen, const Expr *call)
{
    diag_error(gen->ctx, call->span, "T.%s needs TVM's runtime, which an object does not have", op_info(call->value.op)->name);
    diag_note(gen->ctx, call->span, "T.call_extern calls a C function");
    return emit_nothing(gen, call);
}

static LLVMValueRef emit_function_exit(FuncGen *gen, const Expr *call)
{
    LLVMValueRef code = LLVMConstInt(gen->build->i32, 0, false);
    if (gen->in_parallel_body)
        diag_error(gen->ctx, call->span, "T.ret cannot leave a parallel loop");
    if (call->arg_count)
        code = emit_cast(gen, emit_expr(gen, call->args[0]), call->args[0]->dtype, DTYPE_INT32);
    emit_return(gen, code);
    return NULL;
}

static LLVMValueRef emit_other_call(FuncGen *gen, const Expr *call)
{
    switch (call->value.op) {
    case OP_RSQRT:
    case OP_LDEXP: return dtype_is_float(call->dtype) ? emit_float_call(gen, call) : emit_int_call(gen, call);
    case OP_IF_THEN_ELSE: return emit_if_then_else(gen, call);
    case OP_LIKELY: return emit_expr(gen, call->args[0]);
    case OP_ASSUME: return LLVMConstInt(gen->build->i1, 1, false);
    case OP_UNDEF: return LLVMBuildFreeze(gen->builder, LLVMGetPoison(llvm_value_type(gen->build, call->dtype)), "");
    case OP_TVM_ACCESS_PTR:
    case OP_ADDRESS_OF:
    case OP_ISNULLPTR: return emit_pointer_call(gen, call);
    case OP_CALL_EXTERN:
    case OP_CALL_FUNC:
    case OP_CALL_PURE_EXTERN: return emit_extern_call(gen, call);
    case OP_CALL_LLVM_INTRIN:
    case OP_CALL_LLVM_PURE_INTRIN: return emit_llvm_intrinsic_call(gen, call);
    case OP_CALL_PACKED:
    case OP_CALL_CPACKED:
    case OP_TVM_CALL_PACKED_LOWERED: return refuse_packed(gen, call);
    case OP_TIRC_OWN_TMM16: return emit_own_tmm16(gen);
    case OP_RET: return emit_function_exit(gen, call);
    case OP_BREAK_LOOP:
    case OP_CONTINUE_LOOP: emit_loop_exit(gen, call); return NULL;
    default: {
        LLVMValueRef value = emit_bit_call(gen, call);
        return value ? value : refuse(gen, call);
    }
    }
}

LLVMValueRef emit_call(FuncGen *gen, const Expr *call)
{
    if (!math_infos[call->value.op].style)
        return emit_other_call(gen, call);
    return dtype_is_float(call->dtype) ? emit_float_call(gen, call) : emit_int_call(gen, call);
}
