/* Operators on Python constants: integers of 64 bits with overflow diagnosed, floats, strings, sequences. Python's rules: / makes floats,
   // and % floor, booleans count as integers. */
#include <math.h>

#include "ir/fold.h"
#include "parser/elab.h"

static Value refused(Elab *elab, AstOp op, const Value *a, const Value *b, Span span)
{
    diag_error(elab->ctx, span, "'%s' does not take %s and %s", ast_op_text(op), value_kind_name(a->kind), value_kind_name(b->kind));
    return value_error();
}

static Value overflow(Elab *elab, Span span)
{
    diag_error(elab->ctx, span, "the constant does not fit in 64 bits");
    return value_error();
}

static double as_real(const Value *value)
{
    if (value->kind == VALUE_FLOAT)
        return value->as.real;
    if (value->kind == VALUE_BOOL)
        return value->as.boolean;
    return value->huge ? (double)(uint64_t)value->as.integer : (double)value->as.integer;
}

static int64_t as_integer(const Value *value)
{
    return value->kind == VALUE_BOOL ? value->as.boolean : value->as.integer;
}

Value python_unary(Elab *elab, AstOp op, const Value *value, Span span)
{
    if (op == AST_OP_NOT)
        return value_bool(as_real(value) == 0, span);
    if (value->kind == VALUE_FLOAT && op != AST_OP_INVERT)
        return value_float(op == AST_OP_NEGATIVE ? -value->as.real : value->as.real, span);
    if (value->kind == VALUE_FLOAT)
        return refused(elab, op, value, value, span);
    int64_t integer = as_integer(value);
    if (value->huge) {
        Value same = *value;
        same.span = span;
        bool least = op == AST_OP_NEGATIVE && integer == INT64_MIN;
        return op == AST_OP_POSITIVE ? same : least ? value_int(INT64_MIN, span) : overflow(elab, span);
    }
    if (op == AST_OP_NEGATIVE)
        return integer == INT64_MIN ? overflow(elab, span) : value_int(-integer, span);
    return value_int(op == AST_OP_INVERT ? ~integer : integer, span);
}

/* BASE to the power of EXPONENT (not negative). */
static bool integer_power(int64_t base, int64_t exponent, int64_t *result)
{
    *result = 1;
    for (bool overflowed = false; exponent > 0; exponent >>= 1) {
        if ((exponent & 1) && (overflowed || __builtin_mul_overflow(*result, base, result)))
            return false;
        overflowed = overflowed || __builtin_mul_overflow(base, base, &base);
    }
    return true;
}

static bool integer_shift(AstOp op, int64_t a, int64_t b, int64_t *result)
{
    if (op == AST_OP_SHIFT_RIGHT) {
        *result = b > 63 ? (a < 0 ? -1 : 0) : a >> b;
        return true;
    }
    return a == 0 ? (*result = 0, true) : b < 63 && !__builtin_mul_overflow(a, INT64_C(1) << b, result);
}

static Value integer_division(Elab *elab, AstOp op, int64_t a, int64_t b, Span span)
{
    if (b == 0) {
        diag_error(elab->ctx, span, "division by zero");
        return value_error();
    }
    if (op == AST_OP_DIV)
        return value_float((double)a / (double)b, span);
    if (a == INT64_MIN && b == -1)
        return op == AST_OP_MOD ? value_int(0, span) : overflow(elab, span);
    return value_int(op == AST_OP_MOD ? floor_modulo(a, b) : floor_divide(a, b), span);
}

static Value integer_binary(Elab *elab, AstOp op, int64_t a, int64_t b, Span span)
{
    int64_t result = 0;
    bool fits = true;
    switch (op) {
    case AST_OP_ADD: fits = !__builtin_add_overflow(a, b, &result); break;
    case AST_OP_SUB: fits = !__builtin_sub_overflow(a, b, &result); break;
    case AST_OP_MUL: fits = !__builtin_mul_overflow(a, b, &result); break;
    case AST_OP_DIV:
    case AST_OP_FLOORDIV:
    case AST_OP_MOD: return integer_division(elab, op, a, b, span);
    case AST_OP_POWER:
        if (b < 0)
            return value_float(pow((double)a, (double)b), span);
        fits = integer_power(a, b, &result);
        break;
    case AST_OP_SHIFT_LEFT:
    case AST_OP_SHIFT_RIGHT:
        if (b < 0) {
            diag_error(elab->ctx, span, "the shift count is negative");
            return value_error();
        }
        fits = integer_shift(op, a, b, &result);
        break;
    case AST_OP_BIT_AND: result = a & b; break;
    case AST_OP_BIT_OR: result = a | b; break;
    case AST_OP_BIT_XOR: result = a ^ b; break;
    default: diag_error(elab->ctx, span, "'%s' does not take integers", ast_op_text(op)); return value_error();
    }
    return fits ? value_int(result, span) : overflow(elab, span);
}

