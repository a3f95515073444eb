/* Values of expressions: literals, names, displays and operators; see elab.h. Calls are in elab_call.c, subscripts and attributes in
   elab_access.c. */
#include "parser/elab.h"

/* --- operators on expressions --- */

Value elab_bit_operation(Elab *elab, Op op, const Value *a, const Value *b, Span span)
{
    const Expr *args[2];
    if (!value_pair_to_exprs(elab, a, b, &args[0], &args[1]))
        return value_error();
    return value_expr(op_bits(elab->ctx, op, args[0], args[1], span), span);
}

static Value divide(Elab *elab, const Value *a, const Value *b, Span span)
{
    const Expr *x, *y;
    if (!value_pair_to_exprs(elab, a, b, &x, &y) || !op_match_types(elab->ctx, &x, &y, span))
        return value_error();
    if (!dtype_is_float(x->dtype)) {
        diag_error(elab->ctx, span, "'/' of %s is ambiguous; write '//' to round down or T.truncdiv to round towards zero",
                   dtype_name(elab->ctx, x->dtype));
        return value_error();
    }
    return value_expr(op_binary(elab->ctx, EXPR_DIV, x, y, span), span);
}

static Value arithmetic(Elab *elab, ExprKind kind, const Value *a, const Value *b, Span span)
{
    const Expr *x, *y;
    if (!value_pair_to_exprs(elab, a, b, &x, &y))
        return value_error();
    return value_expr(op_binary(elab->ctx, kind, x, y, span), span);
}

/* True where Python itself computes the result. */
static bool is_python(const Value *value)
{
    return value_is_number(value) || value->kind == VALUE_STRING || value_is_sequence(value) || value->kind == VALUE_NONE;
}

Value elab_binary(Elab *elab, AstOp op, const Value *a, const Value *b, Span span)
{
    if (a->kind == VALUE_ERROR || b->kind == VALUE_ERROR)
        return value_error();
    if (is_python(a) && is_python(b))
        return python_binary(elab, op, a, b, span);
    switch (op) {
    case AST_OP_ADD: return arithmetic(elab, EXPR_ADD, a, b, span);
    case AST_OP_SUB: return arithmetic(elab, EXPR_SUB, a, b, span);
    case AST_OP_MUL: return arithmetic(elab, EXPR_MUL, a, b, span);
    case AST_OP_FLOORDIV: return arithmetic(elab, EXPR_FLOORDIV, a, b, span);
    case AST_OP_MOD: return arithmetic(elab, EXPR_FLOORMOD, a, b, span);
    case AST_OP_DIV: return divide(elab, a, b, span);
    case AST_OP_SHIFT_LEFT: return elab_bit_operation(elab, OP_SHIFT_LEFT, a, b, span);
    case AST_OP_SHIFT_RIGHT: return elab_bit_operation(elab, OP_SHIFT_RIGHT, a, b, span);
    case AST_OP_BIT_AND: return elab_bit_operation(elab, OP_BITWISE_AND, a, b, span);
    case AST_OP_BIT_OR: return elab_bit_operation(elab, OP_BITWISE_OR, a, b, span);
    case AST_OP_BIT_XOR: return elab_bit_operation(elab, OP_BITWISE_XOR, a, b, span);
    case AST_OP_POWER: diag_error(elab->ctx, span, "'**' takes constants only; use T.pow"); return value_error();
    default: diag_error(elab->ctx, span, "'%s' has no meaning here", ast_op_text(op)); return value_error();
    }
}

static Value elab_unary(Elab *elab, const AstNode *node)
{
    AstOp op = node->as.unary.op;
    Value value = elab_expr(elab, node->as.unary.operand);
    if (value_is_number(&value))
        return python_unary(elab, op, &value, node->span);
    const Expr *expr = op == AST_OP_NOT ? value_to_condition(elab, &value) : value_to_expr(elab, &value);
    if (!expr)
        return value_error();
    switch (op) {
    case AST_OP_NOT: return value_expr(op_not(elab->ctx, expr, node->span), node->span);
    case AST_OP_NEGATIVE: return value_expr(op_negate(elab->ctx, expr, node->span), node->span);
    case AST_OP_INVERT: return value_expr(op_bits(elab->ctx, OP_BITWISE_NOT, expr, NULL, node->span), node->span);
    default: return value_expr(expr, node->span);
    }
}

/* --- comparisons and logic --- */

static Value compare_pair(Elab *elab, AstOp op, const Value *a, const Value *b, Span span)
{
    static const ExprKind kinds[] = {[AST_OP_EQ] = EXPR_EQ, [AST_OP_NE] = EXPR_NE, [AST_OP_LT] = EXPR_LT,
                                     [AST_OP_LE] = EXPR_LE, [AST_OP_GT] = EXPR_GT, [AST_OP_GE] = EXPR_GE};
    if (a->kind == VALUE_ERROR || b->kind == VALUE_ERROR)
        return value_error();
    if (is_python(a) && is_python(b))
        return python_compare(elab, op, a, b, span);
    if (op > AST_OP_GE) {
        diag_error(elab->ctx, span, "'%s' takes constants only", ast_op_text(op));
        return value_error();
    }
    elab_warn_mixed_signs(elab, a, b, span);
    return arithmetic(elab, kinds[op], a, b, span);
}

