/* A pair of accesses as one integer set: the iterations of both, and an element that both touch. Private to passes/analysis. */
#ifndef TIRC_PASSES_ANALYSIS_PAIRS_PAIR_H
#define TIRC_PASSES_ANALYSIS_PAIRS_PAIR_H

#include "passes/analysis/model/access_point.h"
#include "passes/analysis/prove/portfolio.h"
#include "passes/arith/analyzer.h"

/* Why something may not be done. */
typedef struct {
    const Access *first, *second;
    bool witnessed;   /* a concrete pair of iterations was found; else nothing could be shown */
    const char *text; /* "C[0, 3] is written at k = 0 and read at k = 1", or what kept the proof from succeeding; in ctx->arena */
} Conflict;

typedef struct Pair {
    Context *ctx;
    const Access *a, *b;
    const Frame **loops_a, **loops_b; /* dimensions 0..count_a of A's iteration, then count_b of B's */
    int count_a, count_b, common;     /* common: the loops that both share come first in each */
    int element;                      /* the first of the dimensions of the element */
    int dims;
    const AffineEnv *env_a, *env_b;
    AffineTerms *terms; /* NULL, or see pair_share_terms */
    AffineSpace space;
} Pair;

/* True when no order between A and B can matter: different memory, no write, or updates of one reduction where REDUCTIONS_COMMUTE. */
bool pair_is_harmless(const Access *a, const Access *b, bool reductions_commute);
/* The number of the loop over VAR among those that both share; how many these are where VAR is none. */
int pair_level(const Pair *pair, const Var *var);
/* A and B with their loops and environments, but without the set (cheap). */
Pair pair_new(Context *ctx, const Access *a, const Access *b);
/* Builds the set of all pairs of iterations in which A and B touch a common element. EXTRA further dimensions follow those of the element.
   The caller frees pair->space. */
void pair_build(Pair *pair, const Map *sizes, int extra);
/* The set to be built is of iterations that agree in the first TERMS->fixed common loops: what is not affine but follows from them has one
   value, which TERMS names. */
void pair_share_terms(Pair *pair, AffineTerms *terms);
/* Requires the dimensions of SPACE from FIRST on to be those of an element that ACCESS, seen in ENV, touches. */
void access_assume_element(AffineSpace *space, const Access *access, const AffineEnv *env, int first);
/* Requires the iterations to agree in the first COUNT common loops. */
void pair_assume_equal(Pair *pair, AffineSpace *space, int count);
/* Decides SPACE (freed), a part of the pair's set: true, with CONFLICT filled in, unless it is empty. */
bool pair_conflicts(Pair *pair, AffineSpace space, Conflict *conflict);
/* Ends work begun with context_begin_scratch, of which CONFLICT (which may be NULL) is the result. */
void pair_end_scratch(Context *ctx, Arena *outside, Conflict *conflict);
/* Both touch one element, named by the same indices. */
bool access_same_point(const Access *a, const Access *b);
/* VAR alone is one of the indices of the point that ACCESS touches. */
bool access_names(const Access *access, const Var *var);
/* The goal APART. */
bool pair_is_disjoint(const Pair *pair, int level);
/* The indices of the first access are linear: then isl decides what the linear argument does not, and other arguments need not be asked. */
bool pair_is_linear(const Pair *pair);
/* PAIR is of accesses of one block, and VALUE is seen from either. It is the same for both wherever they touch one element and agree in the
   outermost LEVEL loops: a cheap argument. */
bool pair_agrees_on(const Pair *pair, const Expr *value, int level);

#endif
