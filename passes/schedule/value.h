/* Values that go into and come out of schedule primitives. The script interpreter works on the same type. */
#ifndef TIRC_PASSES_SCHEDULE_VALUE_H
#define TIRC_PASSES_SCHEDULE_VALUE_H

#include "ir/stmt.h"

typedef enum {
    VALUE_NONE,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_STRING,
    VALUE_LIST,  /* lists and tuples */
    VALUE_DICT,
    VALUE_LOOP,
    VALUE_BLOCK,
    VALUE_EXPR,      /* an IR expression, as a split factor may be */
    VALUE_INDEX_MAP, /* a lambda over indices, turned into IR */
    VALUE_SCRIPT,    /* an object that only the script interpreter knows: sch, a function, a module */
} ValueKind;

/* indices -> expressions over them, as a lambda of a script gives it. */
typedef struct {
    int input_count, output_count;
    Var **inputs;
    const Expr **outputs;
    Span span;
} IndexMap;

typedef struct Value Value;
typedef struct {
    Value *items;
    int count;
    int capacity; /* of items */
    bool is_tuple;
} ValueList;
struct Value {
    ValueKind kind;
    Span span; /* where the script wrote it */
    const void *handle; /* of a loop, block or sampled value that a step gave: which one it is in the trace; see trace.h */
    union {
        bool boolean;
        int64_t integer;
        double real;
        Str text;
        ValueList *list; /* VALUE_LIST; VALUE_DICT: keys and values in turn */
        Var *loop;
        Block *block;
        const Expr *expr;
        const IndexMap *map;
        void *script;
    } as;
};

static inline Value value_none(void)
{
    return (Value){.kind = VALUE_NONE};
}
static inline Value value_loop(Var *loop)
{
    return (Value){.kind = VALUE_LOOP, .as.loop = loop};
}
static inline Value value_block(Block *block)
{
    return (Value){.kind = VALUE_BLOCK, .as.block = block};
}
Value value_list(Context *ctx, const Value *items, int count);
/* "loop", "block", "int", ...: for messages. */
const char *value_type_name(ValueKind kind);

#endif
