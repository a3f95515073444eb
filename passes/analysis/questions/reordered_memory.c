/* The memory that keeps no order when loops change: see dependence_order_kept in dependence.h. */
#include "ir/walk.h"
#include "passes/analysis/collect/access_collect.h"
#include "passes/analysis/cover/cover.h"
#include "passes/analysis/questions/conflict.h"
#include "passes/analysis/questions/order.h"

/* What keeps no order: what the blocks below a part allocate (each instance has its own, and runs inside as before), and what the bodies of
   the loops use as scratch. */
typedef struct {
    Context *ctx;
    const Stmt *part;
    Map data; /* data variables */
    Map allocated; /* all that the program allocates */
} OwnMemory;

static bool collect_allocations(Visitor *visitor, const Stmt *stmt)
{
    OwnMemory *own = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && i < stmt->as.block.alloc_count; i++)
        map_set(own->ctx->arena, &own->allocated, stmt->as.block.allocs[i]->data, own);
    return true;
}

static bool collect_inner_allocations(Visitor *visitor, const Stmt *stmt)
{
    OwnMemory *own = visitor->data;
    for (int i = 0; stmt->kind == STMT_BLOCK && stmt != own->part && i < stmt->as.block.alloc_count; i++)
        map_set(own->ctx->arena, &own->data, stmt->as.block.allocs[i]->data, own);
    return true;
}

static bool order_matters(void *data, const Access *a, const Access *b)
{
    const OwnMemory *own = data;
    return !a->data || !b->data || !map_has(&own->data, a->data) || !map_has(&own->data, b->data);
}

/* The loops from the part down to the one over INNERMOST leave DATA to each of their bodies alone. */
static bool is_scratch(OwnMemory *own, const Func *func, const Var *data, const Var *innermost)
{
    if (!innermost || !data || !map_has(&own->allocated, data) || map_has(&own->data, data))
        return false;
    AccessList accesses = access_collect(own->ctx, func);
    Map sizes = func_sizes(own->ctx, func);
    for (const Stmt *loop = own->part;; loop = loop->as.loop.body) {
        if (!shown_is_private(own->ctx, &accesses, &sizes, data, loop->as.loop.var))
            return false;
        if (loop->as.loop.var == innermost)
            return true;
    }
}

bool conflict_reordered(Context *ctx, const Func *before, const Stmt *old_part, const Func *after, const Stmt *new_part,
                          const Var *innermost, Conflict *conflict)
{
    OwnMemory own = {.ctx = ctx, .part = old_part};
    Visitor inner = {.stmt = collect_inner_allocations, .data = &own}, all = {.stmt = collect_allocations, .data = &own};
    visit_stmt(&inner, old_part);
    visit_stmt(&all, before->body);
    OrderQuestion question = {before, after, old_part, new_part, NULL, order_matters, &own, NULL};
    while (order_changes(ctx, &question, conflict)) {
        const Var *data = conflict->first ? conflict->first->data : NULL;
        if (!is_scratch(&own, before, data, innermost))
            return true;
        map_set(ctx->arena, &own.data, data, &own);
    }
    return false;
}
