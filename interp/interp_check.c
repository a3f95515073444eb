/* Checks of single accesses: elements that were never written, the regions that blocks declare, and a digest of what a block instance
   writes. Conflicts are in interp_conflict.c. */
#include <string.h>

#include "ir/elements.h"
#include "interp/interp_internal.h"

/* --- Declared regions --- */
void region_evaluate(Thread *thread, const RegionInfo *region)
{
    int64_t *ranges = thread->ranges + region->ranges;
    for (int i = 0; i < region->buffer->buffer->ndim; i++) {
        ranges[2 * i] = eval_integer(region->min[i], thread);
        ranges[2 * i + 1] = eval_integer(region->extent[i], thread);
    }
}

void region_evaluate_declared(Thread *thread, const RegionInfo *region)
{
    thread->declaring = true;
    thread->undeclared = false;
    region_evaluate(thread, region);
    thread->declaring = false;
    const int64_t *shape = thread->dims + region->buffer->dims;
    int64_t *ranges = thread->ranges + region->ranges;
    for (int i = 0; thread->undeclared && i < region->buffer->buffer->ndim; i++) {
        ranges[2 * i] = 0;
        ranges[2 * i + 1] = shape[i];
    }
}

static bool region_has(const int64_t *ranges, const int64_t *coordinates, int ndim)
{
    for (int i = 0; i < ndim; i++)
        if (coordinates[i] < ranges[2 * i] || coordinates[i] >= ranges[2 * i] + ranges[2 * i + 1])
            return false;
    return true;
}

/* Some element of DIMS dimensions of a region, from their extents in RANGES, lies OFFSET elements from the first of the buffer. */
static bool ranges_reach(const int64_t *ranges, const int64_t *strides, int dims, int64_t offset)
{
    if (dims == 0)
        return offset == 0;
    int64_t min = ranges[0], extent = ranges[1], stride = strides[0];
    if (dims == 1 && stride) /* at most one index */
        return offset % stride == 0 && offset / stride >= min && offset / stride < min + extent;
    for (int64_t i = min; i < min + (stride ? extent : extent > 0); i++)
        if (ranges_reach(ranges + 2, strides + 1, dims - 1, offset - i * stride))
            return true;
    return false;
}

/* The same as region_has where a cell may be several elements of the buffer. */
static bool region_reaches(const Thread *thread, const RegionInfo *region, const Memory *memory, int64_t byte)
{
    const BufferInfo *buffer = region->buffer;
    int ndim = buffer->buffer->ndim;
    const int64_t *shape = thread->dims + buffer->dims, *strides = shape + ndim;
    int64_t offset;
    if (!buffer_offset(thread, buffer, memory, byte, &offset) || strides_keep_apart(shape, strides, ndim))
        return false;
    return ranges_reach(thread->ranges + region->ranges, strides, ndim, offset);
}

bool region_contains(Thread *thread, const RegionInfo *regions, int count, const Memory *memory, int64_t byte)
{
    for (int i = 0; i < count; i++) {
        int ndim = regions[i].buffer->buffer->ndim;
        int64_t coordinates[ndim + 1];
        if (buffer_coordinates(thread, regions[i].buffer, memory, byte, coordinates) &&
            region_has(thread->ranges + regions[i].ranges, coordinates, ndim))
            return true;
        if (region_reaches(thread, &regions[i], memory, byte))
            return true;
    }
    return false;
}

static bool declares(Thread *thread, const BlockInfo *block, const Element *element, bool writes)
{
    const BlockStmt *source = block->source;
    if (writes)
        return !block->check_writes || region_contains(thread, block->writes, source->write_count, element->memory, element->byte);
    return !block->check_reads || region_contains(thread, block->reads, source->read_count, element->memory, element->byte);
}

/* What an instance reads back of its own writes is nothing that it reads from outside. */
static bool may_read(Thread *thread, const BlockInfo *block, const Element *element, uint64_t write_time, bool accumulates)
{
    if (declares(thread, block, element, false))
        return true;
    bool own = accumulates || write_time >= thread->frames[block->index].start_time;
    return own && declares(thread, block, element, true);
}

static void report_undeclared(Thread *thread, const Access *access, const BlockInfo *block, const Element *element, bool is_write)
{
    const char *verb = is_write ? "writes" : "reads", *name = block->source->block->name;
    const char *whose =
        block == thread->block ? "its declared" : arena_printf(thread->run->arena, "the declared %s of block '%s',", verb, name);
    report_finding(thread, INTERP_UNDECLARED, access->place, access->span, "%s %s, outside %s %s", verb,
                   report_element(thread, access, element->memory, element->byte), whose,
                   block == thread->block ? verb : "which is around it");
}

/* Looks at every block around the access that did not itself allocate the memory. A block that has an init reads what it accumulates into
   without saying so, and so do those around it. */
static void check_declared(Thread *thread, const Access *access, const Element *element, bool is_write, uint64_t write_time)
{
    bool accumulates = false;
    for (const BlockInfo *block = thread->block; block && block->depth > element->memory->block_depth; block = block->parent) {
        if (!thread->frames[block->index].regions_known)
            continue;
        accumulates |= block->init && declares(thread, block, element, true);
        if (is_write ? declares(thread, block, element, true) : may_read(thread, block, element, write_time, accumulates))
            continue;
        report_undeclared(thread, access, block, element, is_write);
        return;
    }
}

