/* See portfolio.h. */

#include <string.h>

#include "passes/analysis/prove/explain.h"
#include "passes/analysis/prove/portfolio.h"

typedef struct {
    const char *name;
    GoalKind goal; /* GOAL_COUNT: of a form */
    Answer (*function)(const Goal *goal);
} ArgumentRow;

static const ArgumentRow rows[] = {
#define X(symbol, name, goal, cost, function, argument) {name, GOAL_##goal, function},
#define FORM(symbol, name, cost, argument) {name, GOAL_COUNT, NULL},
#include "passes/analysis/prove/portfolio.def"
#undef FORM
#undef X
};

static const char *const goal_texts[] = {
#define X(symbol, text) text,
#include "passes/analysis/prove/goals.def"
#undef X
};

Answer prove(Goal goal)
{
    Answer answer = answer_unknown("no argument shows it");
    Argument by = ARGUMENT_COUNT;
    uint64_t before = goal.ctx->work;
    for (Argument i = 0; i < ARGUMENT_COUNT && answer.verdict == ANSWER_UNKNOWN; i++) {
        if (rows[i].goal != goal.kind || !argument_is_on(goal.ctx, i))
            continue;
        goal.ctx->work++;
        answer = rows[i].function(&goal);
        by = i;
    }
    explain_proved(goal.ctx, goal.kind, answer.verdict == ANSWER_UNKNOWN ? ARGUMENT_COUNT : by, answer.verdict, goal.ctx->work - before);
    return answer;
}

bool argument_is_on(const Context *ctx, Argument argument)
{
    return !(ctx->arguments_off & UINT64_C(1) << argument);
}

const char *argument_name(Argument argument)
{
    return argument < ARGUMENT_COUNT ? rows[argument].name : "none";
}

const char *goal_text(GoalKind kind)
{
    return goal_texts[kind];
}

Argument argument_find(const char *name)
{
    Argument i = 0;
    while (i < ARGUMENT_COUNT && strcmp(rows[i].name, name))
        i++;
    return i;
}
