/* Sets of scripts. The order of the items is that of CPython: its hash table, its hashes of numbers and tuples, its growth; that of strings is by
   chance in CPython, and always the same here. */
#include "script/exception.h"
#include "script/sequence.h"
#include "script/set.h"

#include <math.h>
#include <string.h>

enum { SMALLEST_TABLE = 8, LINEAR_PROBES = 9, PERTURB_SHIFT = 5, FAST_GROWTH_UP_TO = 50000 };

typedef struct {
    Value item;
    int64_t hash;
    enum { SLOT_FREE, SLOT_REMOVED, SLOT_USED } state;
} Slot;

struct Set {
    Slot *slots;
    size_t mask;
    int filled, used; /* slots that are not free; items */
    size_t finger;    /* where pop looks next */
    bool frozen;
};

Set *value_set(Value value)
{
    const Object *object = value_object(value, OBJECT_SET);
    return object ? object->as.set : NULL;
}

bool set_is_frozen(const Set *set)
{
    return set->frozen;
}

int set_count(const Set *set)
{
    return set->used;
}

static void make_table(Script *script, Set *set, size_t size)
{
    set->slots = ARENA_ARRAY(script->ctx->arena, Slot, size);
    set->mask = size - 1;
    set->filled = set->used = 0;
    script->made += (long)size;
}

Value set_value(Script *script, bool frozen)
{
    Set *set = ARENA_NEW(script->ctx->arena, Set);
    make_table(script, set, SMALLEST_TABLE);
    set->frozen = frozen;
    return script_object(script, (Object){.kind = OBJECT_SET, .as.set = set});
}

/* --- hashes --- */

enum { HASH_BITS = 61 };
#define HASH_MODULUS ((UINT64_C(1) << HASH_BITS) - 1)

static int64_t whole_hash(int64_t value)
{
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    int64_t hash = (int64_t)(size % HASH_MODULUS);
    hash = value < 0 ? -hash : hash;
    return hash == -1 ? -2 : hash;
}

/* As that of the int of the same value; of the rest by 28 bits at a time. */
static int64_t real_hash(double value)
{
    int exponent;
    if (!isfinite(value))
        return isinf(value) ? (value > 0 ? 314159 : -314159) : 0;
    double fraction = frexp(fabs(value), &exponent);
    uint64_t hash = 0;
    while (fraction != 0) {
        hash = ((hash << 28) & HASH_MODULUS) | hash >> (HASH_BITS - 28);
        fraction *= 268435456.0;
        exponent -= 28;
        uint64_t part = (uint64_t)fraction;
        fraction -= (double)part;
        hash += part;
        hash -= hash >= HASH_MODULUS ? HASH_MODULUS : 0;
    }
    exponent = exponent >= 0 ? exponent % HASH_BITS : HASH_BITS - 1 - (-1 - exponent) % HASH_BITS;
    hash = ((hash << exponent) & HASH_MODULUS) | hash >> (HASH_BITS - exponent);
    int64_t result = value < 0 ? -(int64_t)hash : (int64_t)hash;
    return result == -1 ? -2 : result;
}

