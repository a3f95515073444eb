/* Values of literal tokens; see scan.h. Floats are read by strtod in the C locale; what the replacement
   fields of f-strings hold is parsed later. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lexer/scan.h"
#include "support/strbuf.h"
#include "support/utf8.h"
#include "support/warning.h"

enum { TAB_WIDTH = 8 };

void scan_measure_indent(ScanState *scan, const char *text, int length)
{
    scan->indent = scan->narrow_indent = 0;
    for (int i = 0; i < length; i++) {
        if (text[i] == '\f') {
            scan->indent = scan->narrow_indent = 0;
            continue;
        }
        scan->indent = text[i] == '\t' ? (scan->indent / TAB_WIDTH + 1) * TAB_WIDTH : scan->indent + 1;
        scan->narrow_indent++;
    }
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return (c | 32) - 'a' + 10;
}

uint64_t scan_integer(ScanState *scan, const char *text, int length)
{
    bool prefixed = length > 2 && text[0] == '0' && text[1] > '9' && text[1] != '_';
    uint64_t base = !prefixed ? 10 : (text[1] | 32) == 'x' ? 16 : (text[1] | 32) == 'o' ? 8 : 2;
    uint64_t value = 0;
    for (int i = prefixed ? 2 : 0; i < length; i++) {
        if (text[i] == '_')
            continue;
        uint64_t digit = (uint64_t)digit_value(text[i]);
        if (value > (UINT64_MAX - digit) / base) {
            scan_error(scan, scan_span(scan), "the number does not fit in 64 bits");
            return 0;
        }
        value = value * base + digit;
    }
    if (!prefixed && text[0] == '0' && value != 0)
        scan_error(scan, scan_span(scan), "leading zeros are not allowed in a decimal number; write 0o for octal");
    return value;
}

double scan_float(ScanState *scan, const char *text, int length)
{
    char *digits = arena_alloc(scan->ctx->arena, (size_t)length + 1);
    int count = 0;
    for (int i = 0; i < length; i++)
        if (text[i] != '_')
            digits[count++] = text[i];
    double value = strtod(digits, NULL);
    if (isinf(value))
        diag_warning(scan->ctx, WARNING_LITERAL_RANGE, scan_span(scan), "the number is too large for a float64 and stands for infinity");
    return value;
}

/* --- strings --- */

typedef struct {
    ScanState *scan;
    const char *text;
    int at, end; /* what is left of the contents */
    StrBuf out;
} StringReader;

static void string_error(StringReader *reader, int at, int length, const char *what)
{
    uint32_t begin = reader->scan->begin + (uint32_t)at;
    scan_error(reader->scan, (Span){reader->scan->file, begin, begin + (uint32_t)length}, "%s", what);
}

/* Reads up to MOST digits of BASE (exactly MOST for base 16). */
static bool read_code(StringReader *reader, int base, int most, uint32_t *code)
{
    int count = 0;
    *code = 0;
    while (count < most && reader->at < reader->end) {
        char c = reader->text[reader->at];
        bool is_digit = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
        if (!is_digit || digit_value(c) >= base)
            break;
        *code = *code * (uint32_t)base + (uint32_t)digit_value(c);
        reader->at++;
        count++;
    }
    return base == 8 || count == most;
}

static void add_code(StringReader *reader, int start, uint32_t code)
{
    char bytes[4];
    if (code == 0)
        string_error(reader, start, reader->at - start, "a string cannot hold the character NUL");
    else if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        string_error(reader, start, reader->at - start, "the escape names no character");
    else
        strbuf_add_bytes(&reader->out, bytes, (size_t)utf8_encode(code, bytes));
}

