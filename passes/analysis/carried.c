/* May the iterations of one loop run at once? See dependence_independent in dependence.h. */
#include "ir/walk.h"
#include "passes/analysis/access_rows.h"
#include "passes/analysis/pair.h"
#include "passes/analysis/race.h"
#include "passes/analysis/witness.h"

/* The number of the loop over VAR among the loops around ACCESS, or -1. */
static int loop_level(const Pair *pair, const Var *var)
{
    for (int i = 0; i < pair->common; i++)
        if (pair->loops_a[i]->var == var)
            return i;
    return -1;
}

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
    int level = loop_level(&pair, var);
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

/* --- private scratch --- */

bool frame_depends(const Frame *frame, const Expr *expr, const Var *var)
{
    if (expr_uses_var(expr, var))
        return true;
    for (const Frame *outer = frame; outer; outer = outer->outer)
        if (outer->kind == FRAME_BIND && expr_uses_var(expr, outer->var) && frame_depends(outer->outer, outer->value, var))
            return true;
    return false;
}

/* The loop over VAR takes part in a reduction around ACCESS: one iteration of it does not hold the init of all that it reads. With INIT: in
   one to whose init ACCESS belongs, so that only the first iteration holds it. */
static bool loop_is_reduced(const Access *access, const Var *var, bool init)
{
    for (const Frame *frame = access->frame; frame; frame = frame->outer)
        if (frame->kind == FRAME_BLOCK && frame_reduces_over(frame, var) && (!init || frame_in_init(access->frame, frame)))
            return true;
    return false;
}

/* The same for the loop over VAR or one around it: an init before that one is not in each iteration of the loop over VAR either. */
static bool is_reduced_around(const Access *access, const Var *var, bool init)
{
    for (const Frame *loop = access_loop(access, var); loop; loop = loop->outer)
        if (loop->kind == FRAME_LOOP && loop_is_reduced(access, loop->var, init))
            return true;
    return false;
}

/* Restricts SPACE to the iterations of the first COUNT loops of ACCESS in which it runs. The init of a reduction over one of them does not
   run in each; what it reads is read where nothing is reduced, too. */
static void assume_runs(Context *ctx, AffineSpace *space, const Access *access, int count, const AffineEnv *env)
{
    int loop_count;
    const Frame **loops = frame_loops(ctx, access->frame, &loop_count);
    bool reduced = false;
    for (int i = 0; i < count; i++)
        reduced |= loop_is_reduced(access, loops[i]->var, false);
    if (!access->write && access_may_lack_updates(access))
        access_assume_anywhere(space, access, env);
    else if (reduced)
        frame_assume(space, access->frame, env);
    else
        access_assume(space, access, env);
}

/* The elements that ACCESS touches in one iteration of the first loops, which TERMS fixes: a set over those loops and the element. NULL
   when unknown; *EXACT false when it may be too large. */
static isl_set *touched_elements(Context *ctx, const Access *access, AffineTerms *terms, const Map *sizes, bool *exact)
{
    int count = terms->fixed;
    int loops;
    frame_loops(ctx, access->frame, &loops);
    AffineSpace space = affine_universe(ctx, loops + access->buffer->ndim, sizes);
    space.terms = terms;
    const AffineEnv *env = frame_env(ctx, access->frame, 0);
    assume_runs(ctx, &space, access, count, env);
    access_assume_element(&space, access, env, loops);
    *exact = !space.approximate;
    for (int i = 0; !access->asked && i < access->buffer->ndim; i++) { /* no program touches elements out of bounds */
        Range whole = {expr_int(ctx, access->buffer->shape[i]->dtype, 0), access->buffer->shape[i]};
        affine_assume_range(&space, NULL, loops + i, whole);
    }
    isl_set *set = affine_take_set(&space);
    return set ? isl_set_project_out(set, isl_dim_set, (unsigned)count, (unsigned)(loops - count)) : NULL;
}

