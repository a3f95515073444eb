/* Random steps that bring a reduction and what follows it together. */
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
