/* reverse_compute_inline: do the consumer's instances keep their order? See inline_check_order in inline.h. */
#include "passes/schedule/check/legality.h"
#include "passes/schedule/move/inline.h"

/* Loop number l of OWN, around CONSUMER, and loop number l of OTHERS, around the producer, give the same values to the same axes, for each
   l below COUNT. SOLVED has the axes' values in terms of BINDINGS. A loop without an axis is the same loop in both. */
static bool takes_same_loops(Context *ctx, const BlockStmt *consumer, const Subst *solved, Subst *bindings, const TreeNode *const *own,
                             const TreeNode *const *others, int count)
{
    for (int l = 0, bound = 0; l < count; l++, bound = 0) {
        Subst place = {0};
        subst_var(ctx, &place, node_loop(own[l])->var, expr_var(ctx, node_loop(others[l])->var));
        for (int i = 0; i < consumer->iter_count; i++) {
            if (!expr_is_var(consumer->bindings[i], node_loop(own[l])->var))
                continue;
            bound++;
            const Expr *value = subst_expr(ctx, bindings, map_get(&solved->vars, consumer->iters[i].var));
            if (!expr_equal(value, subst_expr(ctx, &place, consumer->bindings[i])))
                return false;
        }
        if (!bound && own[l] != others[l])
            return false;
    }
    return true;
}

/* The loops of the producer go through the consumer's instances as its own do. */
static bool loops_keep_order(Schedule *sch, const TreeNode *consumer, const TreeNode *producer, const Subst *solved)
{
    Context *ctx = sch->ctx;
    const BlockStmt *block = node_block(consumer), *target = node_block(producer);
    int count, others_count;
    const TreeNode **own = schedule_loops_around(sch, consumer, &count), **others = schedule_loops_around(sch, producer, &others_count);
    Subst bindings = {0};
    for (int i = 0; i < target->iter_count; i++)
        subst_var(ctx, &bindings, target->iters[i].var, target->bindings[i]);
    for (int i = 0; i < block->iter_count; i++)
        if (block->bindings[i]->kind != EXPR_VAR)
            return false;
    return count == others_count && takes_same_loops(ctx, block, solved, &bindings, own, others, count);
}

bool inline_check_order(Schedule *sch, const TreeNode *consumer, const TreeNode *producer, const Subst *solved)
{
    if (loops_keep_order(sch, consumer, producer, solved))
        return true;
    ClaimSet claims = dependence_collect_claims(sch->ctx, schedule_func(sch));
    Answer answer = dependence_claims_hold(&claims, consumer->stmt);
    if (answer_is_shown(answer))
        return true;
    return refuse_by_answer(sch, answer, "the instances of block '%s' would run in the order of block '%s'",
                           node_name(consumer), node_name(producer));
}
