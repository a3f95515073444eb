/* Builtin functions about values, types and other functions. */
#include "ir/fold.h"
#include "script/builtins.h"
#include "script/exception.h"
#include "script/methods.h"
#include "script/sequence.h"
#include "script/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ValueList *items_argument(Script *script, const Arguments *arguments, int index)
{
    return script_items(script, arguments->positional[index], arguments->positional[index].span, "a list is needed here, not %s");
}

bool script_call_one(Script *script, Value callee, Value argument, Span span, Value *result)
{
    Arguments one = {.positional = &argument, .positional_count = 1, .span = span};
    return script_call_value(script, callee, &one, result);
}

bool builtin_map(Script *script, const Arguments *arguments, Value *result)
{
    return script_map(script, arguments, result);
}

bool builtin_filter(Script *script, const Arguments *arguments, Value *result)
{
    return script_filter(script, arguments, result);
}

bool builtin_zip(Script *script, const Arguments *arguments, Value *result)
{
    return script_zip(script, arguments, result);
}

bool builtin_iter(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional[0];
    Sequence *iterator;
    if (!script_iterate(script, value, value.span, "a list is needed here, not %s", &iterator))
        return false;
    *result = iterator == value_sequence(value) ? value : sequence_of(script, iterator);
    return true;
}

bool builtin_next(Script *script, const Arguments *arguments, Value *result)
{
    Sequence *sequence = value_sequence(arguments->positional[0]);
    bool ended;
    if (!sequence || sequence->kind != SEQUENCE_ITERATOR)
        return script_raise(script, arguments->span, EXCEPTION_TypeError, "next needs an iterator, not %s", script_type_phrase(script, arguments->positional[0]));
    if (!iterator_next(script, sequence, result, &ended))
        return false;
    if (ended && arguments->positional_count < 2)
        return script_raise(script, arguments->span, EXCEPTION_StopIteration, "the iterator has no more items");
    if (ended)
        *result = arguments->positional[1];
    return true;
}

/* --- sorting --- */

typedef struct {
    Value key, item;
} Ranked;

/* Merges the sorted halves of ITEMS; ROOM is as large. */
static bool merge_sort(Script *script, Ranked *items, Ranked *room, int count, bool reverse, Span span)
{
    if (count < 2)
        return true;
    int half = count / 2;
    if (!merge_sort(script, items, room, half, reverse, span) || !merge_sort(script, items + half, room, count - half, reverse, span))
        return false;
    for (int i = 0, left = 0, right = half; i < count; i++) {
        bool before = right < count;
        if (before && left < half &&
            !script_compare(script, reverse ? AST_OP_GT : AST_OP_LT, items[right].key, items[left].key, span, &before))
            return false;
        room[i] = before ? items[right++] : items[left++];
    }
    memcpy(items, room, sizeof *items * (size_t)count);
    return script_step(script, span);
}

bool script_sort(Script *script, ValueList *list, const Arguments *arguments)
{
    const Value *key = script_keyword(arguments, "key"), *backwards = script_keyword(arguments, "reverse");
    int count = list->count;
    Ranked *items = ARENA_ARRAY(script->ctx->arena, Ranked, count), *room = ARENA_ARRAY(script->ctx->arena, Ranked, count);
    script->made += 4L * count;
    for (int i = 0; i < count; i++) {
        items[i] = (Ranked){list->items[i], list->items[i]};
        if (key && key->kind != VALUE_NONE && !script_call_one(script, *key, list->items[i], arguments->span, &items[i].key))
            return false;
    }
    if (!merge_sort(script, items, room, count, backwards && script_truth(*backwards), arguments->span))
        return false;
    for (int i = 0; i < count && i < list->count; i++)
        list->items[i] = items[i].item;
    return true;
}

bool builtin_sorted(Script *script, const Arguments *arguments, Value *result)
{
    const ValueList *items = items_argument(script, arguments, 0);
    if (!items)
        return false;
    *result = script_list(script, items->items, items->count, false);
    return script_sort(script, result->as.list, arguments);
}

/* --- questions --- */

/* Some item's truth is WANTED. */
static bool look_for(Script *script, const Arguments *arguments, bool wanted, Value *result)
{
    Value value = arguments->positional[0], item;
    Sequence *iterator;
    bool found = false, ended = false;
    if (!script_iterate(script, value, value.span, "a list is needed here, not %s", &iterator))
        return false;
    while (!found && !ended) {
        bool truth = !wanted;
        if (!iterator_next(script, iterator, &item, &ended) || (!ended && !script_condition(script, item, arguments->span, &truth)))
            return false;
        found = truth == wanted;
    }
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = found == wanted};
    return true;
}

bool builtin_any(Script *script, const Arguments *arguments, Value *result)
{
    return look_for(script, arguments, true, result);
}

