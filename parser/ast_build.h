/* Construction of syntax trees by the grammar (tir.y); not for other parts. */
#ifndef TIRC_PARSER_AST_BUILD_H
#define TIRC_PARSER_AST_BUILD_H

#include "lexer/layout.h"
#include "parser/ast.h"
#include "support/strbuf.h"

/* The state of one parse. */
typedef struct Parse {
    Context *ctx;
    uint32_t source;
    TokenStream *tokens;
    AstNode *file; /* the result */
    bool too_deep; /* the depth limit was hit and diagnosed */
    uint32_t comment_end; /* of a comment between slashes and stars, which was diagnosed: nothing before is told */
    bool lost_if;  /* an 'if' with a syntax error was left out, and with it what an 'else' belongs to */
} Parse;

/* Growing lists, filled by the rules from left to right. */
typedef struct AstNodes {
    VEC(const AstNode *) nodes;
} AstNodes;
typedef struct AstArgs {
    AstNodes positional;
    VEC(AstKeyword) keywords;
} AstArgs;
typedef struct AstParams {
    VEC(AstParam) params;
} AstParams;
typedef struct AstWithItems {
    VEC(AstWithItem) items;
} AstWithItems;
typedef struct AstImports {
    VEC(AstImportItem) items;
} AstImports;
typedef struct AstClauses {
    VEC(AstComprehensionClause) clauses;
} AstClauses;
typedef struct AstChain {
    AstNodes operands;
    VEC(AstOp) ops;
} AstChain;
typedef struct AstDict {
    AstNodes keys, values;
} AstDict;
typedef struct AstText {
    StrBuf joined;   /* of adjacent literals, since the last replacement field */
    AstNodes *parts; /* what stands before; NULL: nothing */
} AstText;

/* Each adds to the end of a list; NULL stands for a new list, but for ast_nodes_*. */
AstNodes *ast_nodes_empty(Parse *parse);
AstNodes *ast_nodes_add(Parse *parse, AstNodes *nodes, const AstNode *node);
AstNodes *ast_nodes_join(Parse *parse, AstNodes *nodes, const AstNodes *more);
AstArgs *ast_args_add(Parse *parse, AstArgs *args, const AstNode *node);
AstArgs *ast_args_add_keyword(Parse *parse, AstArgs *args, Str name, const AstNode *value, Span span);
AstParams *ast_params_add(Parse *parse, AstParams *params, Str name, int stars, const AstNode *annotation, const AstNode *default_value,
                          Span span);
AstWithItems *ast_with_items_add(Parse *parse, AstWithItems *items, const AstNode *context, const AstNode *target);
AstImports *ast_imports_add(Parse *parse, AstImports *imports, Str module, Str name, Str alias, Span span);
AstClauses *ast_clauses_add(Parse *parse, AstClauses *clauses, const AstNode *target, const AstNode *iterable, const AstNodes *conditions);
AstChain *ast_chain_start(Parse *parse, const AstNode *first);
AstChain *ast_chain_add(Parse *parse, AstChain *chain, AstOp op, const AstNode *operand);
AstDict *ast_dict_add(Parse *parse, AstDict *dict, const AstNode *key, const AstNode *value);
AstText *ast_text_add(Parse *parse, AstText *text, Str literal);
/* The fields of FORMAT are parsed; see format.c. */
AstText *ast_format_add(Parse *parse, AstText *text, const FormatText *format);

