/* Growth of the arrays of vec.h. */
#include "support/vec.h"

void *vec_grow(Arena *arena, void *data, int count, int *capacity, int wanted, size_t element_size)
{
    int grown = *capacity ? *capacity * 2 : 8;
    if (grown < wanted)
        grown = wanted;
    void *result = arena_alloc(arena, (size_t)grown * element_size);
    if (count)
        memcpy(result, data, (size_t)count * element_size);
    *capacity = grown;
    return result;
}
