/* Attributes, subscripts and texts of script values. */
#include "script/nd_array.h"
#include "script/builtins.h"
#include "script/methods.h"
#include "script/exception.h"
#include "script/sequence.h"
#include "script/set.h"
#include "script/te.h"
#include "script/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/print.h"
#include "support/strbuf.h"

/* Bytes of the text of a value, about. A program may be long. */
enum { LONGEST_TEXT = 1 << 28 };

const char *script_type_name(Value value)
{
    static const char *const objects[] = {"schedule",         "module", "function of a module", "module of Python", "function",
                                          "builtin function", "method", "value",  "type",   "trace", "statement", "region",
                                          "name of a function", "tensor", "part of a tensor", "operation", "axis", "range", "reducer", "reduction", "buffer", "schedule of stages", "stage", "builder", "array", "pass",
                                          "built program", "exception", "set", "sequence"};
    if (value_sequence(value))
        return value_sequence(value)->class_name;
    return value.kind == VALUE_SCRIPT ? objects[((const Object *)value.as.script)->kind] : value_type_name(value.kind);
}

const char *script_type_phrase(Script *script, Value value)
{
    const char *name = script_type_name(value);
    return value.kind == VALUE_NONE ? name : context_internf(script->ctx, "%s %s", strchr("aeiou", *name) ? "an" : "a", name);
}

/* As Python writes it: the fewest digits that read back as VALUE, with an exponent where it is far from 1. */
static void add_real(StrBuf *text, double value)
{
    char digits[32];
    int precision = 0;
    do
        snprintf(digits, sizeof digits, "%.*e", precision++, value);
    while (precision < 17 && isfinite(value) && strtod(digits, NULL) != value);
    const char *exponent = strchr(digits, 'e');
    int power = exponent ? atoi(exponent + 1) : 0;
    if (!isfinite(value) || power < -4 || power >= 16)
        strbuf_add(text, isnan(value) ? "nan" : digits);
    else
        strbuf_printf(text, "%.*f", precision - 1 - power > 1 ? precision - 1 - power : 1, value);
}

/* As Python's repr(): in double quotes where only single ones stand in TEXT, and with escapes. */
static void add_quoted(StrBuf *buffer, const char *text)
{
    char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';
    strbuf_printf(buffer, "%c", quote);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        static const char plain[] = "\n\t\r", letters[] = "ntr";
        const char *letter = strchr(plain, *c);
        if (*c == quote || *c == '\\')
            strbuf_printf(buffer, "\\%c", *c);
        else if (letter)
            strbuf_printf(buffer, "\\%c", letters[letter - plain]);
        else
            strbuf_printf(buffer, *c < 32 || *c == 127 ? "\\x%02x" : "%c", *c);
    }
    strbuf_printf(buffer, "%c", quote);
}

static const char *shape_text(Script *script, const Tensor *tensor)
{
    StrBuf text = {.arena = script->ctx->arena};
    for (int i = 0; i < tensor->buffer->ndim; i++)
        strbuf_printf(&text, "%s%s", i ? ", " : "", print_expr(script->ctx, tensor->buffer->shape[i]));
    return strbuf_text(&text);
}

static void add_text(Script *script, StrBuf *text, Value value, bool quoted);

static void add_items(Script *script, StrBuf *text, const ValueList *list)
{
    for (int i = 0; i < list->count; i++) {
        strbuf_add(text, i ? ", " : "");
        add_text(script, text, list->items[i], true);
    }
}

static void add_sequence(Script *script, StrBuf *text, Sequence *sequence)
{
    strbuf_printf(text, "%s(", sequence->class_name);
    if (sequence->kind == SEQUENCE_RANGE) {
        strbuf_printf(text, "%lld, %lld", (long long)sequence->first, (long long)sequence->end);
        strbuf_add(text, sequence->step == 1 ? "" : context_internf(script->ctx, ", %lld", (long long)sequence->step));
    } else if (sequence->kind != SEQUENCE_ITERATOR) {
        strbuf_add(text, "[");
        add_items(script, text, sequence_items(script, sequence));
        strbuf_add(text, "]");
    }
    strbuf_add(text, ")");
}

