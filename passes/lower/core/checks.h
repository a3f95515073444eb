/* Conditions on numbers that are only known when the program runs, as asserts in front of the code that relies on them. */
#ifndef TIRC_PASSES_LOWER_CORE_CHECKS_H
#define TIRC_PASSES_LOWER_CORE_CHECKS_H

#include "passes/lower/core/state.h"

typedef struct {
    Context *ctx;
    VEC(const Stmt *) asserts; /* without bodies, in the order in which they run */
} CheckList;

/* Unless CONDITION is true for certain, an assert of it with MESSAGE. */
void checks_require(CheckList *checks, const Expr *condition, const char *message, Span span);
/* EXPR in int64, which is its value as of integers without bounds: asserts with MESSAGE see to it that no step of it leaves 64 bits. */
const Expr *checks_exact(CheckList *checks, const Expr *expr, const char *message, Span span);
/* Asserts that the elements of BUFFER are distinct cells, where its declaration does not tell (see ir/elements.h). */
void checks_distinct_elements(CheckList *checks, const Buffer *buffer);
/* BODY with the asserts around it. */
const Stmt *checks_around(const CheckList *checks, const Stmt *body);

/* An access to BUFFER, whose rows do not follow on one another, is a vector that leaves its row. */
void report_lanes_beyond_rows(Context *ctx, const Buffer *buffer, Span span);

#endif
