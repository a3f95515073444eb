/* See ties.h. Two reductions commute only almost: argmin and argmax without a comparison of the indices keep the first (or last) of equal
   values; T.max(a, b) is a > b ? a : b, so that a NaN is lost or kept depending on its place, and of two zeros the sign. The steps that
   reorder or regroup reductions are accepted for them all the same, as users expect; the results are the same for all other inputs. */
#include "passes/schedule/check/ties.h"

#include "ir/linear_sum.h"
#include "passes/analysis/model/reduction.h"
#include "passes/schedule/core/query.h"
#include "support/warning.h"

/* The warning that a new order of BLOCK's updates is worth; NO_WARNING: none. */
static Warning order_warning(Context *ctx, const BlockStmt *block, bool regrouped)
{
    const Reduction *reduction = reduction_recognize(ctx, block);
    if (!reduction)
        return NO_WARNING;
    bool is_float = dtype_is_float(reduction->operands[reduction->target_count - 1]->dtype);
    switch (reduction->kind) {
    case REDUCE_ARG_MIN:
    case REDUCE_ARG_MAX:
        if (reduction->breaks_ties)
            return is_float ? WARNING_NAN_ORDER : NO_WARNING;
        return regrouped && !is_float ? NO_WARNING : WARNING_TIES;
    case REDUCE_MIN:
    case REDUCE_MAX: return is_float ? WARNING_NAN_ORDER : NO_WARNING;
    default: return NO_WARNING;
    }
}

void warn_of_new_order(Schedule *sch, const BlockStmt *block, bool regrouped)
{
    Context *ctx = sch->ctx;
    Warning warning = order_warning(ctx, block, regrouped);
    const char *name = block->block->name;
    if (warning == WARNING_TIES)
        diag_warning(ctx, warning, sch->call_span,
                     "%s: block '%s' combines its values in another order, so that where values tie another index may be chosen", sch->primitive,
                     name);
    else if (warning == WARNING_NAN_ORDER)
        diag_warning(ctx, warning, sch->call_span,
                     "%s: block '%s' combines its values in another order, so that the result may be another where a value is NaN",
                     sch->primitive, name);
    else
        return;
    sched_note(sch, block->block->span, warning == WARNING_TIES ? "block '%s' is here; a comparison of the indices of equal values makes its "
                                                                  "choice independent of the order"
                                                                : "block '%s' is here", name);
}

static bool binds_reduce_axis(const BlockStmt *block, const ForStmt *loop)
{
    return !expr_is_int(loop->extent, 1) && block_binds_axis(block, false, loop->var);
}

void warn_of_shared_reduction(Schedule *sch, const TreeNode *node)
{
    int count;
    const TreeNode **blocks = schedule_child_blocks(sch, node, &count);
    for (int i = 0; i < count; i++)
        if (binds_reduce_axis(node_block(blocks[i]), node_loop(node)) && order_warning(sch->ctx, node_block(blocks[i]), false)) {
            warn_of_new_order(sch, node_block(blocks[i]), false);
            return;
        }
}

static int place_of(const TreeNode *const *order, int count, const TreeNode *node)
{
    int place = 0;
    while (place < count && order[place] != node)
        place++;
    return place;
}

/* Two of the loops that BLOCK reduces over change places with one another. */
static bool changes_order(const BlockStmt *block, const TreeNode *const *chain, const TreeNode *const *new_order, int count)
{
    int last = -1;
    for (int i = 0; i < count; i++) {
        if (!binds_reduce_axis(block, node_loop(chain[i])))
            continue;
        int place = place_of(new_order, count, chain[i]);
        if (place < last)
            return true;
        last = place;
    }
    return false;
}

void warn_of_reordered_loops(Schedule *sch, const TreeNode *const *chain, const TreeNode *const *new_order, int count)
{
    int block_count;
    const TreeNode **blocks = schedule_child_blocks(sch, chain[count - 1], &block_count);
    for (int i = 0; i < block_count; i++) {
        const BlockStmt *block = node_block(blocks[i]);
        if (!order_warning(sch->ctx, block, false) || !changes_order(block, chain, new_order, count))
            continue;
        warn_of_new_order(sch, block, false);
        return;
    }
}

/* --- the order of axes --- */

static int loop_place(const TreeNode *const *loops, int count, const Expr *atom)
{
    for (int i = 0; i < count; i++)
        if (expr_is_var(atom, node_loop(loops[i])->var))
            return i;
    return -1;
}

/* BINDING grows with the loops that it is a sum of, which stand behind *LAST from the coarsest to the finest; then *LAST is the finest. */
static bool counts_up(Context *ctx, const Expr *binding, const TreeNode *const *loops, int count, int *last)
{
    LinearSum sum;
    if (!linear_sum_of(ctx, binding, &sum))
        return false;
    int64_t *coefficients = ARENA_ARRAY(ctx->arena, int64_t, count), extent, span = 1;
    for (int i = 0; i < sum.terms.count; i++) {
        int place = loop_place(loops, count, sum.terms.data[i].atom);
        if (place <= *last || sum.terms.data[i].coefficient < 0)
            return false;
        coefficients[place] = sum.terms.data[i].coefficient;
    }
    for (int i = count - 1, finest = *last; i > finest; i--) {
        if (!coefficients[i])
            continue;
        *last = *last > i ? *last : i;
        if (coefficients[i] < span)
            return false;
        bool known = expr_const_int(node_loop(loops[i])->extent, &extent) && !__builtin_mul_overflow(coefficients[i], extent, &span);
        span = known ? span : INT64_MAX;
    }
    return true;
}

bool reduce_axes_count_up(Schedule *sch, const TreeNode *node)
{
    const BlockStmt *block = node_block(node);
    int count, last = -1;
    const TreeNode **loops = schedule_loops_around(sch, node, &count);
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].kind == ITER_REDUCE && !counts_up(sch->ctx, block->bindings[i], loops, count, &last))
            return false;
    return true;
}

bool updates_follow_axes(Schedule *sch, const TreeNode *node)
{
    return !order_warning(sch->ctx, node_block(node), false) || reduce_axes_count_up(sch, node);
}
