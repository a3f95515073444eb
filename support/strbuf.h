/* A growing text buffer in arena memory. */
#ifndef TIRC_SUPPORT_STRBUF_H
#define TIRC_SUPPORT_STRBUF_H

#include "support/arena.h"

typedef struct {
    Arena *arena;
    char *text; /* NUL-terminated once anything was added; NULL before */
    size_t length, capacity;
} StrBuf;

void strbuf_add(StrBuf *buffer, const char *text);
void strbuf_add_bytes(StrBuf *buffer, const char *text, size_t length);
void strbuf_printf(StrBuf *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* VALUE as a JSON string, in quotes. */
void strbuf_add_json(StrBuf *buffer, const char *value);
/* The text so far, never NULL. */
const char *strbuf_text(const StrBuf *buffer);

#endif