/* How many loops both share: *COMMON. False when WRITE need not run in each iteration of them, or READ not in one of them. */
static bool runs_in_common_loops(Context *ctx, const Access *write, const Access *read, int *common)
{
    int count_write, count_read;
    const Frame **loops_write = frame_loops(ctx, write->frame, &count_write), **loops_read = frame_loops(ctx, read->frame, &count_read);
    *common = 0;
    while (*common < count_write && *common < count_read && loops_write[*common] == loops_read[*common])
        ++*common;
    for (int i = *common; i < count_write; i++)
        if (loops_write[i]->unsure)
            return false;
    for (int i = 0; i < *common; i++)
        if (access_runs_without(read, loops_write[i]))
            return false;
    return !write->may && (!write->never || read->never);
}

/* The elements that the read of GOAL touches lie in WRITTEN (taken; NULL when it is not known), which shares TERMS. */
static Answer lie_in(const Goal *goal, AffineTerms *terms, isl_set *written)
{
    bool exact;
    isl_set *needed = written ? touched_elements(goal->ctx, goal->read, terms, goal->sizes, &exact) : NULL;
    needed = affine_bound_params(needed, goal->sizes, terms);
    bool covers = needed && isl_set_is_subset(needed, written) == isl_bool_true;
    isl_set_free(needed);
    isl_set_free(written);
    return answer_if(covers);
}

Answer covered_by_set(const Goal *goal)
{
    AffineTerms terms = {.fixed = goal->common};
    bool exact;
    isl_set *written = touched_elements(goal->ctx, goal->writes[0], &terms, goal->sizes, &exact);
    if (exact)
        return lie_in(goal, &terms, written);
    isl_set_free(written);
    return answer_unknown("what is written is not affine");
}

Answer covered_by_filled_box(const Goal *goal)
{
    AffineTerms terms = {.fixed = goal->common};
    return lie_in(goal, &terms, access_filled_box(goal->ctx, goal->writes[0], &terms, goal->sizes));
}

static bool covers_as_named(Context *ctx, const Access *write, const Access *read, const Map *sizes)
{
    int common;
    if (!runs_in_common_loops(ctx, write, read, &common))
        return false;
    return answer_is_shown(prove((Goal){
        .kind = GOAL_COVERED, .ctx = ctx, .sizes = sizes, .writes = &write, .write_count = 1, .read = read, .common = common}));
}

static bool is_covered(Context *ctx, const Access *write, const Access *read, const Map *sizes)
{
    if (covers_as_named(ctx, write, read, sizes))
        return true;
    const Access plain_write = access_unsplit(write), plain_read = access_unsplit(read);
    return write->rows && read->rows && covers_as_named(ctx, &plain_write, &plain_read, sizes);
}

bool access_covers(Context *ctx, const Access *write, const Access *read, const Map *sizes)
{
    Arena *outside = context_begin_scratch(ctx);
    bool covers = is_covered(ctx, write, read, sizes);
    context_end_scratch(ctx, outside);
    return covers;
}

/* What READ reads in one iteration of the first loops, which TERMS fixes, and those of WRITES that share just these loops with it do not
   write; NULL when unknown. *EXACT false when it may be too large, for only what a write certainly touches is taken out. */
static isl_set *left_unwritten(Context *ctx, const Access *const *writes, int count, const Access *read, AffineTerms *terms,
                               const Map *sizes, bool *exact)
{
    isl_set *left = touched_elements(ctx, read, terms, sizes, exact);
    for (int i = 0; i < count && left; i++) {
        int common;
        bool known = true, runs = runs_in_common_loops(ctx, writes[i], read, &common);
        isl_set *written = runs && common == terms->fixed ? touched_elements(ctx, writes[i], terms, sizes, &known) : NULL;
        if (written && !known) {
            isl_set_free(written);
            written = access_filled_box(ctx, writes[i], terms, sizes);
        }
        *exact &= written && known;
        if (written)
            left = isl_set_subtract(left, written);
    }
    return left;
}

