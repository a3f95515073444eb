/* May a kernel run as its thread bindings say? See dependence_threads_independent in dependence.h.

   Each thread runs all statements of the kernel, also those that stand beside or above the loops with its tags. What conflicts then is
   found in the kernel as the threads run it (kernel.h); and memory of a thread or block must not be relied on where another one, or nobody,
   has it. */
#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/questions/conflict.h"
#include "passes/analysis/questions/kernel.h"
#include "passes/analysis/questions/race.h"

/* --- conflicts --- */

static ScopeClass scope_in_kernel(const void *data, const Access *access)
{
    return kernel_scope(data, access);
}

static bool has_fence(const Kernel *kernel)
{
    for (int i = 0; i < kernel->accesses.count; i++)
        if (kernel->accesses.data[i].fence && kernel_holds(kernel, i))
            return true;
    return false;
}

/* Memory that each thread block fills before it reads it: lowering gives each its own. */
static bool is_block_scratch(const Kernel *kernel, const Func *func, const Access *access, const KernelTag *tag)
{
    return !func_is_argument(func, access->data) &&
           shown_is_private(kernel->ctx, &kernel->accesses, &kernel->sizes, access->data, tag->var);
}

static bool is_looked_at(const Kernel *kernel, const KernelTag *tag, const Access *a, const Access *b)
{
    if (a->fence || b->fence || pair_is_harmless(a, b, false))
        return false;
    ScopeClass scope = kernel_scope(kernel, a);
    return scope == SCOPE_GLOBAL || (scope == SCOPE_SHARED && !tag->is_block);
}

/* The accesses that run in KERNEL. */
static AccessRefs accesses_held(const Kernel *kernel)
{
    AccessRefs held = {0};
    for (int i = 0; i < kernel->accesses.count; i++)
        if (kernel_holds(kernel, i))
            vec_push(kernel->ctx->arena, &held, &kernel->accesses.data[i]);
    return held;
}

/* Of how many accesses it is remembered which stay apart. */
enum { MOST_REMEMBERED = 256 };

static bool tag_conflicts(const Kernel *kernel, const Func *func, const KernelTag *tag, Conflict *conflict)
{
    Race race = {.ctx = kernel->ctx,
                 .accesses = &kernel->accesses,
                 .sizes = &kernel->sizes,
                 .var = tag->var,
                 .repeated = !tag->is_block,
                 .scope = scope_in_kernel,
                 .data = kernel};
    AccessRefs held = accesses_held(kernel);
    bool remembers = held.count <= MOST_REMEMBERED, *apart = ARENA_ARRAY(kernel->ctx->arena, bool, remembers ? held.count * held.count : 0);
    for (int i = 0; i < held.count; i++)
        for (int j = 0; j < held.count; j++) {
            const Access *a = held.data[i], *b = held.data[j];
            if (a->data != b->data || (j < i && remembers && apart[j * held.count + i]) || !is_looked_at(kernel, tag, a, b))
                continue;
            if (j >= i && remembers && (apart[i * held.count + j] = threads_stay_apart(&race, a, b)))
                continue;
            if (threads_race(&race, a, b, conflict) && !(tag->is_block && is_block_scratch(kernel, func, a, tag)))
                return true;
        }
    return false;
}

/* --- memory that ends with its threads --- */

static bool is_in_threads(const Frame *frame)
{
    while (frame && !(frame->kind == FRAME_LOOP && frame->stmt->kind == STMT_FOR && frame->stmt->as.loop.kind == FOR_THREAD))
        frame = frame->outer;
    return frame;
}

static const char *whose(const Kernel *kernel, const Access *access)
{
    const char *scope = access->buffer->scope;
    const char *owner = kernel_scope(kernel, access) == SCOPE_SHARED ? "thread block" : "thread";
    if (scope_class(scope) == SCOPE_GLOBAL)
        return arena_printf(kernel->ctx->arena, "'%s' is allocated inside of the kernel, so each %s has its own", access->buffer->name,
                            owner);
    return arena_printf(kernel->ctx->arena, "'%s' is in scope \"%s\", so each %s has its own", access->buffer->name, scope, owner);
}

