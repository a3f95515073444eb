/* The answer to a question about a program. */
#ifndef TIRC_PASSES_ANALYSIS_PROVE_ANSWER_H
#define TIRC_PASSES_ANALYSIS_PROVE_ANSWER_H

#include <stdbool.h>

struct Access;

/* Shown, or refuted by a witness, or neither. What relies on an answer relies on ANSWER_SHOWN alone: unknown refuses. */
typedef enum { ANSWER_SHOWN, ANSWER_REFUTED, ANSWER_UNKNOWN } Verdict;
typedef struct {
    Verdict verdict;
    const char *text; /* refuted: the witness; unknown: what kept the proof from succeeding; in ctx->arena */
    const struct Access *first, *second; /* the accesses that it is about; NULL: none, or one */
} Answer;

static inline Answer answer_shown(void)
{
    return (Answer){.verdict = ANSWER_SHOWN, .text = ""};
}
static inline Answer answer_refuted(const char *witness)
{
    return (Answer){.verdict = ANSWER_REFUTED, .text = witness};
}
static inline Answer answer_unknown(const char *reason)
{
    return (Answer){.verdict = ANSWER_UNKNOWN, .text = reason};
}
/* Shown where PROVED; else unknown, with a reason for developers: what asks says more to users. */
static inline Answer answer_if(bool proved)
{
    return proved ? answer_shown() : answer_unknown("not shown");
}
static inline bool answer_is_shown(Answer answer)
{
    return answer.verdict == ANSWER_SHOWN;
}
/* "shown", "refuted" or "unknown". */
static inline const char *verdict_name(Verdict verdict)
{
    return verdict == ANSWER_SHOWN ? "shown" : verdict == ANSWER_REFUTED ? "refuted" : "unknown";
}

#endif
