/* Collecting accesses; see access.h. */
#include <string.h>

#include "ir/elements.h"
#include "ir/walk.h"
#include "ir/wrap.h"
#include "passes/analysis/collect/access_flat.h"
#include "passes/analysis/collect/access_version.h"
#include "passes/analysis/collect/kept.h"
#include "passes/analysis/model/access_frame.h"
#include "passes/analysis/model/call_regions.h"
#include "passes/analysis/model/init_domain.h"
#include "passes/analysis/normal/access_rows.h"

/* The frames of a known part around the access that was copied last, and their copies, from the part's outside inwards. */
typedef struct {
    VEC(const Frame *) known, copies;
} Way;

/* A match_buffer view and where it lies in the buffer below. */
typedef struct {
    const Buffer *target;
    const Region *source;
} View;

typedef struct {
    Context *ctx;
    AccessList accesses;
    const Frame *frame;
    const Func *func;
    const BlockStmt *block; /* innermost */
    const Reduction *reduction; /* the recognized reduction that the walk is in, and its block */
    const BlockStmt *group;
    const Stmt *stmt;
    bool entering; /* what is read belongs to the entry of the block */
    Map views;     /* data Var -> View */
    Map canonical; /* data Var -> Buffer whose layout indices are compared in */
    Versions versions; /* of the memory that the function writes */
    Layouts layouts;
    const Expr *one; /* the extent of the last index */
    const Stmt *outermost; /* the statements that are parts; NULL: none are */
    PartList parts;
    int item;   /* the number of the part that the walk is in; -1: of none */
    bool plain; /* that part, so far */
    bool may;   /* what is accessed now need not touch all of its region */
    bool asked; /* an init asks it, perhaps, where the program's own condition does not */
    bool ends;  /* it touches the first and the last element of it */
    bool wraps; /* arithmetic in conditions and lets, by itself; else the program says where (see lower/wrapping.c) */
    const AccessList *known; /* the accesses of another function, and its parts */
    const PartList *known_parts;
    int next_known;
    Way way;
} Collector;

static const Frame *push(Collector *collector, Frame frame)
{
    frame.outer = collector->frame;
    frame.depth = collector->frame ? collector->frame->depth + 1 : 0;
    return collector->frame = arena_copy(collector->ctx->arena, &frame, sizeof frame);
}

/* --- accesses --- */

/* The index alone: nearly all are, so they share their extents. */
static Range point(Collector *collector, const Expr *index)
{
    if (!collector->one || !dtype_equal(collector->one->dtype, index->dtype))
        collector->one = expr_int(collector->ctx, index->dtype, 1);
    return (Range){index, collector->one};
}

static Range index_range(Collector *collector, const Expr *index)
{
    Context *ctx = collector->ctx;
    if (index->dtype.lanes == 1)
        return point(collector, index);
    collector->plain = false;
    int64_t stride;
    bool ramp = index->kind == EXPR_RAMP && expr_const_int(index->args[1], &stride) && stride > 0;
    collector->may |= ramp && stride > 1;
    collector->ends = ramp && index->args[0]->dtype.lanes == 1;
    if (ramp)
        return (Range){index->args[0], expr_int(ctx, index->args[0]->dtype, stride * (index->dtype.lanes - 1) + 1)};
    if (index->kind == EXPR_BROADCAST && index->args[0]->dtype.lanes == 1)
        return point(collector, index->args[0]);
    return (Range){NULL, NULL};
}

/* The first buffer that was accessed with the data of BUFFER, which is accessed now. */
static Buffer *canonical_buffer(Collector *collector, Buffer *buffer)
{
    Buffer *canonical = map_get(&collector->canonical, buffer->data);
    if (!canonical)
        map_set(collector->ctx->arena, &collector->canonical, buffer->data, canonical = buffer);
    return canonical;
}

/* The memory that VAR, a data variable, stands for, through the views known to DATA, the collector. */
static const Var *memory_of_view(const void *data, const Var *var)
{
    const Collector *collector = data;
    for (const View *view; (view = map_get(&collector->views, var));)
        var = view->source->buffer->data;
    return var;
}

static const Expr *versioned(Collector *collector, const Expr *expr)
{
    VersionPlace place = {collector->ctx, collector->frame, &collector->accesses, memory_of_view, collector};
    const Expr *result = version_loads(&collector->versions, &place, expr);
    collector->plain &= result == expr;
    return result;
}

