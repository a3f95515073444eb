/* See context.h. */
#include "support/context.h"

#include <stdlib.h>
#include <string.h>

#include "support/bug.h"

Context *context_new(void)
{
    Context *ctx = xmalloc(sizeof *ctx);
    *ctx = (Context){.base_arena = arena_new(), .diag_options = diag_options_default()};
    ctx->arena = ctx->base_arena;
    ctx->strings = interner_new(ctx->base_arena);
    ctx->sources = source_map_new(ctx->base_arena);
    return ctx;
}

void context_free(Context *ctx)
{
    if (!ctx)
        return;
    Resource *resources[] = {&ctx->isl, &ctx->target, &ctx->llvm, &ctx->accesses};
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        if (resources[i]->release)
            resources[i]->release(resources[i]->handle);
    arena_free(ctx->scratch);
    arena_free(ctx->base_arena);
    free(ctx);
}

Arena *context_begin_scratch(Context *ctx)
{
    Arena *outside = ctx->arena;
    if (!ctx->scratch)
        ctx->scratch = arena_new();
    ctx->arena = ctx->scratch;
    return outside;
}

void context_end_scratch(Context *ctx, Arena *outside)
{
    if (outside != ctx->scratch)
        arena_reset(ctx->scratch);
    ctx->arena = outside;
}

Str context_intern(Context *ctx, const char *text)
{
    return intern(ctx->strings, text, strlen(text));
}

Str context_internf(Context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(ctx->arena, format, args);
    va_end(args);
    return context_intern(ctx, text);
}
