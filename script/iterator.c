/* Iterators of scripts, which give each item once and make it when it is asked for, as in Python: over lists and dicts, which may change
   meanwhile, and what map, filter, zip, enumerate, reversed and generator expressions give. */
#include "script/sequence.h"
#include "script/set.h"

enum { DEEPEST_ITERATOR = 1000 };

bool iterator_next(Script *script, Sequence *iterator, Value *item, bool *ended)
{
    *ended = iterator->ended;
    if (iterator->ended)
        return true;
    if (iterator->running)
        return script_raise(script, iterator->span, EXCEPTION_ValueError, "the generator is asked for an item by itself");
    if (script->iterators >= DEEPEST_ITERATOR)
        return script_error(script, iterator->span, "iterators are nested more than %d deep", DEEPEST_ITERATOR);
    script->iterators++;
    iterator->running = true;
    bool ok = iterator->next(script, iterator, item, ended);
    iterator->running = false;
    script->iterators--;
    bool asks_again = iterator->source_count && !iterator->node; /* of others, which may have more after an end or an error */
    iterator->ended = (*ended || !ok) && !asks_again;
    return ok;
}

const ValueList *iterator_rest(Script *script, Sequence *iterator)
{
    ValueList *rest = script_list(script, NULL, 0, false).as.list;
    while (true) {
        Value item;
        bool ended;
        if (!iterator_next(script, iterator, &item, &ended))
            return NULL;
        if (ended)
            return rest;
        if (!script_append(script, rest, &item, 1, iterator->span))
            return NULL;
    }
}

/* --- over what is there --- */

static bool next_of_list(Script *script, Sequence *iterator, Value *item, bool *ended)
{
    (void)script;
    *ended = iterator->at >= iterator->list->count;
    if (!*ended)
        *item = iterator->list->items[iterator->at++];
    return true;
}

static bool next_from_end(Script *script, Sequence *iterator, Value *item, bool *ended)
{
    (void)script;
    *ended = iterator->at < 0 || iterator->at >= iterator->list->count;
    if (!*ended)
        *item = iterator->list->items[iterator->at--];
    return true;
}

/* PART of a dict: keys, values or items. */
static bool next_of_dict(Script *script, Sequence *iterator, Value *item, bool *ended)
{
    const ValueList *dict = iterator->list;
    if (dict->count != iterator->count)
        return script_raise(script, iterator->span, EXCEPTION_RuntimeError, "the dict got or lost keys in a loop over it");
    *ended = iterator->at >= dict->count;
    if (*ended)
        return true;
    const Value *entry = &dict->items[iterator->at];
    iterator->at += 2;
    *item = iterator->part == SEQUENCE_ITEMS ? script_list(script, entry, 2, true) : entry[iterator->part == SEQUENCE_VALUES];
    return true;
}

static bool next_of_set(Script *script, Sequence *iterator, Value *item, bool *ended)
{
    if (set_count(iterator->set) != iterator->count)
        return script_raise(script, iterator->span, EXCEPTION_RuntimeError, "the set got or lost items in a loop over it");
    const Value *next = set_next(iterator->set, &iterator->at);
    *ended = !next;
    if (next)
        *item = *next;
    return true;
}

static Value iterator_value(Script *script, Sequence iterator)
{
    iterator.kind = SEQUENCE_ITERATOR;
    return sequence_value(script, iterator);
}

static Value list_iterator(Script *script, const ValueList *list, Span span)
{
    return iterator_value(script, (Sequence){.class_name = "iterator", .list = list, .span = span, .next = next_of_list});
}

static Value dict_iterator(Script *script, const ValueList *dict, SequenceKind part, Span span)
{
    return iterator_value(script, (Sequence){.class_name = "iterator", .list = dict, .count = dict->count, .part = part, .span = span,
                                             .next = next_of_dict});
}

bool script_iterate(Script *script, Value value, Span span, const char *refusal, Sequence **iterator)
{
    Sequence *sequence = value_sequence(value);
    Value made;
    if (sequence && sequence->kind == SEQUENCE_ITERATOR) {
        *iterator = sequence;
        return true;
    }
    if (value_set(value)) {
        made = iterator_value(script, (Sequence){.class_name = "iterator", .set = value_set(value), .count = set_count(value_set(value)), .span = span,
                                                 .next = next_of_set});
    } else if (value.kind == VALUE_LIST) {
        made = list_iterator(script, value.as.list, span);
    } else if (value.kind == VALUE_DICT) {
        made = dict_iterator(script, value.as.list, SEQUENCE_KEYS, span);
    } else if (sequence && sequence->kind != SEQUENCE_RANGE) {
        made = dict_iterator(script, sequence->list, sequence->kind, span);
    } else {
        const ValueList *items = script_items(script, value, span, refusal);
        if (!items)
            return false;
        made = list_iterator(script, items, span);
    }
    *iterator = value_sequence(made);
    return true;
}

