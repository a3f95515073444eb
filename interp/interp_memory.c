/* Memories, their copies for threads and thread blocks, and the way from a buffer access to the bytes it means. */
#include <stdlib.h>
#include <string.h>

#include "ir/elements.h"
#include "interp/interp_internal.h"

/* An allocation larger than this is taken for a mistake. */
#define LARGEST_MEMORY (INT64_C(1) << 33)

/* --- Memories --- */
static void plane_init(const Memory *memory, Plane *plane, void *data, bool checks)
{
    plane->owns_data = !data;
    plane->data = data ? data : calloc(1, (size_t)(memory->bytes ? memory->bytes : 1));
    if (!plane->data)
        BUG("out of memory");
    if (checks) {
        plane->pages = xmalloc(sizeof *plane->pages * (size_t)(memory->page_count + 1));
        memset(plane->pages, 0, sizeof *plane->pages * (size_t)(memory->page_count + 1));
    }
}

static void plane_free(const Memory *memory, Plane *plane)
{
    if (plane->owns_data)
        free(plane->data);
    for (int i = 0; plane->pages && i < memory->page_count; i++)
        free(plane->pages[i]);
    free(plane->pages);
}

Memory *memory_new(Thread *thread, Str name, uint64_t key, Str scope, DType dtype, int64_t bytes, void *data)
{
    Run *run = thread->run;
    Memory *memory = xmalloc(sizeof *memory);
    *memory = (Memory){.name = name,
                       .key = key,
                       .serial = ++run->memory_serial,
                       .bytes = bytes,
                       .cell_bytes = dtype_bytes(dtype_scalar(dtype)),
                       .scope = scope_class(scope)};
    if (bytes < 0 || bytes > LARGEST_MEMORY) {
        report_here(thread, INTERP_UNSUPPORTED, "allocates %lld bytes for '%s'", (long long)bytes, name);
        memory->bytes = 0;
    }
    memory->page_count = (int)((memory->bytes / memory->cell_bytes + CELLS_PER_PAGE) / CELLS_PER_PAGE);
    memory->block_depth = thread->block ? thread->block->depth : 0;
    memory->launch_serial = thread->launch ? thread->launch->serial : 0;
    plane_init(memory, &memory->plane, data, run->checks);
    return memory;
}

void memory_free(Memory *memory)
{
    plane_free(memory, &memory->plane);
    for (int i = 0; i < memory->replica_count; i++)
        if (memory->replicas[i].data)
            plane_free(memory, &memory->replicas[i]);
    free(memory->replicas);
    free(memory);
}

static Plane *memory_replica(Memory *memory, Thread *thread)
{
    int index = memory->scope == SCOPE_LOCAL ? thread->index : 0;
    if (index >= memory->replica_count) {
        int count = memory->scope == SCOPE_LOCAL ? thread->launch->thread_count : 1;
        memory->replicas = xrealloc(memory->replicas, sizeof *memory->replicas * (size_t)count);
        memset(memory->replicas + memory->replica_count, 0, sizeof *memory->replicas * (size_t)(count - memory->replica_count));
        memory->replica_count = count;
    }
    Plane *plane = &memory->replicas[index];
    if (!plane->data)
        plane_init(memory, plane, NULL, thread->run->checks);
    return plane;
}

Plane *memory_plane(Memory *memory, Thread *thread)
{
    bool outer = thread->launch && memory->launch_serial != thread->launch->serial;
    return outer && memory->scope != SCOPE_GLOBAL && !memory->is_parameter ? memory_replica(memory, thread) : &memory->plane;
}

/* Pages of a replica that belong to an earlier thread block are forgotten: their cells are unwritten again. */
Cell *memory_cell(Memory *memory, Plane *plane, Thread *thread, int64_t byte)
{
    int64_t cell = byte / memory->cell_bytes;
    uint64_t launch = plane == &memory->plane ? 0 : thread->launch->block;
    CellPage *page = plane->pages[cell / CELLS_PER_PAGE];
    if (!page || page->launch != launch) {
        if (!page)
            page = plane->pages[cell / CELLS_PER_PAGE] = xmalloc(sizeof *page);
        *page = (CellPage){.launch = launch};
        for (int i = 0; memory->starts_written && i < CELLS_PER_PAGE; i++)
            page->cells[i].write_time = 1;
    }
    return &page->cells[cell % CELLS_PER_PAGE];
}