static bool is_used_outside(const Kernel *kernel, const Access *access, Conflict *conflict)
{
    for (int i = 0; i < kernel->original.count; i++) {
        const Access *other = &kernel->original.data[i];
        if (other->data != access->data || is_in_threads(other->frame))
            continue;
        const char *text =
            arena_printf(kernel->ctx->arena, "'%s' is in scope \"%s\", which ends with the threads, and is used outside of them too",
                         access->buffer->name, access->buffer->scope);
        *conflict = (Conflict){.first = access, .second = other, .text = text};
        return true;
    }
    return false;
}

/* The frame of the block whose init ACCESS is part of, or NULL. */
static const Frame *init_block(const Access *access)
{
    const Frame *frame = access->frame;
    while (frame && !(frame->kind == FRAME_BLOCK && frame_in_init(access->frame, frame)))
        frame = frame->outer;
    return frame;
}

static const Frame *kernel_frame(const Kernel *kernel, const Frame *frame)
{
    while (!(frame->kind == FRAME_LOOP && frame->stmt == kernel->stmt))
        frame = frame->outer;
    return frame;
}

/* The init that ACCESS, as it stands in the program, is part of runs where its reduction begins: outside of the kernel. */
static bool is_initialized_outside(const Kernel *kernel, const Access *access, Conflict *conflict)
{
    const Frame *init = init_block(access);
    for (const Frame *loop = kernel_frame(kernel, access->frame)->outer; init && loop; loop = loop->outer) {
        if (loop->kind != FRAME_LOOP || !frame_reduces_over(init, loop->var))
            continue;
        const char *text =
            arena_printf(kernel->ctx->arena, "%s, but loop '%s' around the threads reduces into it and its init comes before that loop",
                         whose(kernel, access), loop->var->name);
        *conflict = (Conflict){.first = access, .text = text};
        return true;
    }
    return false;
}

/* The outermost loop with TAG around FRAME in the program, or NULL; FRAME as it is or as the threads go. */
static const Frame *tag_loop(const Frame *frame, const KernelTag *tag)
{
    const Frame *outermost = NULL;
    for (; frame; frame = frame->outer)
        if (frame->var != tag->var && frame->stmt && frame->stmt->kind == STMT_FOR && frame->stmt->as.loop.thread &&
            !strcmp(frame->stmt->as.loop.thread, tag->name))
            outermost = frame;
    return outermost;
}

/* WRITE in one iteration of the loops numbered LEVEL and READ in another one (KIND: EXPR_NE; EXPR_LT: a later one) touch one element. */
static bool flows(const Kernel *kernel, const Access *write, const Access *read, int level, ExprKind kind, Conflict *conflict)
{
    Pair pair = pair_new(kernel->ctx, write, read);
    if (level >= pair.common || pair_is_disjoint(&pair, level))
        return false;
    pair_build(&pair, &kernel->sizes, 0);
    pair_assume_equal(&pair, &pair.space, level);
    affine_assume_dims(&pair.space, kind, level, pair.count_a + level);
    return pair_conflicts(&pair, pair.space, conflict);
}

/* What the read number INDEX reads comes from another launch of the kernel, or another kernel. */
static bool flows_from_launch(const Kernel *kernel, int index, Conflict *conflict)
{
    const Access *read = &kernel->accesses.data[index], *original = &kernel->original.data[index];
    if (access_is_filled(kernel->ctx, &kernel->original, &kernel->sizes, original, kernel->stmt->as.loop.var))
        return false;
    int outer = frame_loop_count(kernel_frame(kernel, original->frame)->outer);
    for (int i = 0; i < kernel->accesses.count; i++) {
        const Access *write = &kernel->accesses.data[i];
        if (!write->write || write->data != read->data)
            continue;
        for (int level = 0; kernel_holds(kernel, i) && level < outer; level++)
            if (flows(kernel, write, read, level, EXPR_LT, conflict))
                return true;
        if (!kernel_holds(kernel, i)) {
            *conflict = (Conflict){.first = write, .second = read, .text = "another kernel writes it"};
            return true;
        }
    }
    return false;
}

