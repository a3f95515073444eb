/* Reading inputs, and writing outputs so that a failure leaves nothing behind (outputs.c). */
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

/* True when both names are of one file that is there. */
bool file_same(const char *a, const char *b);

/* An output that is written aside and put in its place. */
typedef struct {
    const char *path;      /* as the command line says; "-": standard output */
    const char *target;    /* where PATH leads through symbolic links */
    const char *temporary; /* the file beside TARGET that holds the data so far, or NULL */
    const char *data;
    size_t length;
} OutputFile;

/* The output PATH with nothing written yet. False with the reason where its symbolic links lead nowhere. */
bool output_open(Arena *arena, const char *path, const char *data, size_t length, OutputFile *file, const char **reason);
/* True when the two outputs would be one file, also one that is not there yet. */
bool output_same(const OutputFile *a, const OutputFile *b);
/* Writes COUNT outputs: all files aside, then what goes to a stream (standard output, a pipe, a device), then each file is put in its
   place. False with the output that failed and the reason, and nothing is left beside it. Signals wait meanwhile. */
bool outputs_write(Arena *arena, OutputFile *files, int count, const OutputFile **failed, const char **reason);

#endif
