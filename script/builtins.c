/* The builtin functions of schedule scripts: one table, one function each. */
#include "script/builtins.h"
#include "script/methods.h"
#include "script/sequence.h"
#include "script/set.h"
#include "script/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool integer_argument(Script *script, const Arguments *arguments, int index, int64_t *result)
{
    Value value = arguments->positional[index];
    if (value.kind != VALUE_INT && value.kind != VALUE_BOOL)
        return script_raise(script, value.span, EXCEPTION_TypeError, "an int is needed here, not %s", script_type_phrase(script, value));
    *result = value.kind == VALUE_BOOL ? value.as.boolean : value.as.integer;
    return true;
}

static const ValueList *list_argument(Script *script, const Arguments *arguments, int index)
{
    return script_items(script, arguments->positional[index], arguments->positional[index].span, "a list is needed here, not %s");
}

static bool builtin_len(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional[0];
    *result = (Value){.kind = VALUE_INT};
    if (value.kind == VALUE_STRING)
        result->as.integer = text_characters(value.as.text, strlen(value.as.text));
    else if (value.kind == VALUE_LIST || value.kind == VALUE_DICT)
        result->as.integer = value.as.list->count / (value.kind == VALUE_DICT ? 2 : 1);
    else if (value_set(value))
        result->as.integer = set_count(value_set(value));
    else if (value_sequence(value) && sequence_length(value_sequence(value)) >= 0)
        result->as.integer = sequence_length(value_sequence(value));
    else
        return script_raise(script, value.span, EXCEPTION_TypeError, "%s has no length", script_type_phrase(script, value));
    return true;
}

static bool builtin_range(Script *script, const Arguments *arguments, Value *result)
{
    int64_t bounds[3] = {0, 0, 1};
    int given = arguments->positional_count;
    for (int i = 0; i < given; i++)
        if (!integer_argument(script, arguments, i, &bounds[given == 1 ? 1 : i]))
            return false;
    if (bounds[2] == 0)
        return script_raise(script, arguments->span, EXCEPTION_ValueError, "the step of a range must not be 0");
    return script_range(script, bounds[0], bounds[1], bounds[2], arguments->span, result);
}

static bool builtin_reversed(Script *script, const Arguments *arguments, Value *result)
{
    return script_reversed(script, arguments->positional[0], arguments->positional[0].span, result);
}

static bool builtin_enumerate(Script *script, const Arguments *arguments, Value *result)
{
    int64_t start = 0;
    const Value *named = script_keyword(arguments, "start");
    if (named && arguments->positional_count > 1)
        return script_error(script, named->span, "'start' is given twice");
    Arguments from = {.positional = named ? (Value *)named : arguments->positional + 1, .positional_count = 1};
    if ((named || arguments->positional_count > 1) && !integer_argument(script, &from, 0, &start))
        return false;
    return script_enumerate(script, arguments, start, result);
}

/* What KEY, a function, gives for ITEM; ITEM itself without one. */
static bool sort_key(Script *script, const Value *key, Value item, Span span, Value *result)
{
    *result = item;
    return !key || key->kind == VALUE_NONE || script_call_one(script, *key, item, span, result);
}

/* The least (or, with OP AST_OP_GT, greatest) of the arguments or of the one list, by its key; the first of those that are equal. */
static bool extreme(Script *script, const Arguments *arguments, AstOp op, Value *result)
{
    const Value *key = script_keyword(arguments, "key"), *otherwise = script_keyword(arguments, "default");
    Value given = arguments->positional_count == 1 ? arguments->positional[0]
                                                   : script_list(script, arguments->positional, arguments->positional_count, true);
    Value item, rank, best;
    Sequence *iterator;
    bool ended = false, any = false;
    if (!script_iterate(script, given, given.span, "a list is needed here, not %s", &iterator))
        return false;
    while (iterator_next(script, iterator, &item, &ended) && !ended) {
        bool better = !any;
        if (!sort_key(script, key, item, arguments->span, &rank) ||
            (any && !script_compare(script, op, rank, best, arguments->span, &better)))
            return false;
        *result = better ? item : *result;
        best = better ? rank : best;
        any = true;
    }
    if (ended && !any && otherwise)
        *result = *otherwise;
    return ended && (any || otherwise || script_raise(script, arguments->span, EXCEPTION_ValueError, "the list is empty"));
}

