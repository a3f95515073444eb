/* What the files of the analyzer share; not for users of it. */
#ifndef TIRC_PASSES_ARITH_INTERNAL_H
#define TIRC_PASSES_ARITH_INTERNAL_H

#include "passes/arith/analyzer.h"

/* How two values compare, as far as is known: a set of the three possible orders. */
typedef enum { ORDER_NONE = 0, ORDER_EQ = 1, ORDER_LT = 2, ORDER_LE = 3, ORDER_GT = 4, ORDER_GE = 5, ORDER_NE = 6, ORDER_ANY = 7 } Order;

/* Everything bound to one variable. */
typedef struct {
    IntBound bound;
    ModularSet modular;
    const Expr *value;    /* replaces the variable; NULL when it stands for itself */
    const Expr *min, *max; /* the symbolic interval, for symbolic proofs; NULL where unbounded */
} VarFact;

/* An assumed bound of an expression. */
typedef struct {
    const Expr *expr;
    IntBound bound;
} BoundFact;

/* An assumed or bound relation: lhs is in ORDER to rhs + offset. */
typedef struct {
    const Expr *lhs, *rhs; /* rhs NULL: zero */
    int64_t offset;
    Order order;     /* LE, GE, EQ or NE; ANY: withdrawn */
    const Var *bound; /* the variable whose binding it comes from; NULL for an assumption */
} Comparison;

/* A condition assumed true, simplified, and its negation. */
typedef struct {
    const Expr *truth, *negation;
} Literal;

/* A variable's congruence as it was before an assumption narrowed it. */
typedef struct {
    VarFact *fact;
    ModularSet before;
} ModularUndo;

/* What was found out about an expression under the facts of one epoch. */
typedef struct {
    const Expr *expr;
    uint32_t epoch;
    bool has_bound, has_modular;
    IntBound bound;
    ModularSet modular;
    const Expr *rewritten, *canonical; /* NULL: not known yet */
    uint32_t assumed_bounds, assumed;  /* the epochs that follow when it is assumed: its bounds only, and whole; 0: not assumed yet */
} Memo;

/* One of the two simplifiers. They differ in how sums, products and divisions are treated; see simplify.h. */
typedef struct {
    Analyzer *an;
    bool canonical;
    int rewrite_depth; /* nesting of rules that ask for another visit of their result */
    int cut_count;     /* how often a depth or work limit cut a visit short: results found meanwhile are not remembered */
} Simplifier;

struct Analyzer {
    Context *ctx;
    Arena *arena;
    Map vars; /* const Var * -> VarFact * */
    VEC(BoundFact) bounds;
    VEC(Literal) literals;
    VEC(Comparison) comparisons;
    VEC(ModularUndo) moduli;
    Memo *memos; /* open addressing; a free slot has no expr */
    int memo_count, memo_capacity;
    int binding_count;         /* how many bindings were made so far */
    uint64_t seen;             /* symbol_bit of each variable in what is remembered, questions and answers */
    uint32_t epoch, last_epoch; /* changes with every fact: what was remembered under other facts is not used */
    Simplifier rewrite, canonical;
    int nesting;  /* depth of the recursion over expressions */
    int64_t work; /* visits left to the outermost question being answered; see analyzer_begin_work */
};

/* Limits that keep every question bounded; beyond them an expression is left as it is and a proof fails. Both count operations, so
   results do not depend on time. */
enum { WORK_LIMIT = 100000, NESTING_LIMIT = 2000, REWRITE_DEPTH_LIMIT = 5 };

/* True for int32 and int64 scalars, whose arithmetic is taken not to overflow. */
static inline bool is_index_type(DType t)
{
    return t.code == DT_INT && t.lanes == 1 && (t.bits == 32 || t.bits == 64);
}

/* The memo of EXPR under the present facts, made when missing. The pointer holds until the next call. */
Memo *analyzer_memo(Analyzer *an, const Expr *expr);
/* Counts one visit and the nesting; false when a limit is reached. Each success is paired with analyzer_end_visit. */
bool analyzer_begin_visit(Analyzer *an);
void analyzer_end_visit(Analyzer *an);
/* The facts of VAR, or NULL; made when missing. */
VarFact *analyzer_find_var(const Analyzer *an, const Var *var);
VarFact *analyzer_make_var(Analyzer *an, const Var *var);

/* --- bound.c --- */
/* Sum that saturates; an infinite operand decides. */
int64_t bound_add(int64_t a, int64_t b);
IntBound bound_of_type(DType dtype);
IntBound bound_intersect(IntBound a, IntBound b);
/* Adds what CONDITION says about bounds of expressions to an->bounds. */
void bound_assume(Analyzer *an, const Expr *condition);

/* --- modular.c --- */
static inline ModularSet modular_everything(void)
{
    return (ModularSet){1, 0};
}
void modular_assume(Analyzer *an, const Expr *condition);

/* --- comparisons.c --- */
void comparisons_assume(Analyzer *an, const Expr *condition);
/* Replaces what the binding of VAR said before. */
void comparisons_bind_range(Analyzer *an, const Var *var, Range range);
void comparisons_unbind(Analyzer *an, const Var *var);
/* What the recorded comparisons say of A against B directly. */
Order comparisons_find(Analyzer *an, const Expr *a, const Expr *b);
static inline Order order_reverse(Order order)
{
    return (Order)((order & ORDER_EQ) | (order & ORDER_LT ? ORDER_GT : 0) | (order & ORDER_GT ? ORDER_LT : 0));
}

/* Calls VISIT for every condition that CONDITION implies as one of its conjuncts (negations pushed inward). WHOLE: for compound ones
   too. */
typedef void (*ConjunctVisitor)(Analyzer *an, const Expr *conjunct);
void each_conjunct(Analyzer *an, const Expr *condition, ConjunctVisitor visit);
/* NOT CONDITION with the negation pushed inward through and, or, not and comparisons. */
const Expr *negate_condition(Context *ctx, const Expr *condition);

#endif
