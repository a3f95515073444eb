/* Comparisons of script values, as Python's: equality, identity, order, membership. Values that lists nest too deeply, or that have too many
   parts, are refused before anything walks over them. */
#include "script/script_internal.h"

#include <string.h>

#include "script/sequence.h"
#include "script/set.h"

/* Lists that share parts have more parts than their text shows, so those are counted as often as a walk meets them. */
enum { DEEPEST_VALUE = 200, MOST_PARTS = 4 * SCRIPT_MOST_ITEMS, PARTS_PER_STEP = 32 };

bool script_is_number(Value value)
{
    return value.kind == VALUE_INT || value.kind == VALUE_BOOL || value.kind == VALUE_FLOAT;
}

static bool is_container(Value value)
{
    return value.kind == VALUE_LIST || value.kind == VALUE_DICT;
}

/* Takes the parts of VALUE from *BUDGET; false when they are too many or lie deeper than DEPTH. */
static bool count_parts(Value value, int depth, int *budget)
{
    const Sequence *sequence = value_sequence(value);
    if (sequence && sequence->kind == SEQUENCE_ITERATOR)
        return true;
    if (sequence) /* a view has the parts of its dict */
        value = (Value){.kind = sequence->kind == SEQUENCE_RANGE ? VALUE_LIST : VALUE_DICT, .as.list = (ValueList *)sequence->list};
    if (!is_container(value))
        return true;
    *budget -= value.as.list->count + 1;
    bool ok = depth > 0 && *budget > 0;
    for (int i = 0; ok && i < value.as.list->count; i++)
        ok = count_parts(value.as.list->items[i], depth - 1, budget);
    return ok;
}

bool script_can_walk(Script *script, Value value, Span span)
{
    int budget = MOST_PARTS;
    bool ok = count_parts(value, DEEPEST_VALUE, &budget);
    script->steps += (MOST_PARTS - budget) / PARTS_PER_STEP;
    if (ok)
        return true;
    return budget > 0 ? script_error(script, span, "%s is nested more than %d deep", script_type_phrase(script, value), DEEPEST_VALUE)
                      : script_error(script, span, "%s has more than %d parts", script_type_phrase(script, value), MOST_PARTS);
}

/* --- numbers --- */

static int64_t as_int(Value value)
{
    return value.kind == VALUE_BOOL ? value.as.boolean : value.as.integer;
}

/* What a comparison finds. NaN stands in no order. */
typedef enum { BEFORE, SAME, AFTER, UNORDERED } Order;

static Order order_of_signs(int sign)
{
    return sign < 0 ? BEFORE : sign > 0 ? AFTER : SAME;
}

/* An int against a float, exactly: the whole part of the float first, then the rest of it. */
static Order order_mixed(int64_t whole, double real)
{
    if (real != real)
        return UNORDERED;
    if (real >= 9223372036854775808.0)
        return BEFORE;
    if (real < -9223372036854775808.0)
        return AFTER;
    int64_t part = (int64_t)real;
    double rest = real - (double)part;
    return whole != part ? order_of_signs(whole < part ? -1 : 1) : order_of_signs((rest < 0) - (rest > 0));
}

static Order reversed_order(Order order)
{
    return order == BEFORE ? AFTER : order == AFTER ? BEFORE : order;
}

static Order order_numbers(Value left, Value right)
{
    bool left_real = left.kind == VALUE_FLOAT, right_real = right.kind == VALUE_FLOAT;
    if (left_real && right_real) {
        double a = left.as.real, b = right.as.real;
        return a < b ? BEFORE : a > b ? AFTER : a == b ? SAME : UNORDERED;
    }
    if (left_real)
        return reversed_order(order_mixed(as_int(right), left.as.real));
    if (right_real)
        return order_mixed(as_int(left), right.as.real);
    return order_of_signs((as_int(left) > as_int(right)) - (as_int(left) < as_int(right)));
}

/* --- equality --- */

/* The value that DICT has for KEY, or NULL. */
static const Value *find_key(const ValueList *dict, Value key)
{
    for (int i = 0; i < dict->count; i += 2)
        if (script_equal(dict->items[i], key))
            return &dict->items[i + 1];
    return NULL;
}

static bool lists_equal(const ValueList *left, const ValueList *right)
{
    bool equal = left->count == right->count && left->is_tuple == right->is_tuple;
    for (int i = 0; equal && i < left->count; i++)
        equal = script_equal(left->items[i], right->items[i]);
    return equal;
}

static bool dicts_equal(const ValueList *left, const ValueList *right)
{
    bool equal = left->count == right->count;
    for (int i = 0; equal && i < left->count; i += 2) {
        const Value *other = find_key(right, left->items[i]);
        equal = other && script_equal(left->items[i + 1], *other);
    }
    return equal;
}

static bool same_object(const Object *left, const Object *right)
{
    if (left == right || left->kind != right->kind)
        return left == right;
    switch (left->kind) {
    case OBJECT_SCHEDULE: return left->as.schedule == right->as.schedule;
    case OBJECT_MODULE: return left->as.module == right->as.module;
    case OBJECT_FUNC: return left->as.func == right->as.func;
    case OBJECT_BUILTIN: return left->as.builtin == right->as.builtin;
    case OBJECT_TYPE:
    case OBJECT_GLOBAL_VAR:
    case OBJECT_NAMESPACE: return left->as.path == right->as.path;
    case OBJECT_TENSOR: return left->as.tensor == right->as.tensor;
    case OBJECT_OPERATION: return left->as.operation == right->as.operation;
    case OBJECT_AXIS: return left->as.axis == right->as.axis;
    case OBJECT_SET: return sets_equal(left->as.set, right->as.set);
    case OBJECT_SEQUENCE: return sequence_equal(left->as.sequence, right->as.sequence);
    default: return false;
    }
}