static Value real_binary(Elab *elab, AstOp op, const Value *a, const Value *b, Span span)
{
    double x = as_real(a), y = as_real(b);
    bool divides = op == AST_OP_DIV || op == AST_OP_FLOORDIV || op == AST_OP_MOD;
    if (divides && y == 0) {
        diag_error(elab->ctx, span, "division by zero");
        return value_error();
    }
    switch (op) {
    case AST_OP_ADD: return value_float(x + y, span);
    case AST_OP_SUB: return value_float(x - y, span);
    case AST_OP_MUL: return value_float(x * y, span);
    case AST_OP_DIV: return value_float(x / y, span);
    case AST_OP_FLOORDIV: return value_float(floor(x / y), span);
    case AST_OP_MOD: return value_float(x - floor(x / y) * y, span);
    case AST_OP_POWER: return value_float(pow(x, y), span);
    default: return refused(elab, op, a, b, span);
    }
}

static Value concatenate(Elab *elab, const Value *a, const Value *b, Span span)
{
    int count = a->as.list.count + b->as.list.count;
    Value *items = ARENA_ARRAY(elab->ctx->arena, Value, count);
    for (int i = 0; i < count; i++)
        items[i] = i < a->as.list.count ? a->as.list.items[i] : b->as.list.items[i - a->as.list.count];
    Value result = value_tuple(elab, items, count, span);
    result.kind = a->kind;
    return result;
}

Value python_binary(Elab *elab, AstOp op, const Value *a, const Value *b, Span span)
{
    if (value_is_number(a) && value_is_number(b)) {
        if (a->kind == VALUE_FLOAT || b->kind == VALUE_FLOAT)
            return real_binary(elab, op, a, b, span);
        if (a->huge || b->huge)
            return overflow(elab, span);
        return integer_binary(elab, op, as_integer(a), as_integer(b), span);
    }
    if (op == AST_OP_ADD && a->kind == VALUE_STRING && b->kind == VALUE_STRING)
        return value_string(context_internf(elab->ctx, "%s%s", a->as.text, b->as.text), span);
    if (op == AST_OP_ADD && a->kind == b->kind && value_is_sequence(a))
        return concatenate(elab, a, b, span);
    return refused(elab, op, a, b, span);
}

/* -1, 0 or 1; 2 where they have no order (NaN). */
static int compare_numbers(const Value *a, const Value *b)
{
    if (a->kind == VALUE_FLOAT || b->kind == VALUE_FLOAT) {
        double x = as_real(a), y = as_real(b);
        return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
    }
    if (a->huge != b->huge)
        return a->huge ? 1 : -1;
    int64_t x = as_integer(a), y = as_integer(b);
    return a->huge ? ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y) : (x > y) - (x < y);
}

Value python_compare(Elab *elab, AstOp op, const Value *a, const Value *b, Span span)
{
    bool numbers = value_is_number(a) && value_is_number(b), strings = a->kind == VALUE_STRING && b->kind == VALUE_STRING;
    bool identity = op == AST_OP_IS || op == AST_OP_IS_NOT;
    if (identity && (a->kind == VALUE_NONE || b->kind == VALUE_NONE))
        return value_bool((a->kind == b->kind) == (op == AST_OP_IS), span);
    if ((!numbers && !strings) || identity)
        return refused(elab, op, a, b, span);
    int text_order = strings ? strcmp(a->as.text, b->as.text) : 0;
    int order = numbers ? compare_numbers(a, b) : (text_order > 0) - (text_order < 0);
    switch (op) {
    case AST_OP_EQ: return value_bool(order == 0, span);
    case AST_OP_NE: return value_bool(order != 0, span);
    case AST_OP_LT: return value_bool(order < 0, span);
    case AST_OP_LE: return value_bool(order <= 0, span);
    case AST_OP_GT: return value_bool(order > 0 && order != 2, span);
    case AST_OP_GE: return value_bool(order >= 0 && order != 2, span);
    default: return refused(elab, op, a, b, span);
    }
}
