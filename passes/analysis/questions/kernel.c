/* See kernel.h. */

#include <stdlib.h>
#include <string.h>

#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/analysis/questions/kernel.h"

/* --- the tags --- */

typedef struct {
    Kernel *kernel;
    Map inner; /* variables that are defined inside of the kernel */
} Tagging;

static bool find_inner_var(Visitor *visitor, const Expr *expr)
{
    const Tagging *tagging = visitor->data;
    if (tagging && (expr->kind == EXPR_LOAD || (expr->kind == EXPR_VAR && map_has(&tagging->inner, expr->value.var))))
        visitor->data = NULL;
    return visitor->data;
}

static bool is_known_outside(Tagging *tagging, const Expr *expr)
{
    Visitor visitor = {.expr = find_inner_var, .data = tagging};
    visit_expr(&visitor, expr);
    return visitor.data;
}

static KernelTag *tag_named(Kernel *kernel, Str name)
{
    for (int i = 0; i < kernel->tags.count; i++)
        if (!strcmp(kernel->tags.data[i].name, name))
            return &kernel->tags.data[i];
    return NULL;
}

static void note_thread_loop(Tagging *tagging, const Stmt *stmt)
{
    Kernel *kernel = tagging->kernel;
    const ForStmt *loop = &stmt->as.loop;
    KernelTag *tag = tag_named(kernel, loop->thread);
    if (!tag) {
        Var *var = var_new(kernel->ctx, loop->thread, loop->var->dtype, loop->var->span);
        KernelTag fresh = {loop->thread, !strncmp(loop->thread, "blockIdx", 8), var, NULL, NULL};
        vec_push(kernel->ctx->arena, &kernel->tags, fresh);
        tag = &vec_last(&kernel->tags);
    }
    if (!tag->loop && is_known_outside(tagging, loop->extent)) {
        tag->loop = loop;
        tag->loop_stmt = stmt;
    }
}

static bool note_stmt(Visitor *visitor, const Stmt *stmt)
{
    Tagging *tagging = visitor->data;
    Kernel *kernel = tagging->kernel;
    Arena *arena = kernel->ctx->arena;
    switch (stmt->kind) {
    case STMT_FOR:
        if (stmt->as.loop.kind == FOR_THREAD)
            note_thread_loop(tagging, stmt);
        map_set(arena, &tagging->inner, stmt->as.loop.var, stmt->as.loop.var);
        break;
    case STMT_BLOCK:
        for (int i = 0; i < stmt->as.block.iter_count; i++)
            map_set(arena, &tagging->inner, stmt->as.block.iters[i].var, stmt->as.block.iters[i].var);
        for (int i = 0; i < stmt->as.block.alloc_count; i++)
            map_set(arena, &kernel->allocated, stmt->as.block.allocs[i]->data, stmt->as.block.allocs[i]);
        break;
    case STMT_LET: map_set(arena, &tagging->inner, stmt->as.let.var, stmt->as.let.var); break;
    case STMT_ALLOCATE: map_set(arena, &kernel->allocated, stmt->as.allocate.var, stmt->as.allocate.var); break;
    default: break;
    }
    return true;
}

static bool all_tags_known(const Kernel *kernel)
{
    for (int i = 0; i < kernel->tags.count; i++)
        if (!kernel->tags.data[i].loop)
            return false;
    return true;
}

static void sort_block_tags_first(Kernel *kernel)
{
    for (int i = 1; i < kernel->tags.count; i++)
        for (int k = i; k > 0 && kernel->tags.data[k].is_block && !kernel->tags.data[k - 1].is_block; k--) {
            KernelTag tag = kernel->tags.data[k];
            kernel->tags.data[k] = kernel->tags.data[k - 1];
            kernel->tags.data[k - 1] = tag;
        }
}

/* --- the ways --- */

typedef struct {
    Kernel *kernel;
    const Frame *below; /* of the tags: where the ways inside of the kernel begin */
    Map frames;         /* as they are -> as the threads go */
} Way;

static const Frame *push(Way *way, const Frame *outer, Frame frame)
{
    frame.outer = outer;
    frame.depth = outer ? outer->depth + 1 : 0;
    return arena_copy(way->kernel->ctx->arena, &frame, sizeof frame);
}

