/* compute_inline: a consumer with what its producer stores in place of what it reads. See inline.h.

   The store may mention a loop around its block, as in a block without axes, or a let in such a loop. Then it gives the element of the
   current iteration only, and the consumer may read no other one:

     for i in range(n):
         with T.block("B"):
             B[i] = A[i]
         with T.block("C"):
             C[i] = B[i]                 B[i // 2] is made of A[i // 2], which no iteration of C can say */
#include "passes/analysis/model/access.h"
#include "passes/arith/analyzer.h"
#include "passes/schedule/move/inline.h"

typedef struct {
    Schedule *sch;
    const BlockStmt *producer;
    const Stmt *store;
    const BlockStmt *consumer;
    InlinePlace place;
    const Var *symbol; /* of a loop or let around the producer that the store mentions, or NULL */
    bool failed;       /* an index map has no inverse */
    const Expr *vector; /* a load that is a vector, or of what is stored as vectors */
    bool elsewhere;    /* an element is read that other values of SYMBOL made */
} Inlining;

static bool is_in_loop(Schedule *sch, const TreeNode *node)
{
    while (node && node->stmt->kind != STMT_FOR)
        node = schedule_parent(sch, node);
    return node != NULL;
}

/* The loop, or let inside of one, around the block at NODE that its STORE mentions; NULL: there is none. */
static const TreeNode *mentioned_around(Schedule *sch, const TreeNode *node, const Stmt *store)
{
    for (const TreeNode *up = schedule_parent(sch, node); up; up = schedule_parent(sch, up)) {
        const Stmt *stmt = up->stmt;
        if ((stmt->kind == STMT_FOR && stmt_uses_var(store, stmt->as.loop.var)) ||
            (stmt->kind == STMT_LET && stmt_uses_var(store, stmt->as.let.var) && is_in_loop(sch, up)))
            return up;
    }
    return NULL;
}

static const Var *symbol_of(const TreeNode *node)
{
    return node->stmt->kind == STMT_FOR ? node->stmt->as.loop.var : node->stmt->as.let.var;
}

/* LOAD reads the element that the producer stores in the same iteration of all that is around both. */
static bool reads_current_element(const Inlining *inlining, const Expr *load)
{
    Context *ctx = inlining->sch->ctx;
    Subst stored = {0}, read = {0};
    for (int i = 0; i < inlining->producer->iter_count; i++)
        subst_var(ctx, &stored, inlining->producer->iters[i].var, inlining->producer->bindings[i]);
    for (int i = 0; i < inlining->consumer->iter_count; i++)
        subst_var(ctx, &read, inlining->consumer->iters[i].var, inlining->consumer->bindings[i]);
    bool current = true;
    for (int d = 0; d < load->arg_count && current; d++)
        current = analyzer_prove_equal(analyzer_new(ctx), subst_expr(ctx, &stored, inlining->store->as.store.indices[d]),
                                       subst_expr(ctx, &read, load->args[d]));
    return current;
}

static const Expr *inline_load(Rewriter *rewriter, const Expr *expr)
{
    Inlining *inlining = rewriter->data;
    expr = rewrite_expr_children(rewriter, expr);
    if (expr->kind != EXPR_LOAD || expr->value.buffer != inlining->store->as.store.buffer)
        return expr;
    Subst subst = {0};
    const Stmt *store = inlining->store;
    if (inline_has_vectors(store->as.store.indices, expr->args, store->as.store.index_count))
        inlining->vector = expr;
    if (expr->predicated || expr->dtype.lanes != store->as.store.value->dtype.lanes ||
        !inline_solve_beside(inlining->sch, &inlining->place, store->as.store.indices, expr->args, store->as.store.index_count, NULL, &subst)) {
        inlining->failed = true;
        return expr;
    }
    inlining->elsewhere |= inlining->symbol && !reads_current_element(inlining, expr);
    return subst_expr(rewriter->ctx, &subst, store->as.store.value);
}

const Stmt *inline_into_consumer(Schedule *sch, const TreeNode *node, const Stmt *store, const TreeNode *consumer)
{
    const TreeNode *around = mentioned_around(sch, node, store);
    Inlining inlining = {.sch = sch,
                         .producer = node_block(node),
                         .store = store,
                         .consumer = node_block(consumer),
                         .place = {node, consumer, node_block(node)->block, node_block(consumer)->block,
                                   buffer_viewed(schedule_func(sch), store->as.store.buffer)->data},
                         .symbol = around ? symbol_of(around) : NULL};
    Rewriter rewriter = {.ctx = sch->ctx, .expr = inline_load, .data = &inlining};
    const Stmt *stmt = rewrite_stmt(&rewriter, consumer->stmt);
    if (inlining.failed && inlining.vector) {
        inline_refuse_vectors(sch, store->as.store.buffer, inlining.vector->span);
        return NULL;
    }
    if (inlining.failed)
        sched_refuse(sch, "the indices under which block '%s' writes '%s' are not a one-to-one affine map of its axes", node_name(node),
                     store->as.store.buffer->name);
    else if (around && (inlining.elsewhere || !schedule_is_under(sch, consumer, around)))
        sched_refuse(sch, "block '%s' reads elements of '%s' that block '%s' computes from other values of '%s'", node_name(consumer),
                     store->as.store.buffer->name, node_name(node), inlining.symbol->name);
    else
        return inline_refresh_regions(sch, stmt, store->as.store.buffer);
    sched_note(sch, store->span, "the store is here");
    return NULL;
}
