/* transform_block_layout: a block over other axes, in new loops.

   Before, transform_block_layout("B", lambda i, j: (i * 16 + j,))      After
     for i, j in T.grid(16, 16):                                          for ax0 in range(256):
         with T.block("B"):                                                   with T.block("B"):
             vi, vj = T.axis.remap("SS", [i, j])                                  v0 = T.axis.spatial(256, ax0)
             B[vi, vj] = A[vi, vj]                                                B[v0 // 16, v0 % 16] = A[v0 // 16, v0 % 16]

   The new loops are serial, whatever the old ones were; threads must be free to run one after another. What must hold: the loops around the block, up to its scope, hold nothing else; its axes are
   bound to these loops themselves, in their order, and run over the same extents from 0; the map is a bijective affine one; no result of it mixes
   spatial and reduce axes; and no instances that must keep their order change it. */
#include "ir/walk.h"
#include "passes/schedule/check/concurrency.h"
#include "passes/schedule/check/legality.h"
#include "passes/schedule/check/ties.h"
#include "passes/schedule/core/index_map.h"
#include "passes/schedule/core/loops.h"
#include "passes/schedule/layout/block_access.h"
#include "print/print.h"

typedef struct {
    Schedule *sch;
    const TreeNode *block;
    const TreeNode **loops; /* outermost first, one for each axis */
    int count;
    IndexMap map;
    const Expr **extents, **shape; /* of the axes and of what the map makes of them */
    IndexInverse inverse;
} BlockTransform;

static bool check_nest(BlockTransform *transform)
{
    Schedule *sch = transform->sch;
    for (int i = 0; i < transform->count; i++) {
        const ForStmt *loop = node_loop(transform->loops[i]);
        const Stmt *inside = i + 1 < transform->count ? transform->loops[i + 1]->stmt : transform->block->stmt;
        if (loop->body != inside) {
            sched_refuse(sch, "loop '%s' holds more than the block", loop->var->name);
            sched_note(sch, loop->body->span, "its body starts here");
            return false;
        }
    }
    return true;
}

/* Finds the loops, none of which is bound to threads any more. */
static bool unbind_loops(BlockTransform *transform)
{
    Schedule *sch = transform->sch;
    const Block *symbol = node_block(transform->block)->block;
    transform->loops = schedule_loops_around(sch, transform->block, &transform->count);
    for (int i = 0; i < transform->count; i++) {
        if (!loops_unbound(sch, transform->loops[i]))
            return false;
        transform->block = schedule_find_block(sch, symbol);
        transform->loops = schedule_loops_around(sch, transform->block, &transform->count);
    }
    return true;
}

static bool check_bindings(BlockTransform *transform)
{
    Schedule *sch = transform->sch;
    const BlockStmt *block = node_block(transform->block);
    Analyzer *an = loops_context(sch, transform->block);
    bool ok = block->iter_count == transform->count;
    for (int i = 0; ok && i < transform->count; i++)
        ok = expr_is_var(block->bindings[i], node_loop(transform->loops[i])->var);
    if (!ok)
        return sched_refuse(sch, "the axes of block '%s' must be bound to the %d loops around it themselves, in their order",
                            block->block->name, transform->count);
    for (int i = 0; i < transform->count; i++) {
        const ForStmt *loop = node_loop(transform->loops[i]);
        const Range *domain = &block->iters[i].domain;
        if (!expr_is_int(loop->min, 0) || !expr_is_int(domain->min, 0) || !analyzer_prove_equal(an, loop->extent, domain->extent))
            return sched_refuse(sch, "loop '%s' and axis '%s' must both run from 0 to the same extent", loop->var->name,
                                block->iters[i].var->name);
    }
    return true;
}

static bool check_extents_are_fixed(BlockTransform *transform)
{
    for (int i = 0; i < transform->count; i++)
        for (int k = 0; k < transform->count; k++)
            if (expr_uses_var(transform->extents[i], node_loop(transform->loops[k])->var) ||
                expr_uses_var(transform->extents[i], node_block(transform->block)->iters[k].var) || !expr_is_pure(transform->extents[i]))
                return sched_refuse(transform->sch, "the extent %s of axis '%s' changes while the loops run",
                                    print_expr(transform->sch->ctx, transform->extents[i]), node_block(transform->block)->iters[i].var->name);
    return true;
}