bool builtin_all(Script *script, const Arguments *arguments, Value *result)
{
    return look_for(script, arguments, false, result);
}

bool builtin_callable(Script *script, const Arguments *arguments, Value *result)
{
    (void)script;
    Value value = arguments->positional[0];
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = value.kind == VALUE_SCRIPT && script_is_callable(value.as.script)};
    return true;
}

/* --- types --- */

const char *script_class_of(Value value)
{
    switch (value.kind) {
    case VALUE_NONE: return "NoneType";
    case VALUE_BOOL: return "bool";
    case VALUE_INT: return "int";
    case VALUE_FLOAT: return "float";
    case VALUE_STRING: return "str";
    case VALUE_LIST: return value.as.list->is_tuple ? "tuple" : "list";
    case VALUE_DICT: return "dict";
    case VALUE_LOOP: return "LoopRV";
    case VALUE_BLOCK: return "BlockRV";
    case VALUE_EXPR:
        return value.as.expr->kind == EXPR_VAR ? "Var" : value.as.expr->kind == EXPR_INT ? "IntImm" : value.as.expr->kind == EXPR_FLOAT ? "FloatImm" : "PrimExpr";
    default: break;
    }
    return script_class_name(value);
}

bool builtin_is_type(const char *name)
{
    static const char *const types[] = {"int", "float", "str", "bool", "list", "tuple", "dict", "range", "set", "frozenset"};
    bool is = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        is |= !strcmp(types[i], name);
    return is;
}

bool builtin_type(Script *script, const Arguments *arguments, Value *result)
{
    const char *name = script_class_of(arguments->positional[0]);
    int builtin = builtin_find(name);
    *result = builtin >= 0 && builtin_is_type(name)
                  ? script_object(script, (Object){.kind = OBJECT_BUILTIN, .as.builtin = builtin})
                  : script_object(script, (Object){.kind = OBJECT_TYPE, .as.path = context_intern(script->ctx, name)});
    return true;
}

static bool is_instance(Value value, const char *type)
{
    const char *own = script_class_of(value);
    const Object *exception = value_object(value, OBJECT_EXCEPTION);
    if (exception && exception_find(type))
        return exception_is(exception->as.exception.kind, exception_find(type));
    bool expression = value.kind == VALUE_EXPR && (!strcmp(type, "PrimExpr") || !strcmp(type, "Expr"));
    return !strcmp(own, type) || expression || (!strcmp(type, "int") && value.kind == VALUE_BOOL) || !strcmp(type, "object");
}

/* VALUE is of TYPE, a type or a tuple of types. */
static bool instance_of(Script *script, Value value, Value type, Span span, bool *result)
{
    const Object *object = type.kind == VALUE_SCRIPT ? type.as.script : NULL;
    *result = false;
    if (type.kind == VALUE_LIST && type.as.list->is_tuple) {
        for (int i = 0; i < type.as.list->count && !*result; i++)
            if (!instance_of(script, value, type.as.list->items[i], span, result))
                return false;
        return true;
    }
    bool is_type = object && object->kind == OBJECT_BUILTIN && builtin_is_type(builtin_name(object->as.builtin));
    if (!is_type && !(object && (object->kind == OBJECT_TYPE || object->kind == OBJECT_NAMESPACE)))
        return script_raise(script, span, EXCEPTION_TypeError, "isinstance needs a type, or a tuple of types, not %s", script_type_phrase(script, type));
    const char *name = is_type ? builtin_name(object->as.builtin) : object->as.path;
    *result = is_instance(value, strrchr(name, '.') && !exception_find(name) ? strrchr(name, '.') + 1 : name);
    return true;
}

bool builtin_isinstance(Script *script, const Arguments *arguments, Value *result)
{
    *result = (Value){.kind = VALUE_BOOL};
    return instance_of(script, arguments->positional[0], arguments->positional[1], arguments->span, &result->as.boolean);
}

/* --- conversions --- */

bool builtin_float(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional_count ? arguments->positional[0] : (Value){.kind = VALUE_INT};
    *result = (Value){.kind = VALUE_FLOAT};
    if (value.kind == VALUE_STRING) {
        char *end;
        bool underscores = strchr(value.as.text, '_') != NULL;
        result->as.real = strtod(value.as.text, &end);
        if (underscores)
            return script_error(script, value.span, "float reads no underscores here");
        bool number = end != value.as.text && !end[strspn(end, " \t\n")] && !strpbrk(value.as.text, "xX");
        return number || script_raise(script, value.span, EXCEPTION_ValueError, "'%s' is not a number", value.as.text);
    }
    int64_t integer;
    if (value.kind == VALUE_FLOAT)
        result->as.real = value.as.real;
    else if (value.kind == VALUE_INT || value.kind == VALUE_BOOL)
        result->as.real = value.kind == VALUE_INT ? (double)value.as.integer : value.as.boolean;
    else if (value.kind == VALUE_EXPR && value.as.expr->kind == EXPR_FLOAT)
        result->as.real = value.as.expr->value.literal;
    else if (value.kind == VALUE_EXPR && expr_const_int(value.as.expr, &integer))
        result->as.real = (double)integer;
    else
        return script_raise(script, value.span, EXCEPTION_TypeError, "a number is needed here, not %s", script_type_phrase(script, value));
    return true;
}

