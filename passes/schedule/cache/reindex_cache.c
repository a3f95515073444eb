/* reindex_cache_read and reindex_cache_write: a copy of a buffer in another storage scope, with indices that a function makes of the axes of the
   block that uses it.

   Before, reindex_cache_read("C", 0, "shared", lambda i, j, k: (k, i))     After
     for i, j, k in T.grid(128, 64, 96):                                      A_shared = T.alloc_buffer((96, 128), scope="shared")
         ... C[vi, vj] += A[vi, vk] * B[vk, vj]                               for i, k in T.grid(128, 96):
                                                                                  with T.block("A_shared"): A_shared[vk, vi] = A[vi, vk]
                                                                              for i, j, k in T.grid(128, 64, 96):
                                                                                  ... C[vi, vj] += A_shared[vk, vi] * B[vk, vj]

   The copy stands where cache_read or cache_write puts it, and runs in those loops of the block's nest that its axes need and that are not around it.
   What must hold is what reindex asks for, but that the loops may hold more than the block, and that the new indices are made of the same axes as the
   old ones, and tell elements apart as they do. */
#include "ir/walk.h"
#include "passes/schedule/cache/reindex.h"

#include "passes/schedule/cache/cache.h"
#include "passes/schedule/core/index_map.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/core/query.h"
#include "passes/schedule/core/scope.h"
#include "passes/schedule/core/storage.h"

/* The axes and loops of the copying nest. */
typedef struct {
    Iter *iters;
    const Expr **bindings;
    ForStmt *loops;
    int loop_count;
} CopyNest;

static bool binds_kept_axis(const Reindex *reindex, const Var *loop)
{
    const BlockStmt *block = node_block(reindex->block);
    for (int i = 0; i < reindex->axis_count; i++)
        if (expr_uses_var(block->bindings[reindex->axes[i]], loop))
            return true;
    return false;
}

static bool make_nest(const Reindex *reindex, CopyNest *nest)
{
    Schedule *sch = reindex->sch;
    Context *ctx = sch->ctx;
    const BlockStmt *block = node_block(reindex->block);
    Subst subst = {0};
    nest->loops = ARENA_ARRAY(ctx->arena, ForStmt, reindex->loop_count);
    for (int i = reindex->shared; i < reindex->loop_count; i++) {
        const ForStmt *loop = node_loop(reindex->loops[i]);
        if (!binds_kept_axis(reindex, loop->var))
            continue;
        Var *var = var_clone(ctx, loop->var, loop->var->name);
        nest->loops[nest->loop_count++] = (ForStmt){.var = var, .min = subst_expr(ctx, &subst, loop->min),
                                                    .extent = subst_expr(ctx, &subst, loop->extent)};
        subst_var(ctx, &subst, loop->var, expr_var(ctx, var));
    }
    for (int i = reindex->shared; i < reindex->loop_count; i++) {
        const Var *var = node_loop(reindex->loops[i])->var;
        for (int k = 0; k < nest->loop_count; k++)
            if (expr_uses_var(nest->loops[k].min, var) || expr_uses_var(nest->loops[k].extent, var))
                return sched_refuse(sch, "loop '%s' runs as far as loop '%s' says, which the copy leaves out", nest->loops[k].var->name, var->name);
    }
    nest->iters = ARENA_ARRAY(ctx->arena, Iter, reindex->axis_count);
    nest->bindings = ARENA_ARRAY(ctx->arena, const Expr *, reindex->axis_count);
    for (int i = 0; i < reindex->axis_count; i++) {
        const Iter *iter = &block->iters[reindex->axes[i]];
        nest->iters[i] = (Iter){var_clone(ctx, iter->var, iter->var->name), iter->domain, ITER_SPATIAL, sch->call_span};
        nest->bindings[i] = subst_expr(ctx, &subst, block->bindings[reindex->axes[i]]);
    }
    return true;
}

