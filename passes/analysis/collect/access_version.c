/* Loads of memory that the program writes, in what says where and when accesses happen: the same expression is another value behind a write.

     with T.LetStmt(n[i]) as x:
         n[i] = n[i] + 4
         C[i] = B[n[i] - x]          B[4], not B[0]

   Contents are told apart by the writes before and the innermost loop around that has one: within an iteration of that loop, and of those
   around it, what is read of the same contents has one value. Memory that is never written keeps its name.

   Not handled: that two writes may leave the same value, or touch other elements. */
#include "ir/walk.h"
#include "passes/analysis/collect/access_version.h"

/* --- writes --- */

typedef struct {
    const VersionPlace *place;
    const Var *data;
    bool found;
} WriteSearch;

static bool is_memory(const WriteSearch *search, const Var *data)
{
    return search->place->viewed(search->place->data, data) == search->data;
}

/* A call that is given the memory, or that may do anything. */
static bool search_calls(Visitor *visitor, const Expr *expr)
{
    WriteSearch *search = visitor->data;
    search->found |= expr->opaque || (expr->kind == EXPR_VAR && is_memory(search, expr->value.var));
    return !search->found;
}

static bool search_writes(Visitor *visitor, const Stmt *stmt)
{
    WriteSearch *search = visitor->data;
    search->found |= stmt->kind == STMT_STORE && is_memory(search, stmt->as.store.buffer->data);
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++) /* its stores are found by no name known here */
        search->found |= is_memory(search, stmt->as.block.matches[i].source.buffer->data);
    return !search->found;
}

static bool stmt_may_write(const VersionPlace *place, const Stmt *stmt, const Var *data)
{
    WriteSearch search = {place, data, false};
    Visitor visitor = {.expr = search_calls, .stmt = search_writes, .data = &search};
    visit_stmt(&visitor, stmt);
    return search.found;
}

static bool func_may_write(Versions *versions, const VersionPlace *place, const Var *data)
{
    if (!map_has(&versions->written, data))
        map_set(place->ctx->arena, &versions->written, data, stmt_may_write(place, versions->func->body, data) ? (void *)data : NULL);
    return map_get(&versions->written, data);
}

static int writes_before(const VersionPlace *place, const Var *data)
{
    int writes = 0;
    for (int i = 0; i < place->accesses->count; i++)
        writes += place->accesses->data[i].fence || (place->accesses->data[i].write && place->accesses->data[i].data == data);
    return writes;
}

static const Stmt *innermost_writing_loop(const VersionPlace *place, const Var *data)
{
    const Frame *frame = place->frame;
    while (frame && !(frame->kind == FRAME_LOOP && stmt_may_write(place, frame->stmt, data)))
        frame = frame->outer;
    return frame ? frame->stmt : NULL;
}

/* --- versions --- */

static Buffer *contents_of(Versions *versions, const VersionPlace *place, const Buffer *buffer, const Var *data)
{
    Version version = {.buffer = buffer, .writes = writes_before(place, data), .loop = innermost_writing_loop(place, data)};
    for (int i = 0; i < versions->list.count; i++) {
        const Version *known = &versions->list.data[i];
        if (known->buffer == buffer && known->writes == version.writes && known->loop == version.loop)
            return known->contents;
    }
    version.contents = buffer_clone_fresh(place->ctx, buffer, buffer->name, NULL);
    vec_push(place->ctx->arena, &versions->list, version);
    return version.contents;
}

typedef struct {
    Versions *versions;
    const VersionPlace *place;
} Versioning;

static const Expr *version_load(Rewriter *rewriter, const Expr *expr)
{
    const Versioning *versioning = rewriter->data;
    const VersionPlace *place = versioning->place;
    const Expr *rewritten = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD)
        return rewritten;
    const Var *data = place->viewed(place->data, expr->value.buffer->data);
    if (!func_may_write(versioning->versions, place, data))
        return rewritten;
    int count = load_index_count(rewritten);
    return expr_load(place->ctx, contents_of(versioning->versions, place, expr->value.buffer, data), rewritten->args, count,
                     rewritten->arg_count > count ? rewritten->args[count] : NULL, rewritten->span);
}

static bool find_load(Visitor *visitor, const Expr *expr)
{
    *(bool *)visitor->data |= expr->kind == EXPR_LOAD;
    return !*(bool *)visitor->data;
}

const Expr *version_loads(Versions *versions, const VersionPlace *place, const Expr *expr)
{
    bool loads = false;
    Visitor visitor = {.expr = find_load, .data = &loads};
    visit_expr(&visitor, expr);
    Versioning versioning = {versions, place};
    Rewriter rewriter = {.ctx = place->ctx, .expr = version_load, .data = &versioning};
    return loads ? rewrite_expr(&rewriter, expr) : expr;
}

Region version_region(Versions *versions, const VersionPlace *place, Region region)
{
    const Range *known = region.ranges;
    for (int i = 0; i < region.buffer->ndim; i++) {
        Range range = {version_loads(versions, place, known[i].min), version_loads(versions, place, known[i].extent)};
        if (range.min == known[i].min && range.extent == known[i].extent)
            continue;
        if (region.ranges == known)
            region.ranges = arena_copy(place->ctx->arena, known, sizeof *known * (size_t)region.buffer->ndim);
        region.ranges[i] = range;
    }
    return region;
}
