/* Operators as programs write them: promotion, folding, refusal. See the last part of expr.h; the promotion rules are the reference's. */
#include "ir/expr.h"
#include "ir/fold.h"
#include "support/bug.h"

/* The wider type; of integers of one width the unsigned one, of floats of one width float16. */
static DType promoted(DType a, DType b)
{
    if (dtype_is_float(a) != dtype_is_float(b))
        return dtype_is_float(a) ? a : b;
    if (dtype_is_float(a)) {
        if (a.bits == b.bits && a.code != b.code)
            return a.bits == 16 ? DTYPE(DT_FLOAT, 16) : DTYPE_FLOAT32;
        return a.bits >= b.bits ? a : b;
    }
    if (a.code == DT_BOOL || b.code == DT_BOOL)
        return a.code == DT_BOOL ? b : a;
    if (a.bits != b.bits)
        return a.bits > b.bits ? a : b;
    return a.code == DT_UINT ? a : b;
}

static const char *operand_type(Context *ctx, const Expr *operand)
{
    return operand->kind == EXPR_STRING ? "string" : dtype_name(ctx, operand->dtype);
}

bool op_match_types(Context *ctx, const Expr **a, const Expr **b, Span span)
{
    DType ta = (*a)->dtype, tb = (*b)->dtype;
    if (dtype_equal(ta, tb))
        return true;
    if (!dtype_is_number(ta) || !dtype_is_number(tb)) {
        diag_error(ctx, span, "operands of types %s and %s do not go together", operand_type(ctx, *a), operand_type(ctx, *b));
        return false;
    }
    if (ta.lanes != tb.lanes && ta.lanes != 1 && tb.lanes != 1) {
        diag_error(ctx, span, "vectors of %s and %s lanes do not go together", dtype_lanes_text(ctx, ta), dtype_lanes_text(ctx, tb));
        return false;
    }
    DType common = dtype_with_lanes(promoted(dtype_scalar(ta), dtype_scalar(tb)), ta.lanes > tb.lanes ? ta.lanes : tb.lanes);
    *a = op_cast(ctx, common, *a);
    *b = op_cast(ctx, common, *b);
    return true;
}

const Expr *op_cast(Context *ctx, DType dtype, const Expr *value)
{
    if (dtype_equal(value->dtype, dtype))
        return value;
    if (dtype.lanes > 1 && value->dtype.lanes == 1)
        return expr_broadcast(ctx, op_cast(ctx, dtype_scalar(dtype), value), dtype.lanes);
    if (dtype.lanes > 1 && value->kind == EXPR_BROADCAST && value->dtype.lanes == dtype.lanes)
        return expr_broadcast(ctx, op_cast(ctx, dtype_with_lanes(dtype, value->args[0]->dtype.lanes), value->args[0]),
                              dtype.lanes / value->args[0]->dtype.lanes);
    const Expr *folded = fold_cast(ctx, dtype, value);
    return folded ? folded : expr_cast(ctx, dtype, value);
}

/* The checks that depend on the operator; false after a diagnostic. */
static bool operands_fit(Context *ctx, ExprKind kind, const Expr **a, const Expr **b, Span span)
{
    DType type = (*a)->dtype;
    bool logic = kind == EXPR_AND || kind == EXPR_OR;
    const char *name = expr_kind_info(kind)->operator_text ? expr_kind_info(kind)->operator_text : expr_kind_info(kind)->name;
    if (logic && type.code != DT_BOOL) {
        diag_error(ctx, span, "operands of '%s' must be bool, not %s", name, dtype_name(ctx, type));
        return false;
    }
    if ((kind == EXPR_FLOORDIV || kind == EXPR_FLOORMOD) && dtype_is_float(type)) {
        diag_error(ctx, span, "'%s' needs integers, not %s", name, dtype_name(ctx, type));
        return false;
    }
    if (kind >= EXPR_DIV && kind <= EXPR_FLOORMOD && dtype_is_integer(type) && expr_is_int(*b, 0)) {
        diag_error(ctx, span, "division by zero");
        return false;
    }
    if (kind <= EXPR_MAX && type.code == DT_BOOL) {
        *a = op_cast(ctx, dtype_with_lanes(DTYPE_INT32, type.lanes), *a);
        *b = op_cast(ctx, dtype_with_lanes(DTYPE_INT32, type.lanes), *b);
    }
    return true;
}

const Expr *op_binary(Context *ctx, ExprKind kind, const Expr *a, const Expr *b, Span span)
{
    if (!op_match_types(ctx, &a, &b, span))
        return NULL;
    bool equality = kind == EXPR_EQ || kind == EXPR_NE;
    if (!dtype_is_number(a->dtype) && !(equality && a->dtype.code == DT_HANDLE)) {
        diag_error(ctx, span, "'%s' does not take operands of type %s", expr_kind_info(kind)->name, dtype_name(ctx, a->dtype));
        return NULL;
    }
    if (!operands_fit(ctx, kind, &a, &b, span))
        return NULL;
    const Expr *folded = fold_binary(ctx, kind, a, b);
    if (folded)
        return folded;
    const Expr *result = expr_binary(ctx, kind, a, b);
    return span.file ? expr_with_span(ctx, result, span) : result;
}

