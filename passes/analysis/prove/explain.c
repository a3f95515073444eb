/* See explain.h. */

#include <string.h>

#include "passes/analysis/prove/explain.h"

static const char *const query_texts[] = {
#define X(name, text) text,
#include "passes/analysis/prove/queries.def"
#undef X
};

const char *query_text(Query query)
{
    return query_texts[query];
}

void explain_start(Context *ctx)
{
    if (!ctx->explanation)
        ctx->explanation = ARENA_NEW(ctx->base_arena, Explanation);
}

const Explanation *explain_take(Context *ctx)
{
    const Explanation *taken = ctx->explanation;
    if (taken)
        ctx->explanation = ARENA_NEW(ctx->base_arena, Explanation);
    return taken;
}

enum { DEEPEST_QUERY = sizeof((Explanation *)NULL)->open / sizeof(int) };

Asking query_begin(Context *ctx, Query query, const char *kind, const char *name)
{
    Explanation *all = ctx->explanation;
    if (!all || all->depth == DEEPEST_QUERY)
        return (Asking){ctx, -1, ctx->work};
    ExplainedQuery entry = {.query = query, .depth = all->depth, .subject = arena_printf(ctx->base_arena, "%s '%s'", kind, name)};
    all->open[all->depth++] = all->queries.count;
    vec_push(ctx->base_arena, &all->queries, entry);
    return (Asking){ctx, all->queries.count - 1, ctx->work};
}

Answer query_end(Asking asking, Answer answer)
{
    if (asking.index < 0)
        return answer;
    Context *ctx = asking.ctx;
    ExplainedQuery *entry = &ctx->explanation->queries.data[asking.index];
    entry->verdict = answer.verdict;
    entry->text = arena_strndup(ctx->base_arena, answer.text, strlen(answer.text));
    entry->work = ctx->work - asking.work;
    ctx->explanation->depth--;
    return answer;
}

void explain_proved(Context *ctx, GoalKind goal, Argument by, Verdict verdict, uint64_t work)
{
    Explanation *all = ctx->explanation;
    if (!all || !all->depth)
        return;
    ExplainedQuery *entry = &all->queries.data[all->open[all->depth - 1]];
    for (int i = 0; i < entry->goals.count; i++) {
        ProvedGoal *known = &entry->goals.data[i];
        if (known->goal == goal && known->by == by && known->verdict == verdict) {
            known->count++;
            known->work += work;
            return;
        }
    }
    vec_push(ctx->base_arena, &entry->goals, ((ProvedGoal){goal, by, verdict, 1, work}));
}
