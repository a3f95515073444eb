/* The token stream that the grammar reads: raw tokens with NEWLINE, INDENT and DEDENT put in where Python's layout has them. */
#ifndef TIRC_LEXER_LAYOUT_H
#define TIRC_LEXER_LAYOUT_H

#include "support/context.h"

typedef struct TokenStream TokenStream;
union TIR_STYPE;

/* The value of a literal with replacement fields: texts, each but the last with the field behind it, an expression without the white space
   around it. CONVERSION is 'r', 's' or 'a', or 0; SPEC, how the value is written, may hold fields itself, or is NULL. */
typedef struct FormatText FormatText;
typedef struct {
    Str text;
    Span field;
    char conversion;
    const FormatText *spec;
} FormatPart;
struct FormatText {
    const FormatPart *parts;
    int count;
};

/* The tokens of source FILE. The caller releases the stream. */
TokenStream *token_stream_new(Context *ctx, uint32_t file);
/* Those of the part RANGE of a source file, as if it were the whole. */
TokenStream *token_stream_within(Context *ctx, Span range);
void token_stream_free(TokenStream *stream);

/* The next token's number (as in the grammar's token header), its VALUE and place. After the end it goes on giving the end token. Brackets
   come out balanced: a missing or wrong one is diagnosed and repaired. A text whose nesting is beyond the limits is diagnosed and ends
   there. */
int token_stream_next(TokenStream *stream, union TIR_STYPE *value, Span *span);

/* True when the token last given, at SPAN, was put in after a diagnostic, or stands on a line with an error: a complaint of the parser about it
   would be no news. */
bool token_stream_repaired(const TokenStream *stream, Span span);
/* An error was told since the stream began. */
bool token_stream_has_errors(const TokenStream *stream);
/* The parser has told of an error: what the rest of the line holds is not told; nor the next line where the error is its end at TORN, which may
   be no place. */
void token_stream_give_up_line(TokenStream *stream, Span torn);
/* A syntax error at SPAN, the token last given, is explained by a bracket that was never closed, as SPAN begins a line that is no deeper than
   the statement: then the bracket is diagnosed, and the text read on as if it were closed. */
bool token_stream_abandon_brackets(TokenStream *stream, Span span);

#endif
