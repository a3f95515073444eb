/* The builtin functions of schedule scripts: one table, one function each. */
#include "script/script_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef bool (*BuiltinFunction)(Script *script, const Arguments *arguments, Value *result);

static bool integer_argument(Script *script, const Arguments *arguments, int index, int64_t *result)
{
    Value value = arguments->positional[index];
    if (value.kind != VALUE_INT && value.kind != VALUE_BOOL)
        return script_error(script, value.span, "an int is needed here, not %s", script_type_phrase(script, value));
    *result = value.kind == VALUE_BOOL ? value.as.boolean : value.as.integer;
    return true;
}

static const ValueList *list_argument(Script *script, const Arguments *arguments, int index)
{
    const ValueList *items = script_items(arguments->positional[index]);
    if (!items)
        script_error(script, arguments->positional[index].span, "a list is needed here, not %s",
                     script_type_phrase(script, arguments->positional[index]));
    return items;
}

static bool builtin_len(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional[0];
    *result = (Value){.kind = VALUE_INT};
    if (value.kind == VALUE_STRING)
        result->as.integer = (int64_t)strlen(value.as.text);
    else if (value.kind == VALUE_LIST || value.kind == VALUE_DICT)
        result->as.integer = value.as.list->count / (value.kind == VALUE_DICT ? 2 : 1);
    else
        return script_error(script, value.span, "%s has no length", script_type_phrase(script, value));
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
        return script_error(script, arguments->span, "the step of a range must not be 0");
    VEC(Value) items = {0};
    bool ended = false;
    for (int64_t i = bounds[0]; !ended && (bounds[2] > 0 ? i < bounds[1] : i > bounds[1]);
         ended = __builtin_add_overflow(i, bounds[2], &i)) {
        if (items.count == SCRIPT_MOST_ITEMS)
            return script_error(script, arguments->span, "the range has more than %d items", SCRIPT_MOST_ITEMS);
        Value item = {.kind = VALUE_INT, .as.integer = i};
        vec_push(script->ctx->arena, &items, item);
    }
    *result = script_list(script, items.data, items.count, false);
    return true;
}

static bool builtin_reversed(Script *script, const Arguments *arguments, Value *result)
{
    const ValueList *items = list_argument(script, arguments, 0);
    if (!items)
        return false;
    *result = script_list(script, items->items, items->count, false);
    for (int i = 0; i < items->count; i++)
        result->as.list->items[i] = items->items[items->count - 1 - i];
    return true;
}

static bool builtin_enumerate(Script *script, const Arguments *arguments, Value *result)
{
    const ValueList *items = list_argument(script, arguments, 0);
    int64_t start = 0;
    if (!items || (arguments->positional_count > 1 && !integer_argument(script, arguments, 1, &start)))
        return false;
    if (start > INT64_MAX - items->count)
        return script_error(script, arguments->span, "the result does not fit in 64 bits");
    *result = script_list(script, items->items, items->count, false);
    for (int i = 0; i < items->count; i++) {
        Value pair[] = {{.kind = VALUE_INT, .as.integer = start + i}, items->items[i]};
        result->as.list->items[i] = script_list(script, pair, 2, true);
    }
    return true;
}

static bool builtin_zip(Script *script, const Arguments *arguments, Value *result)
{
    int shortest = arguments->positional_count ? INT32_MAX : 0;
    for (int i = 0; i < arguments->positional_count; i++) {
        const ValueList *items = list_argument(script, arguments, i);
        if (!items)
            return false;
        shortest = items->count < shortest ? items->count : shortest;
    }
    Value *rows = ARENA_ARRAY(script->ctx->arena, Value, shortest);
    Value *row = ARENA_ARRAY(script->ctx->arena, Value, arguments->positional_count);
    for (int r = 0; r < shortest; r++) {
        for (int i = 0; i < arguments->positional_count; i++)
            row[i] = arguments->positional[i].as.list->items[r];
        rows[r] = script_list(script, row, arguments->positional_count, true);
    }
    *result = script_list(script, rows, shortest, false);
    return true;
}

