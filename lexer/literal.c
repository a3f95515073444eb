/* Values of literal tokens and checks of name characters; see scan.h. Floats are read by strtod in the C locale; what the replacement
   fields of f-strings hold is parsed later, format specifications and conversions in them are refused; names are not normalized. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lexer/scan.h"
#include "support/strbuf.h"

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
            diag_error(scan->ctx, scan_span(scan), "the number does not fit in 64 bits");
            return 0;
        }
        value = value * base + digit;
    }
    if (!prefixed && text[0] == '0' && value != 0)
        diag_error(scan->ctx, scan_span(scan), "leading zeros are not allowed in a decimal number; write 0o for octal");
    return value;
}

double scan_float(ScanState *scan, const char *text, int length)
{
    char *digits = arena_alloc(scan->ctx->arena, (size_t)length + 1);
    int count = 0;
    for (int i = 0; i < length; i++)
        if (text[i] != '_')
            digits[count++] = text[i];
    return strtod(digits, NULL);
}

/* --- UTF-8 --- */

/* Decodes the character at TEXT into *CODE; its length, or 0 when the bytes are not UTF-8. */
static int utf8_decode(const char *text, int length, uint32_t *code)
{
    unsigned char first = (unsigned char)text[0];
    int size = first < 0x80                    ? 1
               : first >= 0xf0 && first < 0xf5 ? 4
               : first >= 0xe0 && first < 0xf0 ? 3
               : first >= 0xc2 && first < 0xe0 ? 2
                                               : 0;
    if (size == 0 || size > length)
        return 0;
    *code = size == 1 ? first : first & (0x7fu >> size);
    for (int i = 1; i < size; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    bool overlong = (size == 3 && *code < 0x800) || (size == 4 && *code < 0x10000);
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return overlong || surrogate || *code > 0x10ffff ? 0 : size;
}

static int utf8_encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    int size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = size - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(((0xf00u >> size) & 0xff) | code); /* as many leading one bits as bytes */
    return size;
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

void scan_unexpected(ScanState *scan, const char *text, int length)
{
    uint32_t code = 0;
    Span span = scan_span(scan);
    span.end = span.begin + (uint32_t)length;
    if (utf8_decode(text, length, &code) == 0)
        diag_error(scan->ctx, span, "the byte 0x%02x is not UTF-8 text", (unsigned char)text[0]);
    else if (code < 32 || code == 127)
        diag_error(scan->ctx, span, "unexpected control character U+%04X", code);
    else
        diag_error(scan->ctx, span, "unexpected character '%.*s' (U+%04X)", length, text, code);
}

int scan_name_length(ScanState *scan, const char *text, int length, int *junk)
{
    int at = 0;
    while (at < length) {
        uint32_t code;
        int size = utf8_decode(text + at, length - at, &code);
        if (size == 0 || (code >= 0x80 && !code_is_letter(code))) {
            if (at == 0) {
                *junk = size ? size : 1;
                scan_unexpected(scan, text, *junk);
            }
            return at;
        }
        at += size;
    }
    return at;
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
    diag_error(reader->scan->ctx, (Span){reader->scan->file, begin, begin + (uint32_t)length}, "%s", what);
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

/* Reads the field that begins at the brace where READER stands, and goes behind it. */
static Span read_field(StringReader *reader, int end)
{
    const char *text = reader->text;
    int begin = reader->at + 1, close = field_end(text, begin, end), last = close;
    while (begin < last && isspace((unsigned char)text[begin]))
        begin++;
    while (last > begin && isspace((unsigned char)text[last - 1]))
        last--;
    if (close == end)
        string_error(reader, reader->at, 1, "the replacement field was never closed");
    else if (text[close] != '}')
        string_error(reader, close, 1, "how a replacement field is written cannot be chosen");
    else if (begin == last)
        string_error(reader, reader->at, close + 1 - reader->at, "the replacement field is empty");
    bool good = close < end && text[close] == '}' && begin < last;
    reader->at = good ? close + 1 : end;
    uint32_t start = reader->scan->begin;
    return good ? (Span){reader->scan->file, start + (uint32_t)begin, start + (uint32_t)last} : span_none();
}

const FormatText *scan_format(ScanState *scan, const char *text, int length)
{
    StringReader reader = open_string(scan, text, length);
    bool raw = has_prefix(text, 'r');
    int end = reader.end;
    VEC(FormatPart) parts = {0};
    while (reader.at < end) {
        read_text(&reader, next_brace(text, reader.at, end, raw), raw);
        bool twice = reader.at + 1 < end && text[reader.at] == text[reader.at + 1];
        if (reader.at < end && (twice || text[reader.at] == '}')) {
            if (!twice)
                string_error(&reader, reader.at, 1, "'}' closes no replacement field; write '}}' for a brace");
            strbuf_add_bytes(&reader.out, text + reader.at, 1);
            reader.at += 1 + twice;
        } else if (reader.at < end) {
            FormatPart part = {take_text(&reader), read_field(&reader, end)};
            if (part.field.end)
                vec_push(scan->ctx->arena, &parts, part);
        }
    }
    FormatPart last = {take_text(&reader), span_none()};
    vec_push(scan->ctx->arena, &parts, last);
    FormatText *format = ARENA_NEW(scan->ctx->arena, FormatText);
    *format = (FormatText){parts.data, parts.count};
    return format;
}
