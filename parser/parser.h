/* The front end: text to syntax tree, syntax tree to IR. */
#ifndef TIRC_PARSER_PARSER_H
#define TIRC_PARSER_PARSER_H

#include "ir/stmt.h"
#include "parser/ast.h"

/* Parses source FILE. Always gives an AST_FILE; after errors (diagnosed in CTX) it holds the statements that could be understood. */
const AstNode *parse_python(Context *ctx, uint32_t file);
/* The statements of COUNT parsed FILES one after the other, as one AST_FILE. */
const AstNode *parse_join(Context *ctx, const AstNode *const *files, int count);

/* Gives the parsed FILES (COUNT of them) their meaning as one program. False after errors, those of parsing a file included; *MODULE is
   then unset. Warnings alone do not fail. */
bool elaborate(Context *ctx, const AstNode *const *files, int count, Module **module);

/* Both steps for one text under NAME, which appears in diagnostics; NULL after errors. */
const Module *parse_module_text(Context *ctx, const char *name, const char *text, size_t length);

#endif
