/* --time: how long compiled functions run, and how much of the machine they use. */
#include <stdlib.h>

#include "driver/flops.h"
#include "driver/run.h"
#include "support/bug.h"
#include "support/peak.h"

enum { LEAST_RUNS = 3, MOST_RUNS = 10000, PEAK_RUNS = 60, PEAK_ROUNDS = 20000 };

typedef VEC(double) Times;

typedef struct {
    double minimum, median, spread; /* seconds; the distance of the quartiles as a share of the median */
    int runs;
} Timing;

static int compare_times(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static Timing timing_of(Times *times)
{
    qsort(times->data, (size_t)times->count, sizeof *times->data, compare_times);
    const double *sorted = times->data;
    int count = times->count;
    double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    double quartiles = sorted[3 * (count - 1) / 4] - sorted[(count - 1) / 4];
    return (Timing){sorted[0], median, median > 0 ? quartiles / median : 0, count};
}

/* Runs FUNCTION as often as --time=N says, else for about half a second. A first run, which loads memory and code, does not count. */
static bool take_times(Driver *driver, const Func *func, JitFunction function, const ArgData *data, Times *times)
{
    long wanted = driver->options.time;
    if (!run_call(driver, function, func->name, data))
        return false;
    double start = bench_seconds();
    while (wanted > 0 ? times->count < wanted : times->count < LEAST_RUNS || (times->count < MOST_RUNS && bench_seconds() - start < 0.5)) {
        double before = bench_seconds();
        if (!run_call(driver, function, func->name, data))
            return false;
        vec_push(driver->ctx->arena, times, bench_seconds() - before);
    }
    return true;
}

/* The best of some short runs: a peak that other programs disturb would flatter. */
static double better_peak(Peak peak, double best)
{
    for (int i = 0; i < PEAK_RUNS; i++)
        best = fmax(best, peak_measure(peak, PEAK_ROUNDS));
    return best;
}

/* Rates are those of the shortest run, as the peak is that of its best one. */
static void print_timing(Driver *driver, const Func *func, Timing timing, Work work, Peak peak, double gflops)
{
    FILE *out = driver->out;
    fprintf(out, "%s: minimum %.4f ms, median %.4f ms, spread %.1f%%, %d run%s", func->name, timing.minimum * 1e3, timing.median * 1e3,
            timing.spread * 1e2, timing.runs, timing.runs == 1 ? "" : "s");
    double flops = work.flops32 + work.flops64;
    if (work.known && flops > 0) {
        double peak64 = peak.lanes > 1 ? gflops / 2 : gflops;
        double least = work.flops32 / gflops * 1e-9 + work.flops64 / peak64 * 1e-9;
        fprintf(out, ", %.2f GFLOP/s, %.1f%% of the peak of one core (%.1f, %s)", flops / timing.minimum * 1e-9,
                least / timing.minimum * 1e2, work.flops64 > work.flops32 ? peak64 : gflops, peak.name);
    }
    if (work.bytes > 0)
        fprintf(out, ", %.2f GB/s", work.bytes / timing.minimum * 1e-9);
    fputc('\n', out);
}

static bool time_function(Driver *driver, const Func *source, JitFunction function)
{
    ArgData *data = run_new_arguments(driver, source);
    if (!data)
        return false;
    Peak peak = peak_widest();
    Times times = {0};
    double gflops = better_peak(peak, 0);
    bool ok = take_times(driver, source, function, data, &times);
    if (ok)
        print_timing(driver, source, timing_of(&times), work_count(data, source), peak, better_peak(peak, gflops));
    argdata_free(data);
    return ok;
}

int driver_time(Driver *driver)
{
    const Module *module = driver->program->module;
    if (!run_check_wanted(driver, module))
        return EXIT_DIAGNOSED;
    Jit *jit = run_compile(driver, module);
    bool ok = jit != NULL;
    for (int i = 0; ok && i < module->func_count; i++) {
        if (!run_is_wanted(driver, module->funcs[i]))
            continue;
        JitFunction function = jit_find(jit, func_signature(driver->ctx, module->funcs[i])->symbol);
        ok = function && time_function(driver, driver->program->source->funcs[i], function);
    }
    if (jit)
        jit_close(jit);
    return ok ? EXIT_OK : EXIT_DIAGNOSED;
}
