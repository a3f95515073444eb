/* See axis_names.h.

     for i0, i1 in T.grid(4, 16):
         with T.block("C"):
             vi = T.axis.spatial(64, i0 * 16 + i1)
             C[vi] = ...                              here vi is i0 * 16 + i1, as long as i0 and i1 are variables of the code */
#include "driver/axis_names.h"

#include "ir/walk.h"

typedef struct {
    Context *ctx;
    AxisNames *axes;
    Subst values;              /* axes around -> their bindings; loops of one iteration -> its number */
    const NamedAxis *innermost;
    VEC(const NamedAxis *) outside; /* for each block around: the innermost axis outside of it */
} AxisWalk;

static void add_axes(AxisWalk *walk, const BlockStmt *block)
{
    vec_push(walk->ctx->arena, &walk->outside, walk->innermost);
    for (int i = 0; i < block->iter_count; i++) {
        NamedAxis axis = {walk->innermost, block->iters[i].var, subst_expr(walk->ctx, &walk->values, block->bindings[i])};
        subst_var(walk->ctx, &walk->values, axis.var, axis.value);
        walk->innermost = arena_copy(walk->ctx->arena, &axis, sizeof axis);
    }
}

static bool enter_stmt(Visitor *visitor, const Stmt *stmt)
{
    AxisWalk *walk = visitor->data;
    if (stmt->kind == STMT_FOR && expr_is_int(stmt->as.loop.extent, 1))
        subst_var(walk->ctx, &walk->values, stmt->as.loop.var, subst_expr(walk->ctx, &walk->values, stmt->as.loop.min));
    if (stmt->kind == STMT_BLOCK)
        add_axes(walk, &stmt->as.block);
    if (stmt->kind == STMT_STORE && walk->innermost && stmt->span.file) {
        const void *place = axis_names_place(stmt->span);
        NamedSite site = {map_get(&walk->axes->sites, place), walk->innermost};
        map_set(walk->ctx->arena, &walk->axes->sites, place, arena_copy(walk->ctx->arena, &site, sizeof site));
    }
    return true;
}

static void leave_stmt(Visitor *visitor, const Stmt *stmt)
{
    AxisWalk *walk = visitor->data;
    if (stmt->kind == STMT_BLOCK)
        walk->innermost = walk->outside.data[--walk->outside.count];
}

void axis_names_collect(Context *ctx, const Func *func, AxisNames *axes)
{
    AxisWalk walk = {.ctx = ctx, .axes = axes};
    Visitor visitor = {.stmt = enter_stmt, .leave_stmt = leave_stmt, .data = &walk};
    if (func->body)
        visit_stmt(&visitor, func->body);
}
