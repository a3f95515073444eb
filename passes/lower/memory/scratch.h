/* Memory that a function allocates, and the conditions that keep all its accesses from padding. Private to the pass "scratch". */
#ifndef TIRC_PASSES_LOWER_MEMORY_SCRATCH_H
#define TIRC_PASSES_LOWER_MEMORY_SCRATCH_H

#include "ir/linear_sum.h"
#include "passes/lower/core/index_vars.h"

/* scale * (element / divisor % radix) + rest < 0, where radix is limit / divisor (no modulus where limit is 0). */
typedef struct {
    int64_t divisor, scale, limit;
    int64_t most; /* what element % limit is at most in any access */
    LinearSum rest; /* constant while the memory lives */
} ElementCondition;

/* Memory of constant size, accessed only through flat buffers of its type, always at elements inside: sums of loop variables. */
typedef struct {
    const Stmt *memory; /* STMT_ALLOCATE */
    int order;          /* loops of greater order are inside its life */
    int guards;         /* how many conditions are around it */
    int branches;       /* how many branches are around it */
    int accesses;
    bool partly_written; /* some store stands in a branch: it may leave elements without a value */
    bool unfit;         /* something does not agree with the above */
    VEC(ElementCondition) conditions; /* around every access */
} Scratch;

typedef struct {
    const ForStmt *loop;
    int order;
    bool constant; /* its extent */
} ScratchLoop;

typedef struct {
    Context *ctx;
    Analyzer *an;
    Map memories; /* data Var -> Scratch *, unfit ones too */
    Map loops;    /* Var -> ScratchLoop * */
    Map lets;     /* keys: Vars of lets */
    bool any;     /* there is memory of constant size */
} ScratchTable;

ScratchTable scratch_find(Context *ctx, const Func *func);
/* What BUFFER is over, if that is such memory, else NULL. */
const Scratch *scratch_of_buffer(const ScratchTable *table, const Buffer *buffer);
/* Loops of greater order are inside the life of the memory that BUFFER is over. */
int scratch_life(const ScratchTable *table, const Buffer *buffer);
/* CONDITION is one of those around every access of SCRATCH, for the element INDEX. */
bool scratch_excludes(const ScratchTable *table, const Scratch *scratch, const Expr *index, const Expr *condition);

#endif
