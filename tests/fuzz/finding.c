/* Replaying and shrinking what the fuzzer finds, and writing it as a test. Every replay is a process of its own, so that a crash or a hang
   is a failure like others. */
#include <ctype.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

enum { LONGEST_REPLAY_SECONDS = 20, MOST_REPLAYS = 400 };

/* What a replay leaves to the process that waits for it. */
typedef struct {
    char why[512];
    int set;
} Verdict;

static void replay(const Finding *finding, Verdict *verdict)
{
    Trial trial;
    bool accepted = true, ok = trial_begin(&trial, finding->program, finding->seed);
    for (int i = 0; ok && i < finding->step_count; i++)
        ok = trial_step(&trial, finding->steps[i], &accepted);
    ok = ok && trial_passes(&trial, finding->seed) && trial_compile(&trial);
    snprintf(verdict->why, sizeof verdict->why, "%s", ok ? "" : trial.failure);
    verdict->set = trial.failed_set;
}

/* Sets why (NULL: nothing is wrong) and set of FINDING. */
static void replay_apart(Arena *arena, Finding *finding)
{
    Verdict *verdict = mmap(NULL, sizeof *verdict, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    finding->why = NULL;
    if (verdict == MAP_FAILED)
        return;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(LONGEST_REPLAY_SECONDS);
        replay(finding, verdict);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    finding->set = verdict->set;
    if (status)
        finding->why = arena_printf(arena, "the process ends with status %d", status);
    else if (*verdict->why)
        finding->why = arena_strndup(arena, verdict->why, strlen(verdict->why));
    munmap(verdict, sizeof *verdict);
}

/* --- Shrinking --- */
typedef struct {
    Arena *arena;
    Finding *finding;
    int replays;
} Shrinker;

/* Two failures of one kind: their messages begin alike, up to the first name or number. */
static bool same_failure(const char *a, const char *b)
{
    size_t length = strcspn(a, "'0123456789[");
    return length == strcspn(b, "'0123456789[") && !strncmp(a, b, length);
}

/* Makes CANDIDATE the finding where the same thing is wrong with it. */
static bool adopt(Shrinker *s, Finding *candidate)
{
    if (s->replays++ >= MOST_REPLAYS)
        return false;
    replay_apart(s->arena, candidate);
    if (!candidate->why || !same_failure(candidate->why, s->finding->why))
        return false;
    *s->finding = *candidate;
    return true;
}

static bool drop_steps(Shrinker *s)
{
    bool dropped = false;
    for (int i = s->finding->step_count - 1; i >= 0; i--) {
        Finding without = *s->finding;
        memmove(without.steps + i, without.steps + i + 1, sizeof *without.steps * (size_t)(without.step_count - i - 1));
        without.step_count--;
        dropped |= adopt(s, &without);
    }
    return dropped;
}

static int indent_of(const char *line)
{
    return (int)strspn(line, " ");
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* The statement that begins at LINE ends here: the next line that is not indented more. */
static const char *end_of_statement(const char *line)
{
    const char *end = next_line(line);
    while (*end && (indent_of(end) > indent_of(line) || *end == '\n'))
        end = next_line(end);
    return end;
}

static const char *cut(Shrinker *s, const char *text, const char *from, const char *to, const char *replacement)
{
    return arena_printf(s->arena, "%.*s%s%s", (int)(from - text), text, replacement, to);
}

/* The end of the first function; what follows are intrinsics. */
static const char *end_of_main(const char *program)
{
    const char *end = strstr(program, "\n\n@T.prim_func");
    return end ? end + 1 : program + strlen(program);
}

/* The intrinsics are dropped as a whole or not at all. */
static bool drop_statements(Shrinker *s)
{
    Finding without = *s->finding;
    const char *end = end_of_main(without.program);
    without.program = cut(s, without.program, end, end + strlen(end), "");
    bool dropped = *end && adopt(s, &without);
    for (const char *line = s->finding->program; line < end_of_main(s->finding->program);) {
        size_t offset = (size_t)(line - s->finding->program);
        without = *s->finding;
        without.program = cut(s, s->finding->program, line, end_of_statement(line), "");
        if (adopt(s, &without)) {
            dropped = true;
            line = s->finding->program + offset;
        } else {
            line = next_line(line);
        }
    }
    return dropped;
}

/* TEXT with the number FROM, where it stands alone, replaced by TO. */
static const char *with_number(Shrinker *s, const char *text, long from, long to)
{
    StrBuf result = {.arena = s->arena};
    for (const char *at = text; *at;) {
        bool starts = isdigit((unsigned char)*at) && (at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.'));
        char *end = (char *)at + 1;
        long value = starts ? strtol(at, &end, 10) : 0;
        if (starts && value == from)
            strbuf_printf(&result, "%ld", to);
        else
            strbuf_printf(&result, "%.*s", (int)(end - at), at);
        at = end;
    }
    return strbuf_text(&result);
}

static bool lower_numbers(Shrinker *s)
{
    bool lowered = false;
    for (long from = 17; from > 2; from--)
        for (long to = 2; to < from; to += 1 + (from - to) / 2) {
            Finding smaller = *s->finding;
            smaller.program = with_number(s, s->finding->program, from, to);
            if (strcmp(smaller.program, s->finding->program) && adopt(s, &smaller)) {
                lowered = true;
                break;
            }
        }
    return lowered;
}

void finding_shrink(Arena *arena, Finding *finding)
{
    Shrinker s = {.arena = arena, .finding = finding};
    replay_apart(arena, finding);
    if (!finding->why) {
        finding->why = "(not reproduced)";
        return;
    }
    for (bool shrunk = true; shrunk;) {
        shrunk = drop_steps(&s);
        shrunk |= drop_statements(&s);
    }
    lower_numbers(&s);
}

/* --- Writing --- */
static FILE *open_part(const Finding *finding, const char *folder, const char *suffix)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/fuzz-%llu.%s", folder, (unsigned long long)finding->seed, suffix);
    FILE *file = fopen(path, "w");
    if (!file)
        perror(path);
    return file;
}

static bool write_text_part(const Finding *finding, const char *folder, const char *suffix, const char *text)
{
    FILE *file = open_part(finding, folder, suffix);
    if (!file)
        return false;
    fputs(text, file);
    return fclose(file) == 0;
}

/* What the compiled program gets wrong is shown by --check, everything else by --interpret, whose output must be that of the unscheduled
   program. */
static bool write_expectation(const Finding *finding, const char *folder, const Trial *trial)
{
    Arena *arena = arena_new();
    bool compiled = strstr(finding->why, "compiled") || strstr(finding->why, "lowering") || strstr(finding->why, "code generation");
    const ArgData *expected = trial->expected[finding->set];
    StrBuf args = {.arena = arena};
    strbuf_printf(&args, "--%s --seed=%llu", compiled ? "check" : "interpret", (unsigned long long)finding->seed);
    for (int i = 0; i < expected->signature->dim_count; i++)
        strbuf_printf(&args, " --dim %s=%lld", expected->signature->dims[i]->name, (long long)expected->dims[i]);
    bool ok = write_text_part(finding, folder, "args", strbuf_text(&args));
    arena_free(arena);
    FILE *out = ok ? open_part(finding, folder, "out") : NULL;
    if (!out)
        return false;
    if (compiled)
        fprintf(out, "%s: ok, scheduled and unscheduled agree (seed %llu, reductions of up to %lld terms)\n",
                expected->func->name, (unsigned long long)finding->seed, (long long)argdata_reduction_length(expected, expected->func));
    else
        fprintf(out, "%s(seed %llu)\n", expected->func->name, (unsigned long long)finding->seed);
    if (!compiled)
        argdata_print(expected, out);
    return fclose(out) == 0;
}

bool finding_write(const Finding *finding, const char *folder)
{
    Arena *arena = arena_new();
    StrBuf steps = {.arena = arena};
    for (int i = 0; i < finding->step_count; i++)
        strbuf_printf(&steps, "%s\n", finding->steps[i]);
    bool ok = write_text_part(finding, folder, "tir", finding->program) && write_text_part(finding, folder, "sched", strbuf_text(&steps));
    arena_free(arena);
    Trial trial;
    if (trial_begin(&trial, finding->program, finding->seed))
        ok = ok && write_expectation(finding, folder, &trial);
    trial_end(&trial);
    return ok;
}
