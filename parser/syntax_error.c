/* The wording of syntax errors: what was expected, and before what. */
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

void syntax_error_report(Parse *parse, const SyntaxError *error)
{
    if (token_stream_repaired(parse->tokens))
        return;
    Context *ctx = parse->ctx;
    const char *text = found_text(parse, error);
    const char *expected = expected_text(error);
    bool begins_statement = expects(error, "'class'");
    if (found(error, "a reserved word"))
        diag_error(ctx, error->span, "%s is not supported", text);
    else if (found(error, "':='"))
        diag_error(ctx, error->span, "':=' is not supported; use an assignment of its own");
    else if (begins_statement && (found(error, "'else'") || found(error, "'elif'")))
        diag_error(ctx, error->span, "%s without an 'if'", text);
    else if (begins_statement && !expects(error, "an indented block"))
        diag_error(ctx, error->span, "a statement cannot begin with %s", text);
    else if (found(error, "'='") && expects(error, "'=='") && !expects(error, "the end of the line"))
        diag_error(ctx, error->span, "expected %s before '='; a comparison is '=='", expected ? expected : "an expression");
    else if (expected)
        diag_error(ctx, error->span, "expected %s before %s", expected, text);
    else
        diag_error(ctx, error->span, "unexpected %s", text);
}
