/* Executes blocks: axes, predicate, buffers of an instance, init, body; and watches for instances that are run again with another
   result. */
#include <string.h>

#include "interp/interp_internal.h"

/* Instances of one block that are remembered at most; later ones are not compared. */
enum { MOST_INSTANCES = 4000000 };

/* --- Axes --- */
static void check_axis(Thread *thread, const IterInfo *iter)
{
    int64_t value = thread->slots[iter->slot].integer, min = eval_integer(iter->min, thread), extent = eval_integer(iter->extent, thread);
    if (value < min || value - min >= extent)
        report_finding(thread, INTERP_BINDING, iter->source, iter->source->span, "binds %s to %lld, outside its domain [%lld, %lld)",
                       iter->source->var->name, (long long)value, (long long)min, (long long)(min + extent));
}

/* Gives the axes their values; false when the predicate excludes the instance. */
static bool bind_axes(Thread *thread, const BlockInfo *block)
{
    if (block->predicate && !block->predicate_uses_iters && !eval_integer(block->predicate, thread))
        return false;
    for (int i = 0; i < block->iter_count; i++)
        thread->slots[block->iters[i].slot].integer = eval_integer(block->iters[i].binding, thread);
    return !block->predicate || !block->predicate_uses_iters || eval_integer(block->predicate, thread);
}

/* --- Instances --- */
/* The number of the instance that THREAD runs, in the block's table. */
static void instance_begin(Thread *thread, const BlockInfo *block)
{
    BlockFrame *frame = &thread->frames[block->index];
    TupleTable *instances = &thread->run->blocks[block->index].instances;
    frame->digest = 0;
    frame->first_buffer = NULL;
    frame->rerun_reported = false;
    /* inside of an init that runs early, the block around is no instance of its own yet */
    bool known = !block->parent || thread->frames[block->parent->index].instance >= 0;
    frame->digesting = known && instances->count < MOST_INSTANCES;
    frame->instance = -1;
    if (!frame->digesting)
        return;
    int64_t key[instances->width];
    int count = 0;
    key[count++] = block->parent ? thread->frames[block->parent->index].instance : 0;
    key[count++] = thread->launch ? thread->launch->block_index * thread->launch->thread_count + thread->index : thread->index;
    for (int i = 0; i < block->iter_count; i++)
        key[count++] = thread->slots[block->iters[i].slot].integer;
    for (int i = 0; i < block->identity_count; i++)
        key[count++] = thread->slots[block->identity_slots[i]].integer;
    bool added;
    frame->instance = tuple_table_find(instances, key, &added);
}

static const char *value_text(Thread *thread, DType t, uint64_t bits)
{
    if (dtype_is_float(t))
        return arena_printf(thread->run->arena, "%.9g", interp_read_real(t, &bits));
    return arena_printf(thread->run->arena, "%lld", (long long)interp_read_integer(t, &bits));
}

static const char *axes_text(Thread *thread, const BlockInfo *block)
{
    const char *text = "";
    for (int i = 0; i < block->iter_count; i++)
        text = arena_printf(thread->run->arena, "%s%s%s = %lld", text, i ? ", " : " for ", block->iters[i].source->var->name,
                            (long long)thread->slots[block->iters[i].slot].integer);
    return text;
}

static void report_rerun(Thread *thread, const BlockInfo *block, const InstanceRecord *record)
{
    const BlockFrame *frame = &thread->frames[block->index];
    const BufferInfo *buffer = frame->first_buffer;
    const char *element = "nothing";
    if (buffer) {
        const Memory *memory = thread->bound[buffer->index].data.memory;
        Access access = {.buffer = buffer};
        element = memory ? report_element(thread, &access, memory, frame->first_byte) : buffer->buffer->name;
    }
    const void *place = block->source;
    Span span = block->source->block->span;
    bool fresh;
    if (buffer && record->first_byte == frame->first_byte && record->first_bits != frame->first_bits)
        fresh = report_finding(thread, INTERP_RERUN, place, span, "runs again%s with another result: %s was %s and becomes %s",
                               axes_text(thread, block), element, value_text(thread, buffer->dtype, record->first_bits),
                               value_text(thread, buffer->dtype, frame->first_bits));
    else
        fresh = report_finding(thread, INTERP_RERUN, place, span, "runs again%s with another result; it writes %s first",
                               axes_text(thread, block), element);
    if (fresh)
        report_note(thread, span_none(),
                    "instances are told apart by their axis values; an axis bound to the loop that repeats them makes them different");
}

/* One cause is reported once: not for the blocks around it too. */
static void silence_outer_blocks(Thread *thread, const BlockInfo *block)
{
    for (block = block->parent; block; block = block->parent)
        thread->frames[block->index].rerun_reported = true;
}

