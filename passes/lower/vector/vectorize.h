/* Shared by the files of the pass "vectorize". */
#ifndef TIRC_PASSES_LOWER_VECTOR_VECTORIZE_H
#define TIRC_PASSES_LOWER_VECTOR_VECTORIZE_H

#include "passes/lower/core/state.h"

/* Memory of which each element may be read at any time: it holds a value. */
typedef struct {
    const Expr *extent; /* in elements */
    DType dtype;
} ReadableMemory;

/* The loop that becomes vectors: lane i stands for the iteration min + i. */
typedef struct {
    Context *ctx;
    Var *var;
    const Expr *min;
    int lanes;
    const Expr *mask; /* the lanes for which what is being turned runs at all, a bool vector; NULL: all */
    bool first_runs;  /* the first lane is certainly one of them */
    Analyzer *an;     /* knows the loops, this one among them */
    const Map *sizes; /* data Var of a parameter that is only read, or of memory of constant size that is filled before it is read -> ReadableMemory * */
    Map lets;         /* Var of a let that varies over the lanes -> its vector Var */
} Lanes;

/* EXPR for all lanes: a vector of lanes->lanes, or a scalar where all lanes have the same value. Under a mask nothing is evaluated for
   other lanes that could fail. */
const Expr *lanes_expr(Lanes *lanes, const Expr *expr);
/* EXPR, a scalar or a vector of lanes->lanes, as a vector. */
const Expr *lanes_spread(const Lanes *lanes, const Expr *expr);
/* CONDITION, of the program and so a scalar, certainly holds for the first lane. */
bool lanes_first_holds(const Lanes *lanes, const Expr *condition);
/* MASK and the bool vector (or scalar) CONDITION, or its opposite. */
const Expr *lanes_mask_with(const Lanes *lanes, const Expr *condition, bool negated);

/* NULL when the body of LOOP has a form that can be turned into vectors of its lanes, else what stands against it. *CALL: a call with
   effects that is in the way, else NULL. */
const char *vectorize_obstacle(Context *ctx, const ForStmt *loop, const Expr **call);

#endif