static Region versioned_region(Collector *collector, Region region)
{
    VersionPlace place = {collector->ctx, collector->frame, &collector->accesses, memory_of_view, collector};
    Region result = version_region(&collector->versions, &place, region);
    collector->plain &= result.ranges == region.ranges;
    return result;
}

static Range versioned_range(Collector *collector, Range range)
{
    return (Range){versioned(collector, range.min), versioned(collector, range.extent)};
}

static void add_fence(Collector *collector, const Buffer *anywhere, bool writes, Span span)
{
    Access access = {.frame = collector->frame, .write = writes, .whole = true, .fence = true, .order = 1, .stmt = collector->stmt, .span = span};
    access.item = collector->item, access.anywhere = anywhere;
    access.block = collector->block ? collector->block->block : NULL;
    vec_push(collector->ctx->arena, &collector->accesses, access);
}

static void add_access(Collector *collector, Region region, bool whole, bool write, Span span)
{
    Context *ctx = collector->ctx;
    const Buffer *buffer = region.buffer;
    const View *view;
    while ((view = map_get(&collector->views, region.buffer->data))) {
        collector->plain = false;
        whole |= !buffer_same_layout(view->target, region.buffer) || view->source->buffer->ndim < region.buffer->ndim;
        region = whole ? region_whole(ctx, view->source->buffer) : region_below_view(ctx, view->source, region);
    }
    if (map_has(&collector->layouts.unknown, region.buffer->data)) {
        add_fence(collector, region.buffer, write, span);
        return;
    }
    region = versioned_region(collector, region_as_laid_out(ctx, &collector->layouts, region, &whole));
    Buffer *canonical = canonical_buffer(collector, region.buffer);
    Access access = {.frame = collector->frame,
                     .data = region.buffer->data,
                     .buffer = canonical,
                     .region = region,
                     .write = write,
                     .may = collector->may,
                     .ends = collector->ends,
                     .asked = collector->asked,
                     .viewed = region.buffer != buffer,
                     .never = frame_never_runs(collector->frame),
                     .order = write,
                     .entry = collector->entering,
                     .item = collector->item,
                     .span = span};
    access.whole = whole || !buffer_same_layout(canonical, region.buffer);
    access.block = collector->block ? collector->block->block : NULL;
    access.stmt = collector->stmt;
    access.func = collector->func;
    if (collector->reduction && reduction_owns(collector->reduction, buffer)) {
        access.group = collector->group->block;
        access.initialized = collector->group->init != NULL;
    }
    vec_push(ctx->arena, &collector->accesses, access);
}

static void add_indexed(Collector *collector, Buffer *buffer, const Expr *const *indices, const Expr *mask, bool write, Span span)
{
    Region region = {buffer, ARENA_ARRAY(collector->ctx->arena, Range, buffer->ndim), span};
    bool whole = false;
    collector->may = mask != NULL;
    for (int i = 0; i < buffer->ndim; i++) {
        region.ranges[i] = index_range(collector, indices[i]);
        whole |= !region.ranges[i].min;
    }
    LanesReach reach = lanes_reach(collector->ctx, buffer, indices, region.ranges);
    collector->ends &= !mask && reach != LANES_ANYWHERE;
    whole |= reach == LANES_ANYWHERE;
    add_access(collector, whole ? region_whole(collector->ctx, buffer) : region, whole, write, span);
    collector->may = collector->ends = false;
}

/* What CALL may touch, which says nothing of it: the declared regions of the block around, or anything. Pure code writes nothing, and reads
   only what its pointers lead to. */