static bool builtin_min(Script *script, const Arguments *arguments, Value *result)
{
    return extreme(script, arguments, AST_OP_LT, result);
}

static bool builtin_max(Script *script, const Arguments *arguments, Value *result)
{
    return extreme(script, arguments, AST_OP_GT, result);
}

static bool builtin_sum(Script *script, const Arguments *arguments, Value *result)
{
    const ValueList *items = list_argument(script, arguments, 0);
    *result = arguments->positional_count > 1 ? arguments->positional[1] : (Value){.kind = VALUE_INT};
    if (result->kind == VALUE_STRING)
        return script_raise(script, arguments->span, EXCEPTION_TypeError, "sum does not join strings; ''.join(...) does");
    for (int i = 0; items && i < items->count; i++)
        if (!script_binary(script, AST_OP_ADD, *result, items->items[i], arguments->span, result))
            return false;
    return items != NULL;
}

static bool builtin_abs(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional[0], zero = {.kind = VALUE_INT};
    bool negative;
    if (value.kind == VALUE_FLOAT) {
        *result = (Value){.kind = VALUE_FLOAT, .as.real = fabs(value.as.real)};
        return true;
    }
    if (!script_compare(script, AST_OP_LT, value, zero, arguments->span, &negative))
        return false;
    *result = value.kind == VALUE_BOOL ? (Value){.kind = VALUE_INT, .as.integer = value.as.boolean} : value;
    return !negative || script_binary(script, AST_OP_SUB, zero, value, arguments->span, result);
}

/* The string keyword argument NAME of print; OTHERWISE where it is not given or None. */
static bool print_option(Script *script, const Arguments *arguments, const char *name, const char *otherwise, const char **result)
{
    const Value *value = script_keyword(arguments, name);
    *result = otherwise;
    if (!value || value->kind == VALUE_NONE)
        return true;
    *result = value->as.text;
    return value->kind == VALUE_STRING ||
           script_raise(script, value->span, EXCEPTION_TypeError, "'%s' must be a string, not %s", name, script_type_phrase(script, *value));
}

static bool builtin_print(Script *script, const Arguments *arguments, Value *result)
{
    const char **texts = ARENA_ARRAY(script->ctx->arena, const char *, arguments->positional_count), *separator, *end;
    if (!print_option(script, arguments, "sep", " ", &separator) || !print_option(script, arguments, "end", "\n", &end))
        return false;
    for (int i = 0; i < arguments->positional_count; i++)
        if (!script_text(script, arguments->positional[i], &texts[i]))
            return false;
    for (int i = 0; i < arguments->positional_count; i++)
        fprintf(script->options->out, "%s%s", i ? separator : "", texts[i]);
    fputs(end, script->options->out);
    *result = value_none();
    return true;
}

static bool builtin_str(Script *script, const Arguments *arguments, Value *result)
{
    const char *text;
    if (!script_text(script, arguments->positional[0], &text))
        return false;
    *result = (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, text)};
    return true;
}

