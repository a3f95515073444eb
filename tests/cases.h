/* The cases below tests/cases, for the test programs that take all of them. tests/run says what a case is and how files are named. To be used in the
   root of the repository. */
#ifndef TIRC_TESTS_CASES_H
#define TIRC_TESTS_CASES_H

#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "support/arena.h"

/* The files of the cases that end with ENDING, "tir" or "sched", sorted within each depth; globfree releases them. There are none outside of the
   root of the repository. */
static inline glob_t case_files(const char *ending)
{
    glob_t found = {0};
    Arena *arena = arena_new();
    glob(arena_printf(arena, "tests/cases/*/*.%s", ending), 0, NULL, &found);
    glob(arena_printf(arena, "tests/cases/*/*/*.%s", ending), GLOB_APPEND, NULL, &found);
    arena_free(arena);
    return found;
}

/* The program of the script at PATH, FOLDER/PROGRAM.WHAT.sched or FOLDER/PROGRAM.sched: PROGRAM.tir in that folder, in its parent, or in
   tests/cases/programs. NULL: there is none. */
static inline const char *case_program(Arena *arena, const char *path)
{
    static const char *const places[] = {"", "../", "../programs/", "../../programs/"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *program = arena_printf(arena, "%.*s%s%.*s.tir", (int)(name - path), path, places[i], (int)strcspn(name, "."), name);
        if (!access(program, R_OK))
            return program;
    }
    return NULL;
}
#endif
