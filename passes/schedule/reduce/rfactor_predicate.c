/* What the combination of partial results runs over; see rfactor.c.

   Before, in a block that reduces k0 * 8 + k1:       rfactor of k1: the second block has
     T.where(i0 * 4 + i1 < m and k0 * 8 + k1 < n)       T.where(i0 * 4 + i1 < m and k1 < n)

   A condition on reduction loops leaves out the partial results that have no update, which were never started. Those that have one are told
   by their first or their last iteration where an update in any iteration implies one there; where that cannot be shown nothing is left
   out, and rfactor refuses if it had to be. */
#include "ir/walk.h"
#include "passes/arith/analyzer.h"
#include "passes/schedule/reduce/rfactor_internal.h"

bool rfactor_loop_is_reduced_before(const Factoring *f, const TreeNode *loop)
{
    return loop != f->loop && rfactor_loop_is_used(node_block(f->block), node_loop(loop)->var, ITER_REDUCE);
}

/* The loops that the combination keeps: it runs also where what is reduced before has no iteration. */
static const TreeNode **combining_loops(const Factoring *f, int *count)
{
    const TreeNode **loops = ARENA_ARRAY(f->sch->ctx->arena, const TreeNode *, f->loop_count);
    *count = 0;
    for (int i = 0; i < f->loop_count; i++)
        if (!rfactor_loop_is_reduced_before(f, f->loops[i]))
            loops[(*count)++] = f->loops[i];
    return loops;
}

/* CONDITION simplified, but with its comparisons as they are: f * 4 < n * 4 says of n what f - n < 0 does not show. */
static const Expr *with_simple_operands(Context *ctx, const Expr *condition)
{
    const Expr *const *args = condition->args;
    if (condition->kind == EXPR_AND)
        return op_and(ctx, with_simple_operands(ctx, args[0]), with_simple_operands(ctx, args[1]));
    if (!expr_is_compare(condition))
        return analyzer_simplify(analyzer_new(ctx), condition);
    Analyzer *an = analyzer_new(ctx);
    return op_compare(ctx, condition->kind, analyzer_simplify(an, args[0]), analyzer_simplify(an, args[1]));
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
    return with_simple_operands(ctx, condition);
}

/* What CONDITION, which speaks of reduction loops, says of the partial results that are combined. */
static const Expr *condition_on_lanes(const Factoring *f, const Expr *condition)
{
    int count;
    const TreeNode **combining = combining_loops(f, &count);
    for (int last = 0; last < 2; last++) {
        const Expr *end = condition_at_end(f, condition, last);
        if (!expr_uses_var(end, node_loop(f->loop)->var) || loops_imply(f->sch, combining, count, NULL, end))
            break;
        if (loops_imply(f->sch, f->loops, f->loop_count, condition, end))
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

/* CONDITION, or where it says that something >= 0 is less than a bound, that this bound is positive. */
static const Expr *bound_is_positive(Analyzer *an, const Expr *condition)
{
    Context *ctx = analyzer_context(an);
    if (condition->kind != EXPR_LT)
        return condition;
    const Expr *zero = expr_int(ctx, condition->args[0]->dtype, 0);
    return analyzer_prove_less_equal(an, zero, condition->args[0]) ? op_compare(ctx, EXPR_LT, zero, condition->args[1]) : condition;
}

bool rfactor_first_iterations_run(const Factoring *f, const Expr *remaining)
{
    Context *ctx = f->sch->ctx;
    int count;
    const TreeNode **combining = combining_loops(f, &count);
    const Expr *first = condition_at_end(f, node_block(f->block)->predicate, false);
    bool same = expr_equal(analyzer_simplify(analyzer_new(ctx), first), analyzer_simplify(analyzer_new(ctx), remaining));
    if (!same && !loops_imply(f->sch, combining, count, remaining, first))
        return false;
    Analyzer *an = loops_context(f->sch, f->loops[0]);
    for (int i = 0; i < count; i++) {
        const ForStmt *loop = node_loop(combining[i]);
        analyzer_bind_range_opaque(an, loop->var, (Range){loop->min, loop->extent});
    }
    ExprList parts = {0};
    loops_split_conjunction(ctx, remaining, &parts);
    const Expr *known = expr_bool(ctx, true);
    for (int i = 0; i < parts.count; i++)
        known = op_and(ctx, known, bound_is_positive(an, parts.data[i]));
    for (int i = 0; i < f->loop_count; i++) {
        const Expr *extent = node_loop(f->loops[i])->extent, *runs = op_compare(ctx, EXPR_LT, expr_int(ctx, extent->dtype, 0), extent);
        if (rfactor_loop_is_reduced_before(f, f->loops[i]) && !loops_imply(f->sch, combining, count, known, runs))
            return false;
    }
    return true;
}
