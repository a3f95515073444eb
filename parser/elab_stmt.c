/* Statements of bodies: assignments, conditions, `with`, expressions for their effect; see elab.h. */
#include "parser/elab.h"

/* --- stores and assignments --- */

void elab_store(Elab *elab, Buffer *buffer, const Expr *const *indices, int count, const Value *value, const Expr *mask, Span span)
{
    Context *ctx = elab->ctx;
    if (!elab_check_indices(elab, buffer, indices, count, span))
        return;
    int lanes = count > 0 ? indices[count - 1]->dtype.lanes : 1;
    DType wanted = dtype_with_lanes(buffer->dtype, lanes * buffer->dtype.lanes);
    const Expr *expr = value_to_typed(elab, value, dtype_scalar(wanted));
    if (!expr)
        return;
    bool convertible =
        expr->dtype.code != DT_VOID && expr->kind != EXPR_STRING && (expr->dtype.code == DT_HANDLE) == (wanted.code == DT_HANDLE);
    if (!convertible || (expr->dtype.lanes != wanted.lanes && expr->dtype.lanes != 1)) {
        diag_error(ctx, span, "cannot store %s in '%s', which takes %s",
                   expr_type_name(ctx, expr), buffer->name, dtype_name(ctx, wanted));
        return;
    }
    elab_warn_narrowing(elab, buffer, expr, span);
    frame_add(elab, stmt_store(ctx, buffer, indices, count, op_cast(ctx, wanted, expr), mask, span));
}

static void store_element(Elab *elab, const AstNode *target, const Value *value, Span span)
{
    Value base = elab_expr(elab, target->as.subscript.value);
    const Expr **indices;
    int count;
    if (base.kind == VALUE_ERROR)
        return;
    if (base.kind != VALUE_BUFFER) {
        if (!elab_report_handle(elab, target->as.subscript.value, &base, target->span))
            diag_error(elab->ctx, target->span, "only elements of buffers can be assigned, not of %s", value_kind_name(base.kind));
        return;
    }
    if (elab_store_indices(elab, base.as.buffer, target->as.subscript.index, &indices, &count) && value->kind != VALUE_ERROR)
        elab_store(elab, base.as.buffer, indices, count, value, NULL, span);
}

static void elab_assign(Elab *elab, const AstNode *node)
{
    Value value = elab_expr(elab, node->as.assign.value);
    if (node->as.assign.targets.count > 1) {
        diag_error(elab->ctx, node->span, "chained assignments are not supported here");
        elab->func->names_lost = true;
        return;
    }
    const AstNode *target = node->as.assign.targets.items[0];
    if (target->kind == AST_SUBSCRIPT)
        store_element(elab, target, &value, node->span);
    else if (!elab_assign_scalar(elab, target, &value, node->span))
        elab_bind_target(elab, target, value);
}

static void elab_aug_assign(Elab *elab, const AstNode *node)
{
    const AstNode *target = node->as.aug_assign.target;
    Value left = elab_expr(elab, target), right = elab_expr(elab, node->as.aug_assign.value);
    Value value = elab_binary(elab, node->as.aug_assign.op, &left, &right, node->span);
    if (target->kind == AST_SUBSCRIPT) {
        store_element(elab, target, &value, node->span);
        return;
    }
    if (value.kind == VALUE_ERROR || elab_assign_scalar(elab, target, &value, node->span))
        return;
    if (target->kind == AST_NAME && scope_find(elab, target->as.name))
        elab_report_change(elab, target->as.name, scope_find(elab, target->as.name), target->span);
    else
        diag_error(elab->ctx, node->span, "a name cannot be changed; only elements of buffers can");
}

/* --- annotated assignments --- */

