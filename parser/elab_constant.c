/* Constants, types as functions, and values that programs only hand on: T.int32(...), T.min_value, T.target; see elab.h. */
#include <math.h>
#include <stdlib.h>

#include "parser/elab.h"

/* --- variables --- */

Value elab_new_symbol(Elab *elab, Var *var, Span span)
{
    map_set(elab->ctx->arena, &elab->symbols, var, var);
    return value_fresh_var(elab, var, span);
}

static Str unnamed(Elab *elab)
{
    return context_intern(elab->ctx, "");
}

static Value new_pointer(Elab *elab, DType pointee, Str scope, Span span)
{
    return elab_new_symbol(elab, var_new_pointer(elab->ctx, unnamed(elab), pointee, scope, span), span);
}

Value builtin_var(Elab *elab, const Call *call)
{
    DType dtype;
    if (!value_to_dtype(elab, call_arg(call, "dtype"), &dtype))
        return value_error();
    return elab_new_symbol(elab, var_new(elab->ctx, unnamed(elab), dtype, call->span), call->span);
}

Value builtin_pointer(Elab *elab, const Call *call)
{
    DType dtype;
    if (!value_to_dtype(elab, call_arg(call, "dtype"), &dtype))
        return value_error();
    Str scope = call_has(call, "storage_scope") ? value_to_scope(elab, call_arg(call, "storage_scope"))
                                                : context_intern(elab->ctx, "global");
    return scope ? new_pointer(elab, dtype, scope, call->span) : value_error();
}

/* T.handle("float32", "global"): a pointer; T.handle(): a pointer to anything. */
static Value handle_call(Elab *elab, ValueList args, const AstNode *node)
{
    DType pointee;
    Str scope = context_intern(elab->ctx, "global");
    if (args.count > 2) {
        diag_error(elab->ctx, node->span, "T.handle takes at most 2 arguments");
        return value_error();
    }
    if (args.count == 0 || args.items[0].kind == VALUE_NONE)
        return elab_new_symbol(elab, var_new(elab->ctx, unnamed(elab), DTYPE_HANDLE, node->span), node->span);
    if (!value_to_dtype(elab, &args.items[0], &pointee))
        return value_error();
    if (args.count == 2)
        scope = value_to_scope(elab, &args.items[1]);
    return scope ? new_pointer(elab, pointee, scope, node->span) : value_error();
}

/* --- constants and conversions --- */

static const Expr *special_float(Elab *elab, const Value *value, DType dtype)
{
    static const char *const names[] = {"inf", "-inf", "nan", "infinity", "-infinity"};
    static const double values[] = {INFINITY, -INFINITY, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof names / sizeof *names && dtype_is_float(dtype); i++)
        if (!strcmp(value->as.text, names[i]))
            return expr_float(elab->ctx, dtype, values[i]);
    diag_error(elab->ctx, value->span, "\"%s\" is no %s", value->as.text, dtype_name(elab->ctx, dtype));
    return NULL;
}

/* VALUE as an expression of DTYPE: constants must fit, expressions are cast. */
static const Expr *convert(Elab *elab, const Value *value, DType dtype)
{
    if (value->kind == VALUE_STRING)
        return special_float(elab, value, dtype);
    bool to_integer = dtype_is_integer(dtype) || dtype.code == DT_BOOL;
    if (value->kind == VALUE_FLOAT && to_integer) {
        if (value->as.real != floor(value->as.real) || fabs(value->as.real) >= 0x1p63) {
            diag_error(elab->ctx, value->span, "%g is no %s", value->as.real, dtype_name(elab->ctx, dtype));
            return NULL;
        }
        Value integer = value_int((int64_t)value->as.real, value->span);
        return value_to_typed(elab, &integer, dtype);
    }
    const Expr *expr = value_is_number(value) ? value_to_typed(elab, value, dtype) : value_to_expr(elab, value);
    if (!expr || dtype_equal(expr->dtype, dtype))
        return expr;
    if (expr->dtype.code == DT_HANDLE || expr->dtype.code == DT_VOID || expr->kind == EXPR_STRING ||
        (expr->dtype.lanes != dtype.lanes && expr->dtype.lanes != 1)) {
        diag_error(elab->ctx, value->span, "cannot convert %s to %s", dtype_name(elab->ctx, expr->dtype), dtype_name(elab->ctx, dtype));
        return NULL;
    }
    return op_cast(elab->ctx, dtype, expr);
}

