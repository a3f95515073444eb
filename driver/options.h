/* The command line. */
#ifndef TIRC_DRIVER_OPTIONS_H
#define TIRC_DRIVER_OPTIONS_H

#include <stdio.h>

#include "support/context.h"

#define TIRC_VERSION "0.1.0"

typedef VEC(const char *) TextList;
typedef enum { SHOW_NONE, SHOW_RESULT, SHOW_STEPS, SHOW_DIFF } ShowMode;
enum { EMIT_BIT_OBJECT = 1, EMIT_BIT_ASSEMBLY = 2, EMIT_BIT_LLVM_IR = 4, EMIT_BIT_BITCODE = 8, EMIT_BIT_TIR = 16, EMIT_BIT_HEADER = 32 };

typedef struct {
    TextList inputs;
    const char *output, *schedule, *header, *target, *cpu, *features, *depfile_name, *depfile_target, *start_after, *func;
    TextList definitions, print_after, load, externs, dims;
    int opt_level;
    unsigned emit; /* EMIT_BIT_* as asked for; 0: not said */
    ShowMode show;
    long seed;
    bool debug_info, depfile, depfile_phony, warnings_are_errors, no_warnings, verbose, time_report, interpret, check, time, fp_contract, fast_math, no_heap,
        bounds_check, pic, version, help;
} Options;

/* Reads the command line (ARGV[0] is the program); @file arguments are replaced by the words of the file. False after a message on ERR: usage error. */
bool options_parse(Arena *arena, int argc, char **argv, FILE *err, Options *options);
/* The text of --help. */
void options_help(FILE *out);

#endif
