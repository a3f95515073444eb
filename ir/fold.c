/* See fold.h. */
#include "ir/fold.h"

#include <math.h>

static bool is_unsigned64(DType t)
{
    return t.code == DT_UINT && t.bits == 64;
}

/* Sum, difference or product of A and B; false on overflow of the type. */
static bool fold_int_arithmetic(ExprKind kind, DType dtype, int64_t a, int64_t b, int64_t *result)
{
    if (is_unsigned64(dtype)) {
        uint64_t x = (uint64_t)a, y = (uint64_t)b, z;
        bool overflow = kind == EXPR_ADD ? __builtin_add_overflow(x, y, &z)
                        : kind == EXPR_SUB ? __builtin_sub_overflow(x, y, &z)
                                           : __builtin_mul_overflow(x, y, &z);
        *result = (int64_t)z;
        return !overflow;
    }
    bool overflow = kind == EXPR_ADD ? __builtin_add_overflow(a, b, result)
                    : kind == EXPR_SUB ? __builtin_sub_overflow(a, b, result)
                                       : __builtin_mul_overflow(a, b, result);
    return !overflow && dtype_holds(dtype, *result);
}

static bool fold_int_division(ExprKind kind, DType dtype, int64_t a, int64_t b, int64_t *result)
{
    if (b == 0 || (b == -1 && a == dtype_min_int(dtype) && dtype.code == DT_INT))
        return false;
    bool quotient = kind == EXPR_DIV || kind == EXPR_FLOORDIV;
    if (is_unsigned64(dtype))
        *result = (int64_t)(quotient ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b);
    else if (kind == EXPR_DIV || kind == EXPR_MOD)
        *result = quotient ? a / b : a % b;
    else
        *result = quotient ? floor_divide(a, b) : floor_modulo(a, b);
    return true;
}

/* -1, 0 or 1 as A is below, equal to or above B. */
static int compare_ints(DType dtype, int64_t a, int64_t b)
{
    if (is_unsigned64(dtype))
        return ((uint64_t)a > (uint64_t)b) - ((uint64_t)a < (uint64_t)b);
    return (a > b) - (a < b);
}

static bool fold_comparison(ExprKind kind, int order)
{
    switch (kind) {
    case EXPR_EQ: return order == 0;
    case EXPR_NE: return order != 0;
    case EXPR_LT: return order < 0;
    case EXPR_LE: return order <= 0;
    case EXPR_GT: return order > 0;
    default: return order >= 0;
    }
}

static const Expr *fold_ints(Context *ctx, ExprKind kind, const Expr *a, const Expr *b)
{
    int64_t x = a->value.integer, y = b->value.integer, result;
    DType dtype = a->dtype;
    switch (kind) {
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL: return fold_int_arithmetic(kind, dtype, x, y, &result) ? expr_int(ctx, dtype, result) : NULL;
    case EXPR_DIV:
    case EXPR_MOD:
    case EXPR_FLOORDIV:
    case EXPR_FLOORMOD: return fold_int_division(kind, dtype, x, y, &result) ? expr_int(ctx, dtype, result) : NULL;
    case EXPR_MIN: return compare_ints(dtype, x, y) < 0 ? a : b;
    case EXPR_MAX: return compare_ints(dtype, x, y) > 0 ? a : b;
    case EXPR_AND: return expr_bool(ctx, x && y);
    case EXPR_OR: return expr_bool(ctx, x || y);
    default: return expr_bool(ctx, fold_comparison(kind, compare_ints(dtype, x, y)));
    }
}

/* A computed constant: what is printed is the value itself. */
static const Expr *rounded_float(Context *ctx, DType dtype, double value)
{
    return expr_float(ctx, dtype, dtype_round_float(dtype, value));
}

