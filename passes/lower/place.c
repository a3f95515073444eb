/* Pass "place": the buffers that blocks allocate become explicit allocations, each where it is needed.

     with T.block("root"):                     with T.block("root"):
         B = T.alloc_buffer((128, 16))             for i in range(128):
         for i in range(128):                          B = T.decl_buffer((128, 16))
             for j in range(16):         ->            for j in range(16):
                 B[i, j] = A[i, j]                         B[i, j] = A[i, j]
             for j in range(16):                       for j in range(16):
                 C[i, j] = B[i, j]                         C[i, j] = B[i, j]

   A buffer goes into the innermost loop that holds all its uses and across whose iterations it carries no data. A loop of which that is not
   shown keeps the buffer outside. Iterations of parallel and one-trip loops carry nothing: the former must not communicate, so where all of
   them write one element, or each fills what it reads by the same reasoning as lets the schedule make the loop parallel, each has a copy of
   its own. A buffer that a call accesses through a pointer follows the declared regions of the
   block of that call.

   storage_align (the block annotation "buffer_dim_align") goes to the allocation: rows of [axis, factor, offset], for compaction. Needs:
   block axes gone. */
#include <string.h>

#include "passes/analysis/dependence.h"
#include "passes/lower/coverage.h"
#include "passes/lower/views.h"

#define DIM_ALIGN "buffer_dim_align"

typedef VEC(const Stmt *) Path; /* from the outside in: each statement holds the next */

typedef struct {
    Context *ctx;
    const Func *func;
    Path around; /* the statements that the rewriter is inside of */
    AccessList accesses; /* of the function, once collected: see is_filled_in_each */
    bool collected;
} Placer;

/* --- Finding the uses --- */
/* The one statement directly inside STMT that holds all uses of BUFFER in STMT; NULL where STMT itself uses it or several parts do. */
static const Stmt *only_user(Context *ctx, const Stmt *stmt, const Buffer *buffer)
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
    for (const Stmt *stmt = scope; stmt; stmt = used ? only_user(ctx, stmt, buffer) : NULL)
        vec_push(ctx->arena, &path, stmt);
    return path;
}

/* --- Choosing the loop --- */
static bool may_carry(const ForStmt *loop)
{
    return loop->kind != FOR_PARALLEL && !expr_is_int(loop->extent, 1);
}

/* An analyzer that knows the sizes of the parameters and the loops and conditions along AROUND and the first COUNT statements of PATH. */
static Analyzer *analyzer_at(const Placer *placer, const Path *path, int count)
{
    Analyzer *an = analyzer_new(placer->ctx);
    facts_bind_sizes(an, placer->func);
    for (int i = 0; i < placer->around.count; i++)
        facts_bind_stmt(an, placer->around.data[i]);
    for (int i = 0; i < count; i++) {
        facts_bind_stmt(an, path->data[i]);
        if (path->data[i]->kind == STMT_IF && i + 1 < path->count && path->data[i + 1] == path->data[i]->as.branch.then_body)
            facts_assume(an, path->data[i]->as.branch.condition);
    }
    return an;
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

/* Each iteration of LOOP, a parallel one, writes what it reads of BUFFER. */
static bool is_filled_in_each(Placer *placer, const ForStmt *loop, const Buffer *buffer)
{
    if (!placer->collected)
        placer->accesses = access_collect(placer->ctx, placer->func);
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
        if (!carrying || coverage_is_private(analyzer_at(placer, path, i + 1), loop->body, buffer))
            return i;
        bool at_once = !may_carry(loop) && !expr_is_int(loop->extent, 1);
        if (at_once && (iterations_share_element(loop, buffer) || is_filled_in_each(placer, loop, buffer)))
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

/* PARENT with its part OLD replaced by NEW. */
static const Stmt *replace_part(Context *ctx, const Stmt *parent, const Stmt *old, const Stmt *new)
{
    Stmt copy = *parent;
    switch (parent->kind) {
    case STMT_SEQ:
        copy.as.seq.items = arena_copy(ctx->arena, copy.as.seq.items, sizeof *copy.as.seq.items * (size_t)copy.as.seq.count);
        for (int i = 0; i < copy.as.seq.count; i++)
            if (copy.as.seq.items[i] == old)
                copy.as.seq.items[i] = new;
        return stmt_seq(ctx, copy.as.seq.items, copy.as.seq.count);
    case STMT_IF:
        if (copy.as.branch.then_body == old)
            copy.as.branch.then_body = new;
        else
            copy.as.branch.else_body = new;
        return stmt_new(ctx, &copy);
    default: return stmt_with_body(ctx, parent, new);
    }
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

static Attrs find_dim_align(Context *ctx, const Stmt *scope, const Buffer *buffer)
{
    AlignFinder finder = {.ctx = ctx, .buffer = buffer};
    Visitor visitor = {.stmt = find_alignments, .data = &finder};
    visit_stmt(&visitor, scope);
    if (!finder.rows.count)
        return (Attrs){0};
    AttrValue list = {.kind = ATTR_LIST, .items = finder.rows.data, .count = finder.rows.count};
    return attrs_set(ctx, (Attrs){0}, context_intern(ctx, DIM_ALIGN), arena_copy(ctx->arena, &list, sizeof list));
}

/* --- The pass --- */
/* SCOPE with BUFFER, which nothing allocates yet, allocated at its place. */
static const Stmt *place_buffer(Placer *placer, const Stmt *scope, Buffer *buffer)
{
    Context *ctx = placer->ctx;
    Rewriter rewriter = {.ctx = ctx, .expr = keep_expr, .stmt = forget_unused, .data = (void *)buffer};
    scope = rewrite_stmt(&rewriter, scope);
    Path path = path_to_uses(ctx, scope, buffer);
    Attrs alignments = find_dim_align(ctx, scope, buffer);
    int loop = choose_loop(placer, &path, buffer);
    /* without a loop: inside the block that allocates it, unless a view of that block needs it */
    bool needed_outside = path.count == 1 && stmt_uses_buffer(scope, buffer);
    int holder = loop >= 0 ? loop : scope->kind == STMT_BLOCK && !needed_outside ? 0 : -1;
    const Stmt *inner = holder < 0 ? scope : stmt_body(path.data[holder]);
    const Stmt *result = stmt_allocate_buffer(ctx, buffer, alignments, inner, buffer->span);
    for (int i = holder; i >= 0; i--) {
        result = i == holder ? stmt_with_body(ctx, path.data[i], result) : replace_part(ctx, path.data[i], path.data[i + 1], result);
        if (result->kind == STMT_BLOCK)
            result = forget_in_block(ctx, result, buffer);
    }
    return result;
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
    vec_push(rewriter->ctx->arena, &placer->around, stmt);
    const Stmt *result = rewrite_stmt_children(rewriter, stmt);
    placer->around.count--;
    if (result->kind != STMT_BLOCK || !result->as.block.alloc_count)
        return result;
    BlockStmt block = result->as.block;
    block.alloc_count = 0;
    const Stmt *scope = stmt_block(rewriter->ctx, block, result->span);
    for (int i = result->as.block.alloc_count - 1; i >= 0; i--)
        scope = place_buffer(placer, scope, result->as.block.allocs[i]);
    return scope;
}

const Func *lower_place(LowerState *state, const Func *func)
{
    Placer placer = {.ctx = state->ctx, .func = func};
    Rewriter rewriter = {.ctx = state->ctx, .stmt = place_in_stmt, .data = &placer};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