/* The loops of all tags, below OUTER. */
static const Frame *push_tags(Way *way, const Frame *outer)
{
    for (int i = 0; i < way->kernel->tags.count; i++) {
        const KernelTag *tag = &way->kernel->tags.data[i];
        Range range = {expr_int(way->kernel->ctx, tag->var->dtype, 0), tag->loop->extent};
        outer = push(way, outer, (Frame){.kind = FRAME_LOOP, .var = tag->var, .range = range, .stmt = tag->loop_stmt});
    }
    return outer;
}

static const Frame *thread_frame(Way *way, const Frame *frame, const Frame *outer)
{
    const ForStmt *loop = frame->kind == FRAME_LOOP && frame->stmt->kind == STMT_FOR ? &frame->stmt->as.loop : NULL;
    if (!loop || loop->kind != FOR_THREAD)
        return push(way, outer, *frame);
    const KernelTag *tag = tag_named(way->kernel, loop->thread);
    Context *ctx = way->kernel->ctx;
    const Expr *index = expr_var(ctx, tag->var);
    if (!dtype_equal(index->dtype, loop->var->dtype))
        index = op_cast(ctx, loop->var->dtype, index);
    if (!expr_is_int(loop->min, 0))
        index = op_add(ctx, loop->min, index);
    return push(way, outer, (Frame){.kind = FRAME_BIND, .var = loop->var, .value = index, .stmt = frame->stmt});
}

/* FRAME, which lies inside of the kernel, as the threads go. */
static const Frame *way_inside(Way *way, const Frame *frame)
{
    const Frame *known = map_get(&way->frames, frame);
    if (known)
        return known;
    bool starts = frame->kind == FRAME_LOOP && frame->stmt == way->kernel->stmt;
    if (starts && !way->below)
        way->below = push_tags(way, frame->outer);
    const Frame *result = thread_frame(way, frame, starts ? way->below : way_inside(way, frame->outer));
    map_set(way->kernel->ctx->arena, &way->frames, frame, (void *)result);
    return result;
}

/* --- all kernels --- */

/* The accesses of a statement follow one another. */
typedef struct {
    int first, end; /* END is excluded */
} HeldRange;

typedef VEC(int) NumberList;

static const Stmt *outermost_thread_loop(const Frame *frame)
{
    const Stmt *loop = NULL;
    for (; frame; frame = frame->outer)
        if (frame->kind == FRAME_LOOP && frame->stmt->kind == STMT_FOR && frame->stmt->as.loop.kind == FOR_THREAD)
            loop = frame->stmt;
    return loop;
}

static void note_number(Context *ctx, Map *by_data, const void *key, int number)
{
    NumberList *numbers = map_get(by_data, key);
    if (!numbers)
        map_set(ctx->arena, by_data, key, numbers = ARENA_NEW(ctx->arena, NumberList));
    vec_push(ctx->arena, numbers, number);
}

KernelSet dependence_collect_kernels(Context *ctx, const Func *func)
{
    KernelSet set = {.ctx = ctx, .func = func, .accesses = access_collect(ctx, func), .sizes = func_sizes(ctx, func)};
    for (int i = 0; i < set.accesses.count; i++) {
        const Access *access = &set.accesses.data[i];
        const Stmt *loop = outermost_thread_loop(access->frame);
        HeldRange *held = loop ? map_get(&set.held, loop) : NULL;
        if (held)
            held->end = i + 1;
        else if (loop)
            map_set(ctx->arena, &set.held, loop, arena_copy(ctx->arena, &(HeldRange){i, i + 1}, sizeof *held));
        if (access->data)
            note_number(ctx, &set.by_data, access->data, i);
        if (access->fence)
            note_number(ctx, &set.by_data, func, i);
    }
    return set;
}

/* --- the accesses --- */

typedef struct {
    Arena *arena;
    Map data; /* memory to which the accesses outside of the kernel matter */
} SharedMemory;

static bool note_load(Visitor *visitor, const Expr *expr)
{
    SharedMemory *shared = visitor->data;
    if (expr->kind == EXPR_LOAD)
        map_set(shared->arena, &shared->data, expr->value.buffer->data, expr->value.buffer->data);
    return true;
}

