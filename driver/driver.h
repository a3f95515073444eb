/* One run of the compiler: shared by the parts of the driver. */
#ifndef TIRC_DRIVER_DRIVER_H
#define TIRC_DRIVER_DRIVER_H

#include <stdio.h>

#include "codegen/backend.h"
#include "driver/options.h"
#include "driver/tirc.h"
#include "passes/lower/lower.h"
#include "passes/schedule/core/schedule.h"

typedef struct {
    const char *name;
    double seconds;
} PhaseTime;

/* A step of a schedule that changed the program. */
typedef struct {
    const Module *before, *after;
    Span span; /* its script line */
} ScheduleStep;

/* The state of a tirc_context. */
typedef struct tirc_context {
    Context *ctx;
    Arena *options_arena; /* of what the options point to: they outlive tirc_context_release */
    Options options;
    FILE *out, *err;
    VEC(const tirc_program *) programs; /* all that the context made */
    const tirc_program *program; /* the one that the command line is about */
    VEC(ScheduleStep) steps; /* of all schedules that were run */
    TextList files; /* every file that was read, each once */
    bool will_run; /* the command line has the program interpreted or compiled */
    VEC(PhaseTime) times;
    AxisNames axes; /* with -g: of all functions that were lowered */
    VEC(LoopParts) loop_parts; /* of the functions that were lowered last */
    double last_time;
} Driver;

/* All stages of a command, in order; the exit code. */
int driver_run(Driver *driver);
/* Notes that the file PATH was read. */
void driver_add_file(Driver *driver, const char *path);
/* Runs tirc as from the command line; the exit code (support/bug.h). */
int driver_main(int argc, char **argv, FILE *out, FILE *err);

struct tirc_program {
    const Module *source; /* as read */
    const Module *module; /* as scheduled; SOURCE without a script */
    const Module *lowered; /* NULL: not lowered yet */
};

/* --- stages; false after diagnostics --- */
/* Lowers all functions of MODULE; NULL after diagnostics. REPORT: honour --print-after and --time-report. */
const Module *driver_lower(Driver *driver, const Module *module, bool report);
/* PROGRAM after the passes that --pass names; NULL after diagnostics. */
const tirc_program *driver_transform(Driver *driver, const tirc_program *program);
/* Keeps the last step of SCH. */
void driver_note_step(Driver *driver, const Schedule *sch);
/* Adds to the error that lowering FUNC gave a note at the step since which it does; none where no step did. */
void driver_blame_step(Driver *driver, const Func *func);
/* Generates code of the kinds in the bit set KINDS (1 << EMIT_OBJECT | ...) from LOWERED. */
bool driver_generate(Driver *driver, const Module *lowered, unsigned kinds, CodegenOutput *output);
/* Writes the files that the command line asks for; CODE: what was generated, where it asks for code. */
bool driver_write(Driver *driver, const CodegenOutput *code);
/* What the command line says of code generation. */
CodegenOptions driver_codegen_options(Driver *driver);

/* Reports what is certainly wrong in PROGRAM, whatever its inputs are: claims of its source's axes that are false, accesses of the source or
   of the scheduled program that are out of bounds or undeclared. Errors where the program is to run (WILL_RUN), else warnings. False after an
   error. */
bool driver_check_claims(Driver *driver, const tirc_program *program, bool will_run);

/* Faults of FUNC: calls of functions of MODULE that certainly write more than the block around them declares. Errors where it WILL_RUN. */
void driver_check_callee_regions(Driver *driver, const Module *module, const Func *func, bool will_run);

/* Errors for what the implementations of MODULE's tensor intrinsics certainly do wrong. */
void driver_check_intrins(Driver *driver, const Module *module);

/* What --dim names are sizes of functions of MODULE that would run; false after a diagnostic. */
bool driver_check_sizes(Driver *driver, const Module *module);

/* --- what --interpret, --check, --run and --time do; the exit code --- */
int driver_interpret(Driver *driver);
int driver_check(Driver *driver);
int driver_run_function(Driver *driver);
int driver_time(Driver *driver);
/* What --remarks does; the exit code. */
int driver_remarks(Driver *driver);

/* PROGRAM, an argument of the library's FUNCTION, is one that the context made and still holds. False after a diagnostic. What PROGRAM points
   to is not looked at, for it may be gone. */
bool driver_check_program(Driver *driver, const char *function, const tirc_program *program);
/* The function of MODULE called NAME; as NULL: the only one, else main. NULL after a diagnostic. */
const Func *driver_find_function(Driver *driver, const Module *module, const char *name);

/* A process image with the files of --load; NULL after a diagnostic. */
struct Jit *driver_open_jit(Driver *driver);

/* --- the step view --- */
typedef struct {
    Driver *driver;
    const char *before; /* the program before the step, printed; NULL: no step is to be shown */
} StepView;
/* For ScriptOptions.after_step: keeps the step, and shows it where that is asked for; DATA is a StepView. */
void step_view_after(void *data, const Schedule *sch, Span call);

/* "# FILE:LINE: " and the lines of the script from the one on which CALL begins to the one on which it ends. */
void step_print_heading(Driver *driver, Span call, bool color);

/* --- --explain --- */
/* For ScriptOptions.after_call: prints what the step at CALL asked; DATA is a StepView. */
void explain_view_after(void *data, Span call, bool ok);
/* Prints what was asked since the last step, or since the last call, under the heading WHAT. */
void explain_print_rest(Driver *driver, const char *what);

/* STREAM is a terminal, of which neither NO_COLOR nor TERM=dumb in the environment says that it wants none. */
bool driver_uses_color(FILE *stream);

/* Says on standard error what is done, where -v asks for it. */
void driver_say(const Driver *driver, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes options that were set hold for the context. */
void driver_use_options(Driver *driver);
/* Adds SECONDS to what --time-report says of NAME. */
void driver_add_time(Driver *driver, const char *name, double seconds);
/* Notes that the time since the last note went into NAME. */
void driver_note_time(Driver *driver, const char *name);
/* An error that has no place in a text. Always false. */
/* PATH, as -s names it, is a directory: a database of tuning records. */
bool driver_is_database(const char *path);
/* The script of the database DIRECTORY for PROGRAM. False after a diagnostic. */
bool driver_database_script(Driver *driver, const tirc_program *program, const char *directory, tirc_text *text);
bool driver_error(Driver *driver, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