/* --- Buffers --- */
void memory_bind(Thread *thread, const BufferInfo *buffer, Pointer data)
{
    int ndim = buffer->buffer->ndim;
    int64_t *shape = thread->dims + buffer->dims, *strides = shape + ndim;
    BoundBuffer *bound = &thread->bound[buffer->index];
    bound->data = data;
    bound->elem_offset = eval_integer(buffer->elem_offset, thread);
    for (int i = 0; i < ndim; i++)
        shape[i] = eval_integer(buffer->shape[i], thread);
    int64_t compact = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = buffer->strides ? eval_integer(buffer->strides[i], thread) : compact;
        compact = (int64_t)((uint64_t)compact * (uint64_t)shape[i]);
    }
    if (buffer->must_differ && !strides_keep_apart(shape, strides, ndim))
        report_finding(thread, INTERP_ASSERTION, buffer, buffer->buffer->span,
                       "writes '%s', whose strides (%s) may make one cell of two elements (shape %s)", buffer->buffer->name,
                       report_tuple(thread, strides, ndim), report_tuple(thread, shape, ndim));
    thread->slots[buffer->data_slot].pointer = data;
    if (data.memory && !data.memory->buffer)
        data.memory->buffer = buffer;
}

/* The elements up to the last one of BUFFER, which states strides; -1 where that does not fit in an int64. */
static int64_t strided_span(Thread *thread, const BufferInfo *buffer)
{
    int64_t span = eval_integer(buffer->elem_offset, thread) + 1;
    for (int i = 0; i < buffer->buffer->ndim; i++) {
        int64_t extent = eval_integer(buffer->shape[i], thread), reach;
        if (extent <= 0)
            return 0;
        if (__builtin_mul_overflow(extent - 1, eval_integer(buffer->strides[i], thread), &reach) || __builtin_add_overflow(span, reach, &span))
            return -1;
    }
    return span;
}

/* The bytes that INFO allocates; -1 where it does not fit in an int64. */
static int64_t allocation_bytes(Thread *thread, const AllocateInfo *info)
{
    int64_t bytes = dtype_bytes(dtype_scalar(info->dtype)) * info->dtype.lanes;
    bool overflow = false;
    if (info->buffer && info->buffer->strides) {
        int64_t span = strided_span(thread, info->buffer);
        return span < 0 || __builtin_mul_overflow(bytes, span, &bytes) ? -1 : bytes;
    }
    for (int i = 0; i < info->extent_count; i++) {
        int64_t extent = eval_integer(info->extents[i], thread);
        overflow |= __builtin_mul_overflow(bytes, extent < 0 ? 0 : extent, &bytes);
    }
    return overflow ? -1 : bytes;
}

static void write_constants(Memory *memory, const AllocateInfo *info)
{
    DType t = dtype_scalar(info->dtype);
    memory->starts_written = true;
    for (int i = 0; i < info->constant_count && (i + 1) * dtype_bytes(t) <= memory->bytes; i++) {
        const Expr *constant = info->constants[i];
        if (dtype_is_float(t))
            interp_write_real(t, memory->plane.data + i * dtype_bytes(t),
                              constant->kind == EXPR_FLOAT ? constant->value.real : (double)constant->value.integer);
        else
            interp_write_integer(t, memory->plane.data + i * dtype_bytes(t), constant->value.integer);
    }
}

static Memory *allocate_for_thread(Thread *thread, const AllocateInfo *info)
{
    Memory *memory = memory_new(thread, info->name, (uint64_t)info->slot, info->scope, info->dtype, allocation_bytes(thread, info), NULL);
    if (info->constants)
        write_constants(memory, info);
    return memory;
}

void memory_allocate(Group group, const AllocateInfo *info, Memory **memories)
{
    bool once = group.items[0]->launch && scope_class(info->scope) == SCOPE_SHARED;
    for (int i = 0; i < group.count; i++) {
        Thread *thread = group.items[i];
        memories[i] = once && i > 0 ? NULL : allocate_for_thread(thread, info);
        Pointer data = {memories[i] ? memories[i] : memories[0], 0};
        thread->slots[info->slot].pointer = data;
        if (info->buffer)
            memory_bind(thread, info->buffer, data);
    }
}

void memory_release(Group group, const AllocateInfo *info, Memory **memories)
{
    for (int i = 0; i < group.count; i++) {
        if (memories[i])
            memory_free(memories[i]);
        if (info->buffer)
            group.items[i]->bound[info->buffer->index].data.memory = NULL;
    }
}

bool buffer_offset(const Thread *thread, const BufferInfo *buffer, const Memory *memory, int64_t byte, int64_t *offset)
{
    const BoundBuffer *bound = &thread->bound[buffer->index];
    int64_t distance = byte - bound->data.byte, size = buffer->bytes * buffer->lanes;
    *offset = (distance - ((distance % size) + size) % size) / size - bound->elem_offset; /* whole elements, downwards */
    return bound->data.memory == memory;
}