/* Reads an escape; at is just behind the backslash. */
static void read_escape(StringReader *reader)
{
    static const char plain[][2] = {{'\\', '\\'}, {'\'', '\''}, {'"', '"'},  {'a', '\a'}, {'b', '\b'},
                                    {'f', '\f'},  {'n', '\n'},  {'r', '\r'}, {'t', '\t'}, {'v', '\v'}};
    int start = reader->at - 1;
    char c = reader->text[reader->at++];
    uint32_t code;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i][0] == c) {
            strbuf_add_bytes(&reader->out, &plain[i][1], 1);
            return;
        }
    if (c == '\n')
        return;
    if (c == '\r') {
        reader->at += reader->at < reader->end && reader->text[reader->at] == '\n';
        return;
    }
    if (c >= '0' && c <= '7') {
        reader->at--;
        read_code(reader, 8, 3, &code);
        add_code(reader, start, code);
    } else if (c == 'x' || c == 'u' || c == 'U') {
        if (read_code(reader, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8, &code))
            add_code(reader, start, code);
        else
            string_error(reader, start, reader->at - start, "the escape needs more hexadecimal digits");
    } else {
        string_error(reader, start, 2, "unknown escape in a string; write '\\\\' for a backslash");
    }
}

/* One run of UTF-8 text, up to a backslash (unless RAW) or the end. */
static void read_plain(StringReader *reader, bool raw)
{
    int start = reader->at;
    while (reader->at < reader->end && (raw || reader->text[reader->at] != '\\')) {
        uint32_t code;
        int size = utf8_decode(reader->text + reader->at, reader->end - reader->at, &code);
        if (size == 0 || code == 0) {
            string_error(reader, reader->at, 1, size ? "a string cannot hold the character NUL" : "a byte in the string is not UTF-8 text");
            size = 1;
        }
        reader->at += size;
    }
    strbuf_add_bytes(&reader->out, reader->text + start, (size_t)(reader->at - start));
}

/* Reads up to END. */
static void read_text(StringReader *reader, int end, bool raw)
{
    reader->end = end;
    while (reader->at < end) {
        read_plain(reader, raw);
        if (reader->at < end) {
            reader->at++;
            read_escape(reader);
        }
    }
}

static Str take_text(StringReader *reader)
{
    Str text = intern(reader->scan->ctx->strings, strbuf_text(&reader->out), reader->out.length);
    reader->out = (StrBuf){.arena = reader->scan->ctx->arena};
    return text;
}

static bool has_prefix(const char *text, char letter)
{
    size_t prefix = strcspn(text, "'\"");
    for (size_t i = 0; i < prefix; i++)
        if ((text[i] | 32) == letter)
            return true;
    return false;
}

static StringReader open_string(ScanState *scan, const char *text, int length)
{
    int prefix = (int)strcspn(text, "'\"");
    int quotes = length - prefix >= 6 && text[prefix + 1] == text[prefix] && text[prefix + 2] == text[prefix] ? 3 : 1;
    return (StringReader){scan, text, prefix + quotes, length - quotes, {.arena = scan->ctx->arena}};
}

Str scan_string(ScanState *scan, const char *text, int length)
{
    StringReader reader = open_string(scan, text, length);
    read_text(&reader, reader.end, has_prefix(text, 'r'));
    return take_text(&reader);
}

/* --- formats --- */

bool scan_is_format(const char *text)
{
    return has_prefix(text, 'f');
}

bool scan_is_bytes(const char *text)
{
    return has_prefix(text, 'b');
}

/* Where the text from AT to END has its next brace, or END. */
static int next_brace(const char *text, int at, int end, bool raw)
{
    while (at < end && text[at] != '{' && text[at] != '}')
        at += text[at] == '\\' && !raw && at + 1 < end ? 2 : 1;
    return at;
}

/* Where the field whose expression begins at AT ends: at its '}', or at ':' or '!' before what says how to write it; END: nowhere. */
static int field_end(const char *text, int at, int end)
{
    char quote = 0;
    for (int depth = 0; at < end; at++) {
        char c = text[at];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (depth == 0 && (c == '}' || c == ':' || (c == '!' && text[at + 1] != '=')))
            return at;
        else
            depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    }
    return end;
}

typedef VEC(FormatPart) FormatParts;

static const FormatText *read_format(StringReader *reader, int end, bool raw, bool inner);

/* Where the specification that begins at AT ends: at the '}' of its field. */
static int spec_end(const char *text, int at, int end)
{
    int depth = 0;
    for (; at < end && (depth > 0 || text[at] != '}'); at++)
        depth += (text[at] == '{') - (text[at] == '}');
    return at;
}