Answer covered_by_union(const Goal *goal)
{
    Context *ctx = goal->ctx;
    Arena *outside = context_begin_scratch(ctx);
    bool covers = false;
    for (int i = 0; i < goal->write_count && goal->write_count > 1 && !covers; i++) {
        AffineTerms terms = {0};
        bool exact;
        if (!runs_in_common_loops(ctx, goal->writes[i], goal->read, &terms.fixed))
            continue;
        isl_set *left = left_unwritten(ctx, goal->writes, goal->write_count, goal->read, &terms, goal->sizes, &exact);
        left = affine_bound_params(left, goal->sizes, &terms);
        covers = left && isl_set_is_empty(left) == isl_bool_true;
        isl_set_free(left);
    }
    context_end_scratch(ctx, outside);
    return answer_if(covers);
}

bool access_together_cover(Context *ctx, const Access *const *writes, int count, const Access *read, const Map *sizes)
{
    return answer_is_shown(prove((Goal){
        .kind = GOAL_COVERED_TOGETHER, .ctx = ctx, .sizes = sizes, .writes = writes, .write_count = count, .read = read}));
}

const char *access_uncovered(Context *ctx, const Access *const *writes, int count, const Access *read, const Map *sizes)
{
    Pair pair = pair_new(ctx, writes[0], read);
    bool exact;
    AffineTerms terms = {.fixed = pair.common};
    isl_set *left = left_unwritten(ctx, writes, count, read, &terms, sizes, &exact);
    if (!exact || terms.known.count || !left || writes[0]->buffer->ndim != read->buffer->ndim) {
        isl_set_free(left);
        return NULL;
    }
    AffineSpace missing = affine_of_set(ctx, left, sizes);
    int64_t *values = ARENA_ARRAY(ctx->arena, int64_t, pair.common + read->buffer->ndim);
    const char *params;
    bool found = affine_sample(&missing, values, &params);
    affine_free(&missing);
    if (!found)
        return NULL;
    Witness witness = witness_new(ctx, read->func, read->frame, NULL);
    witness_add_accessed(&witness, read, values + pair.common);
    strbuf_add(&witness.text, pair.common ? " (at " : "");
    witness_add_iteration(&witness, pair.loops_a, pair.common, values);
    if (*params)
        strbuf_printf(&witness.text, "%s%s", pair.common ? ", " : " (with ", params);
    strbuf_add(&witness.text, pair.common || *params ? ")" : "");
    return strbuf_text(&witness.text);
}

typedef VEC(const Access *) AccessRefs;

/* FRAME lies inside of the loop over VAR; everything lies in the whole function, which no VAR stands for. */
static bool frame_in_loop(const Frame *frame, const Var *var)
{
    return !var || (frame && access_loop(&(Access){.frame = frame}, var));
}

/* The reduction that ACCESS is part of, its init included, lies inside of the loop over VAR. */
static bool group_is_in_loop(const Access *access, const Var *var)
{
    const Frame *frame = access->frame;
    while (frame->kind != FRAME_BLOCK || frame->stmt->as.block.block != access->group)
        frame = frame->outer;
    return frame_in_loop(frame, var);
}

bool access_is_filled(Context *ctx, const AccessList *accesses, const Map *sizes, const Access *read, const Var *var)
{
    if (read->initialized && !is_reduced_around(read, var, false) && group_is_in_loop(read, var))
        return true;
    AccessRefs earlier = {0};
    for (int i = 0; i < accesses->count; i++) {
        const Access *write = &accesses->data[i];
        bool counts = write->write && write->data == read->data && !write->whole && !read->whole && write->stmt != read->stmt;
        if (!counts || (read->group && write->group == read->group))
            continue; /* the init of its own reduction was looked at above */
        if (!frame_in_loop(frame_common(write->frame, read->frame), var) || !access_precedes(write, read) || is_reduced_around(write, var, true))
            continue;
        if (access_covers(ctx, write, read, sizes))
            return true;
        vec_push(ctx->arena, &earlier, write);
    }
    return access_together_cover(ctx, earlier.data, earlier.count, read, sizes);
}

