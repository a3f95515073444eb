/* The fuzzer: fuzz [-n PROGRAMS] [-s SEED] [-o FOLDER]. Random programs, each with a random schedule, checked as trial.c says. A failure is
   shrunk and written to FOLDER as a test. Prints a table of accepted and refused steps and "N passed, N failed". The same seed gives the
   same program and schedule. FUZZ_VERBOSE=1 prints them. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

/* A program that takes more processor time hangs; so does one that takes ten times as long with little of it. */
enum { MOST_PRIMITIVES = 64, LONGEST_PROGRAM_SECONDS = 60 };

typedef struct {
    long accepted, refused;
} Count;
/* What the process of a program leaves to its parent, which also sees it when the process crashes. */
typedef struct {
    Count counts[MOST_PRIMITIVES]; /* by the rows of schedule_primitives */
    char program[16384], steps[MOST_STEPS][512];
    int step_count;
} Report;

static void count_step(Report *report, const char *name, bool accepted)
{
    for (int i = 0; i < schedule_primitive_count; i++)
        if (!strcmp(schedule_primitives[i].name, name)) {
            report->counts[i].accepted += accepted;
            report->counts[i].refused += !accepted;
        }
}

static const char *record_step(Report *report, const char *step)
{
    char *copy = report->steps[report->step_count++];
    snprintf(copy, sizeof report->steps[0], "%s", step);
    if (getenv("FUZZ_VERBOSE"))
        printf("  step: %s\n", copy);
    return copy;
}

/* Steps are drawn until as many as wanted were accepted. */
static bool run_seed(uint64_t seed, Report *report)
{
    Random random = {seed * 1000003};
    Arena *arena = arena_new();
    const char *primitive;
    snprintf(report->program, sizeof report->program, "%s", random_program(&random, arena));
    arena_free(arena);
    if (getenv("FUZZ_VERBOSE"))
        printf("seed %llu\n%s", (unsigned long long)seed, report->program);
    Trial trial;
    int wanted = 1 + random_below(&random, 7);
    bool accepted, ok = trial_begin(&trial, report->program, seed);
    while (ok && wanted > 0 && report->step_count < MOST_STEPS) {
        const char *step = record_step(report, random_step(&random, trial.ctx, trial.current, &primitive));
        ok = trial_step(&trial, step, &accepted);
        wanted -= accepted;
        count_step(report, primitive, accepted);
    }
    ok = ok && trial_compile(&trial);
    trial_end(&trial);
    return ok;
}

static void report_finding(const Report *report, uint64_t seed, const char *folder)
{
    Arena *arena = arena_new();
    Finding finding = {.program = report->program, .step_count = report->step_count, .seed = seed};
    for (int i = 0; i < report->step_count; i++)
        finding.steps[i] = report->steps[i];
    finding_shrink(arena, &finding);
    printf("FAIL seed %llu: %s%s\n", (unsigned long long)seed, finding.why, finding_write(&finding, folder) ? "" : " (not written)");
    arena_free(arena);
}

/* Runs SEED in a process of its own. */
static bool run_apart(uint64_t seed, const char *folder, Report *report)
{
    report->step_count = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct itimerval processor = {.it_value = {.tv_sec = LONGEST_PROGRAM_SECONDS}};
        setitimer(ITIMER_PROF, &processor, NULL);
        alarm(10 * LONGEST_PROGRAM_SECONDS);
        bool ok = run_seed(seed, report);
        fflush(stdout);
        _exit(!ok);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status == 0)
        return true;
    report_finding(report, seed, folder);
    return false;
}

static void print_table(const Report *report)
{
    printf("%-24s %10s %10s\n", "primitive", "accepted", "refused");
    for (int i = 0; i < schedule_primitive_count; i++)
        if (strncmp(schedule_primitives[i].name, "get_", 4))
            printf("%-24s %10ld %10ld\n", schedule_primitives[i].name, report->counts[i].accepted, report->counts[i].refused);
}

int main(int argc, char **argv)
{
    long programs = 100, first = 1, failed = 0;
    const char *folder = "/tmp";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-n"))
            programs = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "-s"))
            first = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "-o"))
            folder = argv[i + 1];
    }
    Report *report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        return 2;
    for (long seed = first; seed < first + programs; seed++)
        failed += !run_apart((uint64_t)seed, folder, report);
    print_table(report);
    printf("%ld passed, %ld failed\n", programs - failed, failed);
    return failed != 0;
}
