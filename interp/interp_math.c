/* Evaluates the intrinsics that compute from their arguments alone: mathematics, integer bits, fixed-point products, reinterpretation, lazy
   selection. */
#include <math.h>
#include <string.h>

#include "interp/interp_internal.h"

/* --- Float functions of one and two arguments: the double function, rounded to the type --- */
/* 1 / (1 + exp(-x)), where exp does not overflow. */
static double sigmoid(double x)
{
    double power = exp(-fabs(x));
    return (x < 0 ? power : 1) / (1 + power);
}
static double reciprocal_sqrt(double x)
{
    return 1 / sqrt(x);
}
static double likely(double x)
{
    return x;
}

static double (*const unary_functions[OP_COUNT])(double) = {
    [OP_EXP] = exp,     [OP_EXP2] = exp2,     [OP_EXP10] = exp10,
    [OP_LOG] = log,     [OP_LOG2] = log2,     [OP_LOG10] = log10,
    [OP_LOG1P] = log1p, [OP_SQRT] = sqrt,     [OP_SIN] = sin,
    [OP_COS] = cos,     [OP_TAN] = tan,       [OP_SINH] = sinh,
    [OP_COSH] = cosh,   [OP_TANH] = tanh,     [OP_ASIN] = asin,
    [OP_ACOS] = acos,   [OP_ATAN] = atan,     [OP_ASINH] = asinh,
    [OP_ACOSH] = acosh, [OP_ATANH] = atanh,   [OP_SIGMOID] = sigmoid,
    [OP_ERF] = erf,     [OP_FABS] = fabs,     [OP_FLOOR] = floor,
    [OP_CEIL] = ceil,   [OP_ROUND] = round,   [OP_NEARBYINT] = nearbyint,
    [OP_TRUNC] = trunc, [OP_LIKELY] = likely, [OP_RSQRT] = reciprocal_sqrt,
};
static double (*const binary_functions[OP_COUNT])(double, double) = {
    [OP_ATAN2] = atan2, [OP_POW] = pow, [OP_HYPOT] = hypot, [OP_COPYSIGN] = copysign, [OP_FMOD] = fmod,
};

static double eval_unary(const EvalNode *node, Thread *thread)
{
    return eval_round(node->dtype, node->as.unary(eval_real(node->args[0], thread)));
}

static double eval_binary(const EvalNode *node, Thread *thread)
{
    double a = eval_real(node->args[0], thread), b = eval_real(node->args[1], thread);
    return eval_round(node->dtype, node->as.binary(a, b));
}

static double eval_fma(const EvalNode *node, Thread *thread)
{
    double a = eval_real(node->args[0], thread), b = eval_real(node->args[1], thread), c = eval_real(node->args[2], thread);
    if (node->dtype.bits == 32)
        return fmaf((float)a, (float)b, (float)c);
    return eval_round(node->dtype, fma(a, b, c));
}

/* The next value of the type itself. */
static double eval_nextafter(const EvalNode *node, Thread *thread)
{
    double a = eval_real(node->args[0], thread), b = eval_real(node->args[1], thread);
    return node->dtype.bits == 64 ? nextafter(a, b) : nextafterf((float)a, (float)b);
}

static double eval_ldexp(const EvalNode *node, Thread *thread)
{
    double a = eval_real(node->args[0], thread);
    int64_t exponent = dtype_is_float(node->args[1]->dtype) ? (int64_t)fmin(fmax(eval_real(node->args[1], thread), -100000), 100000)
                                                            : eval_integer(node->args[1], thread);
    return eval_round(node->dtype, ldexp(a, (int)(exponent < -100000 ? -100000 : exponent > 100000 ? 100000 : exponent)));
}

static int64_t eval_isnan(const EvalNode *node, Thread *thread)
{
    return isnan(eval_real(node->args[0], thread)) != 0;
}
static int64_t eval_isinf(const EvalNode *node, Thread *thread)
{
    return isinf(eval_real(node->args[0], thread)) != 0;
}
static int64_t eval_isfinite(const EvalNode *node, Thread *thread)
{
    return isfinite(eval_real(node->args[0], thread)) != 0;
}

/* --- Integers --- */
static uint64_t argument_bits(const EvalNode *node, Thread *thread)
{
    uint64_t value = (uint64_t)eval_integer(node->args[0], thread);
    int unused = 64 - node->args[0]->dtype.bits;
    return value << unused >> unused;
}

static int64_t eval_popcount(const EvalNode *node, Thread *thread)
{
    return __builtin_popcountll(argument_bits(node, thread));
}

static int64_t eval_clz(const EvalNode *node, Thread *thread)
{
    uint64_t bits = argument_bits(node, thread);
    int width = node->args[0]->dtype.bits;
    return bits ? __builtin_clzll(bits) - (64 - width) : width;
}

static bool shift_fits(const EvalNode *node, Thread *thread, int64_t amount)
{
    if (amount >= 0 && amount < node->dtype.bits)
        return true;
    report_finding(thread, INTERP_DIVISION, node->source, node->source->span, "shifts %s by %lld",
                   dtype_name(thread->run->ctx, dtype_scalar(node->dtype)), (long long)amount);
    return false;
}

