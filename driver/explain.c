/* --explain: for each step of a schedule the questions of legality that it asked, and for each of them the goals that were proved for it: by
   which row of the portfolio, how often, at what cost.

     # mm.sched:2: sch.parallel(i)
     the iterations are independent, loop 'i': shown, 214 operations
         different iterations of a loop touch different elements: by linear 3 times, 60 operations

   Costs count operations, so that they are the same on every machine: expressions made, questions asked, parts of sets looked at. */
#include "passes/analysis/prove/explain.h"

#include "driver/driver.h"
#include "passes/analysis/prove/portfolio.h"
#include "support/strbuf.h"

static void print_goal(FILE *out, const ProvedGoal *goal, int indent)
{
    fprintf(out, "%*s%s: ", indent + 4, "", goal_text(goal->goal));
    if (goal->by == ARGUMENT_COUNT)
        fprintf(out, "not decided");
    else
        fprintf(out, "%sby %s", goal->verdict == ANSWER_REFUTED ? "refuted " : "", argument_name(goal->by));
    fprintf(out, " %d time%s, %llu operations\n", goal->count, goal->count == 1 ? "" : "s", (unsigned long long)goal->work);
}

static void print_query(FILE *out, const ExplainedQuery *query)
{
    int indent = 4 * query->depth;
    fprintf(out, "%*s%s, %s: %s, %llu operations\n", indent, "", query_text(query->query), query->subject, verdict_name(query->verdict),
            (unsigned long long)query->work);
    if (*query->text)
        fprintf(out, "%*s%s: %s\n", indent + 4, "", query->verdict == ANSWER_REFUTED ? "witness" : "reason", query->text);
    for (int i = 0; i < query->goals.count; i++)
        print_goal(out, &query->goals.data[i], indent);
}

static void add_json_goal(StrBuf *text, const ProvedGoal *goal)
{
    strbuf_add(text, "{\"goal\":");
    strbuf_add_json(text, goal_text(goal->goal));
    strbuf_add(text, ",\"by\":");
    strbuf_add_json(text, argument_name(goal->by));
    strbuf_printf(text, ",\"answer\":\"%s\",\"times\":%d,\"operations\":%llu}", verdict_name(goal->verdict), goal->count,
                  (unsigned long long)goal->work);
}

static void add_json_query(StrBuf *text, const ExplainedQuery *query)
{
    strbuf_add(text, "{\"question\":");
    strbuf_add_json(text, query_text(query->query));
    strbuf_add(text, ",\"subject\":");
    strbuf_add_json(text, query->subject);
    strbuf_printf(text, ",\"depth\":%d,\"answer\":\"%s\",\"text\":", query->depth, verdict_name(query->verdict));
    strbuf_add_json(text, query->text);
    strbuf_printf(text, ",\"operations\":%llu,\"goals\":[", (unsigned long long)query->work);
    for (int i = 0; i < query->goals.count; i++) {
        strbuf_add(text, i ? "," : "");
        add_json_goal(text, &query->goals.data[i]);
    }
    strbuf_add(text, "]}");
}

/* One object on a line: {"at": PLACE, "accepted": ..., "questions": [...]}. */
static void print_json(Driver *driver, const char *at, bool ok, const Explanation *asked)
{
    StrBuf text = {.arena = driver->ctx->arena};
    strbuf_add(&text, "{\"at\":");
    strbuf_add_json(&text, at);
    strbuf_printf(&text, ",\"accepted\":%s,\"questions\":[", ok ? "true" : "false");
    for (int i = 0; i < asked->queries.count; i++) {
        strbuf_add(&text, i ? "," : "");
        add_json_query(&text, &asked->queries.data[i]);
    }
    fprintf(driver->out, "%s]}\n", strbuf_text(&text));
}

static void print_queries(Driver *driver, const Explanation *asked)
{
    for (int i = 0; i < asked->queries.count; i++)
        print_query(driver->out, &asked->queries.data[i]);
    fputs(asked->queries.count ? "\n" : "nothing was asked\n\n", driver->out);
}

void explain_view_after(void *data, Span call, bool ok)
{
    Driver *driver = ((StepView *)data)->driver;
    const Explanation *asked = explain_take(driver->ctx);
    Place place;
    if (!asked || !source_place(driver->ctx->sources, call, &place))
        return;
    if (driver->options.explain == EXPLAIN_JSON) {
        print_json(driver, arena_printf(driver->ctx->arena, "%s:%d", place.file->name, place.line), ok, asked);
        return;
    }
    step_print_heading(driver, call, driver_uses_color(driver->out));
    fputs(ok ? "" : "(refused)\n", driver->out);
    print_queries(driver, asked);
}

void explain_print_rest(Driver *driver, const char *what)
{
    const Explanation *asked = explain_take(driver->ctx);
    if (!asked || !asked->queries.count)
        return;
    if (driver->options.explain == EXPLAIN_JSON) {
        print_json(driver, what, true, asked);
        return;
    }
    fprintf(driver->out, "# %s\n", what);
    print_queries(driver, asked);
}
