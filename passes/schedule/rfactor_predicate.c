/* What the combination of partial results runs over; see rfactor.c.

   Before, in a block that reduces k0 * 8 + k1:       rfactor of k1: the second block has
     T.where(i0 * 4 + i1 < m and k0 * 8 + k1 < n)       T.where(i0 * 4 + i1 < m and k1 < n)

   A condition on reduction loops leaves out the partial results that have no update, which were never started. Those that have one are told
   by their first or their last iteration where an update in any iteration implies one there; where that cannot be shown nothing is left
   out, and rfactor refuses if it had to be. */
#include "ir/walk.h"
#include "passes/arith/analyzer.h"
#include "passes/analysis/access.h"
#include "passes/schedule/rfactor_internal.h"

bool rfactor_loop_is_reduced_before(const Factoring *f, const TreeNode *loop)
{
    return loop != f->loop && rfactor_loop_is_used(node_block(f->block), node_loop(loop)->var, ITER_REDUCE);
}

/* CONCLUSION holds in all iterations of the loops in which GIVEN holds; without it, in all iterations of those that are left, for what was
   reduced before may have had none. */
static bool holds_in_loops(const Factoring *f, const Expr *given, const Expr *conclusion)
{
    Context *ctx = f->sch->ctx;
    Map sizes = func_sizes(ctx, schedule_func(f->sch));
    AffineSpace space = affine_universe(ctx, f->loop_count, &sizes);
    const AffineEnv *env = NULL;
    for (int i = 0; i < f->loop_count; i++) {
        const ForStmt *loop = node_loop(f->loops[i]);
        if (given || !rfactor_loop_is_reduced_before(f, f->loops[i]))
            affine_assume_range(&space, env, i, (Range){loop->min, loop->extent});
        AffineEnv inner = {env, loop->var, i, NULL};
        env = arena_copy(ctx->arena, &inner, sizeof inner);
    }
    if (given)
        affine_assume(&space, env, given, false);
    affine_assume(&space, env, conclusion, true);
    bool holds = affine_verdict(&space) == SET_EMPTY;
    affine_free(&space);
    return holds;
}

/* CONDITION in the first iteration of what is reduced before, or in the LAST. */
static const Expr *condition_at_end(const Factoring *f, const Expr *condition, bool last)
{
    Context *ctx = f->sch->ctx;
    for (int i = f->loop_count - 1; i >= 0; i--) {
        const ForStmt *loop = node_loop(f->loops[i]);
        if (!rfactor_loop_is_reduced_before(f, f->loops[i]))
            continue;
        const Expr *end = op_sub(ctx, op_add(ctx, loop->min, loop->extent), expr_int(ctx, loop->var->dtype, 1));
        condition = subst_one(ctx, condition, loop->var, last ? end : loop->min);
    }
    return analyzer_simplify(analyzer_new(ctx), condition);
}

/* What CONDITION, which speaks of reduction loops, says of the partial results that are combined. */
static const Expr *condition_on_lanes(const Factoring *f, const Expr *condition)
{
    for (int last = 0; last < 2; last++) {
        const Expr *end = condition_at_end(f, condition, last);
        if (!expr_uses_var(end, node_loop(f->loop)->var) || holds_in_loops(f, NULL, end))
            break;
        if (holds_in_loops(f, condition, end))
            return end;
    }
    return expr_bool(f->sch->ctx, true);
}

const Expr *rfactor_remaining_predicate(const Factoring *f, const Expr *predicate)
{
    Context *ctx = f->sch->ctx;
    if (predicate->kind == EXPR_AND)
        return op_and(ctx, rfactor_remaining_predicate(f, predicate->args[0]), rfactor_remaining_predicate(f, predicate->args[1]));
    bool of_reduction = false;
    for (int i = 0; i < f->loop_count; i++) {
        const ForStmt *loop = node_loop(f->loops[i]);
        bool reduced = rfactor_loop_is_reduced_before(f, f->loops[i]);
        if (reduced && expr_is_int(loop->extent, 1)) /* a loop of one iteration says what it says */
            predicate = subst_one(ctx, predicate, loop->var, loop->min);
        else if (reduced || f->loops[i] == f->loop)
            of_reduction |= expr_uses_var(predicate, loop->var);
    }
    return of_reduction ? condition_on_lanes(f, predicate) : analyzer_simplify(analyzer_new(ctx), predicate);
}