static void instance_end(Thread *thread, const BlockInfo *block)
{
    BlockFrame *frame = &thread->frames[block->index];
    if (!frame->digesting)
        return;
    InstanceRecord *record = tuple_table_payload(&thread->run->blocks[block->index].instances, (int)frame->instance);
    if (!record->ran) {
        *record = (InstanceRecord){true, frame->digest, frame->first_byte, frame->first_bits};
        return;
    }
    if (record->digest == frame->digest)
        return;
    if (!frame->rerun_reported)
        report_rerun(thread, block, record);
    silence_outer_blocks(thread, block);
}

/* --- Entering and leaving --- */
/* ITERATION of several threads: it, or the one of threads that it is inside of, with the indices of TAGS left open. */
static const Iteration *merged_iteration(Run *run, const Iteration *iteration, uint32_t tags)
{
    if (!iteration->execution || iteration->execution->kind == CONCURRENT_BLOCKS)
        return iteration;
    Iteration *merged = ARENA_NEW(run->arena, Iteration);
    *merged = *iteration;
    if (iteration->execution->kind == CONCURRENT_THREADS)
        merged->merged_tags |= tags;
    else
        merged->parent = merged_iteration(run, iteration->parent, tags);
    return merged;
}

void exec_merge_threads(Thread *thread, const BlockInfo *block)
{
    BlockFrame *frame = &thread->frames[block->index];
    frame->outer_iteration = thread->iteration;
    frame->outer_across = thread->across;
    if (!block->across_tags || !thread->launch)
        return;
    thread->across |= block->across_tags;
    if (thread->run->checks)
        thread->iteration = merged_iteration(thread->run, thread->iteration, block->across_tags);
}

void exec_part_threads(Thread *thread, const BlockInfo *block)
{
    const BlockFrame *frame = &thread->frames[block->index];
    thread->iteration = frame->outer_iteration;
    thread->across = frame->outer_across;
}

static bool block_enter(Thread *thread, const BlockInfo *block)
{
    if (!bind_axes(thread, block))
        return false;
    BlockFrame *frame = &thread->frames[block->index];
    thread->block = block;
    frame->start_time = thread->run->time;
    frame->regions_known = false;
    exec_merge_threads(thread, block);
    for (int i = 0; thread->run->checks && i < block->iter_count; i++)
        check_axis(thread, &block->iters[i]);
    return true;
}

static void block_leave(Thread *thread, const BlockInfo *block)
{
    if (thread->run->checks)
        instance_end(thread, block);
    thread->block = block->parent;
    exec_part_threads(thread, block);
}

void exec_block_buffers(Group group, const BlockInfo *block, bool init_only, Memory **memories)
{
    for (int i = 0; i < block->source->alloc_count; i++)
        memory_allocate(group, &block->allocs[i], memories + i * group.count);
    for (int i = 0; i < block->source->match_count; i++)
        for (int k = 0; k < group.count && !(init_only && block->matches[i].uses_reduction); k++)
            match_view(group.items[k], &block->matches[i]);
}

void exec_block_release(Group group, const BlockInfo *block, Memory **memories)
{
    for (int i = 0; i < block->source->match_count; i++)
        for (int k = 0; k < group.count; k++)
            group.items[k]->bound[block->matches[i].target.buffer->index].data.memory = NULL;
    for (int i = 0; i < block->source->alloc_count; i++)
        memory_release(group, &block->allocs[i], memories + i * group.count);
}

static void evaluate_regions(Thread *thread, const BlockInfo *block)
{
    for (int i = 0; block->check_reads && i < block->source->read_count; i++)
        region_evaluate_declared(thread, &block->reads[i]);
    for (int i = 0; block->check_writes && i < block->source->write_count; i++)
        region_evaluate_declared(thread, &block->writes[i]);
    thread->frames[block->index].regions_known = true;
}

/* Threads that reduce together run the body one after the other. */
static void exec_block_body(Run *run, Group group, const BlockInfo *block)
{
    if (!group.items[0]->across) {
        exec_node(run, group, block->body);
        return;
    }
    for (int i = 0; i < group.count; i++)
        exec_node(run, (Group){group.items + i, 1}, block->body);
}

void exec_block(Run *run, Group group, const ExecNode *node)
{
    const BlockInfo *block = node->as.block;
    Thread *items[group.count];
    Group inside = {items, 0};
    for (int i = 0; i < group.count; i++)
        if (block_enter(group.items[i], block))
            items[inside.count++] = group.items[i];
    if (!inside.count)
        return;
    Memory *memories[block->source->alloc_count * inside.count + 1];
    exec_block_buffers(inside, block, false, memories);
    for (int i = 0; run->checks && i < inside.count; i++) {
        evaluate_regions(items[i], block);
        instance_begin(items[i], block);
    }
    if (block->init)
        exec_init(run, inside, block);
    exec_block_body(run, inside, block);
    for (int i = 0; i < inside.count; i++)
        block_leave(items[i], block);
    exec_block_release(inside, block, memories);
}
