/* Aligned memory, replaceable as a whole. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tirc_rt.h"

enum { LEAST_ALIGNMENT = 64 };

static void *(*custom_alloc)(size_t size, size_t alignment);
static void (*custom_free)(void *block);

void tirc_set_allocator(void *(*alloc)(size_t size, size_t alignment), void (*free_block)(void *block))
{
    custom_alloc = alloc;
    custom_free = free_block;
}

static void *fail(size_t size, const char *reason)
{
    char message[TIRC_ERROR_SIZE];
    snprintf(message, sizeof message, "cannot allocate %zu bytes: %s", size, reason);
    tirc_set_error(message);
    return NULL;
}

void *tirc_alloc(size_t size, size_t alignment)
{
    if (alignment < LEAST_ALIGNMENT)
        alignment = LEAST_ALIGNMENT;
    if (alignment & (alignment - 1))
        return fail(size, "the alignment is not a power of two");
    if (alignment > (size_t)PTRDIFF_MAX || size > (size_t)PTRDIFF_MAX - alignment)
        return fail(size, "more than the address space holds");
    size_t whole = size ? (size + alignment - 1) & ~(alignment - 1) : alignment; /* aligned_alloc wants a multiple */
    void *block = custom_alloc ? custom_alloc(whole, alignment) : aligned_alloc(alignment, whole);
    if (!block)
        return fail(size, "out of memory");
    if ((uintptr_t)block & (alignment - 1)) {
        tirc_free(block);
        return fail(size, "the block of the program's allocator is not aligned");
    }
    return block;
}

void tirc_free(void *block)
{
    if (!block)
        return;
    if (custom_free)
        custom_free(block);
    else
        free(block);
}
