/* The cheap argument for accesses of one block under bindings that are no linear forms, as those of fused loops of symbolic extent: where the bindings are a one-to-one map of the loops
   (an iterator map), two iterations are two instances, and where each iterator by itself is an index of what is touched, two instances touch different elements.

       for f in range(n * m):  vi = f // m;  vj = f % m;  C[vi, vj] = ... */
#include "passes/analysis/pair.h"
#include "passes/arith/iter_map.h"

/* The outermost block around FRAME that lies inside of LOOP. */
static const Frame *first_block_inside(const Frame *frame, const Frame *loop)
{
    const Frame *block = NULL;
    for (; frame && frame != loop; frame = frame->outer)
        if (frame->kind == FRAME_BLOCK)
            block = frame;
    return frame ? block : NULL;
}

/* The dimension in which ACCESS touches just the element number VAR; -1 when there is none. */
static int named_dimension(const Access *access, const Var *var)
{
    for (int d = 0; d < access->buffer->ndim; d++)
        if (expr_is_var(access->region.ranges[d].min, var) && expr_is_int(access->region.ranges[d].extent, 1))
            return d;
    return -1;
}

static bool names_all_iters(const Access *a, const Access *b, const BlockStmt *block)
{
    for (int i = 0; i < block->iter_count; i++) {
        int dimension = named_dimension(a, block->iters[i].var);
        if (!expr_is_int(block->iters[i].domain.extent, 1) && (dimension < 0 || dimension != named_dimension(b, block->iters[i].var)))
            return false;
    }
    return true;
}

static bool bindings_use(const BlockStmt *block, const Var *var)
{
    for (int i = 0; i < block->iter_count; i++)
        if (expr_uses_var(block->bindings[i], var))
            return true;
    return false;
}

/* The bindings of BLOCK are a one-to-one map of the loops from number FIRST on and of those before them that they use. */
static bool is_one_to_one(Context *ctx, const BlockStmt *block, const Frame **loops, int loop_count, int first)
{
    VarRange *ranges = ARENA_ARRAY(ctx->arena, VarRange, loop_count);
    int used = 0;
    for (int i = 0; i < loop_count; i++) {
        if (loops[i]->stmt->kind != STMT_FOR)
            return false;
        if (i >= first || bindings_use(block, loops[i]->var))
            ranges[used++] = (VarRange){loops[i]->var, loops[i]->range};
    }
    IterMapQuery query = {block->bindings, block->iter_count, ranges, used, block->predicate, ITER_MAP_BIJECTIVE, true};
    IterMapResult map;
    return iter_map_detect(analyzer_new(ctx), &query, &map);
}

bool pair_names_instances(const Pair *pair, int level)
{
    const Access *a = pair->a, *b = pair->b;
    if (a->whole || b->whole || a->fence || b->fence)
        return false;
    const Frame *loop = pair->loops_a[level], *frame = first_block_inside(a->frame, loop);
    if (!frame || frame != first_block_inside(b->frame, loop))
        return false;
    const BlockStmt *block = &frame->stmt->as.block;
    int count;
    const Frame **loops = frame_loops(pair->ctx, frame, &count);
    return block->iter_count && names_all_iters(a, b, block) && is_one_to_one(pair->ctx, block, loops, count, level);
}
