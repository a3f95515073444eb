/* The methods of lists, tuples and dicts; and what all methods of values share. */
#include "script/methods.h"
#include "script/sequence.h"
#include "script/set.h"
#include "script/text.h"

#include <string.h>

bool argument_int(Script *script, const Arguments *arguments, int index, int64_t otherwise, int64_t *result)
{
    Value value = index < arguments->positional_count ? arguments->positional[index] : value_none();
    *result = value.kind == VALUE_NONE ? otherwise : value.kind == VALUE_BOOL ? value.as.boolean : value.as.integer;
    return value.kind == VALUE_NONE || value.kind == VALUE_INT || value.kind == VALUE_BOOL ||
           script_raise(script, value.span, EXCEPTION_TypeError, "an int is needed here, not %s", script_type_phrase(script, value));
}

static bool list_append(Script *script, Value self, const Arguments *arguments, Value *result)
{
    *result = value_none();
    return script_append(script, self.as.list, arguments->positional, 1, arguments->span);
}

static bool list_extend(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const ValueList *others = script_items(script, arguments->positional[0], arguments->span, "extend takes a list, not %s");
    *result = value_none();
    return others && script_append(script, self.as.list, others->items, others->count, arguments->span);
}

static bool list_insert(Script *script, Value self, const Arguments *arguments, Value *result)
{
    ValueList *list = self.as.list;
    int64_t at;
    *result = value_none();
    if (!argument_int(script, arguments, 0, 0, &at) || !script_append(script, list, &arguments->positional[1], 1, arguments->span))
        return false;
    int64_t count = list->count - 1;
    at = at < 0 ? (at + count < 0 ? 0 : at + count) : at > count ? count : at;
    memmove(list->items + at + 1, list->items + at, sizeof *list->items * (size_t)(count - at));
    list->items[at] = arguments->positional[1];
    return true;
}

static void remove_items(ValueList *list, int64_t at, int count)
{
    memmove(list->items + at, list->items + at + count, sizeof *list->items * (size_t)(list->count - at - count));
    list->count -= count;
}

static bool list_pop(Script *script, Value self, const Arguments *arguments, Value *result)
{
    ValueList *list = self.as.list;
    int64_t at;
    if (!argument_int(script, arguments, 0, -1, &at))
        return false;
    at += at < 0 ? list->count : 0;
    if (at < 0 || at >= list->count)
        return script_raise(script, arguments->span, EXCEPTION_IndexError, list->count ? "pop: there are only %d items" : "pop: the list is empty", list->count);
    *result = list->items[at];
    remove_items(list, at, 1);
    return true;
}

/* The position of ITEM in the list, from FIRST to END; -1: nowhere. */
static bool position_of(Script *script, Value self, Value item, Span span, int64_t first, int64_t end, int *position)
{
    *position = -1;
    if (!script_can_walk(script, self, span) || !script_can_walk(script, item, span))
        return false;
    for (int64_t i = first; i < end && i < self.as.list->count && *position < 0; i++)
        if (script_equal(self.as.list->items[i], item))
            *position = (int)i;
    return true;
}

/* index(value, first, end): negative places count from the end. */
static bool list_index(Script *script, Value self, const Arguments *arguments, Value *result)
{
    int position;
    int64_t count = self.as.list->count, first, end;
    if (!argument_int(script, arguments, 1, 0, &first) || !argument_int(script, arguments, 2, count, &end))
        return false;
    first = first < 0 ? first + count < 0 ? 0 : first + count : first;
    end = end < 0 ? end + count : end;
    if (!position_of(script, self, arguments->positional[0], arguments->span, first, end, &position))
        return false;
    *result = (Value){.kind = VALUE_INT, .as.integer = position};
    return position >= 0 || script_raise(script, arguments->span, EXCEPTION_ValueError, "the value is not in the list");
}

static bool list_remove(Script *script, Value self, const Arguments *arguments, Value *result)
{
    if (!list_index(script, self, arguments, result))
        return false;
    remove_items(self.as.list, result->as.integer, 1);
    *result = value_none();
    return true;
}

static bool list_count(Script *script, Value self, const Arguments *arguments, Value *result)
{
    *result = (Value){.kind = VALUE_INT};
    if (!script_can_walk(script, self, arguments->span) || !script_can_walk(script, arguments->positional[0], arguments->span))
        return false;
    for (int i = 0; i < self.as.list->count; i++)
        result->as.integer += script_equal(self.as.list->items[i], arguments->positional[0]);
    return true;
}

