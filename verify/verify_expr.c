/* Well-formedness of expressions: types of operands and results, ranks of accesses, symbols in scope. */
#include "print/print.h"
#include "verify/verify_internal.h"

static bool is_scalar_integer(DType dtype)
{
    return dtype_is_integer(dtype) && dtype.lanes == 1;
}

/* EXPR has a type that its parts do not give. */
static bool wrong_type(Verifier *verifier, const Expr *expr)
{
    return verify_fail(verifier, "types do not fit in %s", print_expr(verifier->ctx, expr));
}

static bool verify_constant(Verifier *verifier, const Expr *expr)
{
    DType dtype = expr->dtype;
    bool fits;
    if (expr->kind == EXPR_FLOAT)
        fits = dtype_is_float(dtype);
    else if (dtype.code == DT_HANDLE || (dtype.code == DT_UINT && dtype.bits == 64))
        fits = true;
    else
        fits = (dtype_is_integer(dtype) || dtype.code == DT_BOOL) && dtype_holds(dtype, expr->value.integer);
    return (fits && dtype.lanes == 1) || wrong_type(verifier, expr);
}

static bool verify_var(Verifier *verifier, const Expr *expr)
{
    const Var *var = expr->value.var;
    if (!verifier_in_scope(verifier, var))
        return verify_fail(verifier, "variable '%s' is used where it is not defined", var->name);
    return dtype_equal(expr->dtype, var->dtype) || wrong_type(verifier, expr);
}

static bool verify_binary(Verifier *verifier, const Expr *expr)
{
    DType a = expr->args[0]->dtype, b = expr->args[1]->dtype;
    bool logic = expr->kind == EXPR_AND || expr->kind == EXPR_OR;
    DType result = logic || expr_is_compare(expr) ? dtype_with_lanes(DTYPE_BOOL, a.lanes) : a;
    bool fits = dtype_equal(a, b) && dtype_equal(expr->dtype, result) && (!logic || a.code == DT_BOOL);
    if ((expr->kind == EXPR_FLOORDIV || expr->kind == EXPR_FLOORMOD) && dtype_is_float(a))
        fits = false;
    return fits || wrong_type(verifier, expr);
}

static bool verify_select(Verifier *verifier, const Expr *expr, const Expr *condition, const Expr *if_true, const Expr *if_false)
{
    DType type = if_true->dtype;
    bool fits = condition->dtype.code == DT_BOOL && (condition->dtype.lanes == 1 || condition->dtype.lanes == type.lanes) &&
                dtype_equal(type, if_false->dtype) && dtype_equal(type, expr->dtype);
    return fits || wrong_type(verifier, expr);
}

static bool verify_vector(Verifier *verifier, const Expr *expr)
{
    const Expr *base = expr->args[0];
    bool fits;
    if (expr->kind == EXPR_RAMP)
        fits =
            dtype_equal(base->dtype, expr->args[1]->dtype) && dtype_is_integer(base->dtype) && expr->dtype.lanes % base->dtype.lanes == 0;
    else
        fits = expr->dtype.lanes % base->dtype.lanes == 0;
    return (fits && dtype_equal(dtype_scalar(expr->dtype), dtype_scalar(base->dtype))) || wrong_type(verifier, expr);
}

static bool verify_shuffle(Verifier *verifier, const Expr *expr)
{
    if (expr->value.split < 1 || expr->value.split >= expr->arg_count || expr->dtype.lanes != expr->arg_count - expr->value.split)
        return wrong_type(verifier, expr);
    for (int i = 0; i < expr->arg_count; i++)
        if (i < expr->value.split ? !dtype_equal(dtype_scalar(expr->args[i]->dtype), dtype_scalar(expr->dtype))
                                  : !is_scalar_integer(expr->args[i]->dtype))
            return wrong_type(verifier, expr);
    return true;
}

/* The type of a call by the rule of its operation. */
static bool call_type_fits(const Expr *expr, const OpInfo *info)
{
    switch (info->result) {
    case RESULT_FIRST: return expr->arg_count > 0 && dtype_equal(expr->dtype, expr->args[0]->dtype);
    case RESULT_SECOND: return expr->arg_count > 1 && dtype_equal(expr->dtype, expr->args[1]->dtype);
    case RESULT_BOOL: return expr->dtype.code == DT_BOOL;
    case RESULT_INT32: return dtype_equal(dtype_scalar(expr->dtype), DTYPE_INT32);
    case RESULT_UINT32: return dtype_equal(dtype_scalar(expr->dtype), DTYPE(DT_UINT, 32));
    case RESULT_HANDLE: return expr->dtype.code == DT_HANDLE;
    case RESULT_VOID:
    case RESULT_GIVEN: return true;
    }
    return false;
}

static bool names_callee(Op op)
{
    return op == OP_CALL_EXTERN || op == OP_CALL_FUNC || op == OP_CALL_PURE_EXTERN || op == OP_CALL_INTRIN || op == OP_CALL_PURE_INTRIN ||
           op == OP_CALL_PACKED || op == OP_CALL_CPACKED;
}

static bool verify_call(Verifier *verifier, const Expr *expr)
{
    const OpInfo *info = op_info(expr->value.op);
    if (expr->arg_count < info->fewest_args || (info->most_args >= 0 && expr->arg_count > info->most_args))
        return verify_fail(verifier, "T.%s has %d arguments", info->name, expr->arg_count);
    if (!call_type_fits(expr, info))
        return wrong_type(verifier, expr);
    if (names_callee(expr->value.op) && expr->args[0]->kind != EXPR_STRING)
        return verify_fail(verifier, "T.%s does not name its callee", info->name);
    return expr->value.op != OP_IF_THEN_ELSE || verify_select(verifier, expr, expr->args[0], expr->args[1], expr->args[2]);
}

