/* Operators on script values: Python's arithmetic on ints, floats, strings and lists, and comparisons. Ints have 64 bits; overflow is an
   error. */
#include "script/script_internal.h"

#include <math.h>
#include <string.h>

#include "ir/fold.h"

static bool is_number(Value value)
{
    return value.kind == VALUE_INT || value.kind == VALUE_BOOL || value.kind == VALUE_FLOAT;
}

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
        if (b < 0 || b > 62) {
            *undefined = "shift count out of range";
            return false;
        }
        *result = a >> b;
        return op == AST_OP_SHIFT_RIGHT || !__builtin_mul_overflow(a, INT64_C(1) << b, result);
    case AST_OP_BIT_AND: *result = a & b; return true;
    case AST_OP_BIT_OR: *result = a | b; return true;
    case AST_OP_BIT_XOR: *result = a ^ b; return true;
    default: *undefined = "'@' does not take ints"; return false;
    }
}

static bool real_operation(Script *script, AstOp op, double a, double b, Span span, Value *result)
{
    if (b == 0 && (op == AST_OP_DIV || op == AST_OP_FLOORDIV || op == AST_OP_MOD))
        return script_error(script, span, "division by zero");
    double value;
    switch (op) {
    case AST_OP_ADD: value = a + b; break;
    case AST_OP_SUB: value = a - b; break;
    case AST_OP_MUL: value = a * b; break;
    case AST_OP_DIV: value = a / b; break;
    case AST_OP_FLOORDIV: value = floor(a / b); break;
    case AST_OP_MOD: value = a - b * floor(a / b); break;
    case AST_OP_POWER: value = pow(a, b); break;
    default: return script_error(script, span, "'%s' does not take floats", ast_op_text(op));
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
    return true;
}

static bool repeat(Script *script, Value list, int64_t times, Span span, Value *result)
{
    int count = list.as.list->count;
    if (times < 0)
        times = 0;
    if (count && times > SCRIPT_MOST_ITEMS / count)
        return too_long(script, span);
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, times * count);
    for (int64_t i = 0; i < times * count; i++)
        items[i] = list.as.list->items[i % count];
    *result = script_list(script, items, (int)(times * count), list.as.list->is_tuple);
    return true;
}

bool script_binary(Script *script, AstOp op, Value left, Value right, Span span, Value *result)
{
    if (op == AST_OP_ADD && left.kind == VALUE_STRING && right.kind == VALUE_STRING)
        return join_strings(script, left, right, span, result);
    if (op == AST_OP_ADD && left.kind == VALUE_LIST && right.kind == VALUE_LIST)
        return concatenate(script, left, right, span, result);
    if (op == AST_OP_MUL && left.kind == VALUE_LIST && right.kind == VALUE_INT)
        return repeat(script, left, right.as.integer, span, result);
    if (!is_number(left) || !is_number(right))
        return script_error(script, span, "'%s' does not take %s and %s", ast_op_text(op), script_type_phrase(script, left),
                            script_type_phrase(script, right));
    bool negative_power = op == AST_OP_POWER && right.kind != VALUE_FLOAT && as_int(right) < 0;
    if (left.kind == VALUE_FLOAT || right.kind == VALUE_FLOAT || op == AST_OP_DIV || negative_power)
        return real_operation(script, op, as_real(left), as_real(right), span, result);
    const char *undefined = NULL;
    int64_t value;
    if (!int_operation(op, as_int(left), as_int(right), &value, &undefined))
        return script_error(script, span, "%s", undefined ? undefined : "the result does not fit in 64 bits");
    *result = (Value){.kind = VALUE_INT, .as.integer = value};
    return true;
}

static bool values_equal(Value left, Value right)
{
    if (is_number(left) && is_number(right))
        return left.kind == VALUE_FLOAT || right.kind == VALUE_FLOAT ? as_real(left) == as_real(right) : as_int(left) == as_int(right);
    if (left.kind != right.kind)
        return false;
    switch (left.kind) {
    case VALUE_NONE: return true;
    case VALUE_STRING: return !strcmp(left.as.text, right.as.text);
    case VALUE_LOOP: return left.as.loop == right.as.loop;
    case VALUE_BLOCK: return left.as.block == right.as.block;
    case VALUE_LIST:
    case VALUE_DICT:
        if (left.as.list->count != right.as.list->count)
            return false;
        for (int i = 0; i < left.as.list->count; i++)
            if (!values_equal(left.as.list->items[i], right.as.list->items[i]))
                return false;
        return true;
    default: return left.as.script == right.as.script;
    }
}

static bool contains(Script *script, Value container, Value item, Span span, bool *result)
{
    if (container.kind == VALUE_STRING && item.kind == VALUE_STRING) {
        *result = strstr(container.as.text, item.as.text) != NULL;
        return true;
    }
    if (container.kind != VALUE_LIST && container.kind != VALUE_DICT)
        return script_error(script, span, "'in' needs a list, a dict or a string, not %s", script_type_phrase(script, container));
    *result = false;
    for (int i = 0; i < container.as.list->count; i += container.kind == VALUE_DICT ? 2 : 1)
        *result |= values_equal(container.as.list->items[i], item);
    return true;
}

bool script_compare(Script *script, AstOp op, Value left, Value right, Span span, bool *result)
{
    switch (op) {
    case AST_OP_EQ:
    case AST_OP_IS: *result = values_equal(left, right); return true;
    case AST_OP_NE:
    case AST_OP_IS_NOT: *result = !values_equal(left, right); return true;
    case AST_OP_IN: return contains(script, right, left, span, result);
    case AST_OP_NOT_IN:
        if (!contains(script, right, left, span, result))
            return false;
        *result = !*result;
        return true;
    default: break;
    }
    double order;
    if (left.kind == VALUE_STRING && right.kind == VALUE_STRING)
        order = strcmp(left.as.text, right.as.text);
    else if (!is_number(left) || !is_number(right))
        return script_error(script, span, "'%s' does not compare %s and %s", ast_op_text(op), script_type_phrase(script, left),
                            script_type_phrase(script, right));
    else if (left.kind == VALUE_FLOAT || right.kind == VALUE_FLOAT)
        order = as_real(left) - as_real(right);
    else
        order = (double)((as_int(left) > as_int(right)) - (as_int(left) < as_int(right)));
    *result = op == AST_OP_LT ? order < 0 : op == AST_OP_LE ? order <= 0 : op == AST_OP_GT ? order > 0 : order >= 0;
    return true;
}
