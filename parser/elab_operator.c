/* Operations that programs call by name where others have an operator: T.max, T.floordiv, T.Select, T.Ramp, T.Let; see elab.h. */
#include "ir/walk.h"
#include "parser/elab.h"

/* The arguments "a" and "b" as expressions of one type. */
static bool read_pair(Elab *elab, const Call *call, const char *a, const char *b, const Expr **x, const Expr **y)
{
    return value_pair_to_exprs(elab, call_arg(call, a), call_arg(call, b), x, y) && op_match_types(elab->ctx, x, y, call->span);
}

Value builtin_operator(Elab *elab, const Call *call)
{
    const Expr *x, *y;
    const Value *a = call_arg(call, "a"), *b = call_arg(call, "b");
    if (!value_pair_to_exprs(elab, a, b, &x, &y))
        return value_error();
    return value_expr(op_binary(elab->ctx, (ExprKind)call->builtin->variant, x, y, call->span), call->span);
}

Value builtin_ceildiv(Elab *elab, const Call *call)
{
    const Expr *x, *y;
    Context *ctx = elab->ctx;
    if (!read_pair(elab, call, "a", "b", &x, &y))
        return value_error();
    if (!dtype_is_integer(x->dtype)) {
        diag_error(ctx, call->span, "T.ceildiv needs integers, not %s", expr_type_name(ctx, x));
        return value_error();
    }
    const Expr *one = op_cast(ctx, y->dtype, expr_int(ctx, dtype_scalar(y->dtype), 1)), *sum = op_sub(ctx, op_add(ctx, x, y), one);
    return value_expr(op_binary(ctx, EXPR_FLOORDIV, sum, y, call->span), call->span);
}

/* The node itself, neither folded nor simplified: what printed programs use where the operator would change something. */
Value builtin_node(Elab *elab, const Call *call)
{
    Context *ctx = elab->ctx;
    const Expr *x, *y;
    ExprKind kind = (ExprKind)call->builtin->variant;
    if (!read_pair(elab, call, "a", "b", &x, &y))
        return value_error();
    bool logic = kind == EXPR_AND || kind == EXPR_OR;
    bool number = dtype_is_integer(x->dtype) || dtype_is_float(x->dtype), boolean = x->dtype.code == DT_BOOL;
    if (logic ? !boolean : !number && !boolean) {
        diag_error(ctx, call->span, "%s does not take operands of type %s", call->builtin->name, dtype_name(ctx, x->dtype));
        return value_error();
    }
    return value_expr(expr_with_span(ctx, expr_binary(ctx, kind, x, y), call->span), call->span);
}

Value builtin_not_node(Elab *elab, const Call *call)
{
    const Expr *operand = value_to_condition(elab, call_arg(call, "a"));
    return operand ? value_expr(expr_with_span(elab->ctx, expr_not(elab->ctx, operand), call->span), call->span) : value_error();
}

Value builtin_select(Elab *elab, const Call *call)
{
    const Expr *x, *y, *condition = value_to_condition(elab, call_arg(call, "condition"));
    if (!condition || !read_pair(elab, call, "true_value", "false_value", &x, &y))
        return value_error();
    int lanes = x->dtype.lanes > condition->dtype.lanes ? x->dtype.lanes : condition->dtype.lanes;
    if (condition->dtype.lanes != 1 && lanes != condition->dtype.lanes) {
        diag_error(elab->ctx, call->span, "the condition has %s lanes, the values %s",
                   dtype_lanes_text(elab->ctx, condition->dtype), dtype_lanes_text(elab->ctx, x->dtype));
        return value_error();
    }
    x = op_cast(elab->ctx, dtype_with_lanes(x->dtype, lanes), x);
    y = op_cast(elab->ctx, dtype_with_lanes(y->dtype, lanes), y);
    return value_expr(expr_with_span(elab->ctx, expr_select(elab->ctx, condition, x, y), call->span), call->span);
}

Value builtin_if_then_else(Elab *elab, const Call *call)
{
    const Expr *x, *y, *condition = value_to_scalar_condition(elab, call_arg(call, "condition"), "the condition of T.if_then_else");
    if (!condition || !value_pair_to_exprs(elab, call_arg(call, "true_value"), call_arg(call, "false_value"), &x, &y))
        return value_error();
    return value_expr(op_if_then_else(elab->ctx, condition, x, y, call->span), call->span);
}

/* |x|: fabs of floats, a choice for signed integers, nothing for unsigned ones. */
Value builtin_absolute(Elab *elab, const Call *call)
{
    Context *ctx = elab->ctx;
    const Expr *x = value_to_expr(elab, call_arg(call, "x"));
    if (!x || x->dtype.code == DT_UINT)
        return value_expr(x, call->span);
    if (dtype_is_float(x->dtype))
        return elab_intrinsic(elab, OP_FABS, call_arg(call, "x"), 1, call->span);
    if (x->dtype.code != DT_INT) {
        diag_error(ctx, call->span, "T.abs needs a number, not %s", expr_type_name(ctx, x));
        return value_error();
    }
    const Expr *zero = op_cast(ctx, x->dtype, expr_int(ctx, dtype_scalar(x->dtype), 0));
    const Expr *positive = op_binary(ctx, EXPR_GE, x, zero, call->span), *negated = op_binary(ctx, EXPR_SUB, zero, x, call->span);
    return value_expr(op_select(ctx, positive, x, negated, call->span), call->span);
}

/* --- vectors --- */

bool elab_is_scalable(const Expr *lanes, int64_t *factor)
{
    *factor = 1;
    if (lanes->kind == EXPR_MUL && expr_const_int(lanes->args[0], factor))
        return expr_is_call(lanes->args[1], OP_VSCALE);
    if (lanes->kind == EXPR_MUL && expr_const_int(lanes->args[1], factor))
        return expr_is_call(lanes->args[0], OP_VSCALE);
    return expr_is_call(lanes, OP_VSCALE);
}

