/* Is a program still right after a block went below another loop? See dependence_moved_producer and dependence_moved_consumer in dependence.h. */
#include "passes/analysis/pair.h"

bool access_in_block(const Access *access, const Block *block)
{
    for (const Frame *frame = access->frame; frame; frame = frame->outer)
        if (frame->kind == FRAME_BLOCK && frame->stmt->as.block.block == block)
            return true;
    return false;
}

/* --- a producer --- */

/* What the moved block reads and others write: its inputs must not change on the way. */
static bool is_input_pair(void *data, const Access *a, const Access *b)
{
    bool first = access_in_block(a, data), second = access_in_block(b, data);
    const Access *moved = first ? a : b;
    return first != second && !moved->write && !moved->group;
}

/* The data variables that BLOCK writes. */
static Map written_data(Context *ctx, const AccessList *accesses, const Block *block)
{
    Map written = {0};
    for (int i = 0; i < accesses->count; i++)
        if (accesses->data[i].write && accesses->data[i].data && access_in_block(&accesses->data[i], block))
            map_set(ctx->arena, &written, accesses->data[i].data, (void *)&accesses->data[i]);
    return written;
}

/* Some write of BLOCK covers READ. A single write must cover it: unions of several are not looked at. */
static bool is_covered(Context *ctx, const AccessList *accesses, const Block *block, const Access *read, const Map *sizes)
{
    for (int i = 0; i < accesses->count; i++) {
        const Access *write = &accesses->data[i];
        if (write->write && write->data == read->data && !write->whole && !read->whole && access_in_block(write, block) && access_precedes(write, read) &&
            access_covers(ctx, write, read, sizes))
            return true;
    }
    return false;
}

bool dependence_moved_producer(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict)
{
    OrderQuestion question = {before, after, before->body, after->body, is_input_pair, (void *)block};
    if (order_changes(ctx, &question, conflict))
        return true;
    AccessList accesses = access_collect(ctx, after);
    Map sizes = func_sizes(ctx, after), written = written_data(ctx, &accesses, block);
    for (int i = 0; i < accesses.count; i++) {
        const Access *read = &accesses.data[i];
        if (read->write || !read->data || !map_has(&written, read->data) || access_in_block(read, block) ||
            is_covered(ctx, &accesses, block, read, &sizes))
            continue;
        const char *text = arena_printf(ctx->arena, "that each iteration computes all of '%s' that it reads cannot be shown", read->buffer->name);
        *conflict = (Conflict){read, NULL, false, text};
        return true;
    }
    return false;
}

/* --- a consumer --- */

static bool is_of_moved(void *data, const Access *a, const Access *b)
{
    return access_in_block(a, data) || access_in_block(b, data);
}

/* The frame at which BLOCK's own body begins in the program of ACCESSES: that of its block with all bindings. */
static const Frame *block_frame(const AccessList *accesses, const Block *block, const BlockStmt **stmt)
{
    for (int i = 0; i < accesses->count; i++)
        for (const Frame *frame = accesses->data[i].frame, *inner = NULL; frame; frame = frame->outer) {
            if (frame->kind == FRAME_POSITION)
                inner = frame->outer;
            if (frame->kind == FRAME_BLOCK && frame->stmt->as.block.block == block) {
                *stmt = &frame->stmt->as.block;
                return inner;
            }
        }
    return NULL;
}

/* The instances of BLOCK that run, as a set of iterator values; NULL when unknown. */
static isl_set *instances(Context *ctx, const AccessList *accesses, const Block *block, const Map *sizes, bool *exact)
{
    const BlockStmt *stmt = NULL;
    const Frame *frame = block_frame(accesses, block, &stmt);
    if (!frame)
        return NULL;
    int loops;
    frame_loops(ctx, frame, &loops);
    AffineSpace space = affine_universe(ctx, loops + stmt->iter_count, sizes);
    const AffineEnv *env = frame_env(ctx, frame, 0);
    frame_assume(&space, frame, env);
    for (int i = 0; i < stmt->iter_count; i++) {
        const Expr *var = expr_var(ctx, stmt->iters[i].var);
        AffineEnv value = {NULL, stmt->iters[i].var, loops + i, NULL};
        affine_assume_compare(&space, EXPR_EQ, &value, var, env, var);
    }
    *exact = !space.approximate;
    return space.set ? isl_set_project_out(space.set, isl_dim_set, 0, (unsigned)loops) : NULL;
}

static bool all_instances_kept(Context *ctx, const Func *before, const Func *after, const Block *block)
{
    AccessList old_accesses = access_collect(ctx, before), new_accesses = access_collect(ctx, after);
    Map sizes = func_sizes(ctx, before);
    bool exact_old, exact_new = false;
    isl_set *old_set = instances(ctx, &old_accesses, block, &sizes, &exact_old), *new_set = instances(ctx, &new_accesses, block, &sizes, &exact_new);
    isl_bool kept = old_set && new_set && exact_new ? isl_set_is_subset(old_set, new_set) : isl_bool_false;
    isl_set_free(old_set);
    isl_set_free(new_set);
    return kept == isl_bool_true;
}

bool dependence_moved_consumer(Context *ctx, const Func *before, const Func *after, const Block *block, Conflict *conflict)
{
    if (!all_instances_kept(ctx, before, after, block)) {
        *conflict = (Conflict){.text = arena_printf(ctx->arena, "that every instance of '%s' still runs cannot be shown", block->name)};
        return true;
    }
    OrderQuestion question = {before, after, before->body, after->body, is_of_moved, (void *)block};
    return order_changes(ctx, &question, conflict);
}

/* --- instances that run again --- */

bool dependence_runs_once(Context *ctx, const Func *func, const Block *block, const Var *var)
{
    AccessList accesses = access_collect(ctx, func);
    Map sizes = func_sizes(ctx, func);
    const BlockStmt *stmt = NULL;
    const Frame *frame = block_frame(&accesses, block, &stmt);
    if (!frame)
        return false;
    Access instance = {.frame = frame, .whole = true};
    Pair pair = pair_new(ctx, &instance, &instance);
    int level = 0;
    while (level < pair.common && pair.loops_a[level]->var != var)
        level++;
    pair_build(&pair, &sizes, 0);
    pair_assume_equal(&pair, &pair.space, level);
    for (int i = 0; i < stmt->iter_count; i++) {
        const Expr *iter = expr_var(ctx, stmt->iters[i].var);
        affine_assume_compare(&pair.space, EXPR_EQ, pair.env_a, iter, pair.env_b, iter);
    }
    bool once = true;
    for (; level < pair.common && once; level++) {
        AffineSpace again = affine_copy(&pair.space);
        affine_assume_dims(&again, EXPR_LT, level, pair.count_a + level);
        once = affine_verdict(&again) == SET_EMPTY;
        affine_free(&again);
        affine_assume_dims(&pair.space, EXPR_EQ, level, pair.count_a + level);
    }
    affine_free(&pair.space);
    return once;
}
