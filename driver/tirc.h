/* libtirc: the tirc compiler as a library, for C and C++. The tirc command is a client of this interface.

     tirc_context *tirc = tirc_context_new();
     tirc_text program_text = {.name = "relu.tir"}, script = {.name = "relu.sched"};
     const tirc_program *program = tirc_read(tirc, &program_text, 1);
     program = program ? tirc_schedule(tirc, program, &script, 1) : NULL;
     size_t length;
     const char *object = program ? tirc_emit(tirc, program, "obj", &length) : NULL;
     if (object)
         fwrite(object, 1, length, file);
     fputs(tirc_diagnostics(tirc), stderr);
     tirc_context_free(tirc);

   What compiled objects need to run is another library with a header of its own: tirc_rt.h.

   Ownership: everything that a function returns belongs to the context and lives until tirc_context_release or tirc_context_free. Texts
   and names that are passed in are copied. Errors: a function that fails returns NULL or -1 and leaves diagnostics, which
   tirc_diagnostics hands over. As long as errors wait there, other functions may fail because of them. An argument that is NULL where
   something is needed, an empty list, and a program that is not of this context or was released are such errors too; with the context
   NULL there is no place for a diagnostic, and the function just fails. Nothing is written to standard error but what options ask for
   ("-v", "--time-report", "--print-after"). A mistake of the library itself, and memory that runs out, say so there and end the process
   with exit code 70. Threads: contexts are independent of one another. A context is for one thread at a time; the first tirc_emit of a
   process must have returned before other threads begin theirs. */
#ifndef TIRC_H
#define TIRC_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default) /* the library exports what is declared here and nothing else */
#endif

#define TIRC_VERSION "0.1.0"

/* What one or several compilations share: texts, programs, options, diagnostics. */
typedef struct tirc_context tirc_context;
/* A program: functions in TensorIR, scheduled or not. It never changes. */
typedef struct tirc_program tirc_program;

/* A text to read: LENGTH bytes at TEXT (at most 1 GiB), called NAME in diagnostics; or, where TEXT is NULL, the file NAME ("-": standard
   input). */
typedef struct {
    const char *name, *text;
    size_t length;
} tirc_text;

tirc_context *tirc_context_new(void);
/* Releases all that CONTEXT made: programs, results of tirc_emit, diagnostics, names of files. Its options and its output stay, and it is
   ready for the next program. */
void tirc_context_release(tirc_context *context);
void tirc_context_free(tirc_context *context);

/* Sets options, spelled as words of the command line: "-O3", "--mcpu=generic", "--no-heap", "-D", "tile=16", "-Werror". Options add to
   those set before. Those that name files (-o, -s, -H, -MD) or say what the command shall do (--show, --check) have no effect here, and
   inputs are refused. 0, or -1 after diagnostics; then no option has changed. */
int tirc_set_options(tirc_context *context, const char *const *words, int count);
/* Where show() and print() of schedule scripts write; the default, and NULL, is standard output. */
void tirc_set_output(tirc_context *context, FILE *output);

/* The program that COUNT texts of TensorIR form together, or NULL. */
const tirc_program *tirc_read(tirc_context *context, const tirc_text *texts, int count);
/* PROGRAM transformed by COUNT schedule scripts, which run one after the other as one script; NULL where one fails. A lowered program is
   scheduled as the program that it was lowered from. */
const tirc_program *tirc_schedule(tirc_context *context, const tirc_program *program, const tirc_text *scripts, int count);
/* Asks PROGRAM for what is certainly wrong in it, whatever its inputs are: claims of axes that do not hold, accesses out of bounds. 0, or -1 after
   diagnostics. */
int tirc_check(tirc_context *context, const tirc_program *program);
/* PROGRAM checked, and lowered by all passes: the program that code is generated from. NULL after diagnostics. tirc_emit does this by itself
   for a program that is not lowered; as "tir" a lowered program is printed as it is, and its header is that of PROGRAM. */
const tirc_program *tirc_lower(tirc_context *context, const tirc_program *program);
/* PROGRAM as KIND, which is one of the names that --emit knows: "obj", "asm", "llvm-ir" or "bc" for machine code, "tir" for the program as
   TVMScript, "header" for the C header of its object. The result has *LENGTH bytes (LENGTH may be NULL) and a NUL byte behind them; NULL
   and 0 on failure. */
const char *tirc_emit(tirc_context *context, const tirc_program *program, const char *kind, size_t *length);

/* A function of a program, compiled into this process. */
typedef struct tirc_jit tirc_jit;

/* Compiles the function FUNC of PROGRAM, and what it calls, for this machine; NULL as FUNC: the only function, else main. Options of the
   context hold: "--load=FILE" brings external functions. NULL on failure. The result is the caller's, to be freed with tirc_jit_free; it
   outlives CONTEXT. */
tirc_jit *tirc_jit_compile(tirc_context *context, const tirc_program *program, const char *func);
/* The compiled function: a pointer to be cast to the type that the C header of PROGRAM declares, valid until tirc_jit_free. It may be called
   by several threads at once. */
void *tirc_jit_function(tirc_jit *jit);
/* What the last function of a tirc_jit that returned another code than 0 on this thread complained of; "" where none did. */
const char *tirc_jit_error(void);
void tirc_jit_free(tirc_jit *jit);

/* The diagnostics since the last call, as the command prints them, with notes and lines of source; "" where there are none. Forgets
   them. */
const char *tirc_diagnostics(tirc_context *context);
/* The INDEX-th of the files that were read so far, in the order of reading, those that schedules import included; NULL behind the last
   one. */
const char *tirc_file(const tirc_context *context, int index);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
