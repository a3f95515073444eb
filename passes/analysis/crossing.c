/* May threads of a kernel meet in memory at which they do not wait for each other? See dependence_crosses_threads in dependence.h. */
#include <string.h>

#include "passes/analysis/pair.h"

/* Memory that is there before and after the threads, and that they all see. */
static bool is_common_memory(const Access *access)
{
    const char *scope = access->buffer ? access->buffer->scope : "global";
    return !*scope || !strncmp(scope, "global", 6);
}

static int level_of(const Frame **loops, int count, const Var *var)
{
    int level = 0;
    while (level < count && loops[level]->var != var)
        level++;
    return level;
}

/* A below FIRST meets B below SECOND in another thread. */
static bool meets_other_thread(Context *ctx, const Access *a, const Access *b, const Map *sizes, const Var *kernel, const Var *first,
                               const Var *second, Conflict *conflict)
{
    Pair pair = pair_new(ctx, a, b);
    pair_build(&pair, sizes, 0);
    int kernel_level = level_of(pair.loops_a, pair.count_a, kernel), level_a = level_of(pair.loops_a, pair.count_a, first),
        level_b = level_of(pair.loops_b, pair.count_b, second);
    pair_assume_equal(&pair, &pair.space, kernel_level);
    for (int i = kernel_level; i < pair.common; i++) /* where other indices differ, that is the question of their loops */
        if (i != level_a && pair.loops_a[i]->stmt->kind == STMT_FOR && pair.loops_a[i]->stmt->as.loop.kind == FOR_THREAD)
            affine_assume_dims(&pair.space, EXPR_EQ, i, pair.count_a + i);
    affine_assume_dims(&pair.space, EXPR_NE, level_a, pair.count_a + level_b);
    return pair_conflicts(&pair, pair.space, conflict);
}

/* Data variables that are allocated inside of one of the loops, so that each thread has its own. */
static bool is_allocated_inside(const Frame *frame, const Var *data, const Var *loop)
{
    for (; frame && !(frame->kind == FRAME_LOOP && frame->var == loop); frame = frame->outer)
        for (int i = 0; frame->kind == FRAME_BLOCK && i < frame->stmt->as.block.alloc_count; i++)
            if (frame->stmt->as.block.allocs[i]->data == data)
                return true;
    return false;
}

bool dependence_crosses_threads(Context *ctx, const Func *func, const Var *kernel, const Var *first, const Var *second, Conflict *conflict)
{
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    for (int i = 0; i < accesses.count; i++)
        if (accesses.data[i].fence && access_loop(&accesses.data[i], kernel))
            return false; /* T.tvm_storage_sync may be among such calls; binding a loop around one is refused */
    for (int i = 0; i < accesses.count; i++)
        for (int j = 0; j < accesses.count; j++) {
            const Access *a = &accesses.data[i], *b = &accesses.data[j];
            if (!access_loop(a, first) || !access_loop(b, second) || pair_is_harmless(a, b, false) || !is_common_memory(a) ||
                !is_common_memory(b) || is_allocated_inside(a->frame, a->data, first))
                continue;
            if (first == second && dependence_is_private(ctx, &accesses, &sizes, a->data, first))
                continue;
            if (meets_other_thread(ctx, a, b, &sizes, kernel, first, second, conflict))
                return true;
        }
    return false;
}
