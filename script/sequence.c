/* Ranges and views of dicts of scripts. */
#include "script/sequence.h"

Value sequence_value(Script *script, Sequence sequence)
{
    return sequence_of(script, arena_copy(script->ctx->arena, &sequence, sizeof sequence));
}

Value sequence_of(Script *script, Sequence *sequence)
{
    return script_object(script, (Object){.kind = OBJECT_SEQUENCE, .as.sequence = sequence});
}

Sequence *value_sequence(Value value)
{
    const Object *object = value_object(value, OBJECT_SEQUENCE);
    return object ? object->as.sequence : NULL;
}

Value script_view(Script *script, SequenceKind kind, const ValueList *dict)
{
    const char *name = kind == SEQUENCE_KEYS ? "dict_keys" : kind == SEQUENCE_VALUES ? "dict_values" : "dict_items";
    return sequence_value(script, (Sequence){.kind = kind, .class_name = name, .list = dict});
}

bool script_range(Script *script, int64_t first, int64_t end, int64_t step, Span span, Value *result)
{
    VEC(Value) items = {0};
    bool ended = false;
    for (int64_t i = first; !ended && (step > 0 ? i < end : i > end); ended = __builtin_add_overflow(i, step, &i)) {
        if (items.count == SCRIPT_MOST_ITEMS)
            return script_error(script, span, "the range has more than %d items", SCRIPT_MOST_ITEMS);
        Value item = {.kind = VALUE_INT, .as.integer = i};
        vec_push(script->ctx->arena, &items, item);
    }
    const ValueList *list = script_list(script, items.data, items.count, false).as.list;
    *result = sequence_value(script, (Sequence){SEQUENCE_RANGE, "range", list, first, end, step, .next = NULL});
    return true;
}

static const ValueList *view_items(Script *script, const Sequence *view)
{
    int count = view->list->count / 2, part = view->kind == SEQUENCE_VALUES;
    ValueList *list = script_list(script, NULL, 0, false).as.list;
    list->items = ARENA_ARRAY(script->ctx->arena, Value, count);
    list->count = count;
    for (int i = 0; i < count; i++)
        list->items[i] = view->kind == SEQUENCE_ITEMS ? script_list(script, view->list->items + 2 * i, 2, true) : view->list->items[2 * i + part];
    script->made += 2L * count;
    return list;
}

const ValueList *sequence_items(Script *script, Sequence *sequence)
{
    if (sequence->kind == SEQUENCE_RANGE)
        return sequence->list;
    return sequence->kind == SEQUENCE_ITERATOR ? iterator_rest(script, sequence) : view_items(script, sequence);
}

int sequence_length(const Sequence *sequence)
{
    if (sequence->kind == SEQUENCE_ITERATOR)
        return -1;
    return sequence->list->count / (sequence->kind == SEQUENCE_RANGE ? 1 : 2);
}

/* Each entry of the view LEFT, a key or a pair, is one of RIGHT. */
static bool view_within(const Sequence *left, const Sequence *right)
{
    Value dict = {.kind = VALUE_DICT, .as.list = (ValueList *)right->list};
    bool within = true;
    for (int i = 0; within && i < left->list->count; i += 2) {
        const Value *other = script_dict_find(dict, left->list->items[i]);
        within = other && (left->kind == SEQUENCE_KEYS || script_equal(left->list->items[i + 1], *other));
    }
    return within;
}

bool sequence_equal(const Sequence *left, const Sequence *right)
{
    if (left == right || left->kind != right->kind || left->kind == SEQUENCE_VALUES || left->kind == SEQUENCE_ITERATOR)
        return left == right;
    if (left->list->count != right->list->count)
        return false;
    if (left->kind != SEQUENCE_RANGE)
        return view_within(left, right);
    bool equal = true;
    for (int i = 0; equal && i < left->list->count; i++)
        equal = left->list->items[i].as.integer == right->list->items[i].as.integer;
    return equal;
}

bool sequence_subscript(Script *script, Value self, const AstNode *node, Value *result)
{
    const Sequence *sequence = value_sequence(self);
    const AstNode *index = node->as.subscript.index;
    if (sequence->kind != SEQUENCE_RANGE)
        return script_raise(script, node->span, EXCEPTION_TypeError, "%s cannot be indexed; list(...) of it can", sequence->class_name);
    if (index->kind != AST_SLICE) {
        Value list = {.kind = VALUE_LIST, .as.list = (ValueList *)sequence->list};
        return script_subscript(script, list, node, result);
    }
    SliceRange slice;
    if (!script_resolve_slice(script, index, sequence->list->count, &slice))
        return false;
    int64_t first = sequence->first + slice.first * sequence->step, step = slice.step * sequence->step;
    return script_range(script, first, first + slice.count * step, step, node->span, result);
}
