/* Conflicts: two iterations of a concurrent loop, thread blocks or threads that use one element, at least one of them writing.

   Every access belongs to an Iteration, a leaf of the tree of concurrent loops that are being run. Two accesses may happen at the same time
   if, where their ways from the root part, they are different iterations of one execution. Loops run serially, depth first, so one writer
   and one reader for each element are enough to find a conflict if there is one.

   Not in conflict are: scratch memory that each iteration writes before it reads it and nobody reads after the loop; threads of a block
   that write the value that is there already; threads of a block where a barrier lies in between. In shared memory one is implied between a
   write and a read in different statements. */
#include "interp/interp_internal.h"

/* --- Relations of iterations --- */
/* True when A and B of one execution of threads stand for a common thread. */
static bool iterations_overlap(const Iteration *a, const Iteration *b)
{
    const Kernel *kernel = a->execution->kernel;
    uint32_t open = a->merged_tags | b->merged_tags;
    if (a->execution->kind != CONCURRENT_THREADS || !open)
        return a->value == b->value;
    int64_t rest_a = a->value, rest_b = b->value;
    for (int i = kernel->tag_count - 1; i >= 0; i--) {
        if (kernel->tags[i].is_block)
            continue;
        int64_t extent = a->execution->extents[i];
        if (!(open >> i & 1) && rest_a % extent != rest_b % extent)
            return false;
        rest_a /= extent;
        rest_b /= extent;
    }
    return true;
}

/* Moves *A and *B up to where their ways from the root part. True when they may run at the same time; else *A == *B (one is inside the
   other), or they are in executions one after the other, or threads that overlap. */
static bool iterations_part(const Iteration **a, const Iteration **b)
{
    while ((*a)->depth > (*b)->depth)
        *a = (*a)->parent;
    while ((*b)->depth > (*a)->depth)
        *b = (*b)->parent;
    if (*a == *b)
        return false;
    const Iteration *below_a = *a, *below_b = *b; /* in the threads *A and *B, where these overlap */
    while ((*a)->parent != (*b)->parent) {
        below_a = *a;
        below_b = *b;
        *a = (*a)->parent;
        *b = (*b)->parent;
    }
    if ((*a)->execution != (*b)->execution || !iterations_overlap(*a, *b))
        return (*a)->execution == (*b)->execution;
    *a = below_a;
    *b = below_b;
    return (*a)->execution == (*b)->execution && !iterations_overlap(*a, *b);
}

/* INNER lies inside OUTER, or in a thread that either stands for. */
static bool iteration_is_inside(const Iteration *inner, const Iteration *outer)
{
    while (inner && inner->depth > outer->depth)
        inner = inner->parent;
    while (inner != outer && inner && outer && inner->execution == outer->execution && iterations_overlap(inner, outer)) {
        inner = inner->parent;
        outer = outer->parent;
    }
    return inner == outer;
}

/* --- Reports --- */
static const char *conflict_opponent(Thread *thread, const Execution *execution)
{
    switch (execution->kind) {
    case CONCURRENT_PARALLEL: return arena_printf(thread->run->arena, "iteration of the parallel loop over %s", execution->loop);
    case CONCURRENT_VECTORIZED: return arena_printf(thread->run->arena, "iteration of the vectorized loop over %s", execution->loop);
    case CONCURRENT_BLOCKS: return "thread block";
    default: return "thread of its block";
    }
}

typedef struct {
    const Iteration *first, *second;
    const char *first_verb, *second_verb; /* "written", "read" */
    const char *remark;
} Conflict;

static void report_conflict(Thread *thread, const Access *access, const Memory *memory, int64_t byte, Conflict conflict,
                            const ExecNode *write_place)
{
    bool twice = conflict.first_verb == conflict.second_verb;
    bool fresh = report_finding(thread, INTERP_CONFLICT, access->place, access->span,
                                "is in conflict with another %s: %s is %s at %s and %s at %s%s",
                                conflict_opponent(thread, conflict.first->execution), report_element(thread, access, memory, byte),
                                conflict.first_verb, report_iteration(thread, conflict.first), twice ? "again" : conflict.second_verb,
                                report_iteration(thread, conflict.second), conflict.remark);
    if (fresh && write_place && write_place != thread->place)
        report_note(thread, write_place->span, "the other access is the write here");
}