/* A and B, which hold for a Python constant or an expression each. */
static Value logic_pair(Elab *elab, AstOp op, const Value *a, const Value *b, Span span)
{
    if (a->kind == VALUE_ERROR || b->kind == VALUE_ERROR)
        return value_error();
    if (is_python(a)) {
        bool holds = a->kind == VALUE_BOOL && a->as.boolean;
        if (a->kind == VALUE_BOOL)
            return holds == (op == AST_OP_AND) ? *b : *a;
    }
    const Expr *x = value_to_condition(elab, a), *y = x ? value_to_condition(elab, b) : NULL;
    if (!y)
        return value_error();
    if (x->dtype.lanes > 1 || y->dtype.lanes > 1) { /* lanes are not evaluated one after the other */
        Value lanes[] = {value_expr(x, a->span), value_expr(y, b->span)};
        return elab_bit_operation(elab, op == AST_OP_AND ? OP_BITWISE_AND : OP_BITWISE_OR, &lanes[0], &lanes[1], span);
    }
    return value_expr(op_binary(elab->ctx, op == AST_OP_AND ? EXPR_AND : EXPR_OR, x, y, span), span);
}

static Value elab_compare(Elab *elab, const AstNode *node)
{
    Value left = elab_expr(elab, node->as.compare.first), result = value_error();
    for (int i = 0; i < node->as.compare.rest.count; i++) {
        Value right = elab_expr(elab, node->as.compare.rest.items[i]);
        Value pair = compare_pair(elab, node->as.compare.ops[i], &left, &right, node->span);
        result = i == 0 ? pair : logic_pair(elab, AST_OP_AND, &result, &pair, node->span);
        left = right;
    }
    return result;
}

static Value elab_bool_op(Elab *elab, const AstNode *node)
{
    AstList operands = node->as.bool_op.operands;
    Value result = elab_expr(elab, operands.items[0]);
    for (int i = 1; i < operands.count; i++) {
        Value operand = elab_expr(elab, operands.items[i]);
        result = logic_pair(elab, node->as.bool_op.op, &result, &operand, node->span);
    }
    return result;
}

/* A constant condition chooses now, another makes an if_then_else. */
static Value elab_conditional(Elab *elab, const AstNode *node)
{
    Value condition = elab_expr(elab, node->as.conditional.condition);
    if (condition.kind == VALUE_BOOL)
        return elab_expr(elab, condition.as.boolean ? node->as.conditional.if_true : node->as.conditional.if_false);
    Value if_true = elab_expr(elab, node->as.conditional.if_true), if_false = elab_expr(elab, node->as.conditional.if_false);
    const Expr *test = value_to_scalar_condition(elab, &condition, "the condition"), *x, *y;
    if (!test || if_true.kind == VALUE_ERROR || if_false.kind == VALUE_ERROR || !value_pair_to_exprs(elab, &if_true, &if_false, &x, &y))
        return value_error();
    return value_expr(op_if_then_else(elab->ctx, test, x, y, node->span), node->span);
}

/* --- names and displays --- */

/* NAME at SPAN is the last word of its line, behind '//'. */
static bool is_foreign_comment(const SourceFile *source, Span span)
{
    uint32_t at = span.begin, end = span.end;
    while (at > 2 && source->text[at - 1] == ' ')
        at--;
    while (source->text[end] == ' ')
        end++;
    return at > 2 && source->text[at - 1] == '/' && source->text[at - 2] == '/' && strchr("\r\n", source->text[end]);
}

static void report_undefined(Elab *elab, Str name, Span span)
{
    Context *ctx = elab->ctx;
    const char *closest = elab_is_t_name(elab, name, span) ? arena_printf(ctx->arena, "T.%s", name) : scope_closest(elab, name);
    const SourceFile *source = source_file(ctx->sources, span.file);
    bool comment = source && is_foreign_comment(source, span);
    if (closest) {
        diag_error(ctx, span, "'%s' is not defined; did you mean '%s'?", name, closest);
        diag_edit(ctx, span, closest);
    } else {
        diag_error(ctx, span, "'%s' is not defined%s", name, comment ? " (a comment begins with '#'; '//' divides)" : "");
    }
}

/* A name of the text that the program stands in; VALUE_ABSENT where there is none. */
static Value outer_name(Elab *elab, const AstNode *node)
{
    OuterName name;
    if (!elab->outer || !elab->outer->find(elab->outer->data, node->as.name, &name))
        return (Value){.kind = VALUE_ABSENT};
    Value value = name.path ? elab_known_path(elab, name.path, node->span) : elab_expr(elab, name.value);
    value.span = node->span;
    if (value.kind == VALUE_ABSENT) {
        diag_error(elab->ctx, node->span, "'%s' is not part of the language of programs", name.path);
        return value_error();
    }
    return value;
}

