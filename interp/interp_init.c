/* Runs the inits of blocks, by the plans of interp_compile_init.c. */
#include <string.h>

#include "interp/interp_internal.h"

/* --- Init at a point --- */
/* The thread, among those of all blocks of the launch, that stands for all that reduce together with THREAD. */
static int64_t reducing_thread(const Thread *thread, const BlockInfo *block)
{
    if (!thread->launch)
        return 0;
    int64_t index = 0;
    const Kernel *kernel = thread->launch->kernel;
    for (int i = 0; i < kernel->tag_count; i++)
        index = index * thread->launch->extents[i] + (block->reduced_tags >> i & 1 ? 0 : thread->tags[i]);
    return index;
}

/* Tells whether the point has had no init in this reduction, and notes that it has one now. */
static bool claim_point(Thread *thread, const BlockInfo *block)
{
    TupleTable *points = &thread->run->blocks[block->index].points;
    BlockFrame *frame = &thread->frames[block->index];
    if (block->plan.every_time)
        return true;
    int64_t key[points->width];
    int count = 0;
    key[count++] = reducing_thread(thread, block);
    for (int i = 0; i < block->point_count; i++)
        key[count++] = thread->slots[block->points[i]].integer;
    bool added;
    uint64_t *reduction = tuple_table_payload(points, tuple_table_find(points, key, &added));
    bool claimed = *reduction != frame->reduction;
    *reduction = frame->reduction;
    return claimed;
}

/* What init writes does not count for the instance, which is another one the next time that the point begins. */
void exec_init(Run *run, Group group, const BlockInfo *block)
{
    Thread *items[group.count];
    Group claimed = {items, 0};
    bool digesting[group.count];
    for (int i = 0; i < group.count; i++)
        if (claim_point(group.items[i], block)) {
            BlockFrame *frame = &group.items[i]->frames[block->index];
            digesting[claimed.count] = frame->digesting;
            frame->digesting = false;
            items[claimed.count++] = group.items[i];
        }
    exec_node(run, claimed, block->init);
    for (int i = 0; i < claimed.count; i++)
        items[i]->frames[block->index].digesting = digesting[i];
}

/* --- The visit of all points before a reduction --- */
typedef struct {
    const BlockInfo *block;
    int step;
} Visit;

/* The block is entered for its init alone; those around it that the visit passed are not entered at all. */
static void enter_for_init(Thread *thread, const BlockInfo *block)
{
    for (const BlockInfo *entered = block; entered && entered != thread->block; entered = entered->parent) {
        BlockFrame *frame = &thread->frames[entered->index];
        frame->regions_known = frame->digesting = false;
        frame->instance = -1;
        frame->start_time = thread->run->time;
    }
    thread->block = block;
    exec_merge_threads(thread, block);
}

static void init_points(Run *run, Group group, const BlockInfo *block)
{
    const BlockInfo *outer = group.items[0]->block;
    Memory *memories[block->source->alloc_count * group.count + 1];
    for (int i = 0; i < group.count; i++)
        enter_for_init(group.items[i], block);
    exec_block_buffers(group, block, true, memories);
    exec_init(run, group, block);
    for (int i = 0; i < group.count; i++) {
        group.items[i]->block = outer;
        exec_part_threads(group.items[i], block);
    }
    exec_block_release(group, block, memories);
}

static void visit_points(Run *run, Group group, const void *data);

static void visit_thread_loop(Run *run, Group group, const void *data)
{
    const Visit *visit = data;
    const ExecNode *node = visit->block->plan.steps[visit->step].node;
    Visit next = {visit->block, visit->step + 1};
    exec_thread_loop(run, group, node, visit_points, &next);
}

static void visit_block(Run *run, Group group, const InitStep *step, const Visit *next)
{
    for (int i = 0; i < group.count; i++)
        for (int k = 0; k < step->axis_count; k++)
            exec_assign(group.items[i], step->axes[k]);
    visit_points(run, group, next);
}

static void visit_points(Run *run, Group group, const void *data)
{
    const Visit *visit = data;
    if (visit->step == visit->block->plan.step_count) {
        init_points(run, group, visit->block);
        return;
    }
    const InitStep *step = &visit->block->plan.steps[visit->step];
    Visit next = {visit->block, visit->step + 1};
    if (step->condition) {
        Thread *items[group.count];
        group = exec_filter(group, step->condition, true, items);
        if (group.count)
            visit_points(run, group, &next);
        return;
    }
    if (step->skip) {
        if (step->node->kind == EXEC_THREAD_LOOP && !group.items[0]->launch) /* others of the kernel may follow */
            exec_launch(run, group, step->node, visit_points, &next);
        else
            visit_points(run, group, &next);
        return;
    }
    switch (step->node->kind) {
    case EXEC_LOOP: exec_loop(run, group, step->node, visit_points, &next); return;
    case EXEC_THREAD_LOOP:
        if (group.items[0]->launch)
            visit_thread_loop(run, group, visit);
        else
            exec_launch(run, group, step->node, visit_thread_loop, visit);
        return;
    case EXEC_BLOCK: visit_block(run, group, step, &next); return;
    case EXEC_LET:
        for (int i = 0; i < group.count; i++)
            exec_assign(group.items[i], step->node->as.let.assignment);
        visit_points(run, group, &next);
        return;
    case EXEC_DECLARE:
        for (int i = 0; i < group.count; i++)
            memory_bind(group.items[i], step->node->as.declare.buffer,
                        group.items[i]->slots[step->node->as.declare.buffer->data_slot].pointer);
        visit_points(run, group, &next);
        return;
    default: BUG("step of kind %d on the way to an init", step->node->kind);
    }
}

void exec_begin_reductions(Run *run, Group group, const ExecNode *node)
{
    for (int i = 0; i < node->reduction_count; i++) {
        const BlockInfo *block = node->reductions[i];
        run->reductions++;
        for (int k = 0; k < group.count; k++)
            group.items[k]->frames[block->index].reduction = run->reductions;
        Visit visit = {block, 0};
        if (block->plan.early)
            visit_points(run, group, &visit);
    }
}
