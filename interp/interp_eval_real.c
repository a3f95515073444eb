/* Evaluates operators on floats, computed in double and rounded to the type (exact for + - * / in float32 and below), and conversions
   between types. */
#include <math.h>

#include "interp/interp_internal.h"

#define OPERANDS double a = eval_real(node->args[0], thread), b = eval_real(node->args[1], thread)

#define REAL_OPERATOR(name, expression)                      \
    static double name(const EvalNode *node, Thread *thread) \
    {                                                        \
        OPERANDS;                                            \
        return eval_round(node->dtype, expression);          \
    }
REAL_OPERATOR(eval_add, a + b)
REAL_OPERATOR(eval_subtract, a - b)
REAL_OPERATOR(eval_multiply, a *b)
REAL_OPERATOR(eval_divide, a / b)
REAL_OPERATOR(eval_remainder, fmod(a, b))
REAL_OPERATOR(eval_floordiv, floor(a / b))
REAL_OPERATOR(eval_floormod, a - b * floor(a / b))
REAL_OPERATOR(eval_min, a < b ? a : b)
REAL_OPERATOR(eval_max, a > b ? a : b)

EvalReal *eval_real_operator(ExprKind kind)
{
    switch (kind) {
    case EXPR_ADD: return eval_add;
    case EXPR_SUB: return eval_subtract;
    case EXPR_MUL: return eval_multiply;
    case EXPR_DIV: return eval_divide;
    case EXPR_MOD: return eval_remainder;
    case EXPR_FLOORDIV: return eval_floordiv;
    case EXPR_FLOORMOD: return eval_floormod;
    case EXPR_MIN: return eval_min;
    case EXPR_MAX: return eval_max;
    default: return NULL;
    }
}

#define COMPARISON(name, operator)                            \
    static int64_t name(const EvalNode *node, Thread *thread) \
    {                                                         \
        OPERANDS;                                             \
        return a operator b;                                  \
    }
COMPARISON(eval_equal, ==)
COMPARISON(eval_not_equal, !=)
COMPARISON(eval_less, <)
COMPARISON(eval_less_equal, <=)
COMPARISON(eval_greater, >)
COMPARISON(eval_greater_equal, >=)

EvalInteger *eval_real_comparison(ExprKind kind)
{
    switch (kind) {
    case EXPR_EQ: return eval_equal;
    case EXPR_NE: return eval_not_equal;
    case EXPR_LT: return eval_less;
    case EXPR_LE: return eval_less_equal;
    case EXPR_GT: return eval_greater;
    case EXPR_GE: return eval_greater_equal;
    default: return NULL;
    }
}

/* --- Conversions --- */
static int64_t eval_integer_to_integer(const EvalNode *node, Thread *thread)
{
    return eval_wrap(node, eval_integer(node->args[0], thread));
}

static int64_t eval_integer_to_bool(const EvalNode *node, Thread *thread)
{
    return eval_integer(node->args[0], thread) != 0;
}

static int64_t eval_real_to_bool(const EvalNode *node, Thread *thread)
{
    return eval_real(node->args[0], thread) != 0;
}

/* Rounds once: no type is made by way of double, which matters beyond 2^53. */
static double eval_integer_to_real(const EvalNode *node, Thread *thread)
{
    int64_t value = eval_integer(node->args[0], thread);
    bool is_unsigned = node->args[0]->dtype.code == DT_UINT;
    if (node->dtype.code == DT_FLOAT && node->dtype.bits == 32)
        return is_unsigned ? (float)(uint64_t)value : (float)value;
    return eval_round(node->dtype, dtype_int_to_real(node->dtype, value, is_unsigned));
}

static double eval_real_to_real(const EvalNode *node, Thread *thread)
{
    return eval_round(node->dtype, eval_real(node->args[0], thread));
}

static int64_t eval_real_to_integer(const EvalNode *node, Thread *thread)
{
    double value = trunc(eval_real(node->args[0], thread));
    DType t = node->dtype;
    int value_bits = t.code == DT_INT ? t.bits - 1 : t.bits;
    double limit = ldexp(1, value_bits);
    if (isnan(value))
        return 0;
    if (value >= limit)
        return t.code == DT_UINT && t.bits == 64 ? -1 : dtype_max_int(t);
    if (t.code == DT_UINT)
        return value <= 0 ? 0 : (int64_t)(uint64_t)value;
    return value < -limit ? dtype_min_int(t) : (int64_t)value;
}

bool eval_compile_cast(EvalNode *node)
{
    DType to = node->dtype, from = node->args[0]->dtype;
    if (to.code == DT_HANDLE || from.code == DT_HANDLE || to.code == DT_VOID || from.code == DT_VOID)
        return false;
    if (to.code == DT_BOOL)
        node->eval.integer = dtype_is_float(from) ? eval_real_to_bool : eval_integer_to_bool;
    else if (dtype_is_float(to))
        node->eval.real = dtype_is_float(from) ? eval_real_to_real : eval_integer_to_real;
    else
        node->eval.integer = dtype_is_float(from) ? eval_real_to_integer : eval_integer_to_integer;
    return true;
}
