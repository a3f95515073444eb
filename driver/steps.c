/* --show=steps and --show=diff: the program after each step of a schedule, or what the step changed, under the lines of the script that
   did it. All the diffs together are one patch of the unscheduled program as --show prints it. Calls that ask (get_loops) or leave the
   program as it is have no heading. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/driver.h"
#include "print/print.h"
#include "verify/verify.h"
#include "support/bug.h"

enum { CONTEXT_LINES = 3 };

typedef struct {
    const char *text;
    int length;
} Line;
typedef VEC(Line) LineList;

static LineList split_lines(Arena *arena, const char *text)
{
    LineList lines = {0};
    while (*text) {
        int length = (int)strcspn(text, "\n");
        Line line = {text, length};
        vec_push(arena, &lines, line);
        text += length + (text[length] == '\n');
    }
    return lines;
}

static bool same_line(Line a, Line b)
{
    return a.length == b.length && !memcmp(a.text, b.text, (size_t)a.length);
}

/* An edit script: ' ' keeps the next line of both, '-' drops one of the old, '+' adds one of the new. */
typedef VEC(char) EditScript;

/* Longest common subsequence of what lies between the common head and tail. Beyond the table's size limit the middle is replaced as a
   whole. */
static EditScript diff_lines(Arena *arena, LineList a, LineList b)
{
    EditScript edits = {0};
    int head = 0, tail = 0;
    while (head < a.count && head < b.count && same_line(a.data[head], b.data[head]))
        head++;
    while (tail < a.count - head && tail < b.count - head && same_line(a.data[a.count - 1 - tail], b.data[b.count - 1 - tail]))
        tail++;
    int n = a.count - head - tail, m = b.count - head - tail;
    bool table_fits = (long)n * m <= 4000000;
    int *length = table_fits ? ARENA_ARRAY(arena, int, (n + 1) * (m + 1)) : NULL;
    for (int i = n - 1; table_fits && i >= 0; i--)
        for (int j = m - 1; j >= 0; j--) {
            int *here = &length[i * (m + 1) + j];
            int down = length[(i + 1) * (m + 1) + j], right = length[i * (m + 1) + j + 1];
            *here = same_line(a.data[head + i], b.data[head + j]) ? length[(i + 1) * (m + 1) + j + 1] + 1 : down > right ? down : right;
        }
    for (int i = 0; i < head; i++)
        vec_push(arena, &edits, ' ');
    for (int i = 0, j = 0; i < n || j < m;) {
        bool both = i < n && j < m && table_fits;
        if (both && same_line(a.data[head + i], b.data[head + j])) {
            vec_push(arena, &edits, ' ');
            i++, j++;
        } else if (i < n && (j >= m || !both || length[(i + 1) * (m + 1) + j] >= length[i * (m + 1) + j + 1])) {
            vec_push(arena, &edits, '-');
            i++;
        } else {
            vec_push(arena, &edits, '+');
            j++;
        }
    }
    for (int i = 0; i < tail; i++)
        vec_push(arena, &edits, ' ');
    return edits;
}

/* True when edit INDEX lies within CONTEXT_LINES of a change. */
static bool near_change(const EditScript *edits, int index)
{
    for (int i = index - CONTEXT_LINES; i <= index + CONTEXT_LINES; i++)
        if (i >= 0 && i < edits->count && edits->data[i] != ' ')
            return true;
    return false;
}

static void print_hunk_header(FILE *out, const EditScript *edits, int first, int old_line, int new_line, bool color)
{
    int old_count = 0, new_count = 0;
    for (int i = first; i < edits->count && near_change(edits, i); i++) {
        old_count += edits->data[i] != '+';
        new_count += edits->data[i] != '-';
    }
    fprintf(out, "%s@@ -%d,%d +%d,%d @@%s\n", color ? "\033[36m" : "", old_line + (old_count > 0), old_count, new_line + (new_count > 0),
            new_count, color ? "\033[0m" : "");
}

bool driver_uses_color(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(stream)) && !(no_color && *no_color) && !(terminal && !strcmp(terminal, "dumb"));
}

static void print_diff_line(FILE *out, char edit, Line line, bool color)
{
    const char *begin = !color || edit == ' ' ? "" : edit == '+' ? "\033[32m" : "\033[31m";
    fprintf(out, "%s%c%.*s%s\n", begin, edit, line.length, line.text, *begin ? "\033[0m" : "");
}

static void print_diff(Arena *arena, FILE *out, const char *before, const char *after, bool color)
{
    LineList a = split_lines(arena, before), b = split_lines(arena, after);
    EditScript edits = diff_lines(arena, a, b);
    bool inside = false, any = false;
    for (int e = 0, i = 0, j = 0; e < edits.count; e++) {
        char edit = edits.data[e];
        bool shown = near_change(&edits, e);
        if (shown && !any)
            fprintf(out, color ? "\033[1m--- before\033[0m\n\033[1m+++ after\033[0m\n" : "--- before\n+++ after\n");
        if (shown && !inside)
            print_hunk_header(out, &edits, e, i, j, color);
        if (shown)
            print_diff_line(out, edit, edit == '+' ? b.data[j] : a.data[i], color);
        inside = shown;
        any |= shown;
        i += edit != '+';
        j += edit != '-';
    }
}

void step_print_heading(Driver *driver, Span call, bool color)
{
    Place place;
    if (!source_place(driver->ctx->sources, call, &place))
        return;
    const char *line = place.line_text, *end = place.file->text + call.end;
    fprintf(driver->out, "%s# %s:%d: ", color ? "\033[1m" : "", place.file->name, place.line);
    int length = place.line_length, indent = 0;
    while (indent < length && (line[indent] == ' ' || line[indent] == '\t'))
        indent++;
    fprintf(driver->out, "%.*s", length - indent, line + indent);
    while (line + length < end) {
        line += length + 1;
        length = (int)strcspn(line, "\n");
        fprintf(driver->out, "\n# %.*s", length, line);
    }
    fprintf(driver->out, "%s\n", color ? "\033[0m" : "");
}

void step_view_after(void *data, const Schedule *sch, Span call)
{
    StepView *view = data;
    Driver *driver = view->driver;
    const char *why;
    if (driver->options.verify_each && !verify_module(driver->ctx, sch->module, STAGE_SCHEDULED, &why))
        BUG("the program is malformed after the step '%s': %s", sch->primitive, why);
    driver_note_step(driver, sch);
    if (!view->before)
        return;
    const char *after = print_module(driver->ctx, sch->module);
    bool color = driver_uses_color(driver->out);
    step_print_heading(driver, call, color);
    Arena *outside = context_begin_scratch(driver->ctx);
    if (driver->options.show == SHOW_STEPS)
        fprintf(driver->out, "%s\n", after);
    else
        print_diff(driver->ctx->arena, driver->out, view->before, after, color);
    context_end_scratch(driver->ctx, outside);
    view->before = after;
}
