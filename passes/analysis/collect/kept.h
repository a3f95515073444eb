/* The lists of accesses as they are kept from one question to the next. Private to the collection of accesses. */
#ifndef TIRC_PASSES_ANALYSIS_COLLECT_KEPT_H
#define TIRC_PASSES_ANALYSIS_COLLECT_KEPT_H

#include "passes/analysis/model/access.h"

/* One statement of a function's outermost block, and its accesses in the list. */
typedef struct {
    const Stmt *stmt;
    const Frame *outside; /* which the frames of its accesses lie in */
    int first, end;
    /* These are points of buffers, and all expressions in them and in their frames are those of the program: nothing was made for the
       list. */
    bool plain;
} Part;
typedef VEC(Part) PartList;

typedef struct {
    const Func *func;
    AccessList list;
    PartList parts;
    Map blocks; /* Block -> which of the accesses lie inside of it */
    Arena *arena;
    uint64_t last_use; /* 0: never */
} KeptList;

/* The accesses of FUNC into LIST, but for its arena and last_use; parts of it may be in KNOWN, which may be NULL. WRAPS: arithmetic in conditions
   and lets wraps; else it does not leave its type. */
void access_collect_into(Context *ctx, const Func *func, const KeptList *known, bool wraps, KeptList *list);

#endif
