/* What two threads may do to one element. Private to passes/analysis. */
#ifndef TIRC_PASSES_ANALYSIS_QUESTIONS_RACE_H
#define TIRC_PASSES_ANALYSIS_QUESTIONS_RACE_H

#include "passes/analysis/pairs/pair.h"

typedef struct {
    Context *ctx;
    const AccessList *accesses;
    const Map *sizes;
    const Var *var; /* of the loop whose iterations are the threads; they run statement by statement, all together */
    bool ordered;   /* the iterations ran one after the other so far, and what depends on that order must come in it */
    /* A statement may be there that no loop with the tag is around: every thread runs it. */
    bool repeated;
    ScopeClass (*scope)(const void *data, const Access *access);
    const void *data;
} Race;

/* True when A in one iteration of the loop over RACE->var and B in a later one conflict, or may for all that can be shown. In shared
   memory a barrier lies between a write and a read in different statements. */
bool threads_race(const Race *race, const Access *a, const Access *b, Conflict *conflict);

/* A cheap argument that A and B race neither one way round nor the other. */
bool threads_stay_apart(const Race *race, const Access *a, const Access *b);

/* The block around ACCESS, one with an init, that reduces over the loop over VAR, bound to threadIdx, which no spatial axis of it depends
   on; else NULL. Threads reduce together: each instance is one action of all of them. */
const Block *access_reduced_across(const Access *access, const Var *var);

#endif