/* Reads what says how a field is written, from the '!' or ':' at AT: a conversion, a specification or both. Gives where the field ends. */
static int read_manner(StringReader *reader, int at, int end, bool inner, FormatPart *part)
{
    const char *text = reader->text;
    if (text[at] == '!') {
        bool known = at + 2 < end && strchr("rsa", text[at + 1]) && (text[at + 2] == '}' || text[at + 2] == ':');
        if (!known) {
            string_error(reader, at, 1, "'!' is followed by r, s or a and the end of the field");
            return end;
        }
        part->conversion = text[at + 1];
        at += 2;
    }
    if (text[at] == '}')
        return at;
    int close = spec_end(text, at + 1, end);
    if (close == end || inner) {
        string_error(reader, at, 1, inner ? "a replacement field inside of another one has no specification" : "the replacement field was never closed");
        return end;
    }
    StringReader spec = *reader;
    spec.at = at + 1;
    spec.out = (StrBuf){.arena = reader->out.arena};
    part->spec = read_format(&spec, close, true, true);
    return close;
}

/* `x=` shows the text of the field as well: a '=' at its end that is no part of a comparison. */
static bool shows_itself(const char *text, int begin, int last)
{
    return last - begin >= 2 && text[last - 1] == '=' && !strchr("=!<>", text[last - 2]);
}

static void trim(const char *text, int *begin, int *last)
{
    while (*begin < *last && isspace((unsigned char)text[*begin]))
        ++*begin;
    while (*last > *begin && isspace((unsigned char)text[*last - 1]))
        --*last;
}

/* Reads the field that begins at the brace where READER stands, and goes behind it. */
static void read_field(StringReader *reader, int end, bool inner, FormatPart *part)
{
    const char *text = reader->text;
    int begin = reader->at + 1, stop = field_end(text, begin, end), last = stop, close = stop, from = begin;
    trim(text, &begin, &last);
    bool itself = shows_itself(text, begin, last);
    if (stop == end)
        string_error(reader, reader->at, 1, "the replacement field was never closed");
    else if (begin == last)
        string_error(reader, reader->at, close + 1 - reader->at, "the replacement field is empty");
    else if (text[stop] != '}')
        close = read_manner(reader, stop, end, inner, part);
    bool good = close < end && begin < last;
    reader->at = good ? close + 1 : end;
    if (good && itself) {
        strbuf_add(&reader->out, part->text);
        strbuf_add_bytes(&reader->out, text + from, (size_t)(stop - from));
        part->text = take_text(reader);
        part->conversion = part->conversion || part->spec ? part->conversion : 'r';
        last--;
        trim(text, &begin, &last);
    }
    uint32_t start = reader->scan->begin;
    part->field = good ? (Span){reader->scan->file, start + (uint32_t)begin, start + (uint32_t)last} : span_none();
}

/* The parts of the text from where READER stands to END. INNER: of the specification of a field. */
static const FormatText *read_format(StringReader *reader, int end, bool raw, bool inner)
{
    const char *text = reader->text;
    Context *ctx = reader->scan->ctx;
    FormatParts parts = {0};
    while (reader->at < end) {
        read_text(reader, next_brace(text, reader->at, end, raw), raw);
        bool twice = reader->at + 1 < end && text[reader->at] == text[reader->at + 1];
        if (reader->at < end && (twice || text[reader->at] == '}')) {
            if (!twice)
                string_error(reader, reader->at, 1, "'}' closes no replacement field; write '}}' for a brace");
            strbuf_add_bytes(&reader->out, text + reader->at, 1);
            reader->at += 1 + twice;
        } else if (reader->at < end) {
            FormatPart part = {.text = take_text(reader)};
            read_field(reader, end, inner, &part);
            if (part.field.end)
                vec_push(ctx->arena, &parts, part);
        }
    }
    FormatPart last = {.text = take_text(reader)};
    vec_push(ctx->arena, &parts, last);
    FormatText *format = ARENA_NEW(ctx->arena, FormatText);
    *format = (FormatText){parts.data, parts.count};
    return format;
}

const FormatText *scan_format(ScanState *scan, const char *text, int length)
{
    StringReader reader = open_string(scan, text, length);
    return read_format(&reader, reader.end, has_prefix(text, 'r'), false);
}
