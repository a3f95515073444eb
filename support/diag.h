/* Diagnostics: what the user did wrong, where, and what would help. */
#ifndef TIRC_SUPPORT_DIAG_H
#define TIRC_SUPPORT_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "support/source.h"
#include "support/vec.h"

typedef struct Context Context;

/* A row of support/warning.def, WARNING_NAME in support/warning.h. */
typedef unsigned Warning;
enum { NO_WARNING = 0, MOST_WARNINGS = 64 };

typedef struct {
    bool on[MOST_WARNINGS];
    bool error[MOST_WARNINGS];     /* an error by its name */
    bool not_error[MOST_WARNINGS]; /* -Werror does not count for it */
    bool all_are_errors, none;     /* -Werror, -w */
} WarningSettings;
WarningSettings warning_settings_default(void);

typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE } Severity;

/* TEXT in the place of SPAN. An empty SPAN inserts, an empty TEXT removes. */
typedef struct {
    Span span;
    const char *text;
} DiagEdit;

typedef struct {
    Severity severity;
    Span span;
    const char *text;
    Warning warning; /* by whose name it can be turned off; NO_WARNING: of an error or note */
    VEC(DiagEdit) edits; /* all of them together repair it */
} Diagnostic;

/* How diagnostics are chosen and printed. */
typedef struct {
    WarningSettings warnings;
    int error_limit; /* beyond these the rest is only counted; 0: none */
    bool json;
} DiagOptions;
DiagOptions diag_options_default(void);

/* Each adds one diagnostic to the context. Errors and warnings stand alone; a note belongs to the error or warning before it. Text starts
   in lower case, has no final period and names things in 'quotes'. A warning that is turned off is not added, nor are its notes. */
void diag_error(Context *ctx, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_warning(Context *ctx, Warning warning, Span span, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* An error where ERROR is true, else the warning. */
void diag_error_or_warning(Context *ctx, bool error, Warning warning, Span span, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void diag_note(Context *ctx, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* TEXT in the place of SPAN repairs what the last error or warning is about. */
void diag_edit(Context *ctx, Span span, const char *text);
/* The same where the source has a string literal at SPAN, which becomes one of TEXT; nothing where another expression gave the string. */
void diag_edit_string(Context *ctx, Span span, const char *text);

/* WARNING would be added: for those that are work to find. */
bool diag_warns(const Context *ctx, Warning warning);

/* Errors so far (warnings too under -Werror). */
int diag_error_count(const Context *ctx);

/* Prints the diagnostics not yet printed: "file:line:col: error: text", the source line, a caret under the span. COLOR: with ANSI
   colours. With the option json: an object on a line of its own for each error and warning (docs/diagnostics.md). */
void diag_flush(Context *ctx, FILE *out, bool color);

/* Prints at once, what is no diagnostic: "tirc: text", with the option json an object as that of a note without a place. */
void diag_say(const Context *ctx, FILE *out, const char *text);

/* Forgets all diagnostics, printed or not, and with them that there were errors. */
void diag_clear(Context *ctx);

/* Trials: what is diagnosed between diag_mark and diag_rollback is forgotten, as when a step is only tried. Nothing may be flushed in
   between. */
typedef struct {
    int count, errors;
} DiagMark;
DiagMark diag_mark(const Context *ctx);
void diag_rollback(Context *ctx, DiagMark mark);
/* Forgets the warnings since MARK, with their notes: what they are about was undone. */
void diag_forget_warnings(Context *ctx, DiagMark mark);
/* The text of the first error since MARK, or NULL. */
const char *diag_first_error(const Context *ctx, DiagMark mark);

/* The entry of NAMES (COUNT of them, NULL entries skipped) close enough to WRONG to be meant by it, or NULL. */
const char *diag_closest(const char *wrong, const char *const *names, int count);

#endif