static bool list_sort(Script *script, Value self, const Arguments *arguments, Value *result)
{
    *result = value_none();
    return script_sort(script, self.as.list, arguments);
}

static bool list_reverse(Script *script, Value self, const Arguments *arguments, Value *result)
{
    (void)script, (void)arguments;
    ValueList *list = self.as.list;
    for (int i = 0, j = list->count - 1; i < j; i++, j--) {
        Value item = list->items[i];
        list->items[i] = list->items[j];
        list->items[j] = item;
    }
    *result = value_none();
    return true;
}

static bool list_copy(Script *script, Value self, const Arguments *arguments, Value *result)
{
    (void)arguments;
    *result = script_list(script, self.as.list->items, self.as.list->count, false);
    result->kind = self.kind;
    return true;
}

static bool list_clear(Script *script, Value self, const Arguments *arguments, Value *result)
{
    (void)script, (void)arguments;
    self.as.list->count = 0;
    *result = value_none();
    return true;
}

/* --- dicts --- */

static bool find_key(Script *script, Value self, const Arguments *arguments, const Value **found)
{
    Value key = arguments->positional[0];
    if (!script_can_walk(script, key, arguments->span) || !script_can_walk(script, self, arguments->span))
        return false;
    *found = script_dict_find(self, key);
    return true;
}

static bool dict_get(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const Value *found;
    if (!find_key(script, self, arguments, &found))
        return false;
    *result = found ? *found : arguments->positional_count > 1 ? arguments->positional[1] : value_none();
    return true;
}

static bool dict_setdefault(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const Value *found;
    if (!find_key(script, self, arguments, &found))
        return false;
    *result = found ? *found : arguments->positional_count > 1 ? arguments->positional[1] : value_none();
    return found || (script_can_hold(script, self.as.list, *result, arguments->span) &&
                     script_dict_set(script, self, arguments->positional[0], *result));
}

static bool dict_pop(Script *script, Value self, const Arguments *arguments, Value *result)
{
    const Value *found;
    const char *key;
    if (!find_key(script, self, arguments, &found))
        return false;
    if (!found && arguments->positional_count > 1) {
        *result = arguments->positional[1];
        return true;
    }
    if (!found)
        return script_repr(script, arguments->positional[0], &key) && script_raise_with(script, arguments->span, EXCEPTION_KeyError, arguments->positional[0], context_internf(script->ctx, "the dict has no key %s", key));
    *result = *found;
    remove_items(self.as.list, found - self.as.list->items - 1, 2);
    return true;
}

static bool dict_popitem(Script *script, Value self, const Arguments *arguments, Value *result)
{
    ValueList *dict = self.as.list;
    if (!dict->count)
        return script_raise_with(script, arguments->span, EXCEPTION_KeyError, script_string(script, "popitem(): dictionary is empty"), "popitem: the dict is empty");
    *result = script_list(script, dict->items + dict->count - 2, 2, true);
    dict->count -= 2;
    return true;
}

static bool dict_keys(Script *script, Value self, const Arguments *arguments, Value *result)
{
    (void)arguments;
    *result = script_view(script, SEQUENCE_KEYS, self.as.list);
    return true;
}

static bool dict_values(Script *script, Value self, const Arguments *arguments, Value *result)
{
    (void)arguments;
    *result = script_view(script, SEQUENCE_VALUES, self.as.list);
    return true;
}

static bool dict_items(Script *script, Value self, const Arguments *arguments, Value *result)
{
    (void)arguments;
    *result = script_view(script, SEQUENCE_ITEMS, self.as.list);
    return true;
}

bool script_dict_update(Script *script, Value dict, Value other, Span span)
{
    const ValueList *items = other.kind == VALUE_DICT ? other.as.list : script_items(script, other, span, "a dict or a list of pairs is needed here, not %s");
    if (!items)
        return false;
    int count = items->count;
    for (int i = 0; i < count; i += other.kind == VALUE_DICT ? 2 : 1) {
        Value pair[2] = {items->items[i], other.kind == VALUE_DICT ? items->items[i + 1] : value_none()};
        const ValueList *parts = other.kind == VALUE_DICT ? NULL : script_items(script, items->items[i], span, "a pair of a key and a value is needed, not %s");
        if (other.kind != VALUE_DICT && !parts)
            return false;
        if (other.kind != VALUE_DICT && parts->count != 2)
            return script_raise(script, span, EXCEPTION_ValueError, "item %d is no pair of a key and a value", i);
        if (parts)
            memcpy(pair, parts->items, sizeof pair);
        if (!script_can_hold(script, dict.as.list, pair[1], span) || !script_dict_set(script, dict, pair[0], pair[1]))
            return false;
    }
    return true;
}

