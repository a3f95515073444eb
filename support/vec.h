/* Typed growable arrays in arena memory: VEC(int) numbers = {0}; vec_push(arena, &numbers, 3); numbers.data[0]. Growing leaves the old
   storage to the arena; elements are moved, so keep indices, not pointers, across a push. */
#ifndef TIRC_SUPPORT_VEC_H
#define TIRC_SUPPORT_VEC_H

#include <string.h>

#include "support/arena.h"

#define VEC(T)                                                                                                                               \
    struct {                                                                                                                                 \
        T *data;                                                                                                                             \
        int count, capacity;                                                                                                                 \
    }

void *vec_grow(Arena *arena, void *data, int count, int *capacity, int wanted, size_t element_size);

#define vec_reserve(arena, vec, wanted)                                                                                                      \
    ((vec)->capacity >= (wanted) ? (void)0                                                                                                   \
                                 : (void)((vec)->data = vec_grow((arena), (vec)->data, (vec)->count, &(vec)->capacity, (wanted),             \
                                                                 sizeof *(vec)->data)))
#define vec_push(arena, vec, value) (vec_reserve((arena), (vec), (vec)->count + 1), (void)((vec)->data[(vec)->count++] = (value)))
#define vec_pop(vec) ((vec)->data[--(vec)->count])
#define vec_last(vec) ((vec)->data[(vec)->count - 1])

#endif
