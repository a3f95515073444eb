/* What the files of the iterator-map analysis share; not for users of it.

   A map is found in these steps: the predicate is read as bounds on sums of iterators (iter_predicate.c), which become marks of their
   own; each binding is rewritten bottom-up into sums of splits (iter_rewrite.c), where division needs its dividend fused into one mark
   (iter_fuse.c) and maybe padded (iter_pad.c); at the end the splits of every mark are checked to cover it (iter_check.c). */
#ifndef TIRC_PASSES_ARITH_ITER_INTERNAL_H
#define TIRC_PASSES_ARITH_ITER_INTERNAL_H

#include "passes/arith/iter_map.h"

/* An expression under rewriting: without iterators, one split, or a sum. */
typedef enum { ITER_PLAIN, ITER_SPLIT, ITER_SUM } IterForm;
typedef struct {
    IterForm form;
    const Expr *expr;
    IterSplit split;
    IterSum sum;
} IterValue;

/* A fused mark: FLAT are the splits it stands for, innermost scale 1, STRUCTURED the same with constrained groups as marks. The fused
   value is mark + offset (a predicate may bound a sum from below). */
typedef struct {
    IterSum flat, structured;
    const IterMark *mark;
    const Expr *offset;
} FusedSum;

/* Padding of one mark, so that divisions of it come out even. Collected in a first pass; the padded mark is made at its first use in
   the second. */
typedef struct {
    const IterMark *mark;
    const Expr *factor;   /* the padded extent is to be a multiple of this */
    const Expr *left_pad; /* added below */
    const IterMark *padded;
} IterPadding;

/* LOWER <= iter < UPPER; either may be NULL. */
typedef struct {
    const Expr *iter, *lower, *upper;
    const Expr *condition; /* as it is in the predicate */
    int size;              /* nodes of iter: smaller constraints come first, as larger ones may contain them */
    int constrained;       /* once applied: its sum in IterRewriter.constrained; -1 when it holds trivial iterators only */
} IterConstraint;

/* A predicate taken apart. A bound of a single variable narrows its range; then the comparison itself is kept, as one without variables
   is: a division must not lose them. */
typedef struct {
    VEC(IterConstraint) sums; /* smaller ones first */
    ExprList narrowings;
} IterConstraints;

typedef struct {
    Analyzer *an;
    Context *ctx;
    IterMapLevel level;
    Map inputs; /* const Var * -> IterValue * */
    VEC(const IterMark *) input_marks;
    VEC(FusedSum) fused;
    VEC(IterSum) constrained; /* flat forms of the sums that predicates bound, smaller ones first */
    VEC(IterPadding) paddings;
    IterConstraints constraints;
    bool collecting_padding, requires_padding;
    const Expr *padding_predicate;
    const char *error; /* the first failure */
} IterRewriter;

/* --- Small helpers (iter_rewrite.c) --- */
void iter_fail(IterRewriter *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* DIVIDEND without the factors of DIVISOR, symbols among them, as in n * (m + 2) * 2 by (m + 2) * 2; NULL where it lacks one of them. */
const Expr *iter_exact_quotient(Context *ctx, const Expr *dividend, const Expr *divisor);
/* As analyzer_prove_equal, and for products written in different ways, as (h + 2) * 4 * (u + 2) and (h * 4 + 8) * (u + 2). */
bool iter_prove_equal(Analyzer *an, const Expr *a, const Expr *b);
bool iter_prove_divisible(Analyzer *an, const Expr *dividend, const Expr *divisor);
bool iter_split_equal(const IterSplit *a, const IterSplit *b, bool compare_scale);
const IterMark *iter_mark_new(Context *ctx, const Expr *input, const IterSum *sum, const Expr *extent);
/* The variable of INPUT, the input of a mark: that is the variable, or variable - start where its range does not start at 0. */
static inline const Var *iter_input_var(const Expr *input)
{
    return (input->kind == EXPR_SUB ? input->args[0] : input)->value.var;
}
/* The whole of MARK, scaled. */
IterSplit iter_split_whole(Context *ctx, const IterMark *mark, const Expr *scale);
IterSum iter_sum_of_split(Context *ctx, IterSplit split, const Expr *base);
IterSum iter_sum_of_base(const Expr *base);
IterSum iter_sum_new(Context *ctx, const IterSplit *args, int count, const Expr *base);
const Expr *expr_zero_like(Context *ctx, const Expr *expr);
const Expr *expr_one_like(Context *ctx, const Expr *expr);

/* EXPR over the inputs as a normalized sum of at most one split, when FUSE; after a failure r->error is set and the result is of no use. */
IterSum iter_rewrite(IterRewriter *r, const Expr *expr, bool fuse);
void iter_rewriter_init(IterRewriter *r, Analyzer *an, const VarRange *iters, int count, IterMapLevel level, bool simplify_trivial);

/* --- iter_fuse.c --- */
/* SUM as a single split of a fused mark plus a base: *SUM is replaced. False when its splits do not fuse. EARLY: a sum that combines to
   one split is left at that. */
bool iter_fuse(IterRewriter *r, IterSum *sum, bool early);
FusedSum *iter_find_fused(IterRewriter *r, const IterSum *flat);

/* --- iter_predicate.c --- */
/* Reads PREDICATE: bounds of single variables narrow ITERS, the others are applied to R after iter_rewriter_init. False when it is no
   conjunction of comparisons. */
bool iter_match_predicate(Context *ctx, const Expr *predicate, VarRange *iters, int count, IterConstraints *constraints);
/* False (r->error set) when a constraint cannot be used, or when two of them overlap without one holding the other. */
bool iter_apply_constraints(IterRewriter *r);

/* --- iter_map.c --- */
/* Detection that leaves R behind for questions about how the map came about. */
bool iter_detect(IterRewriter *r, Analyzer *an, const IterMapQuery *query, IterMapResult *result);

/* --- iter_pad.c --- */
IterValue iter_divide_split(IterRewriter *r, IterSplit split, const Expr *base, const Expr *divisor);
IterValue iter_modulo_split(IterRewriter *r, IterSplit split, const Expr *base, const Expr *divisor);
const IterPadding *iter_padding_of(const IterRewriter *r, const IterMark *padded);

/* --- iter_check.c --- */
/* The marks that a map uses, in the order of first meeting, with their splits (each once). */
typedef struct {
    const IterMark *mark;
    VEC(IterSplit) splits;
} MarkSplits;
typedef struct {
    VEC(MarkSplits) marks;
} SplitCollection;
void iter_collect_splits(Context *ctx, const IterSum *const *sums, int count, SplitCollection *collection);
bool iter_check_mapping(IterRewriter *r, const IterSum *const *sums, int count);
/* What the predicate bounds together is used together: then the values under it form a box. */
bool iter_check_constraints(IterRewriter *r, const IterSum *const *sums, int count);
bool iter_is_collected(const SplitCollection *collection, const IterMark *mark);
/* The mark of the sum that CONSTRAINT bounds; NULL for trivial iterators. */
const IterMark *iter_constrained_mark(IterRewriter *r, const IterConstraint *constraint);

#endif
