/* Checks a compiled function against plain C and times both in turn. For the main.c of an example, and for the peers of the benchmark. */
#ifndef EXAMPLES_COMPARE_H
#define EXAMPLES_COMPARE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int (*Run)(void); /* 0: it worked */

enum { CONTENDERS = 2 };
/* What is compared. All runs read the same inputs. */
typedef struct {
    const char *name; /* the kernel, its size, its type */
    const char *contenders[CONTENDERS];
    Run runs[CONTENDERS];
    const void *results[CONTENDERS]; /* each of COUNT elements */
    long count;
    int integers;  /* the elements are int32, and must be equal; else float32 */
    double bound;  /* of the error, relative to the larger of 1 and the element */
    double flops;  /* operations of one run */
    double bytes;  /* those of the arguments that one run must read or write */
} Work;

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

/* The time of one of REPEATS runs */
static double time_of(Run run, int repeats)
{
    double start = seconds();
    for (int i = 0; i < repeats; i++)
        run();
    return (seconds() - start) / repeats;
}

/* Numbers below 2^24 in no order */
static inline unsigned next_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Values from -1 to 1 in no order. */
static inline void fill(float *values, long count)
{
    unsigned state = 12345;
    for (long i = 0; i < count; i++)
        values[i] = (float)next_number(&state) / (float)(1 << 23) - 1;
}

/* Bytes in no order, from 0 to LIMIT - 1 */
static inline void fill_bytes(void *values, long count, unsigned limit)
{
    unsigned state = 54321;
    for (long i = 0; i < count; i++)
        ((unsigned char *)values)[i] = (unsigned char)((next_number(&state) >> 8) % limit);
}

static double element(const Work *work, const void *result, long i)
{
    return work->integers ? (double)((const int *)result)[i] : (double)((const float *)result)[i];
}

/* The results of both are the same, within the bound. */
static int is_close(const Work *work)
{
    for (long i = 0; i < work->count; i++) {
        double got = element(work, work->results[0], i), wanted = element(work, work->results[1], i);
        if (!(fabs(got - wanted) <= (work->integers ? 0 : work->bound * fmax(1, fabs(wanted))))) {
            fprintf(stderr, "WRONG: %s: element %ld is %g, not %g\n", work->name, i, got, wanted);
            return 0;
        }
    }
    return 1;
}

/* Lets another process say what is run. On stdout: a line for the work, with two sums over the result that tell whether others compute the
   same; then for each line of stdin, the name of a contender, a line with the time of a run. An empty line ends it. */
static void serve(const Work *work)
{
    char line[64];
    double sum = 0, sizes = 0;
    int repeats[CONTENDERS] = {0};
    for (long i = 0; i < work->count; i++) {
        double value = element(work, work->results[0], i) * (double)(1 + i % 13);
        sum += value;
        sizes += fabs(value);
    }
    printf("%s|%.0f|%.0f|%.17g|%.17g", work->name, work->flops, work->bytes, sum, sizes);
    for (int c = 0; c < CONTENDERS && work->runs[c]; c++)
        printf("|%s", work->contenders[c]);
    printf("\n");
    while (fflush(stdout) == 0 && fgets(line, sizeof line, stdin) && line[0] != '\n')
        for (int c = 0; c < CONTENDERS && work->runs[c]; c++)
            if (line[strcspn(line, "\n")] = '\0', strcmp(line, work->contenders[c]) == 0) {
                if (repeats[c] == 0) { /* as many as take 2 ms */
                    time_of(work->runs[c], 1);
                    repeats[c] = 1 + (int)fmin(0.002 / time_of(work->runs[c], 1), 100000);
                }
                printf("%.9g\n", time_of(work->runs[c], repeats[c]));
            }
}

static void print_times(const Work *work, int rounds, double *times, double *others, double *ratios)
{
    time_of(work->runs[0], 1), time_of(work->runs[1], 1);
    for (int i = 0; i < rounds; i++) {
        times[i] = time_of(work->runs[0], 1);
        others[i] = time_of(work->runs[1], 1);
        ratios[i] = others[i] / times[i];
    }
    qsort(times, (size_t)rounds, sizeof *times, compare_doubles);
    qsort(others, (size_t)rounds, sizeof *times, compare_doubles);
    qsort(ratios, (size_t)rounds, sizeof *times, compare_doubles);
    double median = times[rounds / 2];
    printf("%s: ok; %s %.4f ms, %s %.4f ms, ratio %.2f (median of %d rounds), %.1f GFLOP/s, %.1f GB/s\n", work->name, work->contenders[0],
           median * 1e3, work->contenders[1], others[rounds / 2] * 1e3, ratios[rounds / 2], rounds, work->flops / median * 1e-9,
           work->bytes / median * 1e-9);
}

/* Runs both and compares the results; then runs them in turn, as often as the first argument of the program says, and prints the medians.
   Or serves, if the argument says so. Gives the exit code. */
static inline int compare(Work work, int argc, char **argv)
{
    for (int c = 0; c < CONTENDERS; c++)
        if (!work.contenders[c])
            work.contenders[c] = c == 0 ? "tirc" : "gcc";
    for (int c = 0; c < CONTENDERS && work.runs[c]; c++)
        if (work.runs[c]()) {
            fprintf(stderr, "%s: %s fails\n", work.name, work.contenders[c]);
            return 1;
        }
    if (work.runs[1] && !is_close(&work))
        return 1;
    if (argc > 1 && strcmp(argv[1], "serve") == 0) {
        serve(&work);
        return 0;
    }
    int rounds = argc > 1 ? atoi(argv[1]) : 21;
    if (rounds < 1 || rounds > 10000)
        rounds = 21;
    double *times = calloc(3 * (size_t)rounds, sizeof *times);
    if (!times || !work.runs[1])
        return 1;
    print_times(&work, rounds, times, times + rounds, times + 2 * rounds);
    free(times);
    return 0;
}

#endif
