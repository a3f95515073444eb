/* The layout filter; see layout.h. It reads one raw token at a time and keeps what has to come out before it in a small queue.

   Brackets: inside them line ends and indentation mean nothing. A bracket that is never closed would swallow the rest of the text, so a
   keyword that can only begin a statement ends the search, and the bracket is reported where it was opened. */
#include "lexer/layout.h"

#include "lexer/scan.h"

#include "lexer/lexer.h"
#include "parser/tir.tab.h"

enum { DEEPEST_BRACKETS = 200, DEEPEST_BLOCKS = 100, QUEUE_SIZE = DEEPEST_BRACKETS + DEEPEST_BLOCKS + 4 };

typedef struct {
    int wide, narrow;
} Indent;

typedef struct {
    char opener;
    Span span;
} Bracket;

typedef struct {
    int number;
    Span span;
    bool repair;
    TIR_STYPE value;
} Token;

struct TokenStream {
    ScanState scan;
    yyscan_t scanner;
    const SourceFile *source;
    Indent indents[DEEPEST_BLOCKS + 1];
    int indent_count;
    int stray_indent; /* an indentation that matched no block: lines with it belong to the block in which it was told; 0: none */
    Bracket brackets[DEEPEST_BRACKETS];
    Token queue[QUEUE_SIZE]; /* tokens to give before the next raw one is read */
    int queue_begin, queue_end;
    bool line_open; /* a NEWLINE is due before a block or the text may end */
    bool cut;       /* the text was given up before its end */
    bool ended, repaired;
    bool line_ended; /* the token last given was the end of a line */
};