/* The kind of the axes that OUTPUT is made of; false after a refusal where they are of several. */
static bool find_kind(BlockTransform *transform, const Expr *output, IterKind *kind)
{
    const BlockStmt *block = node_block(transform->block);
    bool found = false, mixed = false;
    *kind = ITER_SPATIAL; /* a constant */
    for (int i = 0; i < transform->count; i++)
        if (expr_uses_var(output, transform->map.inputs[i])) {
            mixed |= (found && *kind != block->iters[i].kind) || block->iters[i].kind == ITER_OPAQUE;
            *kind = block->iters[i].kind;
            found = true;
        }
    return !mixed || sched_refuse_argument(transform->sch, transform->map.argument,
                                           "the result %s is made of axes of several kinds, or of an opaque one, so that it has none",
                                           print_expr(transform->sch->ctx, output));
}

/* The value of each old axis over VARS, in SUBST for what stands for it, FROM. */
static void subst_old(BlockTransform *transform, Subst *subst, const Var *from, int index, Var *const *vars)
{
    Context *ctx = transform->sch->ctx;
    Subst outputs = {0};
    for (int i = 0; i < transform->map.output_count; i++)
        subst_var(ctx, &outputs, transform->inverse.vars[i], expr_var(ctx, vars[i]));
    subst_var(ctx, subst, from, op_cast(ctx, from->dtype, subst_expr(ctx, &outputs, transform->inverse.values[index])));
}

/* The block with axes v0, v1, ..., not bound yet; its predicate speaks of LOOPS, the new ones. */
static bool make_block(BlockTransform *transform, Var *const *loops, BlockStmt *made)
{
    Schedule *sch = transform->sch;
    Context *ctx = sch->ctx;
    const BlockStmt *old = node_block(transform->block);
    int count = transform->map.output_count;
    Var **axes = ARENA_ARRAY(ctx->arena, Var *, count);
    Iter *iters = ARENA_ARRAY(ctx->arena, Iter, count);
    Subst inside = {0}, outside = {0};
    for (int i = 0; i < count; i++) {
        IterKind kind;
        if (!find_kind(transform, transform->map.outputs[i], &kind))
            return false;
        axes[i] = var_new(ctx, context_internf(ctx, "v%d", i), loops[i]->dtype, sch->call_span);
        iters[i] = (Iter){axes[i], {expr_int(ctx, axes[i]->dtype, 0), op_cast(ctx, axes[i]->dtype, transform->shape[i])}, kind, sch->call_span};
    }
    for (int i = 0; i < transform->count; i++) {
        subst_old(transform, &inside, old->iters[i].var, i, axes);
        subst_old(transform, &outside, node_loop(transform->loops[i])->var, i, loops);
    }
    BlockStmt bare = *old; /* its axes are gone, and its predicate speaks of loops */
    bare.iter_count = 0;
    bare.predicate = expr_bool(ctx, true);
    *made = subst_stmt(ctx, &inside, stmt_block(ctx, bare, transform->block->stmt->span))->as.block;
    made->iters = iters;
    made->iter_count = count;
    made->predicate = subst_expr(ctx, &outside, old->predicate);
    made->bindings = ARENA_ARRAY(ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++)
        made->bindings[i] = expr_var(ctx, loops[i]);
    *made = block_simplify_accesses(sch, stmt_block(ctx, *made, transform->block->stmt->span))->as.block;
    return true;
}

/* The new block in the old loops, bound to what the map makes of them: the same instances in the old order. */
static const Stmt *in_old_loops(BlockTransform *transform, BlockStmt block)
{
    Context *ctx = transform->sch->ctx;
    const Expr **values = ARENA_ARRAY(ctx->arena, const Expr *, transform->count);
    for (int i = 0; i < transform->count; i++)
        values[i] = expr_var(ctx, node_loop(transform->loops[i])->var);
    block.bindings = index_map_apply(analyzer_new(ctx), &transform->map, values);
    block.predicate = node_block(transform->block)->predicate;
    const Stmt *stmt = stmt_block(ctx, block, transform->block->stmt->span);
    for (int i = transform->count - 1; i >= 0; i--)
        stmt = stmt_with_body(ctx, transform->loops[i]->stmt, stmt);
    return stmt;
}

