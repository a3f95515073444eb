/* Pass "place": the buffers that blocks allocate become explicit allocations, each where it is needed.

     with T.block("root"):                     with T.block("root"):
         B = T.alloc_buffer((128, 16))             for i in range(128):
         for i in range(128):                          B = T.decl_buffer((128, 16))
             for j in range(16):         ->            for j in range(16):
                 B[i, j] = A[i, j]                         B[i, j] = A[i, j]
             for j in range(16):                       for j in range(16):
                 C[i, j] = B[i, j]                         C[i, j] = B[i, j]

   A buffer goes into the innermost loop that holds all its uses and across whose iterations it carries no data. A loop of which that is not
   shown keeps the buffer outside. That an iteration carries nothing is asked as the schedule asks it of a loop that is to be parallel. The
   iterations of parallel loops must not communicate: where all of them write one element, each has a copy of its own. A buffer that a call
   accesses through a pointer follows the declared regions of the block of that call.

   storage_align (the block annotation "buffer_dim_align") goes to the allocation: rows of [axis, factor, offset], for compaction. Needs:
   block axes gone. */
#include <string.h>

#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/questions/dependence.h"
#include "passes/lower/memory/place.h"

#define DIM_ALIGN "buffer_dim_align"

typedef VEC(const Stmt *) Path; /* from the outside in: each statement holds the next */

typedef struct {
    Context *ctx;
    const Func *func;
    AccessList accesses; /* of the function, once collected: see is_filled_in_each */
    bool collected;
} Placer;

/* --- Finding the uses --- */
const Stmt *stmt_only_user(Context *ctx, const Stmt *stmt, const Buffer *buffer)
{
    const Stmt *user = NULL;
    switch (stmt->kind) {
    case STMT_SEQ:
        for (int i = 0; i < stmt->as.seq.count; i++) {
            if (!stmt_uses_buffer(stmt->as.seq.items[i], buffer))
                continue;
            if (user)
                return NULL;
            user = stmt->as.seq.items[i];
        }
        return user;
    case STMT_IF: {
        bool in_then = stmt_uses_buffer(stmt->as.branch.then_body, buffer);
        bool in_else = stmt->as.branch.else_body && stmt_uses_buffer(stmt->as.branch.else_body, buffer);
        if (in_then == in_else || expr_uses_buffer(stmt->as.branch.condition, buffer))
            return NULL;
        return in_then ? stmt->as.branch.then_body : stmt->as.branch.else_body;
    }
    case STMT_FOR:
    case STMT_BLOCK:
    case STMT_LET:
    case STMT_ALLOCATE:
    case STMT_ALLOCATE_CONST:
    case STMT_DECL_BUFFER:
    case STMT_ATTR:
    case STMT_ASSERT: return stmt_uses_buffer(stmt_with_body(ctx, stmt, stmt_empty(ctx)), buffer) ? NULL : stmt_body(stmt);
    case STMT_WHILE: /* every iteration tests the condition again, and nothing tells them apart */
    case STMT_STORE:
    case STMT_EVALUATE:
    case STMT_REALIZE: return NULL;
    }
    return NULL;
}

static Path path_to_uses(Context *ctx, const Stmt *scope, const Buffer *buffer)
{
    Path path = {0};
    bool used = stmt_uses_buffer(scope, buffer);
    for (const Stmt *stmt = scope; stmt; stmt = used ? stmt_only_user(ctx, stmt, buffer) : NULL)
        vec_push(ctx->arena, &path, stmt);
    return path;
}

/* --- Choosing the loop --- */
static bool may_carry(const ForStmt *loop)
{
    return loop->kind != FOR_PARALLEL && !expr_is_int(loop->extent, 1);
}

typedef struct {
    const Buffer *buffer;
    const Var *var;
    bool found;
} FixedStore;

static bool find_fixed_store(Visitor *visitor, const Stmt *stmt)
{
    FixedStore *search = visitor->data;
    if (stmt->kind == STMT_STORE && stmt->as.store.buffer == search->buffer) {
        bool moves = stmt->as.store.mask != NULL;
        for (int d = 0; d < stmt->as.store.index_count; d++)
            moves |= expr_uses_var(stmt->as.store.indices[d], search->var) || expr_reads_memory(stmt->as.store.indices[d]);
        search->found |= !moves;
    }
    return stmt->kind != STMT_IF && stmt->kind != STMT_WHILE && stmt->kind != STMT_LET && !search->found;
}

/* Every iteration of LOOP writes the same element of BUFFER (and the iterations of a parallel loop must not). */
static bool iterations_share_element(const ForStmt *loop, const Buffer *buffer)
{
    FixedStore search = {buffer, loop->var, false};
    Visitor visitor = {.stmt = find_fixed_store, .data = &search};
    visit_stmt(&visitor, loop->body);
    return search.found;
}