/* What it reads comes from another thread or block, as told apart by the tag number T. */
static bool flows_from_other(const Kernel *kernel, int index, int t, Conflict *conflict)
{
    const KernelTag *tag = &kernel->tags.data[t];
    const Access *read = &kernel->accesses.data[index], *original = &kernel->original.data[index];
    const Frame *loop = tag_loop(original->frame, tag);
    /* as the loops stand, so that nothing came in between, and in memory of its own by the thread itself */
    if (loop && access_is_filled(kernel->ctx, &kernel->original, &kernel->sizes, original, loop->var) &&
        (kernel_scope(kernel, read) == SCOPE_SHARED ||
         access_is_filled(kernel->ctx, &kernel->accesses, &kernel->sizes, read, tag->var)))
        return false;
    int level = frame_loop_count(kernel_frame(kernel, original->frame)->outer) + t;
    for (int i = 0; i < kernel->accesses.count; i++) {
        const Access *write = &kernel->accesses.data[i];
        if (write->write && write->data == read->data && kernel_holds(kernel, i) && tag_loop(kernel->original.data[i].frame, tag) &&
            !access_reduced_across(write, tag->var) && flows(kernel, write, read, level, EXPR_NE, conflict))
            return true;
    }
    return false;
}

static bool memory_is_left(const Kernel *kernel, int index, Str *tag, Conflict *conflict)
{
    const Access *access = &kernel->accesses.data[index];
    ScopeClass scope = access->data ? kernel_scope(kernel, access) : SCOPE_GLOBAL;
    if (scope == SCOPE_GLOBAL)
        return false;
    if (is_used_outside(kernel, access, conflict) || is_initialized_outside(kernel, &kernel->original.data[index], conflict))
        return true;
    if (access->write)
        return false;
    bool left = flows_from_launch(kernel, index, conflict);
    /* threads before thread blocks: what does not reach a neighbour in one block need not be told of two blocks */
    for (int t = kernel->tags.count - 1; t >= 0 && !left; t--) {
        *tag = kernel->tags.data[t].name;
        left = (scope == SCOPE_LOCAL || kernel->tags.data[t].is_block) && flows_from_other(kernel, index, t, conflict);
    }
    if (left)
        conflict->text = arena_printf(kernel->ctx->arena, "%s, and %s", whose(kernel, access), conflict->text);
    return left;
}

/* --- threads that are not there --- */

/* ACCESS, as it stands in the program, may run where the extent of TAG is 0, so that there is no thread to run it. */
static bool may_lack_threads(const Kernel *kernel, const KernelTag *tag, const Access *access)
{
    Context *ctx = kernel->ctx;
    const Expr *extent = tag->loop->extent;
    AffineSpace space = affine_universe(ctx, frame_loop_count(access->frame), &kernel->sizes);
    const AffineEnv *env = frame_env(ctx, access->frame, 0);
    if (!init_block(access)) /* which may run where the conditions around the block do not hold */
        frame_assume(&space, access->frame, env);
    affine_assume_compare(&space, EXPR_LE, env, extent, NULL, expr_int(ctx, extent->dtype, 0));
    bool may = affine_verdict(&space) != SET_EMPTY;
    affine_free(&space);
    return may;
}

/* ACCESS runs whatever the extent of the loops with TAG is: beside them, or in the init of what is reduced over one of them. */
static bool needs_thread(const Access *access, const KernelTag *tag)
{
    const Frame *loop = tag_loop(access->frame, tag), *init = init_block(access);
    return !loop || (init && frame_reduces_over(init, loop->var));
}

static bool lacks_threads(const Kernel *kernel, const KernelTag *tag, Conflict *conflict)
{
    int64_t extent;
    for (int i = 0; i < kernel->original.count && !(expr_const_int(tag->loop->extent, &extent) && extent > 0); i++) {
        const Access *access = &kernel->original.data[i];
        if (!access->write || !kernel_holds(kernel, i) || !needs_thread(access, tag) || !may_lack_threads(kernel, tag, access))
            continue;
        const char *text = "its extent may be 0, and no thread would run what does not depend on it";
        *conflict = (Conflict){.first = access, .second = access, .text = text};
        return true;
    }
    return false;
}

