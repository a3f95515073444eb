/* Shared by the parts of te.create_schedule: what scripts say of stages, and what is done with it. */
#ifndef TIRC_SCRIPT_TE_STAGE_H
#define TIRC_SCRIPT_TE_STAGE_H

#include "script/te.h"

typedef enum {
    STAGE_SPLIT,
    STAGE_TILE,
    STAGE_FUSE,
    STAGE_REORDER,
    STAGE_BIND,
    STAGE_VECTORIZE,
    STAGE_UNROLL,
    STAGE_PARALLEL,
    STAGE_PRAGMA,
    STAGE_COMPUTE_AT,
    STAGE_COMPUTE_INLINE,
    STAGE_COMPUTE_ROOT,
    STAGE_SET_SCOPE,
    STAGE_STORAGE_ALIGN,
    STAGE_TENSORIZE,
    STAGE_STORE_PREDICATE,
    /* of the schedule, not of one stage */
    STAGE_CACHE_READ,
    STAGE_CACHE_WRITE,
    STAGE_RFACTOR,
} StageMethod;

/* One thing that a script said. */
typedef struct {
    StageMethod method;
    const char *name; /* of the method */
    const Operation *op;
    const Value **values; /* bound to the method's parameters, NULL where they are not given */
    ValueList rest;       /* *args */
    const Iter *made[4];
    const Operation *made_op; /* the stage that it makes */
    const Operation *new_op;  /* STAGE_CACHE_WRITE, STAGE_RFACTOR: what the stage of OP computes from then on */
    Span span;
} Note;

struct StageSchedule {
    Value *outputs;
    int output_count;
    VEC(Note) notes;
    Map current; /* Operation -> what its stage computes now, where that has changed */
};

/* The axes of reduction that OP has left at the end of the notes, after splits and fusions: into *AXES. */
typedef VEC(const Iter *) IterList;
IterList te_leaf_reductions(Script *script, const StageSchedule *schedule, const Operation *op);

/* The schedule of the primitives while notes are done. */
typedef struct {
    Script *script;
    const StageSchedule *schedule;
    Value primitives; /* the schedule object that has them */
    Map loops;        /* Iter -> Value of its loop */
    Map blocks;       /* Operation -> Value of its block */
} Replay;

/* Does all notes; false after a diagnostic. ORDER: the operations, each after those that it reads. */
bool te_replay(Replay *replay, const OperationList *order);
/* Calls primitive NAME. */
bool te_replay_call(Replay *replay, const char *name, const Value *values, int count, Span span, Value *result);
/* The block of OP, and the loops of its axes into replay->loops. */
bool te_replay_block(Replay *replay, const Operation *op, Span span, Value *block);
bool te_replay_loop(Replay *replay, Value axis, Span span, Value *loop);
void te_replay_set_loop(Replay *replay, const Iter *axis, Value loop);
/* The notes that make stages: cache_read, cache_write, rfactor. */
bool te_replay_cache_read(Replay *replay, const Note *note);
bool te_replay_cache_write(Replay *replay, const Note *note);
bool te_replay_rfactor(Replay *replay, const Note *note);

#endif