static void add_set(Script *script, StrBuf *text, const Set *set)
{
    const char *around[2] = {set_is_frozen(set) ? "frozenset(" : set_count(set) ? "" : "set(", set_is_frozen(set) || !set_count(set) ? ")" : ""};
    strbuf_printf(text, "%s%s", around[0], set_count(set) ? "{" : "");
    add_items(script, text, set_items(script, set));
    strbuf_printf(text, "%s%s", set_count(set) ? "}" : "", around[1]);
}

static void add_exception(Script *script, StrBuf *text, const Object *exception, bool quoted)
{
    const char *words;
    if (quoted ? exception_repr(script, exception, &words) : exception_text(script, exception, &words))
        strbuf_add(text, words);
}

static void add_text(Script *script, StrBuf *text, Value value, bool quoted)
{
    if (text->length > LONGEST_TEXT)
        return;
    switch (value.kind) {
    case VALUE_NONE: strbuf_add(text, "None"); break;
    case VALUE_BOOL: strbuf_add(text, value.as.boolean ? "True" : "False"); break;
    case VALUE_INT: strbuf_printf(text, "%lld", (long long)value.as.integer); break;
    case VALUE_FLOAT: add_real(text, value.as.real); break;
    case VALUE_STRING: quoted ? add_quoted(text, value.as.text) : strbuf_add(text, value.as.text); break;
    case VALUE_LOOP: strbuf_printf(text, "Loop(%s)", value.as.loop->name); break;
    case VALUE_BLOCK: strbuf_printf(text, "Block(%s)", value.as.block->name); break;
    case VALUE_EXPR: strbuf_add(text, print_expr(script->ctx, value.as.expr)); break;
    case VALUE_LIST: {
        const ValueList *list = value.as.list;
        strbuf_add(text, list->is_tuple ? "(" : "[");
        add_items(script, text, list);
        strbuf_add(text, list->is_tuple ? (list->count == 1 ? ",)" : ")") : "]");
        break;
    }
    case VALUE_DICT:
        strbuf_add(text, "{");
        for (int i = 0; i < value.as.list->count; i++) {
            strbuf_add(text, i % 2 ? ": " : i ? ", " : "");
            add_text(script, text, value.as.list->items[i], true);
        }
        strbuf_add(text, "}");
        break;
    default: {
        const Object *object = value.kind == VALUE_SCRIPT ? value.as.script : NULL;
        if (object && object->kind == OBJECT_MODULE)
            strbuf_add(text, print_module(script->ctx, object->as.module));
        else if (object && object->kind == OBJECT_FUNC)
            strbuf_add(text, print_func(script->ctx, object->as.func));
        else if (object && (object->kind == OBJECT_TYPE || object->kind == OBJECT_BUILTIN))
            strbuf_printf(text, "<class '%s'>", script_callable_name(object));
        else if (object && object->kind == OBJECT_TRACE)
            strbuf_add(text, script_trace_text(script, object->as.schedule));
        else if (object && object->kind == OBJECT_NODE)
            strbuf_add(text, print_stmt(script->ctx, object->as.stmt));
        else if (object && object->kind == OBJECT_GLOBAL_VAR)
            strbuf_printf(text, "I.GlobalVar(\"%s\")", object->as.path);
        else if (te_tensor(value))
            strbuf_printf(text, "Tensor(shape=[%s], op.name=%s)", shape_text(script, te_tensor(value)), te_tensor(value)->op->name);
        else if (object && object->kind == OBJECT_AXIS)
            strbuf_add(text, object->as.axis->var->name);
        else if (object && object->kind == OBJECT_SET)
            add_set(script, text, object->as.set);
        else if (object && object->kind == OBJECT_EXCEPTION)
            add_exception(script, text, object, quoted);
        else if (object && object->kind == OBJECT_SEQUENCE)
            add_sequence(script, text, object->as.sequence);
        else
            strbuf_printf(text, "<%s>", script_type_name(value));
    }
    }
}