/* The variable that `name: ANNOTATION = value` defines; NULL for Python's own types, whose value stays a constant, and after errors. */
static Var *annotated_var(Elab *elab, const AstNode *node, const Value *annotation, const Value *value)
{
    Context *ctx = elab->ctx;
    Str name = node->as.ann_assign.target->as.name;
    if (annotation->kind == VALUE_DTYPE)
        return var_new(ctx, name, annotation->as.dtype, node->span);
    if (annotation->kind == VALUE_EXPR && annotation->as.expr->kind == EXPR_VAR) {
        Var *var = annotation->as.expr->value.var;
        var->name = name;
        return var;
    }
    if (annotation->kind == VALUE_BUILTIN && annotation->as.builtin->act == builtin_let) {
        const Expr *expr = value_to_expr(elab, value);
        return expr ? var_new(ctx, name, expr->dtype, node->span) : NULL;
    }
    if (annotation->kind != VALUE_ERROR)
        diag_error(ctx, node->as.ann_assign.annotation->span, "the annotation must be a type such as T.int32, not %s",
                   value_kind_name(annotation->kind));
    return NULL;
}

void elab_ann_assign(Elab *elab, const AstNode *node)
{
    const AstNode *target = node->as.ann_assign.target, *annotation = node->as.ann_assign.annotation;
    if (target->kind == AST_NAME && elab_is_scalar_declaration(elab, node)) {
        elab_declare_scalar(elab, node);
        return;
    }
    if (target->kind != AST_NAME || !node->as.ann_assign.value) {
        diag_error(elab->ctx, node->span,
                   target->kind == AST_NAME ? "'%s' is declared without a value" : "only a name can have an annotation",
                   target->kind == AST_NAME ? target->as.name : "");
        if (target->kind == AST_NAME)
            scope_bind(elab, target->as.name, value_error(), target->span);
        return;
    }
    Value value = elab_expr(elab, node->as.ann_assign.value);
    bool python_type = ast_is_path(annotation, "int") || ast_is_path(annotation, "float") || ast_is_path(annotation, "str") ||
                       ast_is_path(annotation, "bool");
    if (python_type || !elab->frame) {
        value.meta = true;
        elab_bind_target(elab, target, value);
        return;
    }
    if (elab_refuse_change(elab, target->as.name, target->span))
        return;
    Value type = elab_expr(elab, annotation);
    Var *var = value.kind == VALUE_ERROR ? NULL : annotated_var(elab, node, &type, &value);
    const Expr *expr = var ? value_to_typed(elab, &value, var->dtype) : NULL;
    if (expr && !dtype_equal(expr->dtype, var->dtype)) {
        diag_error(elab->ctx, node->span, "'%s' is declared as %s, but its value is %s", var->name, dtype_name(elab->ctx, var->dtype),
                   expr_type_name(elab->ctx, expr));
        expr = NULL;
    }
    scope_bind(elab, target->as.name, expr ? value_expr(expr_var_at(elab->ctx, var, target->span), target->span) : value_error(),
               target->span);
    if (!expr)
        return;
    Stmt let = {.kind = STMT_LET, .span = node->span, .as.let = {.var = var, .value = expr}};
    frame_enclose(elab, &(WrapperSpec){&let, 1, NULL}, NULL, node->span);
}

/* --- compound statements --- */

/* A constant condition chooses now: only the chosen branch is part of the program. */
static void elab_if(Elab *elab, const AstNode *node)
{
    Value condition = elab_expr(elab, node->as.branch.condition);
    if (condition.kind == VALUE_BOOL) {
        AstList chosen = condition.as.boolean ? node->as.branch.body : node->as.branch.else_body;
        elab_warn_dropped(elab, node->as.branch.condition, condition.as.boolean ? node->as.branch.else_body : node->as.branch.body);
        scope_push(elab);
        for (int i = 0; i < chosen.count; i++)
            elab_statement(elab, chosen.items[i], false);
        scope_pop(elab);
        return;
    }
    const Expr *test = value_to_scalar_condition(elab, &condition, "the condition of an 'if'");
    if (!frame_allows(elab, 1, node->span))
        return;
    const Stmt *then_body = elab_body(elab, FRAME_BODY, node->as.branch.body);
    const Stmt *else_body = node->as.branch.else_body.count ? elab_body(elab, FRAME_BODY, node->as.branch.else_body) : NULL;
    if (test)
        frame_add(elab, stmt_if(elab->ctx, test, then_body, else_body, node->span));
}

