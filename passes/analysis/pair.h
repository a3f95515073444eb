/* A pair of accesses as one integer set: the iterations of both, and an element that both touch. Private to passes/analysis. */
#ifndef TIRC_PASSES_ANALYSIS_PAIR_H
#define TIRC_PASSES_ANALYSIS_PAIR_H

#include "ir/walk.h"
#include "passes/analysis/conflict.h"
#include "passes/analysis/portfolio.h"
#include "passes/arith/analyzer.h"

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

/* A pair whose elements are named as the program does. It must not move. */
typedef struct {
    Access a, b;
    Pair pair;
} PlainPair;

typedef VEC(const Frame *) FrameList;
typedef VEC(const Access *) AccessRefs;

/* True when no order between A and B can matter: different memory, no write, or updates of one reduction where REDUCTIONS_COMMUTE. */
bool pair_is_harmless(const Access *a, const Access *b, bool reductions_commute);
/* A and B with their loops and environments, but without the set (cheap). */
Pair pair_new(Context *ctx, const Access *a, const Access *b);
/* PLAIN is PAIR, not built, without digits (see access_rows.h); false where it has none. */
bool pair_unsplit(const Pair *pair, PlainPair *plain);
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
/* True when A comes before B where all their common loops agree: by position in the program. */
bool access_precedes(const Access *a, const Access *b);
/* A comes before B, the outermost COMMON loops agreeing, and both touch one element; or possibly so. CONFLICT tells where. */
bool access_comes_before(Context *ctx, const Access *a, const Access *b, const Map *sizes, int common, Conflict *conflict);
/* Decides SPACE (freed), a part of the pair's set: true, with CONFLICT filled in, unless it is empty. */
bool pair_conflicts(Pair *pair, AffineSpace space, Conflict *conflict);
/* Ends work begun with context_begin_scratch, of which CONFLICT (which may be NULL) is the result. */
void pair_end_scratch(Context *ctx, Arena *outside, Conflict *conflict);
/* Both touch one element, named by the same indices. */
bool access_same_point(const Access *a, const Access *b);
/* VAR alone is one of the indices of the point that ACCESS touches. */
bool access_names(const Access *access, const Var *var);
/* A cheap argument that VALUE, under FRAME with its environment ENV, always lies in RANGE. */
bool value_lies_in(Context *ctx, const Frame *frame, const AffineEnv *env, const Expr *value, Range range);
/* The goal APART, with the elements named by digits, then as the program names them. */
bool pair_is_disjoint(const Pair *pair, int level);
/* The indices of the first access are linear: then isl decides what the linear argument does not, and other arguments need not be asked. */
bool pair_is_linear(const Pair *pair);
/* The pair's space holds pairs of iterations that touch one element. Where the indices are x // n and x % n for some x and size n, x is the
   same in both iterations: adds this equation to the space. */
void pair_assume_quotients(Pair *pair);
/* The number that QUOTIENT, x // n, and REST, x % n, say together, NULL where they do not: x. */
const Expr *quotient_joined(Analyzer *an, Context *ctx, const Expr *quotient, const Expr *rest);
/* CONDITION as one on what sizes divide: x // d < m is x < m * d, and x % (m * d) // d < m is true. SIGNS knows that no size is negative; a
   divisor of 0 leaves nothing to run. Others stay as they are. */
const Expr *quotient_undivided(Analyzer *an, Analyzer *signs, const Expr *condition);
/* An analyzer that knows of SIZES that they are not negative. */
Analyzer *analyzer_of_sizes(Context *ctx, const Map *sizes);

/* How expressions over loops are put in digits (digits.c). */
typedef struct {
    Analyzer *an;    /* knows the loops */
    Analyzer *signs; /* knows that sizes are not negative */
    const Map *sizes;
    int64_t factor; /* of what divides besides sizes: its digits are told apart; 1: expressions are simplified, no more */
} Digits;
/* Knows no loops yet, and no factor. */
Digits digits_new(Context *ctx, const Map *sizes);
/* PAIR is of an access with itself. The COUNT VALUES, seen from it, differ in any two iterations of the loops from the one at LEVEL inwards
   (the outer ones agreeing): a cheap argument, for values that need not be linear. */
bool pair_names_iterations(const Pair *pair, const Expr *const *values, int count, int level);
/* PAIR is of accesses of one block, and VALUE is seen from either. It is the same for both wherever they touch one element and agree in the
   outermost LEVEL loops: a cheap argument. */
bool pair_agrees_on(const Pair *pair, const Expr *value, int level);

