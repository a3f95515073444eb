/* Reading inputs and writing outputs so that a failure leaves nothing behind. */
#ifndef TIRC_DRIVER_FILES_H
#define TIRC_DRIVER_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "support/arena.h"

typedef struct {
    const char *text; /* NUL-terminated */
    size_t length;
} FileText;

/* Reads PATH ("-": standard input) whole. False with the reason in words when that fails or the file has more than 1 GiB. */
bool file_read(Arena *arena, const char *path, FileText *result, const char **reason);

/* True when both names are of one file. */
bool file_same(const char *a, const char *b);

/* A file that is written aside and put in its place only by output_commit. */
typedef struct {
    const char *path, *temporary; /* temporary: NULL for standard output */
    const char *data;
    size_t length;
} OutputFile;
/* Writes DATA beside PATH ("-": nothing yet). A device or a pipe is written at commit. False with the reason. */
bool output_prepare(Arena *arena, const char *path, const char *data, size_t length, OutputFile *file, const char **reason);
/* Puts the file in its place, or writes to standard output. */
bool output_commit(OutputFile *file, const char **reason);
/* Removes what output_prepare wrote. */
void output_discard(OutputFile *file);

#endif
