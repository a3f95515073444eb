/* One run of the compiler: shared by the parts of the driver. */
#ifndef TIRC_DRIVER_DRIVER_H
#define TIRC_DRIVER_DRIVER_H

#include <stdio.h>

#include "codegen/backend.h"
#include "driver/options.h"
#include "passes/schedule/schedule.h"

typedef struct {
    const char *name;
    double seconds;
} PhaseTime;

typedef struct {
    Context *ctx;
    const Options *options;
    FILE *out, *err;
    const Module *source;    /* as parsed */
    const Module *scheduled; /* after the script; SOURCE without one */
    const Module *lowered;
    TextList prerequisites; /* every file that was read, for -MD */
    VEC(PhaseTime) times;
    double last_time;
} Driver;

/* Runs tirc as from the command line; the exit code (support/bug.h). */
int driver_main(int argc, char **argv, FILE *out, FILE *err);

/* --- stages; false after diagnostics --- */
bool driver_parse(Driver *driver);
bool driver_schedule(Driver *driver);
/* Lowers all functions of MODULE; NULL after diagnostics. REPORT: honour --print-after and --time-report. */
const Module *driver_lower(Driver *driver, const Module *module, bool report);
bool driver_emit(Driver *driver);
/* What the command line says of code generation. */
CodegenOptions driver_codegen_options(Driver *driver);

/* Reports claims of MODULE's axes that are certainly false: errors where the program is to be compiled (COMPILES), else warnings. False after an error. */
bool driver_check_claims(Driver *driver, const Module *module, bool compiles);

/* --- what --interpret, --check and --time do; the exit code --- */
int driver_interpret(Driver *driver);
int driver_check(Driver *driver);
int driver_time(Driver *driver);

/* --- the step view --- */
typedef struct {
    Driver *driver;
    const char *before; /* the program before the step, printed */
} StepView;
/* For ScriptOptions.after_step; DATA is a StepView. */
void step_view_after(void *data, const Schedule *sch, Span call);

/* Notes that the time since the last note went into NAME. */
void driver_note_time(Driver *driver, const char *name);
/* An error that has no place in a text. Always false. */
bool driver_error(Driver *driver, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
