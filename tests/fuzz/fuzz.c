/* The fuzzer: fuzz [-n TRIALS] [-s SEED] [-o FOLDER] [-i FILE...]. Each seed gives a program, a random one or with -i one of the files in
   turn, and a random schedule of it, checked as trial.c says. A failure is shrunk and written to FOLDER as a test. Prints a table of
   accepted and refused steps and "N passed, N failed". The same seed (and list of files) gives the same program and schedule.
   FUZZ_VERBOSE=1 prints them.

   Files after -i (it comes last) hold one program each, as tests/cases do. One that does not parse, that the interpreter finds fault with or
   takes long for at the sizes of a seed, or that cannot be compiled as it is, is no matter for schedules: the line "skipped FILE" says so. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

/* A program that takes more processor time hangs; so does one that takes ten times as long with little of it. A file's unscheduled program
   must take much less, since every step runs it again. */
enum { MOST_PRIMITIVES = 64, LONGEST_PROGRAM_SECONDS = 60, LONGEST_UNSCHEDULED_SECONDS = 1 };
enum { PASSED, FAILED, SKIPPED }; /* how the process of a program exits */

typedef struct {
    long accepted, refused;
} Count;
/* What the process of a program leaves to its parent, which also sees it when the process crashes. */
typedef struct {
    Count counts[MOST_PRIMITIVES]; /* by the rows of schedule_primitives */
    char steps[MOST_STEPS][512];
    int step_count;
    bool scheduling; /* the unscheduled program was run */
} Report;
typedef struct {
    const char *folder; /* for failures */
    char *const *files; /* the programs; none: random ones */
    int file_count;
} Setup;
/* What a seed tries. */
typedef struct {
    uint64_t seed;
    Random random;    /* what the program was not made with */
    const char *file; /* where the program comes from; NULL: made */
    const char *program;
} Task;

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

/* The text of FILE, in ARENA; ends the fuzzer where it cannot be read. */
static const char *read_file(Arena *arena, const char *path)
{
    StrBuf text = {.arena = arena};
    char part[4096];
    size_t length;
    FILE *file = fopen(path, "r");
    while (file && (length = fread(part, 1, sizeof part, file)) > 0)
        strbuf_add_bytes(&text, part, length);
    if (!file || ferror(file)) {
        perror(path);
        exit(2);
    }
    fclose(file);
    return strbuf_text(&text);
}

static Task task_new(Arena *arena, const Setup *setup, uint64_t seed)
{
    Task task = {.seed = seed, .random = {seed * 1000003}};
    if (setup->file_count)
        task.file = setup->files[seed % (uint64_t)setup->file_count];
    task.program = task.file ? read_file(arena, task.file) : random_program(&task.random, arena);
    return task;
}

/* Runs the unscheduled program. It is no failure that a file's cannot be run. */
static int begin_task(const Task *task, Trial *trial, Report *report)
{
    struct itimerval processor = {.it_value = {.tv_sec = task->file ? LONGEST_UNSCHEDULED_SECONDS : LONGEST_PROGRAM_SECONDS}};
    setitimer(ITIMER_PROF, &processor, NULL);
    bool usable = trial_begin(trial, task->program, task->seed) && (!task->file || trial_can_compile(trial));
    if (task->file && !usable)
        printf("skipped %s: %s\n", task->file, trial->failure);
    processor.it_value.tv_sec = LONGEST_PROGRAM_SECONDS;
    setitimer(ITIMER_PROF, &processor, NULL);
    report->scheduling = true;
    return usable ? PASSED : task->file ? SKIPPED : FAILED;
}

/* Steps are drawn until as many as wanted were accepted. */
static int run_task(Task *task, Report *report)
{
    const char *primitive;
    if (getenv("FUZZ_VERBOSE"))
        printf("seed %llu\n%s", (unsigned long long)task->seed, task->program);
    Trial trial;
    int wanted = 1 + random_below(&task->random, 7), begun = begin_task(task, &trial, report);
    bool accepted, ok = begun == PASSED;
    while (ok && wanted > 0 && report->step_count < MOST_STEPS) {
        const char *step = record_step(report, random_step(&task->random, trial.ctx, trial.current, trial.func, &primitive));
        ok = trial_step(&trial, step, &accepted);
        wanted -= accepted;
        count_step(report, primitive, accepted);
    }
    ok = ok && trial_passes(&trial, task->seed) && trial_compile(&trial);
    trial_end(&trial);
    return begun != PASSED ? begun : ok ? PASSED : FAILED;
}

static void report_finding(const Task *task, const Report *report, const char *folder)
{
    Arena *arena = arena_new();
    Finding finding = {.program = task->program, .step_count = report->step_count, .seed = task->seed};
    for (int i = 0; i < report->step_count; i++)
        finding.steps[i] = report->steps[i];
    finding_shrink(arena, &finding);
    printf("FAIL seed %llu%s%s: %s%s\n", (unsigned long long)task->seed, task->file ? " of " : "", task->file ? task->file : "", finding.why,
           finding_write(&finding, folder) ? "" : " (not written)");
    arena_free(arena);
}

/* Runs TASK in a process of its own. */
static int run_apart(Task *task, Report *report)
{
    report->step_count = 0;
    report->scheduling = false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(10 * LONGEST_PROGRAM_SECONDS);
        int result = run_task(task, report);
        fflush(stdout);
        _exit(result);
    }
    int status = -1;
    waitpid(child, &status, 0);
    bool slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    if (slow && task->file && !report->scheduling) {
        printf("skipped %s: the unscheduled program takes too long\n", task->file);
        return SKIPPED;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static int run_seed(const Setup *setup, uint64_t seed, Report *report)
{
    Arena *arena = arena_new();
    Task task = task_new(arena, setup, seed);
    int result = run_apart(&task, report);
    if (result != PASSED && result != SKIPPED)
        report_finding(&task, report, setup->folder);
    arena_free(arena);
    return result;
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
    long trials = 100, first = 1, passed = 0, skipped = 0;
    Setup setup = {.folder = "/tmp"};
    for (int i = 1; i + 1 < argc && !setup.files; i += 2) {
        if (!strcmp(argv[i], "-n"))
            trials = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "-s"))
            first = atol(argv[i + 1]);
        else if (!strcmp(argv[i], "-o"))
            setup.folder = argv[i + 1];
        else if (!strcmp(argv[i], "-i"))
            setup.files = argv + i + 1, setup.file_count = argc - i - 1;
    }
    Report *report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        return 2;
    for (long seed = first; seed < first + trials; seed++) {
        int result = run_seed(&setup, (uint64_t)seed, report);
        passed += result == PASSED;
        skipped += result == SKIPPED;
    }
    print_table(report);
    if (skipped)
        printf("%ld skipped\n", skipped);
    long failed = trials - passed - skipped;
    printf("%ld passed, %ld failed\n", passed, failed);
    return failed != 0;
}
