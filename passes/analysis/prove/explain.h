/* A record of what was asked, who answered, and at what cost: for --explain. Nothing is kept unless explain_start was called. */
#ifndef TIRC_PASSES_ANALYSIS_PROVE_EXPLAIN_H
#define TIRC_PASSES_ANALYSIS_PROVE_EXPLAIN_H

#include "passes/analysis/prove/answer.h"
#include "passes/analysis/prove/goal.h"
#include "support/context.h"

/* The questions that are asked of a program or a step. */
typedef enum {
#define X(name, text) QUERY_##name,
#include "passes/analysis/prove/queries.def"
#undef X
    QUERY_COUNT
} Query;
const char *query_text(Query query);

/* How often an argument decided a goal for one query; BY is ARGUMENT_COUNT where none did. */
typedef struct {
    GoalKind goal;
    Argument by;
    Verdict verdict;
    int count;
    uint64_t work;
} ProvedGoal;

typedef struct ExplainedQuery {
    Query query;
    int depth; /* of queries that were asked to answer this one: one more */
    const char *subject; /* "loop 'i'" */
    Verdict verdict;
    const char *text;  /* the witness or the reason */
    uint64_t work;     /* operations, those of the queries inside included */
    VEC(ProvedGoal) goals;
} ExplainedQuery;

typedef struct Explanation {
    VEC(ExplainedQuery) queries; /* in the order in which they were asked */
    int open[16], depth;
} Explanation;

void explain_start(Context *ctx);
/* What was recorded since the last call; forgets it. NULL unless explain_start was called. In ctx->base_arena. */
const Explanation *explain_take(Context *ctx);

/* A query that is being answered. */
typedef struct {
    Context *ctx;
    int index; /* -1: it is not recorded */
    uint64_t work;
} Asking;
/* Begins QUERY about SUBJECT: a KIND ("loop", "block", "buffer") and its name. */
Asking query_begin(Context *ctx, Query query, const char *kind, const char *name);
/* Ends it; ANSWER. */
Answer query_end(Asking asking, Answer answer);

/* Records that an argument decided a goal. */
void explain_proved(Context *ctx, GoalKind goal, Argument by, Verdict verdict, uint64_t work);

#endif
