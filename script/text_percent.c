/* The two older ways to format: TEXT % VALUES, and TEXT.format(...). */
#include "script/builtins.h"
#include "script/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A format specification of more bytes is refused. */
enum { LONGEST_SPEC = 256 };

Value script_string(Script *script, const char *text)
{
    script->made += (long)(strlen(text) / sizeof(Value)) + 1;
    return (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, text)};
}

/* With every character that is not ASCII as an escape, as Python's ascii(). */
static const char *ascii_text(Script *script, const char *text)
{
    StrBuf out = {.arena = script->ctx->arena};
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        unsigned code = *at, more = code < 0xC0 ? 0 : code < 0xE0 ? 1 : code < 0xF0 ? 2 : 3;
        code &= more ? 0x3Fu >> more : 0x7Fu;
        for (at++; more && (*at & 0xC0) == 0x80; more--)
            code = code << 6 | (*at++ & 0x3Fu);
        strbuf_printf(&out, code < 128 ? "%c" : code < 256 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
    }
    return strbuf_text(&out);
}

bool script_convert(Script *script, Value value, char conversion, Value *result)
{
    const char *text;
    *result = value;
    if (!conversion)
        return true;
    if (conversion == 's' ? !script_text(script, value, &text) : !script_repr(script, value, &text))
        return false;
    *result = script_string(script, conversion == 'a' ? ascii_text(script, text) : text);
    result->span = value.span;
    return true;
}

/* --- % --- */

typedef struct {
    Script *script;
    Value values;
    int taken;
    bool named;
    Span span;
} Percent;

static bool take_value(Percent *percent, Value *value)
{
    bool tuple = percent->values.kind == VALUE_LIST && percent->values.as.list->is_tuple;
    int count = tuple ? percent->values.as.list->count : 1;
    if (percent->taken >= count)
        return script_raise(percent->script, percent->span, EXCEPTION_TypeError, "the format needs more than %d value%s", count, count == 1 ? "" : "s");
    *value = tuple ? percent->values.as.list->items[percent->taken] : percent->values;
    percent->taken++;
    return true;
}

/* The value that %(NAME) means. */
static bool named_value(Percent *percent, const char **at, Value *value)
{
    size_t length = strcspn(*at + 1, ")");
    Value key = {.kind = VALUE_STRING, .as.text = context_internf(percent->script->ctx, "%.*s", (int)length, *at + 1)};
    const Value *found = percent->values.kind == VALUE_DICT ? script_dict_find(percent->values, key) : NULL;
    if (!(*at)[length + 1] || !found)
        return script_raise(percent->script, percent->span, EXCEPTION_KeyError, "there is no value for '%%(%s)'", key.as.text);
    *at += length + 2;
    *value = *found;
    percent->named = true;
    return true;
}

/* A width or precision: digits, or '*' for a value. */
static bool take_size(Percent *percent, const char **at, StrBuf *spec, bool *left)
{
    if (**at != '*') {
        while (isdigit((unsigned char)**at))
            strbuf_add_bytes(spec, (*at)++, 1);
        return true;
    }
    Value size;
    ++*at;
    if (!take_value(percent, &size))
        return false;
    if (size.kind != VALUE_INT)
        return script_raise(percent->script, percent->span, EXCEPTION_TypeError, "'*' takes an int, not %s", script_type_phrase(percent->script, size));
    *left |= size.as.integer < 0;
    strbuf_printf(spec, "%lld", (long long)llabs(size.as.integer));
    return true;
}