/* Each iteration of LOOP writes what it reads of BUFFER. */
static bool is_filled_in_each(Placer *placer, const ForStmt *loop, const Buffer *buffer)
{
    if (!placer->collected)
        placer->accesses = access_collect_explicit(placer->ctx, placer->func);
    placer->collected = true;
    Map sizes = func_sizes(placer->ctx, placer->func);
    return answer_is_shown(dependence_is_private(placer->ctx, &placer->accesses, &sizes, buffer->data, loop->var));
}

/* The index in PATH of the loop into which BUFFER goes; -1: into none. */
static int choose_loop(Placer *placer, const Path *path, const Buffer *buffer)
{
    int carrying = 0;
    for (int i = 0; i < path->count; i++)
        carrying += path->data[i]->kind == STMT_FOR && may_carry(&path->data[i]->as.loop);
    for (int i = path->count - 1; i >= 0; i--) {
        if (path->data[i]->kind != STMT_FOR)
            continue;
        const ForStmt *loop = &path->data[i]->as.loop;
        bool at_once = !may_carry(loop) && !expr_is_int(loop->extent, 1);
        if (!carrying || (at_once && iterations_share_element(loop, buffer)) || is_filled_in_each(placer, loop, buffer))
            return i;
        carrying -= may_carry(loop);
    }
    return -1;
}

/* --- Rebuilding --- */
static Region *regions_without(Context *ctx, const Region *regions, int *count, const Buffer *buffer)
{
    Region *result = ARENA_ARRAY(ctx->arena, Region, *count);
    int kept = 0;
    for (int i = 0; i < *count; i++)
        if (regions[i].buffer != buffer)
            result[kept++] = regions[i];
    *count = kept;
    return result;
}

/* A block around the allocation can no longer name the buffer in its regions. */
static const Stmt *forget_in_block(Context *ctx, const Stmt *stmt, const Buffer *buffer)
{
    Stmt copy = *stmt;
    BlockStmt *block = &copy.as.block;
    block->reads = regions_without(ctx, block->reads, &block->read_count, buffer);
    block->writes = regions_without(ctx, block->writes, &block->write_count, buffer);
    return block->read_count == stmt->as.block.read_count && block->write_count == stmt->as.block.write_count ? stmt : stmt_new(ctx, &copy);
}

/* Blocks that declare to touch BUFFER and do not would name it outside of its scope. */
static const Stmt *forget_unused(Rewriter *rewriter, const Stmt *stmt)
{
    const Buffer *buffer = rewriter->data;
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    const Stmt *without = result->kind == STMT_BLOCK ? forget_in_block(rewriter->ctx, result, buffer) : result;
    return without != result && !stmt_uses_buffer(result, buffer) ? without : result;
}

static const Expr *keep_expr(Rewriter *rewriter, const Expr *expr)
{
    (void)rewriter;
    return expr;
}

/* --- storage_align --- */
typedef struct {
    Context *ctx;
    const Buffer *buffer;
    VEC(const AttrValue *) rows;
} AlignFinder;

static bool find_alignments(Visitor *visitor, const Stmt *stmt)
{
    AlignFinder *finder = visitor->data;
    const AttrValue *value = stmt->kind == STMT_BLOCK ? attrs_get(stmt->as.block.annotations, DIM_ALIGN) : NULL;
    for (int i = 0; value && value->kind == ATTR_LIST && i < value->count; i++) {
        const AttrValue *row = value->items[i];
        int64_t index;
        if (row->kind != ATTR_LIST || row->count != 4 || row->items[0]->kind != ATTR_EXPR || !expr_const_int(row->items[0]->expr, &index))
            continue;
        if (index < 0 || index >= stmt->as.block.write_count || stmt->as.block.writes[index].buffer != finder->buffer)
            continue;
        AttrValue rest = {.kind = ATTR_LIST, .items = row->items + 1, .count = 3};
        vec_push(finder->ctx->arena, &finder->rows, arena_copy(finder->ctx->arena, &rest, sizeof rest));
    }
    return true;
}

/* --- The parts of a scope --- */
/* A block is a sequence of parts, often many, while each of its buffers is used in a few: only these are looked at. */
typedef VEC(int) PartList;

typedef struct {
    Context *ctx;
    const Stmt *head; /* the block, without a body */
    const Stmt **parts;
    int count;
    Map users; /* const Var *, of the data of a buffer -> PartList *: the parts that name it */
} Scope;

typedef struct {
    Scope *scope;
    int part;
} UserFinder;