/* An int as Python's literals are, with underscores; of BASE 0, the prefix (0x, 0o, 0b) tells the base. */
static bool read_int(const char *text, int base, int64_t *result)
{
    char digits[80], last = '_', *end;
    size_t count = 0;
    text += strspn(text, " \t\n\r\f\v");
    if (*text == '-' || *text == '+')
        digits[count++] = *text++;
    int letter = *text == '0' ? tolower((unsigned char)text[1]) : 0, implied = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (implied && (!base || base == implied)) {
        base = implied;
        text += text[2] == '_' ? 3 : 2;
    }
    bool no_zero = !base && *text == '0';
    for (; isalnum((unsigned char)*text) || (*text == '_' && last != '_'); last = *text++)
        if (*text != '_' && count < sizeof digits - 1)
            digits[count++] = *text;
    digits[count] = 0;
    errno = count == sizeof digits - 1 ? ERANGE : 0;
    *result = strtoll(digits, &end, base ? base : 10);
    return last != '_' && !*end && !text[strspn(text, " \t\n\r\f\v")] && !(no_zero && *result) && !errno;
}

static bool int_of_float(Script *script, Value value, int64_t *result)
{
    if (isnan(value.as.real))
        return script_raise(script, value.span, EXCEPTION_ValueError, "NaN is no int");
    if (isinf(value.as.real))
        return script_raise(script, value.span, EXCEPTION_OverflowError, "infinity is no int");
    if (!(value.as.real >= -0x1p63 && value.as.real < 0x1p63))
        return script_error(script, value.span, "the number does not fit in 64 bits");
    *result = (int64_t)value.as.real;
    return true;
}

static bool builtin_int(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional_count ? arguments->positional[0] : (Value){.kind = VALUE_INT};
    int64_t base = 10;
    *result = (Value){.kind = VALUE_INT};
    if (arguments->positional_count > 1 && !integer_argument(script, arguments, 1, &base))
        return false;
    if (arguments->positional_count > 1 && value.kind != VALUE_STRING)
        return script_raise(script, arguments->span, EXCEPTION_TypeError, "int takes a base beside a string only");
    if (base < 0 || base == 1 || base > 36)
        return script_raise(script, arguments->span, EXCEPTION_ValueError, "the base of int is from 2 to 36, or 0");
    if (!arguments->positional_count)
        return true;
    if (value.kind == VALUE_FLOAT)
        return int_of_float(script, value, &result->as.integer);
    if (value.kind == VALUE_EXPR && expr_const_int(value.as.expr, &result->as.integer)) /* tvm.tir.IntImm */
        return true;
    if (value.kind == VALUE_STRING) {
        if (!read_int(value.as.text, (int)base, &result->as.integer))
            return errno ? script_error(script, value.span, "'%s' is not an int of 64 bits", value.as.text)
                         : script_raise(script, value.span, EXCEPTION_ValueError, "'%s' is not an int", value.as.text);
    } else
        return integer_argument(script, arguments, 0, &result->as.integer);
    return true;
}

static bool copy_list(Script *script, const Arguments *arguments, bool is_tuple, Value *result)
{
    if (!arguments->positional_count) {
        *result = script_list(script, NULL, 0, is_tuple);
        return true;
    }
    const ValueList *items = list_argument(script, arguments, 0);
    if (items)
        *result = script_list(script, items->items, items->count, is_tuple);
    return items != NULL;
}

static bool builtin_list(Script *script, const Arguments *arguments, Value *result)
{
    return copy_list(script, arguments, false, result);
}

static bool builtin_tuple(Script *script, const Arguments *arguments, Value *result)
{
    return copy_list(script, arguments, true, result);
}

static bool make_set(Script *script, const Arguments *arguments, bool frozen, Value *result)
{
    *result = set_value(script, frozen);
    return !arguments->positional_count || set_update(script, *result, arguments->positional[0], arguments->positional[0].span);
}

static bool builtin_set(Script *script, const Arguments *arguments, Value *result)
{
    return make_set(script, arguments, false, result);
}

static bool builtin_frozenset(Script *script, const Arguments *arguments, Value *result)
{
    return make_set(script, arguments, true, result);
}

