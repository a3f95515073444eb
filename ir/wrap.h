/* Arithmetic of int32 and int64 that may leave its type. In an index it must not, and every analysis relies on that; the values that a
   program computes wrap, also those that it compares in a condition or names by a let:

     if vi * 1073741824 == 0:     # holds for vi = 0, 4, 8, ...

   Written in an unsigned type, whose arithmetic wraps for everybody, it can be left to the same analyses:

     if T.Cast("int32", T.Cast("uint32", vi) * T.uint32(1073741824)) == 0: */
#ifndef TIRC_IR_WRAP_H
#define TIRC_IR_WRAP_H

#include "ir/stmt.h"

/* The values of an expression lie between MIN and MAX. Rounded: what touches the end of int64 counts as beyond it. */
typedef struct {
    double min, max;
} WrapBound;

/* What the variables around an expression may be. Without a range of its own, a variable is a size or something like it: of ordinary
   magnitude, below 2^25 in int32 and 2^31 in int64, so that what overflows for larger sizes only counts as an index. */
typedef struct {
    bool (*find)(const void *data, const Var *var, WrapBound *bound); /* false: not known */
    const void *data;
} WrapScope;

WrapBound wrap_bound(const WrapScope *scope, const Expr *expr);
/* From RANGE.min to the last value in RANGE. */
WrapBound wrap_bound_of_range(const WrapScope *scope, Range range);

/* EXPR with sums, differences and products of int32 and int64 that may leave their type written in the unsigned type; those in the indices
   of loads stay as they are. EXPR itself where there are none. */
const Expr *wrap_explicitly(Context *ctx, const WrapScope *scope, const Expr *expr);
/* The converse: operations in EXPR that wrap_explicitly wrote, and would write again, as they were. */
const Expr *wrap_implicitly(Context *ctx, const WrapScope *scope, const Expr *expr);

#endif
