/* Kernels: the nest of a thread-bound loop. All indices of the blockIdx tags run one after the other, each with all threads together. */
#include <stdlib.h>
#include <string.h>

#include "interp/interp_internal.h"

/* --- Threads --- */
void thread_init(Run *run, Thread *thread)
{
    const Program *program = run->program;
    *thread = (Thread){.run = run};
    thread->slots = calloc((size_t)program->slot_count + 1, sizeof *thread->slots);
    thread->bound = calloc((size_t)program->buffer_count + 1, sizeof *thread->bound);
    thread->dims = calloc((size_t)program->dims_count + 1, sizeof *thread->dims);
    thread->ranges = calloc((size_t)program->range_count + 1, sizeof *thread->ranges);
    thread->frames = calloc((size_t)program->blocks.count + 1, sizeof *thread->frames);
    thread->tags = NULL;
    CHECK(thread->slots && thread->bound && thread->dims && thread->ranges && thread->frames);
}

void thread_copy(Thread *thread, const Thread *from)
{
    const Program *program = thread->run->program;
    memcpy(thread->slots, from->slots, sizeof *thread->slots * (size_t)program->slot_count);
    memcpy(thread->bound, from->bound, sizeof *thread->bound * (size_t)program->buffer_count);
    memcpy(thread->dims, from->dims, sizeof *thread->dims * (size_t)program->dims_count);
    memcpy(thread->ranges, from->ranges, sizeof *thread->ranges * (size_t)program->range_count);
    memcpy(thread->frames, from->frames, sizeof *thread->frames * (size_t)program->blocks.count);
    thread->block = from->block;
    thread->place = from->place;
    thread->across = 0;
    thread->lane = 0;
    thread->signal = SIGNAL_NONE;
}

void thread_free(Thread *thread)
{
    free(thread->slots);
    free(thread->bound);
    free(thread->dims);
    free(thread->ranges);
    free(thread->frames);
    free(thread->tags);
}

/* --- Launching --- */
/* The number of blocks and threads; false after a finding. */
static bool launch_extents(Thread *host, Launch *launch, int64_t *blocks)
{
    const Kernel *kernel = launch->kernel;
    int64_t threads = *blocks = 1;
    for (int i = 0; i < kernel->tag_count; i++) {
        const ThreadTag *tag = &kernel->tags[i];
        if (!tag->extent) {
            report_here(host, INTERP_UNSUPPORTED, "begins a kernel in which the extent of %s is not known", tag->name);
            return false;
        }
        int64_t extent = eval_integer(tag->extent, host), *product = tag->is_block ? blocks : &threads;
        launch->extents[i] = extent < 0 ? 0 : extent;
        if (__builtin_mul_overflow(*product, launch->extents[i], product))
            threads = MOST_VIRTUAL_THREADS + 1;
    }
    if (threads > MOST_VIRTUAL_THREADS) {
        report_here(host, INTERP_UNSUPPORTED, "begins a kernel with more than %d threads in a block", MOST_VIRTUAL_THREADS);
        return false;
    }
    launch->thread_count = (int)threads;
    return *blocks > 0 && threads > 0;
}

/* The thread's index of each tag, blockIdx tags from BLOCK. */
static void number_thread(Thread *thread, const Launch *launch, int64_t block, int64_t index)
{
    for (int i = launch->kernel->tag_count - 1; i >= 0; i--) {
        int64_t *rest = launch->kernel->tags[i].is_block ? &block : &index;
        thread->tags[i] = *rest % launch->extents[i];
        *rest /= launch->extents[i];
    }
}

static Execution *new_execution(Run *run, ConcurrentKind kind, const Launch *launch)
{
    Execution *execution = ARENA_NEW(run->arena, Execution);
    execution->kind = kind;
    execution->kernel = launch->kernel;
    execution->extents = launch->extents;
    return execution;
}

static const Iteration *new_iteration(Run *run, const Iteration *parent, Execution *execution, int64_t value)
{
    Iteration *iteration = ARENA_NEW(run->arena, Iteration);
    *iteration = (Iteration){parent, execution, parent->depth + 1, value, 0};
    return iteration;
}

static void run_thread_block(Run *run, const Thread *host, Launch *launch, Execution *blocks, int64_t block)
{
    const Iteration *iteration = new_iteration(run, host->iteration, blocks, block);
    Execution *threads = new_execution(run, CONCURRENT_THREADS, launch);
    launch->block = ++run->launched_blocks;
    launch->block_index = block;
    launch->barrier = launch->shared_barrier = ++run->time;
    for (int i = 0; i < launch->thread_count; i++) {
        Thread *thread = &launch->threads[i];
        thread_copy(thread, host);
        number_thread(thread, launch, block, i);
        thread->iteration = new_iteration(run, iteration, threads, i);
    }
}

static void launch_for_thread(Run *run, Thread *host, const ExecNode *node, LoopBody *body, const void *data)
{
    const Kernel *kernel = node->as.loop.launches;
    Launch launch = {.kernel = kernel, .extents = ARENA_ARRAY(run->arena, int64_t, kernel->tag_count), .serial = ++run->launch_serial};
    int64_t block_count;
    if (!launch_extents(host, &launch, &block_count))
        return;
    Thread *items[launch.thread_count];
    launch.threads = xmalloc(sizeof *launch.threads * (size_t)launch.thread_count);
    for (int i = 0; i < launch.thread_count; i++) {
        Thread *thread = items[i] = &launch.threads[i];
        thread_init(run, thread);
        thread->launch = &launch;
        thread->index = i;
        thread->tags = xmalloc(sizeof *thread->tags * (size_t)kernel->tag_count);
    }
    Execution *blocks = new_execution(run, CONCURRENT_BLOCKS, &launch);
    for (int64_t block = 0; block < block_count && !run->stopped; block++) {
        run_thread_block(run, host, &launch, blocks, block);
        body(run, (Group){items, launch.thread_count}, data);
    }
    for (int i = 0; i < launch.thread_count; i++)
        thread_free(&launch.threads[i]);
    free(launch.threads);
}

void exec_launch(Run *run, Group group, const ExecNode *node, LoopBody *body, const void *data)
{
    for (int i = 0; i < group.count; i++)
        launch_for_thread(run, group.items[i], node, body, data);
}

void exec_thread_loop(Run *run, Group group, const ExecNode *node, LoopBody *body, const void *data)
{
    const LoopInfo *loop = &node->as.loop;
    Thread *items[group.count];
    Group active = {items, 0};
    for (int i = 0; i < group.count; i++) {
        Thread *thread = group.items[i];
        int64_t index = thread->tags[loop->tag], extent = eval_integer(loop->extent, thread), wanted = thread->launch->extents[loop->tag];
        thread->place = node;
        if (extent != wanted)
            report_here(thread, INTERP_THREADS, "has loops bound to %s with extents %lld and %lld in one kernel",
                        loop->kernel->tags[loop->tag].name, (long long)wanted, (long long)extent);
        if (index >= extent)
            continue;
        thread->slots[loop->slot].integer = index + (loop->min ? eval_integer(loop->min, thread) : 0);
        items[active.count++] = thread;
    }
    if (active.count)
        body(run, active, data);
}
