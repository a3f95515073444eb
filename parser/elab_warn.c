/* Warnings about a program that is well-formed and hardly means what it says; see elab.h. */
#include "ir/walk.h"
#include "parser/elab.h"
#include "support/warning.h"

/* --- values that nothing uses --- */

static bool find_opaque_call(Visitor *visitor, const Expr *expr)
{
    if (expr_is_opaque_call(expr))
        visitor->data = (void *)expr;
    return !visitor->data;
}

static bool has_effect(const Expr *expr)
{
    Visitor visitor = {.expr = find_opaque_call};
    visit_expr(&visitor, expr);
    return visitor.data != NULL || expr->dtype.code == DT_VOID;
}

/* The place of '==' between two operands; no place where there is something else. */
static Span equals_sign(Elab *elab, const AstNode *node)
{
    const AstNode *left = node->as.compare.first, *right = node->as.compare.rest.items[0];
    const SourceFile *source = source_file(elab->ctx->sources, node->span.file);
    for (uint32_t at = left->span.end; source && at + 1 < right->span.begin; at++)
        if (source->text[at] == '=' && source->text[at + 1] == '=')
            return (Span){node->span.file, at, at + 2};
    return span_none();
}

void elab_warn_unused(Elab *elab, const AstNode *node, const Value *value)
{
    const AstNode *operand = node->as.operand;
    if (operand->kind == AST_CALL || (value->kind == VALUE_EXPR && has_effect(value->as.expr)))
        return;
    bool equality = operand->kind == AST_COMPARE && operand->as.compare.rest.count == 1 && operand->as.compare.ops[0] == AST_OP_EQ;
    bool sign = operand->kind == AST_UNARY && operand->as.unary.operand->kind == AST_UNARY &&
                operand->as.unary.op == operand->as.unary.operand->as.unary.op && operand->as.unary.op != AST_OP_NOT;
    diag_warning(elab->ctx, WARNING_UNUSED_VALUE, node->span, "nothing uses the value of this %s%s", equality ? "comparison" : "expression",
                 equality ? "; an assignment is '='"
                 : sign   ? operand->as.unary.op == AST_OP_POSITIVE ? "; to add 1 write '+= 1'" : "; to subtract 1 write '-= 1'"
                          : "");
    if (equality)
        diag_edit(elab->ctx, equals_sign(elab, operand), "=");
}

/* --- conversions --- */

/* The bits of an integer that a value of TYPE keeps exactly. */
static int exact_bits(DType type)
{
    if (!dtype_is_float(type))
        return type.bits;
    return dtype_digits(type);
}

void elab_warn_narrowing(Elab *elab, const Buffer *buffer, const Expr *value, Span span)
{
    Context *ctx = elab->ctx;
    DType from = value->dtype, to = buffer->dtype;
    int64_t constant;
    bool from_float = dtype_is_float(from), to_float = dtype_is_float(to);
    if (from_float && !to_float)
        diag_warning(ctx, WARNING_FLOAT_CONVERSION, span, "storing %s in '%s' of %s drops the fraction", dtype_name(ctx, from), buffer->name,
                     dtype_name(ctx, to));
    else if (from.code == DT_BOOL || to.code == DT_BOOL || from.code == DT_HANDLE || expr_const_int(value, &constant))
        return;
    else if (from_float == to_float ? exact_bits(from) > exact_bits(to) : from.bits > to.bits)
        diag_warning(ctx, WARNING_NARROWING, span, "storing %s in '%s' of %s may change the value", dtype_name(ctx, from), buffer->name,
                     dtype_name(ctx, to));
}

/* A signed operand that is known not to be negative: a constant or a loop variable. */
static bool is_nonnegative(const Elab *elab, const Expr *expr)
{
    int64_t constant;
    if (expr_const_int(expr, &constant))
        return constant >= 0;
    const Range *domain = expr->kind == EXPR_VAR ? map_get(&elab->loop_domains, expr->value.var) : NULL;
    return domain && expr_const_int(domain->min, &constant) && constant >= 0;
}

void elab_warn_mixed_signs(Elab *elab, const Value *a, const Value *b, Span span)
{
    if (a->kind != VALUE_EXPR || b->kind != VALUE_EXPR)
        return;
    const Expr *x = a->as.expr, *y = b->as.expr;
    bool mixed = (x->dtype.code == DT_INT && y->dtype.code == DT_UINT) || (x->dtype.code == DT_UINT && y->dtype.code == DT_INT);
    const Expr *is_signed = x->dtype.code == DT_INT ? x : y, *is_unsigned = is_signed == x ? y : x;
    if (mixed && is_unsigned->dtype.bits >= is_signed->dtype.bits && !is_nonnegative(elab, is_signed))
        diag_warning(elab->ctx, WARNING_SIGN_COMPARE, span, "comparing %s with %s: a negative value counts as a large one",
                     dtype_name(elab->ctx, x->dtype), dtype_name(elab->ctx, y->dtype));
}

/* --- statements that never run --- */

static bool always_leaves(AstList body);

static bool has_break(AstList body)
{
    for (int i = 0; i < body.count; i++) {
        const AstNode *node = body.items[i];
        bool inside = node->kind == AST_IF     ? has_break(node->as.branch.body) || has_break(node->as.branch.else_body)
                      : node->kind == AST_WITH ? has_break(node->as.with.body)
                                               : node->kind == AST_BREAK;
        if (inside)
            return true;
    }
    return false;
}

/* What follows NODE in its body never runs. */
static bool leaves(const AstNode *node)
{
    switch (node->kind) {
    case AST_RETURN:
    case AST_BREAK:
    case AST_CONTINUE: return true;
    case AST_EXPR_STMT: return node->as.operand->kind == AST_CALL && ast_is_path(node->as.operand->as.call.callee, "T.ret");
    case AST_IF: return always_leaves(node->as.branch.body) && always_leaves(node->as.branch.else_body);
    case AST_WHILE: {
        const AstNode *condition = node->as.while_loop.condition;
        return condition->kind == AST_BOOL && condition->as.boolean && !has_break(node->as.while_loop.body);
    }
    default: return false;
    }
}

static bool always_leaves(AstList body)
{
    for (int i = 0; i < body.count; i++)
        if (leaves(body.items[i]))
            return true;
    return false;
}

void elab_warn_unreachable(Elab *elab, AstList body)
{
    for (int i = 0; i + 1 < body.count; i++)
        if (leaves(body.items[i])) {
            diag_warning(elab->ctx, WARNING_UNREACHABLE_CODE, body.items[i + 1]->span, "this statement never runs");
            diag_note(elab->ctx, body.items[i]->span, "nothing goes on behind this one");
            return;
        }
}

/* Written out in numbers: the choice is not made by a name that somebody may change. */
static bool is_written_out(const AstNode *node)
{
    switch (node->kind) {
    case AST_INT:
    case AST_FLOAT:
    case AST_BOOL: return true;
    case AST_UNARY: return is_written_out(node->as.unary.operand);
    case AST_BINARY: return is_written_out(node->as.binary.left) && is_written_out(node->as.binary.right);
    case AST_COMPARE:
        for (int i = 0; i < node->as.compare.rest.count; i++)
            if (!is_written_out(node->as.compare.rest.items[i]))
                return false;
        return is_written_out(node->as.compare.first);
    default: return false;
    }
}

void elab_warn_dropped(Elab *elab, const AstNode *condition, AstList body)
{
    if (body.count > 0 && is_written_out(condition))
        diag_warning(elab->ctx, WARNING_UNREACHABLE_CODE, body.items[0]->span, "this statement never runs: the condition is constant");
}