static void add_foreign(Collector *collector, const Expr *call)
{
    /* what a block evaluates to be entered lies outside of it */
    const BlockStmt *block = collector->entering ? frame_block_around(collector->frame, collector->block) : collector->block;
    bool pure = !expr_is_opaque_call(call);
    collector->plain = false;
    BufferList beyond = {0};
    if (!call_keeps_regions(collector->ctx, collector->func, block, call, memory_of_view, collector, &beyond)) {
        add_fence(collector, NULL, !pure || (block && block->callees == CALLEES_UNKNOWN), call->span);
        return;
    }
    for (int i = 0; i < beyond.count * (pure ? 1 : 2); i++)
        add_access(collector, region_whole(collector->ctx, beyond.data[i % beyond.count]), true, i >= beyond.count, call->span);
    const Reduction *reduction = collector->reduction;
    if (reduction && call_may_reach_target(block, call, reduction, memory_of_view, collector))
        collector->reduction = NULL; /* what the call sees of the targets is no part of the update */
    for (int i = 0; i < block->read_count + block->write_count; i++) {
        bool write = i >= block->read_count;
        const Region *region = write ? &block->writes[i - block->read_count] : &block->reads[i];
        bool reaches = call_may_reach(block, call, region->buffer->data, memory_of_view, collector);
        collector->may = !reaches || (write && block->callees == CALLEES_INSIDE); /* another statement's, perhaps */
        if (!pure || reaches)
            add_access(collector, *region, false, write && !pure, call->span);
    }
    collector->may = false;
    collector->reduction = reduction;
}

static bool visit_read(Visitor *visitor, const Expr *expr);

static void collect_reads(Collector *collector, const Expr *expr)
{
    Visitor visitor = {.expr = visit_read, .data = collector};
    visit_expr(&visitor, expr);
}

/* The expressions of STMT itself, wherever they stand in it, that are evaluated at MOMENT; by inits in it too, whatever says nothing of these. */
static void collect_own_reads(Collector *collector, const Stmt *stmt, Moment moment)
{
    const Frame *frame = collector->frame, *heeded = moment == MOMENT_ENTRY ? init_heeded_frame(collector->ctx, stmt, frame) : frame;
    Visitor visitor = {.expr = visit_read, .data = collector};
    visit_stmt_exprs(&visitor, stmt, moment);
    collector->asked = heeded != frame, collector->frame = heeded;
    if (collector->asked)
        visit_stmt_exprs(&visitor, stmt, moment);
    collector->asked = false, collector->frame = frame;
}

/* --- values --- */

/* VALUE, of a condition or let, whose arithmetic wraps. */
static const Expr *wrapping(Collector *collector, const Expr *value)
{
    WrapScope scope = {frame_bound, collector->frame};
    const Expr *wrapped = collector->wraps ? wrap_explicitly(collector->ctx, &scope, value) : value;
    collector->plain &= wrapped == value;
    return versioned(collector, wrapped);
}

/* STMT: the if statement whose condition it is, or NULL. */
static void push_condition(Collector *collector, const Expr *condition, bool negated, const Stmt *stmt)
{
    push(collector, (Frame){.kind = FRAME_CONDITION, .value = wrapping(collector, condition), .negated = negated, .stmt = stmt});
}

static void collect_under(Collector *collector, const Expr *condition, bool negated, const Expr *expr)
{
    const Frame *outside = collector->frame;
    push_condition(collector, condition, negated, NULL);
    collect_reads(collector, expr);
    collector->frame = outside;
}

/* The branches of if_then_else are evaluated only under their condition, the right operand of "and" where the left one holds, that of "or" where it
   does not. */
static void collect_choice(Collector *collector, const Expr *expr)
{
    collect_reads(collector, expr->args[0]);
    collect_under(collector, expr->args[0], expr->kind == EXPR_OR, expr->args[1]);
    if (expr->kind == EXPR_CALL)
        collect_under(collector, expr->args[0], true, expr->args[2]);
    const Expr *heeded = expr->kind == EXPR_AND ? init_heeded_guard(collector->ctx, collector->stmt, collector->frame, expr->args[0]) : NULL;
    bool asked = collector->asked;
    collector->asked = true;
    if (heeded)
        collect_under(collector, heeded, false, expr->args[1]);
    collector->asked = asked;
}

/* A jump concerns the innermost loop. */
static void note_jump(Collector *collector)
{
    const Frame *frame = collector->frame;
    while (frame && frame->kind != FRAME_LOOP)
        frame = frame->outer;
    if (frame)
        ((Frame *)frame)->unsure = true; /* still being built */
}

