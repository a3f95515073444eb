/* A hash table from tuples of integers to entries numbered from 0, each with a zeroed payload. */
#include <stdlib.h>
#include <string.h>

#include "interp/interp_internal.h"

static int32_t *table_slot(const TupleTable *table, const int64_t *key)
{
    size_t size = sizeof *key * (size_t)table->width, mask = (size_t)table->slot_count - 1;
    uint64_t hash = 0;
    for (int i = 0; i < table->width; i++)
        hash = hash_mix(hash, (uint64_t)key[i]);
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        int32_t *slot = &table->slots[i];
        if (!*slot || !memcmp(table->keys + (size_t)(*slot - 1) * (size_t)table->width, key, size))
            return slot;
    }
}

static void table_grow(TupleTable *table)
{
    table->slot_count = table->slot_count ? table->slot_count * 2 : 64;
    table->capacity = table->slot_count / 2;
    table->keys = xrealloc(table->keys, sizeof *table->keys * (size_t)table->width * (size_t)table->capacity + 1);
    table->payloads = xrealloc(table->payloads, (size_t)table->payload_size * (size_t)table->capacity);
    free(table->slots);
    table->slots = xmalloc(sizeof *table->slots * (size_t)table->slot_count);
    memset(table->slots, 0, sizeof *table->slots * (size_t)table->slot_count);
    for (int i = 0; i < table->count; i++)
        *table_slot(table, table->keys + (size_t)i * (size_t)table->width) = i + 1;
}

int tuple_table_find(TupleTable *table, const int64_t *key, bool *added)
{
    if (table->count >= table->capacity)
        table_grow(table);
    int32_t *slot = table_slot(table, key);
    *added = !*slot;
    if (*added) {
        memcpy(table->keys + (size_t)table->count * (size_t)table->width, key, sizeof *key * (size_t)table->width);
        memset(table->payloads + (size_t)table->count * (size_t)table->payload_size, 0, (size_t)table->payload_size);
        *slot = ++table->count;
    }
    return *slot - 1;
}

void *tuple_table_payload(TupleTable *table, int entry)
{
    return table->payloads + (size_t)entry * (size_t)table->payload_size;
}

void tuple_table_free(TupleTable *table)
{
    free(table->keys);
    free(table->payloads);
    free(table->slots);
}
