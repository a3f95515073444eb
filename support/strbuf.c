/* See strbuf.h. */
#include "support/strbuf.h"

#include <string.h>

void strbuf_add_bytes(StrBuf *buffer, const char *text, size_t length)
{
    if (buffer->length + length + 1 > buffer->capacity) {
        size_t capacity = buffer->capacity ? buffer->capacity * 2 : 256;
        while (capacity < buffer->length + length + 1)
            capacity *= 2;
        char *grown = arena_alloc(buffer->arena, capacity);
        if (buffer->length)
            memcpy(grown, buffer->text, buffer->length);
        buffer->text = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->text + buffer->length, text, length);
    buffer->length += length;
    buffer->text[buffer->length] = 0;
}

void strbuf_add(StrBuf *buffer, const char *text)
{
    strbuf_add_bytes(buffer, text, strlen(text));
}

void strbuf_printf(StrBuf *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_add(buffer, arena_vprintf(buffer->arena, format, args));
    va_end(args);
}

const char *strbuf_text(const StrBuf *buffer)
{
    return buffer->text ? buffer->text : "";
}

void strbuf_add_json(StrBuf *buffer, const char *value)
{
    strbuf_add(buffer, "\"");
    for (const char *at = value; *at; at++)
        if ((unsigned char)*at < ' ')
            strbuf_printf(buffer, "\\u%04x", *at);
        else
            strbuf_printf(buffer, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
    strbuf_add(buffer, "\"");
}
