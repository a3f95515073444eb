/* Pass "init": the init of a reduction block becomes ordinary statements.

     for i, k in T.grid(n, m):                              for i in range(n):
         with T.block("C"):                                     with T.block("C_init"):
             vi, vk = T.axis.remap("SR", [i, k])                    vi = T.axis.spatial(n, i)
             with T.init():                             ->          C[vi] = T.float32(0.0)
                 C[vi] = T.float32(0.0)                         for k in range(m):
             C[vi] = C[vi] + A[vi, vk]                              with T.block("C"):
                                                                        vi, vk = T.axis.remap("SR", [i, k])
                                                                        C[vi] = C[vi] + A[vi, vk]

   The init runs once for each spatial point before its first update, also where the reduction domain is empty. Two forms give that:
   - A nest before the outermost loop that the reduction axes depend on. It runs the init at all points that the loops inside may reach;
     conditions that depend on the reduction alone do not count. That is the meaning where points may lack updates. Else it is used where
     nothing else inside that loop touches what the init writes or writes what the init reads.
   - Else a guard, `if vk == 0: init` inside the block: only where the first update that runs for each point provably is the first iteration
     of all reduction loops, which the reduction axes tell from the others.
   - Else a flag for each point, cleared by a nest, tells whether the point has had its init: `if not C_begun[vi]: C_begun[vi] = True; init`
     inside the block, or in a nest of its own where points may lack updates.
   A block to which none applies is refused. */
#include "passes/lower/blocks/init.h"

#include "passes/lower/core/effects.h"
#include "passes/regions/infer_regions.h"

typedef VEC(Buffer *) BufferList;

/* A buffer of flags and the block that allocates it. */
typedef struct {
    Buffer *buffer;
    const Block *owner;
} Flags;

typedef struct {
    bool guard_first; /* LowerOptions.guard_init */
    VEC(Buffer *) updated; /* with guard_first: written by blocks whose init was split off */
    VEC(Around) frames;
    Map params; /* what the parameters define */
    Map roots; /* of views, see effects.h */
    Map nests; /* Var of a loop -> const Stmt * to run before it */
    Map flags; /* Block -> BufferList * of flags to allocate there */
    VEC(Flags) open; /* those whose block is not finished yet */
} InitPass;

/* --- The nest --- */
static bool passes_while_loop(const InitSite *site)
{
    for (int i = site->outer; i < site->frame_count; i++)
        if (site->frames[i].stmt->kind == STMT_WHILE)
            return true;
    return false;
}

/* Some loop bound, binding or condition between outer and the block has effects, which a nest would repeat. */
static bool way_has_effects(const InitSite *site)
{
    bool found = false;
    for (int i = 0; i < site->conditions.count; i++)
        found |= site->conditions.data[i].expr->opaque;
    for (int i = 0; i < site->block->iter_count; i++)
        found |= site->bindings[i]->opaque;
    for (int i = site->outer; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        found |= stmt->kind == STMT_FOR && (stmt->as.loop.min->opaque || stmt->as.loop.extent->opaque);
        found |= stmt->kind == STMT_LET && stmt->as.let.value->opaque;
    }
    return found;
}

/* What is defined inside of PART, which is the frame at INDEX or its body. */
static Map symbols_inside(const InitSite *site, int index, const Stmt *part)
{
    Map visible = {0};
    for (int i = 0; i < site->params->count; i++)
        map_set(site->ctx->arena, &visible, site->params->entries[i].key, site->params->entries[i].value);
    for (int i = 0; i < index || (i == index && part != site->frames[i].stmt); i++)
        symbols_add_own(site->ctx, &visible, site->frames[i].stmt);
    return symbols_defined(site->ctx, part, &visible);
}

/* The nest can stand before outer: all that it names is visible there. */
static bool nest_is_possible(const InitSite *site, const Stmt *nest)
{
    Map inside = symbols_inside(site, site->outer, site->frames[site->outer].stmt);
    return !passes_while_loop(site) && !way_has_effects(site) && !stmt_mentions_any(nest, &inside);
}