static const char written[] = "written", read_[] = "read";

/* --- Scratch memory --- */
static ScratchUse *scratch_find(Execution *execution, const Memory *memory)
{
    for (int i = 0; i < execution->scratch.count; i++)
        if (execution->scratch.data[i].memory == memory->serial)
            return &execution->scratch.data[i];
    return NULL;
}

static ScratchUse *scratch_use(Thread *thread, Execution *execution, const Memory *memory)
{
    ScratchUse *use = scratch_find(execution, memory);
    if (use)
        return use;
    ScratchUse fresh = {.memory = memory->serial};
    vec_push(thread->run->arena, &execution->scratch, fresh);
    return &vec_last(&execution->scratch);
}

static void report_overlap(Thread *thread, const Access *access, const Memory *memory, const ScratchUse *use, const char *remark)
{
    Conflict conflict = {use->first, use->second, written, written, remark};
    report_conflict(thread, access, memory, use->byte, conflict, NULL);
}

/* The iterations around a read that did not write the element themselves: for them the memory is not private. */
static void note_outside_read(Thread *thread, const Access *access, const Memory *memory, const Iteration *writer)
{
    for (const Iteration *i = thread->iteration; i->execution && !(writer && iteration_is_inside(writer, i)); i = i->parent) {
        if (i->execution->kind == CONCURRENT_THREADS)
            continue;
        ScratchUse *use = scratch_use(thread, i->execution, memory);
        if (use->overlaps && !use->read_from_outside)
            report_overlap(thread, access, memory, use, ", and not every iteration writes what it reads");
        use->read_from_outside = true;
    }
}

/* A read after loops that wrote the element: their overlapping writes elsewhere in the memory are conflicts now. */
static void check_finished_loops(Thread *thread, const Access *access, const Memory *memory, const Iteration *writer, const Iteration *end)
{
    for (const Iteration *i = writer; i->execution && i->depth >= end->depth; i = i->parent) {
        if (i->depth == end->depth && iteration_is_inside(i, end))
            return;
        const ScratchUse *use = scratch_find(i->execution, memory);
        if (use && use->overlaps)
            report_overlap(thread, access, memory, use, ", and read after the loop");
    }
}

/* --- Threads of a block --- */
static uint64_t *last_barrier(Thread *thread, const Memory *memory)
{
    return memory->scope == SCOPE_SHARED ? &thread->launch->shared_barrier : &thread->launch->barrier;
}

/* Whether a barrier lies, or is implied, between an access at TIME and one by another thread now, one of them a read. */
static bool barrier_between(Thread *thread, const Memory *memory, uint64_t time)
{
    uint64_t *barrier = last_barrier(thread, memory);
    if (time >= *barrier && memory->scope == SCOPE_SHARED && time < thread->run->time)
        *barrier = thread->run->time;
    return time < *barrier;
}

/* --- Reads --- */
static bool reading_is_stale(Thread *thread, const Memory *memory, const Reading *reading)
{
    const Iteration *a = reading->iteration, *b = thread->iteration;
    if (!a || !iterations_part(&a, &b))
        return true;
    if (a->execution->kind != CONCURRENT_THREADS)
        return false;
    return reading->time < (memory->scope == SCOPE_SHARED ? thread->run->time : thread->launch->barrier);
}

static void add_reading(Thread *thread, const Memory *memory, Cell *cell)
{
    Reading now = {thread->iteration, thread->run->time};
    for (int i = 0; i < 2; i++)
        if (cell->readings[i].iteration == now.iteration || reading_is_stale(thread, memory, &cell->readings[i])) {
            cell->readings[i] = now;
            return;
        }
}