/* Adds VALUE for the conversion TYPE; FLAGS, SIZE: what stands before. */
static bool add_percent(Percent *percent, StrBuf *out, Value value, const char *flags, const char *size, bool left, char type)
{
    Script *script = percent->script;
    if (type == 'c') {
        Arguments code = {.positional = &value, .positional_count = 1, .span = percent->span};
        bool letter = value.kind == VALUE_STRING && text_characters(value.as.text, strlen(value.as.text)) == 1;
        if (!letter && (value.kind == VALUE_STRING || !builtin_chr(script, &code, &value)))
            return value.kind == VALUE_STRING && script_raise(script, percent->span, EXCEPTION_TypeError, "'%%c' needs one character or its code");
        type = 's';
    }
    bool text = strchr("sra", type) != NULL, whole = strchr("diuxXoc", type) != NULL;
    if (text && !script_convert(script, value, type, &value))
        return false;
    if (!text && !script_is_number(value))
        return script_raise(script, percent->span, EXCEPTION_TypeError, "'%%%c' needs a number, not %s", type, script_type_phrase(script, value));
    if (whole && value.kind == VALUE_FLOAT) {
        if (type != 'd' && type != 'i' && type != 'u')
            return script_raise(script, percent->span, EXCEPTION_TypeError, "'%%%c' needs an int, not a float", type);
        if (!(fabs(value.as.real) < 9.2e18))
            return script_error(script, percent->span, "the number does not fit in 64 bits");
        value = (Value){.kind = VALUE_INT, .as.integer = (int64_t)value.as.real};
    }
    StrBuf spec = {.arena = script->ctx->arena};
    strbuf_add(&spec, left ? "<" : text ? ">" : "");
    strbuf_add(&spec, text ? "" : strchr(flags, '+') ? "+" : strchr(flags, ' ') ? " " : "");
    strbuf_add(&spec, strchr(flags, '#') && !text ? "#" : "");
    strbuf_add(&spec, strchr(flags, '0') && !left && !text ? "0" : "");
    strbuf_add(&spec, size);
    strbuf_printf(&spec, "%c", text ? 's' : type == 'i' || type == 'u' ? 'd' : type);
    return script_add_formatted(script, out, value, strbuf_text(&spec), percent->span);
}

/* One conversion, from behind its '%'. */
static bool one_conversion(Percent *percent, const char **at, StrBuf *out)
{
    Script *script = percent->script;
    Value value;
    bool named = **at == '(', left = false;
    if (named && !named_value(percent, at, &value))
        return false;
    size_t flag_count = strspn(*at, "-+ #0");
    const char *flags = context_internf(script->ctx, "%.*s", (int)flag_count, *at);
    StrBuf size = {.arena = script->ctx->arena};
    left = strchr(flags, '-') != NULL;
    *at += flag_count;
    if (!take_size(percent, at, &size, &left))
        return false;
    if (**at == '.') {
        strbuf_add_bytes(&size, (*at)++, 1);
        size_t length = size.length;
        if (!take_size(percent, at, &size, &left))
            return false;
        if (size.length == length)
            strbuf_add(&size, "0");
    }
    char type = **at;
    if (!type || !strchr("cdiuxXosraeEfFgG", type) || size.length > LONGEST_SPEC)
        return script_raise(script, percent->span, EXCEPTION_ValueError, "the format ends in '%%', or has an unknown conversion '%c'", type ? type : '%');
    ++*at;
    return (named || take_value(percent, &value)) && add_percent(percent, out, value, flags, strbuf_text(&size), left, type);
}

bool script_percent(Script *script, const char *format, Value values, Span span, Value *result)
{
    Percent percent = {script, values, 0, values.kind == VALUE_DICT, span};
    StrBuf out = {.arena = script->ctx->arena};
    for (const char *at = format; *at;) {
        size_t plain = strcspn(at, "%");
        strbuf_add_bytes(&out, at, plain);
        at += plain;
        if (!*at)
            break;
        if (*++at == '%')
            strbuf_add_bytes(&out, at++, 1);
        else if (!one_conversion(&percent, &at, &out))
            return false;
    }
    bool tuple = values.kind == VALUE_LIST && values.as.list->is_tuple;
    if (!percent.named && percent.taken < (tuple ? values.as.list->count : 1))
        return script_raise(script, span, EXCEPTION_TypeError, "not all values of '%%' are used by the format");
    *result = script_string(script, strbuf_text(&out));
    return true;
}

/* --- format --- */

typedef struct {
    Script *script;
    const Arguments *arguments;
    int next; /* of the fields without a number; -1 after one with a number */
} FormatCall;