/* The nest, whose effects INIT are, leaves the same memory as the init run before the first update of each point. */
static bool nest_is_invisible(const InitSite *site, const Effects *init, const Map *roots)
{
    Context *ctx = site->ctx;
    const Stmt *block = site->frames[site->frame_count - 1].stmt;
    Effects body = effects_of_stmt(ctx, roots, site->block->body, NULL),
            others = effects_of_stmt(ctx, roots, site->frames[site->outer].stmt, block);
    if (maps_meet(&others.reads, &init->writes) || maps_meet(&others.writes, &init->writes) || maps_meet(&others.writes, &init->reads))
        return false;
    /* all inits come before all updates now: what updates change besides their own point, no init may need */
    for (int i = 0; i < body.writes.count; i++)
        if (map_has(&init->reads, body.writes.entries[i].key) && !map_has(&init->writes, body.writes.entries[i].key))
            return false;
    return !effects_read_other_elements(init, roots);
}

/* The nest is what the init means. Where points may lack updates, it is by definition; only, an init that reads what it writes must not run
   twice. */
static bool nest_is_right(const InitSite *site, const Stmt *nest, Map *roots)
{
    if (!nest_is_possible(site, nest))
        return false;
    effects_add_view_roots(site->ctx, roots, nest);
    Effects init = effects_of_stmt(site->ctx, roots, nest, NULL);
    if (init_site_nest_repeats_points(site) && maps_meet(&init.reads, &init.writes))
        return false;
    return init_site_points_may_lack_updates(site) || nest_is_invisible(site, &init, roots);
}

/* --- The flags --- */
/* The index of the innermost block around outer, where flags can be allocated; -1: there is none. */
static int block_around(const InitSite *site)
{
    int index = site->outer;
    while (index >= 0 && site->frames[index].stmt->kind != STMT_BLOCK)
        index--;
    return index;
}

/* The block at index AROUND sees the sizes of FLAGS; the points can be counted before outer, and are the same there as later. Where points may lack
   updates, their init can stand there too. */
static bool flags_are_possible(const InitSite *site, int around, const InitFlags *flags, Map *roots)
{
    if (init_site_points_may_lack_updates(site) && !nest_is_possible(site, flags->nest))
        return false;
    Map inside = symbols_inside(site, around, site->frames[around].stmt->as.block.body);
    for (int i = 0; i < flags->buffer->ndim; i++)
        if (expr_uses_any(flags->buffer->shape[i], &inside) || expr_reads_memory(flags->buffer->shape[i]))
            return false;
    if (!nest_is_possible(site, flags->clear))
        return false;
    effects_add_view_roots(site->ctx, roots, flags->clear);
    Effects clear = effects_of_stmt(site->ctx, roots, flags->clear, NULL);
    Effects loops = effects_of_stmt(site->ctx, roots, site->frames[site->outer].stmt, NULL);
    return !maps_meet(&loops.writes, &clear.reads);
}

/* --- The pass --- */
static void add_nest(Context *ctx, InitPass *pass, const InitSite *site, const Stmt *nest)
{
    const Var *loop = site->frames[site->outer].stmt->as.loop.var;
    const Stmt *before = map_get(&pass->nests, loop);
    if (before) {
        const Stmt *both[] = {before, nest};
        nest = stmt_seq(ctx, both, 2);
    }
    map_set(ctx->arena, &pass->nests, loop, (void *)nest);
}

static void refuse(const InitSite *site)
{
    const Stmt *block = site->frames[site->frame_count - 1].stmt, *outer = site->frames[site->outer].stmt;
    diag_error(site->ctx, block->span, "the init of block '%s' can stand neither before its reduction nor in the first iteration of it",
               site->block->block->name);
    diag_note(site->ctx, outer->span,
              "loop '%s' holds other accesses to what the init needs, and the first update of each point is not shown to be the first iteration",
              outer->as.loop.var->name);
}

/* The init of UPDATE under a flag for each point, where that is possible; otherwise false. *INIT is what is left of it in the block. */
static bool add_flags(InitPass *pass, const InitSite *site, BlockStmt *update, const Stmt **init)
{
    Context *ctx = site->ctx;
    int around = block_around(site);
    if (around < 0)
        return false;
    InitFlags flags = init_site_flags(site);
    if (!flags_are_possible(site, around, &flags, &pass->roots))
        return false;
    const Block *block = site->frames[around].stmt->as.block.block;
    BufferList *list = map_get(&pass->flags, block);
    if (!list) {
        list = ARENA_NEW(ctx->arena, BufferList);
        map_set(ctx->arena, &pass->flags, block, list);
    }
    vec_push(ctx->arena, list, flags.buffer);
    vec_push(ctx->arena, &pass->open, ((Flags){flags.buffer, block}));
    add_nest(ctx, pass, site, flags.clear);
    if (init_site_points_may_lack_updates(site)) {
        add_nest(ctx, pass, site, flags.nest);
        *init = stmt_empty(ctx);
        return true;
    }
    regions_add(ctx, &update->reads, &update->read_count, flags.region);
    regions_add(ctx, &update->writes, &update->write_count, flags.region);
    *init = flags.init;
    return true;
}