void conflict_read(Thread *thread, const Access *access, const Element *element, Cell *cell)
{
    const Memory *memory = element->memory;
    const Iteration *writer = cell->writer, *reader = thread->iteration;
    if (writer && writer != reader) {
        if (!iterations_part(&writer, &reader))
            check_finished_loops(thread, access, memory, cell->writer, reader);
        else if (writer->execution->kind != CONCURRENT_THREADS || !barrier_between(thread, memory, cell->write_time))
            report_conflict(thread, access, memory, element->byte, (Conflict){writer, reader, written, read_, ""}, cell->write_place);
    }
    if (!memory->is_parameter && thread->iteration->execution)
        note_outside_read(thread, access, memory, cell->writer);
    add_reading(thread, memory, cell);
}

/* --- Writes --- */
static bool has_read(const Cell *cell, const Iteration *iteration)
{
    for (int i = 0; i < 2; i++)
        if (cell->readings[i].iteration && iteration_is_inside(cell->readings[i].iteration, iteration))
            return true;
    return false;
}

/* OUTER is the thread block that ITERATION belongs to: as a writer, one that stands for several threads. */
static bool stands_for_threads(const Iteration *outer, const Iteration *iteration)
{
    while (iteration->depth > outer->depth + 1)
        iteration = iteration->parent;
    return iteration->parent == outer && iteration->execution->kind == CONCURRENT_THREADS;
}

/* A write to what another iteration wrote; gives the iteration that counts as the writer from now on. Where this one has read it before,
   that read was looked at already. */
static const Iteration *write_after_write(Thread *thread, const Access *access, const Element *element, const Cell *cell, bool unchanged)
{
    const Memory *memory = element->memory;
    const Iteration *before = cell->writer, *now = thread->iteration;
    if (unchanged && before && stands_for_threads(before, now))
        return before;
    if (!before || before == now || !iterations_part(&before, &now) || has_read(cell, now))
        return thread->iteration;
    Conflict conflict = {before, now, written, written, ""};
    if (before->execution->kind == CONCURRENT_THREADS) {
        if (unchanged)
            return now->parent;
        if (cell->write_time >= *last_barrier(thread, memory))
            report_conflict(thread, access, memory, element->byte, conflict, cell->write_place);
        return thread->iteration;
    }
    ScratchUse *use = memory->is_parameter ? NULL : scratch_use(thread, before->execution, memory);
    if (!use || use->read_from_outside)
        report_conflict(thread, access, memory, element->byte, conflict, cell->write_place);
    else if (!use->overlaps) {
        use->overlaps = true;
        use->byte = element->byte;
        use->first = before;
        use->second = now;
    }
    return thread->iteration;
}

/* A write to what another iteration read. Where that iteration had written the element before, the two writes are what counts. */
static void write_after_read(Thread *thread, const Access *access, const Element *element, const Cell *cell, const Reading *reading,
                             bool unchanged)
{
    const Iteration *reader = reading->iteration, *now = thread->iteration;
    if (!reader || reader == now || !iterations_part(&reader, &now))
        return;
    if (cell->writer && iteration_is_inside(cell->writer, reader))
        return;
    bool threads = reader->execution->kind == CONCURRENT_THREADS;
    if (threads && (unchanged || barrier_between(thread, element->memory, reading->time)))
        return;
    report_conflict(thread, access, element->memory, element->byte, (Conflict){reader, now, read_, written, ""}, NULL);
}

void conflict_write(Thread *thread, const Access *access, const Element *element, Cell *cell, bool unchanged)
{
    const Iteration *writer = write_after_write(thread, access, element, cell, unchanged);
    for (int i = 0; i < 2; i++)
        write_after_read(thread, access, element, cell, &cell->readings[i], unchanged);
    cell->writer = writer;
    cell->readings[0] = cell->readings[1] = (Reading){NULL, 0};
}
