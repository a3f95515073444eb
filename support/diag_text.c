/* Diagnostics for people: the place, the message, the line of source with a caret; see diag.h. */
#include <string.h>

#include "support/diag_print.h"
#include "support/warning.h"

enum { LONGEST_LINE = 160 };

/* The bytes that may follow FIRST in a character: neither overlong forms nor halves of surrogate pairs, nothing above U+10FFFF. */
static bool second_byte_fits(unsigned char first, unsigned char second)
{
    unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= least && second <= most;
}

int utf8_length(const char *text, int length)
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
    return count < 2 || second_byte_fits(first, (unsigned char)text[1]) ? count : 0;
}

/* Control characters: those of ASCII, and U+0080 to U+009F, which a terminal may obey as well. */
static bool is_control(const char *text, int count)
{
    unsigned char byte = (unsigned char)*text;
    return count == 1 ? byte < 32 || byte == 127 : count == 2 && byte == 0xc2 && (unsigned char)text[1] < 0xa0;
}

/* Bytes that are not printable show as '?', so that junk never reaches the terminal; UTF-8 passes. */
static void print_clean(FILE *out, const char *text, int length)
{
    for (int i = 0; i < length;) {
        int count = utf8_length(text + i, length - i);
        if (count == 0 || is_control(text + i, count))
            fputc(text[i] == '\t' ? ' ' : '?', out);
        else
            fwrite(text + i, 1, (size_t)count, out);
        i += count ? count : 1;
    }
}

/* A message may have several lines, and hold a name of any length. ENDING follows it on its last line. */
static void print_message(FILE *out, const char *text, const char *ending)
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
    fprintf(out, "%s%s\n", length > LONGEST_TEXT ? "..." : "", ending);
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

/* The option that the name of a warning belongs to, as in " [-Wshadow]"; "" for other diagnostics. */
static const char *option_text(const Diagnostic *diagnostic, char *text, size_t size)
{
    text[0] = 0;
    if (diagnostic->warning)
        snprintf(text, size, " [%s-W%s]", diagnostic->severity == DIAG_ERROR ? "-Werror," : "", warning_name(diagnostic->warning));
    return text;
}

void diag_print_text(const Context *ctx, FILE *out, const Diagnostic *diagnostic, bool color)
{
    static const char *const colors[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
    Place place;
    char option[80];
    bool placed = source_place(ctx->sources, diagnostic->span, &place);
    if (placed) {
        print_clean(out, place.file->name, (int)strlen(place.file->name));
        fprintf(out, ":%d:%d: ", place.line, place.column);
    } else
        fputs("tirc: ", out);
    fprintf(out, "%s%s:%s ", color ? colors[diagnostic->severity] : "", severity_name(diagnostic->severity), color ? "\033[0m" : "");
    print_message(out, diagnostic->text, option_text(diagnostic, option, sizeof option));
    if (placed)
        print_source_line(out, &place, diagnostic->span);
}

const char *severity_name(Severity severity)
{
    static const char *const names[] = {"error", "warning", "note"};
    return names[severity];
}
