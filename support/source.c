/* Source texts and line tables; see source.h. */
#include "support/source.h"

#include <string.h>

#include "support/vec.h"

struct SourceMap {
    Arena *arena;
    VEC(SourceFile) files;
};

SourceMap *source_map_new(Arena *arena)
{
    SourceMap *map = ARENA_NEW(arena, SourceMap);
    map->arena = arena;
    return map;
}

uint32_t source_add(SourceMap *map, const char *name, const char *text, size_t length)
{
    SourceFile file = {
        .name = arena_strndup(map->arena, name, strlen(name)),
        .text = arena_strndup(map->arena, text, length),
        .length = (uint32_t)length,
    };
    VEC(uint32_t) starts = {0};
    vec_push(map->arena, &starts, 0);
    for (uint32_t i = 0; i < file.length; i++)
        if (file.text[i] == '\n')
            vec_push(map->arena, &starts, i + 1);
    file.line_starts = starts.data;
    file.line_count = starts.count;
    vec_push(map->arena, &map->files, file);
    return (uint32_t)map->files.count;
}

const SourceFile *source_file(const SourceMap *map, uint32_t file)
{
    return file >= 1 && file <= (uint32_t)map->files.count ? &map->files.data[file - 1] : NULL;
}

/* The index of the last line that starts at or before OFFSET. */
static int line_at(const SourceFile *file, uint32_t offset)
{
    int low = 0, high = file->line_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (file->line_starts[middle] <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

bool source_place(const SourceMap *map, Span span, Place *place)
{
    const SourceFile *file = source_file(map, span.file);
    if (!file)
        return false;
    int line = line_at(file, span.begin);
    uint32_t start = file->line_starts[line];
    uint32_t end = line + 1 < file->line_count ? file->line_starts[line + 1] - 1 : file->length;
    if (end > start && file->text[end - 1] == '\r')
        end--;
    *place = (Place){file, line + 1, (int)(span.begin - start) + 1, file->text + start, (int)(end - start)};
    return true;
}

const char *source_path(const SourceMap *map, Arena *arena, Span span, const char *path)
{
    const SourceFile *file = source_file(map, span.file);
    const char *slash = file ? strrchr(file->name, '/') : NULL;
    return *path == '/' || !slash ? path : arena_printf(arena, "%.*s/%s", (int)(slash - file->name), file->name, path);
}
