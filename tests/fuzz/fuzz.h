/* Random differential testing: random programs, random schedules, and everything that must hold of each step. */
#ifndef TIRC_TESTS_FUZZ_H
#define TIRC_TESTS_FUZZ_H

#include "passes/schedule/schedule.h"
#include "support/strbuf.h"

typedef struct {
    uint64_t state;
} Random;
uint64_t random_next(Random *random);
/* From 0 to COUNT - 1. */
int random_below(Random *random, int count);
bool random_chance(Random *random, int percent);

/* The text of a random program, in ARENA. */
const char *random_program(Random *random, Arena *arena);
/* One line of a script for MODULE, in ctx->arena, and the name of the primitive that it calls. */
const char *random_step(Random *random, Context *ctx, const Module *module, const char **primitive);

#endif
