/* Evaluates operators on integers and bools. Values are carried as int64; those of uint64 as their bit pattern. Arithmetic wraps into the
   node's type; the checked forms, for arithmetic of index types in an index, report where it does. */
#include "ir/fold.h"
#include "interp/interp_internal.h"

#define OPERANDS int64_t a = eval_integer(node->args[0], thread), b = eval_integer(node->args[1], thread)

/* --- Wrapping arithmetic --- */
static int64_t eval_add(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return eval_wrap(node, (int64_t)((uint64_t)a + (uint64_t)b));
}

static int64_t eval_subtract(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return eval_wrap(node, (int64_t)((uint64_t)a - (uint64_t)b));
}

static int64_t eval_multiply(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return eval_wrap(node, (int64_t)((uint64_t)a * (uint64_t)b));
}

/* --- Checked arithmetic --- */
static int64_t checked_result(const EvalNode *node, Thread *thread, int64_t a, int64_t b, int64_t value, bool overflow)
{
    int64_t wrapped = eval_wrap(node, value);
    if (!overflow && wrapped == value)
        return value;
    Context *ctx = thread->run->ctx;
    report_finding(thread, INTERP_OVERFLOW, node->source, node->source->span, "overflows %s in an index: %lld %s %lld",
                   dtype_name(ctx, dtype_scalar(node->dtype)), (long long)a, expr_kind_info(node->source->kind)->operator_text,
                   (long long)b);
    return wrapped;
}

#define CHECKED(name, builtin)                                      \
    static int64_t name(const EvalNode *node, Thread *thread)       \
    {                                                               \
        OPERANDS;                                                   \
        int64_t value;                                              \
        bool overflow = builtin(a, b, &value);                      \
        return checked_result(node, thread, a, b, value, overflow); \
    }
CHECKED(eval_add_checked, __builtin_add_overflow)
CHECKED(eval_subtract_checked, __builtin_sub_overflow)
CHECKED(eval_multiply_checked, __builtin_mul_overflow)

/* --- Division --- */
/* Tells whether a / b can be computed: not when b is 0, which is a finding, and not when the result is 2^63, which wraps to a. */
static bool divides(const EvalNode *node, Thread *thread, int64_t a, int64_t b)
{
    if (b == 0)
        report_finding(thread, INTERP_DIVISION, node->source, node->source->span, "divides %lld by zero", (long long)a);
    return b != 0 && !(a == INT64_MIN && b == -1);
}

static int64_t eval_divide(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    if (!divides(node, thread, a, b))
        return b ? a : 0;
    return eval_wrap(node, a / b);
}

static int64_t eval_remainder(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return divides(node, thread, a, b) ? a % b : 0;
}

static int64_t eval_floordiv(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    if (!divides(node, thread, a, b))
        return b ? a : 0;
    return eval_wrap(node, floor_divide(a, b));
}

static int64_t eval_floormod(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return divides(node, thread, a, b) ? floor_modulo(a, b) : 0;
}

static bool divides_unsigned(const EvalNode *node, Thread *thread, int64_t a, int64_t b)
{
    if (b == 0)
        report_finding(thread, INTERP_DIVISION, node->source, node->source->span, "divides %llu by zero", (unsigned long long)a);
    return b != 0;
}

static int64_t eval_divide_unsigned(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return divides_unsigned(node, thread, a, b) ? (int64_t)((uint64_t)a / (uint64_t)b) : 0;
}

static int64_t eval_remainder_unsigned(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return divides_unsigned(node, thread, a, b) ? (int64_t)((uint64_t)a % (uint64_t)b) : 0;
}

/* --- Comparison, minimum, logic --- */
#define COMPARISON(name, T, operator)                         \
    static int64_t name(const EvalNode *node, Thread *thread) \
    {                                                         \
        OPERANDS;                                             \
        return (T)a operator(T) b;                            \
    }
COMPARISON(eval_equal, int64_t, ==)
COMPARISON(eval_not_equal, int64_t, !=)
COMPARISON(eval_less, int64_t, <)
COMPARISON(eval_less_equal, int64_t, <=)
COMPARISON(eval_greater, int64_t, >)
COMPARISON(eval_greater_equal, int64_t, >=)
COMPARISON(eval_less_unsigned, uint64_t, <)
COMPARISON(eval_less_equal_unsigned, uint64_t, <=)
COMPARISON(eval_greater_unsigned, uint64_t, >)
COMPARISON(eval_greater_equal_unsigned, uint64_t, >=)

static int64_t eval_min(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return a < b ? a : b;
}

static int64_t eval_max(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return a > b ? a : b;
}

static int64_t eval_min_unsigned(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return (uint64_t)a < (uint64_t)b ? a : b;
}

static int64_t eval_max_unsigned(const EvalNode *node, Thread *thread)
{
    OPERANDS;
    return (uint64_t)a > (uint64_t)b ? a : b;
}

static int64_t eval_and(const EvalNode *node, Thread *thread)
{
    return eval_integer(node->args[0], thread) && eval_integer(node->args[1], thread);
}

static int64_t eval_or(const EvalNode *node, Thread *thread)
{
    return eval_integer(node->args[0], thread) || eval_integer(node->args[1], thread);
}

static int64_t eval_not(const EvalNode *node, Thread *thread)
{
    return !eval_integer(node->args[0], thread);
}

EvalInteger *eval_integer_operator(ExprKind kind, DType operand, bool checked)
{
    bool is_unsigned = operand.code == DT_UINT;
    switch (kind) {
    case EXPR_ADD: return checked ? eval_add_checked : eval_add;
    case EXPR_SUB: return checked ? eval_subtract_checked : eval_subtract;
    case EXPR_MUL: return checked ? eval_multiply_checked : eval_multiply;
    case EXPR_DIV: return is_unsigned ? eval_divide_unsigned : eval_divide;
    case EXPR_MOD: return is_unsigned ? eval_remainder_unsigned : eval_remainder;
    case EXPR_FLOORDIV: return is_unsigned ? eval_divide_unsigned : eval_floordiv;
    case EXPR_FLOORMOD: return is_unsigned ? eval_remainder_unsigned : eval_floormod;
    case EXPR_MIN: return is_unsigned ? eval_min_unsigned : eval_min;
    case EXPR_MAX: return is_unsigned ? eval_max_unsigned : eval_max;
    case EXPR_EQ: return eval_equal;
    case EXPR_NE: return eval_not_equal;
    case EXPR_LT: return is_unsigned ? eval_less_unsigned : eval_less;
    case EXPR_LE: return is_unsigned ? eval_less_equal_unsigned : eval_less_equal;
    case EXPR_GT: return is_unsigned ? eval_greater_unsigned : eval_greater;
    case EXPR_GE: return is_unsigned ? eval_greater_equal_unsigned : eval_greater_equal;
    case EXPR_AND: return eval_and;
    case EXPR_OR: return eval_or;
    case EXPR_NOT: return eval_not;
    default: return NULL;
    }
}