static bool visit_read(Visitor *visitor, const Expr *expr)
{
    Collector *collector = visitor->data;
    if (expr_is_call(expr, OP_BREAK_LOOP) || expr_is_call(expr, OP_CONTINUE_LOOP))
        note_jump(collector);
    if (expr->kind == EXPR_LOAD)
        add_indexed(collector, expr->value.buffer, expr->args, load_mask(expr), false, expr->span);
    if (expr_is_call(expr, OP_IF_THEN_ELSE) || ((expr->kind == EXPR_AND || expr->kind == EXPR_OR) && !expr_is_pure(expr->args[1]))) {
        collect_choice(collector, expr);
        return false;
    }
    if (expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD) {
        /* the call around decides of the element; its place is found here */
        for (int i = 0; i < expr->args[0]->arg_count; i++)
            collect_reads(collector, expr->args[0]->args[i]);
        return false;
    }
    if ((expr_is_opaque_call(expr) && expr->value.op != OP_ASSUME) || expr_reads_through_pointers(expr))
        add_foreign(collector, expr);
    return true;
}

/* --- statements --- */

static void collect_stmt(Collector *collector, const Stmt *stmt);

static void collect_at(Collector *collector, const Stmt *stmt, int position)
{
    const Frame *outside = collector->frame;
    push(collector, (Frame){.kind = FRAME_POSITION, .position = position});
    collect_stmt(collector, stmt);
    collector->frame = outside;
}

/* What LOOP runs over. One of no iteration that has an init to run counts as one iteration. */
static Range loop_range(Collector *collector, const ForStmt *loop)
{
    if (!expr_is_int(loop->extent, 0) || !loop_holds_lasting_init(loop))
        return versioned_range(collector, (Range){loop->min, loop->extent});
    collector->plain = false;
    return (Range){loop->min, expr_int(collector->ctx, loop->extent->dtype, 1)};
}

static void collect_loop(Collector *collector, const Stmt *stmt)
{
    const ForStmt *loop = &stmt->as.loop;
    push(collector, (Frame){.kind = FRAME_LOOP, .var = loop->var, .range = loop_range(collector, loop), .stmt = stmt});
    collect_stmt(collector, loop->body);
}

/* A view lies where its region did when the block was entered, whatever is written since. */
static void add_view(Collector *collector, const MatchBuffer *match)
{
    Arena *arena = collector->ctx->arena;
    Region source = versioned_region(collector, match->source);
    View view = {match->target, arena_copy(arena, &source, sizeof source)};
    map_set(arena, &collector->views, match->target->data, arena_copy(arena, &view, sizeof view));
}

/* What a block evaluates before its init and body. */
static void collect_layouts(Collector *collector, const Stmt *stmt)
{
    const Frame *outside = collector->frame;
    push(collector, (Frame){.kind = FRAME_POSITION, .position = -1});
    for (int i = 0; i < stmt->as.block.match_count; i++)
        add_view(collector, &stmt->as.block.matches[i]);
    collect_own_reads(collector, stmt, MOMENT_INSIDE);
    collector->frame = outside;
}

static void push_axes(Collector *collector, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++)
        push(collector, (Frame){.kind = FRAME_BIND,
                                .var = block->iters[i].var,
                                .range = versioned_range(collector, block->iters[i].domain),
                                .value = versioned(collector, block->bindings[i]),
                                .axis = block->iters[i].kind,
                                .identity = true});
}

/* The predicate is read whether it holds or not; the axes tell for which instance. */
static void collect_predicate(Collector *collector, const Stmt *stmt)
{
    const Frame *outside = collector->frame;
    if (expr_is_pure(stmt->as.block.predicate))
        return;
    push_axes(collector, &stmt->as.block);
    collect_own_reads(collector, stmt, MOMENT_ENTRY);
    collector->frame = outside;
}

/* What a block reads before its init and body, and the frames around these. It belongs to the block, but no region declares it. */
static void enter_block(Collector *collector, const Stmt *stmt)
{
    const BlockStmt *block = &stmt->as.block;
    collector->block = block;
    collector->entering = true;
    push(collector, (Frame){.kind = FRAME_BLOCK, .stmt = stmt});
    collect_predicate(collector, stmt);
    push(collector, (Frame){.kind = FRAME_CONDITION, .value = versioned(collector, block->predicate)});
    push_axes(collector, block);
    collect_own_reads(collector, stmt, MOMENT_BOUND);
    collect_layouts(collector, stmt);
    collector->entering = false;
}