/* --- Nodes. Lists may be NULL where they may be empty. --- */
const AstNode *ast_leaf(Parse *parse, AstKind kind, Span span);
const AstNode *ast_name(Parse *parse, Str name, Span span);
const AstNode *ast_int(Parse *parse, uint64_t value, Span span);
const AstNode *ast_float(Parse *parse, double value, Span span);
const AstNode *ast_string(Parse *parse, AstText *text, Span span);
const AstNode *ast_bool(Parse *parse, bool value, Span span);
AstNode *ast_file(Parse *parse, const AstNodes *statements, Span span);
/* A tuple, list or set. */
const AstNode *ast_list(Parse *parse, AstKind kind, const AstNodes *items, Span span);
const AstNode *ast_dict(Parse *parse, const AstDict *dict, Span span);
const AstNode *ast_call(Parse *parse, const AstNode *callee, const AstArgs *args, Span span);
const AstNode *ast_attribute(Parse *parse, const AstNode *value, Str name, Span name_span, Span span);
const AstNode *ast_subscript(Parse *parse, const AstNode *value, const AstNode *index, Span span);
const AstNode *ast_slice(Parse *parse, const AstNode *lower, const AstNode *upper, const AstNode *step, Span span);
const AstNode *ast_unary(Parse *parse, AstOp op, const AstNode *operand, Span span);
const AstNode *ast_binary(Parse *parse, AstOp op, const AstNode *left, const AstNode *right, Span span);
const AstNode *ast_compare(Parse *parse, const AstChain *chain, Span span);
const AstNode *ast_bool_op(Parse *parse, AstOp op, const AstNodes *operands, Span span);
const AstNode *ast_conditional(Parse *parse, const AstNode *condition, const AstNode *if_true, const AstNode *if_false, Span span);
const AstNode *ast_lambda(Parse *parse, const AstParams *params, const AstNode *body, Span span);
/* A node of a kind with a single operand: AST_STARRED, AST_EXPR_STMT, AST_RETURN or AST_RAISE (OPERAND may be NULL). */
const AstNode *ast_wrap(Parse *parse, AstKind kind, const AstNode *operand, Span span);
/* VALUE of a replacement field, with how it is written. */
const AstNode *ast_field(Parse *parse, const AstNode *value, char conversion, const AstNode *spec, Span span);
const AstNode *ast_delete(Parse *parse, const AstNodes *targets, Span span);
/* Diagnoses the ":=" in NODE, a comprehension, that it cannot hold. */
void ast_check_comprehension(Parse *parse, const AstNode *node);
const AstNode *ast_dict_comprehension(Parse *parse, const AstNode *key, const AstNode *element, const AstClauses *clauses, Span span);
const AstNode *ast_comprehension(Parse *parse, const AstNode *element, const AstClauses *clauses, Span span);
const AstNode *ast_set_comprehension(Parse *parse, const AstNode *element, const AstClauses *clauses, Span span);
const AstNode *ast_generator(Parse *parse, const AstNode *element, const AstClauses *clauses, Span span);
/* CHAIN: the targets, then the value. */
const AstNode *ast_assign(Parse *parse, const AstNodes *chain, Span span);
const AstNode *ast_ann_assign(Parse *parse, const AstNode *target, const AstNode *annotation, const AstNode *value, Span span);
const AstNode *ast_aug_assign(Parse *parse, AstOp op, const AstNode *target, const AstNode *value, Span span);
const AstNode *ast_for(Parse *parse, const AstNode *target, const AstNode *iterable, const AstNodes *body, const AstNodes *else_body,
                       Span span);
const AstNode *ast_while(Parse *parse, const AstNode *condition, const AstNodes *body, const AstNodes *else_body, Span span);
const AstNode *ast_if(Parse *parse, const AstNode *condition, const AstNodes *body, const AstNodes *else_body, Span span);
const AstNode *ast_try(Parse *parse, const AstNodes *body, const AstNodes *handlers, const AstNodes *else_body, const AstNodes *finally_body,
                       Span span);
/* One handler of ast_try; TYPE and NAME may be NULL. */
const AstNode *ast_except(Parse *parse, const AstNode *type, Str name, const AstNodes *body, Span span);
/* NAME := VALUE. */
const AstNode *ast_named(Parse *parse, Str name, const AstNode *value, Span span);
const AstNode *ast_with(Parse *parse, const AstWithItems *items, const AstNodes *body, Span span);
/* Without decorators, which ast_decorate adds to a def or class just made. */
const AstNode *ast_def(Parse *parse, Str name, Span name_span, const AstParams *params, const AstNode *returns, const AstNodes *body,
                       Span span);
const AstNode *ast_class(Parse *parse, Str name, Span name_span, const AstNodes *bases, const AstNodes *body, Span span);
const AstNode *ast_decorate(Parse *parse, const AstNode *node, const AstNodes *decorators);
const AstNode *ast_assert(Parse *parse, const AstNode *condition, const AstNode *message, Span span);
const AstNode *ast_import(Parse *parse, const AstImports *imports, Span span);
const AstNode *ast_import_from(Parse *parse, Str module, AstImports *imports, Span span);
/* Diagnoses a NODE that cannot be assigned to. */
void ast_check_target(Parse *parse, const AstNode *node);

/* --- Syntax errors (syntax_error.c) --- */

/* The token that does not fit, and the names of those that would, as the grammar gives them. */
typedef struct {
    const char *found;
    Span span;
    const char *const *expected;
    int expected_count;
} SyntaxError;
void syntax_error_report(Parse *parse, const SyntaxError *error);
/* An indented block that no statement heads; any other error may have lost that statement. */
void syntax_error_indentation(Parse *parse, Span span);

#endif
