/* The command line. */
#ifndef TIRC_DRIVER_OPTIONS_H
#define TIRC_DRIVER_OPTIONS_H

#include <stdio.h>

#include "support/context.h"

enum { AUTOMATIC_RUNS = -1 };

typedef VEC(const char *) TextList;
typedef enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorMode;
typedef enum { REMARKS_NONE, REMARKS_TEXT, REMARKS_JSON } RemarksMode;
typedef enum { EXPLAIN_NONE, EXPLAIN_TEXT, EXPLAIN_JSON } ExplainMode;
typedef enum { SHOW_NONE, SHOW_RESULT, SHOW_STEPS, SHOW_DIFF } ShowMode;
enum { EMIT_BIT_OBJECT = 1, EMIT_BIT_ASSEMBLY = 2, EMIT_BIT_LLVM_IR = 4, EMIT_BIT_BITCODE = 8, EMIT_BIT_TIR = 16, EMIT_BIT_HEADER = 32,
       EMIT_BITS_COMPILED = EMIT_BIT_OBJECT | EMIT_BIT_ASSEMBLY | EMIT_BIT_LLVM_IR | EMIT_BIT_BITCODE };

typedef struct {
    TextList inputs, schedules;
    const char *output, *header, *target, *clang, *cpu, *features, *depfile_name, *depfile_target, *start_after, *func;
    TextList unknown_warnings; /* what -W could not make sense of, as messages */
    TextList option_files; /* the files of @FILE words, each once */
    TextList prefix_maps; /* OLD=NEW */
    TextList definitions, passes, print_after, load, externs, dims, data_in, data_out, data_expect, data_print;
    int opt_level;
    unsigned emit; /* EMIT_BIT_* as asked for; 0: not said */
    ShowMode show;
    RemarksMode remarks;
    ExplainMode explain;
    uint64_t arguments_off; /* rows of the portfolio that no question may use */
    long seed, max_steps, error_limit;
    long time; /* how often --time runs a function; 0: not at all; AUTOMATIC_RUNS: for a while */
    WarningSettings warnings;
    ColorMode color;
    bool debug_info, depfile, depfile_phony, syntax_only, json, verbose, time_report, verify_each, run, random_inputs, interpret, check;
    bool fp_contract, fast_math, no_heap, bounds_check, new_spellings, pic, unwind_tables, version;
    const char *help; /* NULL: not asked for; "": the options; "schedule", "schedule=NAME" */
} Options;

Options options_default(void);
/* Reads WORDS of the command line into OPTIONS, beside what was set before; @file arguments are replaced by the words of the file. What
   OPTIONS then points to is in ARENA or part of WORDS. False after a diagnostic. */
bool options_parse(Context *ctx, Arena *arena, const char *const *words, int count, Options *options);
/* Whether a whole command line makes sense. False after a diagnostic. */
bool options_consistent(Context *ctx, const Options *options);
/* The command line asks to see or run the program, so that no object is written unless it says so too. */
bool options_view(const Options *options);
/* The EMIT_BIT_* of all that is to be emitted. */
unsigned options_emitted(const Options *options);
/* Sets the EMIT_BIT_* of KIND, a name that --emit knows, in EMIT. False after a diagnostic. */
bool options_emit_kind(Context *ctx, const char *kind, unsigned *emit);
/* The text of --help. */
void options_help(FILE *out);

#endif
