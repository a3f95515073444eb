/* The simplifiers: bottom-up visits that rebuild each node with simplified operands and then apply the rules of its kind.

   The rewrite simplifier applies the rule tables everywhere. The canonical one treats index sums, products and divisions as linear
   forms (linear.h) and uses the tables for the other kinds. Both share this interface; the functions of a family get the node with its
   operands already simplified and return the result, which may be the node itself. */
#ifndef TIRC_PASSES_ARITH_SIMPLIFY_H
#define TIRC_PASSES_ARITH_SIMPLIFY_H

#include "passes/arith/internal.h"

/* EXPR simplified by S: remembered where nothing cut the visit short. */
const Expr *simplify_visit(Simplifier *s, const Expr *expr);
/* EXPR, the result of a rule, simplified once more; as it is when rules nest too deeply. */
const Expr *simplify_again(Simplifier *s, const Expr *expr);
/* Rules for a node whose operands are simplified. */
const Expr *simplify_node(Simplifier *s, const Expr *expr);

/* How EXPR compares with VALUE, and A with B, by simplifying (the difference) and its bounds; in the second case known relations too. */
Order simplify_compare_to(Simplifier *s, const Expr *expr, int64_t value);
Order simplify_compare(Simplifier *s, const Expr *a, const Expr *b);

/* --- Families: simplify_add.c, simplify_mul.c, simplify_floor.c, simplify_trunc.c, simplify_minmax.c, simplify_compare.c,
   simplify_logic.c, simplify_vector.c --- */
const Expr *simplify_add(Simplifier *s, const Expr *expr);
const Expr *simplify_sub(Simplifier *s, const Expr *expr);
const Expr *simplify_mul(Simplifier *s, const Expr *expr);
const Expr *simplify_truncdiv(Simplifier *s, const Expr *expr);
const Expr *simplify_truncmod(Simplifier *s, const Expr *expr);
const Expr *simplify_floordiv(Simplifier *s, const Expr *expr);
const Expr *simplify_floormod(Simplifier *s, const Expr *expr);
const Expr *simplify_min(Simplifier *s, const Expr *expr);
const Expr *simplify_max(Simplifier *s, const Expr *expr);
const Expr *simplify_equal(Simplifier *s, const Expr *expr);
const Expr *simplify_not_equal(Simplifier *s, const Expr *expr);
const Expr *simplify_less(Simplifier *s, const Expr *expr);
const Expr *simplify_less_equal(Simplifier *s, const Expr *expr);
const Expr *simplify_not(Simplifier *s, const Expr *expr);
const Expr *simplify_and(Simplifier *s, const Expr *expr);
const Expr *simplify_or(Simplifier *s, const Expr *expr);
const Expr *simplify_select(Simplifier *s, const Expr *expr);
const Expr *simplify_call(Simplifier *s, const Expr *expr);
/* Vector operands: broadcasts and ramps move outward. NULL when nothing applies. */
const Expr *simplify_vector(Simplifier *s, const Expr *expr);
/* The truth of the bool EXPR when it, or its negation, is assumed; else NULL. */
const Expr *simplify_by_literal(Simplifier *s, const Expr *expr);

#endif
