/* Loads of memory that the program writes, told apart by the contents that they find. Private to the collection of accesses. */
#ifndef TIRC_PASSES_ANALYSIS_COLLECT_ACCESS_VERSION_H
#define TIRC_PASSES_ANALYSIS_COLLECT_ACCESS_VERSION_H

#include "passes/analysis/model/access.h"

/* Contents that BUFFER has at some place in the program, under a symbol of their own. */
typedef struct {
    const Buffer *buffer;
    int writes;       /* how many accesses before write it, in program order */
    const Stmt *loop; /* the innermost loop around that writes it; NULL: none does */
    Buffer *contents;
} Version;

typedef struct {
    const Func *func;
    Map written;   /* data variable -> itself where the function writes it, else NULL; of those asked about */
    VEC(Version) list;
} Versions;

/* Where a load stands: FRAME is around it, and ACCESSES come before it. VIEWED (DATA as given) is the memory that a data variable stands for,
   itself but for those of match_buffer views. */
typedef struct {
    Context *ctx;
    const Frame *frame;
    const AccessList *accesses;
    const Var *(*viewed)(const void *data, const Var *var);
    const void *data;
} VersionPlace;

/* EXPR, evaluated at PLACE, in which each load of memory that the function writes is one of a buffer that stands for the contents at PLACE:
   loads that may find different values are different expressions. EXPR itself where there are none. */
const Expr *version_loads(Versions *versions, const VersionPlace *place, const Expr *expr);
/* The same for the ranges of REGION. */
Region version_region(Versions *versions, const VersionPlace *place, Region region);

#endif