/* The reduce axes run through their values as before: then no reduction changes its order. */
static bool reductions_keep_order(BlockTransform *transform)
{
    Context *ctx = transform->sch->ctx;
    const BlockStmt *old = node_block(transform->block);
    Analyzer *an = analyzer_new(ctx);
    DType type = transform->map.outputs[0]->dtype;
    const Expr *before = expr_int(ctx, type, 0), *after = before;
    for (int i = 0; i < transform->count; i++) {
        const Expr *extent = op_cast(ctx, type, transform->extents[i]);
        analyzer_bind_range(an, transform->map.inputs[i], (Range){expr_int(ctx, type, 0), extent});
        if (old->iters[i].kind == ITER_REDUCE)
            before = op_add(ctx, op_mul(ctx, before, extent), expr_var(ctx, transform->map.inputs[i]));
    }
    for (int i = 0; i < transform->map.output_count; i++) {
        bool reduces = false;
        for (int k = 0; k < transform->count; k++)
            reduces |= old->iters[k].kind == ITER_REDUCE && expr_uses_var(transform->map.outputs[i], transform->map.inputs[k]);
        if (reduces)
            after = op_add(ctx, op_mul(ctx, after, transform->shape[i]), transform->map.outputs[i]);
    }
    return analyzer_prove_equal(an, before, after);
}

static bool replace_nest(BlockTransform *transform)
{
    Schedule *sch = transform->sch;
    Context *ctx = sch->ctx;
    int count = transform->map.output_count;
    Var **loops = ARENA_ARRAY(ctx->arena, Var *, count);
    for (int i = 0; i < count; i++)
        loops[i] = var_new(ctx, context_internf(ctx, "ax%d", i), transform->map.outputs[i]->dtype, sch->call_span);
    BlockStmt block;
    if (!make_block(transform, loops, &block))
        return false;
    const Stmt *old = in_old_loops(transform, block), *made = stmt_block(ctx, block, transform->block->stmt->span);
    for (int i = count - 1; i >= 0; i--)
        made = loops_serial(ctx, loops[i], op_cast(ctx, loops[i]->dtype, transform->shape[i]), made, sch->call_span);
    if (!reductions_keep_order(transform))
        warn_of_new_order(sch, node_block(transform->block), false);
    sched_replace(sch, transform->count ? transform->loops[0]->stmt : transform->block->stmt, old);
    const Func *before = schedule_func(sch);
    sched_replace(sch, old, made);
    return check_order_is_kept(sch, before, old, made, NULL);
}

/* The type of the axes: the widest of them. */
static DType axes_type(const BlockStmt *block)
{
    DType type = DTYPE_INT32;
    for (int i = 0; i < block->iter_count; i++)
        if (block->iters[i].var->dtype.bits > type.bits)
            type = block->iters[i].var->dtype;
    return type;
}

bool primitive_transform_block_layout(Schedule *sch, const Value *args, Value *result)
{
    (void)result;
    BlockTransform transform = {.sch = sch, .block = schedule_block(sch, args[0].as.block)};
    if (!transform.block)
        return false;
    if (!schedule_scope(sch, transform.block))
        return sched_refuse(sch, "the root block has no axes");
    if (!node_block(transform.block)->iter_count) /* it may mention loops around it, which a block with axes must not */
        return sched_refuse(sch, "block '%s' has no axes", node_block(transform.block)->block->name);
    if (!unbind_loops(&transform))
        return false;
    const BlockStmt *block = node_block(transform.block);
    if (!check_nest(&transform) || !check_bindings(&transform))
        return false;
    transform.extents = ARENA_ARRAY(sch->ctx->arena, const Expr *, transform.count);
    for (int i = 0; i < transform.count; i++)
        transform.extents[i] = block->iters[i].domain.extent;
    const char *why;
    if (!check_extents_are_fixed(&transform) || !index_map_make(sch, &args[1], transform.count, axes_type(block), &transform.map) ||
        !(transform.shape = index_map_shape(sch, &transform.map, transform.extents)))
        return false;
    if (!index_map_invert(sch, &transform.map, transform.extents, transform.shape, true, &transform.inverse, &why))
        return sched_refuse_argument(sch, &args[1], "the index map is not a bijective affine one: %s", why);
    return replace_nest(&transform);
}
