/* reorder_block_iter_var: the axes of a block in another order.

   Before, reorder_block_iter_var(b, [2, 0, 1])         After
     vi, vj, vk = T.axis.remap("SSR", [i, j, k])          vk, vi, vj = T.axis.remap("RSS", [k, i, j])

   The axes keep their bindings; blockize, tensorize and the order of scan axes look at their order. What must hold: the order names each
   axis of the block once, and axes whose order means something (scan and opaque ones) keep it among themselves. */
#include "passes/schedule/core/query.h"

/* ORDER names each of the COUNT axes of BLOCK once. */
static bool check_order(Schedule *sch, const TreeNode *block, const Value *order)
{
    const BlockStmt *stmt = node_block(block);
    const ValueList *list = order->as.list;
    bool *seen = ARENA_ARRAY(sch->ctx->arena, bool, stmt->iter_count), valid = list->count == stmt->iter_count;
    for (int i = 0; valid && i < list->count; i++) {
        int64_t axis = list->items[i].as.integer;
        valid = axis >= 0 && axis < stmt->iter_count && !seen[axis];
        if (valid)
            seen[axis] = true;
    }
    if (valid)
        return true;
    sched_refuse_argument(sch, order, "the order must name each of the %d axes of block '%s' once, from 0 on", stmt->iter_count,
                          stmt->block->name);
    return sched_note_node(sch, block);
}

static bool is_ordered(const Iter *iter)
{
    return iter->kind != ITER_SPATIAL && iter->kind != ITER_REDUCE;
}

static bool check_ordered_axes(Schedule *sch, const TreeNode *block, const Value *order)
{
    const BlockStmt *stmt = node_block(block);
    int64_t last = -1;
    for (int i = 0; i < stmt->iter_count; i++) {
        int64_t axis = order->as.list->items[i].as.integer;
        if (!is_ordered(&stmt->iters[axis]))
            continue;
        if (axis < last) {
            sched_refuse_argument(sch, order, "axes '%s' and '%s' of block '%s' are scan or opaque axes, which keep their order",
                                  stmt->iters[axis].var->name, stmt->iters[last].var->name, stmt->block->name);
            sched_note(sch, stmt->iters[axis].span, "axis '%s' is here", stmt->iters[axis].var->name);
            return false;
        }
        last = axis;
    }
    return true;
}

bool primitive_reorder_block_iter_var(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    if (!block || !check_order(sch, block, &args[1]) || !check_ordered_axes(sch, block, &args[1]))
        return false;
    const BlockStmt *old = node_block(block);
    Stmt stmt = *block->stmt;
    stmt.as.block.iters = ARENA_ARRAY(sch->ctx->arena, Iter, old->iter_count);
    stmt.as.block.bindings = ARENA_ARRAY(sch->ctx->arena, const Expr *, old->iter_count);
    for (int i = 0; i < old->iter_count; i++) {
        int64_t axis = args[1].as.list->items[i].as.integer;
        stmt.as.block.iters[i] = old->iters[axis];
        stmt.as.block.bindings[i] = old->bindings[axis];
    }
    sched_replace(sch, block->stmt, stmt_new(sch->ctx, &stmt));
    return true;
}
