/* Integer analysis: what is known of variables, and the simplification and proofs that follow from it.

   An Analyzer holds facts: ranges and values of variables, and conditions assumed true. Everything else is a question to it. Answers
   are sound under the facts given and under the rule that index arithmetic does not overflow its type; "false" of a proof means "not
   shown". Nothing here diagnoses. Index types are int32 and int64; expressions of other types are only folded and have their
   sub-expressions simplified, floats are never reassociated.

   The rule about overflow holds for indices, extents, bindings and predicates. Values that a program computes and stores may wrap in
   the same types: they must not be simplified or reasoned about as indices (analyzer_simplify_indices reaches the indices in them). */
#ifndef TIRC_PASSES_ARITH_ANALYZER_H
#define TIRC_PASSES_ARITH_ANALYZER_H

#include "ir/stmt.h"

typedef struct Analyzer Analyzer;

/* A variable with its domain: a loop, a block iterator, an input iterator of a map. */
typedef struct {
    Var *var;
    Range range;
} VarRange;

/* An analyzer that knows nothing. It and what it remembers come from ctx->arena, and so do the expressions that it makes: use it only
   while ctx->arena is the one it was made with. */
Analyzer *analyzer_new(Context *ctx);
Context *analyzer_context(const Analyzer *an);

/* --- Facts. Binding a variable again replaces what was bound. --- */
/* VAR lies in RANGE, whose min and extent may be symbolic. A range of extent 1 binds VAR to its min: simplification then replaces VAR. */
void analyzer_bind_range(Analyzer *an, const Var *var, Range range);
void analyzer_bind_ranges(Analyzer *an, const VarRange *ranges, int count);
/* As analyzer_bind_range, but a VAR of extent 1 keeps its name: only bounds are learned. */
void analyzer_bind_range_opaque(Analyzer *an, const Var *var, Range range);
/* VAR is VALUE, which replaces it in simplified expressions. */
void analyzer_bind_value(Analyzer *an, const Var *var, const Expr *value);
/* VAR is a multiple of COEFF plus BASE (a strided or aligned quantity). */
void analyzer_bind_modular(Analyzer *an, const Var *var, int64_t coeff, int64_t base);
/* VAR is a size: known to be >= 0. Not stated for symbolic dimensions where a printed form is to come out as the reference prints it,
   which knows no sign of them; proofs of legality should state it. */
void analyzer_bind_nonnegative(Analyzer *an, const Var *var);

/* Assumptions last until the scope that encloses them is left. CONDITION may be a conjunction. Bindings made inside a scope stay when
   it is left. */
typedef struct {
    int bounds, literals, comparisons, moduli, bindings;
    uint32_t epoch;
} AnalyzerScope;
AnalyzerScope analyzer_enter(Analyzer *an);
void analyzer_assume(Analyzer *an, const Expr *condition);
void analyzer_leave(Analyzer *an, AnalyzerScope scope);
/* Assumes that EXPR is at least 1, such as the extent of a loop that runs, and what follows: both factors of a product are where one is not
   negative, and so is what a positive quotient divides, (n * m + 3) // 4. */
void analyzer_assume_positive(Analyzer *an, const Expr *expr);

/* --- Bounds and divisibility --- */
/* The least and greatest value that an integer or bool expression may take; BOUND_NEG_INF and BOUND_POS_INF stand for "unbounded". A
   variable of which nothing is known has the limits of its type. Sums and products of int32 may exceed the limits of int32: such
   arithmetic is taken not to overflow. */
#define BOUND_NEG_INF INT64_MIN
#define BOUND_POS_INF INT64_MAX
typedef struct {
    int64_t min, max;
} IntBound;
IntBound analyzer_bound(Analyzer *an, const Expr *expr);

/* The value is coeff * k + base for some integer k. coeff 0: it is the constant base; coeff 1, base 0: nothing known. 0 <= base < coeff
   when coeff > 0. */
typedef struct {
    int64_t coeff, base;
} ModularSet;
ModularSet analyzer_modular(Analyzer *an, const Expr *expr);

/* --- Simplification: the same value in the reference's printed form. Memory reads and calls are kept as they are (arguments
   simplified). --- */
const Expr *analyzer_simplify(Analyzer *an, const Expr *expr);
/* VALUE, which may wrap, with the indices and offsets of the memory accesses in it simplified, and parts that certainly do not wrap; a > b
   becomes b < a, a >= b becomes b <= a. LIMITS knows the ranges that tell what wraps; it may be AN, or know more than is to be used for
   simplifying. */
const Expr *analyzer_simplify_indices(Analyzer *an, Analyzer *limits, const Expr *value);
/* The two halves of analyzer_simplify: canonical sums of products, and rewrite rules. Few callers want one alone. */
const Expr *analyzer_simplify_canonical(Analyzer *an, const Expr *expr);
const Expr *analyzer_simplify_rewrite(Analyzer *an, const Expr *expr);
Range analyzer_simplify_range(Analyzer *an, Range range);
/* A copy of REGION with simplified ranges. */
Region analyzer_simplify_region(Analyzer *an, Region region);

/* --- Proofs --- */
/* CONDITION (a bool) is true. */
bool analyzer_prove(Analyzer *an, const Expr *condition);
/* The same, and tries symbolic bounds of a comparison as well: slower, for questions such as i * 16 + j < n * 16. */
bool analyzer_prove_symbolic(Analyzer *an, const Expr *condition);
/* CONDITION is false for some values of the variables that agree with all that AN knows: no proof of it would succeed. False where that is not
   found cheaply. */
bool analyzer_refutes(const Analyzer *an, const Expr *condition);
/* A and B, of one type, have the same value. */
bool analyzer_prove_equal(Analyzer *an, const Expr *a, const Expr *b);
bool analyzer_prove_less(Analyzer *an, const Expr *a, const Expr *b);
bool analyzer_prove_less_equal(Analyzer *an, const Expr *a, const Expr *b);
/* EXPR >= LOWER, EXPR < UPPER; by bounds alone, cheap. */
bool analyzer_prove_at_least(Analyzer *an, const Expr *expr, int64_t lower);
bool analyzer_prove_below(Analyzer *an, const Expr *expr, int64_t upper);
bool analyzer_prove_ranges_equal(Analyzer *an, Range a, Range b);

/* EXPR with 1 for each divisor that may be 0: for what is worked out even where the loops over a size of 0, which the divisions come from,
   do not run. */
const Expr *analyzer_guard_divisors(Analyzer *an, const Expr *expr);

#endif
