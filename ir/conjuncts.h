/* A condition as those that it joins: a and b; not (a or b); T.likely of one; a variable that a let of no memory binds to one.

     c: T.bool = i < 5 and k < 3
     if T.likely(c): ...               holds where i < 5 and where k < 3

   The parts come in the order in which they are evaluated: a later one may be defined only where those before it hold. */
#ifndef TIRC_IR_CONJUNCTS_H
#define TIRC_IR_CONJUNCTS_H

#include "ir/expr.h"

/* EXPR, or with NEGATED its opposite. */
typedef struct {
    const Expr *expr;
    bool negated;
} Conjunct;
typedef VEC(Conjunct) ConjunctList;

/* The value of the let around the condition that binds VAR; NULL where VAR is no such variable. */
typedef const Expr *LetValue(const void *data, const Var *var);

/* Appends the parts of CONDITION, or with NEGATED of its opposite, to *LIST; the constant true has none. LET_VALUE gets DATA. */
void conjuncts_add(Arena *arena, const Expr *condition, bool negated, LetValue *let_value, const void *data, ConjunctList *list);
/* PART as one expression. */
const Expr *conjunct_expr(Context *ctx, Conjunct part);

#endif
