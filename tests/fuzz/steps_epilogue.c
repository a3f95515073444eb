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
