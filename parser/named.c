/* Where ':=' may not stand in a comprehension: the name is the function's, which sets it from within. */
#include "parser/ast_build.h"

typedef struct {
    Parse *parse;
    const AstNode *comprehension;
    bool in_iterable;
} NamedCheck;

static bool sets_name(const AstNode *target, Str name)
{
    bool found = target->kind == AST_NAME && target->as.name == name;
    if (target->kind == AST_STARRED)
        return sets_name(target->as.operand, name);
    for (int i = 0; (target->kind == AST_TUPLE || target->kind == AST_LIST) && i < target->as.list.count; i++)
        found |= sets_name(target->as.list.items[i], name);
    return found;
}

/* A name of ':=' is the function's, so that it is none of the comprehension's own. */
static void check_named(const AstNode *node, void *data)
{
    const NamedCheck *check = data;
    const AstNode *around = check->comprehension;
    if (node->kind == AST_NAMED && check->in_iterable)
        diag_error(check->parse->ctx, node->span, "':=' cannot stand in what a comprehension goes over");
    for (int i = 0; node->kind == AST_NAMED && !check->in_iterable && i < around->as.comprehension.clause_count; i++)
        if (sets_name(around->as.comprehension.clauses[i].target, node->as.named.name))
            diag_error(check->parse->ctx, node->span, "':=' cannot set '%s', which the comprehension around it sets", node->as.named.name);
    ast_each_part(node, check_named, data);
}

/* CHECK for all of NODE, which may be NULL. */
static void check_named_in(NamedCheck *check, const AstNode *node, bool in_iterable)
{
    check->in_iterable = in_iterable;
    if (node)
        check_named(node, check);
}

void ast_check_comprehension(Parse *parse, const AstNode *node)
{
    NamedCheck check = {parse, node, false};
    check_named_in(&check, node->as.comprehension.key, false);
    check_named_in(&check, node->as.comprehension.element, false);
    for (int i = 0; i < node->as.comprehension.clause_count; i++) {
        const AstComprehensionClause *clause = &node->as.comprehension.clauses[i];
        check_named_in(&check, clause->iterable, true);
        for (int j = 0; j < clause->conditions.count; j++)
            check_named_in(&check, clause->conditions.items[j], false);
    }
}
