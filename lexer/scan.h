/* What the raw scanner (lexer.l) and the layout filter (layout.c) share, and the reading of literals (literal.c). */
#ifndef TIRC_LEXER_SCAN_H
#define TIRC_LEXER_SCAN_H

#include "lexer/layout.h"

union TIR_STYPE;

/* The state of one scan. */
typedef struct {
    Context *ctx;
    uint32_t file;
    uint32_t begin, end;    /* bytes of the token at hand */
    union TIR_STYPE *value; /* and where its value goes */
    bool faulty;     /* an error was told on the line at hand: what follows from it is no news */
    bool quiet;      /* the parser gave up the line at hand */
    bool repairs;    /* the error of this line takes further repairs */
    int errors;      /* that there were before this text */
    uint32_t torn_until; /* an error was told about the end of the line before: it may go on up to here; 0: nowhere */
    bool broken_line;       /* a string runs into the end of the line: brackets opened on it are lost */
    int bracket_depth;      /* kept by the layout filter; line ends inside brackets are no tokens */
    /* Width of the indentation before the first token of a line, with tabs to multiples of 8 and, to find lines that mix tabs and spaces so
       that their order depends on the tab width, with tabs of width 1. */
    int indent, narrow_indent;
} ScanState;

static inline Span scan_span(const ScanState *scan)
{
    return (Span){scan->file, scan->begin, scan->end};
}

/* Tokens that only the layout filter sees; above all token numbers of the grammar. */
enum { RAW_LINE_START = 10000 };

/* Measures the LENGTH bytes of white space before a line's first token. */
void scan_measure_indent(ScanState *scan, const char *text, int length);

/* Value of the integer literal TEXT (decimal, hexadecimal, octal or binary, with underscores); 0 after a diagnostic when it does not fit in
   64 bits. */
uint64_t scan_integer(ScanState *scan, const char *text, int length);
double scan_float(ScanState *scan, const char *text, int length);
/* The string literal TEXT with prefix and quotes begins with an f. */
bool scan_is_format(const char *text);
/* The literal TEXT is one of bytes. */
bool scan_is_bytes(const char *text);
/* Contents of the string literal TEXT with prefix and quotes: escapes resolved, interned. Mistakes inside are diagnosed. */
Str scan_string(ScanState *scan, const char *text, int length);
/* The same of one that is a format; what is in its fields is not looked at. */
const FormatText *scan_format(ScanState *scan, const char *text, int length);

/* An error in the text of a line; none where the line has one, or the parser gave it up. */
void scan_error(ScanState *scan, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Length of the longest prefix of TEXT that is a name; 0 when the first character cannot be part of one. */
int scan_name_length(const char *text, int length);
/* Diagnoses a character that starts no token; its length. *TOKEN: the token that it stands for by its looks, else 0. */
int scan_unexpected(ScanState *scan, const char *text, int length, int *token);
/* Diagnoses an operator of other languages, WRITTEN, whose word here is MEANT. */
void scan_foreign(ScanState *scan, const char *written, const char *meant);
/* What stands at AT ends too early, as a string or an expression: the next line may hold the rest of it. */
void scan_tear(ScanState *scan, uint32_t at);
/* "//" stands before AT on its line, as if a comment began there. */
bool scan_in_foreign_comment(const SourceFile *source, uint32_t at);

#endif
