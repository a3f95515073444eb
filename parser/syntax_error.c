/* The wording of syntax errors: what was expected, and before what. */
#include <ctype.h>

#include "parser/ast_build.h"

static bool expects(const SyntaxError *error, const char *name)
{
    for (int i = 0; i < error->expected_count; i++)
        if (strcmp(error->expected[i], name) == 0)
            return true;
    return false;
}

static bool found(const SyntaxError *error, const char *name)
{
    return strcmp(error->found, name) == 0;
}

/* What to call the token in a message: its text, quoted, where it has one. */
static const char *found_text(Parse *parse, const SyntaxError *error)
{
    if (!found(error, "a name") && !found(error, "an integer") && !found(error, "a number") && !found(error, "a reserved word"))
        return error->found;
    const SourceFile *source = source_file(parse->ctx->sources, error->span.file);
    return arena_printf(parse->ctx->arena, "'%.*s'", (int)(error->span.end - error->span.begin), source->text + error->span.begin);
}

/* What would have fitted, in words; NULL when too much would. */
static const char *expected_text(const SyntaxError *error)
{
    static const struct {
        const char *name, *text;
    } single[] = {
        {"an indented block", "an indented block"},
        {"an integer", "an expression"},
        {"'import'", "'import'"},
        {"a name", "a name"},
        {"'except'", "'except' or 'finally'"},
    };
    static const char *const closers[][2] = {{"')'", "',' or ')'"}, {"']'", "',' or ']'"}, {"'}'", "',' or '}'"}};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (expects(error, single[i].name))
            return single[i].text;
    for (int i = 0; i < 3; i++)
        if (expects(error, closers[i][0]))
            return expects(error, "','") ? closers[i][1] : closers[i][0];
    if (expects(error, "the end of the line"))
        return "the end of the line";
    if (expects(error, "':'"))
        return "':'";
    if (expects(error, "'else'"))
        return "'else'";
    if (expects(error, "'in'"))
        return "'in'";
    return error->expected_count == 1 ? error->expected[0] : NULL;
}

/* --- what people write who come from other languages --- */

static bool same_text(const SourceFile *source, uint32_t at, const char *text)
{
    size_t length = strlen(text);
    return at + length <= source->length && !memcmp(source->text + at, text, length);
}

/* The place of '//' or of a comment between signs around the error, none where there is no such thing. Before a word that is one too many,
   '//' without a bracket in between begins a comment; elsewhere it divides. */
static Span foreign_comment(const SourceFile *source, const SyntaxError *error)
{
    Span span = error->span;
    uint32_t at = span.begin;
    bool is_word = at < source->length && (isalpha((unsigned char)source->text[at]) || source->text[at] == '_');
    if (same_text(source, at, "//") || same_text(source, at, "/*"))
        return (Span){span.file, at, at + 2};
    if (at > 0 && same_text(source, at - 1, "/*"))
        return (Span){span.file, at - 1, at + 1};
    for (; is_word && at > 1 && !strchr("\r\n()[]{}", source->text[at - 1]); at--)
        if (same_text(source, at - 2, "//"))
            return (Span){span.file, at - 2, at};
    return span_none();
}

/* x++ or x--: the operator right before the error, but for blanks. */
static Span foreign_step(const SourceFile *source, Span span)
{
    uint32_t at = span.begin;
    while (at > 0 && (source->text[at - 1] == ' ' || source->text[at - 1] == '\t'))
        at--;
    bool step = at > 2 && (same_text(source, at - 2, "++") || same_text(source, at - 2, "--"));
    return step ? (Span){span.file, at - 2, at} : span_none();
}

/* The word right before SPAN, but for blanks; empty where there is none. FIRST: it begins its line. */
static Span word_before(const SourceFile *source, Span span, bool *first)
{
    uint32_t end = span.begin, begin;
    while (end > 0 && (source->text[end - 1] == ' ' || source->text[end - 1] == '\t'))
        end--;
    for (begin = end; begin > 0 && (isalnum((unsigned char)source->text[begin - 1]) || source->text[begin - 1] == '_');)
        begin--;
    uint32_t line = begin;
    while (line > 0 && (source->text[line - 1] == ' ' || source->text[line - 1] == '\t'))
        line--;
    *first = line == 0 || source->text[line - 1] == '\n' || source->text[line - 1] == '\r';
    return (Span){span.file, begin, end};
}

