/* Random differential testing: random programs, random schedules, and everything that must hold of each step. */
#ifndef TIRC_TESTS_FUZZ_H
#define TIRC_TESTS_FUZZ_H

#include "interp/argdata.h"
#include "interp/interp.h"
#include "passes/schedule/core/schedule.h"
#include "support/strbuf.h"

typedef struct {
    uint64_t state;
} Random;
uint64_t random_next(Random *random);
/* From 0 to COUNT - 1. */
int random_below(Random *random, int count);
bool random_chance(Random *random, int percent);

/* The text of a random program, in ARENA; its first function is the one to schedule. */
const char *random_program(Random *random, Arena *arena);
/* One step of a script for MODULE, of one or more lines, in ctx->arena, and the name of the primitive that it is about. It schedules
   function number FUNC. */
const char *random_step(Random *random, Context *ctx, const Module *module, int func, const char **primitive);

/* The function of C called NAME, where programs may call it; see InterpExtern. */
bool call_of_c(void *data, const char *name, const InterpValue *args, int count, InterpValue *result);

enum { MOST_STEPS = 24, MOST_SETS = 3 };

/* The bytes of a vector register, and how many there are; 0: not known. */
typedef struct {
    int bytes, count;
} FuzzRegisters;

/* A program on its way through a schedule. */
typedef struct {
    Context *ctx;
    const Module *source, *current;
    int func; /* the scheduled one of their functions */
    int set_count; /* sizes that the program is run at: one where they are constant */
    ArgData *inputs[MOST_SETS], *expected[MOST_SETS]; /* expected: after the unscheduled program ran */
    int returned[MOST_SETS];
    int64_t length;      /* how many float values go into a result */
    bool may_tie, ties; /* may_tie: an extreme is looked for among whole numbers; ties: a step warned that it may choose another of equal ones */
    bool reduces_floats, reordered; /* reordered: an accepted step may have changed the order of a float reduction */
    bool had_faults;     /* before any step */
    bool copies;         /* an accepted step may have made blocks that copy into scratch */
    bool truncates_floats; /* to integers, which has no bound: a sum that rounds to another float may become another integer */
    int opt_level;       /* that the result is compiled at: by the seed, low ones more often since they take less time */
    FuzzRegisters registers; /* of the target, by the seed too: few, so that tiles are cut in parts */
    const char *failure; /* what is wrong, or NULL */
    int failed_set;      /* at which sizes */
} Trial;
/* Parses PROGRAM and runs it unscheduled at sizes and on data chosen by SEED. False when that fails. Ends with trial_end, also then. */
bool trial_begin(Trial *trial, const char *program, uint64_t seed);
/* False where the unscheduled program is refused when it is compiled; threads are in any case, and are let pass. */
bool trial_can_compile(Trial *trial);
/* Runs a step and checks what comes of it; *ACCEPTED tells whether it was accepted. False when something is wrong. */
bool trial_step(Trial *trial, const char *step, bool *accepted);
/* Runs a random sequence of the passes of transforms.def, the one of the trial's SEED, on what the steps made. After each, which may refuse with a
   message, the program must print as text that reads back, and compute the same. The program of the trial stays. False when something is
   wrong. */
bool trial_passes(Trial *trial, uint64_t seed);
/* The interpreter runs MODULE, made of the program of the trial by WHAT, to the same results. False, with a failure, otherwise. */
bool trial_interpreted(Trial *trial, const Module *module, const char *what);
/* Compiles what the steps made and compares its results; a program with threads must be refused. False when something is wrong. */
bool trial_compile(Trial *trial);
void trial_end(Trial *trial);

/* A program with the steps that make it fail. */
typedef struct {
    const char *program;
    const char *steps[MOST_STEPS];
    int step_count;
    uint64_t seed;
    const char *why; /* what is wrong with it */
    int set;         /* at which sizes of a trial */
} Finding;
/* Drops steps and statements and makes numbers smaller, as long as the same thing is wrong; sets why and set. Every run is a process of its
   own, so that crashes and hangs are found too. All in ARENA. */
void finding_shrink(Arena *arena, Finding *finding);
/* Writes FOLDER/fuzz-SEED.tir, .sched, .args and .out: a case that fails until the cause is repaired. False when a file cannot be
   written. */
bool finding_write(const Finding *finding, const char *folder);

#endif
