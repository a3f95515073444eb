/* reindex: a copy of a buffer that is indexed by the axes of a block that uses it.

   Before, reindex("C", ("read", 1))           After
     ... C[vi, vj] += A[vi, vk] * B[vk, vj]       B_reindex = T.alloc_buffer((64, 96))
                                                  for ax0, ax1 in T.grid(64, 96):
                                                      with T.block("B_reindex_reindex"): B_reindex[v0, v1] = B[v1, v0]
                                                  ... C[vi, vj] += A[vi, vk] * B_reindex[vj, vk]

   What is written is copied back behind the block's nest. What must hold: the loops around the block hold nothing else; it accesses the buffer at the
   same indices everywhere, which are expressions of its axes; of what it writes, no element at two values of the axes; and where the copy reaches
   elements that the block does not, these are elements of a parameter that nothing writes. */
#include "passes/schedule/cache/reindex.h"
#include "passes/schedule/core/query.h"

bool primitive_reindex(Schedule *sch, const Value *args, Value *result)
{
    bool is_write;
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    const Region *region = block ? query_buffer_region(sch, block, &args[1], &is_write) : NULL;
    Reindex reindex;
    if (!region || !reindex_begin(sch, &reindex, block, region->buffer, is_write) || !reindex_check_nest(&reindex))
        return false;
    Context *ctx = sch->ctx;
    int count = reindex.axis_count;
    const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, count), **bindings = ARENA_ARRAY(ctx->arena, const Expr *, count);
    Iter *iters = ARENA_ARRAY(ctx->arena, Iter, count);
    ForStmt *loops = ARENA_ARRAY(ctx->arena, ForStmt, count);
    reindex.whole = true;
    reindex.new_indices = ARENA_ARRAY(ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++) {
        const Iter *iter = &node_block(block)->iters[reindex.axes[i]];
        shape[i] = reindex_axis_end(&reindex, iter);
        if (!shape[i])
            return false;
        reindex.new_indices[i] = expr_var(ctx, iter->var);
        loops[i] = (ForStmt){.var = var_new(ctx, context_internf(ctx, "ax%d", i), iter->var->dtype, sch->call_span), .min = iter->domain.min,
                             .extent = iter->domain.extent};
        iters[i] = (Iter){var_new(ctx, context_internf(ctx, "v%d", i), iter->var->dtype, sch->call_span), iter->domain, ITER_SPATIAL, sch->call_span};
        bindings[i] = expr_var(ctx, loops[i].var);
    }
    const Buffer *buffer = region->buffer;
    Str name = context_internf(ctx, "%s_reindex", buffer->name);
    reindex.copy = buffer_new(ctx, name, buffer->dtype, count, shape, buffer->scope, sch->call_span);
    return reindex_check(&reindex) && reindex_apply(&reindex, is_write ? name : context_internf(ctx, "%s_reindex", name), iters, bindings,
                                                    expr_bool(ctx, true), loops, count, result);
}
