/* The reference of the schedule language: --help=schedule, and docs/schedule.md, which is the same text. The words are in
   passes/schedule/core/reference.def and checks.def; the examples run when they are shown. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "driver/reference.h"
#include "support/bug.h"

enum { WIDTH = 140 };

typedef enum { ROW_PURPOSE, ROW_PARAMETER, ROW_REQUIRES, ROW_EXAMPLE, ROW_COMMON, ROW_SCOPE, ROW_CHECK, ROW_REFUSED } RowKind;

/* A row of a table. OWNER: the primitive, or the check; KEY: the parameter, the words of the message, or the name of the program. */
typedef struct {
    RowKind kind;
    const char *owner, *key, *text;
} ReferenceRow;

static const ReferenceRow rows[] = {
#define PURPOSE(primitive, text) {ROW_PURPOSE, #primitive, NULL, text},
#define PARAMETER(primitive, name, text) {ROW_PARAMETER, #primitive, #name, text},
#define REQUIRES(primitive, text) {ROW_REQUIRES, #primitive, NULL, text},
#define EXAMPLE(primitive, program, text) {ROW_EXAMPLE, #primitive, #program, text},
#define COMMON(message, text) {ROW_COMMON, NULL, message, text},
#define SCOPE(name, text) {ROW_SCOPE, NULL, name, text},
#define REQUIREMENT(name, text) {ROW_CHECK, #name, NULL, text},
#define REFUSED(check, message, text) {ROW_REFUSED, #check, message, text},
#include "passes/schedule/core/reference.def"
#include "passes/schedule/check/checks.def"
#undef REQUIREMENT
#undef REFUSED
#undef PURPOSE
#undef PARAMETER
#undef REQUIRES
#undef EXAMPLE
#undef COMMON
#undef SCOPE
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static const struct {
    const char *name, *text;
} programs[] = {
#define PROGRAM(name, text) {#name, text},
#include "passes/schedule/core/reference_programs.def"
#undef PROGRAM
};

/* The row of KIND for OWNER with KEY (NULL: any); NULL where there is none. */
static const ReferenceRow *find_row(RowKind kind, const char *owner, const char *key)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == kind && !strcmp(rows[i].owner, owner) && (!key || !strcmp(rows[i].key, key)))
            return &rows[i];
    return NULL;
}

/* --- Printing --- */

/* TEXT in lines of at most WIDTH columns, each behind INDENT blanks but the first, which begins in column COLUMN. */
static void print_wrapped(FILE *out, const char *text, int column, int indent)
{
    for (bool first = true; *text; first = false) {
        size_t word = strcspn(text, " ");
        if (!first && column + 1 + (int)word > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first)
            column += fprintf(out, " ");
        fwrite(text, 1, word, out);
        column += (int)word;
        text += word + strspn(text + word, " ");
    }
    fputc('\n', out);
}

/* An item of a list: HEAD (in code, where it is one) and TEXT. */
static void print_item(FILE *out, const char *head, bool is_code, const char *text)
{
    const char *quote = is_code ? "`" : "\"";
    int column = head ? fprintf(out, "- %s%s%s: ", quote, head, quote) : fprintf(out, "- ");
    print_wrapped(out, text, column, 2);
}

static void print_list(FILE *out, RowKind kind, const char *primitive, const char *title)
{
    if (!find_row(kind, primitive, NULL))
        return;
    fprintf(out, "%s\n\n", title);
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == kind && !strcmp(rows[i].owner, primitive))
            print_item(out, rows[i].key, kind == ROW_PARAMETER, rows[i].text);
    fputc('\n', out);
}

/* --- Checks --- */

/* What CHECK asks, and its messages, each with what to do. */
static void print_check(FILE *out, const ReferenceRow *check)
{
    print_item(out, check->owner, true, check->text);
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == ROW_REFUSED && !strcmp(rows[i].owner, check->owner)) {
            int column = fprintf(out, "  - \"%s\": ", rows[i].key);
            print_wrapped(out, rows[i].text, column, 4);
        }
}

