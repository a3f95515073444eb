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

/* ITEM names no package that it misspells; false after a diagnostic. */
bool check_import(Context *ctx, const AstImportItem *item);

/* What a name of the text around a program stands for: a literal, or the full path of a Python package or of something in it. */
typedef struct {
    const AstNode *value;
    Str path;
} OuterName;
typedef struct {
    bool (*find)(void *data, Str name, OuterName *result); /* false: there is no such name */
    void *data;
} OuterNames;
/* The same for a program that stands inside of another text, whose names OUTER knows. */
bool elaborate_inside(Context *ctx, const AstNode *const *files, int count, const OuterNames *outer, Module **module);

/* No access of FUNC is certainly out of bounds; false after a diagnostic for each that is. */
bool func_check_bounds(Context *ctx, const Func *func);

/* Adds INTRIN to INTRINS. False after a diagnostic: the two functions do not fit each other, or the name is taken and REPLACES is false. */
typedef VEC(TensorIntrin) IntrinList;
bool intrin_register(Context *ctx, IntrinList *intrins, TensorIntrin intrin, bool replaces);

/* Both steps for one text under NAME, which appears in diagnostics; NULL after errors. */
const Module *parse_module_text(Context *ctx, const char *name, const char *text, size_t length);

#endif