bool script_equal(Value left, Value right)
{
    if (script_is_number(left) && script_is_number(right))
        return order_numbers(left, right) == SAME;
    if (left.kind != right.kind)
        return false;
    switch (left.kind) {
    case VALUE_NONE: return true;
    case VALUE_STRING: return !strcmp(left.as.text, right.as.text);
    case VALUE_EXPR: return expr_equal(left.as.expr, right.as.expr);
    case VALUE_LOOP: return left.as.loop == right.as.loop;
    case VALUE_BLOCK: return left.as.block == right.as.block;
    case VALUE_LIST: return left.as.list == right.as.list || lists_equal(left.as.list, right.as.list);
    case VALUE_DICT: return left.as.list == right.as.list || dicts_equal(left.as.list, right.as.list);
    case VALUE_SCRIPT: return same_object(left.as.script, right.as.script);
    default: return left.as.script == right.as.script;
    }
}

/* LEFT is RIGHT: a list is only itself, a number only one of its own type. */
static bool identical(Value left, Value right)
{
    if (left.kind != right.kind)
        return false;
    bool empty_tuples = left.kind == VALUE_LIST && left.as.list->is_tuple && right.as.list->is_tuple && !left.as.list->count;
    if (value_sequence(left))
        return value_sequence(left) == value_sequence(right);
    if (value_set(left))
        return value_set(left) == value_set(right);
    if (is_container(left))
        return left.as.list == right.as.list || (empty_tuples && !right.as.list->count);
    return script_equal(left, right);
}

const Value *script_dict_find(Value dict, Value key)
{
    return find_key(dict.as.list, key);
}

/* --- order and membership --- */

static bool order_values(Script *script, AstOp op, Value left, Value right, Span span, Order *order);

/* The first items that differ decide, else the lengths. */
static bool order_lists(Script *script, AstOp op, const ValueList *left, const ValueList *right, Span span, Order *order)
{
    int shared = left->count < right->count ? left->count : right->count;
    for (int i = 0; i < shared; i++)
        if (!script_equal(left->items[i], right->items[i]))
            return order_values(script, op, left->items[i], right->items[i], span, order);
    *order = order_of_signs((left->count > right->count) - (left->count < right->count));
    return true;
}

static bool order_values(Script *script, AstOp op, Value left, Value right, Span span, Order *order)
{
    if (left.kind == VALUE_STRING && right.kind == VALUE_STRING)
        *order = order_of_signs(strcmp(left.as.text, right.as.text));
    else if (script_is_number(left) && script_is_number(right))
        *order = order_numbers(left, right);
    else if (left.kind == VALUE_LIST && right.kind == VALUE_LIST && left.as.list->is_tuple == right.as.list->is_tuple)
        return order_lists(script, op, left.as.list, right.as.list, span, order);
    else if (value_set(left) && value_set(right))
        return script_error(script, span, "sets stand in no order here");
    else
        return script_raise(script, span, EXCEPTION_TypeError, "'%s' does not compare %s and %s", ast_op_text(op), script_type_phrase(script, left),
                            script_type_phrase(script, right));
    return true;
}

static bool contains(Script *script, Value container, Value item, Span span, bool *result)
{
    if (container.kind == VALUE_STRING && item.kind == VALUE_STRING) {
        *result = strstr(container.as.text, item.as.text) != NULL;
        return true;
    }
    Sequence *sequence = value_sequence(container);
    *result = false;
    if (value_set(container))
        return set_contains(script, value_set(container), item, span, result);
    if (sequence && sequence->kind == SEQUENCE_ITERATOR) { /* it goes on behind what was found */
        bool ended = false;
        Value next;
        while (!*result && !ended) {
            if (!iterator_next(script, sequence, &next, &ended) || (!ended && !script_can_walk(script, next, span)))
                return false;
            *result = !ended && script_equal(next, item);
        }
        return true;
    }
    if (sequence)
        container = (Value){.kind = VALUE_LIST, .as.list = (ValueList *)sequence_items(script, sequence)};
    if (!is_container(container))
        return script_raise(script, span, EXCEPTION_TypeError, "'in' needs a list, a dict or a string%s, not %s",
                            container.kind == VALUE_STRING ? " in that string" : "",
                            script_type_phrase(script, container.kind == VALUE_STRING ? item : container));
    *result = false;
    for (int i = 0; i < container.as.list->count && !*result; i += container.kind == VALUE_DICT ? 2 : 1)
        *result = script_equal(container.as.list->items[i], item);
    return true;
}

bool script_compare(Script *script, AstOp op, Value left, Value right, Span span, bool *result)
{
    if (op == AST_OP_IS || op == AST_OP_IS_NOT) {
        *result = identical(left, right) == (op == AST_OP_IS);
        return true;
    }
    if (!script_can_walk(script, left, span) || !script_can_walk(script, right, span))
        return false;
    if (op == AST_OP_EQ || op == AST_OP_NE) {
        *result = script_equal(left, right) == (op == AST_OP_EQ);
        return true;
    }
    if (op < AST_OP_IN && value_set(left) && value_set(right)) {
        *result = set_compare(op, value_set(left), value_set(right));
        return true;
    }
    if (op == AST_OP_IN || op == AST_OP_NOT_IN) {
        bool found = false;
        bool ok = contains(script, right, left, span, &found);
        *result = found == (op == AST_OP_IN);
        return ok;
    }
    Order order;
    if (!order_values(script, op, left, right, span, &order))
        return false;
    bool strictly = order == (op == AST_OP_LT || op == AST_OP_LE ? BEFORE : AFTER);
    *result = strictly || (order == SAME && (op == AST_OP_LE || op == AST_OP_GE));
    return true;
}
