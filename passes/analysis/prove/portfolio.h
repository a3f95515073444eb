/* The arguments that prove something about a program, as a table (portfolio.def), and the one place that asks them. */
#ifndef TIRC_PASSES_ANALYSIS_PROVE_PORTFOLIO_H
#define TIRC_PASSES_ANALYSIS_PROVE_PORTFOLIO_H

#include "ir/stmt.h"
#include "passes/analysis/prove/answer.h"
#include "passes/analysis/prove/goal.h"

/* One thing to be proved. Which members count is said beside them; the others are not looked at. */
typedef struct {
    GoalKind kind;
    Context *ctx;
    const Map *sizes; /* variables known to be >= 0 */
    /* APART: in the common loop number LEVEL of PAIR, the outer ones agreeing. AGREES: VALUE, seen from either access */
    const struct Pair *pair;
    int level;
    const Expr *value;
    /* COVERED: WRITES[0]; COVERED_TOGETHER: all of WRITES. COMMON, of COVERED: the number of loops that both share */
    const struct Access *const *writes, *read;
    int write_count, common;
    const struct Frame *place; /* COVERED_TOGETHER: the loops around it are those that are shared; NULL: all that a write shares with the read */
    /* ALL_RUN: BLOCK, whose body is at FRAME. RUN_AMONG: each instance of OTHER, at OTHER_FRAME of another program, is one of BLOCK at FRAME */
    const BlockStmt *block, *other;
    const struct Frame *frame, *other_frame;
    const struct OrderGoal *order; /* ORDERED; see reordered.c */
    struct AffineSpace *space;     /* EMPTY */
} Goal;

/* Asks the arguments for GOAL in the order of the table, until one shows or refutes it. */
Answer prove(Goal goal);

/* The functions of the rows. Each leaves GOAL as it is, and refutes it only with a witness. */
#define X(symbol, name, goal, cost, function, argument) Answer function(const Goal *goal);
#define FORM(symbol, name, cost, argument)
#include "passes/analysis/prove/portfolio.def"
#undef FORM
#undef X

/* The argument may be used: no test has turned it off. What uses a form asks here. */
bool argument_is_on(const Context *ctx, Argument argument);
const char *argument_name(Argument argument);
const char *goal_text(GoalKind kind);
/* The row of that name, or ARGUMENT_COUNT. */
Argument argument_find(const char *name);

#endif