/* --- Elements. Views of another element size may touch several cells. --- */
#define FOR_EACH_CELL(cell, thread, element, bytes)                                                                                                           \
    for (int64_t at_ = (element)->byte, step_ = (element)->memory->cell_bytes, end_ = (element)->byte + (bytes); at_ < end_; at_ = (at_ / step_ + 1) * step_) \
        for (Cell *cell = memory_cell((element)->memory, (element)->plane, thread, at_); cell; cell = NULL)

void check_read(Thread *thread, const Access *access, const Element *element, int bytes)
{
    uint64_t write_time = UINT64_MAX;
    FOR_EACH_CELL(cell, thread, element, bytes)
    {
        if (!cell->write_time)
            report_finding(thread, INTERP_UNWRITTEN, access->place, access->span, "reads %s, which was never written",
                           report_element(thread, access, element->memory, element->byte));
        if (!thread->declaring)
            conflict_read(thread, access, element, cell);
        write_time = cell->write_time < write_time ? cell->write_time : write_time;
    }
    if (!thread->declaring)
        check_declared(thread, access, element, false, write_time);
}

/* Adds a write to the digests of the block instances being executed, but for those that own the memory. */
static void digest_write(Thread *thread, const Access *access, const Element *element, uint64_t bits)
{
    const Memory *memory = element->memory;
    for (const BlockInfo *block = thread->block; block && block->depth > memory->block_depth; block = block->parent) {
        BlockFrame *frame = &thread->frames[block->index];
        if (!frame->digesting)
            continue;
        frame->digest = hash_mix(hash_mix(hash_mix(frame->digest, memory->key), (uint64_t)element->byte), bits);
        if (!frame->first_buffer) {
            frame->first_buffer = access->buffer ? access->buffer : memory->buffer;
            frame->first_byte = element->byte;
            frame->first_bits = bits;
        }
    }
}

static void mark_written(Thread *thread, const Access *access, const Element *element, int bytes, bool unchanged)
{
    FOR_EACH_CELL(cell, thread, element, bytes)
    {
        conflict_write(thread, access, element, cell, unchanged && cell->write_time);
        cell->write_time = thread->run->time;
        cell->write_place = thread->place;
    }
}

static void check_instance_write(Thread *thread, const Access *access, const Element *element, uint64_t bits)
{
    check_declared(thread, access, element, true, 0);
    digest_write(thread, access, element, bits);
}

bool check_defined(Thread *thread, const Element *element, int bytes)
{
    bool defined = true;
    FOR_EACH_CELL(cell, thread, element, bytes)
    defined &= cell->write_time != 0;
    return defined;
}

void check_undefine(Thread *thread, const Element *element, int bytes)
{
    FOR_EACH_CELL(cell, thread, element, bytes)
    cell->write_time = 0;
}

/* --- Stores --- */
static void write_element(Thread *thread, const Access *access, const Element *element, DType type, Slot value, bool is_copy)
{
    uint8_t bytes[8];
    int count = dtype_bytes(type);
    if (dtype_is_float(type))
        interp_write_real(type, bytes, value.real);
    else
        interp_write_integer(type, bytes, value.integer);
    if (thread->run->checks) {
        uint64_t bits = 0;
        memcpy(&bits, bytes, (size_t)count);
        mark_written(thread, access, element, count, !memcmp(bytes, element->at, (size_t)count));
        if (!is_copy)
            check_instance_write(thread, access, element, bits);
    }
    memcpy(element->at, bytes, (size_t)count);
}

static bool same_group(const Thread *a, const Thread *b)
{
    for (int i = 0; i < a->launch->kernel->tag_count; i++)
        if (!(a->across >> i & 1) && a->tags[i] != b->tags[i])
            return false;
    return true;
}

/* A reduction across threads gives its result to all of them: a write to memory that each thread has for itself, by its scope or because it
   allocates it, goes to every copy. */
static void write_copies(Thread *thread, const Access *access, const Element *element, DType type, Slot value)
{
    for (int i = 0; i < thread->launch->thread_count; i++) {
        Thread *other = &thread->launch->threads[i];
        Memory *memory = access->buffer ? other->bound[access->buffer->index].data.memory : element->memory;
        if (other == thread || !same_group(thread, other) || !memory || (memory->scope != SCOPE_LOCAL && memory == element->memory))
            continue;
        Element copy = {memory, memory_plane(memory, other), element->byte, NULL};
        copy.at = copy.plane->data + copy.byte;
        if (copy.at != element->at && copy.byte + dtype_bytes(type) <= memory->bytes)
            write_element(thread, access, &copy, type, value, true);
    }
}

void element_store(Thread *thread, const Access *access, const Element *element, DType type, Slot value)
{
    write_element(thread, access, element, type, value, false);
    if (thread->across)
        write_copies(thread, access, element, type, value);
}
