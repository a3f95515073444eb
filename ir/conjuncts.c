/* Conditions as those that they join; see conjuncts.h. */
#include "ir/conjuncts.h"

void conjuncts_add(Arena *arena, const Expr *condition, bool negated, LetValue *let_value, const void *data, ConjunctList *list)
{
    const Expr *value = condition->kind == EXPR_VAR ? let_value(data, condition->value.var) : NULL;
    if (expr_is_call(condition, OP_LIKELY)) {
        conjuncts_add(arena, condition->args[0], negated, let_value, data, list);
    } else if (condition->kind == EXPR_NOT) {
        conjuncts_add(arena, condition->args[0], !negated, let_value, data, list);
    } else if (condition->kind == (negated ? EXPR_OR : EXPR_AND)) {
        conjuncts_add(arena, condition->args[0], negated, let_value, data, list);
        conjuncts_add(arena, condition->args[1], negated, let_value, data, list);
    } else if (value && expr_is_pure(value)) {
        conjuncts_add(arena, value, negated, let_value, data, list);
    } else if (!expr_is_int(condition, !negated)) {
        vec_push(arena, list, ((Conjunct){condition, negated}));
    }
}

const Expr *conjunct_expr(Context *ctx, Conjunct part)
{
    return part.negated ? op_not(ctx, part.expr, span_none()) : part.expr;
}
