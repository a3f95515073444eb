/* The format specifications of Python: [[fill]align][sign][#][0][width][,][.precision][type]. */
#include "script/builtins.h"
#include "script/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Wider or more precise is hardly meant. */
enum { WIDEST_FIELD = 10000, MOST_PRECISION = 1000 };

typedef struct {
    char fill[5]; /* a character; "" where none is given */
    char align;   /* '<', '>', '^', '=' or 0 */
    char sign;    /* '+', '-', ' ' or 0 */
    bool alternate, zero;
    long width, precision; /* -1: not given */
    char group;            /* ',', '_' or 0 */
    char type;             /* 0: not given */
} Spec;

static size_t character_length(const char *text)
{
    size_t length = *text != 0;
    while (length && (text[length] & 0xC0) == 0x80)
        length++;
    return length;
}

static bool read_number(const char **at, long most, long *result)
{
    *result = -1;
    while (isdigit((unsigned char)**at)) {
        *result = (*result < 0 ? 0 : *result) * 10 + *(*at)++ - '0';
        if (*result > most)
            return false;
    }
    return true;
}

static void read_alignment(const char **at, Spec *spec)
{
    size_t length = character_length(*at);
    if (length && length < sizeof spec->fill && (*at)[length] && strchr("<>^=", (*at)[length])) {
        memcpy(spec->fill, *at, length);
        spec->fill[length] = 0;
        spec->align = (*at)[length];
        *at += length + 1;
    } else if (**at && strchr("<>^=", **at)) {
        spec->align = *(*at)++;
    }
}

static bool read_spec(Script *script, const char *text, Spec *spec, Span span)
{
    const char *at = text;
    *spec = (Spec){.fill = "", .width = -1, .precision = -1};
    read_alignment(&at, spec);
    if (*at && strchr("+- ", *at))
        spec->sign = *at++;
    if (*at == '#') {
        spec->alternate = true;
        at++;
    }
    if (*at == '0') {
        spec->zero = true;
        at++;
    }
    bool ok = read_number(&at, WIDEST_FIELD, &spec->width);
    if (*at == ',' || *at == '_')
        spec->group = *at++;
    if (ok && *at == '.') {
        at++;
        ok = read_number(&at, MOST_PRECISION, &spec->precision) && spec->precision >= 0;
    }
    if (*at)
        spec->type = *at++;
    if (ok && !*at && spec->group && spec->type && strchr(spec->group == ',' ? "boxXcns" : "cns", spec->type))
        return script_raise(script, span, EXCEPTION_ValueError, "the format '%c' takes no '%c'", spec->type, spec->group);
    return (ok && !*at) || script_raise(script, span, EXCEPTION_ValueError, "'%s' is not a format specification", text);
}

int64_t text_characters(const char *text, size_t bytes)
{
    int64_t count = 0;
    for (size_t i = 0; i < bytes && text[i]; i++)
        count += (text[i] & 0xC0) != 0x80;
    return count;
}

static void add_fill(StrBuf *out, const char *fill, long count)
{
    for (long i = 0; i < count; i++)
        strbuf_add(out, fill);
}

/* BODY with its SIGN in a field of the width of SPEC. */
static void add_field(StrBuf *out, const Spec *spec, const char *sign, const char *body, char align)
{
    long length = (long)(strlen(sign) + (size_t)text_characters(body, strlen(body))), space = spec->width > length ? spec->width - length : 0;
    const char *fill = *spec->fill ? spec->fill : spec->zero ? "0" : " ";
    if (spec->align)
        align = spec->align;
    else if (spec->zero && align == '>')
        align = '=';
    long before = align == '>' ? space : align == '^' ? space / 2 : 0;
    add_fill(out, fill, before);
    strbuf_add(out, sign);
    add_fill(out, fill, align == '=' ? space : 0);
    strbuf_add(out, body);
    add_fill(out, fill, align == '=' ? 0 : space - before);
}

static bool refuse_type(Script *script, const Spec *spec, Value value, Span span)
{
    return script_raise(script, span, EXCEPTION_ValueError, "the format '%c' does not take %s", spec->type, script_type_phrase(script, value));
}

/* DIGITS, with what follows them, in groups. With zeros in front the groups go through them, too. */
static const char *grouped(Script *script, const Spec *spec, const char *sign, const char *digits, size_t size)
{
    if (!spec->group)
        return digits;
    size_t whole = strspn(digits, "0123456789abcdefABCDEF");
    if (size == 3)
        whole = strspn(digits, "0123456789");
    size_t rest = strlen(digits) - whole, leading = 0;
    bool zeros = *spec->fill ? !strcmp(spec->fill, "0") : spec->zero, behind_sign = spec->align ? spec->align == '=' : spec->zero;
    while (zeros && behind_sign && whole && spec->width > 0 &&
           strlen(sign) + whole + leading + (whole + leading - 1) / size + rest < (size_t)spec->width)
        leading++;
    StrBuf text = {.arena = script->ctx->arena};
    for (size_t i = 0; i < whole + leading; i++) {
        if (i && (whole + leading - i) % size == 0)
            strbuf_printf(&text, "%c", spec->group);
        strbuf_printf(&text, "%c", i < leading ? '0' : digits[i - leading]);
    }
    strbuf_add(&text, digits + whole);
    return strbuf_text(&text);
}

