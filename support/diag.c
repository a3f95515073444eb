/* Collecting and printing diagnostics; see diag.h. */
#include "support/diag.h"

#include <stdlib.h>
#include <string.h>

#include "support/context.h"

enum { MOST_ERRORS = 20, LONGEST_LINE = 160, LONGEST_TEXT = 4000 };

static void diag_add(Context *ctx, Severity severity, Span span, const char *format, va_list args)
{
    if (severity == DIAG_WARNING && ctx->no_warnings)
        return;
    if (severity == DIAG_WARNING && ctx->warnings_are_errors)
        severity = DIAG_ERROR;
    if (severity == DIAG_ERROR)
        ctx->error_count++;
    if (ctx->error_count > MOST_ERRORS)
        return;
    Diagnostic diagnostic = {severity, span, arena_vprintf(ctx->base_arena, format, args)};
    vec_push(ctx->base_arena, &ctx->diagnostics, diagnostic);
}

void diag_error(Context *ctx, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_add(ctx, DIAG_ERROR, span, format, args);
    va_end(args);
}

void diag_warning(Context *ctx, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_add(ctx, DIAG_WARNING, span, format, args);
    va_end(args);
}

void diag_note(Context *ctx, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_add(ctx, DIAG_NOTE, span, format, args);
    va_end(args);
}

int diag_error_count(const Context *ctx)
{
    return ctx->error_count;
}

DiagMark diag_mark(const Context *ctx)
{
    return (DiagMark){ctx->diagnostics.count, ctx->error_count};
}

void diag_rollback(Context *ctx, DiagMark mark)
{
    ctx->diagnostics.count = mark.count;
    ctx->error_count = mark.errors;
}

const char *diag_first_error(const Context *ctx, DiagMark mark)
{
    for (int i = mark.count; i < ctx->diagnostics.count; i++)
        if (ctx->diagnostics.data[i].severity == DIAG_ERROR)
            return ctx->diagnostics.data[i].text;
    return NULL;
}

/* The number of bytes of the UTF-8 character at TEXT, of which LENGTH bytes are there; 0 when they are none. */
static int utf8_length(const char *text, int length)
{
    unsigned char first = (unsigned char)*text;
    int count = first < 0x80                    ? 1
                : first >= 0xc2 && first < 0xe0 ? 2
                : first >= 0xe0 && first < 0xf0 ? 3
                : first >= 0xf0 && first < 0xf5 ? 4
                                                : 0;
    for (int i = 1; i < count; i++)
        if (i >= length || ((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
    return count;
}

/* Bytes that are not printable show as '?', so that junk never reaches the terminal; UTF-8 passes. */
static void print_clean(FILE *out, const char *text, int length)
{
    for (int i = 0; i < length;) {
        int count = utf8_length(text + i, length - i);
        unsigned char byte = (unsigned char)text[i];
        if (count <= 1)
            fputc(byte == '\t' ? ' ' : count == 0 || byte < 32 || byte == 127 ? '?' : byte, out);
        else
            fwrite(text + i, 1, (size_t)count, out);
        i += count ? count : 1;
    }
}

/* A message may have several lines, and hold a name of any length. */
static void print_text(FILE *out, const char *text)
{
    int length = (int)strnlen(text, LONGEST_TEXT + 1), shown = length < LONGEST_TEXT ? length : LONGEST_TEXT;
    for (int at = 0, end; at < shown; at = end) {
        const char *newline = memchr(text + at, '\n', (size_t)(shown - at));
        end = newline ? (int)(newline - text) : shown;
        print_clean(out, text + at, end - at);
        if (newline) {
            fputc('\n', out);
            end++;
        }
    }
    fputs(length > LONGEST_TEXT ? "...\n" : "\n", out);
}

/* The source line and a caret under the span, cut to a window around the caret where the line is very long. */
static void print_source_line(FILE *out, const Place *place, Span span)
{
    int first = place->column - 1 > LONGEST_LINE / 2 ? place->column - 1 - LONGEST_LINE / 2 : 0;
    int last = place->line_length < first + LONGEST_LINE ? place->line_length : first + LONGEST_LINE;
    int width = (int)(span.end - span.begin);
    fputs("    ", out);
    print_clean(out, place->line_text + first, last - first);
    fprintf(out, "\n    ");
    for (int i = first; i < place->column - 1; i++)
        if (i >= place->line_length || ((unsigned char)place->line_text[i] & 0xc0) != 0x80)
            fputc(' ', out);
    fputc('^', out);
    for (int i = place->column; i < last && i < place->column - 1 + width; i++)
        if (((unsigned char)place->line_text[i] & 0xc0) != 0x80)
            fputc('~', out);
    fputc('\n', out);
}

static void print_diagnostic(const Context *ctx, FILE *out, const Diagnostic *diagnostic, bool color)
{
    static const char *const names[] = {"error", "warning", "note"};
    static const char *const colors[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
    Place place;
    bool placed = source_place(ctx->sources, diagnostic->span, &place);
    if (placed)
        fprintf(out, "%s:%d:%d: ", place.file->name, place.line, place.column);
    else
        fputs("tirc: ", out);
    fprintf(out, "%s%s:%s ", color ? colors[diagnostic->severity] : "", names[diagnostic->severity], color ? "\033[0m" : "");
    print_text(out, diagnostic->text);
    if (placed)
        print_source_line(out, &place, diagnostic->span);
}

void diag_flush(Context *ctx, FILE *out, bool color)
{
    for (int i = ctx->flushed_diagnostics; i < ctx->diagnostics.count; i++)
        print_diagnostic(ctx, out, &ctx->diagnostics.data[i], color);
    if (ctx->error_count > MOST_ERRORS && ctx->flushed_diagnostics < ctx->diagnostics.count)
        fprintf(out, "tirc: note: %d more errors are not shown\n", ctx->error_count - MOST_ERRORS);
    ctx->flushed_diagnostics = ctx->diagnostics.count;
}

void diag_clear(Context *ctx)
{
    ctx->diagnostics.count = ctx->flushed_diagnostics = ctx->error_count = 0;
}

/* Edit distance with adjacent transpositions, given up beyond LIMIT. */
static int edit_distance(const char *a, const char *b, int limit)
{
    enum { LONGEST = 64 };
    int length_a = (int)strnlen(a, LONGEST + 1), length_b = (int)strnlen(b, LONGEST + 1);
    if (length_a > LONGEST || length_b > LONGEST || abs(length_a - length_b) > limit)
        return limit + 1;
    int rows[3][LONGEST + 1];
    for (int j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (int i = 1; i <= length_a; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= length_b; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[length_a % 3][length_b];
}

const char *diag_closest(const char *wrong, const char *const *names, int count)
{
    size_t length = strlen(wrong);
    int limit = length <= 2 ? 0 : length <= 4 ? 1 : length <= 8 ? 2 : 3;
    const char *closest = NULL;
    for (int i = 0; i < count && limit > 0; i++) {
        if (!names[i])
            continue;
        int distance = edit_distance(wrong, names[i], limit);
        if (distance <= limit) {
            closest = names[i];
            limit = distance - 1;
        }
    }
    return closest;
}
