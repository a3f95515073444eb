/* Inside of support: the ways to print a diagnostic. */
#ifndef TIRC_SUPPORT_DIAG_PRINT_H
#define TIRC_SUPPORT_DIAG_PRINT_H

#include "support/context.h"

/* The longest part of a message that is printed, in bytes. */
enum { LONGEST_TEXT = 4000 };

/* The number of bytes of the UTF-8 character at TEXT, of which LENGTH bytes are there; 0 when they are none. */
int utf8_length(const char *text, int length);

const char *severity_name(Severity severity);

/* One diagnostic for people. */
void diag_print_text(const Context *ctx, FILE *out, const Diagnostic *diagnostic, bool color);
/* DIAGNOSTIC and the NOTE_COUNT notes behind it as one JSON object on a line. */
void diag_print_json(const Context *ctx, FILE *out, const Diagnostic *diagnostic, int note_count);

#endif
