/* May the iterations of one loop run at once? See dependence_independent in dependence.h. */
#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/questions/conflict.h"
#include "passes/analysis/questions/race.h"

static bool pair_shares_memory(const Access *a, const Access *b)
{
    return a->fence || b->fence || a->data == b->data;
}

/* Does the first access in one iteration of loop LEVEL meet the second in a later one? */
static bool pair_meets_later(Pair *pair, const Map *sizes, int level, Conflict *conflict)
{
    pair_build(pair, sizes, 0);
    pair_assume_equal(pair, &pair->space, level);
    affine_assume_dims(&pair->space, EXPR_LT, level, pair->count_a + level);
    return pair_conflicts(pair, pair->space, conflict);
}

/* Does A in one iteration of loop LEVEL meet B in a later one? */
static bool meets_later(Context *ctx, const Access *a, const Access *b, const Map *sizes, const Var *var, Conflict *conflict)
{
    Arena *outside = context_begin_scratch(ctx);
    Pair pair = pair_new(ctx, a, b);
    int level = pair_level(&pair, var);
    bool meets = !pair_is_disjoint(&pair, level) && pair_meets_later(&pair, sizes, level, conflict);
    if (meets && !conflict->witnessed) {
        Conflict closer;
        AffineTerms terms = {.fixed = level};
        pair_share_terms(&pair, &terms);
        meets = pair_meets_later(&pair, sizes, level, &closer);
    }
    pair_end_scratch(ctx, outside, meets ? conflict : NULL);
    return meets;
}

/* Buffers that the program itself allocates: only they can be private, and those allocated inside of the loop are. */
typedef struct {
    Context *ctx;
    const Var *var;
    int inside;       /* > 0: the visit is inside the loop over VAR */
    Map data, inner;  /* data variables of all allocations, and of those inside of the loop */
} Allocations;

static void note_allocation(Allocations *allocations, Var *data)
{
    map_set(allocations->ctx->arena, &allocations->data, data, data);
    if (allocations->inside)
        map_set(allocations->ctx->arena, &allocations->inner, data, data);
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    Allocations *allocations = visitor->data;
    allocations->inside += stmt->kind == STMT_FOR && stmt->as.loop.var == allocations->var;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        note_allocation(allocations, stmt->as.block.allocs[i]->data);
    if (stmt->kind == STMT_ALLOCATE)
        note_allocation(allocations, stmt->as.allocate.var);
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    Allocations *allocations = visitor->data;
    allocations->inside -= stmt->kind == STMT_FOR && stmt->as.loop.var == allocations->var;
}

/* --- the question --- */

static bool is_in_threads(RunMode mode)
{
    return mode == RUN_AS_THREADS || mode == RUN_AS_THREADS_SO_FAR || mode == RUN_AS_GIVEN_THREADS;
}

static bool in_loop(const Access *access, const Var *var)
{
    return access_loop(access, var) != NULL;
}

/* FOUND is between accesses of one block. What one iteration wrote being read by a later one tells more than an element that is overwritten:
   puts that in its place. */
static void prefer_flow(Context *ctx, const AccessList *accesses, const Map *sizes, const Var *var, Conflict *found)
{
    AccessRefs own = {0}; /* of the block, but for its init */
    for (int i = 0; i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        if (access->block == found->first->block && in_loop(access, var) && !access_in_init(access))
            vec_push(ctx->arena, &own, access);
    }
    for (int i = 0; i < own.count; i++)
        for (int j = 0; j < own.count && own.data[i]->write; j++) {
            const Access *write = own.data[i], *read = own.data[j];
            Conflict flow;
            bool asked = write->data == read->data && !read->write && !access_precedes(write, read);
            if (asked && meets_later(ctx, write, read, sizes, var, &flow) && flow.witnessed >= found->witnessed) {
                *found = flow;
                return;
            }
        }
}

/* A and B are one store, which vectors make in the order of their lanes, once in each iteration of the loop over VAR. */
static bool is_store_in_order(const Access *a, const Access *b, const Var *var)
{
    const Frame *loop = a->frame;
    while (loop && loop->kind != FRAME_LOOP)
        loop = loop->outer;
    return a == b && a->write && a->stmt->kind == STMT_STORE && loop && loop->var == var;
}

static bool is_in_kernel(const Frame *frame)
{
    while (frame && !frame_is_thread_loop(frame))
        frame = frame->outer;
    return frame;
}

/* Threads reduce together into the memory DATA: what one of them finds there, all of them have made. */
static bool is_reduced_by_threads(const AccessList *accesses, const Var *data)
{
    for (int i = 0; i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        for (const Frame *frame = access->frame; access->data == data && access->write && frame; frame = frame->outer)
            if (frame_is_thread_loop(frame) && access_reduced_across(access, frame->var))
                return true;
    }
    return false;
}

/* Scratch that each iteration fills before it reads it. Parallel iterations and thread blocks get memory of their own. Threads get it only
   in scopes that say so. Iterations inside of a thread get none in memory that the threads of the block share. */
static bool is_private_scratch(Context *ctx, const AccessList *accesses, const Map *sizes, const Access *access, const Var *var,
                               RunMode mode)
{
    ScopeClass scope = scope_class(access->buffer->scope);
    bool in_thread = mode == RUN_AT_ONCE && is_in_kernel(access_loop(access, var));
    bool shared = in_thread && (scope == SCOPE_SHARED || is_reduced_by_threads(accesses, access->data));
    bool own = !is_in_threads(mode) || scope == SCOPE_LOCAL || (mode == RUN_AS_THREADS_SO_FAR && scope == SCOPE_GLOBAL);
    return own && !shared && shown_is_private(ctx, accesses, sizes, access->data, var);
}

