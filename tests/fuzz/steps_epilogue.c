/* Random steps of reductions: what follows them, and tiles of sums. */
#include "steps.h"

/* A reduction, and mostly a block that makes something of its results. */
const char *step_fuse_reduction_epilogue(Chooser *c)
{
    const TreeNode *reduction = block_where(c, block_has_init);
    if (!reduction)
        return NULL;
    int count;
    const TreeNode **consumers = schedule_child_blocks(c->sch, schedule_scope(c->sch, reduction), &count), *epilogue = NULL;
    for (int i = 0; i < count && !epilogue; i++)
        if (consumers[i] != reduction && node_block(reduction)->write_count && block_reads(consumers[i], node_block(reduction)->writes[0].buffer))
            epilogue = consumers[i];
    if (!epilogue && random_chance(c->random, 80))
        return NULL;
    return step_text(c, "sch.fuse_reduction_epilogue(%s, %s)", block_text(c, reduction), block_text(c, epilogue ? epilogue : any_block(c)));
}

/* On a part of a loop that it reduces over, mostly. */
const char *step_cache_accumulate(Chooser *c)
{
    const TreeNode *block = block_where(c, block_has_init);
    int count;
    const TreeNode **loops = block ? schedule_loops_around(c->sch, block, &count) : NULL;
    for (int i = 0; block && i < count; i++)
        if (loop_reduces(loops[i], block))
            return step_text(c, "outer, inner = sch.split(%s, [%d, None])\nsch.cache_accumulate(%s, outer, \"%s\")", loop_text(c, loops[i]),
                             random_factor(c), block_text(c, block), random_scope(c));
    return NULL;
}

/* A reduction into rows whose length only the caller knows. */
static bool block_sums_into_sizes(Chooser *c, const TreeNode *block)
{
    int64_t extent;
    const BlockStmt *stmt = node_block(block);
    const Buffer *buffer = stmt->write_count ? stmt->writes[0].buffer : NULL;
    return block_has_init(c, block) && buffer && buffer->ndim > 1 && !expr_const_int(buffer->shape[buffer->ndim - 1], &extent);
}

/* Sums of a tile beside one another, in vectors, within the first loop that reduces. */
const char *step_tile_sums(Chooser *c)
{
    const TreeNode *block = block_where(c, random_chance(c->random, 70) ? block_sums_into_sizes : block_has_init);
    int count, row = -1, column = -1, reduced = -1;
    const TreeNode **loops = block ? schedule_loops_around(c->sch, block, &count) : NULL;
    for (int i = 0; block && i < count; i++)
        if (loop_reduces(loops[i], block))
            reduced = reduced < 0 ? i : reduced;
        else
            row = column, column = i;
    if (reduced < 0 || column < 0)
        return NULL;
    bool has_rows = row >= 0 && random_chance(c->random, 60);
    const char *rows = has_rows ? step_text(c, "r0, r1 = sch.split(r, [None, %d])\n", 2 + random_below(c->random, 2)) : "";
    return step_text(c, "r, j, k = %s, %s, %s\n%sj0, j1 = sch.split(j, [None, %d])\nsch.reorder(%sj0, k, %sj1)\n%ssch.vectorize(j1)\nzero = sch.decompose_reduction(%s, k)%s",
                     loop_text(c, loops[has_rows ? row : column]), loop_text(c, loops[column]), loop_text(c, loops[reduced]), rows, 2 << random_below(c->random, 3),
                     has_rows ? "r0, " : "", has_rows ? "r1, " : "", has_rows ? "sch.unroll(r1)\n" : "", block_text(c, block),
                     random_chance(c->random, 50) ? "\nsch.vectorize(sch.get_loops(zero)[-1])" : "");
}
