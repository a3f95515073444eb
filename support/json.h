/* Reading JSON (RFC 8259) from files that nobody vouches for. */
#ifndef TIRC_SUPPORT_JSON_H
#define TIRC_SUPPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"

typedef enum { JSON_NULL, JSON_BOOL, JSON_INT, JSON_REAL, JSON_STRING, JSON_LIST, JSON_OBJECT } JsonKind;

typedef struct Json Json;
struct Json {
    JsonKind kind;
    bool boolean;
    int64_t integer;
    double real;          /* of an integer too */
    const char *text;     /* NUL-terminated UTF-8; a NUL inside is refused */
    int count;            /* items of a list; pairs of an object */
    const Json *items;    /* of a list; the values of an object */
    const char *const *keys;
};

/* The one value that the LENGTH bytes at TEXT hold. NULL, with *REASON in words and the byte *AT where it is found, where there is none or more. */
const Json *json_read(Arena *arena, const char *text, size_t length, const char **reason, size_t *at);
/* The value of KEY in OBJECT; NULL where OBJECT is NULL, no object, or has no such key. */
const Json *json_get(const Json *object, const char *key);
/* Item INDEX of LIST; NULL where LIST is NULL, no list, or shorter. */
const Json *json_item(const Json *list, int64_t index);
/* VALUE is of KIND; it may be NULL. */
static inline bool json_is(const Json *value, JsonKind kind)
{
    return value && value->kind == kind;
}

#endif