static const Expr *fold_floats(Context *ctx, ExprKind kind, const Expr *a, const Expr *b)
{
    double x = a->value.real, y = b->value.real;
    switch (kind) {
    case EXPR_ADD: return rounded_float(ctx, a->dtype, x + y);
    case EXPR_SUB: return rounded_float(ctx, a->dtype, x - y);
    case EXPR_MUL: return rounded_float(ctx, a->dtype, x * y);
    case EXPR_DIV: return y == 0 ? NULL : rounded_float(ctx, a->dtype, x / y);
    case EXPR_MIN: return x < y ? a : b;
    case EXPR_MAX: return x > y ? a : b;
    case EXPR_EQ: return expr_bool(ctx, x == y);
    case EXPR_NE: return expr_bool(ctx, x != y);
    case EXPR_LT: return expr_bool(ctx, x < y);
    case EXPR_LE: return expr_bool(ctx, x <= y);
    case EXPR_GT: return expr_bool(ctx, x > y);
    case EXPR_GE: return expr_bool(ctx, x >= y);
    default: return NULL;
    }
}

/* Identities with the integer constant on one side; exact for every integer type. */
static const Expr *fold_int_identity(Context *ctx, ExprKind kind, const Expr *a, const Expr *b)
{
    switch (kind) {
    case EXPR_ADD: return expr_is_int(a, 0) ? b : expr_is_int(b, 0) ? a : NULL;
    case EXPR_SUB: return expr_is_int(b, 0) ? a : NULL;
    case EXPR_MUL:
        if (expr_is_int(a, 1) || expr_is_int(b, 0))
            return b;
        return expr_is_int(b, 1) || expr_is_int(a, 0) ? a : NULL;
    case EXPR_DIV:
    case EXPR_FLOORDIV: return expr_is_int(b, 1) || (expr_is_int(a, 0) && b->kind == EXPR_INT && !expr_is_int(b, 0)) ? a : NULL;
    case EXPR_MOD:
    case EXPR_FLOORMOD: return expr_is_int(b, 1) ? expr_int(ctx, a->dtype, 0) : NULL;
    case EXPR_AND:
        if (expr_is_int(a, 0) || expr_is_int(b, 1))
            return a;
        return expr_is_int(a, 1) ? b : expr_is_int(b, 0) && expr_is_pure(a) ? b : NULL;
    case EXPR_OR:
        if (expr_is_int(a, 1) || expr_is_int(b, 0))
            return a;
        return expr_is_int(a, 0) ? b : expr_is_int(b, 1) && expr_is_pure(a) ? b : NULL;
    default: return NULL;
    }
}

const Expr *fold_binary(Context *ctx, ExprKind kind, const Expr *a, const Expr *b)
{
    if (a->kind == EXPR_INT && b->kind == EXPR_INT && a->dtype.lanes == 1)
        return fold_ints(ctx, kind, a, b);
    if (a->kind == EXPR_FLOAT && b->kind == EXPR_FLOAT && a->dtype.lanes == 1)
        return fold_floats(ctx, kind, a, b);
    if (a->kind == EXPR_INT || b->kind == EXPR_INT)
        return fold_int_identity(ctx, kind, a, b);
    if (b->kind == EXPR_FLOAT && b->value.real == 1.0 && (kind == EXPR_MUL || kind == EXPR_DIV))
        return a;
    if (a->kind == EXPR_FLOAT && a->value.real == 1.0 && kind == EXPR_MUL)
        return b;
    return (kind == EXPR_MIN || kind == EXPR_MAX) && a == b ? a : NULL;
}

