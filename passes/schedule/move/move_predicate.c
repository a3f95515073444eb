/* The T.where of a moved block, at its new place; see move.h.

       for i in range(32):                          for i in range(40):
           with T.block("C"):                           with T.block("C"):
               vi = T.axis.spatial(32, i)      =>           vi = T.axis.spatial(32, i - 4)
               T.where(i < 20)                              T.where(i - 4 < 20)

   The condition mentions the old loops. An iterator may be bound to the same expression, or to a loop of it plus a constant: then the
   condition is written about the iterator, and means the same at any place. Conditions that the iterators' domains imply, as those of
   splits, are dropped. Conditions that read memory stay behind: the memory may change on the way. */
#include "ir/walk.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/move/move.h"

typedef struct {
    Move *move;
    const BlockStmt *block;
    bool failed; /* something has no meaning at the new place */
} Translation;

/* BINDING is VAR plus a constant: VAR is ITER less that constant. NULL otherwise. */
static const Expr *solved_for(Context *ctx, const Expr *binding, const Expr *var, const Expr *iter)
{
    int64_t offset;
    if (expr_equal(binding, var))
        return iter;
    if (binding->kind == EXPR_ADD && expr_equal(binding->args[0], var) && expr_const_int(binding->args[1], &offset))
        return op_add_int(ctx, iter, -offset);
    if (binding->kind == EXPR_SUB && expr_equal(binding->args[0], var) && expr_const_int(binding->args[1], &offset))
        return op_add_int(ctx, iter, offset);
    return NULL;
}

bool move_keeps_meaning(Move *move, const Var *var)
{
    Schedule *sch = move->sch;
    for (const TreeNode *node = schedule_parent(sch, move->block); node; node = schedule_parent(sch, node)) {
        bool binds = (node->stmt->kind == STMT_FOR && node_loop(node)->var == var) ||
                     (node->stmt->kind == STMT_LET && node->stmt->as.let.var == var);
        if (binds)
            return node == move->loop || schedule_is_under(sch, move->loop, node);
    }
    return true;
}

static const Expr *translate(Rewriter *rewriter, const Expr *expr)
{
    Translation *translation = rewriter->data;
    const BlockStmt *block = translation->block;
    for (int i = 0; i < block->iter_count; i++) {
        const Expr *iter = expr_var(rewriter->ctx, block->iters[i].var);
        const Expr *value = expr_equal(block->bindings[i], expr) ? iter
                            : expr->kind == EXPR_VAR             ? solved_for(rewriter->ctx, block->bindings[i], expr, iter)
                                                                 : NULL;
        if (value && expr->kind != EXPR_INT)
            return op_cast(rewriter->ctx, expr->dtype, value);
    }
    if (expr->kind == EXPR_LOAD || expr->kind == EXPR_CALL ||
        (expr->kind == EXPR_VAR && !move_keeps_meaning(translation->move, expr->value.var)))
        translation->failed = true;
    return rewrite_expr_children(rewriter, expr);
}

const Expr *move_bound_predicate(Move *move, const BlockStmt *moved)
{
    Context *ctx = move->sch->ctx;
    const BlockStmt *block = node_block(move->block);
    ExprList parts = {0};
    Analyzer *an = analyzer_new(ctx);
    Subst bindings = {0};
    const Expr *kept = expr_bool(ctx, true);
    for (int i = 0; i < block->iter_count; i++) {
        analyzer_bind_range_opaque(an, block->iters[i].var, block->iters[i].domain);
        subst_var(ctx, &bindings, block->iters[i].var, moved->bindings[i]);
    }
    loops_split_conjunction(ctx, block->predicate, &parts);
    for (int i = 0; i < parts.count; i++) {
        Translation translation = {move, block, false};
        Rewriter rewriter = {.ctx = ctx, .expr = translate, .data = &translation};
        const Expr *part = rewrite_expr(&rewriter, parts.data[i]);
        if (!translation.failed && !analyzer_prove_symbolic(an, part))
            kept = op_and(ctx, kept, subst_expr(ctx, &bindings, part));
    }
    return kept;
}
