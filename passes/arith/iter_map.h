/* Iterator maps: which expressions of loop variables are quasi-affine maps of an iteration space, and how such a map divides into outer
   and inner parts.

   A map sends iterators to expressions built from them by +, -, * with constants (or symbols), // and %. It is held as sums of splits
   of marked iterators:
     split = ((mark // lower_factor) % extent) * scale          sum = split + split + ... + base
   Not handled: products of two iterators, reads of memory, truncating division of what may be negative. */
#ifndef TIRC_PASSES_ARITH_ITER_MAP_H
#define TIRC_PASSES_ARITH_ITER_MAP_H

#include "passes/arith/analyzer.h"

typedef struct IterMark IterMark;
typedef struct IterSplit IterSplit;
typedef struct IterSum IterSum;

struct IterSplit {
    const IterMark *source;
    const Expr *lower_factor, *extent, *scale;
};
struct IterSum {
    IterSplit *args;
    int count;
    const Expr *base;
    DType dtype;
};
/* An iterator over [0, extent): an input variable (less its min), or a sum of splits of others that is known to be compact. Its
   identity is its address. */
struct IterMark {
    const Expr *input; /* the variable, or variable - min; NULL when it is a sum: then SUM */
    const IterSum *sum;
    const Expr *extent;
};

/* What must be shown of a map. Bijective: every point of the input space maps to its own output, and all outputs form a box.
   Surjective: the outputs form a box whose extents are those of the sums; inputs may be unused, and several points may have one output.
   No check: the values are independent of each other, but where the space was padded to make divisions come out even, some points of
   the padded box need not be hit. */
typedef enum { ITER_MAP_BIJECTIVE, ITER_MAP_SURJECTIVE, ITER_MAP_NO_CHECK } IterMapLevel;

typedef struct {
    const Expr *const *bindings;
    int binding_count;
    const VarRange *iters; /* the input space, outermost first */
    int iter_count;
    const Expr *predicate; /* NULL: true; comparisons joined by and, which narrow the space */
    IterMapLevel level;
    bool simplify_trivial; /* an iterator of extent 1 counts as the constant of its min */
} IterMapQuery;

typedef struct {
    const IterSum **sums;         /* one per binding */
    int count;
    const Expr *padding_predicate; /* true where the map was padded to become compact; constant false without padding */
    const char *error;             /* after a failure: why, in words, for messages; allocated in ctx->arena */
} IterMapResult;

/* The map of QUERY as sums; false when it has none at the level asked for (RESULT->error says why). */
bool iter_map_detect(Analyzer *an, const IterMapQuery *query, IterMapResult *result);
/* The same, where the bindings or the predicate may convert between index types: then the sums are in int64, over iterators of their own. */
bool iter_map_detect_mixed(Analyzer *an, const IterMapQuery *query, IterMapResult *result);

/* The bindings of QUERY written as maps of the iterators: those that have such a form in it, the others simplified only. One expression
   per binding. */
const Expr **iter_map_simplify(Analyzer *an, const IterMapQuery *query);

/* EXPR as a sum over ITERS, best effort: what has no such form is in the base. Scales are products of symbols and a constant; args come
   by descending constant scale. */
const IterSum *iter_map_normalize_sum(Analyzer *an, const Expr *expr, const VarRange *iters, int iter_count);

/* A * B as one row of factors, those of A first, constants as one factor at the end: the form of divisors such as m * k * 4. */
const Expr *iter_product(Context *ctx, const Expr *a, const Expr *b);
/* Expressions again. */
const Expr *iter_sum_to_expr(Analyzer *an, const IterSum *sum);
const Expr *iter_split_to_expr(Analyzer *an, const IterSplit *split);
const Expr *iter_mark_to_expr(Analyzer *an, const IterMark *mark);

/* Division of each binding b of QUERY by the subspace of the iterators SUB_ITERS:  b == outer * inner_extent + inner, where outer uses
   none of SUB_ITERS and lies in [0, outer_extent), and inner uses only them and lies in [base, base + inner_extent) for a base without
   iterators. The predicate divides into two conditions that together are the predicate. */
typedef struct {
    const Expr *outer, *outer_extent;
    const Expr *inner, *inner_extent;
} DividedBinding;
typedef struct {
    DividedBinding *bindings; /* one per binding */
    int count;
    const Expr *outer_predicate, *inner_predicate; /* constant true where there is none */
} SubspaceDivision;
/* False when the bindings do not divide so. */
bool iter_map_divide_subspace(Analyzer *an, const IterMapQuery *query, const Var *const *sub_iters, int sub_count,
                              SubspaceDivision *division);

/* The interval that VALUE's inner part fills while the ITERS, all of them inner, run. */
Range iter_map_filled_range(Analyzer *an, const DividedBinding *value, const VarRange *iters, int iter_count);

/* The inverse of a bijective map: for each input variable (Var * -> const Expr *, as subst_var takes it) its value in terms of OUTPUTS,
   one expression per sum. Outputs that the map does not reach give some value. */
Map iter_map_invert(Analyzer *an, const IterMapResult *map, const Expr *const *outputs);

#endif