static void add_user(UserFinder *finder, const Var *data)
{
    Arena *arena = finder->scope->ctx->arena;
    PartList *list = map_get(&finder->scope->users, data);
    if (!list) {
        list = ARENA_ARRAY(arena, PartList, 1);
        map_set(arena, &finder->scope->users, data, list);
    }
    if (!list->count || vec_last(list) != finder->part)
        vec_push(arena, list, finder->part);
}

static bool find_users_in_expr(Visitor *visitor, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        add_user(visitor->data, expr->value.var);
    if (expr->kind == EXPR_LOAD)
        add_user(visitor->data, expr->value.buffer->data);
    return true;
}

static void add_region_users(UserFinder *finder, const Region *regions, int count)
{
    for (int i = 0; i < count; i++)
        add_user(finder, regions[i].buffer->data);
}

static bool find_users_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    UserFinder *finder = visitor->data;
    if (stmt->kind == STMT_STORE)
        add_user(finder, stmt->as.store.buffer->data);
    if (stmt->kind == STMT_DECL_BUFFER)
        add_user(finder, stmt->as.declare.buffer->data);
    if (stmt->kind != STMT_BLOCK)
        return true;
    for (int i = 0; i < stmt->as.block.match_count; i++)
        add_user(finder, stmt->as.block.matches[i].source.buffer->data);
    add_region_users(finder, stmt->as.block.reads, stmt->as.block.read_count);
    add_region_users(finder, stmt->as.block.writes, stmt->as.block.write_count);
    return true;
}

/* BLOCK, which allocates nothing any more, taken apart. */
static Scope scope_open(Context *ctx, const Stmt *block)
{
    const Stmt *body = stmt_body(block);
    bool is_seq = body->kind == STMT_SEQ;
    Scope scope = {.ctx = ctx, .head = stmt_with_body(ctx, block, stmt_empty(ctx)), .count = is_seq ? body->as.seq.count : 1};
    scope.parts = ARENA_ARRAY(ctx->arena, const Stmt *, scope.count);
    for (int i = 0; i < scope.count; i++) {
        UserFinder finder = {&scope, i};
        Visitor visitor = {.expr = find_users_in_expr, .stmt = find_users_in_stmt, .data = &finder};
        scope.parts[i] = is_seq ? body->as.seq.items[i] : body;
        visit_stmt(&visitor, scope.parts[i]);
    }
    return scope;
}

static PartList users_of(const Scope *scope, const Buffer *buffer)
{
    const PartList *list = map_get(&scope->users, buffer->data);
    return list ? *list : (PartList){0};
}

/* The rows that FINDER found, as the annotation of an allocation. */
static Attrs alignments_found(AlignFinder *finder)
{
    if (!finder->rows.count)
        return (Attrs){0};
    AttrValue list = {.kind = ATTR_LIST, .items = finder->rows.data, .count = finder->rows.count};
    Context *ctx = finder->ctx;
    return attrs_set(ctx, (Attrs){0}, context_intern(ctx, DIM_ALIGN), arena_copy(ctx->arena, &list, sizeof list));
}

Attrs stmt_alignments(Context *ctx, const Stmt *stmt, const Buffer *buffer)
{
    AlignFinder finder = {.ctx = ctx, .buffer = buffer};
    Visitor visitor = {.stmt = find_alignments, .data = &finder};
    visit_stmt(&visitor, stmt);
    return alignments_found(&finder);
}

static Attrs find_dim_align(const Scope *scope, const Buffer *buffer)
{
    AlignFinder finder = {.ctx = scope->ctx, .buffer = buffer};
    Visitor visitor = {.stmt = find_alignments, .data = &finder};
    PartList users = users_of(scope, buffer);
    visit_stmt(&visitor, scope->head);
    for (int i = 0; i < users.count; i++)
        visit_stmt(&visitor, scope->parts[users.data[i]]);
    return alignments_found(&finder);
}

/* --- The pass --- */
/* An allocation that stands in no loop. */
typedef struct {
    Buffer *buffer;
    Attrs alignments;
} Allocation;
typedef VEC(Allocation) AllocationList; /* innermost first */

/* The path from the block to the uses of BUFFER, which the parts that do not use it no longer name. *PART: the only one that does, or
   -1. */
static Path path_in_scope(Scope *scope, const Buffer *buffer, int *part)
{
    Context *ctx = scope->ctx;
    Rewriter rewriter = {.ctx = ctx, .expr = keep_expr, .stmt = forget_unused, .data = (void *)buffer};
    PartList users = users_of(scope, buffer);
    Path path = {0};
    int used = 0;
    vec_push(ctx->arena, &path, scope->head);
    for (int i = 0; i < users.count; i++) {
        const Stmt **user = &scope->parts[users.data[i]];
        *user = rewrite_stmt(&rewriter, *user);
        if (!stmt_uses_buffer(*user, buffer))
            continue;
        *part = users.data[i];
        used++;
    }
    if (used != 1 || stmt_uses_buffer(scope->head, buffer))
        *part = -1;
    Path inner = *part >= 0 ? path_to_uses(ctx, scope->parts[*part], buffer) : (Path){0};
    for (int i = 0; i < inner.count; i++)
        vec_push(ctx->arena, &path, inner.data[i]);
    return path;
}