/* What is bound around the kernel to a value that is read. */
static void note_loads_around(SharedMemory *shared, const Frame *frame)
{
    Visitor visitor = {.expr = note_load, .data = shared};
    for (; frame; frame = frame->outer)
        if (frame->value)
            visit_expr(&visitor, frame->value);
}

/* Each thread or block has its own of the memory of ACCESS, or may get its own. */
static bool may_be_private(const Func *func, const Access *access)
{
    return access->data && (!func_is_argument(func, access->data) || scope_class(access->buffer->scope) != SCOPE_GLOBAL);
}

static SharedMemory find_shared(Context *ctx, const Func *func, const Stmt *stmt, const Access *held, int count)
{
    SharedMemory shared = {.arena = ctx->arena};
    const Frame *frame = count ? held->frame : NULL;
    for (int i = 0; i < count; i++)
        if (may_be_private(func, &held[i]))
            map_set(ctx->arena, &shared.data, held[i].data, held[i].data);
    while (frame && !(frame->kind == FRAME_LOOP && frame->stmt == stmt))
        frame = frame->outer;
    note_loads_around(&shared, frame);
    return shared;
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void add_numbers(Context *ctx, const KernelSet *set, const void *key, NumberList *numbers)
{
    const NumberList *more = map_get(&set->by_data, key);
    for (int i = 0; more && i < more->count; i++)
        vec_push(ctx->arena, numbers, more->data[i]);
}

/* The numbers of those accesses of SET that the questions about the kernel may ask for, in order; some may be there twice. */
static NumberList numbers_of_interest(const KernelSet *set, const SharedMemory *shared, HeldRange held)
{
    NumberList numbers = {0};
    bool sorted = true;
    for (int i = held.first; i < held.end; i++)
        vec_push(set->ctx->arena, &numbers, i);
    for (int i = 0; i < shared->data.count; i++)
        add_numbers(set->ctx, set, shared->data.entries[i].key, &numbers);
    add_numbers(set->ctx, set, set->func, &numbers);
    for (int i = 1; i < numbers.count; i++)
        sorted &= numbers.data[i - 1] <= numbers.data[i];
    if (!sorted)
        qsort(numbers.data, (size_t)numbers.count, sizeof *numbers.data, compare_ints);
    return numbers;
}

static void keep_accesses(Kernel *kernel, const KernelSet *set)
{
    Context *ctx = kernel->ctx;
    const HeldRange *range = map_get(&set->held, kernel->stmt);
    HeldRange held = range ? *range : (HeldRange){0, 0};
    SharedMemory shared = find_shared(ctx, set->func, kernel->stmt, set->accesses.data + held.first, held.end - held.first);
    NumberList numbers = numbers_of_interest(set, &shared, held);
    Way way = {.kernel = kernel};
    for (int i = 0; i < numbers.count; i++) {
        int number = numbers.data[i];
        Access access = set->accesses.data[number];
        if (i && number == numbers.data[i - 1])
            continue;
        vec_push(ctx->arena, &kernel->original, access);
        if (number >= held.first && number < held.end)
            access.frame = way_inside(&way, access.frame);
        vec_push(ctx->arena, &kernel->accesses, access);
    }
}

Kernel kernel_of_loop(const KernelSet *set, const Stmt *stmt)
{
    Kernel kernel = {.ctx = set->ctx, .stmt = stmt, .sizes = set->sizes};
    Tagging tagging = {.kernel = &kernel};
    Visitor visitor = {.stmt = note_stmt, .data = &tagging};
    visit_stmt(&visitor, stmt);
    sort_block_tags_first(&kernel);
    if (all_tags_known(&kernel))
        keep_accesses(&kernel, set);
    return kernel;
}

bool kernel_holds(const Kernel *kernel, int index)
{
    return kernel->accesses.data[index].frame != kernel->original.data[index].frame;
}

ScopeClass kernel_scope(const Kernel *kernel, const Access *access)
{
    ScopeClass scope = access->buffer ? scope_class(access->buffer->scope) : SCOPE_GLOBAL;
    return scope == SCOPE_GLOBAL && access->data && map_has(&kernel->allocated, access->data) ? SCOPE_LOCAL : scope;
}
