/* The stages between a scheduled program and bytes: the lowering passes, and code generation by a back end. */
#include <string.h>

#include "codegen/backend.h"
#include "driver/axis_names.h"
#include "driver/driver.h"
#include "print/print.h"
#include "ir/scalable.h"
#include "passes/lower/lower.h"
#include "script/script.h"

typedef struct {
    Driver *driver;
    bool report;
    VectorRegisters registers; /* of the target; 0 bytes: not asked yet */
} PassReport;

static void after_pass(void *data, const char *pass, const Func *func, double seconds)
{
    PassReport *report = data;
    Driver *driver = report->driver;
    driver_add_time(driver, pass, seconds);
    for (int i = 0; report->report && i < driver->options.print_after.count; i++)
        if (!strcmp(driver->options.print_after.data[i], pass) || !strcmp(driver->options.print_after.data[i], "all"))
            fprintf(driver->out, "# after %s\n%s", pass, print_func(driver->ctx, func));
}

/* The target is opened once for all functions, and only for a program with a loop that asks. */
static void tell_vector_registers(void *data, int *bytes, int *count)
{
    PassReport *report = data;
    CodegenOptions options = driver_codegen_options(report->driver);
    if (!report->registers.bytes)
        report->registers = backend_find(NULL)->vector_registers(report->driver->ctx, &options);
    *bytes = report->registers.bytes;
    *count = report->registers.count;
}

static void note_parts(void *data, const LoopParts *parts)
{
    Driver *driver = ((PassReport *)data)->driver;
    vec_push(driver->ctx->arena, &driver->loop_parts, *parts);
}

/* --print-after and --start-after name passes; false after a diagnostic with what is close. */
static bool check_pass_names(Driver *driver)
{
    int count;
    const LowerPass *passes = lower_passes(&count);
    const char **names = ARENA_ARRAY(driver->ctx->arena, const char *, count + 1);
    for (int i = 0; i < count; i++)
        names[i] = passes[i].name;
    names[count] = "all";
    for (int i = -1; i < driver->options.print_after.count; i++) {
        const char *name = i < 0 ? driver->options.start_after : driver->options.print_after.data[i];
        if (!name || lower_find_pass(name) >= 0 || (i >= 0 && !strcmp(name, "all")))
            continue;
        const char *near = diag_closest(name, names, count + 1);
        return driver_error(driver, "there is no pass '%s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
                            near ? "'?" : "");
    }
    return true;
}

const Module *driver_lower(Driver *driver, const Module *module, bool report)
{
    if (!check_pass_names(driver) || !scalable_refuse(driver->ctx, module, "compiled; it can be shown"))
        return NULL;
    module = script_lower_intrinsics(driver->ctx, module);
    if (!module)
        return NULL;
    PassReport pass_report = {.driver = driver, .report = report};
    LowerOptions options = {.bounds_check = driver->options.bounds_check,
                            .verify_each = driver->options.verify_each,
                            .start_after = driver->options.start_after,
                            .vector_registers = tell_vector_registers,
                            .in_parts = note_parts,
                            .after_pass = after_pass,
                            .data = &pass_report};
    bool ok = true;
    int errors = diag_error_count(driver->ctx);
    const Module *lowered = module;
    driver->loop_parts.count = 0;
    for (int i = 0; i < module->func_count; i++) {
        int before = diag_error_count(driver->ctx);
        if (driver->options.debug_info)
            axis_names_collect(driver->ctx, module->funcs[i], &driver->axes);
        const Func *func = lower_func(driver->ctx, module, module->funcs[i], &options);
        ok &= func != NULL;
        if (diag_error_count(driver->ctx) > before)
            driver_blame_step(driver, module->funcs[i]);
        if (func)
            lowered = module_with_func(driver->ctx, lowered, i, func);
    }
    return ok && diag_error_count(driver->ctx) == errors ? lowered : NULL;
}

CodegenOptions driver_codegen_options(Driver *driver)
{
    const Options *options = &driver->options;
    CodegenOptions result = codegen_default_options();
    result.opt_level = options->opt_level;
    result.target = options->target;
    result.cpu = options->cpu;
    result.features = options->features;
    result.pic = options->pic;
    result.unwind_tables = options->unwind_tables;
    result.debug_info = options->debug_info;
    result.axes = options->debug_info ? &driver->axes : NULL;
    result.prefix_maps = options->prefix_maps.data;
    result.prefix_map_count = options->prefix_maps.count;
    result.fp_contract = options->fp_contract;
    result.fast_math = options->fast_math;
    result.no_heap = options->no_heap;
    result.clang = options->clang;
    result.extern_names = options->externs.data;
    result.extern_count = options->externs.count;
    result.source_name = options->inputs.count ? options->inputs.data[0] : driver->files.count ? driver->files.data[0] : NULL;
    return result;
}

bool driver_generate(Driver *driver, const Module *lowered, unsigned kinds, CodegenOutput *output)
{
    CodegenOptions options = driver_codegen_options(driver);
    if (!backend_find(NULL)->compile(driver->ctx, lowered, &options, kinds, output))
        return false;
    PhaseTime times[] = {{"set up code generation", output->times.setup},
                         {"translate", output->times.translate},
                         {"optimize", output->times.optimize},
                         {"emit", output->times.emit}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        driver_add_time(driver, times[i].name, times[i].seconds);
    for (int i = 0; i < output->import_count; i++)
        driver_add_file(driver, output->imports[i]);
    return true;
}