/* A loop that is not of the reduction has no iterations: there is no point that could have an init. */
static bool has_no_point(const InitSite *site)
{
    for (int i = 0; i < site->frame_count; i++) {
        const Stmt *stmt = site->frames[i].stmt;
        if (stmt_is_empty_loop(stmt) && (i < site->outer || map_has(&site->spatial_loops, stmt->as.loop.var)))
            return true;
    }
    return false;
}

/* Loops without an iteration are around all that STMT does. */
static bool does_nothing(const Stmt *stmt)
{
    bool nothing = stmt_is_empty_loop(stmt) || stmt->kind == STMT_SEQ;
    for (int i = 0; stmt->kind == STMT_SEQ && i < stmt->as.seq.count && nothing; i++)
        nothing = does_nothing(stmt->as.seq.items[i]);
    if (stmt->kind == STMT_FOR || (stmt->kind == STMT_BLOCK && !stmt->as.block.init))
        nothing |= does_nothing(stmt_body(stmt));
    return nothing;
}

/* Each loop of the reduction has an iteration, so that a point whose first one no condition excludes has an update. */
static bool reduction_runs(const InitSite *site)
{
    int64_t extent;
    for (int i = 0; i < site->reduce_loops.count; i++) {
        const Stmt *loop = site->reduce_loops.entries[i].value;
        if (loop->kind != STMT_FOR || !expr_const_int(loop->as.loop.extent, &extent) || extent <= 0)
            return false;
    }
    return true;
}

/* The threads of a reduction share what they reduce into: a first iteration is that of one thread alone. False after a diagnostic. */
static bool is_in_one_thread(const InitSite *site)
{
    for (int i = 0; i < site->reduce_loops.count; i++) {
        const Stmt *loop = site->reduce_loops.entries[i].value;
        if (loop->kind != STMT_FOR || loop->as.loop.kind != FOR_THREAD)
            continue;
        diag_error(site->ctx, loop->span, "block '%s' reduces over the threads of loop '%s': run lower_cross_thread_reduction before it",
                   site->block->block->name, loop->as.loop.var->name);
        return false;
    }
    return true;
}

/* STMT is a block. Inside of it, updates of the buffers from FIRST on lost their init. In the result the block also declares its writes of these
   buffers as reads. */
static const Stmt *declare_updates(Context *ctx, const InitPass *pass, const Stmt *stmt, int first)
{
    BlockStmt block = stmt->as.block;
    for (int i = first; i < pass->updated.count; i++)
        for (int w = 0; w < block.write_count; w++)
            if (block.writes[w].buffer == pass->updated.data[i] && !regions_have(block.reads, block.read_count, &block.writes[w]))
                regions_add(ctx, &block.reads, &block.read_count, block.writes[w]);
    return block.read_count == stmt->as.block.read_count ? stmt : stmt_block(ctx, block, stmt->span);
}

/* STMT, a block with init, as its update, with the init in it where that is its place. */
static const Stmt *split_init(Context *ctx, InitPass *pass, const Stmt *stmt)
{
    InitSite *site = init_site_new(ctx, &pass->params, pass->frames.data, pass->frames.count, &stmt->as.block);
    BlockStmt update = stmt->as.block;
    const Stmt *init = update.init, *parts[2] = {init, update.body};
    update.init = NULL;
    if (pass->guard_first && !is_in_one_thread(site))
        return stmt;
    if (site->outer >= 0) {
        update.reads = regions_read_by_update(ctx, &update, &update.read_count);
        for (int i = 0; i < update.write_count && pass->guard_first; i++)
            vec_push(ctx->arena, &pass->updated, update.writes[i].buffer);
        if (has_no_point(site) || does_nothing(init))
            return stmt_block(ctx, update, stmt->span);
        const Stmt *nest = init_site_nest(site);
        bool guarded = pass->guard_first && reduction_runs(site) && init_site_guard(site);
        if (!guarded && nest_is_right(site, nest, &pass->roots)) {
            add_nest(ctx, pass, site, nest);
            return stmt_block(ctx, update, stmt->span);
        }
        const Expr *guard = init_site_guard(site);
        if (guard)
            parts[0] = stmt_if(ctx, guard, init, NULL, init->span);
        else if (!add_flags(pass, site, &update, &parts[0])) {
            refuse(site);
            return stmt;
        }
    }
    update.body = stmt_seq(ctx, parts, 2);
    return stmt_block(ctx, update, stmt->span);
}

