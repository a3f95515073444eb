/* Questions about syntax trees; see ast.h. */
#include "parser/ast.h"

const char *ast_op_text(AstOp op)
{
    static const char *const texts[AST_OP_COUNT] = {
        [AST_OP_POSITIVE] = "+",  [AST_OP_NEGATIVE] = "-", [AST_OP_INVERT] = "~",   [AST_OP_NOT] = "not",       [AST_OP_ADD] = "+",
        [AST_OP_SUB] = "-",       [AST_OP_MUL] = "*",      [AST_OP_DIV] = "/",      [AST_OP_FLOORDIV] = "//",   [AST_OP_MOD] = "%",
        [AST_OP_POWER] = "**",    [AST_OP_MATMUL] = "@",   [AST_OP_SHIFT_LEFT] = "<<", [AST_OP_SHIFT_RIGHT] = ">>", [AST_OP_BIT_AND] = "&",
        [AST_OP_BIT_OR] = "|",    [AST_OP_BIT_XOR] = "^",  [AST_OP_EQ] = "==",      [AST_OP_NE] = "!=",         [AST_OP_LT] = "<",
        [AST_OP_LE] = "<=",       [AST_OP_GT] = ">",       [AST_OP_GE] = ">=",      [AST_OP_IN] = "in",         [AST_OP_NOT_IN] = "not in",
        [AST_OP_IS] = "is",       [AST_OP_IS_NOT] = "is not", [AST_OP_AND] = "and", [AST_OP_OR] = "or",
    };
    return texts[op];
}

const char *ast_kind_name(AstKind kind)
{
    static const char *const names[AST_KIND_COUNT] = {
        [AST_NAME] = "a name",
        [AST_INT] = "an integer",
        [AST_FLOAT] = "a number",
        [AST_STRING] = "a string",
        [AST_FORMAT] = "a formatted string",
        [AST_BOOL] = "a boolean",
        [AST_NONE] = "None",
        [AST_ELLIPSIS] = "'...'",
        [AST_TUPLE] = "a tuple",
        [AST_LIST] = "a list",
        [AST_FIELD] = "a replacement field",
        [AST_SET] = "a set",
        [AST_DICT] = "a dictionary",
        [AST_CALL] = "a call",
        [AST_ATTRIBUTE] = "an attribute",
        [AST_SUBSCRIPT] = "a subscript",
        [AST_SLICE] = "a slice",
        [AST_UNARY] = "an expression",
        [AST_BINARY] = "an expression",
        [AST_COMPARE] = "a comparison",
        [AST_BOOL_OP] = "an expression",
        [AST_CONDITIONAL] = "a conditional expression",
        [AST_LAMBDA] = "a lambda",
        [AST_STARRED] = "a starred expression",
        [AST_COMPREHENSION] = "a comprehension",
        [AST_NAMED] = "':='",
        [AST_EXPR_STMT] = "an expression",
        [AST_ASSIGN] = "an assignment",
        [AST_ANN_ASSIGN] = "an annotated assignment",
        [AST_AUG_ASSIGN] = "an augmented assignment",
        [AST_FOR] = "a 'for' statement",
        [AST_WHILE] = "a 'while' statement",
        [AST_IF] = "an 'if' statement",
        [AST_WITH] = "a 'with' statement",
        [AST_DEF] = "a function definition",
        [AST_CLASS] = "a class",
        [AST_RETURN] = "a 'return' statement",
        [AST_RAISE] = "a 'raise' statement",
        [AST_TRY] = "a 'try' statement",
        [AST_EXCEPT] = "an 'except' clause",
        [AST_GLOBAL] = "a 'global' statement",
        [AST_NONLOCAL] = "a 'nonlocal' statement",
        [AST_DELETE] = "a 'del' statement",
        [AST_PASS] = "a 'pass' statement",
        [AST_BREAK] = "a 'break' statement",
        [AST_CONTINUE] = "a 'continue' statement",
        [AST_ASSERT] = "an 'assert' statement",
        [AST_IMPORT] = "an import",
        [AST_FILE] = "a text",
    };
    return names[kind];
}

/* True when NODE is the dotted name that the first LENGTH bytes of PATH spell. */
static bool is_path(const AstNode *node, const char *path, size_t length)
{
    size_t last = length;
    while (last > 0 && path[last - 1] != '.')
        last--;
    if (node->kind != (last ? AST_ATTRIBUTE : AST_NAME))
        return false;
    Str name = last ? node->as.attribute.name : node->as.name;
    if (strlen(name) != length - last || memcmp(name, path + last, length - last) != 0)
        return false;
    return last == 0 || is_path(node->as.attribute.value, path, last - 1);
}

bool ast_is_path(const AstNode *node, const char *path)
{
    return is_path(node, path, strlen(path));
}

Str ast_path(Context *ctx, const AstNode *node)
{
    if (node->kind == AST_NAME)
        return node->as.name;
    if (node->kind != AST_ATTRIBUTE)
        return NULL;
    Str base = ast_path(ctx, node->as.attribute.value);
    return base ? context_internf(ctx, "%s.%s", base, node->as.attribute.name) : NULL;
}

bool ast_is_excerpt(const AstNode *node)
{
    const AstNode *context = node->kind == AST_WITH ? node->as.with.items[0].context : NULL;
    bool block = context && context->kind == AST_CALL && (ast_is_path(context->as.call.callee, "T.block") || ast_is_path(context->as.call.callee, "T.sblock"));
    bool elided = false;
    for (int i = 0; block && i < node->as.with.body.count; i++) {
        const AstNode *item = node->as.with.body.items[i];
        elided |= item->kind == AST_EXPR_STMT && item->as.operand->kind == AST_ELLIPSIS;
    }
    return elided;
}

const AstKeyword *ast_keyword(const AstNode *call, const char *name)
{
    for (int i = 0; i < call->as.call.keyword_count; i++)
        if (call->as.call.keywords[i].name && strcmp(call->as.call.keywords[i].name, name) == 0)
            return &call->as.call.keywords[i];
    return NULL;
}