/* Old and new indices are made of the same axes. */
static bool check_axes(const Reindex *reindex)
{
    const BlockStmt *block = node_block(reindex->block);
    for (int i = 0; i < block->iter_count; i++) {
        bool in_old = reindex_uses_axis(reindex, reindex->indices, reindex->buffer->ndim, i);
        bool in_new = reindex_uses_axis(reindex, reindex->new_indices, reindex->copy->ndim, i);
        if (in_old != in_new)
            return sched_refuse(reindex->sch, "axis '%s' of block '%s' is part of the %s indices and not of the %s ones", block->iters[i].var->name,
                                block->block->name, in_old ? "old" : "new", in_old ? "new" : "old");
    }
    return true;
}

static bool make_copy(Reindex *reindex, const Value *function, Str storage)
{
    Schedule *sch = reindex->sch;
    Context *ctx = sch->ctx;
    const BlockStmt *block = node_block(reindex->block);
    DType type = DTYPE_INT32;
    const Expr **extents = ARENA_ARRAY(ctx->arena, const Expr *, block->iter_count), **axes = ARENA_ARRAY(ctx->arena, const Expr *, block->iter_count);
    for (int i = 0; i < block->iter_count; i++) {
        type = block->iters[i].var->dtype.bits > type.bits ? block->iters[i].var->dtype : type;
        extents[i] = reindex_axis_end(reindex, &block->iters[i]);
        axes[i] = expr_var(ctx, block->iters[i].var);
        if (!extents[i])
            return false;
    }
    IndexMap map;
    if (!index_map_make(sch, function, block->iter_count, type, &map))
        return false;
    const Expr **shape = index_map_shape(sch, &map, extents);
    if (!shape)
        return false;
    reindex->new_indices = index_map_apply(analyzer_new(ctx), &map, axes);
    Str name = context_internf(ctx, "%s_%s", reindex->buffer->name, storage);
    reindex->copy = buffer_new(ctx, name, reindex->buffer->dtype, map.output_count, shape, storage, sch->call_span);
    return true;
}

/* The loops and axes of BLOCK are the same wherever its copy stands: they read no memory. */
static bool stands_anywhere(const Reindex *reindex)
{
    const BlockStmt *block = node_block(reindex->block);
    for (int i = 0; i < block->iter_count; i++)
        if (!expr_is_pure(block->bindings[i]))
            return false;
    for (int i = 0; i < reindex->loop_count; i++)
        if (!expr_is_pure(node_loop(reindex->loops[i])->min) || !expr_is_pure(node_loop(reindex->loops[i])->extent))
            return false;
    return true;
}

/* The copy, which runs before or behind the whole nest, finds the axes where the block found them: it does not write what they are read from. */
static bool check_axes_stay(const Reindex *reindex)
{
    const BlockStmt *block = node_block(reindex->block);
    for (int i = 0; i < block->write_count; i++)
        if (stmt_itself_uses_buffer(reindex->block->stmt, block->writes[i].buffer))
            return sched_refuse(reindex->sch, "block '%s' writes '%s', which its axes are read from", block->block->name, block->writes[i].buffer->name);
    return true;
}

/* A statement that the copy passes by uses the buffer: below the outermost loop that the copy leaves, or between block and copy. */
static bool check_no_use_on_the_way(const Reindex *reindex)
{
    Schedule *sch = reindex->sch;
    const TreeNode *nest = reindex->shared < reindex->loop_count ? reindex->loops[reindex->shared] : reindex->block;
    for (int i = 0; i < schedule_node_count(sch); i++) {
        const TreeNode *node = schedule_node_at(sch, i);
        bool passed = schedule_is_under(sch, node, nest) || (reindex->after ? node > nest && schedule_is_under(sch, node, reindex->scope)
                                                                           : node > nest && node < reindex->anchor);
        if (passed && !schedule_is_under(sch, node, reindex->block) && node->stmt->kind != STMT_SEQ &&
            stmt_itself_uses_buffer(node->stmt, reindex->buffer)) {
            sched_refuse(sch, "'%s' is used before the copy of what block '%s' writes is made", reindex->buffer->name, node_name(reindex->block));
            return sched_note_node(sch, node);
        }
    }
    return true;
}

