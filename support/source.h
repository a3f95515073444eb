/* Source texts and places in them. */
#ifndef TIRC_SUPPORT_SOURCE_H
#define TIRC_SUPPORT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arena.h"

/* A half-open byte range [begin, end) of source FILE (numbered from 1 in the order of loading). file 0 means "no place". */
typedef struct {
    uint32_t file, begin, end;
} Span;

static inline Span span_none(void)
{
    return (Span){0, 0, 0};
}
/* From the start of FIRST to the end of LAST, which lie in one file; the other one where one is no place. */
static inline Span span_join(Span first, Span last)
{
    if (!first.file)
        return last;
    if (!last.file)
        return first;
    return (Span){first.file, first.begin, last.end};
}

typedef struct {
    const char *name; /* as the user wrote it; "<stdin>" for standard input */
    const char *text; /* NUL-terminated; may hold further NUL bytes */
    uint32_t length;
    uint32_t *line_starts; /* byte offset of each line */
    int line_count;
} SourceFile;

/* A place as a person counts: line and column start at 1, the column counts bytes. */
typedef struct {
    const SourceFile *file;
    int line, column;
    const char *line_text; /* not NUL-terminated */
    int line_length;
} Place;

typedef struct SourceMap SourceMap;
SourceMap *source_map_new(Arena *arena);
/* Adds TEXT (copied) under NAME; the number of the file. */
uint32_t source_add(SourceMap *map, const char *name, const char *text, size_t length);
const SourceFile *source_file(const SourceMap *map, uint32_t file);
/* PATH as the text at SPAN means it: a relative one starts at the folder of that text's file. */
const char *source_path(const SourceMap *map, Arena *arena, Span span, const char *path);
/* The place of SPAN's begin; false when it has none. */
bool source_place(const SourceMap *map, Span span, Place *place);

#endif
