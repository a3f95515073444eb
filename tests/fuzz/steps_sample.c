/* Random steps that draw numbers themselves, and steps on the functions that the scheduled one calls. */
#include "steps.h"

/* A loop split by factors that are drawn. */
const char *step_sample_perfect_tile(Chooser *c)
{
    const char *loop = loop_text(c, any_loop(c));
    return step_text(c, "sch.split(%s, sch.sample_perfect_tile(%s, n=%d, max_innermost_factor=%d))", loop, loop, 1 + random_below(c->random, 4),
                     random_factor(c));
}

const char *step_sample_partitioned_tile(Chooser *c)
{
    const char *loop = loop_text(c, any_loop(c));
    int count = 2 + random_below(c->random, 2);
    return step_text(c, "sch.split(%s, sch.sample_partitioned_tile(%s, n=%d, partition_pos=%d, innerpart_factor=%d))", loop, loop, count,
                     random_below(c->random, count), 1 + random_below(c->random, 4));
}

const char *step_sample_categorical(Chooser *c)
{
    return step_text(c, "sch.split(%s, [None, sch.sample_categorical([2, 3, 8], [0.3, 0.3, 0.4])])", loop_text(c, any_loop(c)));
}

/* A producer under one of the loops where it may stand. */
const char *step_sample_compute_location(Chooser *c)
{
    const TreeNode *block = block_where(c, block_is_inlinable);
    if (!block)
        return NULL;
    const char *name = block_text(c, block);
    return step_text(c, "sch.compute_at(%s, sch.sample_compute_location(%s))", name, name);
}

/* A step on a function that blocks call, where the program has one. */
const char *step_work_on(Chooser *c)
{
    static const char *const functions[] = {"make_row", "raise_row"};
    static const char *const steps[] = {"sch.vectorize(sch.get_loops(\"row\")[-1])", "sch.unroll(sch.get_loops(\"row\")[-1])",
                                        "sch.parallel(sch.get_loops(\"row\")[0])",   "sch.split(sch.get_loops(\"row\")[0], [None, 2])",
                                        "sch.cache_read(\"row\", 0, \"local\")",     "sch.cache_write(\"row\", 0, \"global\")",
                                        "sch.reverse_compute_at(\"B_global\", sch.get_loops(\"row\")[0])",
                                        "sch.transform_layout(\"row\", (\"read\", 0), lambda i: [i // 2, i % 2])"};
    const char *function = functions[random_below(c->random, 2)];
    if (!module_find(c->sch->module, function))
        return NULL;
    return step_text(c, "sch.work_on(\"%s\")\n%s", function, steps[random_below(c->random, sizeof steps / sizeof *steps)]);
}