static void elab_while(Elab *elab, const AstNode *node)
{
    Value condition = elab_expr(elab, node->as.while_loop.condition);
    const Expr *test = value_to_scalar_condition(elab, &condition, "the condition of a 'while'");
    if (node->as.while_loop.else_body.count > 0)
        diag_error(elab->ctx, node->span, "a loop with 'else' is not supported");
    const Stmt *body = elab_body(elab, FRAME_LOOP, node->as.while_loop.body);
    if (test)
        frame_add(elab, stmt_while(elab->ctx, test, body, node->span));
}

static void elab_with_items(Elab *elab, const AstNode *node, int index, bool is_last);

/* The items after INDEX, or the body, inside WRAPPER. */
static void elab_with_wrapper(Elab *elab, const AstNode *node, int index, const Value *value)
{
    const AstWithItem *item = &node->as.with.items[index];
    Frame frame = {.kind = FRAME_BODY, .parent = elab->frame, .depth = elab->frame->depth + elab->frame->enclosing};
    Value result = *value->as.wrapper->result;
    result.meta = result.declared = true;
    elab->frame = &frame;
    scope_push(elab);
    frame_enclose(elab, value->as.wrapper, &result, value->span);
    if (item->target)
        elab_bind_target(elab, item->target, result);
    elab_with_items(elab, node, index + 1, false);
    scope_pop(elab);
    elab->frame = frame.parent;
    frame_add(elab, frame_finish(elab, &frame));
}

/* What the item at INDEX is could not be told: the body is looked at as that of a block, which allows most. */
static void elab_unknown_with(Elab *elab, const AstNode *node, int index)
{
    Value block = {.kind = VALUE_BLOCK, .as.text = context_intern(elab->ctx, "")};
    scope_push(elab);
    for (int i = index; i < node->as.with.item_count; i++)
        if (node->as.with.items[i].target)
            elab_bind_target(elab, node->as.with.items[i].target, value_error());
    elab_block(elab, &block, NULL, node->as.with.body, node->span, true);
    scope_pop(elab);
}

static void elab_with_items(Elab *elab, const AstNode *node, int index, bool is_last)
{
    if (index == node->as.with.item_count) {
        frame_add(elab, elab_body(elab, FRAME_BODY, node->as.with.body));
        return;
    }
    const AstWithItem *item = &node->as.with.items[index];
    Value value = elab_expr(elab, item->context);
    bool is_block = value.kind == VALUE_BLOCK || value.kind == VALUE_INIT;
    if (is_block && index + 1 < node->as.with.item_count)
        diag_error(elab->ctx, node->as.with.items[index + 1].context->span, "nothing can follow a block in a 'with' statement");
    else if (value.kind == VALUE_BLOCK)
        elab_block(elab, &value, item->target, node->as.with.body, node->span, is_last);
    else if (value.kind == VALUE_INIT)
        elab_init(elab, &value, node->as.with.body);
    else if (value.kind == VALUE_WRAPPER)
        elab_with_wrapper(elab, node, index, &value);
    else if (value.kind == VALUE_BUILTIN)
        diag_error(elab->ctx, value.span, "%s must be called here: %s()", value.as.builtin->name, value.as.builtin->name);
    else if (value.kind != VALUE_ERROR)
        diag_error(elab->ctx, value.span, "%s cannot be used in a 'with' statement", value_kind_name(value.kind));
    if (value.kind == VALUE_ERROR)
        elab_unknown_with(elab, node, index);
}

/* --- the rest --- */

