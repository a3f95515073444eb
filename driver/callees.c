/* Which functions of a program a call of one of them runs; see callees.h. */
#include "driver/callees.h"

#include "ir/signature.h"
#include "ir/walk.h"

typedef struct {
    Context *ctx;
    const Module *module;
    VEC(const Func *) waiting; /* reached, their bodies not looked at yet */
    Map *reached;
} Reach;

static void reach(Reach *state, const Func *func)
{
    if (!func || map_has(state->reached, func))
        return;
    map_set(state->ctx->arena, state->reached, func, (void *)func);
    vec_push(state->ctx->arena, &state->waiting, func);
}

static bool visit_call(Visitor *visitor, const Expr *expr)
{
    Reach *state = visitor->data;
    reach(state, module_callee(state->ctx, state->module, expr));
    return true;
}

void callees_reach(Context *ctx, const Module *module, const Func *func, Map *reached)
{
    Reach state = {.ctx = ctx, .module = module, .reached = reached};
    Visitor visitor = {.expr = visit_call, .data = &state};
    reach(&state, func);
    for (int i = 0; i < state.waiting.count; i++)
        visit_stmt(&visitor, state.waiting.data[i]->body);
}