/* Allocates BUFFER in the loop PATH[LOOP] of a part; the part with it. */
static const Stmt *place_in_loop(Context *ctx, const Path *path, int loop, Buffer *buffer, Attrs alignments)
{
    const Stmt *result = stmt_allocate_buffer(ctx, buffer, alignments, stmt_body(path->data[loop]), buffer->span);
    for (int i = loop; i > 0; i--) {
        result = i == loop ? stmt_with_body(ctx, path->data[i], result) : stmt_with_child(ctx, path->data[i], path->data[i + 1], result);
        if (result->kind == STMT_BLOCK)
            result = forget_in_block(ctx, result, buffer);
    }
    return result;
}

/* Without a loop, a buffer goes inside the block that allocates it, unless a view of that block needs it. Then those before it go outside,
   too. */
static void place_buffer(Placer *placer, Scope *scope, Buffer *buffer, AllocationList *inside, AllocationList *outside)
{
    Context *ctx = placer->ctx;
    int part = -1;
    Path path = path_in_scope(scope, buffer, &part);
    Attrs alignments = find_dim_align(scope, buffer);
    int loop = choose_loop(placer, &path, buffer);
    bool is_outside = loop < 0 && (outside->count || stmt_uses_buffer(scope->head, buffer));
    if (!is_outside)
        scope->head = forget_in_block(ctx, scope->head, buffer);
    if (loop >= 0)
        scope->parts[part] = place_in_loop(ctx, &path, loop, buffer, alignments);
    else
        vec_push(ctx->arena, is_outside ? outside : inside, ((Allocation){buffer, alignments}));
}

static const Stmt *allocate_around(Context *ctx, const AllocationList *list, const Stmt *body)
{
    for (int i = 0; i < list->count; i++)
        body = stmt_allocate_buffer(ctx, list->data[i].buffer, list->data[i].alignments, body, list->data[i].buffer->span);
    return body;
}

/* BLOCK with its COUNT buffers, which nothing allocates yet, allocated at their places. */
static const Stmt *place_buffers(Placer *placer, const Stmt *block, Buffer **buffers, int count)
{
    Context *ctx = placer->ctx;
    Scope scope = scope_open(ctx, block);
    AllocationList inside = {0}, outside = {0};
    for (int i = count - 1; i >= 0; i--)
        place_buffer(placer, &scope, buffers[i], &inside, &outside);
    const Stmt *body = allocate_around(ctx, &inside, stmt_seq(ctx, scope.parts, scope.count));
    return allocate_around(ctx, &outside, stmt_with_body(ctx, scope.head, body));
}

static Attrs without_buffers(Context *ctx, Attrs attrs)
{
    for (int i = attrs.count - 1; i >= 0; i--) {
        Attrs one = {&attrs.entries[i], 1};
        if (attrs_name_buffer(one, NULL))
            attrs = attrs_remove(ctx, attrs, attrs.entries[i].key);
    }
    return attrs;
}

/* What annotations say of buffers is for readers of the program. A buffer may come to stand inside of the statement that names it. */
static const Stmt *forget_named(Context *ctx, const Stmt *stmt)
{
    Stmt copy = *stmt;
    Attrs *attrs = copy.kind == STMT_FOR ? &copy.as.loop.annotations : copy.kind == STMT_BLOCK ? &copy.as.block.annotations : NULL;
    if (!attrs || !attrs_name_buffer(*attrs, NULL))
        return stmt;
    *attrs = without_buffers(ctx, *attrs);
    return stmt_new(ctx, &copy);
}

static const Stmt *place_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Placer *placer = rewriter->data;
    stmt = forget_named(rewriter->ctx, stmt);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    if (result->kind != STMT_BLOCK || !result->as.block.alloc_count)
        return result;
    BlockStmt block = result->as.block;
    block.alloc_count = 0;
    return place_buffers(placer, stmt_block(rewriter->ctx, block, result->span), result->as.block.allocs, result->as.block.alloc_count);
}

const Func *lower_place(LowerState *state, const Func *func)
{
    Placer placer = {.ctx = state->ctx, .func = func};
    Rewriter rewriter = {.ctx = state->ctx, .stmt = place_in_stmt, .data = &placer};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
