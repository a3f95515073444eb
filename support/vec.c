/* Growth of the arrays of vec.h. */
#include "support/vec.h"

void *vec_grow(Arena *arena, void *data, int count, int *capacity, int wanted, size_t element_size)
{
    int grown = *capacity ? *capacity * 2 : 8;
    if (grown < wanted)
        grown = wanted;
    *capacity = grown;
    return arena_grow(arena, data, (size_t)count * element_size, (size_t)grown * element_size);
}