/* FOUND is about global scratch that would be private in a scope of which each thread has its own: says so. */
static void name_scope_that_helps(Context *ctx, const AccessList *accesses, const Map *sizes, const Var *var, RunMode mode, Conflict *found)
{
    const Access *access = found->first;
    if (mode == RUN_AS_THREADS && is_private_scratch(ctx, accesses, sizes, access, var, RUN_AS_THREADS_SO_FAR))
        found->text = arena_printf(ctx->arena, "%s; in scope \"local\" each thread would have its own '%s'", found->text, access->buffer->name);
}

/* Of ACCESSES those inside of the loop over VAR, those of inits last: that an update is in the way says more than that an init is, which
   runs in the first iterations of a reduction only. */
static AccessRefs accesses_inside(Context *ctx, const AccessList *accesses, const Var *var)
{
    AccessRefs inside = {0};
    for (int inits = 0; inits < 2; inits++)
        for (int i = 0; i < accesses->count; i++)
            if (in_loop(&accesses->data[i], var) && access_in_init(&accesses->data[i]) == inits)
                vec_push(ctx->arena, &inside, &accesses->data[i]);
    return inside;
}

static ScopeClass scope_of_access(const void *data, const Access *access)
{
    const Allocations *allocations = data;
    ScopeClass scope = access->buffer ? scope_class(access->buffer->scope) : SCOPE_GLOBAL;
    return scope == SCOPE_GLOBAL && access->data && map_has(&allocations->inner, access->data) ? SCOPE_LOCAL : scope;
}

bool conflict_carried(Context *ctx, const Func *func, const AccessList *accesses, const Var *var, RunMode mode, Conflict *conflict)
{
    Map sizes = func_sizes(ctx, func);
    Allocations allocations = {.ctx = ctx, .var = var};
    Visitor visitor = {.stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &allocations};
    visit_stmt(&visitor, func->body);
    Map private_data = {0}; /* data Var -> allocations (private) or NULL */
    Race race = {.ctx = ctx,
                 .accesses = accesses,
                 .sizes = &sizes,
                 .var = var,
                 .ordered = mode != RUN_AS_GIVEN_THREADS,
                 .scope = scope_of_access,
                 .data = &allocations};
    AccessRefs inside = accesses_inside(ctx, accesses, var);
    const Access *unsure = NULL; /* of the conflict so far, which is not shown by a pair of iterations: another of its block may be */
    for (int i = 0; i < inside.count; i++) {
        const Access *a = inside.data[i];
        if (unsure && (a->block != unsure->block || a->data != unsure->data))
            continue;
        bool own = a->data && map_has(&allocations.inner, a->data);
        if (own && !(is_in_threads(mode) && scope_of_access(&allocations, a) == SCOPE_SHARED))
            continue;
        for (int j = 0; j < inside.count; j++) {
            const Access *b = inside.data[j];
            if (!pair_shares_memory(a, b) || pair_is_harmless(a, b, false) || (mode == RUN_AS_LANES && is_store_in_order(a, b, var)))
                continue;
            bool scratch = mode != RUN_AS_LANES && a->data && map_has(&allocations.data, a->data);
            if (scratch && !map_has(&private_data, a->data))
                map_set(ctx->arena, &private_data, a->data, is_private_scratch(ctx, accesses, &sizes, a, var, mode) ? &allocations : NULL);
            Conflict found;
            if (scratch && map_get(&private_data, a->data))
                continue;
            if (!(is_in_threads(mode) ? threads_race(&race, a, b, &found) : meets_later(ctx, a, b, &sizes, var, &found)))
                continue;
            if (a->block && a->block == b->block && b->write)
                prefer_flow(ctx, accesses, &sizes, var, &found);
            if (scratch)
                name_scope_that_helps(ctx, accesses, &sizes, var, mode, &found);
            if (found.witnessed || !unsure)
                *conflict = found;
            if (found.witnessed)
                return true;
            unsure = a;
        }
    }
    return unsure;
}

static bool access_needs_loop(const Access *access, const Var *outer)
{
    bool needs = access->whole || (access->stmt->kind == STMT_STORE && frame_depends(access->frame, access->stmt->as.store.value, outer));
    for (int i = 0; !needs && i < access->buffer->ndim; i++)
        needs = frame_depends(access->frame, access->region.ranges[i].min, outer) ||
                frame_depends(access->frame, access->region.ranges[i].extent, outer);
    return needs;
}

bool conflict_needs_loop(Context *ctx, const Func *func, const Var *inner, const Var *outer)
{
    AccessList accesses = access_collect(ctx, func);
    for (int i = 0; i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        if (!in_loop(access, inner))
            continue;
        if (access_needs_loop(access, outer))
            return true;
        for (const Frame *frame = access->frame; frame->var != outer; frame = frame->outer)
            if ((frame->kind == FRAME_CONDITION && frame_depends(frame->outer, frame->value, outer)) ||
                (frame->kind == FRAME_LOOP && frame_depends(frame->outer, frame->range.extent, outer)))
                return true;
    }
    return false;
}