/* Adds the indices of the element that ACCESS touches to INDICES, in terms of loops and sizes; false when it may touch several. */
typedef VEC(const Expr *) ExprList;
bool access_point(Context *ctx, const Access *access, ExprList *indices);
/* The same without casts around the indices, as fused loops over sizes of other types have them: these keep the value. */
bool access_point_uncast(Context *ctx, const Access *access, ExprList *indices);
/* Narrows the factor to the greatest constant that divides all divisors of EXPRS which are sizes times a constant. */
void digits_find_factor(Digits *digits, const ExprList *exprs);
const Expr *digits_of(const Digits *digits, const Expr *expr);
/* EXTENT, of a loop over x * 8 in steps of 256, as that of x in steps of 32. */
const Expr *digits_of_extent(Context *ctx, const Expr *extent);
/* There is a // or % in EXPR. */
bool expr_divides(const Expr *expr);
/* EXPR has the same value wherever its variables have: it reads no memory. */
bool expr_is_fixed(const Expr *expr);
/* What must hold at FRAME, in terms of loops and sizes. *ALL false: there are conditions besides those. */
ExprList access_conditions(Context *ctx, const Frame *frame, bool *all);
/* What certainly holds where ACCESS runs, in the same terms: an init may run where what is said of its reduction does not hold. */
ExprList access_known_conditions(Context *ctx, const Access *access);
/* An analyzer that knows what holds where ACCESS runs, whose indices are POINT. */
Analyzer *analyzer_of_access(Context *ctx, const Access *access, const ExprList *point, const Map *sizes);
/* Replaces what bindings and lets around FRAME define by their values, down to loops and sizes. */
Subst frame_values(Context *ctx, const Frame *frame);

/* Every instance of BLOCK in the domains of its iterators runs; FRAME holds its bindings and predicate, and no loop around its scope. SIZES:
   variables known to be >= 0. */
bool block_runs_completely(Context *ctx, const BlockStmt *block, const Frame *frame, const Map *sizes);

/* Which pairs of accesses must keep their order from BEFORE to AFTER; see dependence_order_kept. */
typedef struct {
    const Func *before, *after;
    const Stmt *old_part, *new_part;
    const Block *involved; /* one access of each pair lies inside of it; NULL: any */
    bool (*wanted)(void *data, const Access *a, const Access *b); /* NULL: all pairs */
    void *data;
    /* NULL, or the one block that moved, in front of its consumers: in each iteration of the loops around it and them it computes all that
       they read */
    const Block *moved;
} OrderQuestion;
bool order_changes(Context *ctx, const OrderQuestion *question, Conflict *conflict);

/* WRITE comes before READ in every iteration of the loops that both share, and covers all that READ may read there. */
bool access_covers(Context *ctx, const Access *write, const Access *read, const Map *sizes);
/* The COUNT must-writes WRITES together cover READ: in each iteration of the loops around PLACE they touch all that READ may touch. PLACE
   is around all of them; NULL: the loops that each shares with READ count. Refuted with an element: "B[4] at i = 3". Which comes first is
   not asked. */
Answer access_covered(Context *ctx, const Access *const *writes, int count, const Access *read, const Frame *place, const Map *sizes);
/* Every element that READ reads in an iteration of the loop over VAR was written before in the same iteration; VAR NULL: in the same run of
   the function. */
bool access_is_filled(Context *ctx, const AccessList *accesses, const Map *sizes, const Access *read, const Var *var);
/* ACCESS belongs to an init of a reduction over LOOP, around it, and may come before all of its iterations: where some of them has no update the
   init is not part of the first. */
bool access_runs_without(const Access *access, const Frame *loop);
/* ACCESS belongs to an init, and what the loops and conditions around it say of the reduction need not hold where it runs. */
bool access_may_lack_updates(const Access *access);
/* What is reduced over says something of the points for which the init that ACCESS belongs to runs: how. NULL: no loop that they are found by
   reduces, unless it certainly runs, and no condition is about both. */
const char *access_points_depend(Context *ctx, const Access *access);
/* EXPR, seen from FRAME, depends on the loop over VAR: by itself or through what its variables are bound to. */
bool frame_depends(const Frame *frame, const Expr *expr, const Var *var);
/* The block at FRAME (FRAME_BLOCK) reduces over the loop over VAR: a reduce axis of it depends on that, also by way of the axes of blocks
   around, but not of spatial ones, which stay the same while a reduction runs. */
bool frame_reduces_over(const Frame *frame, const Var *var);
/* FRAME reduces over VAR, and no point depends on the loop: neither do the block's other axes nor those around that name points. */
bool frame_only_reduces_over(const Frame *frame, const Var *var);
/* ACCESS lies inside a block with symbol BLOCK. */
bool access_in_block(const Access *access, const Block *block);
/* The frame at which BLOCK's own body begins in the program of ACCESSES: that of its block, *STMT, with all bindings. NULL: it has no accesses. */
const Frame *access_block_frame(const AccessList *accesses, const Block *block, const BlockStmt **stmt);

#endif
