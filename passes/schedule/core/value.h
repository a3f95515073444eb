/* Values that go into and come out of schedule primitives. The script interpreter works on the same type. */
#ifndef TIRC_PASSES_SCHEDULE_CORE_VALUE_H
#define TIRC_PASSES_SCHEDULE_CORE_VALUE_H

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
    VALUE_FUNCTION,  /* a function of the script, as a step gets it */
    VALUE_SCRIPT,    /* an object that only the script interpreter knows: sch, a function, a module */
} ValueKind;

typedef struct Value Value;

typedef struct IndexFunction IndexFunction;

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
        IndexFunction *function;
        void *script;
    } as;
};

/* A function of the script over indices, such as the lambda of an index map. */
struct IndexFunction {
    /* Gives it COUNT indices of TYPE: INPUTS gets them, named as its parameters are, and RESULT what it returns. False after a diagnostic. */
    bool (*apply)(IndexFunction *function, int count, DType type, Var **inputs, Value *result);
    Span span;
    /* as it was called last */
    int count;
    Var **inputs;
    Value result;
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
/* Stands in the results of an index map where the axes of the buffer are separated. */
#define VALUE_SEPARATOR "AXIS_SEPARATOR"
/* "loop", "block", "int", ...: for messages. */
const char *value_type_name(ValueKind kind);

#endif
