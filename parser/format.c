/* Formatted strings: each replacement field is parsed as a text of its own, in its place. */
#include "parser/ast_build.h"
#include "parser/tir.tab.h"

/* The expression that is all of FIELD; NULL after errors. */
static const AstNode *parse_field(Parse *parse, Span field)
{
    int errors = diag_error_count(parse->ctx);
    Parse inner = {.ctx = parse->ctx, .source = parse->source, .tokens = token_stream_within(parse->ctx, field), .too_deep = parse->too_deep};
    tir_parse(&inner);
    token_stream_free(inner.tokens);
    parse->too_deep = inner.too_deep;
    const AstNode *const *items = inner.file ? inner.file->as.list.items : NULL;
    if (items && inner.file->as.list.count == 1 && items[0]->kind == AST_EXPR_STMT)
        return items[0]->as.operand;
    if (diag_error_count(parse->ctx) == errors)
        diag_error(parse->ctx, field, "a replacement field holds one expression");
    return NULL;
}

AstText *ast_format_add(Parse *parse, AstText *text, const FormatText *format)
{
    for (int i = 0; i < format->count; i++) {
        const FormatPart *part = &format->parts[i];
        text = ast_text_add(parse, text, part->text);
        const AstNode *value = part->field.end ? parse_field(parse, part->field) : NULL;
        if (!value)
            continue;
        if (part->conversion || part->spec) {
            const AstNode *spec = part->spec ? ast_string(parse, ast_format_add(parse, NULL, part->spec), value->span) : NULL;
            value = ast_field(parse, value, part->conversion, spec, value->span);
        }
        AstNodes *parts = text->parts ? text->parts : ast_nodes_empty(parse);
        parts = ast_nodes_add(parse, parts, ast_string(parse, &(AstText){.joined = text->joined}, value->span));
        text->parts = ast_nodes_add(parse, parts, value);
        text->joined = (StrBuf){.arena = parse->ctx->arena};
    }
    return text;
}
