/* Which lists of accesses are kept, and for how long; see access.h. */
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/collect/kept.h"

/* A schedule step asks several times for the accesses of two programs: the one before the step and the one after it. The latter is the one
   before the next step. */
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

typedef struct {
    int first, end;
} BlockSpan;

/* Which of the accesses of LIST lie inside of each block: they follow one another. */
static void index_blocks(Arena *arena, KeptList *list)
{
    const AccessList *all = &list->list;
    list->blocks = (Map){0};
    for (int i = 0; i < all->count; i++)
        for (const Frame *frame = all->data[i].frame; frame; frame = frame->outer) {
            if (frame->kind != FRAME_BLOCK)
                continue;
            const Block *block = frame->stmt->as.block.block;
            BlockSpan *span = map_get(&list->blocks, block);
            if (!span)
                map_set(arena, &list->blocks, block, span = arena_copy(arena, &(BlockSpan){i, i}, sizeof(BlockSpan)));
            span->end = i + 1;
        }
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
    access_collect_into(ctx, func, known, true, kept);
    index_blocks(kept->arena, kept);
    ctx->arena = outside;
}

/* The list of FUNC; NULL where lists are not kept, for FUNC may be released before the context. */
static const KeptList *kept_list(Context *ctx, const Func *func)
{
    if (ctx->arena != ctx->base_arena)
        return NULL;
    AccessCache *cache = access_cache(ctx);
    KeptList *oldest = &cache->kept[0], *latest = &cache->kept[0];
    cache->uses++;
    for (int i = 0; i < ACCESS_LISTS_KEPT; i++) {
        KeptList *kept = &cache->kept[i];
        if (kept->func == func) {
            kept->last_use = cache->uses;
            return kept;
        }
        oldest = kept->last_use < oldest->last_use ? kept : oldest;
        latest = kept->last_use > latest->last_use ? kept : latest;
    }
    collect_into(ctx, func, latest == oldest ? NULL : latest, oldest);
    oldest->last_use = cache->uses;
    return oldest;
}

AccessList access_collect(Context *ctx, const Func *func)
{
    const KeptList *kept = kept_list(ctx, func);
    KeptList list;
    if (!kept)
        access_collect_into(ctx, func, NULL, true, &list);
    return kept ? kept->list : list.list;
}

AccessList access_collect_inside(Context *ctx, const Func *func, const Block *block)
{
    const KeptList *kept = kept_list(ctx, func);
    KeptList list = {0};
    if (!kept) {
        access_collect_into(ctx, func, NULL, true, &list);
        index_blocks(ctx->arena, &list);
        kept = &list;
    }
    const BlockSpan *span = map_get(&kept->blocks, block);
    AccessList inside = {0};
    if (span) {
        inside.data = kept->list.data + span->first;
        inside.count = inside.capacity = span->end - span->first;
    }
    return inside;
}

AccessList access_collect_loose(Context *ctx, const Func *func, const Block *scope)
{
    AccessList inside = access_collect_inside(ctx, func, scope), loose = {0};
    for (int i = 0; i < inside.count; i++)
        if (inside.data[i].block == scope && !inside.data[i].entry)
            vec_push(ctx->arena, &loose, inside.data[i]);
    return loose;
}

AccessList access_collect_explicit(Context *ctx, const Func *func)
{
    KeptList list;
    access_collect_into(ctx, func, NULL, false, &list);
    return list.list;
}