const Expr *fold_cast(Context *ctx, DType dtype, const Expr *value)
{
    if (dtype.lanes != 1 || value->dtype.lanes != 1)
        return NULL;
    bool to_int = dtype_is_integer(dtype) || dtype.code == DT_BOOL;
    if (value->kind == EXPR_INT) {
        int64_t x = value->value.integer;
        if (dtype.code == DT_BOOL)
            return expr_bool(ctx, x != 0);
        if (dtype_is_integer(dtype))
            return expr_int_at(ctx, dtype, dtype_wrap(dtype, x), value->span);
        if (dtype_is_float(dtype))
            return expr_float(ctx, dtype, dtype_int_to_real(dtype, x, is_unsigned64(value->dtype)));
    }
    if (value->kind == EXPR_FLOAT) {
        double x = value->value.real, literal = value->value.literal;
        if (dtype_is_float(dtype))
            return expr_float(ctx, dtype, dtype_round_float(dtype, literal) == dtype_round_float(dtype, x) ? literal : x);
        if (to_int && dtype.code != DT_BOOL && fabs(x) < 9e18 && dtype_holds(dtype, (int64_t)x))
            return expr_int(ctx, dtype, (int64_t)x);
        if (dtype.code == DT_BOOL && !isnan(x))
            return expr_bool(ctx, x != 0);
    }
    return NULL;
}

const Expr *fold_bits(Context *ctx, Op op, const Expr *a, const Expr *b)
{
    int64_t x, y;
    DType dtype = a->dtype;
    if (!expr_const_int(a, &x) || !expr_const_int(b, &y))
        return NULL;
    bool shifts = op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT;
    if (shifts && (y < 0 || y >= dtype.bits || (dtype.code == DT_UINT && dtype.bits == 64)))
        return NULL;
    switch (op) {
    case OP_BITWISE_AND: return expr_int(ctx, dtype, x & y);
    case OP_BITWISE_OR: return expr_int(ctx, dtype, x | y);
    case OP_BITWISE_XOR: return expr_int(ctx, dtype, x ^ y);
    case OP_SHIFT_LEFT: return expr_int(ctx, dtype, dtype_wrap(dtype, (int64_t)((uint64_t)x << y)));
    case OP_SHIFT_RIGHT: return expr_int(ctx, dtype, x >> y);
    default: return NULL;
    }
}

const Expr *fold_rounding(Context *ctx, Op op, const Expr *a)
{
    if (a->kind != EXPR_FLOAT)
        return NULL;
    double x = a->value.real;
    switch (op) {
    case OP_FLOOR: return expr_float(ctx, a->dtype, floor(x));
    case OP_CEIL: return expr_float(ctx, a->dtype, ceil(x));
    case OP_TRUNC: return expr_float(ctx, a->dtype, trunc(x));
    case OP_ROUND: return expr_float(ctx, a->dtype, round(x));
    case OP_NEARBYINT: return expr_float(ctx, a->dtype, nearbyint(x));
    case OP_FABS: return expr_float(ctx, a->dtype, fabs(x));
    default: return NULL;
    }
}

int64_t integer_gcd(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x > INT64_MAX ? 1 : (int64_t)x;
}

bool integer_operation(ExprKind kind, int64_t a, int64_t b, int64_t *result)
{
    bool divides = b != 0 && (b != -1 || a != INT64_MIN);
    switch (kind) {
    case EXPR_ADD: return !__builtin_add_overflow(a, b, result);
    case EXPR_SUB: return !__builtin_sub_overflow(a, b, result);
    case EXPR_MUL: return !__builtin_mul_overflow(a, b, result);
    case EXPR_FLOORDIV: *result = divides ? floor_divide(a, b) : 0; return divides;
    case EXPR_FLOORMOD: *result = divides ? floor_modulo(a, b) : 0; return divides;
    case EXPR_MIN: *result = a < b ? a : b; return true;
    case EXPR_MAX: *result = a > b ? a : b; return true;
    case EXPR_EQ: *result = a == b; return true;
    case EXPR_NE: *result = a != b; return true;
    case EXPR_LT: *result = a < b; return true;
    case EXPR_LE: *result = a <= b; return true;
    case EXPR_GT: *result = a > b; return true;
    case EXPR_GE: *result = a >= b; return true;
    default: return false;
    }
}
