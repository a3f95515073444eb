/* See faults.h. */
#include <string.h>

#include "ir/elements.h"
#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/normal/access_rows.h"
#include "passes/analysis/normal/known.h"
#include "passes/analysis/pairs/pair.h"
#include "passes/analysis/questions/faults.h"
#include "support/strbuf.h"

typedef struct {
    Context *ctx;
    AccessList accesses;
    Map sizes;
    Map seen; /* Var of an iterator whose binding was looked at */
    Map owners; /* data Var -> the Block in which its memory comes into being; none for parameters */
    FaultList faults;
} FaultSearch;

/* The iterations in which what is at a frame runs, with further dimensions for the coordinates of a point. */
typedef struct {
    AffineSpace space;
    const AffineEnv *env;
    const Frame **loops;
    int loop_count, dims;
} Site;

/* The iterations of the loops around FRAME are all known to run; those of a loop without any count for its init only (see
   access_collect). */
static bool is_counted(const Frame *frame)
{
    for (; frame; frame = frame->outer)
        if (frame->kind == FRAME_LOOP && (frame->unsure || stmt_is_empty_loop(frame->stmt)))
            return false;
    return true;
}

/* Loops over threads with one tag are one index, which each counts from its own minimum on. */
static void site_join_threads(FaultSearch *search, Site *site)
{
    Context *ctx = search->ctx;
    for (int i = 0; i < site->loop_count; i++)
        for (int j = 0; j < i; j++) {
            const Frame *inner = site->loops[i], *outer = site->loops[j];
            if (!frame_is_thread_loop(inner) || !frame_is_thread_loop(outer) || strcmp(inner->stmt->as.loop.thread, outer->stmt->as.loop.thread))
                continue;
            affine_assume_compare(&site->space, EXPR_EQ, site->env, op_sub(ctx, expr_var(ctx, inner->var), inner->range.min), site->env,
                                  op_sub(ctx, expr_var(ctx, outer->var), outer->range.min));
        }
}

static Site site_new(FaultSearch *search, const Frame *frame, int coordinates)
{
    Site site = {.env = frame_env(search->ctx, frame, 0)};
    site.loops = frame_loops(search->ctx, frame, &site.loop_count);
    site.dims = site.loop_count + coordinates;
    site.space = affine_universe(search->ctx, site.dims, &search->sizes);
    frame_assume(&site.space, frame, site.env);
    site_join_threads(search, &site);
    return site;
}

/* Coordinate INDEX of the point is VALUE. */
static void site_locate(FaultSearch *search, Site *site, int index, const Expr *value)
{
    Var *coordinate = var_new(search->ctx, "coordinate", value->dtype, span_none());
    AffineEnv env = {NULL, coordinate, site->loop_count + index, NULL};
    affine_assume_compare(&site->space, EXPR_EQ, &env, expr_var(search->ctx, coordinate), site->env, value);
}

/* The part of SITE in which coordinate INDEX is below LOW, or is HIGH or above. */
static AffineSpace site_beyond(FaultSearch *search, const Site *site, int index, const Expr *low, const Expr *high)
{
    AffineSpace beyond = affine_copy(&site->space);
    const Expr *bound = low ? low : high;
    Var *coordinate = var_new(search->ctx, "coordinate", bound->dtype, span_none());
    AffineEnv env = {NULL, coordinate, site->loop_count + index, NULL};
    const Expr *value = expr_var(search->ctx, coordinate);
    if (low)
        affine_assume_compare(&beyond, EXPR_LT, &env, value, site->env, low);
    else
        affine_assume_compare(&beyond, EXPR_LE, site->env, high, &env, value);
    return beyond;
}

static const char *numbers_text(Context *ctx, const int64_t *values, int count)
{
    StrBuf text = {.arena = ctx->arena};
    for (int i = 0; i < count; i++)
        strbuf_printf(&text, "%s%lld", i ? ", " : "", (long long)values[i]);
    return strbuf_text(&text);
}

