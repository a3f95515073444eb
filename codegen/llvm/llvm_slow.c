/* -Wslow-vector: where vector code in a loop takes a slow form that its text does not show. */
#include "codegen/llvm/llvm_gen.h"
#include "support/warning.h"

typedef enum { SLOW_ACCESS, SLOW_MASK, SLOW_CALL } SlowForm;

/* Code of one place is often emitted several times, as unrolled loops are: each form is told once. */
static bool is_first(FuncGen *gen, Span span, SlowForm form)
{
    Str key = context_internf(gen->ctx, "%u:%u:%u:%d", span.file, span.begin, span.end, (int)form);
    if (!gen->loop || map_has(&gen->build->slow_forms, key))
        return false;
    map_set(gen->ctx->arena, &gen->build->slow_forms, key, (void *)key);
    return true;
}

void warn_slow_access(FuncGen *gen, Span span, const Buffer *buffer, int lanes, const char *scattered, const Expr *mask)
{
    if (lanes <= 1 || !gen->loop)
        return;
    if (scattered && is_first(gen, span, SLOW_ACCESS))
        diag_warning(gen->ctx, WARNING_SLOW_VECTOR, span, "the lanes of this access to '%s' are no even run of elements: %s in each iteration",
                     buffer->name, scattered);
    if (mask && gen->loop->var && expr_uses_var(mask, gen->loop->var) && is_first(gen, span, SLOW_MASK))
        diag_warning(gen->ctx, WARNING_SLOW_VECTOR, span, "this access to '%s' needs another mask in each iteration of loop '%s'", buffer->name,
                     gen->loop->var->name);
}

void warn_lane_calls(FuncGen *gen, Span span, int lanes, const char *name)
{
    if (lanes > 1 && is_first(gen, span, SLOW_CALL))
        diag_warning(gen->ctx, WARNING_SLOW_VECTOR, span, "%s has no vector form: a call for each lane", name);
}