static Value elab_name(Elab *elab, const AstNode *node)
{
    Str name = node->as.name;
    const Binding *binding = scope_find(elab, name);
    if (binding) {
        Value value = binding->value;
        value.span = node->span;
        if (value.kind == VALUE_EXPR && value.as.expr->kind == EXPR_VAR)
            value.as.expr = expr_var_at(elab->ctx, value.as.expr->value.var, node->span);
        return value;
    }
    Value known = outer_name(elab, node);
    if (known.kind == VALUE_ABSENT)
        known = elab_known_path(elab, name, node->span);
    if (known.kind != VALUE_ABSENT)
        return known;
    if (!elab->func || !elab->func->names_lost)
        report_undefined(elab, name, node->span);
    if (elab->func)
        elab->func->names_lost |= elab->func->loose_values;
    scope_forget(elab, name);
    return value_error();
}

ValueList elab_expr_list(Elab *elab, AstList list)
{
    VEC(Value) values = {0};
    for (int i = 0; i < list.count; i++) {
        const AstNode *node = list.items[i];
        if (node->kind != AST_STARRED) {
            vec_push(elab->ctx->arena, &values, elab_expr(elab, node));
            continue;
        }
        Value starred = elab_expr(elab, node->as.operand);
        if (starred.kind != VALUE_ERROR && !value_is_sequence(&starred))
            diag_error(elab->ctx, node->span, "only a tuple or list can be unpacked, not %s", value_kind_name(starred.kind));
        if (!value_is_sequence(&starred))
            vec_push(elab->ctx->arena, &values, value_error());
        ValueList items = value_is_sequence(&starred) ? starred.as.list : (ValueList){0};
        for (int j = 0; j < items.count; j++)
            vec_push(elab->ctx->arena, &values, items.items[j]);
    }
    return (ValueList){values.data, values.count};
}

static Value elab_display(Elab *elab, const AstNode *node)
{
    ValueList items = elab_expr_list(elab, node->as.list);
    Value value = {.kind = node->kind == AST_LIST ? VALUE_LIST : VALUE_TUPLE, .span = node->span, .as.list = items};
    for (int i = 0; i < items.count; i++)
        if (items.items[i].kind == VALUE_ERROR)
            return value_error();
    return value;
}

static Value elab_dict(Elab *elab, const AstNode *node)
{
    int count = node->as.dict.keys.count;
    Value value = {.kind = VALUE_DICT, .span = node->span};
    value.as.dict.keys = ARENA_ARRAY(elab->ctx->arena, Value, count);
    value.as.dict.values = ARENA_ARRAY(elab->ctx->arena, Value, count);
    value.as.dict.count = count;
    bool failed = false;
    for (int i = 0; i < count; i++) {
        if (!node->as.dict.keys.items[i]) {
            diag_error(elab->ctx, node->as.dict.values.items[i]->span, "'**' is not supported here");
            return value_error();
        }
        value.as.dict.keys[i] = elab_expr(elab, node->as.dict.keys.items[i]);
        value.as.dict.values[i] = elab_expr(elab, node->as.dict.values.items[i]);
        failed |= value.as.dict.keys[i].kind == VALUE_ERROR || value.as.dict.values[i].kind == VALUE_ERROR;
    }
    return failed ? value_error() : value;
}

static Value elab_literal(Elab *elab, const AstNode *node)
{
    (void)elab;
    switch (node->kind) {
    case AST_INT: {
        Value value = value_int((int64_t)node->as.integer, node->span);
        value.huge = node->as.integer > INT64_MAX;
        return value;
    }
    case AST_FLOAT: return value_float(node->as.real, node->span);
    case AST_STRING: return value_string(node->as.text, node->span);
    case AST_BOOL: return value_bool(node->as.boolean, node->span);
    default: return value_none(node->span);
    }
}

Value elab_expr(Elab *elab, const AstNode *node)
{
    switch (node->kind) {
    case AST_INT:
    case AST_FLOAT:
    case AST_STRING:
    case AST_BOOL:
    case AST_NONE: return elab_literal(elab, node);
    case AST_NAME: return elab_name(elab, node);
    case AST_TUPLE:
    case AST_LIST: return elab_display(elab, node);
    case AST_DICT: return elab_dict(elab, node);
    case AST_CALL: return elab_call(elab, node);
    case AST_ATTRIBUTE: return elab_attribute(elab, node);
    case AST_SUBSCRIPT: return elab_subscript(elab, node);
    case AST_UNARY: return elab_unary(elab, node);
    case AST_BINARY: {
        Value left = elab_expr(elab, node->as.binary.left), right = elab_expr(elab, node->as.binary.right);
        return elab_binary(elab, node->as.binary.op, &left, &right, node->span);
    }
    case AST_COMPARE: return elab_compare(elab, node);
    case AST_BOOL_OP: return elab_bool_op(elab, node);
    case AST_CONDITIONAL: return elab_conditional(elab, node);
    case AST_LAMBDA: return (Value){.kind = VALUE_LAMBDA, .span = node->span, .as.lambda = node};
    default: diag_error(elab->ctx, node->span, "%s is not supported here", ast_kind_name(node->kind)); return value_error();
    }
}
