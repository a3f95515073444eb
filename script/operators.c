/* Operators on script values: Python's arithmetic on ints, floats, strings and lists. Ints have 64 bits; overflow is an error. Comparisons
   are in compare.c. */
#include "script/nd_array.h"
#include "script/set.h"
#include "script/te.h"
#include "script/text.h"

#include <math.h>
#include <string.h>

#include "ir/fold.h"
#include "support/strbuf.h"

static int64_t as_int(Value value)
{
    return value.kind == VALUE_BOOL ? value.as.boolean : value.as.integer;
}

static double as_real(Value value)
{
    return value.kind == VALUE_FLOAT ? value.as.real : (double)as_int(value);
}

static bool int_power(int64_t base, int64_t exponent, int64_t *result)
{
    *result = 1;
    if (base == 0 || base == 1 || base == -1) {
        *result = exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? 1 : base;
        return true;
    }
    for (int64_t i = 0; i < exponent; i++)
        if (__builtin_mul_overflow(*result, base, result))
            return false;
    return true;
}

/* OP on ints; false when the result does not fit. *UNDEFINED is set for a division by zero and the like. */
static bool int_operation(AstOp op, int64_t a, int64_t b, int64_t *result, const char **undefined)
{
    switch (op) {
    case AST_OP_ADD: return !__builtin_add_overflow(a, b, result);
    case AST_OP_SUB: return !__builtin_sub_overflow(a, b, result);
    case AST_OP_MUL: return !__builtin_mul_overflow(a, b, result);
    case AST_OP_FLOORDIV:
    case AST_OP_MOD:
        if (b == 0)
            *undefined = "division by zero";
        if (b == 0 || (b == -1 && a == INT64_MIN))
            return false;
        *result = op == AST_OP_MOD ? floor_modulo(a, b) : floor_divide(a, b);
        return true;
    case AST_OP_POWER: return int_power(a, b, result);
    case AST_OP_SHIFT_LEFT:
    case AST_OP_SHIFT_RIGHT:
        if (b < 0) {
            *undefined = "a shift count must not be negative";
            return false;
        }
        *result = op == AST_OP_SHIFT_RIGHT ? a >> (b > 63 ? 63 : b) : 0;
        return op == AST_OP_SHIFT_RIGHT || a == 0 || (b < 63 && !__builtin_mul_overflow(a, INT64_C(1) << b, result)) ||
               (a == -1 && b == 63 && (*result = INT64_MIN));
    case AST_OP_BIT_AND: *result = a & b; return true;
    case AST_OP_BIT_OR: *result = a | b; return true;
    case AST_OP_BIT_XOR: *result = a ^ b; return true;
    default: *undefined = "'@' does not take ints"; return false;
    }
}

/* The remainder with the sign of B; *QUOTIENT is the whole number that belongs to it. Python takes it from the exact remainder: the rounded
   quotient a / b may be a whole number too large. */
static double floor_remainder(double a, double b, double *quotient)
{
    double remainder = fmod(a, b);
    double whole = (a - remainder) / b;
    if (remainder != 0 && (b < 0) != (remainder < 0)) {
        remainder += b;
        whole -= 1;
    }
    *quotient = floor(whole);
    *quotient += whole - *quotient > 0.5;
    return remainder == 0 ? copysign(0.0, b) : remainder;
}

static bool real_power(Script *script, double a, double b, Span span, double *result)
{
    *result = pow(a, b);
    if (a == 0 && b < 0)
        return script_raise(script, span, EXCEPTION_ZeroDivisionError, "division by zero: 0 to a negative power");
    if (isfinite(a) && isfinite(b) && isnan(*result))
        return script_error(script, span, "a negative number has no real power of a fraction");
    return !isfinite(a) || !isfinite(b) || isfinite(*result) || script_raise(script, span, EXCEPTION_OverflowError, "the result does not fit in a float");
}

static bool real_operation(Script *script, AstOp op, double a, double b, Span span, Value *result)
{
    if (b == 0 && (op == AST_OP_DIV || op == AST_OP_FLOORDIV || op == AST_OP_MOD))
        return script_raise(script, span, EXCEPTION_ZeroDivisionError, "division by zero");
    double value, quotient;
    switch (op) {
    case AST_OP_ADD: value = a + b; break;
    case AST_OP_SUB: value = a - b; break;
    case AST_OP_MUL: value = a * b; break;
    case AST_OP_DIV: value = a / b; break;
    case AST_OP_FLOORDIV:
        floor_remainder(a, b, &quotient);
        value = quotient;
        break;
    case AST_OP_MOD: value = floor_remainder(a, b, &quotient); break;
    case AST_OP_POWER:
        if (!real_power(script, a, b, span, &value))
            return false;
        break;
    default: return script_raise(script, span, EXCEPTION_TypeError, "'%s' does not take floats", ast_op_text(op));
    }
    *result = (Value){.kind = VALUE_FLOAT, .as.real = value};
    return true;
}

static bool too_long(Script *script, Span span)
{
    return script_error(script, span, "the list would have more than %d items", SCRIPT_MOST_ITEMS);
}

static bool concatenate(Script *script, Value left, Value right, Span span, Value *result)
{
    const ValueList *a = left.as.list, *b = right.as.list;
    if (a->count + b->count > SCRIPT_MOST_ITEMS)
        return too_long(script, span);
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, a->count + b->count);
    for (int i = 0; i < a->count + b->count; i++)
        items[i] = i < a->count ? a->items[i] : b->items[i - a->count];
    *result = script_list(script, items, a->count + b->count, a->is_tuple);
    return true;
}

