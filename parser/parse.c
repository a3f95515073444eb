/* From a source text to its syntax tree. */
#include "parser/parser.h"

#include "parser/ast_build.h"
#include "parser/tir.tab.h"

const AstNode *parse_python(Context *ctx, uint32_t file)
{
    int errors = diag_error_count(ctx);
    Parse parse = {.ctx = ctx, .source = file, .tokens = token_stream_new(ctx, file)};
    tir_parse(&parse);
    token_stream_free(parse.tokens);
    if (!parse.file)
        parse.file = ast_file(&parse, NULL, (Span){file, 0, 0});
    parse.file->as.file.has_errors = diag_error_count(ctx) > errors;
    return parse.file;
}

const AstNode *parse_join(Context *ctx, const AstNode *const *files, int count)
{
    AstNode *joined = arena_copy(ctx->arena, files[0], sizeof *joined);
    VEC(const AstNode *) statements = {0};
    for (int f = 0; f < count; f++) {
        for (int i = 0; i < files[f]->as.list.count; i++)
            vec_push(ctx->arena, &statements, files[f]->as.list.items[i]);
        joined->height = files[f]->height > joined->height ? files[f]->height : joined->height;
        joined->as.file.has_errors |= files[f]->as.file.has_errors;
    }
    joined->as.file.list = (AstList){statements.data, statements.count};
    return joined;
}

const Module *parse_module_text(Context *ctx, const char *name, const char *text, size_t length)
{
    const AstNode *file = parse_python(ctx, source_add(ctx->sources, name, text, length));
    Module *module;
    return elaborate(ctx, &file, 1, &module) ? module : NULL;
}
