/* The trace of a schedule: its steps in order, with the handles that went into them and came out. A script that makes these steps on the
   unscheduled program gives the same program. */
#ifndef TIRC_PASSES_SCHEDULE_CORE_TRACE_H
#define TIRC_PASSES_SCHEDULE_CORE_TRACE_H

#include "passes/schedule/core/value.h"

struct Schedule;
struct Primitive;

typedef struct {
    const struct Primitive *primitive;
    const Value *inputs; /* in the order of the signature, defaults filled in: handles instead of names, sampled values as expressions */
    int input_count;
    Value output; /* None, a handle, or a list of handles; each with a handle number of its own */
} TraceStep;

typedef struct Trace {
    VEC(TraceStep) steps;
    Map handles; /* those that steps gave and that still are to be used */
    Map decided; /* Var of a sampled value -> int64_t *, the value */
    int handle_count; /* that steps gave */
} Trace;

Trace trace_copy(Arena *arena, const Trace *trace);
/* Adds the step that PRIMITIVE made of GIVEN, what the script gave, and VALUES, the same fitted to the signature; BEFORE is the program
   before it. The handles in *RESULT become those of the trace. */
void trace_record(struct Schedule *sch, const struct Primitive *primitive, const Value *given, const Value *values, const Module *before,
                  Value *result);
/* A new sampled value that is INTEGER, under the name that TVM gives the next handle but INDEX. */
Value trace_sampled(struct Schedule *sch, int index, int64_t integer);
/* Puts into *VALUE what was sampled for the values in it; every handle in it is one that a step of SCH gave. False after a refusal. */
bool trace_decide(struct Schedule *sch, Value *value);
/* The integer that EXPR over sampled values of SCH is; false where it is none. */
bool trace_integer(const struct Schedule *sch, const Expr *expr, int64_t *result);
/* VALUE, a handle, is to be used no longer. */
void trace_remove(struct Schedule *sch, const Value *value);

#endif