/* What VALUE holds, or is, that is meant to be called, or an iterator: it has no text. */
static const Object *find_callable(Script *script, Value value)
{
    const Object *object = value.kind == VALUE_SCRIPT ? value.as.script : NULL, *found = NULL;
    if (object && object->kind == OBJECT_BUILTIN && builtin_is_type(builtin_name(object->as.builtin)))
        return NULL;
    const Sequence *sequence = value_sequence(value);
    if (sequence && sequence->kind == SEQUENCE_ITERATOR)
        return object;
    if (value_set(value))
        value = (Value){.kind = VALUE_LIST, .as.list = (ValueList *)set_items(script, value_set(value))};
    else if (object && !sequence)
        return script_is_callable(object) ? object : NULL;
    if (sequence && sequence->kind != SEQUENCE_RANGE)
        value = (Value){.kind = VALUE_DICT, .as.list = (ValueList *)sequence->list};
    for (int i = 0; (value.kind == VALUE_LIST || value.kind == VALUE_DICT) && i < value.as.list->count && !found; i++)
        found = find_callable(script, value.as.list->items[i]);
    return found;
}

static bool text_of(Script *script, Value value, bool quoted, const char **result)
{
    if (!script_can_walk(script, value, value.span))
        return false;
    const Object *callable = find_callable(script, value);
    if (callable)
        return script_refuse_uncalled(script, callable, value.span, "has no text");
    StrBuf text = {.arena = script->ctx->arena};
    add_text(script, &text, value, quoted);
    *result = strbuf_text(&text);
    script->made += (long)(text.length / sizeof value);
    return text.length <= LONGEST_TEXT || script_error(script, value.span, "the text is longer than %d bytes", LONGEST_TEXT);
}

bool script_text(Script *script, Value value, const char **result)
{
    return text_of(script, value, false, result);
}

bool script_repr(Script *script, Value value, const char **result)
{
    return text_of(script, value, true, result);
}

/* INDEX counted from the end when negative; false when out of COUNT. */
static bool list_index(Script *script, Value index, int count, Span span, int *result)
{
    if (index.kind == VALUE_BOOL)
        index = (Value){.kind = VALUE_INT, .as.integer = index.as.boolean};
    if (index.kind != VALUE_INT)
        return script_raise(script, span, EXCEPTION_TypeError, "an index must be an int, not %s", script_type_phrase(script, index));
    int64_t position = index.as.integer < 0 ? index.as.integer + count : index.as.integer;
    if (position < 0 || position >= count)
        return script_raise(script, span, EXCEPTION_IndexError, "index %lld is out of range: there are %d items", (long long)index.as.integer, count);
    *result = (int)position;
    return true;
}

/* One bound of a slice; ABSENT where it is not written. */
static bool slice_bound(Script *script, const AstNode *node, int64_t absent, int64_t *result)
{
    Value value;
    *result = absent;
    if (!node)
        return true;
    if (!script_eval(script, node, &value))
        return false;
    if (value.kind == VALUE_NONE)
        return true;
    if (value.kind != VALUE_INT && value.kind != VALUE_BOOL)
        return script_raise(script, node->span, EXCEPTION_TypeError, "a slice bound must be an int, not %s", script_type_phrase(script, value));
    *result = value.kind == VALUE_BOOL ? value.as.boolean : value.as.integer;
    return true;
}

static int64_t clamp(int64_t bound, int64_t low, int64_t high)
{
    return bound < low ? low : bound > high ? high : bound;
}

bool script_resolve_slice(Script *script, const AstNode *slice, int64_t count, SliceRange *range)
{
    int64_t step, lower, upper, none = INT64_MIN;
    if (!slice_bound(script, slice->as.slice.step, 1, &step))
        return false;
    if (step == 0)
        return script_raise(script, slice->span, EXCEPTION_ValueError, "the step of a slice must not be 0");
    if (!slice_bound(script, slice->as.slice.lower, none, &lower) || !slice_bound(script, slice->as.slice.upper, none, &upper))
        return false;
    step = clamp(step, -count - 2, count + 2); /* so that no sum of an index and the step overflows */
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? count : count - 1;
    lower = lower == none ? (step > 0 ? low : high) : clamp(lower < 0 ? lower + count : lower, low, high);
    upper = upper == none ? (step > 0 ? high : low) : clamp(upper < 0 ? upper + count : upper, low, high);
    int64_t span = step > 0 ? upper - lower : lower - upper, width = step > 0 ? step : -step;
    *range = (SliceRange){lower, step, span > 0 ? (span + width - 1) / width : 0};
    return true;
}