static int byte_order_mark_length(const SourceFile *source)
{
    return source->length >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Length of the text up to a NUL byte, which no text holds (and which costs the scanner time proportional to the token that it is in). */
static uint32_t text_length(Context *ctx, TokenStream *stream, uint32_t file)
{
    const char *nul = memchr(stream->source->text, 0, stream->source->length);
    if (!nul)
        return stream->source->length;
    uint32_t at = (uint32_t)(nul - stream->source->text);
    diag_error(ctx, (Span){file, at, at + 1}, "a NUL byte; the file is no text from here on");
    stream->cut = true;
    return at;
}

static void start_scan(Context *ctx, TokenStream *stream, Span range)
{
    stream->scan = (ScanState){.ctx = ctx, .file = range.file, .begin = range.begin, .end = range.begin, .errors = diag_error_count(ctx)};
    stream->indent_count = 1;
    tir_scan_lex_init_extra(&stream->scan, &stream->scanner);
    tir_scan__scan_bytes(stream->source->text + range.begin, (int)(range.end - range.begin), stream->scanner);
}

TokenStream *token_stream_new(Context *ctx, uint32_t file)
{
    TokenStream *stream = ARENA_NEW(ctx->arena, TokenStream);
    stream->source = source_file(ctx->sources, file);
    start_scan(ctx, stream, (Span){file, (uint32_t)byte_order_mark_length(stream->source), text_length(ctx, stream, file)});
    return stream;
}

TokenStream *token_stream_within(Context *ctx, Span range)
{
    TokenStream *stream = ARENA_NEW(ctx->arena, TokenStream);
    stream->source = source_file(ctx->sources, range.file);
    start_scan(ctx, stream, range);
    return stream;
}

void token_stream_free(TokenStream *stream)
{
    tir_scan_lex_destroy(stream->scanner);
}

bool token_stream_repaired(const TokenStream *stream, Span span)
{
    return stream->repaired || stream->scan.faulty || span.begin < stream->scan.torn_until;
}

bool token_stream_has_errors(const TokenStream *stream)
{
    return diag_error_count(stream->scan.ctx) > stream->scan.errors;
}

void token_stream_give_up_line(TokenStream *stream, Span torn)
{
    stream->scan.quiet = true;
    if (torn.file)
        scan_tear(&stream->scan, torn.begin);
}

/* --- the queue --- */

static void queue_token(TokenStream *stream, Token token)
{
    CHECK(stream->queue_end < QUEUE_SIZE);
    stream->queue[stream->queue_end++] = token;
    stream->line_open = token.number != TOKEN_NEWLINE && token.number != TOKEN_INDENT && token.number != TOKEN_DEDENT;
}

/* Queues a token without text at SPAN's begin. */
static void queue_mark(TokenStream *stream, int number, Span span, bool repair)
{
    queue_token(stream, (Token){.number = number, .span = {span.file, span.begin, span.begin}, .repair = repair});
}

/* --- brackets --- */

static char closer_of(char opener)
{
    return opener == '(' ? ')' : opener == '[' ? ']' : '}';
}

static void report_never_closed(TokenStream *stream, const Bracket *bracket)
{
    scan_error(&stream->scan, bracket->span, "'%c' was never closed", bracket->opener);
}

/* Ends everything that is open: the text is over, or is given up. */
static void queue_end(TokenStream *stream, Span span, bool repair)
{
    if (stream->line_open)
        queue_mark(stream, TOKEN_NEWLINE, span, repair);
    for (; stream->indent_count > 1; stream->indent_count--)
        queue_mark(stream, TOKEN_DEDENT, span, repair);
    queue_mark(stream, TOKEN_END, span, repair);
    stream->ended = true;
}

static void open_bracket(TokenStream *stream, Token token)
{
    if (stream->scan.bracket_depth == DEEPEST_BRACKETS) {
        scan_error(&stream->scan, token.span, "more than %d brackets are open at once", DEEPEST_BRACKETS);
        queue_end(stream, token.span, true);
        return;
    }
    stream->brackets[stream->scan.bracket_depth++] = (Bracket){(char)token.number, token.span};
    queue_token(stream, token);
}

static void close_bracket(TokenStream *stream, Token token)
{
    int depth = stream->scan.bracket_depth;
    if (depth == 0) {
        scan_error(&stream->scan, token.span, "'%c' closes no bracket", token.number);
        return;
    }
    int match = depth - 1;
    while (match >= 0 && closer_of(stream->brackets[match].opener) != token.number)
        match--;
    if (match < 0) {
        const Bracket *open = &stream->brackets[depth - 1];
        bool told = !stream->scan.quiet && !stream->scan.faulty;
        scan_error(&stream->scan, token.span, "'%c' does not close '%c'", token.number, open->opener);
        if (told)
            diag_note(stream->scan.ctx, open->span, "'%c' is opened here", open->opener);
        token.number = closer_of(open->opener);
        match = depth - 1;
    }
    for (int i = depth - 1; i > match; i--) {
        report_never_closed(stream, &stream->brackets[i]);
        queue_mark(stream, closer_of(stream->brackets[i].opener), token.span, true);
    }
    stream->scan.bracket_depth = match;
    queue_token(stream, token);
}

/* Closes all brackets at SPAN without a word: what closes them is inside a string that was not ended. */
static void close_quietly(TokenStream *stream, Span span)
{
    for (; stream->scan.bracket_depth > 0; stream->scan.bracket_depth--)
        queue_mark(stream, closer_of(stream->brackets[stream->scan.bracket_depth - 1].opener), span, true);
    stream->scan.broken_line = false;
}

/* --- indentation --- */

static void queue_indent(TokenStream *stream, Indent indent, Span span)
{
    if (stream->indent_count > DEEPEST_BLOCKS) {
        scan_error(&stream->scan, span, "blocks are nested more than %d deep", DEEPEST_BLOCKS);
        queue_end(stream, span, true);
        return;
    }
    stream->indents[stream->indent_count++] = indent;
    queue_mark(stream, TOKEN_INDENT, span, false);
}

/* Any other error may have lost the statement that the indentation belongs to. */
static void indentation_error(TokenStream *stream, Span span, const char *text)
{
    if (!token_stream_has_errors(stream))
        scan_error(&stream->scan, span, "%s", text);
    stream->scan.faulty = true;
}

/* Compares the indentation of a line that begins at SPAN with the open blocks. */
static void change_indent(TokenStream *stream, Indent indent, Span span)
{
    static const char mixed[] = "the indentation mixes tabs and spaces so that its depth depends on the tab width";
    const Indent *top = &stream->indents[stream->indent_count - 1];
    if ((indent.wide > top->wide) != (indent.narrow > top->narrow) || (indent.wide < top->wide) != (indent.narrow < top->narrow)) {
        /* the text is read on as with tabs of 8 */
        indentation_error(stream, span, mixed);
    }
    if (stream->stray_indent == indent.wide && top->wide < indent.wide)
        return;
    if (indent.wide > top->wide) {
        queue_indent(stream, indent, span);
        return;
    }
    while (stream->indent_count > 1 && stream->indents[stream->indent_count - 1].wide > indent.wide) {
        stream->indent_count--;
        queue_mark(stream, TOKEN_DEDENT, span, false);
    }
    top = &stream->indents[stream->indent_count - 1];
    if (top->wide != indent.wide) {
        indentation_error(stream, span, "the indentation matches no enclosing block");
        stream->stray_indent = indent.wide;
    } else if (top->narrow != indent.narrow)
        indentation_error(stream, span, mixed);
}

/* True when only white space stands before SPAN on its line; *INDENT is its width then. */
static bool starts_line(TokenStream *stream, Span span, Indent *indent)
{
    const char *text = stream->source->text;
    uint32_t begin = span.begin;
    while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t' || text[begin - 1] == '\f'))
        begin--;
    if (begin > 0 && text[begin - 1] != '\n' && text[begin - 1] != '\r')
        return false;
    scan_measure_indent(&stream->scan, text + begin, (int)(span.begin - begin));
    *indent = (Indent){stream->scan.indent, stream->scan.narrow_indent};
    return true;
}

/* True when TOKEN, inside brackets, can only be the first of the next statement, whose indentation is then in *INDENT. A `for`, `if` or
   `else` may belong to an expression, but hardly when it stands no deeper than the statement itself. */
static bool begins_statement(TokenStream *stream, const Token *token, Indent *indent)
{
    switch (token->number) {
    case TOKEN_DEF:
    case TOKEN_CLASS:
    case TOKEN_WITH:
    case TOKEN_WHILE:
    case TOKEN_RETURN:
    case TOKEN_PASS:
    case TOKEN_ASSERT:
    case TOKEN_IMPORT:
    case TOKEN_BREAK:
    case TOKEN_CONTINUE:
        return starts_line(stream, token->span, indent);
    case TOKEN_FOR:
    case TOKEN_IF:
    case TOKEN_ELSE:
        return starts_line(stream, token->span, indent) && indent->wide <= stream->indents[stream->indent_count - 1].wide;
    default:
        return false;
    }
}

/* Gives up the open brackets before TOKEN, a statement's first. */
static void abandon_brackets(TokenStream *stream, Token token, Indent indent)
{
    report_never_closed(stream, &stream->brackets[stream->scan.bracket_depth - 1]);
    stream->scan.bracket_depth = 0;
    queue_mark(stream, TOKEN_NEWLINE, token.span, true);
    change_indent(stream, indent, token.span);
    if (!stream->ended)
        queue_token(stream, token);
}

bool token_stream_abandon_brackets(TokenStream *stream, Span span)
{
    Indent indent;
    if (stream->scan.bracket_depth == 0 || !starts_line(stream, span, &indent) ||
        indent.wide > stream->indents[stream->indent_count - 1].wide)
        return false;
    report_never_closed(stream, &stream->brackets[stream->scan.bracket_depth - 1]);
    stream->scan.bracket_depth = 0;
    return true;
}

/* --- the stream --- */

static Token read_raw(TokenStream *stream)
{
    Token token = {0};
    stream->scan.value = &token.value;
    token.number = tir_scan_lex(stream->scanner);
    token.span = scan_span(&stream->scan);
    stream->scan.value = NULL;
    return token;
}

/* TOKEN is the first of a line. */
static void accept_line_start(TokenStream *stream, Token *token)
{
    Indent indent = {stream->scan.indent, stream->scan.narrow_indent};
    *token = read_raw(stream);
    if (token->number != TOKEN_END && token->number != TOKEN_NEWLINE)
        change_indent(stream, indent, token->span);
}

static void accept_raw(TokenStream *stream, Token token)
{
    Indent indent;
    if (token.number == RAW_LINE_START)
        accept_line_start(stream, &token);
    if (stream->ended)
        return;
    if (token.number == TOKEN_END) {
        if (stream->scan.bracket_depth > 0 && !stream->cut)
            report_never_closed(stream, &stream->brackets[stream->scan.bracket_depth - 1]);
        queue_end(stream, token.span, stream->cut || stream->scan.bracket_depth > 0);
    } else if (token.number == '(' || token.number == '[' || token.number == '{') {
        open_bracket(stream, token);
    } else if (token.number == ')' || token.number == ']' || token.number == '}') {
        close_bracket(stream, token);
    } else if (stream->scan.bracket_depth > 0 && begins_statement(stream, &token, &indent)) {
        abandon_brackets(stream, token, indent);
    } else if (token.number != TOKEN_NEWLINE || stream->line_open) {
        queue_token(stream, token);
    }
    if (stream->scan.broken_line)
        close_quietly(stream, token.span);
}

int token_stream_next(TokenStream *stream, TIR_STYPE *value, Span *span)
{
    if (stream->line_ended)
        stream->scan.faulty = stream->scan.quiet = stream->scan.repairs = false;
    while (stream->queue_begin == stream->queue_end && !stream->ended) {
        stream->queue_begin = stream->queue_end = 0;
        accept_raw(stream, read_raw(stream));
    }
    bool at_end = stream->queue_begin == stream->queue_end;
    Token token = stream->queue[at_end ? stream->queue_end - 1 : stream->queue_begin++];
    *value = token.value;
    *span = token.span;
    stream->repaired = token.repair;
    stream->line_ended = token.number == TOKEN_NEWLINE;
    return token.number;
}
