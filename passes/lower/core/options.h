/* What a caller of lowering chooses, and what it is told. */
#ifndef TIRC_PASSES_LOWER_CORE_OPTIONS_H
#define TIRC_PASSES_LOWER_CORE_OPTIONS_H

#include "ir/stmt.h"

/* A loop that was cut into parts, since the target has too few vector registers for all its sums. */
typedef struct {
    const Func *func;
    const Stmt *loop;    /* as it was */
    Span span;           /* of the first update of a sum */
    int parts, registers; /* how many there are; of the target */
    int sums;            /* vector registers that all sums take */
    int rows, columns;   /* the largest part: scalars that it uses, and lanes of each of its rows */
} LoopParts;

typedef struct {
    bool bounds_check;       /* compile a check before each access */
    bool verify_each;        /* verify what each pass finds and leaves: a mistake of a pass shows there */
    bool guard_init;         /* an init goes into the first iteration of its reduction where that is right, not into loops before it */
    bool keep_predicates;    /* blocks without axes keep T.where */
    const char *start_after; /* run only the passes after this one (FUNC is what it gives); NULL: all. A name of lower_passes */
    /* Tells the bytes of a vector register of the target and how many there are; a count of 0: not known. NULL: there is no target. */
    void (*vector_registers)(void *data, int *bytes, int *count);
    /* Called for each loop that is cut into parts; NULL: not called. */
    void (*in_parts)(void *data, const LoopParts *parts);
    /* Called after each pass that ran with its result and the seconds it took; NULL: not called. */
    void (*after_pass)(void *data, const char *pass, const Func *func, double seconds);
    void *data;
} LowerOptions;

#endif