bool buffer_coordinates(const Thread *thread, const BufferInfo *buffer, const Memory *memory, int64_t byte, int64_t *coordinates)
{
    int ndim = buffer->buffer->ndim;
    const int64_t *shape = thread->dims + buffer->dims, *strides = shape + ndim;
    int64_t offset;
    if (!buffer_offset(thread, buffer, memory, byte, &offset))
        return false;
    bool done[ndim + 1], inside = true;
    memset(done, 0, sizeof done);
    for (int i = 0; i < ndim; i++) /* counted from the element that lies first */
        offset -= strides[i] < 0 && shape[i] > 0 ? (shape[i] - 1) * strides[i] : 0;
    for (int step = 0; step < ndim; step++) { /* the largest stride first; extents of 1 and strides of 0 say nothing */
        int next = -1;
        for (int i = 0; i < ndim; i++)
            if (!done[i] && (next < 0 || llabs(strides[i]) > llabs(strides[next]) || (llabs(strides[i]) == llabs(strides[next]) && shape[next] == 1)))
                next = i;
        int64_t stride = llabs(strides[next]), steps = stride > 0 && shape[next] != 1 ? offset / stride : 0;
        done[next] = true;
        offset -= steps * stride;
        coordinates[next] = strides[next] < 0 ? shape[next] - 1 - steps : steps;
        inside = inside && coordinates[next] >= 0;
    }
    return inside && offset == 0;
}

/* --- Accesses --- */
static const char *shape_text(Thread *thread, const int64_t *shape, int ndim)
{
    return ndim == 1 ? arena_printf(thread->run->arena, "%lld", (long long)shape[0])
                     : arena_printf(thread->run->arena, "(%s)", report_tuple(thread, shape, ndim));
}

static void report_outside(Thread *thread, const Access *access, int lane, Use use)
{
    static const char *const verbs[] = {"reads", "writes", "takes the address of"};
    const BufferInfo *buffer = access->buffer;
    int64_t indices[access->index_count + 1];
    thread->lane = lane / buffer->lanes;
    for (int i = 0; i < access->index_count; i++)
        indices[i] = eval_integer(access->indices[i], thread);
    const int64_t *shape = thread->dims + buffer->dims;
    bool inside = true;
    for (int i = 0; i < access->index_count; i++)
        inside = inside && indices[i] >= 0 && indices[i] < shape[i];
    report_finding(thread, INTERP_OUT_OF_BOUNDS, access->place, access->span, "%s %s[%s], %s (shape %s)", verbs[use],
                   buffer->buffer->name, report_tuple(thread, indices, access->index_count),
                   inside ? "outside the memory behind it" : "out of bounds", shape_text(thread, shape, buffer->buffer->ndim));
}

bool access_locate(Thread *thread, const Access *access, int lane, Use use, Element *element)
{
    const BufferInfo *buffer = access->buffer;
    const BoundBuffer *bound = &thread->bound[buffer->index];
    const int64_t *shape = thread->dims + buffer->dims, *strides = shape + buffer->buffer->ndim;
    uint64_t offset = (uint64_t)bound->elem_offset;
    bool inside = bound->data.memory != NULL;
    int saved = thread->lane, part = buffer->lanes > 1 ? lane % buffer->lanes : 0;
    thread->lane = buffer->lanes > 1 ? lane / buffer->lanes : lane;
    for (int i = 0; i < access->index_count; i++) {
        int64_t index = eval_integer(access->indices[i], thread);
        inside = inside && (uint64_t)index < (uint64_t)shape[i] + (use == USE_POINTS);
        offset += (uint64_t)index * (uint64_t)strides[i];
    }
    int64_t place = (int64_t)(offset * (uint64_t)buffer->lanes + (uint64_t)part);
    inside = inside && place >= 0 && place <= (bound->data.memory->bytes - bound->data.byte) / buffer->bytes - (use != USE_POINTS);
    if (inside) {
        element->memory = bound->data.memory;
        element->plane = memory_plane(element->memory, thread);
        element->byte = bound->data.byte + place * buffer->bytes;
        element->at = element->plane->data + element->byte;
    } else
        report_outside(thread, access, lane, use);
    thread->lane = saved;
    return inside;
}

bool pointer_locate(Thread *thread, const Access *access, Pointer pointer, int64_t offset, int bytes, bool is_write, Element *element)
{
    int64_t byte = pointer.byte + offset;
    if (!pointer.memory || byte < 0 || byte > pointer.memory->bytes - bytes) {
        const char *verb = is_write ? "writes" : "reads";
        if (pointer.memory)
            report_finding(thread, INTERP_OUT_OF_BOUNDS, access->place, access->span, "%s byte %lld of '%s', outside its %lld bytes", verb,
                           (long long)byte, pointer.memory->name, (long long)pointer.memory->bytes);
        else
            report_finding(thread, INTERP_OUT_OF_BOUNDS, access->place, access->span, "%s through a null pointer", verb);
        return false;
    }
    *element = (Element){pointer.memory, memory_plane(pointer.memory, thread), byte, NULL};
    element->at = element->plane->data + byte;
    return true;
}
