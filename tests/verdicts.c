/* The verdicts of all cases with a schedule: verdicts [--OPTION=VALUE...] [PATTERN...] runs each script NAME.sched below tests/cases that one of the patterns (glob;
   default: all) matches, with these options of tirc, compares what it finds with tests/verdicts.txt, and names each case that differs. A line of that file is
     DIRECTORY/NAME: accepted
     DIRECTORY/NAME: line N: TEXT      the script's line at which the step was refused, and why
   UPDATE=1 writes the file anew. Nothing is compiled and nothing is run: all cases take some seconds. To be run in the root of the
   repository. */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/tirc.h"
#include "support/arena.h"
#include "support/strbuf.h"
#include "support/vec.h"
#include "tests/cases.h"

static const char cases_root[] = "tests/cases/", snapshot_path[] = "tests/verdicts.txt";
enum { MOST_LINES = 20000, MOST_WORDS = 64 };

/* What the command line names. */
typedef struct {
    const char *options[MOST_WORDS], *patterns[MOST_WORDS];
    int option_count, pattern_count;
} Chosen;

/* The text of file PATH; NULL where it cannot be read. */
static char *read_text(Arena *arena, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    StrBuf text = {.arena = arena};
    char chunk[4096];
    for (size_t size; (size = fread(chunk, 1, sizeof chunk, file)) > 0;)
        strbuf_add_bytes(&text, chunk, size);
    fclose(file);
    return arena_strndup(arena, strbuf_text(&text), text.length);
}

/* The options in NAME.args, and those for all cases. */
static void set_options(Arena *arena, tirc_context *tirc, const char *name, const Chosen *chosen)
{
    char *text = read_text(arena, arena_printf(arena, "%s.args", name)), *state = NULL;
    const char *words[MOST_WORDS];
    int count = 0;
    for (char *word = text ? strtok_r(text, " \n", &state) : NULL; word && count < MOST_WORDS - 1; word = strtok_r(NULL, " \n", &state))
        words[count++] = word;
    words[count++] = "--diagnostics=text";
    if (tirc_set_options(tirc, words, count) || tirc_set_options(tirc, chosen->options, chosen->option_count))
        tirc_diagnostics(tirc);
}

/* "line 3: reorder: ..." of the first error among DIAGNOSTICS, "file:3:1: error: reorder: ...". */
static const char *refusal(Arena *arena, const char *diagnostics)
{
    const char *error = strstr(diagnostics, "error: ");
    if (!error)
        return "fails without an error";
    const char *line = error;
    while (line > diagnostics && line[-1] != '\n')
        line--;
    const char *number = strchr(line, ':');
    int at = number && number < error ? atoi(number + 1) : 0;
    const char *text = error + strlen("error: ");
    return arena_printf(arena, "line %d: %.*s", at, (int)strcspn(text, "\n"), text);
}

/* What becomes of the script of case NAME, in the working directory. */
static const char *verdict(Arena *arena, const char *name, const Chosen *chosen, FILE *nowhere)
{
    tirc_context *tirc = tirc_context_new();
    tirc_set_output(tirc, nowhere);
    set_options(arena, tirc, name, chosen);
    tirc_text script = {.name = arena_printf(arena, "%s.sched", name)}, program_text = {.name = case_program(arena, script.name)};
    const tirc_program *program = program_text.name ? tirc_read(tirc, &program_text, 1) : NULL;
    program = program ? tirc_schedule(tirc, program, &script, 1) : NULL;
    const char *result = program ? "accepted" : refusal(arena, tirc_diagnostics(tirc));
    tirc_context_free(tirc);
    return result;
}

static bool is_wanted(const char *stem, const Chosen *chosen)
{
    bool wanted = !chosen->pattern_count;
    for (int i = 0; i < chosen->pattern_count; i++)
        wanted |= !fnmatch(chosen->patterns[i], stem, 0);
    return wanted;
}

