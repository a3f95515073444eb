/* Open-addressing tables behind maps and interned strings; see hash.h. */
#include "support/hash.h"

#include <string.h>

#include "support/vec.h"

uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash_mix(hash, size);
}

static int32_t *map_slot(const Map *map, const void *key)
{
    size_t mask = (size_t)map->slot_count - 1;
    for (size_t i = hash_mix(0, (uintptr_t)key) & mask;; i = (i + 1) & mask) {
        int32_t *slot = &map->slots[i];
        if (!*slot || map->entries[*slot - 1].key == key)
            return slot;
    }
}

static void map_rehash(Arena *arena, Map *map)
{
    map->slot_count = map->slot_count ? map->slot_count * 2 : 16;
    map->slots = ARENA_ARRAY(arena, int32_t, map->slot_count);
    for (int i = 0; i < map->count; i++)
        *map_slot(map, map->entries[i].key) = i + 1;
}

void map_set(Arena *arena, Map *map, const void *key, void *value)
{
    if (map->count * 2 >= map->slot_count)
        map_rehash(arena, map);
    int32_t *slot = map_slot(map, key);
    if (*slot) {
        map->entries[*slot - 1].value = value;
        return;
    }
    if (map->count == map->capacity)
        map->entries = vec_grow(arena, map->entries, map->count, &map->capacity, map->count + 1, sizeof *map->entries);
    map->entries[map->count++] = (MapEntry){key, value};
    *slot = map->count;
}

static const MapEntry *map_find(const Map *map, const void *key)
{
    if (!map->slot_count)
        return NULL;
    int32_t slot = *map_slot(map, key);
    return slot ? &map->entries[slot - 1] : NULL;
}

void *map_get(const Map *map, const void *key)
{
    const MapEntry *entry = map_find(map, key);
    return entry ? entry->value : NULL;
}

bool map_has(const Map *map, const void *key)
{
    return map_find(map, key) != NULL;
}

typedef struct {
    uint64_t hash;
    size_t length;
    Str text;
} Interned;

struct Interner {
    Arena *arena;
    Interned *slots;
    size_t slot_count, count;
};

Interner *interner_new(Arena *arena)
{
    Interner *interner = ARENA_NEW(arena, Interner);
    *interner = (Interner){.arena = arena, .slot_count = 256};
    interner->slots = ARENA_ARRAY(arena, Interned, interner->slot_count);
    return interner;
}

static Interned *interner_slot(Interner *interner, uint64_t hash, const char *text, size_t length)
{
    size_t mask = interner->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        Interned *slot = &interner->slots[i];
        if (!slot->text || (slot->hash == hash && slot->length == length && !memcmp(slot->text, text, length)))
            return slot;
    }
}

static void interner_grow(Interner *interner)
{
    Interned *old = interner->slots;
    size_t old_count = interner->slot_count;
    interner->slot_count *= 2;
    interner->slots = ARENA_ARRAY(interner->arena, Interned, interner->slot_count);
    for (size_t i = 0; i < old_count; i++)
        if (old[i].text)
            *interner_slot(interner, old[i].hash, old[i].text, old[i].length) = old[i];
}

Str intern(Interner *interner, const char *text, size_t length)
{
    if (interner->count * 2 >= interner->slot_count)
        interner_grow(interner);
    uint64_t hash = hash_bytes(text, length);
    Interned *slot = interner_slot(interner, hash, text, length);
    if (!slot->text) {
        *slot = (Interned){hash, length, arena_strndup(interner->arena, text, length)};
        interner->count++;
    }
    return slot->text;
}
