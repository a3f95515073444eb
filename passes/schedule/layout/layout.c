/* The edit of transform_layout: indices go through the index map, in simplest form; regions are found anew from the accesses. See layout.h. */
#include "passes/schedule/layout/layout.h"
#include "passes/schedule/core/scope.h"

#include "passes/regions/infer_regions.h"
#include "ir/walk.h"

/* --- Uses that no index map can follow --- */

typedef struct {
    const Buffer *buffer;
    const Expr *pointer, *vector;
    Span view_span;
    const Buffer *view;
} FormSearch;

static bool search_expr(Visitor *visitor, const Expr *expr)
{
    FormSearch *search = visitor->data;
    const Var *data = search->buffer->data;
    if (expr_is_var(expr, data) ||
        (expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD && expr->args[0]->value.buffer == search->buffer))
        search->pointer = expr;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == search->buffer)
        for (int i = 0; i < expr->arg_count; i++)
            if (expr->predicated || expr->args[i]->dtype.lanes != 1)
                search->vector = expr;
    return expr->uses & symbol_bit(data->id);
}

static void note_view(FormSearch *search, const Buffer *view, Span span)
{
    search->view = view;
    search->view_span = span;
}

static bool search_stmt(Visitor *visitor, const Stmt *stmt)
{
    FormSearch *search = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.match_count; i++)
        if (stmt->as.block.matches[i].source.buffer->data == search->buffer->data)
            note_view(search, stmt->as.block.matches[i].target, stmt->span);
    if (stmt->kind == STMT_DECL_BUFFER && stmt->as.declare.buffer->data == search->buffer->data)
        note_view(search, stmt->as.declare.buffer, stmt->span);
    if (stmt->kind == STMT_STORE && stmt->as.store.buffer == search->buffer)
        for (int i = 0; i < stmt->as.store.index_count; i++)
            if (stmt->as.store.mask || stmt->as.store.indices[i]->dtype.lanes != 1)
                search->vector = stmt->as.store.indices[i];
    return true;
}

bool check_buffer_is_accessed_by_elements(Schedule *sch, const Buffer *buffer)
{
    FormSearch search = {.buffer = buffer};
    Visitor visitor = {.expr = search_expr, .stmt = search_stmt, .data = &search};
    visit_stmt(&visitor, schedule_func(sch)->body);
    const char *name = buffer->name;
    if (search.view) {
        sched_refuse(sch, "the memory of '%s' is used under another name too, '%s', whose indices an index map does not reach", name,
                     search.view->name);
        sched_note(sch, search.view_span, "'%s' is declared here", search.view->name);
        return false;
    }
    if (search.pointer) {
        sched_refuse(sch, "the program takes a pointer to '%s', behind which the order of its elements counts", name);
        sched_note(sch, search.pointer->span, "the pointer is taken here");
        return false;
    }
    if (search.vector) {
        sched_refuse(sch, "'%s' is accessed as vectors, whose elements an index map may take apart", name);
        sched_note(sch, search.vector->span, "the access is here");
        return false;
    }
    return true;
}

/* --- The edit --- */

typedef struct {
    const LayoutChange *change;
    Analyzer *an;    /* knows the ranges of the loops and axes around */
    Analyzer *plain; /* knows none: the reference puts indices through the map without them */
    VEC(VarRange) iters; /* of the loops and blocks around */
    const Expr *condition; /* of the if statements around */
} Edit;

static const Expr **mapped_indices(Edit *edit, const Expr *const *indices)
{
    Context *ctx = edit->change->sch->ctx;
    const IndexMap *map = edit->change->map;
    const Expr **mapped = index_map_apply(edit->plain, map, indices);
    IterMapQuery query = {mapped, map->output_count, edit->iters.data, edit->iters.count, edit->condition, ITER_MAP_SURJECTIVE, true};
    const Expr **simple = iter_map_simplify(edit->an, &query);
    const Expr **result = ARENA_ARRAY(ctx->arena, const Expr *, map->output_count);
    for (int i = 0; i < map->output_count; i++)
        result[i] = simple[i]->kind == EXPR_INT && mapped[i]->kind == EXPR_VAR ? mapped[i] : simple[i];
    return result;
}

static const Expr *edit_expr(Rewriter *rewriter, const Expr *expr)
{
    Edit *edit = rewriter->data;
    const LayoutChange *change = edit->change;
    expr = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD || expr->value.buffer != change->old_buffer)
        return expr;
    return expr_load(rewriter->ctx, change->new_buffer, mapped_indices(edit, expr->args), change->map->output_count, NULL, expr->span);
}

/* The region of the new buffer among INFERRED; all of it where no access shows. */
static Region new_region(Edit *edit, const Region *inferred, int count, Span span)
{
    Context *ctx = edit->change->sch->ctx;
    Region region = region_whole(ctx, edit->change->new_buffer);
    for (int i = 0; i < count; i++)
        if (inferred[i].buffer == edit->change->new_buffer)
            region = inferred[i];
    region.span = span;
    return region;
}