/* BLOCK, which allocates BUFFERS too. */
static const Stmt *with_allocations(Context *ctx, const Stmt *stmt, const BufferList *buffers)
{
    BlockStmt block = stmt->as.block;
    Buffer **allocs = ARENA_ARRAY(ctx->arena, Buffer *, block.alloc_count + buffers->count);
    for (int i = 0; i < block.alloc_count; i++)
        allocs[i] = block.allocs[i];
    for (int i = 0; i < buffers->count; i++)
        allocs[block.alloc_count++] = buffers->data[i];
    block.allocs = allocs;
    return stmt_block(ctx, block, stmt->span);
}

/* STMT, a block inside of which the flags from FIRST on were made, as it declares those that lie outside of it. */
static const Stmt *declare_flags(Context *ctx, InitPass *pass, const Stmt *stmt, int first)
{
    BlockStmt block = stmt->as.block;
    int left = first;
    for (int i = first; i < pass->open.count; i++) {
        Flags flags = pass->open.data[i];
        if (flags.owner == block.block)
            continue;
        pass->open.data[left++] = flags;
        Region whole = region_whole(ctx, flags.buffer);
        regions_add(ctx, &block.reads, &block.read_count, whole);
        regions_add(ctx, &block.writes, &block.write_count, whole);
    }
    pass->open.count = left;
    return left == first ? stmt : stmt_block(ctx, block, stmt->span);
}

static void enter(Context *ctx, InitPass *pass, const Stmt *stmt, bool negated)
{
    const Frame *frame = pass->frames.count ? pass->frames.data[pass->frames.count - 1].frame : NULL;
    vec_push(ctx->arena, &pass->frames, ((Around){stmt, frame_enter(ctx, frame, stmt, negated)}));
}

static const Stmt *init_in_stmt(Rewriter *rewriter, const Stmt *stmt);

static const Stmt *init_in_branches(Rewriter *rewriter, const Stmt *stmt)
{
    InitPass *pass = rewriter->data;
    const Stmt *bodies[2] = {stmt->as.branch.then_body, stmt->as.branch.else_body};
    for (int i = 0; i < 2 && bodies[i]; i++) {
        enter(rewriter->ctx, pass, stmt, i == 1);
        bodies[i] = init_in_stmt(rewriter, bodies[i]);
        pass->frames.count--;
    }
    if (bodies[0] == stmt->as.branch.then_body && bodies[1] == stmt->as.branch.else_body)
        return stmt;
    return stmt_if(rewriter->ctx, stmt->as.branch.condition, bodies[0], bodies[1], stmt->span);
}

static const Stmt *init_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    InitPass *pass = rewriter->data;
    Context *ctx = rewriter->ctx;
    if (stmt->kind == STMT_IF)
        return init_in_branches(rewriter, stmt);
    enter(ctx, pass, stmt, false);
    int open = pass->open.count, updated = pass->updated.count;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (result->kind == STMT_BLOCK)
        result = declare_updates(ctx, pass, declare_flags(ctx, pass, result, open), updated);
    if (result->kind == STMT_BLOCK && result->as.block.init)
        result = split_init(ctx, pass, result);
    pass->frames.count--;
    const BufferList *flags = stmt->kind == STMT_BLOCK ? map_get(&pass->flags, stmt->as.block.block) : NULL;
    if (flags)
        return with_allocations(ctx, result, flags);
    const Stmt *nest = stmt->kind == STMT_FOR ? map_get(&pass->nests, stmt->as.loop.var) : NULL;
    if (!nest)
        return result;
    const Stmt *both[] = {nest, result};
    return stmt_seq(ctx, both, 2);
}

const Func *lower_init(LowerState *state, const Func *func)
{
    InitPass pass = {.guard_first = state->options->guard_init, .params = symbols_of_params(state->ctx, func)};
    effects_add_view_roots(state->ctx, &pass.roots, func->body);
    Rewriter rewriter = {.ctx = state->ctx, .stmt = init_in_stmt, .data = &pass};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
