/* The axes of a block that leaves loops which the domains of its axes depend on: a triangle

     for i in range(8):
         for j in range(i + 1):
             with T.block("B"):
                 vi = T.axis.spatial(8, i)
                 vj = T.axis.spatial(i + 1, j)        becomes        T.axis.spatial(8, j) with T.where(j < i + 1)

   The wider domain holds all values of the narrower ones, and the bindings and loops stay, so that the same instances run: bindings lie in
   their domains, so that the condition holds for all of them. The move says it in terms of the axes where it is needed. Not handled: domains
   that depend on lets or memory. */
#include "passes/schedule/core/loops.h"
#include "passes/schedule/move/move.h"

/* The loops that the block leaves, outermost first. */
static VarRange *left_loops(const Move *move, int *count)
{
    int around, shared = 0;
    const TreeNode **loops = schedule_loops_around(move->sch, move->block, &around);
    while (shared < around && schedule_is_under(move->sch, move->loop, loops[shared]))
        shared++;
    *count = around - shared;
    return loops_ranges(move->sch, loops + shared, *count);
}

static bool uses_any(Range range, const VarRange *loops, int count)
{
    for (int i = 0; i < count; i++)
        if (expr_uses_var(range.min, loops[i].var) || expr_uses_var(range.extent, loops[i].var))
            return true;
    return false;
}

static const Expr *lies_in(Context *ctx, const Expr *value, Range range)
{
    const Expr *above = op_compare(ctx, EXPR_LE, range.min, value), *below = op_compare(ctx, EXPR_LT, value, op_add(ctx, range.min, range.extent));
    return expr_is_int(range.min, 0) ? below : op_and(ctx, above, below);
}

void move_widen_domains(Move *move)
{
    Schedule *sch = move->sch;
    Context *ctx = sch->ctx;
    int count;
    VarRange *loops = left_loops(move, &count);
    Domain domain = domain_from_ranges(ctx, loops, count);
    BlockStmt block = *node_block(move->block);
    block.iters = arena_copy(ctx->arena, block.iters, sizeof *block.iters * (size_t)block.iter_count);
    bool widened = false;
    for (int i = 0; i < block.iter_count; i++) {
        if (!uses_any(block.iters[i].domain, loops, count))
            continue;
        Analyzer *an = analyzer_new(ctx);
        Range whole = int_set_cover_range(an, int_set_eval_range(an, block.iters[i].domain, &domain), block.iters[i].domain);
        if (uses_any(whole, loops, count))
            continue;
        block.predicate = op_and(ctx, block.predicate, lies_in(ctx, block.bindings[i], block.iters[i].domain));
        block.iters[i].domain = whole;
        widened = true;
    }
    if (!widened)
        return;
    const Var *loop = node_loop(move->loop)->var;
    sched_replace(sch, move->block->stmt, stmt_block(ctx, block, move->block->stmt->span));
    move->block = schedule_find_block(sch, block.block);
    move->loop = schedule_find_loop(sch, loop);
}