static bool dict_update(Script *script, Value self, const Arguments *arguments, Value *result)
{
    *result = value_none();
    if (arguments->positional_count && !script_dict_update(script, self, arguments->positional[0], arguments->span))
        return false;
    for (int i = 0; i < arguments->keyword_count; i++)
        if (!script_can_hold(script, self.as.list, arguments->keywords[i], arguments->span) ||
            !script_dict_set(script, self, script_string(script, arguments->keyword_names[i]), arguments->keywords[i]))
            return false;
    return true;
}

bool script_dict_from_keys(Script *script, const Arguments *arguments, Value *result)
{
    Value value = arguments->positional_count > 1 ? arguments->positional[1] : value_none();
    if (arguments->positional_count < 1 || arguments->positional_count > 2 || arguments->keyword_count)
        return script_raise(script, arguments->span, EXCEPTION_TypeError, "dict.fromkeys takes keys, and perhaps a value");
    const ValueList *keys = script_items(script, arguments->positional[0], arguments->span, "a list is needed here, not %s");
    *result = script_list(script, NULL, 0, false);
    result->kind = VALUE_DICT;
    for (int i = 0; keys && i < keys->count; i++)
        if (!script_dict_set(script, *result, keys->items[i], value))
            return false;
    return keys != NULL;
}

#define LIST(name, fewest, most, of_tuples, ...) {VALUE_LIST, #name, list_##name, fewest, most, of_tuples, {__VA_ARGS__}},
#define DICT(name, fewest, most, ...) {VALUE_DICT, #name, dict_##name, fewest, most, false, {__VA_ARGS__}},
const ValueMethod container_methods[] = {
    LIST(append, 1, 1, false, 0) LIST(extend, 1, 1, false, 0) LIST(insert, 2, 2, false, 0) LIST(pop, 0, 1, false, 0)
    LIST(remove, 1, 1, false, 0) LIST(index, 1, 3, true, 0) LIST(count, 1, 1, true, 0) LIST(sort, 0, 0, false, "key", "reverse")
    LIST(reverse, 0, 0, false, 0) LIST(copy, 0, 0, false, 0) LIST(clear, 0, 0, false, 0)
    DICT(get, 1, 2, 0) DICT(items, 0, 0, 0) DICT(keys, 0, 0, 0) DICT(values, 0, 0, 0) DICT(update, 0, 1, "*") DICT(pop, 1, 2, 0)
    DICT(popitem, 0, 0, 0) DICT(setdefault, 1, 2, 0) {VALUE_DICT, "copy", list_copy, 0, 0, false, {0}},
    {VALUE_DICT, "clear", list_clear, 0, 0, false, {0}}, {0},
};

/* --- all methods of values --- */

static bool has_method(Value value, const ValueMethod *method)
{
    bool frozen = value_set(value) && set_is_frozen(value_set(value));
    return method->kind == value.kind && (!frozen || method->of_tuples) && (value.kind != VALUE_LIST || !value.as.list->is_tuple || method->of_tuples);
}

static const ValueMethod *methods_of(Value value)
{
    return value.kind == VALUE_STRING ? string_methods : value_set(value) ? set_methods : container_methods;
}

const ValueMethod *method_find(Value value, const char *name)
{
    const ValueMethod *method = methods_of(value);
    for (; method->name; method++)
        if (has_method(value, method) && !strcmp(method->name, name))
            return method;
    return NULL;
}

const char *method_name(Value value, int index)
{
    const ValueMethod *method = methods_of(value);
    for (; method->name; method++)
        if (has_method(value, method) && index-- == 0)
            return method->name;
    return NULL;
}

bool method_call(Script *script, Value self, const char *name, const Arguments *arguments, Value *result)
{
    const ValueMethod *method = method_find(self, name);
    int given = arguments->positional_count, keyword_count = method->keywords[0] ? method->keywords[1] ? 2 : 1 : 0;
    bool any_keyword = keyword_count && !strcmp(method->keywords[0], "*");
    if (given < method->fewest || given > method->most) {
        const char *range = context_internf(script->ctx, method->fewest < method->most ? "%d to %d" : "%d", method->fewest, method->most);
        return script_raise(script, arguments->span, EXCEPTION_TypeError, "%s takes %s argument%s, not %d", name, range, method->most == 1 ? "" : "s", given);
    }
    return (any_keyword || script_check_keywords(script, name, arguments, method->most, method->keywords, keyword_count)) &&
           method->run(script, self, arguments, result);
}
