/* The answer to a question about a program that may have none. */
#ifndef TIRC_PASSES_ANALYSIS_ANSWER_H
#define TIRC_PASSES_ANALYSIS_ANSWER_H

#include <stdbool.h>

/* Shown, or refuted by a witness, or neither. What relies on an answer relies on ANSWER_SHOWN alone: unknown refuses. */
typedef enum { ANSWER_SHOWN, ANSWER_REFUTED, ANSWER_UNKNOWN } Verdict;
typedef struct {
    Verdict verdict;
    const char *text; /* refuted: the witness; unknown: what kept the proof from succeeding; in ctx->arena */
} Answer;

static inline Answer answer_shown(void)
{
    return (Answer){ANSWER_SHOWN, ""};
}
static inline Answer answer_refuted(const char *witness)
{
    return (Answer){ANSWER_REFUTED, witness};
}
static inline Answer answer_unknown(const char *reason)
{
    return (Answer){ANSWER_UNKNOWN, reason};
}
static inline bool answer_is_shown(Answer answer)
{
    return answer.verdict == ANSWER_SHOWN;
}

#endif
