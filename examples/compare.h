/* Checks a compiled function against plain C and times both in turn. For the main.c of an example. */
#ifndef EXAMPLES_COMPARE_H
#define EXAMPLES_COMPARE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int (*Run)(void); /* 0: it worked */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double time_of(Run run)
{
    double start = seconds();
    run();
    return seconds() - start;
}

/* Values from -1 to 1 in no order. */
static void fill(float *values, int count)
{
    unsigned state = 12345;
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = (float)(state >> 8) / (float)(1 << 23) - 1;
    }
}

/* Each of COUNT values of GOT is within BOUND, relative to the larger of 1 and its size, of that of WANTED. */
static int is_close(const float *got, const float *wanted, int count, double bound)
{
    for (int i = 0; i < count; i++)
        if (!(fabs((double)got[i] - wanted[i]) <= bound * fmax(1, fabs(wanted[i])))) {
            fprintf(stderr, "WRONG: element %d is %g, not %g\n", i, got[i], wanted[i]);
            return 0;
        }
    return 1;
}

/* Runs TIRC and PLAIN in turn, as often as the first argument of the program says, and prints the medians. FLOPS: operations of one run, or
   0; BYTES: what it reads and writes, or 0. */
static void compare(const char *name, Run tirc, Run plain, double flops, double bytes, int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 21;
    if (rounds < 1 || rounds > 10000)
        rounds = 21;
    double *times = calloc(3 * (size_t)rounds, sizeof *times), *others = times + rounds, *ratios = others + rounds;
    if (!times)
        return;
    tirc(), plain();
    for (int i = 0; i < rounds; i++) {
        times[i] = time_of(tirc);
        others[i] = time_of(plain);
        ratios[i] = others[i] / times[i];
    }
    qsort(times, (size_t)rounds, sizeof *times, compare_doubles);
    qsort(others, (size_t)rounds, sizeof *times, compare_doubles);
    qsort(ratios, (size_t)rounds, sizeof *times, compare_doubles);
    double median = times[rounds / 2];
    printf("%s: ok; tirc %.4f ms, gcc %.4f ms, ratio %.2f (median of %d rounds)", name, median * 1e3, others[rounds / 2] * 1e3,
           ratios[rounds / 2], rounds);
    if (flops > 0)
        printf(", %.1f GFLOP/s", flops / median * 1e-9);
    if (bytes > 0)
        printf(", %.1f GB/s", bytes / median * 1e-9);
    printf("\n");
    free(times);
}

#endif