const Expr *op_not(Context *ctx, const Expr *a, Span span)
{
    if (a->dtype.code != DT_BOOL) {
        diag_error(ctx, span, "the operand of 'not' must be bool, not %s", dtype_name(ctx, a->dtype));
        return NULL;
    }
    if (a->kind == EXPR_INT)
        return expr_bool(ctx, !a->value.integer);
    const Expr *result = expr_not(ctx, a);
    return span.file ? expr_with_span(ctx, result, span) : result;
}

const Expr *op_negate(Context *ctx, const Expr *a, Span span)
{
    if (!dtype_is_number(a->dtype)) {
        diag_error(ctx, span, "'-' does not take an operand of type %s", dtype_name(ctx, a->dtype));
        return NULL;
    }
    if (a->kind == EXPR_FLOAT)
        return expr_float(ctx, a->dtype, -a->value.literal);
    DType scalar = dtype_scalar(a->dtype);
    const Expr *minus_one = dtype_is_float(scalar) ? expr_float(ctx, scalar, -1) : expr_int(ctx, scalar, dtype_wrap(scalar, -1));
    return op_binary(ctx, EXPR_MUL, a, op_cast(ctx, a->dtype, minus_one), span);
}

const Expr *op_bits(Context *ctx, Op op, const Expr *a, const Expr *b, Span span)
{
    if (b && !op_match_types(ctx, &a, &b, span))
        return NULL;
    bool shifts = op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT;
    if (!dtype_is_integer(a->dtype) && (shifts || a->dtype.code != DT_BOOL)) {
        diag_error(ctx, span, b ? "T.%s needs integers, not %s" : "T.%s needs an integer, not %s", op_info(op)->name, dtype_name(ctx, a->dtype));
        return NULL;
    }
    const Expr *args[] = {a, b}, *folded = b ? fold_bits(ctx, op, a, b) : NULL;
    return folded ? folded : expr_call(ctx, a->dtype, op, args, b ? 2 : 1, span);
}

const Expr *op_select(Context *ctx, const Expr *condition, const Expr *if_true, const Expr *if_false, Span span)
{
    if (!op_match_types(ctx, &if_true, &if_false, span))
        return NULL;
    if (condition->dtype.code != DT_BOOL) {
        diag_error(ctx, span, "the condition of T.Select must be bool, not %s", dtype_name(ctx, condition->dtype));
        return NULL;
    }
    if (condition->kind == EXPR_INT)
        return condition->value.integer ? if_true : if_false;
    return expr_with_span(ctx, expr_select(ctx, condition, if_true, if_false), span);
}

const Expr *op_if_then_else(Context *ctx, const Expr *condition, const Expr *if_true, const Expr *if_false, Span span)
{
    if (!op_match_types(ctx, &if_true, &if_false, span))
        return NULL;
    if (condition->dtype.code != DT_BOOL) {
        diag_error(ctx, span, "the condition of T.if_then_else must be bool, not %s", dtype_name(ctx, condition->dtype));
        return NULL;
    }
    if (condition->kind == EXPR_INT)
        return condition->value.integer ? if_true : if_false;
    const Expr *args[] = {condition, if_true, if_false};
    return expr_call(ctx, if_true->dtype, OP_IF_THEN_ELSE, args, 3, span);
}

/* An operation of a pass on operands that fit: the result, never NULL. */
static const Expr *op_sure(Context *ctx, ExprKind kind, const Expr *a, const Expr *b)
{
    const Expr *result = op_binary(ctx, kind, a, b, span_none());
    if (!result)
        BUG("%s of %s and %s", expr_kind_info(kind)->name, dtype_name(ctx, a->dtype), dtype_name(ctx, b->dtype));
    return result;
}

#define SURE(name, kind)                                                                                                                     \
    const Expr *name(Context *ctx, const Expr *a, const Expr *b)                                                                             \
    {                                                                                                                                        \
        return op_sure(ctx, kind, a, b);                                                                                                     \
    }
SURE(op_add, EXPR_ADD)
SURE(op_sub, EXPR_SUB)
SURE(op_mul, EXPR_MUL)
SURE(op_floordiv, EXPR_FLOORDIV)
SURE(op_floormod, EXPR_FLOORMOD)
SURE(op_min, EXPR_MIN)
SURE(op_max, EXPR_MAX)
SURE(op_and, EXPR_AND)
SURE(op_or, EXPR_OR)

const Expr *op_compare(Context *ctx, ExprKind kind, const Expr *a, const Expr *b)
{
    return op_sure(ctx, kind, a, b);
}

const Expr *op_add_int(Context *ctx, const Expr *a, int64_t b)
{
    return op_add(ctx, a, expr_int(ctx, dtype_scalar(a->dtype), b));
}

const Expr *op_mul_int(Context *ctx, const Expr *a, int64_t b)
{
    return op_mul(ctx, a, expr_int(ctx, dtype_scalar(a->dtype), b));
}