/* " at i = 15, j = 0 (with n = 3)" */
static const char *iteration_text(Context *ctx, const Site *site, const int64_t *values, const char *params)
{
    StrBuf text = {.arena = ctx->arena};
    for (int i = 0; i < site->loop_count; i++)
        strbuf_printf(&text, "%s%s = %lld", i ? ", " : " at ", site->loops[i]->var->name, (long long)values[i]);
    if (*params)
        strbuf_printf(&text, " (with %s)", params);
    return strbuf_text(&text);
}

/* A point of WRONG, a part of SITE (taken), that there is whenever the site runs: its coordinates and the iteration. NULL where there is
   none. */
static const char *certain_point(FaultSearch *search, const Site *site, AffineSpace wrong, int64_t **coordinates)
{
    const char *params, *where = NULL;
    int64_t *values = ARENA_ARRAY(search->ctx->arena, int64_t, site->dims);
    if (!wrong.approximate && affine_runs_into(&site->space, &wrong) && affine_sample(&wrong, values, &params)) {
        where = iteration_text(search->ctx, site, values, params);
        *coordinates = values + site->loop_count;
    }
    affine_free(&wrong);
    return where;
}

static void add_fault(FaultSearch *search, Span span, const char *text)
{
    Fault fault = {.span = span, .text = text};
    vec_push(search->ctx->arena, &search->faults, fault);
}

/* --- cheap arguments, which decide almost always --- */

/* What holds where an access runs. */
typedef struct {
    Analyzer *an;
    Subst values; /* of the bindings around it */
} Facts;

static Facts facts_at(FaultSearch *search, const Access *access, const Frame *frame)
{
    Access at = *access;
    ExprList point = {0};
    at.frame = frame;
    return (Facts){analyzer_of_access(search->ctx, &at, &point, &search->sizes), frame_values(search->ctx, frame)};
}

static bool lies_in(Facts *facts, const Expr *value, Range range)
{
    Context *ctx = analyzer_context(facts->an);
    if (expr_equal(value, range.min) && expr_is_int(range.extent, 1))
        return true;
    const Expr *min = subst_expr(ctx, &facts->values, range.min), *extent = subst_expr(ctx, &facts->values, range.extent);
    return analyzer_shows_within(facts->an, subst_expr(ctx, &facts->values, value), (Range){min, extent});
}

static bool lies_in_box(Facts *facts, const Access *access, const Range *ranges)
{
    for (int d = 0; d < access->region.buffer->ndim; d++)
        if (!lies_in(facts, access->region.ranges[d].min, ranges[d]))
            return false;
    return true;
}

static bool is_plainly_in_bounds(Facts *facts, const Access *access)
{
    Context *ctx = analyzer_context(facts->an);
    const Buffer *buffer = access->region.buffer;
    for (int d = 0; d < buffer->ndim; d++)
        if (!lies_in(facts, access->region.ranges[d].min, (Range){expr_int(ctx, buffer->shape[d]->dtype, 0), buffer->shape[d]}))
            return false;
    return true;
}

/* The memory of ACCESS comes into being in the block at FRAME: neither it nor a block around it declares what is done to it. */
static bool owns_memory(const FaultSearch *search, const Frame *frame, const Access *access)
{
    return frame->kind == FRAME_BLOCK && map_get(&search->owners, access->data) == frame->stmt->as.block.block;
}

/* The block at FRAME, which the memory of ACCESS comes into from outside, says what ACCESS may touch; the root block does not. Declared
   regions are of the buffers that a block sees: those of views say nothing of an access to the root. */
static const BlockStmt *declaring_block(const Frame *frame, const Access *access)
{
    if (frame->kind != FRAME_BLOCK || access->viewed || (access->entry && access->block == frame->stmt->as.block.block))
        return NULL;
    const BlockStmt *block = &frame->stmt->as.block;
    for (frame = frame->outer; frame && frame->kind != FRAME_BLOCK; frame = frame->outer) {
    }
    return frame ? block : NULL;
}

/* An instance of the block at FRAME may have written what READ finds: a write comes before it, or in a loop inside of the block around both. */
static bool may_read_back(const FaultSearch *search, const Frame *frame, const Access *read)
{
    for (int i = 0; i < search->accesses.count; i++) {
        const Access *write = &search->accesses.data[i];
        if (!write->write || write->data != read->data || !frame_within(write->frame, frame))
            continue;
        if (access_precedes(write, read))
            return true;
        for (const Frame *around = frame_common(write->frame, read->frame); around != frame; around = around->outer)
            if (around->kind == FRAME_LOOP)
                return true;
    }
    return false;
}

