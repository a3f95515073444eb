/* Bump allocator: everything that lives as long as a program or a copy of one is taken from an arena and released at once. */
#ifndef TIRC_SUPPORT_ARENA_H
#define TIRC_SUPPORT_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct Arena Arena;

/* A new, empty arena; the caller releases it with arena_free. Memory exhaustion ends the process with a message (exit 70), so no function
   here returns NULL. */
Arena *arena_new(void);
void arena_free(Arena *arena);
/* Releases what was taken from the arena, and keeps some of the memory for what will be. */
void arena_reset(Arena *arena);

/* SIZE zeroed bytes, aligned for any type. A size of 0 gives a valid pointer. */
void *arena_alloc(Arena *arena, size_t size);
/* Copies SIZE bytes of DATA. */
void *arena_copy(Arena *arena, const void *data, size_t size);
/* GROWN bytes that begin with the SIZE bytes of DATA; what follows has any value. */
void *arena_grow(Arena *arena, const void *data, size_t size, size_t grown);
/* A NUL-terminated copy of the first LENGTH bytes of TEXT. */
char *arena_strndup(Arena *arena, const char *text, size_t length);
/* printf into arena memory. */
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list args);
/* Bytes handed out so far. */
size_t arena_used(const Arena *arena);

/* One zeroed T, or COUNT of them. */
#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, count) ((T *)arena_alloc((arena), sizeof(T) * (size_t)(count)))

#endif
