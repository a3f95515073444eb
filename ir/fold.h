/* Constant folding of single operations; exact, and silent where the result would overflow the type or divide by zero. */
#ifndef TIRC_IR_FOLD_H
#define TIRC_IR_FOLD_H

#include "ir/expr.h"

/* KIND applied to operands of one type: a constant or one of the operands where that is exact (x + 0, x * 1, 0 * x for integers, ...), or
   NULL. Float identities that do not hold for NaN, infinities or -0.0 are not used. */
const Expr *fold_binary(Context *ctx, ExprKind kind, const Expr *a, const Expr *b);
/* A shift or bitwise operation OP of two constants where that is exact, or NULL. */
const Expr *fold_bits(Context *ctx, Op op, const Expr *a, const Expr *b);
/* OP of constant A where it gives a neighbouring whole number, or the magnitude; or NULL. */
const Expr *fold_rounding(Context *ctx, Op op, const Expr *a);
/* Constant VALUE converted to DTYPE (of one lane), or NULL when it is no constant or does not fit. */
const Expr *fold_cast(Context *ctx, DType dtype, const Expr *value);

/* Floor division and modulo of int64 (b not 0, and not INT64_MIN / -1). */
static inline int64_t floor_divide(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t floor_modulo(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* The greatest common divisor, not negative; that of 0 and A is the magnitude of A, and 1 stands for one that int64 does not hold. */
int64_t integer_gcd(int64_t a, int64_t b);
/* KIND, a sum, difference, product, floor division or remainder, minimum, maximum or comparison (1 or 0), of A and B. False for another
   kind, where 64 bits do not hold the result, and for division by 0. */
bool integer_operation(ExprKind kind, int64_t a, int64_t b, int64_t *result);

#endif