bool builtin_bool(Script *script, const Arguments *arguments, Value *result)
{
    *result = (Value){.kind = VALUE_BOOL};
    return !arguments->positional_count || script_condition(script, arguments->positional[0], arguments->span, &result->as.boolean);
}

bool builtin_dict(Script *script, const Arguments *arguments, Value *result)
{
    Value none;
    *result = script_list(script, NULL, 0, false);
    result->kind = VALUE_DICT;
    return method_call(script, *result, "update", arguments, &none);
}

bool builtin_divmod(Script *script, const Arguments *arguments, Value *result)
{
    Value parts[2];
    if (!script_binary(script, AST_OP_FLOORDIV, arguments->positional[0], arguments->positional[1], arguments->span, &parts[0]) ||
        !script_binary(script, AST_OP_MOD, arguments->positional[0], arguments->positional[1], arguments->span, &parts[1]))
        return false;
    *result = script_list(script, parts, 2, true);
    return true;
}

/* NUMBER to the next multiple of UNIT, a power of 10; of two that are as near the even one. FRACTION: it is a part of a unit larger, in absolute
   value. False where that does not fit. */
static bool round_whole(int64_t number, int64_t unit, bool fraction, int64_t *result)
{
    int64_t rest = number % unit, size = llabs(rest);
    int64_t below = number - rest;
    bool up = size > unit - size || (size == unit - size && (fraction || below / unit % 2));
    return !__builtin_add_overflow(below, up ? (number < 0 ? -unit : unit) : 0, result);
}

/* round(value, digits) of fewer than 0 digits. */
static bool round_to_tens(Script *script, Value value, int64_t digits, Span span, Value *result)
{
    double real = value.kind == VALUE_FLOAT ? value.as.real : 0;
    if (!(fabs(real) < 9e18))
        return script_error(script, span, "the number does not fit in 64 bits");
    int64_t unit = 1, number = value.kind == VALUE_FLOAT ? (int64_t)real : value.as.integer, rounded = 0;
    for (int64_t i = digits; i < 0 && i > -19; i++)
        unit *= 10;
    if (digits >= -18 && !round_whole(number, unit, real != trunc(real), &rounded))
        return script_error(script, span, "the result does not fit in 64 bits");
    *result = value.kind == VALUE_FLOAT ? (Value){.kind = VALUE_FLOAT, .as.real = copysign((double)rounded, real)}
                                        : (Value){.kind = VALUE_INT, .as.integer = rounded};
    return digits >= -18 || llabs(number) < INT64_C(5000000000000000000) || script_error(script, span, "the result does not fit in 64 bits");
}

bool builtin_round(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional[0];
    int64_t digits;
    bool given = arguments->positional_count > 1 && arguments->positional[1].kind != VALUE_NONE;
    if (!argument_int(script, arguments, 1, 0, &digits))
        return false;
    *result = value;
    if (value.kind == VALUE_BOOL)
        *result = (Value){.kind = VALUE_INT, .as.integer = value.as.boolean};
    if (!script_is_number(value))
        return script_raise(script, arguments->span, EXCEPTION_TypeError, "round needs a number, not %s", script_type_phrase(script, value));
    if (digits < 0)
        return round_to_tens(script, *result, digits, arguments->span, result);
    if (value.kind != VALUE_FLOAT)
        return true;
    if (!given && fabs(value.as.real) < 9e18) {
        *result = (Value){.kind = VALUE_INT, .as.integer = (int64_t)nearbyint(value.as.real)};
        return true;
    }
    if (!given || digits > 300)
        return script_error(script, arguments->span, given ? "the number cannot be rounded so" : "the number does not fit in 64 bits");
    char text[700];
    snprintf(text, sizeof text, "%.*f", (int)digits, value.as.real);
    result->as.real = strtod(text, NULL);
    return true;
}

bool builtin_repr(Script *script, const Arguments *arguments, Value *result)
{
    return script_convert(script, arguments->positional[0], 'r', result);
}