static uint64_t text_hash(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

static bool item_hash(Value value, int64_t *hash);

static bool tuple_hash(const ValueList *tuple, int64_t *hash)
{
    const uint64_t prime1 = UINT64_C(11400714785074694791), prime2 = UINT64_C(14029467366897019727), prime5 = UINT64_C(2870177450012600261);
    uint64_t sum = prime5;
    for (int i = 0; i < tuple->count; i++) {
        int64_t lane;
        if (!item_hash(tuple->items[i], &lane))
            return false;
        sum += (uint64_t)lane * prime2;
        sum = (sum << 31 | sum >> 33) * prime1;
    }
    sum += (uint64_t)tuple->count ^ (prime5 ^ UINT64_C(3527539));
    *hash = sum == UINT64_MAX ? 1546275796 : (int64_t)sum;
    return true;
}

/* False: VALUE may change, so that it has no hash. */
static bool item_hash(Value value, int64_t *hash)
{
    switch (value.kind) {
    case VALUE_BOOL: *hash = value.as.boolean; return true;
    case VALUE_INT: *hash = whole_hash(value.as.integer); return true;
    case VALUE_FLOAT: *hash = real_hash(value.as.real); return true;
    case VALUE_STRING: *hash = (int64_t)text_hash(value.as.text); return true;
    case VALUE_LIST: return value.as.list->is_tuple && tuple_hash(value.as.list, hash);
    case VALUE_DICT: return false;
    case VALUE_LOOP: *hash = (int64_t)text_hash(value.as.loop->name); return true;
    case VALUE_BLOCK: *hash = (int64_t)text_hash(value.as.block->name); return true;
    case VALUE_SCRIPT: *hash = (int64_t)((const Object *)value.as.script)->kind; return !value_set(value);
    default: *hash = (int64_t)value.kind; return true;
    }
}

/* --- the table --- */

/* The slot of ITEM, or the one where it belongs: the last one on the way that an item was removed from, else a free one. CLEAN: no item of the
   table is equal, and none was removed. */
static Slot *find_slot(const Set *set, Value item, int64_t hash, bool clean)
{
    Slot *removed = NULL;
    size_t perturb = (size_t)hash, at = perturb & set->mask;
    while (true) {
        int probes = at + LINEAR_PROBES <= set->mask ? LINEAR_PROBES : 0;
        for (Slot *slot = &set->slots[at]; probes >= 0; slot++, probes--) {
            if (slot->state == SLOT_FREE)
                return removed ? removed : slot;
            if (!clean && slot->state == SLOT_USED && slot->hash == hash && script_equal(slot->item, item))
                return slot;
            removed = slot->state == SLOT_REMOVED ? slot : removed;
        }
        perturb >>= PERTURB_SHIFT;
        at = (at * 5 + 1 + perturb) & set->mask;
    }
}

static void put(Set *set, Slot *slot, Value item, int64_t hash)
{
    set->filled += slot->state == SLOT_FREE;
    *slot = (Slot){item, hash, SLOT_USED};
    set->used++;
}

/* A table for more than LEAST items. */
static void resize(Script *script, Set *set, size_t least)
{
    Set old = *set;
    size_t size = SMALLEST_TABLE;
    while (size <= least)
        size *= 2;
    make_table(script, set, size);
    for (size_t i = 0; i <= old.mask; i++)
        if (old.slots[i].state == SLOT_USED)
            put(set, find_slot(set, old.slots[i].item, old.slots[i].hash, true), old.slots[i].item, old.slots[i].hash);
}

static void add_hashed(Script *script, Set *set, Value item, int64_t hash)
{
    Slot *slot = find_slot(set, item, hash, false);
    if (slot->state == SLOT_USED)
        return;
    bool fresh = slot->state == SLOT_FREE;
    put(set, slot, item, hash);
    if (fresh && (size_t)set->filled * 5 >= set->mask * 3)
        resize(script, set, (size_t)set->used * (set->used > FAST_GROWTH_UP_TO ? 2 : 4));
}

static bool hash_of(Script *script, Value item, Span span, int64_t *hash)
{
    return script_can_walk(script, item, span) &&
           (item_hash(item, hash) || script_raise(script, span, EXCEPTION_TypeError, "%s cannot be an item of a set", script_type_phrase(script, item)));
}

bool set_add(Script *script, Value set, Value item, Span span)
{
    int64_t hash;
    if (!hash_of(script, item, span, &hash))
        return false;
    if (value_set(set)->used >= SCRIPT_MOST_ITEMS)
        return script_error(script, span, "the set would have more than %d items", SCRIPT_MOST_ITEMS);
    add_hashed(script, value_set(set), item, hash);
    return true;
}

static bool set_remove(Set *set, Value item, int64_t hash)
{
    Slot *slot = find_slot(set, item, hash, false);
    if (slot->state != SLOT_USED)
        return false;
    slot->state = SLOT_REMOVED;
    set->used--;
    return true;
}

static void merge(Script *script, Set *set, const Set *other)
{
    if (set == other || !other->used)
        return;
    if ((size_t)(set->filled + other->used) * 5 >= set->mask * 3)
        resize(script, set, (size_t)(set->used + other->used) * 2);
    bool empty = !set->filled, same = empty && set->mask == other->mask && other->filled == other->used;
    for (size_t i = 0; i <= other->mask; i++) {
        Slot slot = other->slots[i];
        if (slot.state != SLOT_USED)
            continue;
        if (empty)
            put(set, same ? &set->slots[i] : find_slot(set, slot.item, slot.hash, true), slot.item, slot.hash);
        else
            add_hashed(script, set, slot.item, slot.hash);
    }
}

const Value *set_next(const Set *set, int *at)
{
    while ((size_t)*at <= set->mask && set->slots[*at].state != SLOT_USED)
        ++*at;
    return (size_t)*at <= set->mask ? &set->slots[(*at)++].item : NULL;
}

const ValueList *set_items(Script *script, const Set *set)
{
    ValueList *list = script_list(script, NULL, 0, false).as.list;
    list->items = ARENA_ARRAY(script->ctx->arena, Value, set->used);
    int at = 0;
    for (const Value *item = set_next(set, &at); item; item = set_next(set, &at))
        list->items[list->count++] = *item;
    script->made += list->count;
    return list;
}

bool set_update(Script *script, Value set, Value value, Span span)
{
    if (value_set(value)) {
        merge(script, value_set(set), value_set(value));
        return true;
    }
    Sequence *iterator;
    Value item;
    bool ended = false;
    size_t keys = value.kind == VALUE_DICT ? (size_t)value.as.list->count / 2 : 0;
    if (keys && ((size_t)value_set(set)->filled + keys) * 5 >= value_set(set)->mask * 3)
        resize(script, value_set(set), ((size_t)value_set(set)->used + keys) * 2);
    if (!script_iterate(script, value, span, "a list is needed here, not %s", &iterator))
        return false;
    while (iterator_next(script, iterator, &item, &ended) && !ended)
        if (!set_add(script, set, item, span))
            return false;
    return ended;
}

bool set_contains(Script *script, const Set *set, Value item, Span span, bool *found)
{
    int64_t hash;
    if (!hash_of(script, item, span, &hash))
        return false;
    *found = find_slot(set, item, hash, false)->state == SLOT_USED;
    return true;
}

static bool is_subset(const Set *left, const Set *right)
{
    bool subset = left->used <= right->used;
    for (size_t i = 0; i <= left->mask && subset; i++)
        if (left->slots[i].state == SLOT_USED)
            subset = find_slot(right, left->slots[i].item, left->slots[i].hash, false)->state == SLOT_USED;
    return subset;
}

bool sets_equal(const Set *left, const Set *right)
{
    return left->used == right->used && is_subset(left, right);
}

bool set_compare(AstOp op, const Set *left, const Set *right)
{
    switch (op) {
    case AST_OP_LE: return is_subset(left, right);
    case AST_OP_LT: return left->used < right->used && is_subset(left, right);
    case AST_OP_GE: return is_subset(right, left);
    default: return right->used < left->used && is_subset(right, left);
    }
}

/* --- operations, in CPython's order of steps, which decides the order of the items --- */

static Set *copy(Script *script, const Set *set, bool frozen)
{
    Value made = set_value(script, frozen);
    merge(script, value_set(made), set);
    return value_set(made);
}

/* Adds to RESULT the items of SET that are (or, not WANTED, are not) in OTHER. */
static void select_items(Script *script, Set *result, const Set *set, const Set *other, bool wanted)
{
    for (size_t i = 0; i <= set->mask; i++) {
        Slot slot = set->slots[i];
        if (slot.state == SLOT_USED && (find_slot(other, slot.item, slot.hash, false)->state == SLOT_USED) == wanted)
            add_hashed(script, result, slot.item, slot.hash);
    }
}

static void remove_all(Set *set, const Set *other)
{
    for (size_t i = 0; i <= other->mask; i++)
        if (other->slots[i].state == SLOT_USED)
            set_remove(set, other->slots[i].item, other->slots[i].hash);
}

static void toggle_all(Script *script, Set *set, const Set *other)
{
    for (size_t i = 0; i <= other->mask; i++) {
        Slot slot = other->slots[i];
        if (slot.state == SLOT_USED && !set_remove(set, slot.item, slot.hash))
            add_hashed(script, set, slot.item, slot.hash);
    }
}

static Set *operation(Script *script, AstOp op, const Set *left, const Set *right)
{
    bool swap = right->used > left->used;
    Set *result = op == AST_OP_BIT_OR ? copy(script, left, left->frozen) : value_set(set_value(script, left->frozen));
    switch (op) {
    case AST_OP_BIT_OR: merge(script, result, right); break;
    case AST_OP_BIT_AND: select_items(script, result, swap ? left : right, swap ? right : left, true); break;
    case AST_OP_BIT_XOR:
        result = copy(script, right, left->frozen);
        toggle_all(script, result, left);
        break;
    default:
        if (left->used >> 2 > right->used) {
            result = copy(script, left, left->frozen);
            remove_all(result, right);
        } else {
            select_items(script, result, left, right, false);
        }
    }
    return result;
}

/* LEFT op= RIGHT. */
static void update(Script *script, AstOp op, Set *left, const Set *right)
{
    Set *made;
    switch (op) {
    case AST_OP_BIT_OR: merge(script, left, right); return;
    case AST_OP_BIT_XOR: toggle_all(script, left, left == right ? copy(script, right, false) : right); return;
    case AST_OP_SUB: remove_all(left, left == right ? copy(script, right, false) : right); return;
    default: made = operation(script, op, left, right);
    }
    made->frozen = left->frozen;
    *left = *made;
}

bool set_binary(Script *script, AstOp op, Value left, Value right, bool in_place, Span span, Value *result)
{
    bool known = op == AST_OP_BIT_OR || op == AST_OP_BIT_AND || op == AST_OP_SUB || op == AST_OP_BIT_XOR;
    Set *a = value_set(left), *b = value_set(right);
    if (!known || !a || !b)
        return script_raise(script, span, EXCEPTION_TypeError, "'%s' does not take %s and %s", ast_op_text(op), script_type_phrase(script, left),
                            script_type_phrase(script, right));
    *result = left;
    if (in_place && !a->frozen)
        update(script, op, a, b);
    else
        *result = script_object(script, (Object){.kind = OBJECT_SET, .as.set = operation(script, op, a, b)});
    return true;
}

bool script_update_set(Script *script, AstOp op, Value set, Value value, Span span, Value *result)
{
    return set_binary(script, op, set, value, true, span, result);
}

/* A number, string or name of a value: what CPython knows when it compiles. */
static bool is_constant(const AstNode *node)
{
    switch (node->kind) {
    case AST_UNARY: return is_constant(node->as.unary.operand);
    case AST_INT:
    case AST_FLOAT:
    case AST_BOOL:
    case AST_NONE:
    case AST_STRING: return true;
    default: return false;
    }
}

bool set_display(Script *script, const AstNode *node, const Value *items, int count, Value *result)
{
    bool constant = node->as.list.count >= 3; /* it makes a frozen set of them, and then a set of that */
    for (int i = 0; i < node->as.list.count && constant; i++)
        constant = is_constant(node->as.list.items[i]);
    Value made = set_value(script, false);
    for (int i = 0; i < count; i++)
        if (!set_add(script, made, items[i], node->span))
            return false;
    *result = made;
    if (constant)
        *result = script_object(script, (Object){.kind = OBJECT_SET, .as.set = copy(script, value_set(made), false)});
    return true;
}

/* --- methods --- */

static bool method_add(Script *script, Value self, const Arguments *arguments, Value *result)
{
    *result = value_none();
    return set_add(script, self, arguments->positional[0], arguments->span);
}

static bool take_out(Script *script, Value self, const Arguments *arguments, bool *found)
{
    int64_t hash;
    if (!hash_of(script, arguments->positional[0], arguments->span, &hash))
        return false;
    *found = set_remove(value_set(self), arguments->positional[0], hash);
    return true;
}

static bool method_discard(Script *script, Value self, const Arguments *arguments, Value *result)
{
    bool found;
    *result = value_none();
    return take_out(script, self, arguments, &found);
}

static bool method_remove(Script *script, Value self, const Arguments *arguments, Value *result)
{
    bool found;
    *result = value_none();
    return take_out(script, self, arguments, &found) &&
           (found || script_raise_with(script, arguments->span, EXCEPTION_KeyError, arguments->positional[0], "the item is not in the set"));
}

static bool method_pop(Script *script, Value self, const Arguments *arguments, Value *result)
{
    Set *set = value_set(self);
    if (!set->used)
        return script_raise_with(script, arguments->span, EXCEPTION_KeyError, (Value){.kind = VALUE_STRING, .as.text = "pop from an empty set"},
                                 "pop: the set is empty");
    size_t at = set->finger & set->mask;
    while (set->slots[at].state != SLOT_USED)
        at = at == set->mask ? 0 : at + 1;
    *result = set->slots[at].item;
    set->slots[at].state = SLOT_REMOVED;
    set->used--;
    set->finger = at + 1;
    return true;
}

static bool method_clear(Script *script, Value self, const Arguments *arguments, Value *result)
{
    (void)arguments;
    make_table(script, value_set(self), SMALLEST_TABLE);
    *result = value_none();
    return true;
}

static bool method_copy(Script *script, Value self, const Arguments *arguments, Value *result)
{
    (void)arguments;
    *result = script_object(script, (Object){.kind = OBJECT_SET, .as.set = copy(script, value_set(self), value_set(self)->frozen)});
    return true;
}

/* VALUE as a set. */
static bool as_set(Script *script, Value value, Span span, Value *result)
{
    *result = value;
    if (value_set(value))
        return true;
    *result = set_value(script, false);
    return set_update(script, *result, value, span);
}

/* The method of OP, which takes several other sets or lists. */
static bool combine(Script *script, AstOp op, Value self, const Arguments *arguments, bool in_place, Value *result)
{
    Value other;
    *result = self;
    if (!arguments->positional_count && !in_place)
        return method_copy(script, self, arguments, result);
    for (int i = 0; i < arguments->positional_count; i++) {
        if (op == AST_OP_BIT_OR && !value_set(arguments->positional[i])) { /* item by item */
            if (!in_place && i == 0 && !method_copy(script, self, arguments, result))
                return false;
            if (!set_update(script, *result, arguments->positional[i], arguments->span))
                return false;
        } else if (!as_set(script, arguments->positional[i], arguments->span, &other) ||
                   !set_binary(script, op, *result, other, in_place || (i > 0 && op == AST_OP_BIT_OR), arguments->span, result)) {
            return false;
        }
    }
    if (in_place)
        *result = value_none();
    return true;
}

#define COMBINE(name, op)                                                                                                                    \
    static bool method_##name(Script *script, Value self, const Arguments *arguments, Value *result)                                        \
    {                                                                                                                                        \
        return combine(script, op, self, arguments, false, result);                                                                         \
    }                                                                                                                                        \
    static bool method_##name##_in_place(Script *script, Value self, const Arguments *arguments, Value *result)                             \
    {                                                                                                                                        \
        return combine(script, op, self, arguments, true, result);                                                                          \
    }
COMBINE(union, AST_OP_BIT_OR)
COMBINE(intersection, AST_OP_BIT_AND)
COMBINE(difference, AST_OP_SUB)
COMBINE(symmetric_difference, AST_OP_BIT_XOR)

static bool question(Script *script, AstOp op, Value self, const Arguments *arguments, Value *result)
{
    Value other;
    *result = (Value){.kind = VALUE_BOOL};
    if (!as_set(script, arguments->positional[0], arguments->span, &other))
        return false;
    result->as.boolean = set_compare(op, value_set(self), value_set(other));
    return true;
}

static bool method_issubset(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return question(script, AST_OP_LE, self, arguments, result);
}

static bool method_issuperset(Script *script, Value self, const Arguments *arguments, Value *result)
{
    return question(script, AST_OP_GE, self, arguments, result);
}

static bool method_isdisjoint(Script *script, Value self, const Arguments *arguments, Value *result)
{
    Value other, shared;
    if (!as_set(script, arguments->positional[0], arguments->span, &other) ||
        !set_binary(script, AST_OP_BIT_AND, self, other, false, arguments->span, &shared))
        return false;
    *result = (Value){.kind = VALUE_BOOL, .as.boolean = !set_count(value_set(shared))};
    return true;
}

#define CHANGES(name, fewest, most) {VALUE_SCRIPT, #name, method_##name, fewest, most, false, {0}},
#define ASKS(name, fewest, most) {VALUE_SCRIPT, #name, method_##name, fewest, most, true, {0}},
const ValueMethod set_methods[] = {
    CHANGES(add, 1, 1) CHANGES(discard, 1, 1) CHANGES(remove, 1, 1) CHANGES(pop, 0, 0) CHANGES(clear, 0, 0)
    ASKS(copy, 0, 0) ASKS(union, 0, 64) ASKS(intersection, 0, 64) ASKS(difference, 0, 64) ASKS(symmetric_difference, 1, 1)
    ASKS(issubset, 1, 1) ASKS(issuperset, 1, 1) ASKS(isdisjoint, 1, 1)
    {VALUE_SCRIPT, "update", method_union_in_place, 0, 64, false, {0}},
    {VALUE_SCRIPT, "intersection_update", method_intersection_in_place, 0, 64, false, {0}},
    {VALUE_SCRIPT, "difference_update", method_difference_in_place, 0, 64, false, {0}},
    {VALUE_SCRIPT, "symmetric_difference_update", method_symmetric_difference_in_place, 1, 1, false, {0}}, {0},
};