const ValueList *script_first_items(Script *script, Value value, int count, Span span, const char *refusal)
{
    Sequence *iterator = value_sequence(value);
    if (!iterator || iterator->kind != SEQUENCE_ITERATOR)
        return script_items(script, value, span, refusal);
    ValueList *items = script_list(script, NULL, 0, false).as.list;
    bool ended = false;
    while (items->count <= count && !ended) {
        Value item;
        if (!iterator_next(script, iterator, &item, &ended) || (!ended && !script_append(script, items, &item, 1, span)))
            return NULL;
    }
    return items;
}

bool script_reversed(Script *script, Value value, Span span, Value *result)
{
    const Sequence *sequence = value_sequence(value);
    if ((sequence && sequence->kind == SEQUENCE_ITERATOR) || value_set(value))
        return script_raise(script, span, EXCEPTION_TypeError, "reversed needs a sequence, not %s", script_type_phrase(script, value));
    const ValueList *items = script_items(script, value, span, "a list is needed here, not %s");
    if (!items)
        return false;
    *result = iterator_value(script, (Sequence){.class_name = "reversed", .list = items, .at = items->count - 1, .span = span,
                                                .next = next_from_end});
    return true;
}

/* --- of functions and of other iterators --- */

/* One item of each source; *ENDED where one has no more, and those before it have given theirs. */
static bool next_row(Script *script, const Sequence *iterator, Value *items, bool *ended)
{
    *ended = iterator->source_count == 0;
    if (!script_step(script, iterator->span))
        return false;
    for (int i = 0; i < iterator->source_count && !*ended; i++)
        if (!iterator_next(script, iterator->sources[i], &items[i], ended))
            return false;
    return true;
}

static bool next_of_zip(Script *script, Sequence *iterator, Value *item, bool *ended)
{
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, iterator->source_count);
    if (!next_row(script, iterator, items, ended))
        return false;
    if (!*ended)
        *item = script_list(script, items, iterator->source_count, true);
    return true;
}

static bool next_of_map(Script *script, Sequence *iterator, Value *item, bool *ended)
{
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, iterator->source_count);
    if (!next_row(script, iterator, items, ended) || *ended)
        return *ended;
    Arguments call = {.positional = items, .positional_count = iterator->source_count, .span = iterator->span};
    return script_call_value(script, iterator->function, &call, item);
}

static bool next_of_filter(Script *script, Sequence *iterator, Value *item, bool *ended)
{
    bool wanted = false;
    while (!wanted) {
        if (!next_row(script, iterator, item, ended) || *ended)
            return *ended;
        Value kept = *item;
        Arguments call = {.positional = item, .positional_count = 1, .span = iterator->span};
        if ((iterator->function.kind != VALUE_NONE && !script_call_value(script, iterator->function, &call, &kept)) ||
            !script_condition(script, kept, iterator->span, &wanted))
            return false;
    }
    return true;
}

static bool next_of_enumerate(Script *script, Sequence *iterator, Value *item, bool *ended)
{
    Value pair[2] = {{.kind = VALUE_INT, .as.integer = iterator->first}};
    if (!next_row(script, iterator, &pair[1], ended) || *ended)
        return *ended;
    if (iterator->first == INT64_MAX)
        return script_error(script, iterator->span, "the result does not fit in 64 bits");
    iterator->first++;
    *item = script_list(script, pair, 2, true);
    return true;
}

/* An iterator NAME that takes its items from those of arguments FROM and on. */
static bool of_sources(Script *script, const Arguments *arguments, int from, int count, Sequence made, Value *result)
{
    made.sources = ARENA_ARRAY(script->ctx->arena, Sequence *, count);
    made.source_count = count;
    made.span = arguments->span;
    for (int i = 0; i < count; i++) {
        Value value = arguments->positional[from + i];
        if (!script_iterate(script, value, value.span, "a list is needed here, not %s", &made.sources[i]))
            return false;
    }
    *result = iterator_value(script, made);
    return true;
}

bool script_zip(Script *script, const Arguments *arguments, Value *result)
{
    return of_sources(script, arguments, 0, arguments->positional_count, (Sequence){.class_name = "zip", .next = next_of_zip}, result);
}

bool script_map(Script *script, const Arguments *arguments, Value *result)
{
    Sequence map = {.class_name = "map", .next = next_of_map, .function = arguments->positional[0]};
    return of_sources(script, arguments, 1, arguments->positional_count - 1, map, result);
}