/* The regions that the block at FRAME declares for ACCESS: FIRST to END, where writes are counted first. What an instance writes it
   may read back, and the reads of a block with an init leave out what its writes say. */
static void declared_regions(const FaultSearch *search, const Frame *frame, const Access *access, int *first, int *end)
{
    const BlockStmt *block = &frame->stmt->as.block;
    *first = access->write || block->init || may_read_back(search, frame, access) ? 0 : block->write_count;
    *end = block->write_count + (access->write ? 0 : block->read_count);
}

/* The I-th region of BLOCK, writes first, where ACCESS may touch it; else NULL. */
static const Region *declared_region(const BlockStmt *block, int i, const Access *access)
{
    const Region *region = i < block->write_count ? &block->writes[i] : &block->reads[i - block->write_count];
    return region->buffer->data != access->data ? NULL : region;
}

static bool block_plainly_declares(FaultSearch *search, Facts *facts, const Frame *frame, const Access *access)
{
    const BlockStmt *block = &frame->stmt->as.block;
    int first, end;
    declared_regions(search, frame, access, &first, &end);
    for (int i = first; i < end; i++) {
        const Region *region = declared_region(block, i, access);
        if (region && region->buffer == access->region.buffer && lies_in_box(facts, access, region->ranges))
            return true;
    }
    return false;
}

static bool is_plainly_declared(FaultSearch *search, Facts *facts, const Access *access)
{
    for (const Frame *frame = access->frame; frame && !owns_memory(search, frame, access); frame = frame->outer) {
        const BlockStmt *block = declaring_block(frame, access);
        if (block && !block_plainly_declares(search, facts, frame, access))
            return false;
    }
    return true;
}

/* --- bounds --- */

static bool add_out_of_bounds(FaultSearch *search, const Access *access, const Site *site, AffineSpace wrong)
{
    int64_t *element;
    const Buffer *buffer = access->region.buffer;
    const char *where = certain_point(search, site, wrong, &element);
    if (where)
        add_fault(search, access->span, arena_printf(search->ctx->arena, "%s[%s] is %s%s, out of the bounds of '%s'", buffer->name,
                                                     numbers_text(search->ctx, element, buffer->ndim), access->write ? "written" : "read",
                                                     where, buffer->name));
    return where != NULL;
}

static bool find_out_of_bounds(FaultSearch *search, const Access *access, const Site *site)
{
    const Buffer *buffer = access->region.buffer;
    for (int d = 0; d < buffer->ndim; d++) {
        const Expr *zero = expr_int(search->ctx, buffer->shape[d]->dtype, 0);
        if (add_out_of_bounds(search, access, site, site_beyond(search, site, d, zero, NULL)) ||
            add_out_of_bounds(search, access, site, site_beyond(search, site, d, NULL, buffer->shape[d])))
            return true;
    }
    return false;
}

/* --- declared regions --- */

/* Takes from SPACE what REGION holds. False where that cannot be said. */
static bool subtract_region(const Site *site, AffineSpace *space, const Region *region)
{
    AffineSpace held = affine_copy(space);
    for (int d = 0; d < region->buffer->ndim; d++)
        affine_assume_range(&held, site->env, site->loop_count + d, region->ranges[d]);
    bool known = !held.approximate && held.set;
    if (known)
        space->set = isl_set_subtract(affine_take_set(space), affine_take_set(&held));
    affine_free(&held);
    return known;
}

static bool subtract_declared(const FaultSearch *search, const Site *site, AffineSpace *space, const Access *access, const Frame *frame)
{
    const BlockStmt *block = &frame->stmt->as.block;
    int first, end;
    declared_regions(search, frame, access, &first, &end);
    for (int i = first; i < end; i++) {
        const Region *region = declared_region(block, i, access);
        if (region && (region->buffer != access->region.buffer || !subtract_region(site, space, region)))
            return false;
    }
    return true;
}