bool shown_is_private(Context *ctx, const AccessList *accesses, const Map *sizes, const Var *data, const Var *var)
{
    for (int i = 0; i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        if (access->fence || access->data != data)
            continue;
        if (!access_loop(access, var) || access->whole)
            return false;
        if (!access->write && !access_is_filled(ctx, accesses, sizes, access, var))
            return false;
    }
    return true;
}

/* The innermost loop around BLOCK, which ACCESS lies in; NULL when there is none. */
static const Var *loop_around_block(const Access *access, const Block *block)
{
    const Frame *frame = access->frame;
    while (frame->kind != FRAME_BLOCK || frame->stmt->as.block.block != block)
        frame = frame->outer;
    while (frame && frame->kind != FRAME_LOOP)
        frame = frame->outer;
    return frame ? frame->var : NULL;
}

/* ACCESS, which lies in BLOCK, updates a reduction that BLOCK is only a part of: the init lies outside. */
static bool is_inited_outside(const Access *access, const Block *block)
{
    const Frame *frame = access->frame;
    while (frame->kind != FRAME_BLOCK || (frame->stmt->as.block.block != block && frame->stmt->as.block.block != access->group))
        frame = frame->outer;
    return access->group && frame->stmt->as.block.block != access->group;
}

bool shown_reads_own_writes(Context *ctx, const Func *func, const Block *block, const Buffer *buffer)
{
    const Var *data = buffer_viewed(func, buffer)->data;
    AccessList all = access_collect(ctx, func), own = {0};
    Map sizes = func_sizes(ctx, func);
    for (int i = 0; i < all.count; i++)
        if (access_in_block(&all.data[i], block))
            vec_push(ctx->arena, &own, all.data[i]);
    for (int i = 0; i < own.count; i++) {
        const Access *access = &own.data[i];
        bool may_read = access->fence || (access->data == data && !access->write);
        if (may_read && (access->fence || is_inited_outside(access, block) ||
                         !access_is_filled(ctx, &own, &sizes, access, loop_around_block(access, block))))
            return false;
    }
    return true;
}

const Access *dependence_reads_target_apart(Context *ctx, const Func *func, const Block *block)
{
    AccessList accesses = access_collect(ctx, func);
    Map targets = {0};
    for (int i = 0; i < accesses.count; i++)
        if (accesses.data[i].write && accesses.data[i].data && access_in_block(&accesses.data[i], block))
            map_set(ctx->arena, &targets, accesses.data[i].data, accesses.data[i].data);
    for (int i = 0; i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        bool apart = access->data && map_has(&targets, access->data) && !access->group;
        if ((apart || access->fence) && access_in_block(access, block))
            return arena_copy(ctx->arena, access, sizeof *access);
    }
    return NULL;
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

static bool is_thread_loop(const Frame *frame)
{
    return frame->kind == FRAME_LOOP && frame->stmt->kind == STMT_FOR && frame->stmt->as.loop.kind == FOR_THREAD;
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
    while (frame && !is_thread_loop(frame))
        frame = frame->outer;
    return frame;
}

/* Threads reduce together into the memory DATA: what one of them finds there, all of them have made. */
static bool is_reduced_by_threads(const AccessList *accesses, const Var *data)
{
    for (int i = 0; i < accesses->count; i++) {
        const Access *access = &accesses->data[i];
        for (const Frame *frame = access->frame; access->data == data && access->write && frame; frame = frame->outer)
            if (is_thread_loop(frame) && access_reduced_across(access, frame->var))
                return true;
    }
    return false;
}

/* Scratch that each iteration fills before it reads it: parallel iterations and blocks get memory of their own, threads only in scopes that
   say so, and iterations inside of a thread none in what the threads of the block share. */
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
