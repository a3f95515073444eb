/* --interpret and --check: running programs on random inputs, in the reference interpreter and compiled in this process. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver/callees.h"
#include "driver/data.h"
#include "driver/externs.h"
#include "driver/run.h"
#include "interp/argdata.h"
#include "ir/scalable.h"
#include "support/bug.h"
#include "runtime/tirc_rt.h"

/* Nobody calls a private function but others of the module, which run it; alone it runs where it is named, or where there are no others. */
bool run_is_wanted(const Driver *driver, const Func *func)
{
    if (driver->options.func)
        return !strcmp(driver->options.func, func->name);
    const Module *module = driver->program->module;
    bool has_public = false;
    for (int i = 0; i < module->func_count; i++)
        has_public |= !module->funcs[i]->is_private;
    return !func->is_private || !has_public;
}

bool run_check_wanted(Driver *driver, const Module *module)
{
    if (!driver->options.func)
        return module->func_count > 0 || driver_error(driver, "the program holds no function to run");
    return driver_find_function(driver, module, driver->options.func) != NULL;
}

const Func *driver_find_function(Driver *driver, const Module *module, const char *name)
{
    const Func *found = name ? module_find(module, name) : module->func_count == 1 ? module->funcs[0] : module_find(module, "main");
    if (found)
        return found;
    if (!module->func_count) {
        driver_error(driver, "the program holds no function to run");
        return NULL;
    }
    const char **names = ARENA_ARRAY(driver->ctx->arena, const char *, module->func_count);
    for (int i = 0; i < module->func_count; i++)
        names[i] = module->funcs[i]->name;
    const char *near = name ? diag_closest(name, names, module->func_count) : NULL;
    if (name)
        driver_error(driver, "there is no function '%s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    else
        driver_error(driver, "the program has %d functions and none is called main: say which one to run (--func=NAME)", module->func_count);
    return NULL;
}

/* Reads NAME=SIZE of --dim; false after a diagnostic. */
static bool read_size(Driver *driver, const char *text, ArgSize *size)
{
    const char *equals = strchr(text, '=');
    char *end = NULL;
    errno = 0;
    int64_t value = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (!equals || end == equals + 1 || *end || value < 0 || errno)
        return driver_error(driver, "--dim takes NAME=SIZE, not '%s'", text);
    *size = (ArgSize){arena_strndup(driver->ctx->arena, text, (size_t)(equals - text)), value, NULL};
    return true;
}

static bool some_function_has(Driver *driver, const Module *module, const char *name)
{
    for (int i = 0; i < module->func_count; i++)
        if (run_is_wanted(driver, module->funcs[i]) && argdata_has_size(driver->ctx, module->funcs[i], name))
            return true;
    return false;
}

bool driver_check_sizes(Driver *driver, const Module *module)
{
    const TextList *dims = &driver->options.dims;
    for (int i = 0; i < dims->count; i++) {
        ArgSize size;
        if (!read_size(driver, dims->data[i], &size))
            return false;
        for (int j = 0; j < i; j++) {
            ArgSize earlier;
            if (read_size(driver, dims->data[j], &earlier) && !strcmp(earlier.name, size.name) && earlier.value != size.value)
                return driver_error(driver, "--dim gives '%s' two values, %lld and %lld", size.name, (long long)earlier.value,
                                    (long long)size.value);
        }
        if (!some_function_has(driver, module, size.name))
            return driver_error(driver, "--dim=%s: no function has a size, stride, offset or integer parameter '%s'", dims->data[i],
                                size.name);
    }
    return true;
}

ArgData *run_new_arguments(Driver *driver, const Func *func)
{
    const TextList *dims = &driver->options.dims;
    ArgSize *sizes = ARENA_ARRAY(driver->ctx->arena, ArgSize, dims->count);
    int count = 0;
    for (int i = 0; i < dims->count; i++)
        if (read_size(driver, dims->data[i], &sizes[count]) && argdata_has_size(driver->ctx, func, sizes[count].name))
            count++;
    bool complete = driver->options.run && !driver->options.random_inputs;
    ArgOptions options = {.seed = (uint64_t)driver->options.seed, .sizes = sizes, .size_count = count, .complete = complete,
                          .zero_outputs = driver->options.run};
    return data_add_inputs(driver, func, &options) ? argdata_new(driver->ctx, func, &options) : NULL;
}

/* --- progress, on a terminal --- */

typedef struct {
    Driver *driver;
    const Func *func;
    double start, last;
    int shown; /* columns that are written to */
} Progress;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* From the third second on, twice a second. */
static void show_progress(void *data, int64_t steps)
{
    Progress *progress = data;
    double now = seconds(), elapsed = now - progress->start;
    if (elapsed < 2 || now - progress->last < 0.5)
        return;
    progress->last = now;
    int length = fprintf(progress->driver->err, "\rtirc: interpreting '%s': %.1f million steps in %.0f s", progress->func->name,
                         (double)steps * 1e-6, elapsed);
    progress->shown = length > progress->shown ? length : progress->shown;
    fflush(progress->driver->err);
}

/* Runs FUNC of MODULE in the interpreter; false after a diagnostic. *RETURNED: what it returns, 0 where that is nothing. */
static bool interpret(Driver *driver, const Module *module, const Func *func, const ArgData *data, bool checks, int64_t *returned)
{
    Externs *externs;
    if (!scalable_refuse(driver->ctx, module, "interpreted; it can be shown"))
        return false;
    if (!externs_open(driver, module, func, &externs))
        return false;
    Progress progress = {.driver = driver, .func = func, .start = seconds()};
    InterpOptions options = {.checks = checks, .module = module, .step_limit = driver->options.max_steps};
    if (isatty(fileno(driver->err)))
        options.progress = show_progress, options.progress_data = &progress;
    if (externs)
        options.externs = (InterpExtern){externs_call, externs};
    InterpSymbol *symbols = ARENA_ARRAY(driver->ctx->arena, InterpSymbol, data->signature->dim_count);
    for (int i = 0; i < data->signature->dim_count; i++)
        symbols[i] = (InterpSymbol){data->signature->dims[i], data->dims[i]};
    options.symbols = symbols;
    options.symbol_count = data->signature->dim_count;
    InterpResult result;
    bool ok = interp_run(driver->ctx, func, argdata_interp_args(data), &options, &result);
    if (progress.shown)
        fprintf(driver->err, "\r%*s\r", progress.shown, "");
    externs_close(externs);
    *returned = dtype_is_integer(result.returned.dtype) ? result.returned.as.integer : 0;
    if (result.kinds & 1u << INTERP_STEP_LIMIT)
        diag_note(driver->ctx, span_none(), "--max-steps=N allows more; is there a loop without end?");
    return ok;
}

bool run_interpret(Driver *driver, const Module *module, const Func *func, const ArgData *data)
{
    int64_t returned;
    return interpret(driver, module, func, data, true, &returned);
}

/* The values of all parameters in short, where the command line does not say what it wants to know. */
static void print_values(Driver *driver, const Func *func, const ArgData *data)
{
    const Options *options = &driver->options;
    if (options->data_out.count || options->data_expect.count || options->data_print.count)
        return;
    fprintf(driver->out, "%s(seed %ld)\n", func->name, options->seed);
    argdata_print(data, driver->out);
}

int driver_interpret(Driver *driver)
{
    const Module *module = driver->program->module;
    if (!run_check_wanted(driver, module))
        return EXIT_DIAGNOSED;
    bool ok = true;
    for (int i = 0; i < module->func_count; i++) {
        const Func *func = module->funcs[i];
        if (!run_is_wanted(driver, func))
            continue;
        ArgData *data = run_new_arguments(driver, func);
        if (!data)
            return EXIT_DIAGNOSED;
        bool fine = run_interpret(driver, module, func, data);
        if (fine) {
            print_values(driver, func, data);
            fine = data_finish(driver, func, data);
        }
        ok &= fine;
        argdata_free(data);
    }
    return driver_check_claims(driver, driver->program, true) && ok ? EXIT_OK : EXIT_DIAGNOSED;
}

/* --- compiled in this process --- */

static bool uses_threads(const Stmt *stmt)
{
    if (stmt->kind == STMT_FOR && stmt->as.loop.kind == FOR_THREAD)
        return true;
    if (stmt->kind == STMT_SEQ) {
        for (int i = 0; i < stmt->as.seq.count; i++)
            if (uses_threads(stmt->as.seq.items[i]))
                return true;
        return false;
    }
    if (stmt->kind == STMT_IF)
        return uses_threads(stmt->as.branch.then_body) || (stmt->as.branch.else_body && uses_threads(stmt->as.branch.else_body));
    return stmt_body(stmt) && uses_threads(stmt_body(stmt));
}

static int do_nothing(int64_t begin, int64_t end, void *closure)
{
    (void)begin, (void)end, (void)closure;
    return 0;
}

/* Starts the threads of parallel loops with all signals blocked, so that signals come to this thread alone, which decides when. */
static void start_threads(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    tirc_parallel_for(0, INT64_MAX, do_nothing, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

Jit *driver_open_jit(Driver *driver)
{
    start_threads();
    Jit *jit = jit_open(driver->ctx);
    for (int i = 0; jit && i < driver->options.load.count; i++)
        if (!jit_load(jit, driver->options.load.data[i])) {
            jit_close(jit);
            return NULL;
        }
    return jit;
}

/* MODULE, whose private functions that are to run have entry points too. */
static const Module *with_entry_points(Driver *driver, const Module *module)
{
    for (int i = 0; i < module->func_count; i++) {
        Func *func = arena_copy(driver->ctx->arena, module->funcs[i], sizeof *func);
        func->is_private = func->is_private && !run_is_wanted(driver, func);
        if (func->is_private != module->funcs[i]->is_private)
            module = module_with_func(driver->ctx, module, i, func);
    }
    return module;
}

Jit *run_compile(Driver *driver, const Module *module)
{
    const Module *lowered = driver_lower(driver, module, false);
    if (lowered)
        lowered = with_entry_points(driver, lowered);
    Jit *jit = lowered ? driver_open_jit(driver) : NULL;
    if (jit && jit_add_module(jit, lowered, driver_codegen_options(driver), NULL))
        return jit;
    if (jit)
        jit_close(jit);
    return NULL;
}

static bool call_compiled(Driver *driver, JitFunction function, const char *name, const ArgData *data, int64_t *returned)
{
    tirc_set_error("");
    int code = function(jit_arguments(driver->ctx, data));
    bool failed = code && *tirc_last_error(); /* without a message: what the program itself returns */
    *returned = code;
    return !failed || driver_error(driver, "%s returned error code %d: %s", name, code, tirc_last_error());
}

bool run_call(Driver *driver, JitFunction function, const char *name, const ArgData *data)
{
    int64_t returned;
    return call_compiled(driver, function, name, data, &returned);
}

/* FUNC has threads, or calls a function that has. */
static bool runs_threads(Driver *driver, const Module *module, const Func *func)
{
    Map reached = {0};
    bool found = false;
    callees_reach(driver->ctx, module, func, &reached);
    for (int i = 0; i < module->func_count && !found; i++)
        found = map_has(&reached, module->funcs[i]) && uses_threads(module->funcs[i]->body);
    return found;
}

/* Only functions that can be compiled are given to the JIT, and of these those with all that they call that FUNC is, or that are wanted where
   it is NULL; functions with threads run in the interpreter. */
const Module *run_compiled_part(Driver *driver, const Module *module, const Func *func)
{
    Module *copy = arena_copy(driver->ctx->arena, module, sizeof *module);
    Map reached = {0};
    for (int i = 0; i < module->func_count; i++)
        if (func ? module->funcs[i] == func : run_is_wanted(driver, module->funcs[i]))
            callees_reach(driver->ctx, module, module->funcs[i], &reached);
    copy->funcs = ARENA_ARRAY(driver->ctx->arena, const Func *, module->func_count);
    copy->func_count = 0;
    for (int i = 0; i < module->func_count; i++)
        if (map_has(&reached, module->funcs[i]) && !runs_threads(driver, module, module->funcs[i]))
            copy->funcs[copy->func_count++] = module->funcs[i];
    return copy;
}

/* Runs FUNC of MODULE on DATA: compiled in *JIT (made at the first need), or in the interpreter where it has threads. *RETURNED: what it returns, 0
   where that is nothing. */
static bool run_function(Driver *driver, const Module *module, const Func *func, const ArgData *data, Jit **jit, int64_t *returned)
{
    if (runs_threads(driver, module, func))
        return interpret(driver, module, func, data, false, returned);
    if (!*jit && !(*jit = run_compile(driver, run_compiled_part(driver, module, NULL))))
        return false;
    JitFunction function = jit_find(*jit, func_signature(driver->ctx, func)->symbol);
    return function && call_compiled(driver, function, func->name, data, returned);
}

/* --- --run --- */

static bool run_on_data(Driver *driver, const Module *module, const Func *func, Jit **jit)
{
    ArgData *data = run_new_arguments(driver, func);
    if (!data)
        return false;
    int64_t returned;
    bool ok = run_function(driver, module, func, data, jit, &returned);
    const Param *damaged = argdata_damaged(data);
    if (ok && damaged)
        ok = driver_error(driver, "%s: the program writes outside of '%s'", func->name, damaged->buffer->name);
    ok = ok && data_finish(driver, func, data);
    argdata_free(data);
    return ok;
}

int driver_run_function(Driver *driver)
{
    const Module *module = driver->program->module;
    Jit *jit = NULL;
    bool ok = run_check_wanted(driver, module) && run_on_data(driver, module, driver_find_function(driver, module, driver->options.func), &jit);
    if (jit)
        jit_close(jit);
    return ok ? EXIT_OK : EXIT_DIAGNOSED;
}

/* --- --check --- */

static bool report_damage(Driver *driver, const Func *func, const ArgData *actual)
{
    const Param *damaged = argdata_damaged(actual);
    return !damaged || driver_error(driver, "%s: the scheduled program writes outside of '%s' (seed %ld)", func->name, damaged->buffer->name,
                                    driver->options.seed);
}

static bool check_returned(Driver *driver, const Func *func, const int64_t *returned)
{
    return returned[0] == returned[1] || driver_error(driver, "%s: the scheduled program returns %" PRId64 ", unscheduled %" PRId64 " (seed %ld)",
                                                      func->name, returned[1], returned[0], driver->options.seed);
}

static bool report_check(Driver *driver, const Func *func, const ArgData *expected, const ArgData *actual)
{
    int64_t length = argdata_reduction_length(expected, func);
    ArgMismatch mismatch;
    if (argdata_compare(expected, actual, length, &mismatch)) {
        fprintf(driver->out, "%s: ok, scheduled and unscheduled agree (seed %ld", func->name, driver->options.seed);
        if (length > 1)
            fprintf(driver->out, ", reductions of up to %" PRId64 " terms", length);
        fprintf(driver->out, ")\n");
        return true;
    }
    return driver_error(driver, "%s: %s is %.9g, unscheduled %.9g (bound %.3g); %" PRId64 " elements differ (seed %ld)", func->name,
                        mismatch.element, mismatch.actual, mismatch.expected, mismatch.bound, mismatch.count, driver->options.seed);
}

static bool check_function(Driver *driver, int index, Jit **jits)
{
    const Module *modules[] = {driver->program->source, driver->program->module};
    const Func *source = modules[0]->funcs[index], *scheduled = modules[1]->funcs[index];
    ArgData *expected = run_new_arguments(driver, source);
    if (!expected)
        return false;
    bool moved = argdata_has_layouts(scheduled);
    ArgData *actual = moved ? argdata_for_scheduled(expected, scheduled) : argdata_copy(expected);
    ArgData *result = moved ? argdata_copy(expected) : actual;
    int64_t returned[2];
    bool ok = actual && run_function(driver, modules[0], source, expected, &jits[0], &returned[0]) &&
              run_function(driver, modules[1], scheduled, actual, &jits[1], &returned[1]) && report_damage(driver, scheduled, actual) &&
              check_returned(driver, source, returned);
    if (ok && moved)
        argdata_take_results(actual, result);
    ok = ok && report_check(driver, source, expected, result);
    argdata_free(expected);
    if (actual)
        argdata_free(actual);
    if (moved)
        argdata_free(result);
    return ok;
}

int driver_check(Driver *driver)
{
    Jit *jits[2] = {NULL, NULL};
    bool ok = run_check_wanted(driver, driver->program->source);
    for (int i = 0; ok && i < driver->program->source->func_count; i++)
        if (run_is_wanted(driver, driver->program->source->funcs[i]))
            ok = check_function(driver, i, jits);
    for (int m = 0; m < 2; m++)
        if (jits[m])
            jit_close(jits[m]);
    return ok ? EXIT_OK : EXIT_DIAGNOSED;
}
