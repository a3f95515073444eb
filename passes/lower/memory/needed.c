/* See needed.h. All accesses count, also those under conditions: what the program may touch is never left out. Declared regions count where
   a call takes a pointer. */
#include "passes/lower/memory/needed.h"

#include "passes/lower/memory/views.h"

typedef struct {
    Context *ctx;
    Analyzer *an;
    LoopNames *names;
    Views views;
    VEC(VarSet) inner; /* variables bound inside the body */
    IntSet *needed;
    bool used, fixed;
} Needed;

static void add_inner(Needed *needed, const Var *var, IntSet set)
{
    vec_push(needed->ctx->arena, &needed->inner, ((VarSet){var, set}));
}

static void add_ranges(Needed *needed, const Range *ranges)
{
    Domain domain = {needed->inner.data, needed->inner.count};
    needed->used = true;
    for (int d = 0; d < needed->views.root->ndim; d++) {
        bool known = !expr_reads_memory(ranges[d].min) && !expr_reads_memory(ranges[d].extent);
        IntSet set = known ? int_set_eval_range(needed->an, ranges[d], &domain) : int_set_everything();
        needed->needed[d] = int_set_union(needed->an, needed->needed[d], set);
    }
}

static void add_element(Needed *needed, const Expr *const *indices)
{
    const Buffer *root = needed->views.root;
    const Range *ranges = element_ranges(needed->ctx, indices, root->ndim);
    add_ranges(needed, ranges ? ranges : region_whole(needed->ctx, (Buffer *)root).ranges);
}

/* Regions of the root or of a view of it that a block declares. */
static void add_regions(Needed *needed, const Region *regions, int count)
{
    for (int i = 0; i < count; i++) {
        const View *view = views_find(&needed->views, regions[i].buffer);
        if (view)
            add_ranges(needed, view_ranges(needed->ctx, &needed->views, view, regions[i].ranges));
    }
}

static bool need_in_expr(Visitor *visitor, const Expr *expr)
{
    Needed *needed = visitor->data;
    const Buffer *root = needed->views.root;
    if (expr->kind == EXPR_LOAD && expr->value.buffer == root)
        add_element(needed, expr->args);
    if (expr->kind == EXPR_LET)
        add_inner(needed, expr->value.var, expr_reads_memory(expr->args[0]) ? int_set_everything() : int_set_point(expr->args[0]));
    needed->fixed |= expr_is_var(expr, root->data);
    needed->fixed |= expr_is_call(expr, OP_ADDRESS_OF) && expr->args[0]->kind == EXPR_LOAD && expr->args[0]->value.buffer == root;
    return !needed->fixed;
}

/* What is accessed through a view lies in the region that it is a view of; calls may touch what their block declares as well. */
static void need_in_block(Needed *needed, const BlockStmt *block)
{
    int before = needed->views.items.count;
    views_add_block(needed->ctx, &needed->views, block);
    if (needed->views.items.count == before)
        return;
    for (int i = 0; i < block->match_count; i++)
        add_regions(needed, &block->matches[i].source, 1);
    add_regions(needed, block->reads, block->read_count);
    add_regions(needed, block->writes, block->write_count);
}

static bool need_in_stmt(Visitor *visitor, const Stmt *stmt)
{
    Needed *needed = visitor->data;
    const Buffer *root = needed->views.root;
    if (stmt->kind == STMT_FOR && needed->views.items.count == 1 && !loop_names_buffer(needed->names, stmt, root))
        return false;
    switch (stmt->kind) {
    case STMT_FOR: {
        bool known = !expr_reads_memory(stmt->as.loop.min) && !expr_reads_memory(stmt->as.loop.extent);
        Range range = {stmt->as.loop.min, stmt->as.loop.extent};
        add_inner(needed, stmt->as.loop.var, known ? int_set_from_range(needed->ctx, range) : int_set_everything());
        facts_bind_stmt(needed->an, stmt);
        break;
    }
    case STMT_LET:
        add_inner(needed, stmt->as.let.var,
                  expr_reads_memory(stmt->as.let.value) ? int_set_everything() : int_set_point(stmt->as.let.value));
        break;
    case STMT_BLOCK: need_in_block(needed, &stmt->as.block); break;
    case STMT_DECL_BUFFER: needed->fixed |= stmt->as.declare.buffer->data == root->data; break;
    case STMT_STORE:
        if (stmt->as.store.buffer == root)
            add_element(needed, stmt->as.store.indices);
        break;
    default: break;
    }
    return !needed->fixed;
}

bool needed_region(Analyzer *an, LoopNames *names, const Stmt *body, const Buffer *buffer, IntSet *out)
{
    Context *ctx = analyzer_context(an);
    Needed needed = {.ctx = ctx, .an = an, .names = names, .views = views_new(ctx, buffer), .needed = out};
    for (int d = 0; d < buffer->ndim; d++)
        out[d] = int_set_nothing();
    Visitor visitor = {.expr = need_in_expr, .stmt = need_in_stmt, .data = &needed};
    visit_stmt(&visitor, body);
    return needed.used && !needed.fixed;
}