/* pow(base, exponent, modulus), with the sign of the modulus. */
static bool modular_power(Script *script, const Arguments *arguments, Value *result)
{
    int64_t base, exponent, modulus;
    if (!argument_int(script, arguments, 0, 0, &base) || !argument_int(script, arguments, 1, 0, &exponent) || !argument_int(script, arguments, 2, 0, &modulus))
        return false;
    if (modulus == 0 || exponent < 0)
        return script_error(script, arguments->span, modulus ? "pow with a modulus takes no negative exponent" : "the modulus of pow must not be 0");
    __int128 power = 1, factor = floor_modulo(base, modulus);
    for (power %= modulus; exponent; exponent >>= 1, factor = factor * factor % modulus)
        power = exponent & 1 ? power * factor % modulus : power;
    *result = (Value){.kind = VALUE_INT, .as.integer = floor_modulo((int64_t)power, modulus)};
    return true;
}

bool builtin_pow(Script *script, const Arguments *arguments, Value *result)
{
    if (arguments->positional_count > 2 && arguments->positional[2].kind != VALUE_NONE)
        return modular_power(script, arguments, result);
    return script_binary(script, AST_OP_POWER, arguments->positional[0], arguments->positional[1], arguments->span, result);
}

/* The digits of an int in BASE, behind its prefix. */
static bool digits_of(Script *script, const Arguments *arguments, int base, const char *prefix, Value *result)
{
    int64_t value;
    char digits[65];
    int at = sizeof digits - 1;
    if (arguments->positional[0].kind == VALUE_NONE || !argument_int(script, arguments, 0, 0, &value))
        return arguments->positional[0].kind == VALUE_NONE && script_raise(script, arguments->span, EXCEPTION_TypeError, "an int is needed here, not None");
    digits[at] = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[--at] = "0123456789abcdef"[rest % (uint64_t)base];
    while (rest /= (uint64_t)base);
    *result = script_string(script, context_internf(script->ctx, "%s%s%s", value < 0 ? "-" : "", prefix, digits + at));
    return true;
}

bool builtin_hex(Script *script, const Arguments *arguments, Value *result)
{
    return digits_of(script, arguments, 16, "0x", result);
}

bool builtin_oct(Script *script, const Arguments *arguments, Value *result)
{
    return digits_of(script, arguments, 8, "0o", result);
}

bool builtin_bin(Script *script, const Arguments *arguments, Value *result)
{
    return digits_of(script, arguments, 2, "0b", result);
}

bool builtin_chr(Script *script, const Arguments *arguments, Value *result)
{
    int64_t code;
    if (!argument_int(script, arguments, 0, 0, &code))
        return false;
    if (code < 0 || code > 0x10FFFF)
        return script_raise(script, arguments->span, EXCEPTION_ValueError, "%lld is no character", (long long)code);
    if (!code || (code >= 0xD800 && code < 0xE000))
        return script_error(script, arguments->span, "%lld is no character", (long long)code);
    char text[5] = "";
    if (code < 0x80)
        text[0] = (char)code;
    else if (code < 0x800)
        text[0] = (char)(0xC0 | code >> 6), text[1] = (char)(0x80 | (code & 0x3F));
    else if (code < 0x10000)
        text[0] = (char)(0xE0 | code >> 12), text[1] = (char)(0x80 | (code >> 6 & 0x3F)), text[2] = (char)(0x80 | (code & 0x3F));
    else
        text[0] = (char)(0xF0 | code >> 18), text[1] = (char)(0x80 | (code >> 12 & 0x3F)), text[2] = (char)(0x80 | (code >> 6 & 0x3F)),
        text[3] = (char)(0x80 | (code & 0x3F));
    *result = script_string(script, text);
    return true;
}

bool builtin_ord(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional[0];
    const unsigned char *text = (const unsigned char *)(value.kind == VALUE_STRING ? value.as.text : "");
    if (text_characters((const char *)text, strlen((const char *)text)) != 1)
        return script_raise(script, value.span, EXCEPTION_TypeError, "ord needs a string of one character");
    unsigned code = *text, more = code < 0xC0 ? 0 : code < 0xE0 ? 1 : code < 0xF0 ? 2 : 3;
    code &= more ? 0x3Fu >> more : 0x7Fu;
    for (text++; more; more--)
        code = code << 6 | (*text++ & 0x3Fu);
    *result = (Value){.kind = VALUE_INT, .as.integer = code};
    return true;
}

bool builtin_format(Script *script, const Arguments *arguments, Value *result)
{
    StrBuf text = {.arena = script->ctx->arena};
    const char *spec = "";
    if (arguments->positional_count > 1) {
        if (arguments->positional[1].kind != VALUE_STRING)
            return script_error(script, arguments->span, "the format must be a string");
        spec = arguments->positional[1].as.text;
    }
    if (!script_add_formatted(script, &text, arguments->positional[0], spec, arguments->span))
        return false;
    *result = script_string(script, strbuf_text(&text));
    return true;
}
