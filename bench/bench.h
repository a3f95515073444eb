/* The benchmark: programs that serve (see examples/compare.h) are started, and their contenders run in turn. */
#ifndef TIRC_BENCH_BENCH_H
#define TIRC_BENCH_BENCH_H

#include "bench/statistics.h"

#include <stdio.h>
#include <sys/types.h>

enum { MAX_CONTENDERS = 24, MAX_WORKS = 64, NAME_SIZE = 64, LINE_SIZE = 512 };

/* --- worker.c: a process that serves */

typedef struct {
    pid_t process; /* 0: there is none */
    int to, from;
    char left[LINE_SIZE]; /* what came behind the last line */
} Worker;

/* What a worker tells of its work: its name, operations and bytes of one run, sums over the result, and the contenders. */
typedef struct {
    char name[LINE_SIZE];
    double flops, bytes, sum, sizes;
    char contenders[4][NAME_SIZE];
    int count;
} Offer;

/* Starts COMMAND, words between blanks, with the argument ARGUMENT behind them, in an environment with SETTING (NAME=VALUE; "": nothing). */
bool worker_start(Worker *worker, const char *command, const char *argument, const char *setting);
/* The next work that the worker offers; false: none, or it has ended */
bool worker_offer(Worker *worker, Offer *offer);
/* The seconds of a run of CONTENDER; not above 0: it has failed */
double worker_run(Worker *worker, const char *contender);
/* The worker leaves its work, and may offer another. */
void worker_next(Worker *worker);
void worker_stop(Worker *worker);

/* --- what is measured */

typedef struct {
    char name[NAME_SIZE];    /* tirc, gcc, or a peer */
    char setting[NAME_SIZE]; /* of the environment, for its best kernels */
    double seconds[MAX_ROUNDS];
} Contender;

/* A kernel. Its first contender is tirc's code. */
typedef struct {
    char name[LINE_SIZE];
    double flops, bytes;
    int rounds, count;
    double peak[MAX_ROUNDS], copy[MAX_ROUNDS]; /* in each round: operations in a second of one core, and bytes that a copy moves */
    Contender contenders[MAX_CONTENDERS];
} Measured;

/* The lower of two roofs at the kernel's intensity: what the multiply-add units allow (true) or what memory allows (false). */
bool bound_by_arithmetic(const Measured *measured);
/* The share of that roof that CONTENDER reaches, over the rounds */
Summary share_of_roof(const Measured *measured, const Contender *contender);

/* --- report.c, roofline.c */

void report_table_head(FILE *out);
void report_table(FILE *out, const Measured *measured);
void report_csv_head(FILE *out);
void report_csv(FILE *out, const Measured *measured);
void report_roofline(FILE *out, const Measured *const *works, int count);

#endif