static int64_t eval_shift_left(const EvalNode *node, Thread *thread)
{
    int64_t a = eval_integer(node->args[0], thread), b = eval_integer(node->args[1], thread);
    return shift_fits(node, thread, b) ? eval_wrap(node, (int64_t)((uint64_t)a << b)) : 0;
}

static int64_t eval_shift_right(const EvalNode *node, Thread *thread)
{
    int64_t a = eval_integer(node->args[0], thread), b = eval_integer(node->args[1], thread);
    bool is_unsigned = node->dtype.code == DT_UINT;
    if (!shift_fits(node, thread, b))
        return is_unsigned || a >= 0 ? 0 : -1;
    return is_unsigned ? (int64_t)((uint64_t)a >> b) : a >> b;
}

#define BITWISE(name, operator)                                                                   \
    static int64_t name(const EvalNode *node, Thread *thread)                                     \
    {                                                                                             \
        int64_t a = eval_integer(node->args[0], thread), b = eval_integer(node->args[1], thread); \
        return a operator b;                                                                      \
    }
BITWISE(eval_bitwise_and, &)
BITWISE(eval_bitwise_or, |)
BITWISE(eval_bitwise_xor, ^)

static int64_t eval_bitwise_not(const EvalNode *node, Thread *thread)
{
    int64_t a = eval_integer(node->args[0], thread);
    return node->dtype.code == DT_BOOL ? !a : eval_wrap(node, ~a);
}

static int64_t eval_absolute(const EvalNode *node, Thread *thread)
{
    int64_t a = eval_integer(node->args[0], thread);
    return node->dtype.code == DT_INT && a < 0 ? eval_wrap(node, (int64_t)(0 - (uint64_t)a)) : a;
}

static int64_t eval_argument(const EvalNode *node, Thread *thread)
{
    return eval_integer(node->args[0], thread);
}

/* By squaring, wrapping; a negative power gives 0 but for the bases 1 and -1. */
static int64_t eval_power(const EvalNode *node, Thread *thread)
{
    int64_t base = eval_integer(node->args[0], thread), power = eval_integer(node->args[1], thread);
    if (power < 0 && node->args[1]->dtype.code == DT_INT)
        return base == 1 ? 1 : base == -1 ? (power & 1 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)base;
    for (uint64_t rest = (uint64_t)power; rest; rest >>= 1, square *= square)
        if (rest & 1)
            result *= square;
    return eval_wrap(node, (int64_t)result);
}

/* --- Fixed point: round(x * y * 2^(left - right - q)), halves up, computed in 64 bits --- */
static int64_t multiply_shift(int64_t x, int64_t y, int64_t left, int64_t right, int64_t q)
{
    uint64_t product = ((uint64_t)x << (left & 63)) * (uint64_t)y;
    int64_t total = right + q;
    if (total <= 0 || total > 63)
        return (int64_t)product >> (total & 63);
    return (int64_t)(product + (UINT64_C(1) << (total - 1))) >> total;
}

static int64_t eval_multiply_shift(const EvalNode *node, Thread *thread)
{
    int64_t v[4];
    for (int i = 0; i < 4; i++)
        v[i] = eval_integer(node->args[i], thread);
    int64_t left = v[3] > 0 ? v[3] : 0, right = v[3] < 0 ? -v[3] : 0;
    return eval_wrap(node, multiply_shift(v[0], v[1], left, right, v[2]));
}

static int64_t eval_multiply_shift_per_axis(const EvalNode *node, Thread *thread)
{
    int64_t v[7]; /* x, y, left shift, right shift, q, whether to shift left, whether to shift right */
    for (int i = 0; i < 7; i++)
        v[i] = eval_integer(node->args[i], thread);
    return eval_wrap(node, multiply_shift(v[0], v[1], v[5] ? v[2] : 0, v[6] ? v[3] : 0, v[4]));
}

/* --- Reinterpretation of bits: through memory as the types are stored --- */
static void argument_in_memory(const EvalNode *node, Thread *thread, uint8_t bytes[8])
{
    const EvalNode *argument = node->args[0];
    memset(bytes, 0, 8);
    if (dtype_is_float(argument->dtype))
        interp_write_real(dtype_scalar(argument->dtype), bytes, eval_real(argument, thread));
    else
        interp_write_integer(dtype_scalar(argument->dtype), bytes, eval_integer(argument, thread));
}

static int64_t eval_reinterpret_integer(const EvalNode *node, Thread *thread)
{
    uint8_t bytes[8];
    argument_in_memory(node, thread, bytes);
    return interp_read_integer(dtype_scalar(node->dtype), bytes);
}

static double eval_reinterpret_real(const EvalNode *node, Thread *thread)
{
    uint8_t bytes[8];
    argument_in_memory(node, thread, bytes);
    return interp_read_real(dtype_scalar(node->dtype), bytes);
}