static bool join_strings(Script *script, Value left, Value right, Span span, Value *result)
{
    if (strlen(left.as.text) + strlen(right.as.text) > SCRIPT_MOST_ITEMS)
        return script_error(script, span, "the string would have more than %d bytes", SCRIPT_MOST_ITEMS);
    *result = (Value){.kind = VALUE_STRING, .as.text = context_internf(script->ctx, "%s%s", left.as.text, right.as.text)};
    script->made += (long)(strlen(result->as.text) / sizeof *result) + 1;
    return true;
}

static bool repeat_list(Script *script, Value list, int64_t times, Span span, Value *result)
{
    int count = list.as.list->count;
    if (count && times > SCRIPT_MOST_ITEMS / count)
        return too_long(script, span);
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, times * count);
    for (int64_t i = 0; i < times * count; i++)
        items[i] = list.as.list->items[i % count];
    *result = script_list(script, items, (int)(times * count), list.as.list->is_tuple);
    return true;
}

static bool repeat_string(Script *script, Value string, int64_t times, Span span, Value *result)
{
    size_t length = strlen(string.as.text);
    if (length && (uint64_t)times > SCRIPT_MOST_ITEMS / length)
        return script_error(script, span, "the string would have more than %d bytes", SCRIPT_MOST_ITEMS);
    StrBuf text = {.arena = script->ctx->arena};
    for (int64_t i = 0; length && i < times; i++)
        strbuf_add(&text, string.as.text);
    *result = (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, strbuf_text(&text))};
    script->made += (long)(text.length / sizeof *result) + 1;
    return true;
}

/* A list or string TIMES times. */
static bool repeat(Script *script, Value value, Value times, Span span, Value *result)
{
    int64_t count = as_int(times) > 0 ? as_int(times) : 0;
    if (value.kind == VALUE_LIST ? !value.as.list->count : !*value.as.text)
        count = 0;
    return value.kind == VALUE_LIST ? repeat_list(script, value, count, span, result) : repeat_string(script, value, count, span, result);
}

static bool is_sequence(Value value)
{
    return value.kind == VALUE_LIST || value.kind == VALUE_STRING;
}

static bool is_whole(Value value)
{
    return value.kind == VALUE_INT || value.kind == VALUE_BOOL;
}

static bool refuse_operands(Script *script, AstOp op, Value left, Value right, Span span)
{
    return script_raise(script, span, EXCEPTION_TypeError, "'%s' does not take %s and %s", ast_op_text(op), script_type_phrase(script, left),
                        script_type_phrase(script, right));
}

static bool whole_operation(Script *script, AstOp op, Value left, Value right, Span span, Value *result)
{
    const char *undefined = NULL;
    bool is_division = op == AST_OP_FLOORDIV || op == AST_OP_MOD;
    int64_t value;
    if (!int_operation(op, as_int(left), as_int(right), &value, &undefined))
        return undefined ? script_raise(script, span, is_division ? EXCEPTION_ZeroDivisionError : EXCEPTION_ValueError, "%s", undefined)
                         : script_error(script, span, "the result does not fit in 64 bits");
    bool logical = (op == AST_OP_BIT_AND || op == AST_OP_BIT_OR || op == AST_OP_BIT_XOR) && left.kind == VALUE_BOOL && right.kind == VALUE_BOOL;
    *result = logical ? (Value){.kind = VALUE_BOOL, .as.boolean = value != 0} : (Value){.kind = VALUE_INT, .as.integer = value};
    return true;
}

/* The items of both; those of RIGHT win. */
static bool join_dicts(Script *script, Value left, Value right, Span span, Value *result)
{
    *result = script_list(script, left.as.list->items, left.as.list->count, false);
    result->kind = VALUE_DICT;
    return script_dict_update(script, *result, right, span);
}

bool script_binary(Script *script, AstOp op, Value left, Value right, Span span, Value *result)
{
    if (script_is_expr(script, left) || script_is_expr(script, right))
        return script_expr_binary(script, op, left, right, span, result);
    if (nd_array(left) || nd_array(right))
        return nd_binary(script, op, left, right, span, result);
    if (value_set(left) && value_set(right))
        return set_binary(script, op, left, right, false, span, result);
    if (op == AST_OP_ADD && left.kind == VALUE_STRING && right.kind == VALUE_STRING)
        return join_strings(script, left, right, span, result);
    if (op == AST_OP_MOD && left.kind == VALUE_STRING)
        return script_percent(script, left.as.text, right, span, result);
    if (op == AST_OP_ADD && left.kind == VALUE_LIST && right.kind == VALUE_LIST && left.as.list->is_tuple == right.as.list->is_tuple)
        return concatenate(script, left, right, span, result);
    if (op == AST_OP_ADD && left.kind == VALUE_LIST && right.kind == VALUE_LIST)
        return script_raise(script, span, EXCEPTION_TypeError, "a list and a tuple cannot be added; list(...) and tuple(...) make one of the other");
    if (op == AST_OP_BIT_OR && left.kind == VALUE_DICT && right.kind == VALUE_DICT)
        return join_dicts(script, left, right, span, result);
    if (op == AST_OP_MUL && is_sequence(left) && is_whole(right))
        return repeat(script, left, right, span, result);
    if (op == AST_OP_MUL && is_whole(left) && is_sequence(right))
        return repeat(script, right, left, span, result);
    if (te_takes_part(left) || te_takes_part(right))
        return te_binary(script, op, left, right, span, result);
    if (!script_is_number(left) || !script_is_number(right))
        return refuse_operands(script, op, left, right, span);
    bool negative_power = op == AST_OP_POWER && right.kind != VALUE_FLOAT && as_int(right) < 0;
    if (left.kind == VALUE_FLOAT || right.kind == VALUE_FLOAT || op == AST_OP_DIV || negative_power)
        return real_operation(script, op, as_real(left), as_real(right), span, result);
    return whole_operation(script, op, left, right, span, result);
}