static bool slice_list(Script *script, const ValueList *list, const AstNode *slice, Value *result)
{
    SliceRange range;
    if (!script_resolve_slice(script, slice, list->count, &range))
        return false;
    VEC(Value) items = {0};
    for (int64_t i = 0; i < range.count; i++)
        vec_push(script->ctx->arena, &items, list->items[range.first + i * range.step]);
    *result = script_list(script, items.data, items.count, list->is_tuple);
    return true;
}

/* VALUE as a list would show it. */
static const char *quoted_text(Script *script, Value value)
{
    StrBuf text = {.arena = script->ctx->arena};
    add_text(script, &text, value, true);
    return strbuf_text(&text);
}

static bool dict_item(Script *script, Value dict, Value key, Span span, Value *result)
{
    if (!script_can_walk(script, key, span) || !script_can_walk(script, dict, span))
        return false;
    const Value *found = script_dict_find(dict, key);
    if (!found)
        return script_raise_with(script, span, EXCEPTION_KeyError, key, context_internf(script->ctx, "the dict has no key %s", quoted_text(script, key)));
    *result = *found;
    return true;
}

/* An item or a slice of a string is a string. */
static bool string_item(Script *script, Value string, const AstNode *node, Value *result)
{
    const ValueList *characters = script_items(script, string, node->span, "%s");
    Value part;
    int position = 0;
    if (node->kind != AST_SLICE) {
        if (!script_eval(script, node, &part) || !list_index(script, part, characters->count, node->span, &position))
            return false;
        *result = characters->items[position];
        return true;
    }
    if (!slice_list(script, characters, node, &part))
        return false;
    StrBuf text = {.arena = script->ctx->arena};
    for (int i = 0; i < part.as.list->count; i++)
        strbuf_add(&text, part.as.list->items[i].as.text);
    *result = (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, strbuf_text(&text))};
    return true;
}

static bool module_item(Script *script, const Module *module, Value key, Span span, Value *result)
{
    const Object *variable = value_object(key, OBJECT_GLOBAL_VAR);
    Str name = variable ? variable->as.path : key.kind == VALUE_STRING ? key.as.text : NULL;
    int index = name ? module_index_for_schedule(module, name) : -1;
    if (index < 0)
        return script_error(script, span, "the module has no function %s", quoted_text(script, key));
    *result = script_object(script, (Object){.kind = OBJECT_FUNC, .as.func = module->funcs[index]});
    return true;
}

static bool built_item(Script *script, const Object *built, Value key, Span span, Value *result)
{
    if (!module_item(script, built->as.built.module, key, span, result))
        return false;
    const Func *func = value_object(*result, OBJECT_FUNC)->as.func;
    *result = script_object(script, (Object){.kind = OBJECT_BUILT, .as.built = {built->as.built.module, func}});
    return true;
}

bool script_subscript(Script *script, Value self, const AstNode *node, Value *result)
{
    const AstNode *index_node = node->as.subscript.index;
    const ValueList *list = self.kind == VALUE_LIST ? self.as.list : NULL;
    if (self.kind == VALUE_STRING)
        return string_item(script, self, index_node, result);
    if (list && index_node->kind == AST_SLICE)
        return slice_list(script, list, index_node, result);
    if (nd_array(self))
        return nd_index(script, nd_array(self), index_node, result);
    if (value_sequence(self))
        return sequence_subscript(script, self, node, result);
    Value index;
    int position = 0;
    if (!script_eval(script, index_node, &index))
        return false;
    if (value_object(self, OBJECT_BUILT))
        return built_item(script, value_object(self, OBJECT_BUILT), index, index_node->span, result);
    if (list) {
        if (!list_index(script, index, list->count, index_node->span, &position))
            return false;
        *result = list->items[position];
        return true;
    }
    if (self.kind == VALUE_DICT)
        return dict_item(script, self, index, index_node->span, result);
    if (value_object(self, OBJECT_STAGES))
        return te_stage(script, value_object(self, OBJECT_STAGES), index, index_node->span, result);
    if (te_tensor(self) || value_object(self, OBJECT_SLICE)) {
        bool tuple = index.kind == VALUE_LIST;
        return te_index(script, self, tuple ? index.as.list->items : &index, tuple ? index.as.list->count : 1, node->span, result);
    }
    if (value_object(self, OBJECT_MODULE))
        return module_item(script, value_object(self, OBJECT_MODULE)->as.module, index, index_node->span, result);
    return script_raise(script, node->span, EXCEPTION_TypeError, "%s cannot be indexed", script_type_phrase(script, self));
}

