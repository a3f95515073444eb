/* Recognizing reductions: which block updates commute, and how. */
#ifndef TIRC_PASSES_ANALYSIS_MODEL_REDUCTION_H
#define TIRC_PASSES_ANALYSIS_MODEL_REDUCTION_H

#include "ir/stmt.h"

typedef enum {
    REDUCE_SUM,
    REDUCE_DIFFERENCE, /* a sum of what is taken off: target = target - operand only */
    REDUCE_PRODUCT,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_BITWISE_AND,
    REDUCE_BITWISE_OR,
    REDUCE_BITWISE_XOR,
    REDUCE_ARG_MIN,
    REDUCE_ARG_MAX
} ReduceKind;
enum { MOST_REDUCED = 2 };

/* How a partial result is combined into a target. */
typedef struct {
    const Expr *value; /* of the update: the operator or choice that is used; NULL for argmin and argmax */
    bool widens;       /* the operator is of WIDE: target and partial result are cast to it, and the result back */
    DType wide;
} CombineForm;

/* target[indices] = combine(target[indices], operand), for one target, for two sums, or for the pair (index, value) of argmin and
   argmax. */
typedef struct {
    ReduceKind kind;
    bool breaks_ties; /* argmin and argmax: of equal values the index decides, whatever the order of the updates */
    int target_count;
    Buffer *targets[MOST_REDUCED];
    const Expr *const *indices[MOST_REDUCED];
    int index_counts[MOST_REDUCED];
    const Expr *operands[MOST_REDUCED]; /* what is combined in; for argmin and argmax: the index, then the value */
    CombineForm combines[MOST_REDUCED];
} Reduction;

/* The reduction that BLOCK's body is, or NULL when it is none that is known to commute. The init is not looked at. The body of a nest of
   loops and blocks (as blockize makes it) is recognized by its innermost block. */
const Reduction *reduction_recognize(Context *ctx, const BlockStmt *block);
/* BLOCK reduces nothing itself: what is reduced below it is up to the block inside, whose init it may be. */
bool reduction_is_inside(const BlockStmt *block);
/* True when BUFFER is a target of REDUCTION. */
bool reduction_owns(const Reduction *reduction, const Buffer *buffer);
/* False when BLOCK, whose body is REDUCTION, has an init that sets anything but the elements that the update combines into: then updates do
   not commute. Where the body is a nest the init is one of its own, which is not looked at. */
bool reduction_starts_targets(const Reduction *reduction, const BlockStmt *block);
/* TARGET, a read of the target at INDEX, combined with PARTIAL, a value of its type; not for argmin and argmax. */
const Expr *reduction_combine(Context *ctx, const Reduction *reduction, int index, const Expr *target, const Expr *partial);
/* The neutral element of KIND for values of TYPE: combining it in changes nothing. For argmin and argmax: that of the value. */
const Expr *reduction_identity(Context *ctx, ReduceKind kind, DType type);
/* A value that takes part in it several times counts as often: so an init that is not neutral may not be repeated. */
bool reduction_counts_repeats(ReduceKind kind);
/* What is added, or only taken off. */
bool reduction_is_sum(ReduceKind kind);
/* "sum", "min", ... */
const char *reduction_name(ReduceKind kind);

#endif
