/* What Python makes of lists and dicts without copying them: ranges, the views of a dict, and iterators, which give each item once. */
#ifndef TIRC_SCRIPT_SEQUENCE_H
#define TIRC_SCRIPT_SEQUENCE_H

#include "script/script_internal.h"

typedef enum { SEQUENCE_RANGE, SEQUENCE_KEYS, SEQUENCE_VALUES, SEQUENCE_ITEMS, SEQUENCE_ITERATOR } SequenceKind;

/* Sets *ITEM to the next item of ITERATOR, or *ENDED where there is none. False after a diagnostic. */
typedef bool IteratorStep(Script *script, Sequence *iterator, Value *item, bool *ended);

struct Sequence {
    SequenceKind kind;
    const char *class_name;
    const ValueList *list; /* the items; of a view: the dict, as it is now */
    int64_t first, end, step; /* of a range; first: the number that enumerate gives next */
    /* of an iterator */
    IteratorStep *next;
    int at, count;       /* the place in LIST that comes next; what a dict must have; the clause of a generator that goes on */
    SequenceKind part;   /* of a dict */
    const struct Set *set;
    Sequence **sources;  /* where its items come from: for each clause of a generator, NULL before it begins */
    int source_count;
    Value function;      /* of map and filter */
    const AstNode *node; /* the generator expression, and its variables */
    Environment *scope;
    Span span;           /* where it was made */
    bool running, ended;
};

/* The sequence that VALUE is, or NULL. */
Sequence *value_sequence(Value value);
Value sequence_value(Script *script, Sequence sequence);
/* The value that is SEQUENCE itself. */
Value sequence_of(Script *script, Sequence *sequence);
Value script_view(Script *script, SequenceKind kind, const ValueList *dict);
bool script_range(Script *script, int64_t first, int64_t end, int64_t step, Span span, Value *result);
/* The items of SEQUENCE; those that are left of an iterator, which then has none (NULL after a diagnostic). */
const ValueList *sequence_items(Script *script, Sequence *sequence);
/* The number of items; -1 for an iterator, of which Python does not know them. */
int sequence_length(const Sequence *sequence);
bool sequence_equal(const Sequence *left, const Sequence *right);
/* SEQUENCE[...], as NODE says it: ranges have items and slices. */
bool sequence_subscript(Script *script, Value self, const AstNode *node, Value *result);

/* --- iterator.c --- */
/* The items that are left; NULL after a diagnostic. */
const ValueList *iterator_rest(Script *script, Sequence *iterator);
bool script_reversed(Script *script, Value value, Span span, Value *result);
bool script_zip(Script *script, const Arguments *arguments, Value *result);
bool script_map(Script *script, const Arguments *arguments, Value *result);
bool script_filter(Script *script, const Arguments *arguments, Value *result);
bool script_enumerate(Script *script, const Arguments *arguments, int64_t start, Value *result);
bool script_eval_comprehension(Script *script, const AstNode *node, Value *result);

#endif
