/* Replaying and shrinking what the fuzzer finds, and writing it as a test. Every replay is a process of its own, so that a crash or a hang is a failure like others. */
#include <ctype.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

enum { LONGEST_REPLAY_SECONDS = 20, MOST_REPLAYS = 400 };

static void replay(const Finding *finding, char *text, size_t size)
{
    Trial trial;
    bool accepted = true, ok = trial_begin(&trial, finding->program, finding->seed);
    for (int i = 0; ok && i < finding->step_count; i++)
        ok = trial_step(&trial, finding->steps[i], &accepted);
    ok = ok && trial_compile(&trial);
    snprintf(text, size, "%s", ok ? "" : trial.failure);
}

const char *finding_replay(Arena *arena, const Finding *finding)
{
    enum { SIZE = 512 };
    char *text = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        return "no memory to replay in";
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(LONGEST_REPLAY_SECONDS);
        replay(finding, text, SIZE);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const char *why = status ? arena_printf(arena, "the process ends with status %d", status) : *text ? arena_strndup(arena, text, strlen(text)) : NULL;
    munmap(text, SIZE);
    return why;
}

/* --- Shrinking --- */
typedef struct {
    Arena *arena;
    Finding *finding;
    const char *why;
    int replays;
} Shrinker;

/* Two failures of one kind: their messages begin alike, up to the first name or number. */
static bool same_failure(const char *a, const char *b)
{
    size_t length = strcspn(a, "'0123456789[");
    return length == strcspn(b, "'0123456789[") && !strncmp(a, b, length);
}

/* Makes CANDIDATE the finding where the same thing is wrong with it. */
static bool adopt(Shrinker *s, const Finding *candidate)
{
    if (s->replays++ >= MOST_REPLAYS)
        return false;
    const char *why = finding_replay(s->arena, candidate);
    if (!why || !same_failure(why, s->why))
        return false;
    *s->finding = *candidate;
    s->why = why;
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

const char *finding_shrink(Arena *arena, Finding *finding)
{
    Shrinker s = {.arena = arena, .finding = finding, .why = finding_replay(arena, finding)};
    if (!s.why)
        return "(not reproduced)";
    while (drop_steps(&s) | drop_statements(&s))
        ;
    lower_numbers(&s);
    return s.why;
}

/* --- Writing --- */
static void write_file(const Finding *finding, const char *folder, const char *suffix, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/fuzz-%llu.%s", folder, (unsigned long long)finding->seed, suffix);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fputs(text, file);
    fclose(file);
}

void finding_write(const Finding *finding, const char *folder)
{
    Arena *arena = arena_new();
    StrBuf steps = {.arena = arena};
    for (int i = 0; i < finding->step_count; i++)
        strbuf_printf(&steps, "%s\n", finding->steps[i]);
    write_file(finding, folder, "tir", finding->program);
    write_file(finding, folder, "sched", strbuf_text(&steps));
    write_file(finding, folder, "args", "--check\n");
    write_file(finding, folder, "out", "main: ok, scheduled and unscheduled agree (seed 0)\n");
    arena_free(arena);
}