/* The argument that the beginning of a field, NAME, means. */
static bool field_argument(FormatCall *call, const char *name, size_t length, Value *value)
{
    Script *script = call->script;
    const Arguments *arguments = call->arguments;
    Str word = context_internf(script->ctx, "%.*s", (int)length, name);
    bool number = length && strspn(word, "0123456789") == length;
    if (length && !number) {
        const Value *keyword = script_keyword(arguments, word);
        if (keyword)
            *value = *keyword;
        return keyword || script_raise(script, arguments->span, EXCEPTION_KeyError, "format has no argument '%s'", word);
    }
    if (number ? call->next > 0 : call->next < 0)
        return script_raise(script, arguments->span, EXCEPTION_ValueError, "fields with and without a number do not go together");
    long index = number ? strtol(word, NULL, 10) : call->next;
    call->next = number ? -1 : call->next + 1;
    if (index >= arguments->positional_count)
        return script_raise(script, arguments->span, EXCEPTION_IndexError, "format has no argument number %ld", index);
    *value = arguments->positional[index];
    return true;
}

/* [INDEX] behind a field's name. */
static bool field_index(FormatCall *call, const char **at, Value *value)
{
    Script *script = call->script;
    size_t length = strcspn(*at + 1, "]");
    Str word = context_internf(script->ctx, "%.*s", (int)length, *at + 1);
    bool number = length && strspn(word, "0123456789") == length;
    Value key = number ? (Value){.kind = VALUE_INT, .as.integer = strtoll(word, NULL, 10)} : (Value){.kind = VALUE_STRING, .as.text = word};
    const Value *found = NULL;
    if (value->kind == VALUE_DICT)
        found = script_dict_find(*value, key);
    else if (value->kind == VALUE_LIST && number && key.as.integer < value->as.list->count)
        found = &value->as.list->items[key.as.integer];
    if (!found || !(*at)[length + 1])
        return script_error(script, call->arguments->span, "%s has no item '%s'", script_type_phrase(script, *value), word);
    *value = *found;
    *at += length + 2;
    return true;
}

static bool expand(FormatCall *call, const char *text, size_t length, StrBuf *out, int depth);

/* One field, from behind its brace; AT goes behind its end. */
static bool one_field(FormatCall *call, const char **at, const char *end, StrBuf *out, int depth)
{
    Script *script = call->script;
    Span span = call->arguments->span;
    Value value;
    size_t name = strcspn(*at, "}:![");
    if (memchr(*at, '.', name))
        return script_error(script, span, "attributes in the fields of format are not supported");
    if (!field_argument(call, *at, name, &value))
        return false;
    *at += name;
    while (**at == '[')
        if (!field_index(call, at, &value))
            return false;
    char conversion = 0;
    if (**at == '!' && (*at)[1]) {
        conversion = (*at)[1];
        *at += 2;
        if (!strchr("rsa", conversion))
            return script_raise(script, span, EXCEPTION_ValueError, "'!' is followed by r, s or a");
    }
    StrBuf spec = {.arena = script->ctx->arena};
    if (**at == ':') {
        const char *begin = ++*at;
        for (int open = 0; *at < end && (open || **at != '}'); ++*at)
            open += (**at == '{') - (**at == '}');
        if (!expand(call, begin, (size_t)(*at - begin), &spec, depth + 1))
            return false;
    }
    if (*at >= end || **at != '}')
        return script_raise(script, span, EXCEPTION_ValueError, "a replacement field was never closed");
    ++*at;
    return script_convert(script, value, conversion, &value) && script_add_formatted(script, out, value, strbuf_text(&spec), span);
}

static bool expand(FormatCall *call, const char *text, size_t length, StrBuf *out, int depth)
{
    const char *end = text + length;
    for (const char *at = text; at < end;) {
        bool twice = at + 1 < end && at[0] == at[1];
        if (*at != '{' && *at != '}') {
            strbuf_add_bytes(out, at++, 1);
        } else if (twice) {
            strbuf_add_bytes(out, at, 1);
            at += 2;
        } else if (*at == '}' || depth > 1) {
            return script_raise(call->script, call->arguments->span, EXCEPTION_ValueError, "'%c' stands alone in the format", *at);
        } else {
            at++;
            if (!one_field(call, &at, end, out, depth))
                return false;
        }
    }
    return true;
}

bool script_format_call(Script *script, const char *text, const Arguments *arguments, Value *result)
{
    FormatCall call = {script, arguments, 0};
    StrBuf out = {.arena = script->ctx->arena};
    if (!expand(&call, text, strlen(text), &out, 0))
        return false;
    *result = script_string(script, strbuf_text(&out));
    return true;
}
