/* See json.h. */
#include "support/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/strbuf.h"
#include "support/vec.h"

enum { DEEPEST = 200 };

typedef struct {
    Arena *arena;
    const char *at, *end;
    const char *reason;
    int depth;
} Reader;

static bool fail(Reader *reader, const char *reason)
{
    if (!reader->reason)
        reader->reason = reason;
    return false;
}

static void skip_space(Reader *reader)
{
    while (reader->at < reader->end && *reader->at && strchr(" \t\r\n", *reader->at))
        reader->at++;
}

static bool take(Reader *reader, char wanted)
{
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static bool take_word(Reader *reader, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length))
        return false;
    reader->at += length;
    return true;
}

/* --- strings --- */

static bool read_hex(Reader *reader, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *digit = NULL;
        if (reader->at < reader->end && *reader->at)
            digit = strchr(digits, *reader->at >= 'A' && *reader->at <= 'F' ? *reader->at + 'a' - 'A' : *reader->at);
        if (!digit)
            return fail(reader, "\\u needs four hexadecimal digits");
        *code = *code * 16 + (uint32_t)(digit - digits);
        reader->at++;
    }
    return true;
}

static void add_utf8(StrBuf *text, uint32_t code)
{
    char bytes[5] = {0};
    if (code < 0x80) {
        bytes[0] = (char)code;
    } else if (code < 0x800) {
        bytes[0] = (char)(0xc0 | code >> 6);
        bytes[1] = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        bytes[0] = (char)(0xe0 | code >> 12);
        bytes[1] = (char)(0x80 | (code >> 6 & 63));
        bytes[2] = (char)(0x80 | (code & 63));
    } else {
        bytes[0] = (char)(0xf0 | code >> 18);
        bytes[1] = (char)(0x80 | (code >> 12 & 63));
        bytes[2] = (char)(0x80 | (code >> 6 & 63));
        bytes[3] = (char)(0x80 | (code & 63));
    }
    strbuf_add(text, bytes);
}

static bool read_code(Reader *reader, StrBuf *text)
{
    uint32_t code, low;
    if (!read_hex(reader, &code))
        return false;
    if (code >= 0xd800 && code < 0xe000) { /* one half of a pair */
        if (code >= 0xdc00 || !take_word(reader, "\\u") || !read_hex(reader, &low) || low < 0xdc00 || low >= 0xe000)
            return fail(reader, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (!code)
        return fail(reader, "a string holds a NUL");
    add_utf8(text, code);
    return true;
}

static bool read_escape(Reader *reader, StrBuf *text)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end)
        return fail(reader, "the text ends inside of a string");
    char name = *reader->at++;
    if (name == 'u')
        return read_code(reader, text);
    const char *found = name ? strchr(names, name) : NULL;
    if (!found)
        return fail(reader, "unknown escape in a string");
    strbuf_add_bytes(text, &values[found - names], 1);
    return true;
}

static bool read_string(Reader *reader, const char **result)
{
    StrBuf text = {.arena = reader->arena};
    for (;;) {
        const char *start = reader->at;
        while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\' && (unsigned char)*reader->at >= ' ')
            reader->at++;
        strbuf_add_bytes(&text, start, (size_t)(reader->at - start));
        if (reader->at == reader->end)
            return fail(reader, "the text ends inside of a string");
        if ((unsigned char)*reader->at < ' ')
            return fail(reader, "a control character in a string");
        if (*reader->at++ == '"')
            break;
        if (!read_escape(reader, &text))
            return false;
    }
    *result = strbuf_text(&text);
    return true;
}

/* --- values --- */

static bool read_value(Reader *reader, Json *value);

static bool read_number(Reader *reader, Json *value)
{
    const char *start = reader->at;
    while (reader->at < reader->end && *reader->at && strchr("+-.0123456789eE", *reader->at))
        reader->at++;
    size_t length = (size_t)(reader->at - start);
    const char *text = arena_strndup(reader->arena, start, length), *digits = text + (*text == '-');
    char *end;
    bool plain = *digits >= '0' && *digits <= '9' && !(digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9');
    value->real = strtod(text, &end);
    if (!plain || *end || text[length - 1] == '.' || !isfinite(value->real)) {
        reader->at = start;
        return fail(reader, "no value");
    }
    errno = 0;
    value->integer = strtoll(text, &end, 10);
    value->kind = *end || errno ? JSON_REAL : JSON_INT;
    return true;
}

static bool read_list(Reader *reader, Json *value)
{
    VEC(Json) items = {0};
    value->kind = JSON_LIST;
    if (take(reader, ']'))
        return true;
    do {
        Json item = {0};
        if (!read_value(reader, &item))
            return false;
        vec_push(reader->arena, &items, item);
    } while (take(reader, ','));
    value->items = items.data;
    value->count = items.count;
    return take(reader, ']') || fail(reader, reader->at == reader->end ? "the text ends inside of a list" : "',' or ']' is missing");
}

static bool read_object(Reader *reader, Json *value)
{
    VEC(Json) items = {0};
    VEC(const char *) keys = {0};
    value->kind = JSON_OBJECT;
    if (take(reader, '}'))
        return true;
    do {
        Json item = {0};
        const char *key;
        if (!take(reader, '"'))
            return fail(reader, reader->at == reader->end ? "the text ends inside of an object" : "a key in quotes is missing");
        if (!read_string(reader, &key))
            return false;
        if (!take(reader, ':'))
            return fail(reader, "':' is missing");
        if (!read_value(reader, &item))
            return false;
        vec_push(reader->arena, &keys, key);
        vec_push(reader->arena, &items, item);
    } while (take(reader, ','));
    value->items = items.data;
    value->keys = keys.data;
    value->count = items.count;
    return take(reader, '}') || fail(reader, reader->at == reader->end ? "the text ends inside of an object" : "',' or '}' is missing");
}

static bool read_value(Reader *reader, Json *value)
{
    if (reader->depth == DEEPEST)
        return fail(reader, "lists and objects are nested too deep");
    reader->depth++;
    bool ok;
    if (take(reader, '[')) {
        ok = read_list(reader, value);
    } else if (take(reader, '{')) {
        ok = read_object(reader, value);
    } else if (take(reader, '"')) {
        value->kind = JSON_STRING;
        ok = read_string(reader, &value->text);
    } else if (take_word(reader, "null")) {
        ok = true;
    } else if (take_word(reader, "true") || take_word(reader, "false")) {
        value->kind = JSON_BOOL;
        value->boolean = reader->at[-2] == 'u';
        ok = true;
    } else {
        ok = reader->at < reader->end ? read_number(reader, value) : fail(reader, "the text ends where a value is missing");
    }
    reader->depth--;
    return ok;
}

const Json *json_read(Arena *arena, const char *text, size_t length, const char **reason, size_t *at)
{
    Reader reader = {.arena = arena, .at = text, .end = text + length};
    Json *value = ARENA_NEW(arena, Json);
    bool ok = read_value(&reader, value);
    skip_space(&reader);
    if (ok && reader.at < reader.end)
        ok = fail(&reader, "something follows the value");
    *reason = reader.reason;
    *at = (size_t)(reader.at - text);
    return ok ? value : NULL;
}

const Json *json_get(const Json *object, const char *key)
{
    for (int i = 0; json_is(object, JSON_OBJECT) && i < object->count; i++)
        if (!strcmp(object->keys[i], key))
            return &object->items[i];
    return NULL;
}

const Json *json_item(const Json *list, int64_t index)
{
    return json_is(list, JSON_LIST) && index >= 0 && index < list->count ? &list->items[index] : NULL;
}