/* is_size_var=True of a variable. */
static bool read_size_flag(Elab *elab, const AstNode *node, Var *var)
{
    const AstKeyword *keyword = ast_keyword(node, "is_size_var");
    if (!keyword)
        return true;
    Value flag = elab_expr(elab, keyword->value);
    return value_to_bool(elab, &flag, "is_size_var", &var->is_size);
}

Value elab_dtype_call(Elab *elab, DType dtype, ValueList args, const AstNode *node)
{
    for (int i = 0; i < args.count; i++)
        if (args.items[i].kind == VALUE_ERROR)
            return value_error();
    for (int i = 0; i < node->as.call.keyword_count; i++)
        if (!node->as.call.keywords[i].name || strcmp(node->as.call.keywords[i].name, "is_size_var")) {
            diag_error(elab->ctx, node->as.call.keywords[i].span, "T.%s has no such argument", dtype_name(elab->ctx, dtype));
            return value_error();
        }
    if (dtype.code == DT_HANDLE)
        return handle_call(elab, args, node);
    if (args.count > 1) {
        diag_error(elab->ctx, node->span, "T.%s takes at most 1 argument, but %d are given", dtype_name(elab->ctx, dtype), args.count);
        return value_error();
    }
    if (args.count == 0 || args.items[0].kind == VALUE_NONE) {
        Var *var = var_new(elab->ctx, unnamed(elab), dtype, node->span);
        return read_size_flag(elab, node, var) ? elab_new_symbol(elab, var, node->span) : value_error();
    }
    return value_expr(convert(elab, &args.items[0], dtype), node->span);
}

Value builtin_constant(Elab *elab, const Call *call)
{
    DType dtype;
    if (!value_to_dtype(elab, call_arg(call, "dtype"), &dtype))
        return value_error();
    return value_expr(convert(elab, call_arg(call, "value"), dtype), call->span);
}

Value builtin_string_constant(Elab *elab, const Call *call)
{
    Str text = value_to_string(elab, call_arg(call, "value"), "the value");
    return text ? value_expr(expr_string(elab->ctx, text), call->span) : value_error();
}

static const Expr *cast_value(Elab *elab, const Value *value, const Value *type)
{
    DType dtype;
    return value_to_dtype(elab, type, &dtype) ? convert(elab, value, dtype) : NULL;
}

/* T.Cast("int32", x) makes its node as it is, T.cast(x, "int32") folds; either takes its arguments in either order. */
Value builtin_cast(Elab *elab, const Call *call)
{
    const Value *value = call_arg(call, "value"), *type = call_arg(call, "dtype");
    DType dtype;
    if (value->kind == VALUE_STRING || value->kind == VALUE_DTYPE) {
        const Value *swapped = value;
        value = type;
        type = swapped;
    }
    if (call->builtin->variant == 0)
        return value_expr(cast_value(elab, value, type), call->span);
    const Expr *expr = value_to_dtype(elab, type, &dtype) ? value_to_expr(elab, value) : NULL;
    if (!expr)
        return value_expr(expr, call->span);
    if (expr->dtype.lanes != dtype.lanes || expr->dtype.code == DT_HANDLE || expr->kind == EXPR_STRING)
        return value_expr(convert(elab, value, dtype), call->span);
    return value_expr(expr_with_span(elab->ctx, expr_cast(elab->ctx, dtype, expr), call->span), call->span);
}

Value builtin_astype(Elab *elab, const Call *call)
{
    return value_expr(cast_value(elab, call->object, call_arg(call, "dtype")), call->span);
}

/* --- limits --- */