static void edit_regions(Edit *edit, Region **regions, int count, const Region *inferred, int inferred_count)
{
    *regions = arena_copy(edit->change->sch->ctx->arena, *regions, sizeof **regions * (size_t)count);
    for (int i = 0; i < count; i++)
        if ((*regions)[i].buffer == edit->change->old_buffer)
            (*regions)[i] = new_region(edit, inferred, inferred_count, (*regions)[i].span);
}

static const Stmt *edit_block(Rewriter *rewriter, const Stmt *stmt)
{
    Edit *edit = rewriter->data;
    Context *ctx = rewriter->ctx;
    const LayoutChange *change = edit->change;
    for (int i = 0; i < stmt->as.block.iter_count; i++) {
        VarRange range = {stmt->as.block.iters[i].var, stmt->as.block.iters[i].domain};
        analyzer_bind_range_opaque(edit->an, range.var, range.range);
        vec_push(ctx->arena, &edit->iters, range);
    }
    stmt = rewrite_stmt_children(rewriter, stmt);
    BlockStmt block = stmt->as.block;
    if (regions_find(block.reads, block.read_count, change->old_buffer) || regions_find(block.writes, block.write_count, change->old_buffer)) {
        Map buffers = {0};
        map_set(ctx->arena, &buffers, change->new_buffer->data, change->new_buffer);
        BlockRegions regions = infer_block_regions(ctx, &block, &buffers);
        edit_regions(edit, &block.reads, block.read_count, regions.reads, regions.read_count);
        edit_regions(edit, &block.writes, block.write_count, regions.writes, regions.write_count);
    }
    block.allocs = arena_copy(ctx->arena, block.allocs, sizeof *block.allocs * (size_t)block.alloc_count);
    for (int i = 0; i < block.alloc_count; i++)
        if (block.allocs[i] == change->old_buffer)
            block.allocs[i] = change->new_buffer;
    return stmt_block(ctx, block, stmt->span);
}

static const Stmt *edit_store(Rewriter *rewriter, const Stmt *stmt)
{
    Edit *edit = rewriter->data;
    const LayoutChange *change = edit->change;
    stmt = rewrite_stmt_children(rewriter, stmt);
    if (stmt->as.store.buffer != change->old_buffer)
        return stmt;
    return stmt_store(rewriter->ctx, change->new_buffer, mapped_indices(edit, stmt->as.store.indices), change->map->output_count,
                      stmt->as.store.value, NULL, stmt->span);
}

static const Stmt *edit_branch(Rewriter *rewriter, const Stmt *stmt)
{
    Edit *edit = rewriter->data;
    const Expr *outside = edit->condition;
    Stmt copy = *stmt;
    const Expr *condition = copy.as.branch.condition = rewrite_expr(rewriter, stmt->as.branch.condition);
    bool pure = expr_is_pure(condition);
    edit->condition = pure ? (outside ? op_and(rewriter->ctx, outside, condition) : condition) : outside;
    copy.as.branch.then_body = rewrite_stmt(rewriter, stmt->as.branch.then_body);
    edit->condition = outside;
    if (stmt->as.branch.else_body)
        copy.as.branch.else_body = rewrite_stmt(rewriter, stmt->as.branch.else_body);
    return stmt_new(rewriter->ctx, &copy);
}

static const Stmt *edit_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    Edit *edit = rewriter->data;
    int outside = edit->iters.count;
    if (stmt->kind == STMT_FOR) {
        VarRange range = {stmt->as.loop.var, {stmt->as.loop.min, stmt->as.loop.extent}};
        analyzer_bind_range_opaque(edit->an, range.var, range.range);
        vec_push(rewriter->ctx->arena, &edit->iters, range);
    }
    const Stmt *edited = stmt->kind == STMT_BLOCK   ? edit_block(rewriter, stmt)
                         : stmt->kind == STMT_STORE ? edit_store(rewriter, stmt)
                         : stmt->kind == STMT_IF    ? edit_branch(rewriter, stmt)
                                                    : rewrite_stmt_children(rewriter, stmt);
    edit->iters.count = outside;
    return edited;
}

const Stmt *layout_rewrite(const LayoutChange *change, const Stmt *stmt)
{
    Context *ctx = change->sch->ctx;
    Edit edit = {.change = change, .an = analyzer_new(ctx), .plain = analyzer_new(ctx)};
    Rewriter rewriter = {.ctx = ctx, .expr = edit_expr, .stmt = edit_stmt, .data = &edit};
    Subst rest = {0}; /* annotations may name the buffer too */
    subst_buffer(ctx, &rest, change->old_buffer, change->new_buffer);
    return subst_stmt(ctx, &rest, rewrite_stmt(&rewriter, stmt));
}