static bool find_undeclared(FaultSearch *search, const Access *access, const Site *site)
{
    Context *ctx = search->ctx;
    for (const Frame *frame = access->frame; frame && !owns_memory(search, frame, access); frame = frame->outer) {
        const BlockStmt *block = declaring_block(frame, access);
        if (!block)
            continue;
        AffineSpace wrong = affine_copy(&site->space);
        wrong.approximate |= !subtract_declared(search, site, &wrong, access, frame);
        int64_t *element;
        const char *where = certain_point(search, site, wrong, &element), *list = access->write ? "writes" : "reads";
        if (!where)
            continue;
        /* an init takes what the block reads of its own output out of the regions that are found for it */
        bool left_out = !access->write && block->reads_inferred && block->init;
        add_fault(search, access->span,
                  arena_printf(ctx->arena, "%s[%s] is %s%s, but not among the %s%s of block '%s'%s", access->buffer->name,
                               numbers_text(ctx, element, access->buffer->ndim), access->write ? "written" : "read", where,
                               left_out ? "" : "declared ", list, block->block->name,
                               left_out ? ", which writes the same buffer: T.reads has to state it" : ""));
        return true;
    }
    return false;
}

/* --- bindings --- */

static void find_misbound(FaultSearch *search, const Access *access, const Frame *frame)
{
    Context *ctx = search->ctx;
    Range domain = frame->range;
    if (map_has(&search->seen, frame->var) || !is_counted(frame))
        return;
    map_set(ctx->arena, &search->seen, frame->var, frame->var);
    Facts facts = facts_at(search, access, frame->outer);
    if (lies_in(&facts, frame->value, domain))
        return;
    Site site = site_new(search, frame->outer, 1);
    site_locate(search, &site, 0, frame->value);
    int64_t *value;
    const char *where = certain_point(search, &site, site_beyond(search, &site, 0, domain.min, NULL), &value);
    if (!where)
        where = certain_point(search, &site, site_beyond(search, &site, 0, NULL, op_add(ctx, domain.min, domain.extent)), &value);
    if (where)
        add_fault(
            search, frame->value->span.file ? frame->value->span : frame->var->span,
            arena_printf(ctx->arena, "axis '%s' is bound to %lld%s, outside of its domain", frame->var->name, (long long)*value, where));
    affine_free(&site.space);
}

/* --- distinct elements --- */

static void find_overlap(FaultSearch *search, const Map *written, const Buffer *buffer)
{
    Context *ctx = search->ctx;
    int64_t first[buffer->ndim + 1], second[buffer->ndim + 1];
    if (!map_has(written, buffer) || buffer_elements(buffer, first, second) != ELEMENTS_OVERLAP)
        return;
    add_fault(search, buffer->span,
              arena_printf(ctx->arena, "the strides of '%s' make one cell of %s[%s] and %s[%s], and it is written", buffer->name, buffer->name,
                           numbers_text(ctx, first, buffer->ndim), buffer->name, numbers_text(ctx, second, buffer->ndim)));
}

typedef struct {
    FaultSearch *search;
    Map written;
} OverlapSearch;

static bool find_declared_overlap(Visitor *visitor, const Stmt *stmt)
{
    OverlapSearch *overlaps = visitor->data;
    if (stmt->kind == STMT_DECL_BUFFER)
        find_overlap(overlaps->search, &overlaps->written, stmt->as.declare.buffer);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        find_overlap(overlaps->search, &overlaps->written, stmt->as.block.allocs[i]);
    return true;
}

static void find_overlaps(FaultSearch *search, const Func *func)
{
    OverlapSearch overlaps = {search, func_written_buffers(search->ctx, func)};
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            find_overlap(search, &overlaps.written, func->params[i].buffer);
    Visitor visitor = {.stmt = find_declared_overlap, .data = &overlaps};
    visit_stmt(&visitor, func->body);
}

static bool is_element(const Region *region)
{
    for (int d = 0; d < region->buffer->ndim; d++)
        if (!expr_is_int(region->ranges[d].extent, 1))
            return false;
    return true;
}

static bool can_be_judged(const Access *access)
{
    bool lasting = !access->whole && !access->fence && !access->asked && access->stmt->kind != STMT_EVALUATE && is_counted(access->frame);
    return lasting && (access->ends || is_element(&access->region));
}

