/* The goals that arguments prove, and the arguments: rows of goals.def and portfolio.def. */
#ifndef TIRC_PASSES_ANALYSIS_PROVE_GOAL_H
#define TIRC_PASSES_ANALYSIS_PROVE_GOAL_H

typedef enum {
#define X(symbol, text) GOAL_##symbol,
#include "passes/analysis/prove/goals.def"
#undef X
    GOAL_COUNT
} GoalKind;

typedef enum {
#define X(symbol, name, goal, cost, function, argument) ARGUMENT_##symbol,
#define FORM(symbol, name, cost, argument) ARGUMENT_##symbol,
#include "passes/analysis/prove/portfolio.def"
#undef FORM
#undef X
    ARGUMENT_COUNT
} Argument;

#endif