/* Takes out of LIST what SLICE names. */
static bool delete_slice(Script *script, ValueList *list, const AstNode *slice)
{
    SliceRange range;
    if (!script_resolve_slice(script, slice, list->count, &range))
        return false;
    int64_t low = range.step > 0 ? range.first : range.first + (range.count - 1) * range.step, width = llabs(range.step), kept = low;
    for (int64_t i = low; range.count && i < list->count; i++)
        if ((i - low) % width || (i - low) / width >= range.count)
            list->items[kept++] = list->items[i];
    if (range.count)
        list->count = (int)kept;
    return true;
}

/* LIST[SLICE] = VALUE: as many items as the slice has, or any number in place of neighbours. */
static bool assign_slice(Script *script, ValueList *list, const AstNode *target, Value value)
{
    const ValueList *given = script_items(script, value, target->span, "a slice takes a list, not %s");
    SliceRange range;
    if (!given)
        return false;
    if (!script_resolve_slice(script, target->as.subscript.index, list->count, &range))
        return false;
    if (range.step != 1 && range.count != given->count)
        return script_raise(script, target->span, EXCEPTION_ValueError, "%d items are assigned to a slice of %d", given->count, (int)range.count);
    ValueList *result = script_list(script, list->items, (int)(range.step == 1 ? range.first : list->count), false).as.list;
    if (range.step == 1 && (!script_append(script, result, given->items, given->count, target->span) ||
                            !script_append(script, result, list->items + range.first + range.count, (int)(list->count - range.first - range.count), target->span)))
        return false;
    for (int i = 0; range.step != 1 && i < given->count; i++)
        result->items[range.first + i * range.step] = given->items[i];
    for (int i = 0; i < given->count; i++)
        if (!script_can_hold(script, list, given->items[i], target->span))
            return false;
    *list = *result;
    return true;
}

bool script_assign_item(Script *script, Value container, const AstNode *target, Value value)
{
    const AstNode *index_node = target->as.subscript.index;
    if (nd_array(container))
        return nd_assign_item(script, nd_array(container), target, value);
    bool is_list = container.kind == VALUE_LIST && !container.as.list->is_tuple;
    if (!is_list && container.kind != VALUE_DICT)
        return script_raise(script, target->span, EXCEPTION_TypeError, "an item of %s cannot be assigned to",
                            container.kind == VALUE_LIST ? "a tuple" : script_type_phrase(script, container));
    if (index_node->kind == AST_SLICE && !is_list)
        return script_raise(script, target->span, EXCEPTION_TypeError, "a dict has no slices");
    if (index_node->kind == AST_SLICE)
        return assign_slice(script, container.as.list, target, value);
    Value index;
    int position = 0;
    if (!script_eval(script, index_node, &index) || !script_can_hold(script, container.as.list, value, target->span))
        return false;
    if (!is_list)
        return script_dict_set(script, container, index, value);
    if (!list_index(script, index, container.as.list->count, index_node->span, &position))
        return false;
    container.as.list->items[position] = value;
    return true;
}

bool script_delete_item(Script *script, Value container, const AstNode *target)
{
    const AstNode *index_node = target->as.subscript.index;
    ValueList *list = container.kind == VALUE_LIST || container.kind == VALUE_DICT ? container.as.list : NULL;
    Value index, taken;
    if (!list || (container.kind == VALUE_LIST && list->is_tuple))
        return script_raise(script, target->span, EXCEPTION_TypeError, "an item of %s cannot be deleted",
                            list ? "a tuple" : script_type_phrase(script, container));
    if (index_node->kind == AST_SLICE && container.kind == VALUE_DICT)
        return script_raise(script, target->span, EXCEPTION_TypeError, "a dict has no slices");
    if (index_node->kind == AST_SLICE)
        return delete_slice(script, list, index_node);
    if (!script_eval(script, index_node, &index))
        return false;
    Arguments pop = {.positional = &index, .positional_count = 1, .span = index_node->span};
    return method_call(script, container, "pop", &pop, &taken);
}
