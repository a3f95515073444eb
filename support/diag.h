/* Diagnostics: what the user did wrong, where, and what would help. */
#ifndef TIRC_SUPPORT_DIAG_H
#define TIRC_SUPPORT_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "support/source.h"

typedef struct Context Context;
typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } Severity;

/* Each adds one diagnostic to the context. Errors and warnings stand alone; a note belongs to the error or warning before it. Text starts
   in lower case, has no final period and names things in 'quotes'. Beyond 20 errors in a run the rest is only counted. */
void diag_error(Context *ctx, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_warning(Context *ctx, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_note(Context *ctx, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Errors so far (warnings too under -Werror). */
int diag_error_count(const Context *ctx);

/* Prints the diagnostics not yet printed: "file:line:col: error: text", the source line, a caret under the span. COLOR: with ANSI
   colours. */
void diag_flush(Context *ctx, FILE *out, bool color);

/* Forgets all diagnostics, printed or not, and with them that there were errors. */
void diag_clear(Context *ctx);

/* Trials: what is diagnosed between diag_mark and diag_rollback is forgotten, as when a step is only tried. Nothing may be flushed in
   between. */
typedef struct {
    int count, errors;
} DiagMark;
DiagMark diag_mark(const Context *ctx);
void diag_rollback(Context *ctx, DiagMark mark);
/* The text of the first error since MARK, or NULL. */
const char *diag_first_error(const Context *ctx, DiagMark mark);

/* The entry of NAMES (COUNT of them, NULL entries skipped) close enough to WRONG to be meant by it, or NULL. */
const char *diag_closest(const char *wrong, const char *const *names, int count);

#endif