/* What the block writes is copied back where cache_write would. */
static bool place_write(Reindex *reindex, const TreeNode *writer)
{
    CachePlan plan = {.buffer = reindex->buffer, .scope = reindex->scope, .writer = writer};
    if (!cache_find_write_users(reindex->sch, &plan, &(Value){.kind = VALUE_NONE}))
        return false;
    reindex->anchor = plan.anchor;
    reindex->after = plan.after;
    return true;
}

/* What the block reads is copied before the statement that holds the block beside its writer. */
static bool place_read(Reindex *reindex, const TreeNode *writer)
{
    CachePlan plan = {.buffer = reindex->buffer, .scope = reindex->scope, .writer = writer};
    if (!cache_place_behind_writer(reindex->sch, &plan, &reindex->block, 1, NULL))
        return false;
    reindex->anchor = plan.anchor;
    return true;
}

static bool place_copy(Reindex *reindex)
{
    Schedule *sch = reindex->sch;
    int count;
    const TreeNode **writers = scope_writers(sch, reindex->scope, reindex->buffer, &count);
    Span at;
    bool strays = cache_scope_may_write(reindex->scope, reindex->buffer, &at);
    reindex->at_start = !reindex->writes && !count && !strays && stands_anywhere(reindex);
    bool beside = reindex->at_start || count != 1 || strays || !stands_anywhere(reindex) || (!reindex->writes && writers[0] >= reindex->block);
    for (int i = 0; i < reindex->loop_count; i++)
        if (!check_loop_has_no_jump(sch, reindex->loops[i]))
            return false;
    if (!beside && !(reindex->writes ? place_write(reindex, writers[0]) : place_read(reindex, writers[0])))
        return false;
    if (!beside || reindex->at_start)
        reindex->shared = 0;
    while (!beside && reindex->shared < reindex->loop_count &&
           reindex->anchor != reindex->loops[reindex->shared] && schedule_is_under(sch, reindex->anchor, reindex->loops[reindex->shared]))
        reindex->shared++;
    return !reindex->writes || beside || check_no_use_on_the_way(reindex);
}

static bool reindex_cache(Schedule *sch, const Value *args, bool writes, Value *result)
{
    const TreeNode *block = schedule_block(sch, args[0].as.block);
    int index = block ? query_buffer_index(sch, block, &args[1], writes) : -1;
    if (index < 0 || !check_storage_scope(sch, &args[2]))
        return false;
    const BlockStmt *stmt = node_block(block);
    Reindex reindex;
    CopyNest nest = {0};
    if (!reindex_begin(sch, &reindex, block, (writes ? stmt->writes : stmt->reads)[index].buffer, writes) ||
        !make_copy(&reindex, &args[3], args[2].as.text) || !check_axes(&reindex))
        return false;
    if (!expr_is_int(stmt->predicate, 1))
        return sched_refuse(sch, "block '%s' runs under a condition (T.where), which the copy does not have", stmt->block->name);
    return check_axes_stay(&reindex) && place_copy(&reindex) && reindex_check(&reindex) && make_nest(&reindex, &nest) &&
           reindex_apply(&reindex, reindex.copy->name, nest.iters, nest.bindings, expr_bool(sch->ctx, true), nest.loops, nest.loop_count, result);
}

bool primitive_reindex_cache_read(Schedule *sch, const Value *args, Value *result)
{
    return reindex_cache(sch, args, false, result);
}

bool primitive_reindex_cache_write(Schedule *sch, const Value *args, Value *result)
{
    return reindex_cache(sch, args, true, result);
}
