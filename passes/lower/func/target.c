/* Pass "target": an object for a CPU has no threads.

     for i in T.thread_binding(64, thread="threadIdx.x"): ...     refused, naming the loop

   Not handled: mapping threads to CPU loops. */
#include "passes/lower/core/state.h"

static bool refuse_threads(Visitor *visitor, const Stmt *stmt)
{
    Context *ctx = visitor->data;
    if (stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD)
        diag_error(ctx, stmt->span,
                   stmt->as.loop.launch ? "'%s' launches %s, and an object for a CPU has no threads of that kind"
                                        : "loop '%s' is bound to %s, and an object for a CPU has no threads of that kind",
                   stmt->as.loop.var->name, stmt->as.loop.thread);
    return true;
}

const Func *lower_target(LowerState *state, const Func *func)
{
    Visitor visitor = {.stmt = refuse_threads, .data = state->ctx};
    visit_stmt(&visitor, func->body);
    return func;
}
