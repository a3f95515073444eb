/* Hash mixing, pointer-keyed maps in arena memory, and interned strings. */
#ifndef TIRC_SUPPORT_HASH_H
#define TIRC_SUPPORT_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

/* Mixes VALUE into HASH; the result is well distributed. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 12) + (hash >> 4);
    hash *= 0xff51afd7ed558ccdull;
    return hash ^ (hash >> 32);
}
uint64_t hash_bytes(const void *data, size_t size);

/* A map from non-NULL pointers (nodes, symbols, interned strings) to pointers. Zero-initialize; storage comes from the arena given at
   insertion. Iteration goes over entries[0..count) in insertion order, so results never depend on addresses. */
typedef struct {
    const void *key;
    void *value;
} MapEntry;
typedef struct {
    MapEntry *entries;
    int count, capacity;
    int32_t *slots; /* index into entries + 1, 0 when free */
    int slot_count;
} Map;

void map_set(Arena *arena, Map *map, const void *key, void *value);
/* The value stored for KEY, or NULL. */
void *map_get(const Map *map, const void *key);
bool map_has(const Map *map, const void *key);

/* Interned, NUL-terminated text: equal strings are equal pointers. */
typedef const char *Str;
typedef struct Interner Interner;
Interner *interner_new(Arena *arena);
Str intern(Interner *interner, const char *text, size_t length);

#endif
