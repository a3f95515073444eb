/* Random sequences of the passes that people look at (--pass); see fuzz.h. Half of them are the order that lowers a program, with passes left out,
   so that the forms that a pass needs come up; the others are in any order. */
#include "fuzz.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "passes/transform/transform.h"
#include "print/print.h"
#include "verify/equal.h"

enum { MOST_PASSES = 12 };

static bool wrong(Trial *trial, const char *passes, const char *what, const char *text)
{
    trial->failure = arena_printf(trial->ctx->arena, "after --pass %s %s%s%s", passes, what, text ? ": " : "", text ? text : "");
    return false;
}

static bool reads_back(Trial *trial, const Module *module, const char *passes)
{
    Context *ctx = trial->ctx;
    const char *why, *printed = print_module(ctx, module);
    const Module *again = complete_module(ctx, parse_module_text(ctx, "printed", printed, strlen(printed)));
    if (!again)
        return wrong(trial, passes, "the print does not read back", diag_first_error(ctx, (DiagMark){0, 0}));
    if (!module_equal(ctx, module, again, &why))
        return wrong(trial, passes, "the print is another program", why);
    return !strcmp(printed, print_module(ctx, again)) || wrong(trial, passes, "the second print differs", NULL);
}

/* *MODULE and *PASSES, those that it went through, after the pass at INDEX too, which may refuse. */
static bool one_pass(Trial *trial, const Module **module, const char **passes, int index)
{
    int count;
    Context *ctx = trial->ctx;
    const char *name = transforms(&count)[index].name, *all = arena_printf(ctx->arena, "%s%s%s", *passes, **passes ? "," : "", name);
    DiagMark mark = diag_mark(ctx);
    const Module *after = transform_module(ctx, *module, index, true);
    if (!after) {
        const char *message = diag_first_error(ctx, mark);
        if (!message || !*message)
            return wrong(trial, all, "there is a refusal without a message", NULL);
        diag_rollback(ctx, mark);
        return true;
    }
    diag_rollback(ctx, mark);
    *module = after;
    *passes = all;
    return reads_back(trial, after, all) && trial_interpreted(trial, after, arena_printf(ctx->arena, "after --pass %s", all));
}

bool trial_passes(Trial *trial, uint64_t seed)
{
    int count, made = 0;
    transforms(&count);
    Random random = {seed * 7919 + 17};
    const Module *module = trial->current;
    const char *passes = "";
    bool in_order = random_chance(&random, 50), ok = true;
    for (int i = 0; i < count && in_order && ok; i++)
        ok = !random_chance(&random, 85) || one_pass(trial, &module, &passes, i);
    for (int wanted = 1 + random_below(&random, MOST_PASSES); !in_order && ok && made < wanted; made++)
        ok = one_pass(trial, &module, &passes, random_below(&random, count));
    return ok;
}
