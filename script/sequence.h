/* What Python makes of lists and dicts without copying them: ranges, the views of a dict, and iterators, which give each item once. */
#ifndef TIRC_SCRIPT_SEQUENCE_H
#define TIRC_SCRIPT_SEQUENCE_H

#include "script/script_internal.h"

typedef enum { SEQUENCE_RANGE, SEQUENCE_KEYS, SEQUENCE_VALUES, SEQUENCE_ITEMS, SEQUENCE_ITERATOR } SequenceKind;

typedef struct Sequence {
    SequenceKind kind;
    const char *class_name;
    const ValueList *list; /* the items; of a view: the dict, as it is now */
    int at;                /* of an iterator: the item that comes next */
    int64_t first, end, step; /* of a range */
} Sequence;

/* The sequence that VALUE is, or NULL. */
Sequence *value_sequence(Value value);
/* An iterator over LIST, which Python calls CLASS_NAME. */
Value script_iterator(Script *script, const char *class_name, const ValueList *list);
Value script_view(Script *script, SequenceKind kind, const ValueList *dict);
bool script_range(Script *script, int64_t first, int64_t end, int64_t step, Span span, Value *result);
/* The items of SEQUENCE; those that are left of an iterator, which then has none. */
const ValueList *sequence_items(Script *script, Sequence *sequence);
/* The number of items; -1 for an iterator, of which Python does not know them. */
int sequence_length(const Sequence *sequence);
bool sequence_equal(const Sequence *left, const Sequence *right);
/* SEQUENCE[...], as NODE says it: ranges have items and slices. */
bool sequence_subscript(Script *script, Value self, const AstNode *node, Value *result);
/* The rows that zip makes of the arguments from FROM on: one item of each, until one has no more. */
bool script_rows(Script *script, const Arguments *arguments, int from, ValueList *rows);

#endif