/* --- the question --- */

/* Why the accesses that are in CONFLICT are not in order. */
static const char *what_is_missing(const Kernel *kernel, const KernelTag *tag, const Conflict *conflict)
{
    const Access *const accesses[] = {conflict->first, conflict->second};
    for (int i = 0; i < 2; i++)
        if (!tag_loop(accesses[i]->frame, tag)) /* its own loop, not that of all threads: see kernel.h */
            return arena_printf(kernel->ctx->arena, "no loop around the %s access is bound to %s, so %s runs it", i ? "second" : "first",
                                tag->name, tag->is_block ? "each thread block" : "every thread");
    if (tag->is_block)
        return "nothing makes one thread block wait for another";
    if (kernel_scope(kernel, conflict->first) == SCOPE_SHARED)
        return conflict->first->stmt == conflict->second->stmt ? "a statement has no barrier in it" : "no barrier lies between two writes";
    return "nothing makes one thread wait for the other there; memory in scope \"shared\" is passed on between the threads of a block";
}

/* A tag none of whose loops has an extent that is known where the kernel begins. */
static bool lacks_extent(const Kernel *kernel, Str *tag, Conflict *conflict)
{
    for (int i = 0; i < kernel->tags.count; i++)
        if (!kernel->tags.data[i].loop) {
            *tag = kernel->tags.data[i].name;
            *conflict = (Conflict){.text = "its extent is not known where the kernel begins, in which all threads start at once"};
            return true;
        }
    return false;
}

static bool kernel_conflicts(const Kernel *kernel, const Func *func, Str *tag, Conflict *conflict)
{
    if (lacks_extent(kernel, tag, conflict))
        return true;
    for (int i = 0; i < kernel->accesses.count; i++) {
        *tag = kernel->tags.data[0].name;
        if (kernel_holds(kernel, i) && memory_is_left(kernel, i, tag, conflict))
            return true;
    }
    for (int t = 0; t < kernel->tags.count; t++) {
        *tag = kernel->tags.data[t].name;
        if (lacks_threads(kernel, &kernel->tags.data[t], conflict))
            return true;
    }
    /* T.tvm_storage_sync may be among the fences; binding a loop around one is refused */
    for (int t = 0; t < kernel->tags.count && !has_fence(kernel); t++) {
        *tag = kernel->tags.data[t].name;
        if (tag_conflicts(kernel, func, &kernel->tags.data[t], conflict)) {
            const char *missing = what_is_missing(kernel, &kernel->tags.data[t], conflict);
            conflict->text = arena_printf(kernel->ctx->arena, "%s, and %s", conflict->text, missing);
            return true;
        }
    }
    return false;
}

/* ACCESS, which is one of the kernel's, as it stands in the program, outside of scratch memory. */
static const Access *access_outside(const Kernel *kernel, Arena *outside, const Access *access)
{
    for (int i = 0; i < kernel->accesses.count; i++)
        if (access == &kernel->accesses.data[i] || access == &kernel->original.data[i])
            return arena_copy(outside, &kernel->original.data[i], sizeof *access);
    return NULL;
}

bool conflict_in_kernel(const KernelSet *set, const Stmt *stmt, Str *tag, Conflict *conflict)
{
    Context *ctx = set->ctx;
    Arena *outside = context_begin_scratch(ctx);
    Kernel kernel = kernel_of_loop(set, stmt);
    bool found = kernel_conflicts(&kernel, set->func, tag, conflict);
    if (found) {
        bool same = conflict->first == conflict->second;
        conflict->first = access_outside(&kernel, outside, conflict->first);
        conflict->second = same ? conflict->first : access_outside(&kernel, outside, conflict->second);
    }
    pair_end_scratch(ctx, outside, found ? conflict : NULL);
    return found;
}