static void collect_block(Collector *collector, const Stmt *stmt)
{
    const BlockStmt *block = &stmt->as.block, *outer_block = collector->block;
    const Reduction *outer_reduction = collector->reduction;
    const BlockStmt *outer_group = collector->group;
    enter_block(collector, stmt);
    if (!outer_reduction && !reduction_is_inside(block) && frame_reduces(collector->frame)) {
        const Reduction *reduction = reduction_recognize(collector->ctx, block);
        collector->reduction = reduction && reduction_starts_targets(reduction, block) ? reduction : NULL;
        collector->group = block;
    }
    if (block->init)
        collect_at(collector, block->init, 0);
    collect_at(collector, block->body, 1);
    collector->block = outer_block;
    collector->reduction = outer_reduction;
    collector->group = outer_group;
}

static void collect_branch(Collector *collector, const Stmt *stmt)
{
    const Frame *outside = collector->frame;
    push_condition(collector, stmt->as.branch.condition, false, stmt);
    collect_at(collector, stmt->as.branch.then_body, 0);
    collector->frame = outside;
    if (!stmt->as.branch.else_body)
        return;
    push_condition(collector, stmt->as.branch.condition, true, stmt);
    collect_at(collector, stmt->as.branch.else_body, 1);
}

static void collect_while(Collector *collector, const Stmt *stmt)
{
    /* The iterations have no variable: one of an unbounded range stands for them. */
    Var *var = var_new(collector->ctx, context_intern(collector->ctx, "iteration"), DTYPE_INT64, stmt->span);
    Range range = {expr_int(collector->ctx, DTYPE_INT64, 0), expr_int(collector->ctx, DTYPE_INT64, INT64_MAX / 4)};
    collector->plain = false;
    push(collector, (Frame){.kind = FRAME_LOOP, .var = var, .range = range, .stmt = stmt, .unsure = true});
    collect_own_reads(collector, stmt, MOMENT_INSIDE);
    collect_stmt(collector, stmt->as.while_loop.body);
}

/* --- parts --- */

/* A step leaves most of the program as it was: nodes do not change, so neither do the accesses of a statement of the outermost block, but
   for the way from the function to it. */
static const Stmt *parts_of(const Func *func, const Layouts *layouts)
{
    const BlockStmt *root = func->body->kind == STMT_BLOCK ? &func->body->as.block : NULL;
    bool plain = root && !root->iter_count && !root->read_count && !root->write_count && !root->match_count && !root->init &&
                 expr_is_int(root->predicate, 1) && root->body->kind == STMT_SEQ;
    return plain && !layouts->flats.count && !layouts->moving.count ? root->body : NULL;
}

/* The copy of FRAME, which lies in the first one of WAY. Frames come in the order of a walk, so one that was left does not come again. */
static const Frame *copy_frame(Arena *arena, Way *way, const Frame *frame)
{
    int depth = frame->depth - way->known.data[0]->depth;
    if (depth < way->known.count && way->known.data[depth] == frame)
        return way->copies.data[depth];
    Frame copy = *frame;
    copy.outer = copy_frame(arena, way, frame->outer);
    const Frame *copied = arena_copy(arena, &copy, sizeof copy);
    way->known.count = way->copies.count = depth;
    vec_push(arena, &way->known, frame);
    vec_push(arena, &way->copies, copied);
    return copied;
}

/* The buffers in whose coordinates the accesses of PART are, are those that a walk would find here. */
static bool has_same_buffers(Collector *collector, const Part *part)
{
    for (int i = part->first; i < part->end; i++) {
        const Access *access = &collector->known->data[i];
        if (canonical_buffer(collector, access->region.buffer) != access->buffer)
            return false;
    }
    return true;
}

/* What the walk in collector->frame over the statement of PART would collect. */
static void copy_part(Collector *collector, const Part *part)
{
    Arena *arena = collector->ctx->arena;
    collector->way.known.count = collector->way.copies.count = 0;
    vec_push(arena, &collector->way.known, part->outside);
    vec_push(arena, &collector->way.copies, collector->frame);
    int count = part->end - part->first, indices = 0;
    for (int i = part->first; i < part->end; i++)
        indices += collector->known->data[i].region.buffer->ndim;
    Range *ranges = arena_grow(arena, NULL, 0, sizeof *ranges * (size_t)indices);
    vec_reserve(arena, &collector->accesses, collector->accesses.count + count);
    for (int i = 0; i < count; i++) {
        Access *access = &collector->accesses.data[collector->accesses.count++];
        *access = collector->known->data[part->first + i];
        const Range *known = access->region.ranges;
        access->frame = copy_frame(arena, &collector->way, access->frame);
        access->func = collector->func;
        access->item = collector->item;
        access->region.ranges = ranges;
        for (int d = 0; d < access->region.buffer->ndim; d++)
            *ranges++ = point(collector, known[d].min);
    }
}

