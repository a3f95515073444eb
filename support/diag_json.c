/* Diagnostics for programs: one JSON object on a line; docs/diagnostics.md describes it. The line is valid JSON whatever bytes the source and
   the file names hold: what is no UTF-8 becomes U+FFFD, control characters are escaped. */
#include <string.h>

#include "support/diag_print.h"
#include "support/warning.h"

static void write_character(FILE *out, unsigned char byte)
{
    if (byte == '"' || byte == '\\')
        fprintf(out, "\\%c", byte);
    else if (byte == '\n')
        fputs("\\n", out);
    else if (byte < 32 || byte == 127)
        fprintf(out, "\\u%04x", byte);
    else
        fputc(byte, out);
}

static void write_string(FILE *out, const char *text)
{
    int length = (int)strnlen(text, LONGEST_TEXT + 1), shown = length < LONGEST_TEXT ? length : LONGEST_TEXT;
    fputc('"', out);
    for (int i = 0; i < shown;) {
        int count = utf8_length(text + i, length - i);
        if (count == 1)
            write_character(out, (unsigned char)text[i]);
        else if (count == 0)
            fputs("\\ufffd", out);
        else
            fwrite(text + i, 1, (size_t)count, out);
        i += count ? count : 1;
    }
    fputs(length > LONGEST_TEXT ? "...\"" : "\"", out);
}

static void write_position(const Context *ctx, FILE *out, uint32_t file, uint32_t offset)
{
    Place place;
    source_place(ctx->sources, (Span){file, offset, offset}, &place);
    fprintf(out, "{\"line\":%d,\"column\":%d,\"offset\":%u}", place.line, place.column, (unsigned)offset);
}

/* "file" and "span"; both null where the diagnostic has no place. */
static void write_place(const Context *ctx, FILE *out, Span span)
{
    const SourceFile *file = source_file(ctx->sources, span.file);
    fputs("\"file\":", out);
    if (!file) {
        fputs("null,\"span\":null", out);
        return;
    }
    write_string(out, file->name);
    fputs(",\"span\":{\"begin\":", out);
    write_position(ctx, out, span.file, span.begin);
    fputs(",\"end\":", out);
    write_position(ctx, out, span.file, span.end > span.begin ? span.end : span.begin);
    fputc('}', out);
}

static void write_name(FILE *out, Warning warning)
{
    if (warning)
        write_string(out, warning_name(warning));
    else
        fputs("null", out);
}

static void write_notes(const Context *ctx, FILE *out, const Diagnostic *notes, int count)
{
    for (int i = 0; i < count; i++) {
        fputs(i ? ",{" : "{", out);
        write_place(ctx, out, notes[i].span);
        fputs(",\"message\":", out);
        write_string(out, notes[i].text);
        fputc('}', out);
    }
}

static void write_edits(const Context *ctx, FILE *out, const Diagnostic *diagnostic)
{
    for (int i = 0; i < diagnostic->edits.count; i++) {
        fputs(i ? ",{" : "{", out);
        write_place(ctx, out, diagnostic->edits.data[i].span);
        fputs(",\"text\":", out);
        write_string(out, diagnostic->edits.data[i].text);
        fputc('}', out);
    }
}

void diag_print_json(const Context *ctx, FILE *out, const Diagnostic *diagnostic, int note_count)
{
    fputc('{', out);
    write_place(ctx, out, diagnostic->span);
    fprintf(out, ",\"severity\":\"%s\",\"name\":", severity_name(diagnostic->severity));
    write_name(out, diagnostic->warning);
    fputs(",\"message\":", out);
    write_string(out, diagnostic->text);
    fputs(",\"notes\":[", out);
    write_notes(ctx, out, diagnostic + 1, note_count);
    fputs("],\"fix\":[", out);
    write_edits(ctx, out, diagnostic);
    fputs("]}\n", out);
}
