/* Which lists of accesses are kept, and for how long; see access.h. */
#include "passes/analysis/access_collect.h"

/* A schedule step asks several times for the accesses of the program before it and of the one after it, which is the one before the next
   step. */
typedef struct {
    KeptList kept[ACCESS_LISTS_KEPT];
    uint64_t uses;
} AccessCache;

static void release_cache(void *handle)
{
    AccessCache *cache = handle;
    for (int i = 0; i < ACCESS_LISTS_KEPT; i++)
        arena_free(cache->kept[i].arena);
}

static AccessCache *access_cache(Context *ctx)
{
    if (!ctx->accesses.handle)
        ctx->accesses = (Resource){ARENA_NEW(ctx->base_arena, AccessCache), release_cache};
    return ctx->accesses.handle;
}

/* In place of the list in KEPT. */
static void collect_into(Context *ctx, const Func *func, const KeptList *known, KeptList *kept)
{
    Arena *outside = ctx->arena;
    if (kept->arena)
        arena_reset(kept->arena);
    else
        kept->arena = arena_new();
    ctx->arena = kept->arena;
    access_collect_into(ctx, func, known, kept);
    ctx->arena = outside;
}

AccessList access_collect(Context *ctx, const Func *func)
{
    if (ctx->arena != ctx->base_arena) { /* FUNC may be released before the context */
        KeptList list;
        access_collect_into(ctx, func, NULL, &list);
        return list.list;
    }
    AccessCache *cache = access_cache(ctx);
    KeptList *oldest = &cache->kept[0], *latest = &cache->kept[0];
    cache->uses++;
    for (int i = 0; i < ACCESS_LISTS_KEPT; i++) {
        KeptList *kept = &cache->kept[i];
        if (kept->func == func) {
            kept->last_use = cache->uses;
            return kept->list;
        }
        oldest = kept->last_use < oldest->last_use ? kept : oldest;
        latest = kept->last_use > latest->last_use ? kept : latest;
    }
    collect_into(ctx, func, latest == oldest ? NULL : latest, oldest);
    oldest->last_use = cache->uses;
    return oldest->list;
}