/* The known part that STMT is, or NULL. Mostly it is the one after the last. */
static const Part *find_known_part(Collector *collector, const Stmt *stmt)
{
    int count = collector->known_parts ? collector->known_parts->count : 0;
    for (int i = 0; i < count; i++) {
        const Part *part = &collector->known_parts->data[(collector->next_known + i) % count];
        if (part->stmt == stmt) {
            collector->next_known += i + 1;
            return part;
        }
    }
    return NULL;
}

static void collect_part(Collector *collector, const Stmt *stmt, int position)
{
    const Frame *outside = collector->frame;
    int first = collector->accesses.count;
    const Part *known = find_known_part(collector, stmt);
    push(collector, (Frame){.kind = FRAME_POSITION, .position = position});
    Part part = {stmt, collector->frame, first, first, true};
    collector->plain = true;
    collector->item = position;
    if (known && known->plain && has_same_buffers(collector, known))
        copy_part(collector, known);
    else
        collect_stmt(collector, stmt);
    part.plain = collector->plain;
    part.end = collector->accesses.count;
    vec_push(collector->ctx->arena, &collector->parts, part);
    collector->frame = outside;
    collector->item = -1;
}

static void collect_stmt(Collector *collector, const Stmt *stmt)
{
    const Frame *outside = collector->frame;
    const Stmt *outer_stmt = collector->stmt;
    collector->stmt = stmt;
    if (stmt->kind != STMT_BLOCK)
        collect_own_reads(collector, stmt, MOMENT_ENTRY);
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count; i++)
            (stmt == collector->outermost ? collect_part : collect_at)(collector, stmt->as.seq.items[i], i);
        break;
    case STMT_FOR: collect_loop(collector, stmt); break;
    case STMT_WHILE: collect_while(collector, stmt); break;
    case STMT_BLOCK: collect_block(collector, stmt); break;
    case STMT_IF: collect_branch(collector, stmt); break;
    case STMT_LET:
        push(collector, (Frame){.kind = FRAME_BIND, .var = stmt->as.let.var, .value = wrapping(collector, stmt->as.let.value)});
        collect_stmt(collector, stmt->as.let.body);
        break;
    case STMT_STORE:
        add_indexed(collector, stmt->as.store.buffer, stmt->as.store.indices, stmt->as.store.mask, true, stmt->span);
        break;
    case STMT_EVALUATE: break;
    default: collect_stmt(collector, stmt_body(stmt)); break;
    }
    collector->frame = outside;
    collector->stmt = outer_stmt;
}

/* --- a whole function --- */

/* A part with accesses whose elements have other names is to be walked again: what the names are is a matter of the whole function. */
static void mark_split_parts(Collector *collector)
{
    for (int p = 0; p < collector->parts.count; p++) {
        Part *part = &collector->parts.data[p];
        for (int i = part->first; i < part->end; i++)
            part->plain &= !collector->accesses.data[i].rows;
    }
}

void access_collect_into(Context *ctx, const Func *func, const KeptList *known, bool wraps, KeptList *list)
{
    Collector collector = {.ctx = ctx, .func = func, .versions = {.func = func}, .layouts = layouts_collect(ctx, func)};
    collector.item = -1;
    collector.wraps = wraps;
    collector.outermost = parts_of(func, &collector.layouts);
    bool shares_root = known && collector.outermost && known->parts.count && known->func->body->as.block.block == func->body->as.block.block;
    if (shares_root) {
        collector.known = &known->list;
        collector.known_parts = &known->parts;
    }
    vec_reserve(ctx->arena, &collector.accesses, known ? known->list.count + 16 : 0);
    collect_stmt(&collector, func->body);
    accesses_split_rows(ctx, func, &collector.accesses);
    mark_split_parts(&collector);
    list->func = func;
    list->list = collector.accesses;
    list->parts = collector.parts;
}