/* Only the null pointer can be made from a number. */
static Pointer eval_reinterpret_pointer(const EvalNode *node, Thread *thread)
{
    if (eval_integer(node->args[0], thread))
        eval_unsupported(node, thread);
    return (Pointer){NULL, 0};
}

/* --- Lazy selection --- */
static int64_t eval_if_integer(const EvalNode *node, Thread *thread)
{
    return eval_integer(node->args[0], thread) ? eval_integer(node->args[1], thread) : eval_integer(node->args[2], thread);
}
static double eval_if_real(const EvalNode *node, Thread *thread)
{
    return eval_integer(node->args[0], thread) ? eval_real(node->args[1], thread) : eval_real(node->args[2], thread);
}
static Pointer eval_if_pointer(const EvalNode *node, Thread *thread)
{
    return eval_integer(node->args[0], thread) ? eval_pointer(node->args[1], thread) : eval_pointer(node->args[2], thread);
}

/* Lane i is true while base + i is below the limit. */
static int64_t eval_active_lane_mask(const EvalNode *node, Thread *thread)
{
    int64_t base = eval_integer(node->args[0], thread), limit = eval_integer(node->args[1], thread);
    return (__int128)base + thread->lane < limit;
}

/* --- Choice of the evaluator --- */
static EvalInteger *integer_intrinsic(Op op)
{
    switch (op) {
    case OP_POPCOUNT: return eval_popcount;
    case OP_CLZ: return eval_clz;
    case OP_SHIFT_LEFT: return eval_shift_left;
    case OP_SHIFT_RIGHT: return eval_shift_right;
    case OP_BITWISE_AND: return eval_bitwise_and;
    case OP_BITWISE_OR: return eval_bitwise_or;
    case OP_BITWISE_XOR: return eval_bitwise_xor;
    case OP_BITWISE_NOT: return eval_bitwise_not;
    case OP_Q_MULTIPLY_SHIFT: return eval_multiply_shift;
    case OP_Q_MULTIPLY_SHIFT_PER_AXIS: return eval_multiply_shift_per_axis;
    case OP_FABS: return eval_absolute;
    case OP_POW: return eval_power;
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND:
    case OP_NEARBYINT:
    case OP_TRUNC:
    case OP_LIKELY: return eval_argument;
    case OP_GET_ACTIVE_LANE_MASK: return eval_active_lane_mask;
    default: return NULL;
    }
}

static bool compile_real(EvalNode *node, Op op)
{
    if (unary_functions[op]) {
        node->as.unary = unary_functions[op];
        node->eval.real = eval_unary;
    } else if (binary_functions[op]) {
        node->as.binary = binary_functions[op];
        node->eval.real = eval_binary;
    } else if (op == OP_FMA)
        node->eval.real = eval_fma;
    else if (op == OP_NEXTAFTER && node->dtype.bits >= 32)
        node->eval.real = eval_nextafter;
    else if (op == OP_LDEXP)
        node->eval.real = eval_ldexp;
    return node->eval.real != NULL;
}

/* isnan and its like are false or true for every integer. */
static int64_t eval_false(const EvalNode *node, Thread *thread)
{
    eval_integer(node->args[0], thread);
    return node->source->value.op == OP_ISFINITE;
}

static bool compile_classification(EvalNode *node, Op op)
{
    if (!dtype_is_float(node->args[0]->dtype))
        node->eval.integer = eval_false;
    else
        node->eval.integer = op == OP_ISNAN ? eval_isnan : op == OP_ISINF ? eval_isinf : eval_isfinite;
    return true;
}

static bool compile_selection(EvalNode *node)
{
    if (dtype_is_float(node->dtype))
        node->eval.real = eval_if_real;
    else if (node->dtype.code == DT_HANDLE)
        node->eval.pointer = eval_if_pointer;
    else
        node->eval.integer = eval_if_integer;
    return true;
}

static bool compile_reinterpret(EvalNode *node)
{
    DType from = node->args[0]->dtype;
    if (from.code == DT_HANDLE || (node->dtype.code != DT_HANDLE && (from.bits != node->dtype.bits || from.lanes != node->dtype.lanes)))
        return false;
    if (node->dtype.code == DT_HANDLE)
        node->eval.pointer = eval_reinterpret_pointer;
    else if (dtype_is_float(node->dtype))
        node->eval.real = eval_reinterpret_real;
    else
        node->eval.integer = eval_reinterpret_integer;
    return true;
}

bool math_compile(EvalNode *node, Op op)
{
    switch (op) {
    case OP_ISNAN:
    case OP_ISINF:
    case OP_ISFINITE: return compile_classification(node, op);
    case OP_IF_THEN_ELSE: return compile_selection(node);
    case OP_REINTERPRET: return compile_reinterpret(node);
    default: break;
    }
    if (dtype_is_float(node->dtype))
        return compile_real(node, op);
    if (node->dtype.code == DT_HANDLE || node->dtype.code == DT_VOID || (node->arg_count && dtype_is_float(node->args[0]->dtype)))
        return false;
    node->eval.integer = integer_intrinsic(op);
    return node->eval.integer != NULL;
}
