/* The body of the block that combines the partial results of rfactor. */
#include "ir/walk.h"
#include "passes/schedule/reduce/rfactor_internal.h"

const Stmt *rfactor_name_lets(Context *ctx, const Stmt *body)
{
    Subst renaming = {0};
    const Stmt *stores = body;
    while (stores->kind == STMT_LET)
        stores = stores->as.let.body;
    for (const Stmt *let = body; let->kind == STMT_LET && stores->kind == STMT_SEQ; let = let->as.let.body)
        for (int i = 0; i < stores->as.seq.count; i++) {
            const Stmt *store = stores->as.seq.items[i];
            if (expr_is_var(store->as.store.value, let->as.let.var))
                subst_var(ctx, &renaming, let->as.let.var,
                          expr_var(ctx, var_clone(ctx, let->as.let.var, context_internf(ctx, "v_%s", store->as.store.buffer->name))));
        }
    return subst_stmt(ctx, &renaming, body);
}

typedef struct {
    Factoring *f;
    const Expr *loads[MOST_REDUCED]; /* of the partial results */
} Combine;

static const Expr *combine_expr(Rewriter *rewriter, const Expr *expr)
{
    Combine *combine = rewriter->data;
    for (int t = 0; t < combine->f->reduction->target_count; t++)
        if (expr_equal(expr, combine->f->reduction->operands[t]))
            return combine->loads[t];
    return rewrite_expr_children(rewriter, expr);
}

/* Two lets of target + partial, then their stores. */
static const Stmt *combine_two_sums(Factoring *f, const Combine *combine, Span span)
{
    Context *ctx = f->sch->ctx;
    const Reduction *reduction = f->reduction;
    const Stmt *stores[MOST_REDUCED];
    Var *sums[MOST_REDUCED];
    for (int t = 0; t < reduction->target_count; t++) {
        Buffer *target = reduction->targets[t];
        sums[t] = var_new(ctx, context_internf(ctx, "v_%s", target->name), target->dtype, span);
        stores[t] = stmt_store(ctx, target, reduction->indices[t], reduction->index_counts[t], expr_var(ctx, sums[t]), NULL, span);
    }
    const Stmt *body = stmt_seq(ctx, stores, reduction->target_count);
    for (int t = reduction->target_count - 1; t >= 0; t--) {
        const Expr *target = expr_load(ctx, reduction->targets[t], reduction->indices[t], reduction->index_counts[t], NULL, span);
        body = stmt_let(ctx, sums[t], reduction_combine(ctx, reduction, t, target, combine->loads[t]), body, span);
    }
    return body;
}

static bool uses_target(const Factoring *f, const Expr *expr)
{
    for (int t = 0; t < f->reduction->target_count; t++)
        if (expr_uses_buffer(expr, f->reduction->targets[t]))
            return true;
    return false;
}

/* BODY with its lets of operands put in: what these are made of is at hand in the partial results only. */
static const Stmt *put_in_operands(const Factoring *f, Subst *lets, const Stmt *body)
{
    Context *ctx = f->sch->ctx;
    if (body->kind == STMT_IF) {
        const Stmt *otherwise = body->as.branch.else_body;
        return stmt_if(ctx, subst_expr(ctx, lets, body->as.branch.condition), put_in_operands(f, lets, body->as.branch.then_body),
                       otherwise ? put_in_operands(f, lets, otherwise) : NULL, body->span);
    }
    if (body->kind != STMT_LET)
        return subst_stmt(ctx, lets, body);
    const Expr *value = subst_expr(ctx, lets, body->as.let.value);
    if (uses_target(f, value))
        return stmt_let(ctx, body->as.let.var, value, put_in_operands(f, lets, body->as.let.body), body->span);
    subst_var(ctx, lets, body->as.let.var, value);
    return put_in_operands(f, lets, body->as.let.body);
}

/* target = target op partial, written as the reference writes it; argmin and argmax keep their form. */
const Stmt *rfactor_combining_body(Factoring *f, const Expr *lane)
{
    Context *ctx = f->sch->ctx;
    const Reduction *reduction = f->reduction;
    Combine combine = {.f = f};
    for (int t = 0; t < reduction->target_count; t++)
        combine.loads[t] = expr_load(ctx, f->partial[t], rfactor_indices(f, reduction->indices[t], reduction->index_counts[t], lane),
                                     reduction->index_counts[t] + 1, NULL, f->sch->call_span);
    const Stmt *body = node_block(f->block)->body;
    if (reduction->target_count == 1) {
        const Expr *target = expr_load(ctx, reduction->targets[0], reduction->indices[0], reduction->index_counts[0], NULL, body->span);
        return stmt_store(ctx, reduction->targets[0], reduction->indices[0], reduction->index_counts[0],
                          reduction_combine(ctx, reduction, 0, target, combine.loads[0]), NULL, body->span);
    }
    if (reduction->kind == REDUCE_SUM)
        return combine_two_sums(f, &combine, body->span);
    Rewriter rewriter = {.ctx = ctx, .expr = combine_expr, .data = &combine};
    Subst lets = {0};
    return rfactor_name_lets(ctx, rewrite_stmt(&rewriter, put_in_operands(f, &lets, body)));
}