static const char *sign_text(const Spec *spec, bool negative)
{
    return negative ? "-" : spec->sign == '+' ? "+" : spec->sign == ' ' ? " " : "";
}

static bool add_int(Script *script, StrBuf *out, const Spec *spec, Value value, Span span)
{
    int64_t number = value.kind == VALUE_BOOL ? value.as.boolean : value.as.integer;
    uint64_t magnitude = number < 0 ? -(uint64_t)number : (uint64_t)number;
    char digits[72] = "", *at = digits + sizeof digits - 1;
    unsigned base = spec->type == 'b' ? 2 : spec->type == 'o' ? 8 : spec->type == 'x' || spec->type == 'X' ? 16 : 10;
    const char *letters = spec->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    if (spec->precision >= 0)
        return script_raise(script, span, EXCEPTION_ValueError, "an int has no precision");
    *at = 0;
    do
        *--at = letters[magnitude % base];
    while (magnitude /= base);
    const char *prefix = !spec->alternate || base == 10 ? "" : context_internf(script->ctx, "0%c", spec->type);
    const char *sign = context_internf(script->ctx, "%s%s", sign_text(spec, number < 0), prefix);
    add_field(out, spec, sign, grouped(script, spec, sign, at, base == 10 ? 3 : 4), '>');
    return true;
}

/* As str() of MAGNITUDE, a float, but of PRECISION significant digits where that is given. */
static const char *general(Script *script, const Spec *spec, double magnitude)
{
    char digits[64];
    if (spec->precision < 0) {
        const char *text;
        script_repr(script, (Value){.kind = VALUE_FLOAT, .as.real = magnitude}, &text);
        return text;
    }
    snprintf(digits, sizeof digits, "%.*g", spec->precision > 40 ? 40 : spec->precision ? (int)spec->precision : 1, magnitude);
    bool plain = !strpbrk(digits, ".en");
    return context_internf(script->ctx, "%s%s", digits, plain ? ".0" : "");
}

static bool add_real(Script *script, StrBuf *out, const Spec *spec, Value value, Span span)
{
    double real = value.kind == VALUE_FLOAT ? value.as.real : value.kind == VALUE_BOOL ? value.as.boolean : (double)value.as.integer;
    bool negative = signbit(real) && !isnan(real);
    double magnitude = negative ? -real : real;
    int precision = spec->precision < 0 ? 6 : (int)spec->precision;
    const char *body, *percent = spec->type == '%' ? "%" : "", *mark = spec->alternate ? "#" : "";
    char shape[8] = "%";
    (void)span;
    if (!spec->type)
        body = general(script, spec, magnitude);
    else {
        char type = spec->type == '%' ? 'f' : spec->type == 'n' ? 'g' : spec->type;
        snprintf(shape, sizeof shape, "%%%s.*%c", mark, type);
        char digits[MOST_PRECISION + 400];
        snprintf(digits, sizeof digits, shape, precision, spec->type == '%' ? magnitude * 100 : magnitude); /* SHAPE is made above */
        body = context_internf(script->ctx, "%s%s", digits, percent);
    }
    const char *sign = sign_text(spec, negative);
    add_field(out, spec, sign, grouped(script, spec, sign, body, 3), '>');
    return true;
}

static bool add_string(Script *script, StrBuf *out, const Spec *spec, Value value, Span span)
{
    const char *text;
    if ((spec->type && spec->type != 's') || spec->sign || spec->align == '=' || spec->group)
        return script_raise(script, span, EXCEPTION_ValueError, "%s does not take this format", script_type_phrase(script, value));
    if (!script_text(script, value, &text))
        return false;
    if (spec->precision >= 0) {
        size_t bytes = 0;
        for (long i = 0; i < spec->precision && text[bytes]; i++)
            bytes += character_length(text + bytes);
        text = context_internf(script->ctx, "%.*s", (int)bytes, text);
    }
    add_field(out, spec, "", text, '<');
    return true;
}

bool script_add_formatted(Script *script, StrBuf *out, Value value, const char *text, Span span)
{
    Spec spec;
    const char *plain;
    if (!*text) {
        if (!script_text(script, value, &plain))
            return false;
        strbuf_add(out, plain);
        return true;
    }
    if (!read_spec(script, text, &spec, span))
        return false;
    bool whole = value.kind == VALUE_INT || value.kind == VALUE_BOOL;
    bool real_type = spec.type && strchr("eEfFgG%n", spec.type);
    if (value.kind == VALUE_STRING)
        return add_string(script, out, &spec, value, span);
    if (whole && spec.type == 'c') {
        Arguments code = {.positional = &value, .positional_count = 1, .span = span};
        spec.type = 's';
        return builtin_chr(script, &code, &value) && add_string(script, out, &spec, value, span);
    }
    if (whole && (!spec.type || strchr("dbxXo", spec.type) || spec.type == 'n'))
        return add_int(script, out, &spec, value, span);
    if ((whole && real_type) || (value.kind == VALUE_FLOAT && (!spec.type || real_type)))
        return add_real(script, out, &spec, value, span);
    if (whole || value.kind == VALUE_FLOAT)
        return refuse_type(script, &spec, value, span);
    return script_raise(script, span, EXCEPTION_TypeError, "%s takes no format specification", script_type_phrase(script, value));
}