/* The name at *LIST, of a list "a, b"; *LIST moves behind it. NULL at the end. */
static const char *next_name(Context *ctx, const char **list)
{
    *list += strspn(*list, ", ");
    size_t length = strcspn(*list, ", ");
    const char *name = length ? arena_printf(ctx->arena, "%.*s", (int)length, *list) : NULL;
    *list += length;
    return name;
}

/* The checks of PRIMITIVE: their names, or with WHOLE all that is known of them. False where one is not in the table. */
static bool print_checks(Context *ctx, FILE *out, const Primitive *primitive, bool whole)
{
    const char *list = primitive->requires, *name;
    bool good = true;
    if (!*list)
        return true;
    if (whole)
        fprintf(out, "Checks, and what to do where one refuses the step:\n\n");
    else {
        fprintf(out, "Checks ([below](#checks)): ");
        print_wrapped(out, list, (int)strlen("Checks ([below](#checks)): "), 0);
    }
    while ((name = next_name(ctx, &list))) {
        const ReferenceRow *check = find_row(ROW_CHECK, name, NULL);
        if (!check)
            good = fprintf(stderr, "checks.def has no REQUIREMENT(%s, ...), which %s requires\n", name, primitive->name) < 0;
        else if (whole)
            print_check(out, check);
    }
    fputc('\n', out);
    return good;
}

static void print_all_checks(FILE *out)
{
    fprintf(out, "## Checks\n\nWhat steps ask before they change a program. Under each check are words of its messages, and what to do.\n\n");
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == ROW_CHECK)
            print_check(out, &rows[i]);
    fputc('\n', out);
}

/* --- Examples --- */

static void print_code(FILE *out, const char *text)
{
    bool begun = false;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        int length = (int)strcspn(line, "\n");
        bool is_note = !strncmp(line, "# from ", 7);
        begun |= length && !is_note;
        if (begun && !is_note)
            fprintf(out, "%s%.*s\n", length ? "    " : "", length, line);
    }
    fputc('\n', out);
}

static const char *program_text(const char *name)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(programs[i].name, name))
            return programs[i].text;
    return NULL;
}

/* The program before and after the steps, and what they print. False after diagnostics. */
static bool print_example(FILE *out, const ReferenceRow *example)
{
    tirc_context *context = tirc_context_new();
    char *printed = NULL;
    size_t length = 0;
    FILE *sink = open_memstream(&printed, &length);
    const char *source = program_text(example->key);
    tirc_text text = {"example.tir", source, source ? strlen(source) : 0}, script = {"example.sched", example->text, strlen(example->text)};
    tirc_set_output(context, sink);
    const tirc_program *before = source && sink ? tirc_read(context, &text, 1) : NULL;
    const tirc_program *after = before ? tirc_schedule(context, before, &script, 1) : NULL;
    const char *result = after ? tirc_emit(context, after, "tir", NULL) : NULL;
    if (sink)
        fclose(sink);
    if (result) {
        fprintf(out, "Before:\n\n");
        print_code(out, source);
        fprintf(out, "Steps:\n\n");
        print_code(out, example->text);
        fprintf(out, *printed ? "Printed:\n\n" : "After:\n\n");
        print_code(out, *printed ? printed : result);
    } else
        fprintf(stderr, "the example of '%s' fails: %s\n", example->owner, tirc_diagnostics(context));
    free(printed);
    tirc_context_free(context);
    return result;
}

/* --- One primitive --- */

