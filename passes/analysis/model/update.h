/* Updates of a reduction: the forms that target = target op operand is written in. */
#ifndef TIRC_PASSES_ANALYSIS_MODEL_UPDATE_H
#define TIRC_PASSES_ANALYSIS_MODEL_UPDATE_H

#include "passes/analysis/model/reduction.h"

typedef struct {
    ReduceKind kind;
    const Expr *operand; /* what is combined in, of the target's type */
    /* how a partial result is combined into the target: the form of the update over target and UPDATE_PARTIAL in place of the operand */
    CombineForm combine;
} UpdateForm;

/* EXPR reads, whole, the element that STORE writes. */
bool update_is_target(const Expr *expr, const Stmt *store);

/* A choice between a target and another value, normalized to: the target where COMPARE(target, COMPARED) holds, else OPERAND. */
typedef struct {
    const Expr *operand, *compared;
    ExprKind compare; /* <, <=, > or >= */
    bool keeps;       /* as written, the target is chosen where the condition holds */
} UpdateChoice;

/* VALUE is Select or if_then_else. */
bool update_is_choice(const Expr *value);
/* VALUE, a choice, keeps the target of STORE or takes another value, by CONDITION: a comparison of the target of BY with a value. */
bool update_match_choice(const Expr *value, const Expr *condition, const Stmt *store, const Stmt *by, UpdateChoice *choice);

/* VALUE, which STORE stores, combines some operand into the target: one operation of a chain of one associative and commutative operation
   takes the target, whose order a step across a reduction may change; or a choice keeps the greater or the lesser of both. The operation may
   be of a wider type than the target, where rounding or wrapping to the target's type after each update does no harm to another order. The
   operand may still read the target. */
bool update_match(Context *ctx, const Expr *value, const Stmt *store, UpdateForm *form);

#endif