/* The least (or, with OP AST_OP_GT, greatest) of the arguments or of the one list. */
static bool extreme(Script *script, const Arguments *arguments, AstOp op, Value *result)
{
    const Value *items = arguments->positional;
    int count = arguments->positional_count;
    if (count == 1) {
        const ValueList *list = list_argument(script, arguments, 0);
        if (!list)
            return false;
        items = list->items;
        count = list->count;
    }
    if (!count)
        return script_error(script, arguments->span, "the list is empty");
    *result = items[0];
    for (int i = 1; i < count; i++) {
        bool better;
        if (!script_compare(script, op, items[i], *result, arguments->span, &better))
            return false;
        if (better)
            *result = items[i];
    }
    return true;
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
    *result = (Value){.kind = VALUE_INT};
    for (int i = 0; items && i < items->count; i++)
        if (!script_binary(script, AST_OP_ADD, *result, items->items[i], arguments->span, result))
            return false;
    return items != NULL;
}

static bool builtin_abs(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional[0], zero = {.kind = VALUE_INT};
    bool negative;
    if (!script_compare(script, AST_OP_LT, value, zero, arguments->span, &negative))
        return false;
    *result = value;
    return !negative || script_binary(script, AST_OP_SUB, zero, value, arguments->span, result);
}

static bool builtin_print(Script *script, const Arguments *arguments, Value *result)
{
    const char **texts = ARENA_ARRAY(script->ctx->arena, const char *, arguments->positional_count);
    for (int i = 0; i < arguments->positional_count; i++)
        if (!script_text(script, arguments->positional[i], &texts[i]))
            return false;
    for (int i = 0; i < arguments->positional_count; i++)
        fprintf(script->options->out, "%s%s", i ? " " : "", texts[i]);
    fputc('\n', script->options->out);
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

static bool builtin_int(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional[0];
    *result = (Value){.kind = VALUE_INT};
    if (value.kind == VALUE_FLOAT && value.as.real > -9e18 && value.as.real < 9e18)
        result->as.integer = (int64_t)value.as.real;
    else if (value.kind == VALUE_STRING) {
        char *end;
        errno = 0;
        result->as.integer = strtoll(value.as.text, &end, 10);
        if (!*value.as.text || *end || errno)
            return script_error(script, value.span, "'%s' is not an int%s", value.as.text, errno ? " of 64 bits" : "");
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

static const struct {
    const char *name;
    BuiltinFunction run;
    int fewest, most;
} builtins[] = {
    {"len", builtin_len, 1, 1},           {"range", builtin_range, 1, 3},
    {"reversed", builtin_reversed, 1, 1}, {"enumerate", builtin_enumerate, 1, 2},
    {"zip", builtin_zip, 0, 64},          {"min", builtin_min, 1, 1000},
    {"max", builtin_max, 1, 1000},        {"sum", builtin_sum, 1, 1},
    {"abs", builtin_abs, 1, 1},           {"print", builtin_print, 0, 1000},
    {"str", builtin_str, 1, 1},           {"int", builtin_int, 1, 1},
    {"list", builtin_list, 0, 1},         {"tuple", builtin_tuple, 0, 1},
};

const char *builtin_name(int builtin)
{
    return builtins[builtin].name;
}

int builtin_find(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (!strcmp(builtins[i].name, name))
            return (int)i;
    return -1;
}

bool script_call_builtin(Script *script, int builtin, const Arguments *arguments, Value *result)
{
    if (arguments->keyword_count)
        return script_error(script, arguments->keyword_spans[0], "%s takes no keyword '%s'", builtins[builtin].name,
                            arguments->keyword_names[0]);
    int fewest = builtins[builtin].fewest, most = builtins[builtin].most;
    if (arguments->positional_count < fewest || arguments->positional_count > most) {
        const char *range = context_internf(script->ctx, fewest < most ? "%d to %d" : "%d", fewest, most);
        return script_error(script, arguments->span, "%s takes %s argument%s, not %d", builtins[builtin].name,
                            range, most == 1 ? "" : "s", arguments->positional_count);
    }
    return builtins[builtin].run(script, arguments, result);
}
