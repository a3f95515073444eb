/* Pass "bindings": blocks lose their iterators.

     with T.block("B"):                                if i_0 * 16 + i_1 < 100:
         vi = T.axis.spatial(100, i_0 * 16 + i_1)          with T.block("B"):
         T.where(i_0 * 16 + i_1 < 100)          ->             T.reads(A[i_0 * 16 + i_1])
         T.reads(A[vi])                                        T.writes(B[i_0 * 16 + i_1])
         T.writes(B[vi])                                       B[i_0 * 16 + i_1] = A[i_0 * 16 + i_1]
         B[vi] = A[vi]

   The regions stay: compaction needs them for what calls access through pointers. A binding that reads memory is kept in a variable, so
   that the block sees one value however often it names the iterator. Needs: no init left. */
#include "passes/lower/core/state.h"

static const Stmt *bind_block(Rewriter *rewriter, const Stmt *stmt)
{
    Context *ctx = rewriter->ctx;
    const LowerOptions *options = rewriter->data;
    BlockStmt block = stmt->as.block;
    Subst subst = {0};
    int kept = 0;
    for (int i = 0; i < block.iter_count; i++) {
        Var *var = block.iters[i].var;
        if (expr_reads_memory(block.bindings[i]))
            kept++;
        else
            subst_var(ctx, &subst, var, op_cast(ctx, var->dtype, block.bindings[i]));
    }
    BlockStmt opaque = block;
    opaque.iter_count = 0;
    bool keeps = options->keep_predicates && !kept; /* what a binding reads may be there only where the condition holds */
    if (!keeps)
        opaque.predicate = expr_bool(ctx, true);
    const Stmt *result = stmt_block(ctx, opaque, stmt->span);
    if (kept < block.iter_count)
        result = subst_stmt(ctx, &subst, result);
    result = rewrite_stmt_children(rewriter, result);
    for (int i = block.iter_count - 1; i >= 0; i--)
        if (expr_reads_memory(block.bindings[i]))
            result = stmt_let(ctx, block.iters[i].var, op_cast(ctx, block.iters[i].var->dtype, block.bindings[i]), result, stmt->span);
    return keeps || expr_is_int(block.predicate, 1) ? result : stmt_if(ctx, block.predicate, result, NULL, stmt->span);
}

static const Stmt *bind_in_stmt(Rewriter *rewriter, const Stmt *stmt)
{
    const LowerOptions *options = rewriter->data;
    bool guarded = stmt->kind == STMT_BLOCK && !options->keep_predicates && !expr_is_int(stmt->as.block.predicate, 1);
    bool has_axes = guarded || (stmt->kind == STMT_BLOCK && stmt->as.block.iter_count);
    return has_axes ? bind_block(rewriter, stmt) : rewrite_stmt_children(rewriter, stmt);
}

const Func *lower_bindings(LowerState *state, const Func *func)
{
    Rewriter rewriter = {.ctx = state->ctx, .stmt = bind_in_stmt, .data = (void *)state->options};
    return func_with_body(state->ctx, func, rewrite_stmt(&rewriter, func->body));
}