bool script_filter(Script *script, const Arguments *arguments, Value *result)
{
    Sequence filter = {.class_name = "filter", .next = next_of_filter, .function = arguments->positional[0]};
    return of_sources(script, arguments, 1, 1, filter, result);
}

bool script_enumerate(Script *script, const Arguments *arguments, int64_t start, Value *result)
{
    return of_sources(script, arguments, 0, 1, (Sequence){.class_name = "enumerate", .next = next_of_enumerate, .first = start}, result);
}

/* --- generator expressions and comprehensions --- */

/* The conditions of CLAUSE hold. */
static bool clause_holds(Script *script, const AstComprehensionClause *clause, bool *holds)
{
    *holds = true;
    for (int c = 0; c < clause->conditions.count && *holds; c++) {
        Value condition;
        if (!script_eval(script, clause->conditions.items[c], &condition) ||
            !script_condition(script, condition, clause->conditions.items[c]->span, holds))
            return false;
    }
    return true;
}

/* Goes on to the next values of the variables for which all conditions hold, from the innermost clause outwards. */
static bool advance(Script *script, Sequence *generator, bool *ended)
{
    const AstNode *node = generator->node;
    int last = node->as.comprehension.clause_count - 1;
    for (int at = generator->at; at >= 0 && at <= last;) {
        const AstComprehensionClause *clause = &node->as.comprehension.clauses[at];
        Value item, iterable;
        bool no_more, holds;
        if (!generator->sources[at] && (!script_eval(script, clause->iterable, &iterable) ||
                                        !script_iterate(script, iterable, clause->iterable->span, "cannot loop over %s", &generator->sources[at])))
            return false;
        if (!iterator_next(script, generator->sources[at], &item, &no_more))
            return false;
        if (no_more) {
            generator->sources[at--] = NULL;
            continue;
        }
        if (!script_assign(script, clause->target, item) || !clause_holds(script, clause, &holds))
            return false;
        if (holds && at == last) {
            generator->at = last;
            return true;
        }
        at += holds;
    }
    *ended = true;
    return true;
}

static bool next_of_generator(Script *script, Sequence *generator, Value *item, bool *ended)
{
    Environment *scope = script->scope;
    script->scope = generator->scope;
    bool ok = script_step(script, generator->span) && advance(script, generator, ended) && (*ended || script_eval(script, generator->node->as.comprehension.element, item));
    script->scope = scope;
    return ok;
}

/* The variables of comprehension NODE, before the first items; the outermost iterable is evaluated at once, as in Python. */
static bool start(Script *script, const AstNode *node, Sequence *generator)
{
    const AstNode *outermost = node->as.comprehension.clauses[0].iterable;
    Value iterable;
    *generator = (Sequence){.class_name = "generator", .node = node, .next = next_of_generator, .span = node->span};
    generator->scope = ARENA_NEW(script->ctx->arena, Environment);
    generator->scope->outer = script->scope;
    generator->scope->comprehension = true;
    generator->sources = ARENA_ARRAY(script->ctx->arena, Sequence *, node->as.comprehension.clause_count);
    return script_eval(script, outermost, &iterable) &&
           script_iterate(script, iterable, outermost->span, "cannot loop over %s", &generator->sources[0]);
}

/* Adds the element of a comprehension to RESULT, a list, dict or set. */
static bool add_element(Script *script, const AstNode *node, Value result)
{
    Value key, value;
    if (node->as.comprehension.key && !script_eval(script, node->as.comprehension.key, &key))
        return false;
    if (!script_eval(script, node->as.comprehension.element, &value))
        return false;
    if (node->as.comprehension.key)
        return script_dict_set(script, result, key, value);
    if (node->as.comprehension.set)
        return set_add(script, result, value, node->span);
    return script_append(script, result.as.list, &value, 1, node->span);
}

bool script_eval_comprehension(Script *script, const AstNode *node, Value *result)
{
    Sequence generator;
    if (!start(script, node, &generator))
        return false;
    if (node->as.comprehension.generator) {
        *result = iterator_value(script, generator);
        return true;
    }
    Environment *scope = script->scope;
    bool ended = false, ok = true;
    Value made = script_list(script, NULL, 0, false);
    made.kind = node->as.comprehension.key ? VALUE_DICT : VALUE_LIST;
    if (node->as.comprehension.set)
        made = set_value(script, false);
    script->scope = generator.scope;
    while (ok && !ended)
        ok = script_step(script, node->span) && advance(script, &generator, &ended) && (ended || add_element(script, node, made));
    script->scope = scope;
    *result = made;
    return ok;
}