/* The line of the script at PATH; NULL where it is not wanted. */
static const char *verdict_line(Arena *arena, const char *path, const Chosen *chosen, FILE *nowhere)
{
    const char *stem = arena_strndup(arena, path + strlen(cases_root), strlen(path) - strlen(cases_root) - strlen(".sched"));
    const char *name = strrchr(stem, '/') + 1;
    if (!is_wanted(stem, chosen) || chdir(arena_strndup(arena, path, (size_t)(strrchr(path, '/') - path))))
        return NULL;
    return arena_printf(arena, "%s: %s", stem, verdict(arena, name, chosen, nowhere));
}

/* The lines of all wanted scripts; returns how many. */
static int find_verdicts(Arena *arena, const Chosen *chosen, const char **lines)
{
    FILE *nowhere = fopen("/dev/null", "w");
    char root[4096];
    bool good = nowhere && getcwd(root, sizeof root);
    glob_t scripts = case_files("sched");
    int count = 0;
    for (size_t i = 0; good && i < scripts.gl_pathc && count < MOST_LINES; i++) {
        lines[count] = verdict_line(arena, scripts.gl_pathv[i], chosen, nowhere);
        count += lines[count] != NULL;
        good = !chdir(root);
    }
    globfree(&scripts);
    if (nowhere)
        fclose(nowhere);
    return good ? count : 0;
}

static int split_lines(char *text, const char **lines)
{
    int count = 0;
    char *state = NULL;
    for (char *line = strtok_r(text, "\n", &state); line && count < MOST_LINES; line = strtok_r(NULL, "\n", &state))
        lines[count++] = line;
    return count;
}

/* Orders lines by the names of their cases. */
static int compare_names(const char *a, const char *b)
{
    size_t length_a = strcspn(a, ":"), length_b = strcspn(b, ":"), least = length_a < length_b ? length_a : length_b;
    int order = strncmp(a, b, least);
    return order ? order : (length_a > length_b) - (length_a < length_b);
}

static int compare_lines(const void *a, const void *b)
{
    return compare_names(*(const char *const *)a, *(const char *const *)b);
}

/* Names the lines that differ. WHOLE: a case that was not run is gone. */
static bool compare(const char **expected, int expected_count, const char **found, int found_count, bool whole)
{
    bool same = true;
    for (int i = 0, j = 0; i < expected_count || j < found_count;) {
        int order = i == expected_count ? 1 : j == found_count ? -1 : compare_names(expected[i], found[j]);
        bool differs = order > 0 || (order < 0 && whole) || (!order && strcmp(expected[i], found[j]));
        if (differs && order <= 0)
            printf("-%s\n", expected[i]);
        if (differs && order >= 0)
            printf("+%s\n", found[j]);
        same &= !differs;
        i += order <= 0;
        j += order >= 0;
    }
    if (!same)
        printf("the verdicts differ from %s; where that is meant, UPDATE=1 writes it anew\n", snapshot_path);
    return same;
}

static bool write_snapshot(const char **lines, int count)
{
    FILE *file = fopen(snapshot_path, "w");
    for (int i = 0; file && i < count; i++)
        fprintf(file, "%s\n", lines[i]);
    return file && !fclose(file);
}

int main(int argc, char **argv)
{
    static const char *found[MOST_LINES], *expected[MOST_LINES];
    Arena *arena = arena_new();
    Chosen chosen = {.option_count = 0};
    for (int i = 1; i < argc && i < MOST_WORDS; i++)
        if (!strncmp(argv[i], "--", 2))
            chosen.options[chosen.option_count++] = argv[i];
        else
            chosen.patterns[chosen.pattern_count++] = argv[i];
    int count = find_verdicts(arena, &chosen, found);
    qsort(found, (size_t)count, sizeof *found, compare_lines);
    char *snapshot = read_text(arena, snapshot_path);
    bool good = count > 0;
    if (getenv("UPDATE") && argc == 1) {
        good = good && write_snapshot(found, count);
    } else {
        int expected_count = split_lines(snapshot ? snapshot : (char[]){""}, expected);
        qsort(expected, (size_t)expected_count, sizeof *expected, compare_lines);
        good = compare(expected, expected_count, found, count, !chosen.pattern_count) && good;
    }
    if (!count)
        fprintf(stderr, "%s holds no such cases; run this in the root of the repository\n", cases_root);
    arena_free(arena);
    return good ? 0 : 1;
}
