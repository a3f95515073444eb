/* The expressions that are the direct parts of a node; see ast.h. */
#include "parser/ast.h"

static void each(const AstNode *node, AstVisit *visit, void *data)
{
    if (node)
        visit(node, data);
}

static void each_of(AstList list, AstVisit *visit, void *data)
{
    for (int i = 0; i < list.count; i++)
        each(list.items[i], visit, data);
}

static void each_default(const AstParam *params, int count, AstVisit *visit, void *data)
{
    for (int i = 0; i < count; i++)
        each(params[i].default_value, visit, data);
}

static void each_of_call(const AstNode *node, AstVisit *visit, void *data)
{
    each(node->as.call.callee, visit, data);
    each_of(node->as.call.args, visit, data);
    for (int i = 0; i < node->as.call.keyword_count; i++)
        each(node->as.call.keywords[i].value, visit, data);
}

static void each_of_comprehension(const AstNode *node, AstVisit *visit, void *data)
{
    for (int i = 0; i < node->as.comprehension.clause_count; i++) {
        const AstComprehensionClause *clause = &node->as.comprehension.clauses[i];
        each(clause->iterable, visit, data);
        each_of(clause->conditions, visit, data);
    }
    each(node->as.comprehension.key, visit, data);
    each(node->as.comprehension.element, visit, data);
}

static void each_of_expression(const AstNode *node, AstVisit *visit, void *data)
{
    switch (node->kind) {
    case AST_FORMAT:
    case AST_TUPLE:
    case AST_LIST:
    case AST_SET: each_of(node->as.list, visit, data); break;
    case AST_FIELD: each(node->as.field.value, visit, data), each(node->as.field.spec, visit, data); break;
    case AST_DICT: each_of(node->as.dict.keys, visit, data), each_of(node->as.dict.values, visit, data); break;
    case AST_CALL: each_of_call(node, visit, data); break;
    case AST_ATTRIBUTE: each(node->as.attribute.value, visit, data); break;
    case AST_SUBSCRIPT: each(node->as.subscript.value, visit, data), each(node->as.subscript.index, visit, data); break;
    case AST_SLICE:
        each(node->as.slice.lower, visit, data), each(node->as.slice.upper, visit, data), each(node->as.slice.step, visit, data);
        break;
    case AST_UNARY: each(node->as.unary.operand, visit, data); break;
    case AST_BINARY: each(node->as.binary.left, visit, data), each(node->as.binary.right, visit, data); break;
    case AST_COMPARE: each(node->as.compare.first, visit, data), each_of(node->as.compare.rest, visit, data); break;
    case AST_BOOL_OP: each_of(node->as.bool_op.operands, visit, data); break;
    case AST_CONDITIONAL:
        each(node->as.conditional.condition, visit, data);
        each(node->as.conditional.if_true, visit, data), each(node->as.conditional.if_false, visit, data);
        break;
    case AST_LAMBDA: each_default(node->as.lambda.params, node->as.lambda.param_count, visit, data); break;
    case AST_STARRED: each(node->as.operand, visit, data); break;
    case AST_COMPREHENSION: each_of_comprehension(node, visit, data); break;
    case AST_NAMED: each(node->as.named.value, visit, data); break;
    default: break;
    }
}

void ast_each_part(const AstNode *node, AstVisit *visit, void *data)
{
    switch (node->kind) {
    case AST_EXPR_STMT:
    case AST_RETURN:
    case AST_RAISE: each(node->as.operand, visit, data); break;
    case AST_ASSIGN: each_of(node->as.assign.targets, visit, data), each(node->as.assign.value, visit, data); break;
    case AST_ANN_ASSIGN: each(node->as.ann_assign.target, visit, data), each(node->as.ann_assign.value, visit, data); break;
    case AST_AUG_ASSIGN: each(node->as.aug_assign.target, visit, data), each(node->as.aug_assign.value, visit, data); break;
    case AST_FOR: each(node->as.for_loop.target, visit, data), each(node->as.for_loop.iterable, visit, data); break;
    case AST_WHILE: each(node->as.while_loop.condition, visit, data); break;
    case AST_IF: each(node->as.branch.condition, visit, data); break;
    case AST_WITH:
        for (int i = 0; i < node->as.with.item_count; i++)
            each(node->as.with.items[i].context, visit, data);
        break;
    case AST_DEF: each_default(node->as.def.params, node->as.def.param_count, visit, data); break;
    case AST_DELETE: each_of(node->as.list, visit, data); break;
    case AST_ASSERT: each(node->as.assertion.condition, visit, data), each(node->as.assertion.message, visit, data); break;
    default: each_of_expression(node, visit, data); break;
    }
}