/* Tells of texts that PRIMITIVE lacks, and of parameters that it has not. */
static bool is_complete(Context *ctx, const Primitive *primitive)
{
    Parameter parameters[MOST_PARAMETERS];
    int count = primitive_parameters(ctx, primitive, parameters), known = 0;
    bool complete = true;
    for (int i = 0; i < count; i++)
        if (!find_row(ROW_PARAMETER, primitive->name, parameters[i].name))
            complete = fprintf(stderr, "reference.def has no PARAMETER(%s, %s, ...)\n", primitive->name, parameters[i].name) < 0;
    for (int i = 0; i < ROW_COUNT; i++)
        known += rows[i].kind == ROW_PARAMETER && !strcmp(rows[i].owner, primitive->name);
    if (known > count)
        complete = fprintf(stderr, "reference.def has a PARAMETER of %s that its signature lacks\n", primitive->name) < 0;
    if (!find_row(ROW_PURPOSE, primitive->name, NULL))
        complete = fprintf(stderr, "reference.def has no PURPOSE(%s, ...)\n", primitive->name) < 0;
    if (!find_row(ROW_EXAMPLE, primitive->name, NULL))
        complete = fprintf(stderr, "reference.def has no EXAMPLE(%s, ...)\n", primitive->name) < 0;
    return complete;
}

static bool print_primitive(Context *ctx, FILE *out, const Primitive *primitive, bool alone)
{
    bool good = is_complete(ctx, primitive);
    const ReferenceRow *purpose = find_row(ROW_PURPOSE, primitive->name, NULL), *example = find_row(ROW_EXAMPLE, primitive->name, NULL);
    fprintf(out, "## %s\n\n    sch.%s(%s) -> %s\n\n", primitive->name, primitive->name, primitive->signature, primitive->result);
    fputc(toupper((unsigned char)primitive->summary[0]), out);
    fprintf(out, "%s.\n\n", primitive->summary + 1);
    if (purpose) {
        print_wrapped(out, purpose->text, 0, 0);
        fputc('\n', out);
    }
    print_list(out, ROW_PARAMETER, primitive->name, "Parameters:");
    print_list(out, ROW_REQUIRES, primitive->name, "What must hold:");
    good &= print_checks(ctx, out, primitive, alone);
    return (!example || print_example(out, example)) && good;
}

/* A section of rows that belong to no primitive */
static void print_section(FILE *out, RowKind kind, const char *title)
{
    fprintf(out, "## %s\n\n", title);
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == kind)
            print_item(out, rows[i].key, kind == ROW_SCOPE, rows[i].text);
    fputc('\n', out);
}

static void print_scopes(FILE *out)
{
    print_section(out, ROW_SCOPE, "Storage scopes");
}

/* --- All of them --- */

static bool print_all(Context *ctx, FILE *out)
{
    bool good = true;
    for (int i = 0; i < schedule_primitive_count; i++)
        good &= print_primitive(ctx, out, &schedule_primitives[i], false);
    print_all_checks(out);
    print_section(out, ROW_COMMON, "Messages of several steps");
    print_scopes(out);
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].owner && rows[i].kind < ROW_COMMON && !primitive_find(rows[i].owner))
            good = fprintf(stderr, "reference.def tells of '%s', which is no primitive\n", rows[i].owner) < 0;
    return good;
}

static void print_overview(FILE *out)
{
    fprintf(out, "Primitives of schedules. --help=schedule=NAME tells more of one, with an example; =scopes of storage scopes; =all of all.\n\n");
    for (int i = 0; i < schedule_primitive_count; i++)
        fprintf(out, "  %-24s %s\n", schedule_primitives[i].name, schedule_primitives[i].summary);
}

bool reference_print(Context *ctx, FILE *out, const char *name)
{
    const Primitive *primitive = name ? primitive_find(name) : NULL;
    const char *names[256];
    int count = 0;
    if (!name)
        return print_overview(out), true;
    if (!strcmp(name, "scopes"))
        return print_scopes(out), true;
    if (!strcmp(name, "all"))
        return print_all(ctx, out);
    if (primitive)
        return print_primitive(ctx, out, primitive, true);
    for (int i = 0; i < schedule_primitive_count && count < (int)(sizeof names / sizeof *names); i++)
        names[count++] = schedule_primitives[i].name;
    const char *near = diag_closest(name, names, count);
    diag_error(ctx, span_none(), near ? "there is no primitive '%s'; did you mean '%s'?" : "there is no primitive '%s'; --help=schedule lists them", name, near);
    return false;
}
