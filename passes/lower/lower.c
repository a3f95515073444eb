/* Runs the passes of passes.def in order. See lower.h. */
#include "passes/lower/lower.h"

#include <string.h>
#include <time.h>

#include "passes/lower/core/state.h"
#include "passes/regions/complete.h"
#include "support/bug.h"

static const LowerPass passes[] = {
#define X(name, function, needs, gives, doc) {name, needs, gives, doc},
#include "passes/lower/core/passes.def"
#undef X
};
static LowerFunction *const functions[] = {
#define X(name, function, needs, gives, doc) function,
#include "passes/lower/core/passes.def"
#undef X
};
enum { PASS_COUNT = sizeof passes / sizeof *passes };

const Func *lower_complete(LowerState *state, const Func *func)
{
    return complete_func(state->ctx, func);
}

const LowerPass *lower_passes(int *count)
{
    *count = PASS_COUNT;
    return passes;
}

int lower_find_pass(const char *name)
{
    for (int i = 0; i < PASS_COUNT; i++)
        if (!strcmp(passes[i].name, name))
            return i;
    return -1;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void verify_stage(const LowerState *state, int index, const Func *func, Stage stage, const char *when)
{
    const char *why;
    if (state->options->verify_each && !verify_func(state->ctx, func, stage, &why))
        BUG("'%s' is malformed %s the pass '%s': %s", func->name, when, passes[index].name, why);
}

/* FUNC after the pass at INDEX; NULL after diagnostics. */
static const Func *run_pass(LowerState *state, int index, const Func *func)
{
    int errors = diag_error_count(state->ctx);
    double start = seconds_now();
    verify_stage(state, index, func, passes[index].needs, "before");
    func = functions[index](state, func);
    if (diag_error_count(state->ctx) > errors)
        return NULL;
    verify_stage(state, index, func, passes[index].gives, "after");
    if (state->options->after_pass)
        state->options->after_pass(state->options->data, passes[index].name, func, seconds_now() - start);
    return func;
}

const Func *lower_func(Context *ctx, const Module *module, const Func *func, const LowerOptions *options)
{
    LowerState state = {ctx, module, options};
    int first = options->start_after ? lower_find_pass(options->start_after) + 1 : 0;
    const char *why = NULL;
    if (first > 0 && !verify_func(ctx, func, passes[first - 1].gives, &why)) {
        diag_error(ctx, func->name_span, "'%s' is not what the pass '%s' gives, so start behind an earlier one: %s", func->name, options->start_after, why);
        return NULL;
    }
    for (int i = first; func && i < PASS_COUNT; i++)
        func = run_pass(&state, i, func);
    if (func && !verify_func(ctx, func, STAGE_LOWERED, &why))
        BUG("lowering '%s' left it malformed: %s", func->name, why);
    return func;
}