/* WORD, of two letters, is KEYWORD with its letters swapped, or without one of them. */
static bool short_mistake(const char *word, const char *keyword)
{
    if (strlen(word) != 2 || (strlen(keyword) == 2 && (word[0] != keyword[1] || word[1] != keyword[0])))
        return false;
    return strlen(keyword) == 2 || (strlen(keyword) == 3 && word[0] == keyword[0] && strchr(keyword + 1, word[1]));
}

/* The keyword that WORD, at the begin of a statement or inside of one, was meant for; NULL: none. */
static const char *near_keyword(const char *word, bool begins)
{
    static const char *const first[] = {"def", "class", "for", "while", "with", "if", "elif", "return", "assert", "import", "from", "pass"};
    static const char *const inner[] = {"lambda"};
    const char *const *keywords = begins ? first : inner;
    int count = begins ? (int)(sizeof first / sizeof *first) : (int)(sizeof inner / sizeof *inner);
    for (int i = 0; i < count; i++)
        if (short_mistake(word, keywords[i]))
            return keywords[i];
    const char *near = diag_closest(word, keywords, count);
    return near && strcmp(near, word) ? near : NULL;
}

/* A word before the error is a keyword with a spelling mistake, or the 'else' of 'else if'; false where neither is so. */
static bool report_keyword(Parse *parse, const SyntaxError *error)
{
    Context *ctx = parse->ctx;
    const SourceFile *source = source_file(ctx->sources, error->span.file);
    bool first;
    Span word = word_before(source, error->span, &first);
    const char *text = arena_strndup(ctx->arena, source->text + word.begin, word.end - word.begin);
    if (found(error, "'if'") && !strcmp(text, "else")) {
        Span both = {word.file, word.begin, error->span.end};
        diag_error(ctx, both, "'else if' is written 'elif'");
        diag_edit(ctx, both, "elif");
        return true;
    }
    bool follows = found(error, "a name") || found(error, "an integer") || found(error, "a number") || found(error, "a string");
    const char *keyword = follows && word.end < error->span.begin ? near_keyword(text, first) : NULL;
    if (!keyword)
        return false;
    diag_error(ctx, word, first ? "a statement cannot begin with '%s'; did you mean '%s'?" : "'%s' is no keyword; did you mean '%s'?", text, keyword);
    diag_edit(ctx, word, keyword);
    return true;
}

/* A line like `T.block("b"):`, whose word before it is missing; false where it is none. */
static bool report_lost_word(Parse *parse, const SyntaxError *error)
{
    Place place;
    if (!found(error, "the end of the line") || !expects(error, "an integer") || !source_place(parse->ctx->sources, error->span, &place))
        return false;
    int last = (int)place.column - 2;
    while (last >= 0 && last < place.line_length && (place.line_text[last] == ' ' || place.line_text[last] == '\t'))
        last--;
    if (last < 0 || last >= place.line_length || place.line_text[last] != ':')
        return false;
    diag_error(parse->ctx, error->span, "expected a type after ':'; a line that ends with ':' begins with 'with', 'for', 'while', 'if', 'def' or 'class'");
    return true;
}

/* The error is explained by what another language has; false where it is not. */
static bool report_foreign(Parse *parse, const SyntaxError *error)
{
    Context *ctx = parse->ctx;
    const SourceFile *source = source_file(ctx->sources, error->span.file);
    Span comment = foreign_comment(source, error), step = foreign_step(source, error->span);
    if (step.file) {
        char sign = source->text[step.begin];
        diag_error(ctx, step, "there is no operator '%c%c'; write '%c= 1'", sign, sign, sign);
        diag_edit(ctx, step, arena_printf(ctx->arena, " %c= 1", sign));
        return true;
    }
    if (comment.file) {
        const char *end = same_text(source, comment.begin, "/*") ? strstr(source->text + comment.end, "*/") : NULL;
        parse->comment_end = end ? (uint32_t)(end + 2 - source->text) : 0;
        diag_error(ctx, comment, "a comment begins with '#', not with '%.*s'", 2, source->text + comment.begin);
        if (!end || !memchr(source->text + comment.end, '\n', (size_t)(end - source->text - comment.end)))
            diag_edit(ctx, comment, "#"); /* a comment of several lines needs one on each */
        return true;
    }
    if (found(error, "'{'") || found(error, "'}'")) {
        diag_error(ctx, error->span, "a block begins with ':' and an indentation, not with '{'");
        return true;
    }
    return false;
}

