/* Bump allocator over a list of malloc'd chunks that grow with use; see arena.h. */
#include "support/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bug.h"

enum { FIRST_CHUNK = 16 * 1024, LARGEST_CHUNK = 1024 * 1024, ALIGNMENT = 16 };

typedef struct Chunk {
    struct Chunk *next;
    size_t size, used;
    _Alignas(ALIGNMENT) unsigned char data[];
} Chunk;

struct Arena {
    Chunk *current;
    size_t next_size, total;
};

void *xmalloc(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory) {
        fputs("tirc: error: out of memory\n", stderr);
        exit(EXIT_INTERNAL);
    }
    return memory;
}

void *xrealloc(void *memory, size_t size)
{
    memory = realloc(memory, size ? size : 1);
    if (!memory) {
        fputs("tirc: error: out of memory\n", stderr);
        exit(EXIT_INTERNAL);
    }
    return memory;
}

Arena *arena_new(void)
{
    Arena *arena = xmalloc(sizeof *arena);
    *arena = (Arena){.next_size = FIRST_CHUNK};
    return arena;
}

static void free_chunks(Chunk *chunk)
{
    while (chunk) {
        Chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void arena_free(Arena *arena)
{
    if (!arena)
        return;
    free_chunks(arena->current);
    free(arena);
}

/* The last chunk is mostly the largest one. */
void arena_reset(Arena *arena)
{
    Chunk *kept = arena->current;
    if (!kept)
        return;
    free_chunks(kept->next);
    kept->next = NULL;
    kept->used = 0;
}

static void add_chunk(Arena *arena, size_t needed)
{
    size_t size = arena->next_size;
    if (size < needed)
        size = needed;
    else if (arena->next_size < LARGEST_CHUNK)
        arena->next_size *= 2;
    Chunk *chunk = xmalloc(sizeof *chunk + size);
    chunk->size = size;
    chunk->used = 0;
    chunk->next = arena->current;
    arena->current = chunk;
}

static size_t round_up(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* SIZE bytes that hold anything. */
static void *take(Arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        BUG("arena_alloc of %zu bytes", size);
    size_t rounded = round_up(size);
    if (!arena->current || arena->current->size - arena->current->used < rounded)
        add_chunk(arena, rounded);
    void *result = arena->current->data + arena->current->used;
    arena->current->used += rounded;
    arena->total += rounded;
    return result;
}

void *arena_alloc(Arena *arena, size_t size)
{
    return memset(take(arena, size), 0, round_up(size));
}

void *arena_copy(Arena *arena, const void *data, size_t size)
{
    return arena_grow(arena, data, size, size);
}

void *arena_grow(Arena *arena, const void *data, size_t size, size_t grown)
{
    void *copy = take(arena, grown);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

char *arena_strndup(Arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_vprintf(Arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0)
        BUG("bad format %s", format);
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(Arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

size_t arena_used(const Arena *arena)
{
    return arena->total;
}