/* False where ACCESS, of one element, was found to lie where it must not. */
static bool find_misplaced(FaultSearch *search, const Access *access)
{
    Facts facts = facts_at(search, access, access->frame);
    bool in_bounds = is_plainly_in_bounds(&facts, access);
    if (in_bounds && is_plainly_declared(search, &facts, access))
        return true;
    Site site = site_new(search, access->frame, access->region.buffer->ndim);
    for (int d = 0; d < access->region.buffer->ndim; d++)
        site_locate(search, &site, d, access->region.ranges[d].min);
    bool misplaced = (!in_bounds && find_out_of_bounds(search, access, &site)) || find_undeclared(search, access, &site);
    affine_free(&site.space);
    return !misplaced;
}

/* The access to the last element that ACCESS touches. */
static Access last_element(Context *ctx, const Access *access)
{
    Access last = *access;
    Range *ranges = last.region.ranges = ARENA_ARRAY(ctx->arena, Range, access->region.buffer->ndim);
    for (int d = 0; d < access->region.buffer->ndim; d++) {
        Range range = access->region.ranges[d];
        const Expr *behind = op_add(ctx, range.min, op_cast(ctx, range.min->dtype, range.extent));
        ranges[d] = expr_is_int(range.extent, 1) ? range : (Range){op_add_int(ctx, behind, -1), expr_int(ctx, range.extent->dtype, 1)};
    }
    return last;
}

static void find_misplaced_ends(FaultSearch *search, const Access *access)
{
    if (!find_misplaced(search, access) || is_element(&access->region))
        return;
    Access last = last_element(search->ctx, access);
    find_misplaced(search, &last);
}

/* --- who owns which memory --- */

typedef struct {
    FaultSearch *search;
    VEC(const Block *) blocks; /* around the statement at hand */
} OwnerWalk;

static void note_owner(OwnerWalk *walk, const Var *data)
{
    if (walk->blocks.count)
        map_set(walk->search->ctx->arena, &walk->search->owners, data, (void *)vec_last(&walk->blocks));
}

static bool enter_owner(Visitor *visitor, const Stmt *stmt)
{
    OwnerWalk *walk = visitor->data;
    switch (stmt->kind) {
    case STMT_BLOCK: {
        const Block *block = stmt->as.block.block;
        vec_push(walk->search->ctx->arena, &walk->blocks, block);
        for (int i = 0; i < stmt->as.block.alloc_count; i++)
            note_owner(walk, stmt->as.block.allocs[i]->data);
        break;
    }
    case STMT_ALLOCATE: note_owner(walk, stmt->as.allocate.var); break;
    case STMT_ALLOCATE_CONST: note_owner(walk, stmt->as.allocate_const.var); break;
    case STMT_LET: note_owner(walk, stmt->as.let.var); break;
    case STMT_REALIZE: note_owner(walk, stmt->as.realize.region.buffer->data); break;
    default: break;
    }
    return true;
}

static void leave_owner(Visitor *visitor, const Stmt *stmt)
{
    OwnerWalk *walk = visitor->data;
    if (stmt->kind == STMT_BLOCK)
        walk->blocks.count--;
}

static void collect_owners(FaultSearch *search, const Func *func)
{
    OwnerWalk walk = {.search = search};
    Visitor visitor = {.stmt = enter_owner, .leave_stmt = leave_owner, .data = &walk};
    visit_stmt(&visitor, func->body);
}

FaultList faults_collect(Context *ctx, const Func *func)
{
    FaultSearch search = {.ctx = ctx, .sizes = func_sizes(ctx, func)};
    collect_owners(&search, func);
    find_overlaps(&search, func);
    AccessList collected = access_collect(ctx, func), accesses = accesses_unsplit(ctx, &collected);
    search.accesses = accesses;
    for (int i = 0; i < accesses.count; i++) {
        const Access *access = &accesses.data[i];
        for (const Frame *frame = access->frame; frame; frame = frame->outer)
            if (frame->kind == FRAME_BIND && frame->identity && !access->entry) /* no predicate need hold there */
                find_misbound(&search, access, frame);
        if (can_be_judged(access))
            find_misplaced_ends(&search, access);
    }
    return search.faults;
}