bool verify_access(Verifier *verifier, const Buffer *buffer, const Expr *const *indices, int count, const Expr *mask, DType access)
{
    if (!verifier_in_scope(verifier, buffer))
        return verify_fail(verifier, "buffer '%s' is used where it is not defined", buffer->name);
    if (count != buffer->ndim)
        return verify_fail(verifier, "buffer '%s' has %d dimensions and is accessed with %d indices", buffer->name, buffer->ndim, count);
    if (verifier->stage >= STAGE_FLAT && count > 1)
        return verify_fail(verifier, "buffer '%s' is not flat", buffer->name);
    int lanes = 1;
    for (int i = 0; i < count; i++) {
        DType type = indices[i]->dtype;
        if (!dtype_is_integer(type) || (lanes > 1 && type.lanes > 1 && type.lanes != lanes))
            return verify_fail(verifier, "index %s of '%s' has type %s", print_expr(verifier->ctx, indices[i]), buffer->name,
                               dtype_name(verifier->ctx, type));
        lanes = type.lanes > lanes ? type.lanes : lanes;
    }
    DType expected = dtype_with_lanes(buffer->dtype, lanes * buffer->dtype.lanes);
    if (!dtype_equal(access, expected))
        return verify_fail(verifier, "an access to '%s' has type %s instead of %s", buffer->name, dtype_name(verifier->ctx, access),
                           dtype_name(verifier->ctx, expected));
    if (mask && (mask->dtype.code != DT_BOOL || mask->dtype.lanes != access.lanes))
        return verify_fail(verifier, "the mask %s does not fit an access of type %s", print_expr(verifier->ctx, mask),
                           dtype_name(verifier->ctx, access));
    return true;
}

static bool verify_node(Verifier *verifier, const Expr *expr)
{
    switch ((ExprKind)expr->kind) {
    case EXPR_VAR: return verify_var(verifier, expr);
    case EXPR_INT:
    case EXPR_FLOAT: return verify_constant(verifier, expr);
    case EXPR_STRING: return true;
    case EXPR_CAST: return expr->dtype.lanes == expr->args[0]->dtype.lanes || wrong_type(verifier, expr);
    case EXPR_NOT: return (expr->dtype.code == DT_BOOL && dtype_equal(expr->dtype, expr->args[0]->dtype)) || wrong_type(verifier, expr);
    case EXPR_SELECT: return verify_select(verifier, expr, expr->args[0], expr->args[1], expr->args[2]);
    case EXPR_LOAD: return verify_access(verifier, expr->value.buffer, expr->args, load_index_count(expr), load_mask(expr), expr->dtype);
    case EXPR_RAMP:
    case EXPR_BROADCAST: return verify_vector(verifier, expr);
    case EXPR_SHUFFLE: return verify_shuffle(verifier, expr);
    case EXPR_LET: return dtype_equal(expr->dtype, expr->args[1]->dtype) || wrong_type(verifier, expr);
    case EXPR_CALL: return verify_call(verifier, expr);
    default: return verify_binary(verifier, expr);
    }
}

static bool verify_let(Verifier *verifier, const Expr *expr)
{
    const Expr *value = expr->args[0];
    if (!verify_expr(verifier, value))
        return false;
    if (!dtype_equal(value->dtype, expr->value.var->dtype))
        return wrong_type(verifier, expr);
    int scope = verifier_begin_scope(verifier);
    bool good = verifier_bind_again(verifier, expr->value.var) && verify_expr(verifier, expr->args[1]);
    verifier_end_scope(verifier, scope);
    return good;
}

bool verify_expr(Verifier *verifier, const Expr *expr)
{
    if (!verify_span(verifier, expr->span))
        return false;
    if (expr->kind == EXPR_LET)
        return verify_let(verifier, expr) && verify_node(verifier, expr);
    for (int i = 0; i < expr->arg_count; i++)
        if (!verify_expr(verifier, expr->args[i]))
            return false;
    return verify_node(verifier, expr);
}

bool verify_condition(Verifier *verifier, const Expr *expr, const char *what)
{
    if (!verify_expr(verifier, expr))
        return false;
    return dtype_equal(expr->dtype, DTYPE_BOOL) || verify_fail(verifier, "%s %s is not a bool", what, print_expr(verifier->ctx, expr));
}

bool verify_scalar(Verifier *verifier, const Expr *expr, DType dtype, const char *what)
{
    if (!verify_expr(verifier, expr))
        return false;
    return dtype_equal(expr->dtype, dtype) ||
           verify_fail(verifier, "%s %s has type %s instead of %s", what, print_expr(verifier->ctx, expr),
                       dtype_name(verifier->ctx, expr->dtype), dtype_name(verifier->ctx, dtype));
}

bool verify_index(Verifier *verifier, const Expr *expr, const char *what)
{
    if (!verify_expr(verifier, expr))
        return false;
    return is_scalar_integer(expr->dtype) ||
           verify_fail(verifier, "%s %s has type %s", what, print_expr(verifier->ctx, expr), dtype_name(verifier->ctx, expr->dtype));
}