static bool read_lanes(Elab *elab, const Call *call, int lanes_of_element, int64_t *lanes)
{
    const Value *given = call_arg(call, "lanes");
    if (given->kind == VALUE_EXPR && elab_is_scalable(given->as.expr, lanes)) {
        bool ok = *lanes >= 1 && *lanes <= MOST_LANES && lanes_of_element == 1;
        if (!ok)
            diag_error(elab->ctx, call->span, "a scalable vector has T.vscale() times 1 to %d lanes, each a scalar", MOST_LANES);
        *lanes += LANES_SCALABLE;
        return ok;
    }
    if (!value_to_int(elab, call_arg(call, "lanes"), "the number of lanes", lanes))
        return false;
    if (*lanes >= 1 && *lanes * lanes_of_element <= MOST_LANES)
        return true;
    diag_error(elab->ctx, call->span, "a vector has 1 to %d lanes, not %lld", MOST_LANES, (long long)*lanes);
    return false;
}

Value builtin_ramp(Elab *elab, const Call *call)
{
    const Expr *base, *stride;
    int64_t lanes;
    if (!read_pair(elab, call, "base", "stride", &base, &stride))
        return value_error();
    if (!dtype_is_integer(base->dtype) || base->dtype.lanes != 1) {
        diag_error(elab->ctx, call->span, "%s needs scalar integers, not %s", call->builtin->name, dtype_name(elab->ctx, base->dtype));
        return value_error();
    }
    if (!read_lanes(elab, call, 1, &lanes))
        return value_error();
    const Expr *ramp = lanes == 1 ? base : expr_ramp(elab->ctx, base, stride, (int)lanes);
    return value_expr(expr_with_span(elab->ctx, ramp, call->span), call->span);
}

Value builtin_broadcast(Elab *elab, const Call *call)
{
    const Expr *value = value_to_expr(elab, call_arg(call, "value"));
    int64_t lanes;
    if (!value || !read_lanes(elab, call, value->dtype.lanes, &lanes))
        return value_error();
    const Expr *result = lanes == 1 ? value : expr_broadcast(elab->ctx, value, (int)lanes);
    return value_expr(expr_with_span(elab->ctx, result, call->span), call->span);
}

Value builtin_shuffle(Elab *elab, const Call *call)
{
    Context *ctx = elab->ctx;
    ValueList vectors = value_items(call_arg(call, "vectors")), indices = value_items(call_arg(call, "indices"));
    const Expr **args = ARENA_ARRAY(ctx->arena, const Expr *, vectors.count + indices.count);
    for (int i = 0; i < vectors.count; i++) {
        if (!(args[i] = value_to_expr(elab, &vectors.items[i])))
            return value_error();
        if (!dtype_equal(dtype_scalar(args[i]->dtype), dtype_scalar(args[0]->dtype))) {
            diag_error(ctx, call->span, "the vectors of T.Shuffle have different types");
            return value_error();
        }
    }
    for (int i = 0; i < indices.count; i++)
        if (!(args[vectors.count + i] = value_to_integer(elab, &indices.items[i], "an index of T.Shuffle")))
            return value_error();
    if (vectors.count == 0 || indices.count == 0 || indices.count > MOST_LANES) {
        diag_error(ctx, call->span, "T.Shuffle needs vectors and 1 to %d indices", MOST_LANES);
        return value_error();
    }
    DType dtype = dtype_with_lanes(args[0]->dtype, indices.count);
    const Expr *shuffle = expr_shuffle(ctx, dtype, args, vectors.count + indices.count, vectors.count);
    return value_expr(expr_with_span(ctx, shuffle, call->span), call->span);
}

/* --- lets in expressions --- */

/* BODY with VAR standing for VALUE. */
Value elab_let_in_expr(Elab *elab, const Value *variable, const Value *value, const Value *body, Span span)
{
    const Expr *var = value_to_expr(elab, variable);
    if (!var)
        return value_error();
    if (var->kind != EXPR_VAR) {
        diag_error(elab->ctx, span, "what a let defines must be a variable");
        return value_error();
    }
    const Expr *bound = value_to_typed(elab, value, var->dtype), *result = value_to_expr(elab, body);
    if (!bound || !result)
        return value_error();
    if (!dtype_equal(bound->dtype, var->dtype)) {
        diag_error(elab->ctx, span, "the variable '%s' is %s, its value %s", var->value.var->name, dtype_name(elab->ctx, var->dtype),
                   dtype_name(elab->ctx, bound->dtype));
        return value_error();
    }
    Var *name = var->value.var;
    if (map_has(&elab->bound_vars, name)) {
        name = var_clone(elab->ctx, name, name->name);
        result = subst_one(elab->ctx, result, var->value.var, expr_var(elab->ctx, name));
    }
    map_set(elab->ctx->arena, &elab->bound_vars, name, name);
    return value_expr(expr_with_span(elab->ctx, expr_let(elab->ctx, name, bound, result), span), span);
}

Value builtin_let_expr(Elab *elab, const Call *call)
{
    const Value *where = call_arg(call, "where");
    Value result = *call_arg(call, "body");
    if (where->kind != VALUE_DICT) {
        diag_error(elab->ctx, call->span, "T.Let needs where={variable: value}");
        return value_error();
    }
    for (int i = where->as.dict.count - 1; i >= 0; i--)
        result = elab_let_in_expr(elab, &where->as.dict.keys[i], &where->as.dict.values[i], &result, call->span);
    return result;
}