static const struct {
    const char *name;
    BuiltinFunction *run;
    int fewest, most;
    const char *keywords[2];
} builtins[] = {
    {"len", builtin_len, 1, 1, {0}},
    {"range", builtin_range, 1, 3, {0}},
    {"reversed", builtin_reversed, 1, 1, {0}},
    {"enumerate", builtin_enumerate, 1, 2, {"start"}},
    {"zip", builtin_zip, 0, 64, {0}},
    {"iter", builtin_iter, 1, 1, {0}},
    {"next", builtin_next, 1, 2, {0}},
    {"min", builtin_min, 1, 1000, {"key", "default"}},
    {"max", builtin_max, 1, 1000, {"key", "default"}},
    {"sum", builtin_sum, 1, 2, {0}},
    {"abs", builtin_abs, 1, 1, {0}},
    {"print", builtin_print, 0, 1000, {"sep", "end"}},
    {"str", builtin_str, 1, 1, {0}},
    {"int", builtin_int, 0, 2, {0}},
    {"list", builtin_list, 0, 1, {0}},
    {"tuple", builtin_tuple, 0, 1, {0}},
    {"set", builtin_set, 0, 1, {0}},
    {"frozenset", builtin_frozenset, 0, 1, {0}},
    {"map", builtin_map, 2, 64, {0}},
    {"filter", builtin_filter, 2, 2, {0}},
    {"sorted", builtin_sorted, 1, 1, {"key", "reverse"}},
    {"any", builtin_any, 1, 1, {0}},
    {"all", builtin_all, 1, 1, {0}},
    {"isinstance", builtin_isinstance, 2, 2, {0}},
    {"type", builtin_type, 1, 1, {0}},
    {"callable", builtin_callable, 1, 1, {0}},
    {"float", builtin_float, 0, 1, {0}},
    {"bool", builtin_bool, 0, 1, {0}},
    {"dict", builtin_dict, 0, 1, {"*"}},
    {"divmod", builtin_divmod, 2, 2, {0}},
    {"round", builtin_round, 1, 2, {0}},
    {"repr", builtin_repr, 1, 1, {0}},
    {"pow", builtin_pow, 2, 3, {0}},
    {"hex", builtin_hex, 1, 1, {0}},
    {"oct", builtin_oct, 1, 1, {0}},
    {"bin", builtin_bin, 1, 1, {0}},
    {"chr", builtin_chr, 1, 1, {0}},
    {"ord", builtin_ord, 1, 1, {0}},
    {"format", builtin_format, 1, 2, {0}},
    {"compute_diff", builtin_compute_diff, 2, 2, {0}},
};
enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

const char *builtin_name(int builtin)
{
    return builtin < BUILTIN_COUNT ? builtins[builtin].name : NULL;
}

int builtin_find(const char *name)
{
    for (int i = 0; i < BUILTIN_COUNT; i++)
        if (!strcmp(builtins[i].name, name))
            return i;
    return -1;
}

bool script_call_builtin(Script *script, int builtin, const Arguments *arguments, Value *result)
{
    const char *name = builtins[builtin].name, *const *keywords = builtins[builtin].keywords;
    int fewest = builtins[builtin].fewest, most = builtins[builtin].most, keyword_count = keywords[0] ? keywords[1] ? 2 : 1 : 0;
    if (!keyword_count && arguments->keyword_count)
        return script_raise(script, arguments->keyword_spans[0], EXCEPTION_TypeError, "%s takes no keyword '%s'", name, arguments->keyword_names[0]);
    if (arguments->positional_count < fewest || arguments->positional_count > most) {
        const char *range = context_internf(script->ctx, fewest < most ? "%d to %d" : "%d", fewest, most);
        return script_raise(script, arguments->span, EXCEPTION_TypeError, "%s takes %s argument%s, not %d", name, range, most == 1 ? "" : "s",
                            arguments->positional_count);
    }
    bool any_keyword = keyword_count && !strcmp(keywords[0], "*");
    return (any_keyword || script_check_keywords(script, name, arguments, most, keywords, keyword_count)) &&
           builtins[builtin].run(script, arguments, result);
}