enum { LIMIT_MIN, LIMIT_MAX, LIMIT_INFINITY, LIMIT_NAN };

static const Expr *float_limit(Elab *elab, DType dtype, int which)
{
    double largest = dtype_limit_float(dtype);
    double value = which == LIMIT_MIN ? -largest : which == LIMIT_MAX ? largest : which == LIMIT_INFINITY ? INFINITY : NAN;
    return expr_float(elab->ctx, dtype, value);
}

static const Expr *integer_limit(Elab *elab, DType dtype, int which)
{
    bool is_uint64 = dtype.code == DT_UINT && dtype.bits == 64;
    if (which == LIMIT_MIN)
        return expr_int(elab->ctx, dtype, dtype_min_int(dtype));
    return expr_int(elab->ctx, dtype, is_uint64 ? -1 : dtype_max_int(dtype));
}

Value builtin_limit(Elab *elab, const Call *call)
{
    DType dtype;
    int which = call->builtin->variant;
    if (!value_to_dtype(elab, call_arg(call, "dtype"), &dtype))
        return value_error();
    if (dtype_is_float(dtype))
        return value_expr(float_limit(elab, dtype, which), call->span);
    if ((dtype_is_integer(dtype) || dtype.code == DT_BOOL) && which <= LIMIT_MAX)
        return value_expr(integer_limit(elab, dtype, which), call->span);
    diag_error(elab->ctx, call->span, "%s has no value for %s", call->builtin->name, dtype_name(elab->ctx, dtype));
    return value_error();
}

/* --- Python's own functions --- */

Value builtin_length(Elab *elab, const Call *call)
{
    const Value *sequence = call_arg(call, "sequence");
    if (value_is_sequence(sequence))
        return value_int(sequence->as.list.count, call->span);
    diag_error(elab->ctx, call->span, "%s has no length", value_kind_name(sequence->kind));
    return value_error();
}

Value builtin_python_float(Elab *elab, const Call *call)
{
    const Value *value = call_arg(call, "value");
    if (value->kind == VALUE_STRING) {
        char *end;
        double real = strtod(value->as.text, &end);
        if (*value->as.text && !*end)
            return value_float(real, call->span);
    }
    if (value->kind == VALUE_FLOAT)
        return *value;
    if (value->kind == VALUE_INT && !value->huge)
        return value_float((double)value->as.integer, call->span);
    diag_error(elab->ctx, call->span, "float() takes a constant here; use T.Cast for expressions");
    return value_error();
}

Value builtin_python_int(Elab *elab, const Call *call)
{
    const Value *value = call_arg(call, "value");
    if (value->kind == VALUE_INT)
        return *value;
    if (value->kind == VALUE_FLOAT && fabs(value->as.real) < 0x1p63)
        return value_int((int64_t)value->as.real, call->span);
    diag_error(elab->ctx, call->span, "int() takes a constant here; use T.Cast for expressions");
    return value_error();
}

/* --- handed on --- */

Value builtin_meta_var(Elab *elab, const Call *call)
{
    (void)elab;
    Value value = *call_arg(call, "value");
    value.meta = true;
    return value;
}

Value builtin_target(Elab *elab, const Call *call)
{
    Value both[2] = {*call_arg(call, "config"), *call_arg(call, "host")};
    Value config = call_has(call, "host") ? value_tuple(elab, both, 2, call->span) : both[0];
    Value target = {.kind = VALUE_TARGET, .span = call->span};
    target.as.target = arena_copy(elab->ctx->arena, &config, sizeof config);
    return target;
}

Value builtin_make_range(Elab *elab, const Call *call)
{
    Value bounds[2] = {*call_arg(call, "begin"), *call_arg(call, "end")};
    return value_tuple(elab, bounds, 2, call->span);
}

Value builtin_ignored(Elab *elab, const Call *call)
{
    (void)elab;
    return value_none(call->span);
}

Value builtin_decorator_alone(Elab *elab, const Call *call)
{
    diag_error(elab->ctx, call->span, "%s can only be used as a decorator", call->builtin->name);
    return value_error();
}
