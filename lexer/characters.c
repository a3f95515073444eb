/* Which characters names may hold, and what becomes of those that begin no token; see scan.h. Names are not normalized. A character that looks
   like one of the language, as those of a keyboard in Chinese or of a text processor, is told once for each line with all repairs, and read as
   what it looks like. */
#include "lexer/scan.h"
#include "parser/tir.tab.h"
#include "support/utf8.h"

void scan_error(ScanState *scan, Span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!scan->quiet && !scan->faulty && span.begin >= scan->torn_until)
        diag_error(scan->ctx, span, "%s", arena_vprintf(scan->ctx->arena, format, args));
    va_end(args);
    scan->faulty = true;
}

/* Ranges above ASCII that hold punctuation, symbols and spaces, which never are part of a name. Other characters count as letters. */
static const struct {
    uint32_t first, last;
} symbol_ranges[] = {
    {0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},     {0xbb, 0xbf},       {0xd7, 0xd7},        {0xf7, 0xf7},
    {0x2000, 0x206f}, {0x20a0, 0x20cf}, {0x2190, 0x2bff}, {0x2e00, 0x2e7f},   {0x3000, 0x3004},    {0x3008, 0x3020},
    {0xe000, 0xf8ff}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe6f}, {0xfeff, 0xfeff},   {0xff01, 0xff0f},    {0xff1a, 0xff20},
    {0xff3b, 0xff3e}, {0xff5b, 0xff65}, {0xffe0, 0xffff}, {0x1f000, 0x1faff}, {0xe0000, 0x10ffff},
};

static bool code_is_letter(uint32_t code)
{
    for (size_t i = 0; i < sizeof symbol_ranges / sizeof *symbol_ranges; i++)
        if (code >= symbol_ranges[i].first && code <= symbol_ranges[i].last)
            return false;
    return true;
}

int scan_name_length(const char *text, int length)
{
    int at = 0;
    while (at < length) {
        uint32_t code;
        int size = utf8_decode(text + at, length - at, &code);
        if (size == 0 || (code >= 0x80 && !code_is_letter(code)))
            break;
        at += size;
    }
    return at;
}

/* --- characters that look like others --- */

static const struct {
    uint32_t code;
    int token; /* 0: white space, a quote or nothing that could be read on */
    const char *text;
} look_alikes[] = {
    {0xa0, 0, " "},      {0x3000, 0, " "},    {0x200b, 0, ""},     {0xfeff, 0, ""},     {0x2018, 0, "'"},    {0x2019, 0, "'"},
    {0x201c, 0, "\""},   {0x201d, 0, "\""},   {0x201e, 0, "\""},   {0xff02, 0, "\""},   {0xff07, 0, "'"},    {0x2010, '-', "-"},
    {0x2011, '-', "-"},  {0x2012, '-', "-"},  {0x2013, '-', "-"},  {0x2014, '-', "-"},  {0x2212, '-', "-"},  {0xd7, '*', "*"},
    {0x2217, '*', "*"},  {0x22c5, '*', "*"},  {0xf7, '/', "/"},    {0x2044, '/', "/"},  {0x2215, '/', "/"},  {0x2236, ':', ":"},
    {0x3001, ',', ","},  {0x3002, '.', "."},  {0x3010, '[', "["},  {0x3011, ']', "]"},  {0x2264, TOKEN_LE, "<="}, {0x2265, TOKEN_GE, ">="},
    {0x2260, TOKEN_NE, "!="}, {0x2192, TOKEN_ARROW, "->"},
};

/* What CODE, a character, looks like: *TEXT, and the token that it is read as. False where it looks like nothing. */
static bool find_look_alike(ScanState *scan, uint32_t code, const char **text, int *token)
{
    for (size_t i = 0; i < sizeof look_alikes / sizeof *look_alikes; i++)
        if (look_alikes[i].code == code) {
            *text = look_alikes[i].text;
            *token = look_alikes[i].token;
            return true;
        }
    if (code < 0xff01 || code > 0xff5e)
        return false;
    char plain = (char)(code - 0xff01 + '!'); /* the full-width forms stand in the order of ASCII */
    *text = arena_printf(scan->ctx->arena, "%c", plain);
    *token = strchr("+-*/%@&|^~<>()[]{},:.;=", plain) ? plain : 0;
    return true;
}

/* All of the repairs of a line belong to one message: TEXT, if it is the first error of the line. */
static void report_repair(ScanState *scan, Span span, const char *text, const char *repair)
{
    scan->repairs |= !scan->quiet && !scan->faulty;
    scan_error(scan, span, "%s", text);
    if (scan->repairs)
        diag_edit(scan->ctx, span, repair);
}

static void report_look_alike(ScanState *scan, Span span, const char *found, int length, const char *plain)
{
    Arena *arena = scan->ctx->arena;
    const char *meant = *plain == ' ' ? "a space" : !*plain ? "nothing" : arena_printf(arena, "'%s'", plain);
    report_repair(scan, span, arena_printf(arena, "the character '%.*s' only looks like %s; write %s", length, found, meant, meant), plain);
}

int scan_unexpected(ScanState *scan, const char *text, int length, int *token)
{
    uint32_t code = 0;
    Span span = scan_span(scan);
    int size = utf8_decode(text, length, &code);
    const char *plain;
    span.end = span.begin + (uint32_t)(size > 1 ? size : 1);
    *token = 0;
    if (size == 0)
        scan_error(scan, span, "the byte 0x%02x is not UTF-8 text", (unsigned char)text[0]);
    else if (code < 32 || code == 127)
        scan_error(scan, span, "unexpected control character U+%04X", code);
    else if (find_look_alike(scan, code, &plain, token))
        report_look_alike(scan, span, text, size, plain);
    else if (code == '?')
        scan_error(scan, span, "unexpected character '?' (U+003F); a choice is written 'a if condition else b'");
    else
        scan_error(scan, span, "unexpected character '%.*s' (U+%04X)", size, text, code);
    return size > 1 ? size : 1;
}

void scan_foreign(ScanState *scan, const char *written, const char *meant)
{
    Span span = scan_span(scan);
    const char *text = source_file(scan->ctx->sources, scan->file)->text;
    bool spaced = text[span.end] == ' ' || text[span.end] == '\t' || text[span.end] == '(';
    bool before = span.begin > 0 && text[span.begin - 1] != ' ' && text[span.begin - 1] != '(' && text[span.begin - 1] != '\n';
    Arena *arena = scan->ctx->arena;
    report_repair(scan, span, arena_printf(arena, "'%s' is written '%s' in Python", written, meant),
                  arena_printf(arena, "%s%s%s", before ? " " : "", meant, spaced ? "" : " "));
}

bool scan_in_foreign_comment(const SourceFile *source, uint32_t at)
{
    for (; at > 1 && source->text[at - 1] != '\n' && source->text[at - 1] != '\r'; at--)
        if (source->text[at - 1] == '/' && source->text[at - 2] == '/')
            return true;
    return false;
}

void scan_tear(ScanState *scan, uint32_t at)
{
    const SourceFile *source = source_file(scan->ctx->sources, scan->file);
    const char *next = memchr(source->text + at, '\n', source->length - at);
    const char *end = next ? memchr(next + 1, '\n', source->length - (size_t)(next + 1 - source->text)) : NULL;
    scan->torn_until = next ? (end ? (uint32_t)(end - source->text) : source->length) : scan->torn_until;
}
