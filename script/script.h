/* Runs schedule scripts: the Python schedule API, so that a notebook cell pastes in unchanged. */
#ifndef TIRC_SCRIPT_SCRIPT_H
#define TIRC_SCRIPT_SCRIPT_H

#include <stdio.h>

#include "parser/ast.h"
#include "passes/schedule/core/schedule.h"

/* An array that a function of a script is called on: compact elements in the host's byte order. */
typedef struct {
    DType dtype;
    int ndim;
    const int64_t *shape;
    char *data;
} ScriptArray;

typedef struct {
    FILE *out;                       /* where show() and print() write */
    const char *const *definitions;  /* NAME=VALUE pairs that preset variables */
    int definition_count;
    const char **trace; /* NULL, or where the text of the trace of the last schedule goes */
    int64_t seed; /* of the generator that samples, as it is where a script sets none; 0: 1 */
    bool will_run; /* the program is interpreted or compiled after the schedule: what only is a fault then is an error */
    const char *clang; /* the command that compiles C; NULL: the usual ones */
    void (*read_file)(void *data, const char *path); /* called for each file that the script reads; may be NULL */
    /* Called after each primitive that changed the program, with the line of the script that did it; may be NULL. */
    void (*after_step)(void *data, const Schedule *sch, Span call);
    /* Called after each primitive that may change the program, also one that was refused (OK false); may be NULL. */
    void (*after_call)(void *data, Span call, bool ok);
    /* Compiles FUNC of MODULE and calls it on an array for each parameter (without dimensions for scalars), which get its results; false after a
       diagnostic. May be NULL. */
    bool (*call_function)(void *data, const Module *module, const Func *func, const ScriptArray *arrays, Span span);
    void *data;
} ScriptOptions;

/* Runs the parsed script FILE on MODULE. The scheduled module, or NULL after errors (diagnosed with the script's line); *SOURCE is the
   unscheduled one: MODULE, unless the script makes a schedule of a program of its own. The schedule starts at the function `main`, else the
   only one; a program with several others must choose with work_on or func_name. */
const Module *script_run(Context *ctx, const AstNode *file, const Module *module, const ScriptOptions *options, const Module **source);

/* MODULE with the operations that scripts registered replaced by what their rules for the CPU give; NULL after a diagnostic. */
const Module *script_lower_intrinsics(Context *ctx, const Module *module);
/* The parsed texts FILES hold statements that are run, as of tensor expressions: they are no program as they stand. */
bool script_is_program(Context *ctx, const AstNode *const *files, int count);
/* Runs them. The program of the functions, or the module, that their variables hold at the end; NULL after errors. */
const Module *script_run_program(Context *ctx, const AstNode *const *files, int count, const ScriptOptions *options);

#endif