/* The keyword that a name at the begin of a statement was meant for; NULL: none. */
static const char *meant_keyword(const char *text, const SyntaxError *error)
{
    static const char *const keywords[] = {"def", "class", "for", "while", "with", "if", "return", "assert", "import", "from", "pass"};
    if (!found(error, "a name") || *text != '\'')
        return NULL;
    char name[16] = "";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text + 1, "'"), text + 1);
    return diag_closest(name, keywords, sizeof keywords / sizeof *keywords);
}

/* The word that was found is one of Python's, which names nothing. */
static bool is_reserved(const SyntaxError *error)
{
    static const char *const words[] = {"a reserved word", "'except'", "'finally'", "'global'", "'nonlocal'", "'raise'", "'try'"};
    bool reserved = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        reserved |= found(error, words[i]);
    return reserved;
}

/* The first word of the line of SPAN is 'if' or 'elif'. */
static bool on_line_of_if(Parse *parse, Span span)
{
    Place place;
    if (!source_place(parse->ctx->sources, span, &place))
        return false;
    int at = 0;
    while (at < place.line_length && (place.line_text[at] == ' ' || place.line_text[at] == '\t'))
        at++;
    int left = place.line_length - at;
    return (left > 2 && !memcmp(place.line_text + at, "if", 2)) || (left > 4 && !memcmp(place.line_text + at, "elif", 4));
}

void syntax_error_report(Parse *parse, const SyntaxError *error)
{
    bool begins_statement = expects(error, "'class'"), is_else = found(error, "'else'") || found(error, "'elif'");
    bool layout = expects(error, "an indented block") || found(error, "an indented block") || found(error, "the end of the block");
    bool follows = (begins_statement && is_else && parse->lost_if) || error->span.begin < parse->comment_end ||
                   (layout && token_stream_has_errors(parse->tokens));
    parse->lost_if |= on_line_of_if(parse, error->span);
    if (token_stream_repaired(parse->tokens, error->span) || follows || token_stream_abandon_brackets(parse->tokens, error->span)) {
        token_stream_give_up_line(parse->tokens, span_none());
        return;
    }
    Context *ctx = parse->ctx;
    const char *text = found_text(parse, error);
    const char *expected = expected_text(error), *keyword = begins_statement ? meant_keyword(text, error) : NULL;
    bool torn = found(error, "the end of the line") && !expects(error, "':'");
    token_stream_give_up_line(parse->tokens, torn ? error->span : span_none());
    if (report_foreign(parse, error) || report_keyword(parse, error) || report_lost_word(parse, error))
        return;
    if (is_reserved(error) && expects(error, "an integer") && !begins_statement)
        diag_error(ctx, error->span, "%s is a reserved word of Python, and no name; a string is written \"%.*s\"", text, (int)strlen(text) - 2, text + 1);
    else if (found(error, "a reserved word"))
        diag_error(ctx, error->span, "%s is not supported", text);
    else if (found(error, "':='"))
        diag_error(ctx, error->span, "':=' stands in brackets, or in a condition or an argument alone");
    else if (begins_statement && is_else)
        diag_error(ctx, error->span, "%s without an 'if'", text);
    else if (keyword) {
        diag_error(ctx, error->span, "a statement cannot begin with %s; did you mean '%s'?", text, keyword);
        diag_edit(ctx, error->span, keyword);
    } else if (begins_statement && !expects(error, "an indented block"))
        diag_error(ctx, error->span, "a statement cannot begin with %s", text);
    else if (found(error, "'='") && expects(error, "'=='") && !expects(error, "the end of the line"))
        diag_error(ctx, error->span, "expected %s before '='; a comparison is '=='", expected ? expected : "an expression");
    else if (expected)
        diag_error(ctx, error->span, "expected %s before %s", expected, text);
    else
        diag_error(ctx, error->span, "unexpected %s", text);
}

void syntax_error_indentation(Parse *parse, Span span)
{
    if (!token_stream_has_errors(parse->tokens))
        diag_error(parse->ctx, span, "unexpected indentation");
}
