/* Running functions of a program in this process: shared by --interpret, --check and --time. */
#ifndef TIRC_DRIVER_RUN_H
#define TIRC_DRIVER_RUN_H

#include "driver/driver.h"
#include "driver/jit.h"
#include "script/script.h"

/* FUNC is to be run: the one that --func names, else all of the module. */
bool run_is_wanted(const Driver *driver, const Func *func);
/* MODULE holds a function to run. False after a diagnostic. */
bool run_check_wanted(Driver *driver, const Module *module);
/* The arguments that --in and --dim give, others by --seed; NULL after a diagnostic. Release with argdata_free. */
ArgData *run_new_arguments(Driver *driver, const Func *func);
/* MODULE with those functions alone that can be compiled, and that FUNC calls or is; NULL: those of all that are wanted. */
const Module *run_compiled_part(Driver *driver, const Module *module, const Func *func);
/* A process image with MODULE compiled; NULL after diagnostics. Release with jit_close. */
Jit *run_compile(Driver *driver, const Module *module);
/* Calls the compiled function NAME; false after a diagnostic with its message. */
bool run_call(Driver *driver, JitFunction function, const char *name, const ArgData *data);

/* Runs FUNC of MODULE in the interpreter; false after a diagnostic. */
bool run_interpret(Driver *driver, const Module *module, const Func *func, const ArgData *data);
/* Runs FUNC of MODULE for the call at SPAN of a script, on ARRAYS, which get its results; false after a diagnostic. */
bool driver_call_function(Driver *driver, const Module *module, const Func *func, const ScriptArray *arrays, Span span);

#endif
