/* See witness.h. */
#include "passes/analysis/witness.h"

#include "ir/print.h"

Witness witness_new(Context *ctx, const Func *func)
{
    return (Witness){.text = {.arena = ctx->arena}, .spellings = func ? print_spellings(ctx, func) : (Map){0}};
}

static const char *spelling(const Witness *witness, const void *symbol, const char *name)
{
    const char *text = map_get(&witness->spellings, symbol);
    return text ? text : name;
}

void witness_add_element(Witness *witness, const Buffer *buffer, const int64_t *indices)
{
    strbuf_printf(&witness->text, "%s[%s", spelling(witness, buffer, buffer->name), buffer->ndim ? "" : "()");
    for (int i = 0; i < buffer->ndim; i++)
        strbuf_printf(&witness->text, "%s%lld", i ? ", " : "", (long long)indices[i]);
    strbuf_add(&witness->text, "]");
}

void witness_add_iteration(Witness *witness, const Frame *const *loops, int count, const int64_t *values)
{
    for (int i = 0; i < count; i++)
        strbuf_printf(&witness->text, "%s%s = %lld", i ? ", " : "", spelling(witness, loops[i]->var, loops[i]->var->name),
                      (long long)values[i]);
}
