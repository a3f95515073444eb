/* Which operations have an inline form; see vmath.h. */
#include "codegen/llvm/vmath_lanes.h"

Value vmath_emit(FuncGen *gen, Op op, Value *args)
{
    Lanes lanes = lanes_of(gen, LLVMTypeOf(args[0])), *m = &lanes;
    switch (op) {
    case OP_EXP: return vmath_exp(m, args[0]);
    case OP_EXP2: return vmath_exp2(m, args[0]);
    case OP_EXP10: return vmath_exp10(m, args[0]);
    case OP_SIGMOID: return vmath_sigmoid(m, args[0]);
    case OP_TANH: return vmath_tanh(m, args[0]);
    case OP_LOG: return vmath_log(m, args[0]);
    case OP_LOG2: return vmath_log2(m, args[0]);
    case OP_LOG10: return vmath_log10(m, args[0]);
    case OP_LOG1P: return vmath_log1p(m, args[0]);
    case OP_POW: return vmath_pow(m, args[0], args[1]);
    case OP_SIN: return vmath_sin(m, args[0]);
    case OP_COS: return vmath_cos(m, args[0]);
    case OP_TAN: return vmath_tan(m, args[0]);
    case OP_ATAN: return vmath_atan(m, args[0]);
    case OP_ERF: return vmath_erf(m, args[0]);
    default: return NULL;
    }
}