/* An expression for its effect: a call, a statement without a name for what it makes, a docstring. */
static void elab_expression_statement(Elab *elab, const AstNode *node)
{
    elab->func->loose_values = node->as.operand->kind != AST_CALL;
    Value value = elab_expr(elab, node->as.operand);
    elab->func->loose_values = false;
    switch (value.kind) {
    case VALUE_ERROR:
    case VALUE_NONE:
    case VALUE_STRING: return;
    case VALUE_BUFFER:
    case VALUE_TUPLE:
        elab_warn_unused(elab, node, &value);
        return;
    case VALUE_WRAPPER: frame_enclose(elab, value.as.wrapper, NULL, value.span); return;
    case VALUE_EXPR:
        if (value.fresh)
            return;
        break;
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_FLOAT: break;
    case VALUE_LOOP: diag_error(elab->ctx, value.span, "a loop can only be used in a 'for' statement"); return;
    case VALUE_BLOCK:
    case VALUE_INIT: diag_error(elab->ctx, value.span, "%s can only be used in a 'with' statement", value_kind_name(value.kind)); return;
    default: diag_error(elab->ctx, value.span, "%s is no statement", value_kind_name(value.kind)); return;
    }
    const Expr *expr = value_to_expr(elab, &value);
    if (!expr)
        return;
    elab_warn_unused(elab, node, &value);
    frame_add(elab, stmt_evaluate(elab->ctx, expr, node->span));
}

static void elab_assert(Elab *elab, const AstNode *node)
{
    Value condition = elab_expr(elab, node->as.assertion.condition);
    Value message =
        node->as.assertion.message ? elab_expr(elab, node->as.assertion.message) : value_string(context_intern(elab->ctx, ""), node->span);
    Value wrapper = elab_assertion(elab, &condition, &message, node->span);
    if (wrapper.kind == VALUE_WRAPPER)
        frame_enclose(elab, wrapper.as.wrapper, NULL, node->span);
}

static void elab_return(Elab *elab, const AstNode *node)
{
    if (!node->as.operand) {
        diag_error(elab->ctx, node->span, "a return without a value is not supported");
        return;
    }
    Value value = elab_expr(elab, node->as.operand);
    Value result = value.kind == VALUE_ERROR ? value : elab_intrinsic(elab, OP_RET, &value, 1, node->span);
    if (result.kind == VALUE_EXPR)
        frame_add(elab, stmt_evaluate(elab->ctx, result.as.expr, node->span));
}

static void elab_jump(Elab *elab, const AstNode *node, Op op)
{
    const Frame *frame = elab->frame;
    while (frame && frame->kind != FRAME_LOOP)
        frame = frame->parent;
    if (!frame)
        diag_error(elab->ctx, node->span, "%s outside of a loop", ast_kind_name(node->kind));
    frame_add(elab, stmt_evaluate(elab->ctx, expr_call(elab->ctx, DTYPE_VOID, op, NULL, 0, node->span), node->span));
}

void elab_statement(Elab *elab, const AstNode *node, bool is_last)
{
    switch (node->kind) {
    case AST_EXPR_STMT: elab_expression_statement(elab, node); return;
    case AST_ASSIGN: elab_assign(elab, node); return;
    case AST_ANN_ASSIGN: elab_ann_assign(elab, node); return;
    case AST_AUG_ASSIGN: elab_aug_assign(elab, node); return;
    case AST_FOR: elab_for(elab, node); return;
    case AST_WHILE: elab_while(elab, node); return;
    case AST_IF: elab_if(elab, node); return;
    case AST_WITH: elab_with_items(elab, node, 0, is_last); return;
    case AST_ASSERT: elab_assert(elab, node); return;
    case AST_RETURN: elab_return(elab, node); return;
    case AST_PASS: return;
    case AST_BREAK: elab_jump(elab, node, OP_BREAK_LOOP); return;
    case AST_CONTINUE: elab_jump(elab, node, OP_CONTINUE_LOOP); return;
    default: diag_error(elab->ctx, node->span, "%s is not supported in a function", ast_kind_name(node->kind)); return;
    }
}

void elab_statements(Elab *elab, AstList body)
{
    elab_warn_unreachable(elab, body);
    for (int i = 0; i < body.count; i++)
        elab_statement(elab, body.items[i], i == body.count - 1);
}
