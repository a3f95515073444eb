/* Texts of values: repr, and the ways to format them. */
#ifndef TIRC_SCRIPT_TEXT_H
#define TIRC_SCRIPT_TEXT_H

#include "script/script_internal.h"
#include "support/strbuf.h"

/* As Python's repr(). False after a diagnostic. */
bool script_repr(Script *script, Value value, const char **result);
/* Adds VALUE written as SPEC, the format specification of f-strings and format(), says. False after a diagnostic at SPAN. */
bool script_add_formatted(Script *script, StrBuf *out, Value value, const char *spec, Span span);
/* VALUE after the conversion CONVERSION ('r', 's', 'a'; 0: VALUE itself). */
bool script_convert(Script *script, Value value, char conversion, Value *result);
/* FORMAT % VALUES, as Python's operator on strings. */
bool script_percent(Script *script, const char *format, Value values, Span span, Value *result);
/* TEXT.format(...). */
bool script_format_call(Script *script, const char *text, const Arguments *arguments, Value *result);
Value script_string(Script *script, const char *text);
/* The number of characters in the first BYTES bytes of TEXT. */
int64_t text_characters(const char *text, size_t bytes);

#endif
