/* The functions of te, tvm.tir and T that make expressions: by a table, and by the operations of ir/intrinsics.def. */
#include "script/te.h"

#include <math.h>
#include <string.h>

#include "ir/fold.h"
#include "passes/arith/analyzer.h"

/* --- limits --- */

const Expr *te_limit(Script *script, DType dtype, bool greatest)
{
    Context *ctx = script->ctx;
    bool unsigned64 = dtype.code == DT_UINT && dtype.bits == 64;
    if (!dtype_is_float(dtype))
        return dtype.code == DT_BOOL ? expr_bool(ctx, greatest)
                                     : expr_int(ctx, dtype, !greatest ? dtype_min_int(dtype) : unsigned64 ? -1 : dtype_max_int(dtype));
    double most = dtype_limit_float(dtype);
    return expr_float(ctx, dtype, greatest ? most : -most);
}

static bool limit(Script *script, const Arguments *arguments, bool greatest, Value *result)
{
    const Value *values[1];
    DType dtype;
    if (!te_bind(script, greatest ? "max_value" : "min_value", arguments, "dtype", values) || !te_dtype(script, values[0], DTYPE_FLOAT32, &dtype))
        return false;
    *result = te_expr_value(te_limit(script, dtype, greatest));
    return true;
}

static bool te_max_value(Script *script, const Arguments *arguments, Value *result)
{
    return limit(script, arguments, true, result);
}

static bool te_min_value(Script *script, const Arguments *arguments, Value *result)
{
    return limit(script, arguments, false, result);
}

/* --- variables and constants --- */

static bool make_var(Script *script, const Arguments *arguments, const char *otherwise, bool is_size, Value *result)
{
    const Value *values[3];
    DType dtype;
    Str name;
    if (!te_bind(script, "te.var", arguments, "name? dtype? span?", values) || !te_name(script, values[0], otherwise, &name) ||
        !te_dtype(script, values[1], DTYPE_INT32, &dtype))
        return false;
    Var *var = var_new(script->ctx, name, dtype, arguments->span);
    var->is_size = is_size;
    *result = te_expr_value(expr_var(script->ctx, var));
    return true;
}

static bool te_var(Script *script, const Arguments *arguments, Value *result)
{
    return make_var(script, arguments, "tindex", false, result);
}

static bool te_size_var(Script *script, const Arguments *arguments, Value *result)
{
    return make_var(script, arguments, "size", true, result);
}

static bool cast_value(Script *script, Value value, DType dtype, Span span, Value *result)
{
    const Expr *expr;
    if (!te_to_expr(script, value, span, &expr))
        return false;
    if (value.kind == VALUE_FLOAT && dtype_is_float(dtype))
        expr = expr_float(script->ctx, dtype, value.as.real);
    if (value.kind == VALUE_INT && dtype_is_integer(dtype) &&
        (value.as.integer < dtype_min_int(dtype) || value.as.integer > dtype_max_int(dtype)))
        return script_error(script, span, "%lld does not fit in %s", (long long)value.as.integer, dtype_name(script->ctx, dtype));
    *result = te_expr_value(op_cast(script->ctx, dtype, expr));
    return true;
}

static bool te_const(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    DType dtype;
    const Expr *expr;
    if (!te_bind(script, "const", arguments, "value dtype? span?", values) || !te_to_expr(script, *values[0], arguments->span, &expr) ||
        !te_dtype(script, values[1], expr->dtype, &dtype))
        return false;
    return cast_value(script, *values[0], dtype, arguments->span, result);
}

/* Cast(dtype, value), FloatImm(dtype, value). */
static bool te_cast(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    DType dtype;
    return te_bind(script, "Cast", arguments, "dtype value span?", values) && te_dtype(script, values[0], DTYPE_FLOAT32, &dtype) &&
           cast_value(script, *values[1], dtype, arguments->span, result);
}

static bool te_infinity(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    DType dtype;
    if (!te_bind(script, "infinity", arguments, "dtype span?", values) || !te_dtype(script, values[0], DTYPE_FLOAT32, &dtype))
        return false;
    if (!dtype_is_float(dtype))
        return script_error(script, arguments->span, "%s has no infinity", dtype_name(script->ctx, dtype));
    *result = te_expr_value(expr_float(script->ctx, dtype, (double)INFINITY));
    return true;
}

/* Let(variable, value, body). */
static bool te_let(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[4];
    const Expr *variable, *value, *body;
    Span span = arguments->span;
    if (!te_bind(script, "Let", arguments, "var value body span?", values) || !te_to_expr(script, *values[0], span, &variable) ||
        !te_to_expr(script, *values[1], span, &value) || !te_to_expr(script, *values[2], span, &body))
        return false;
    if (variable->kind != EXPR_VAR || !dtype_equal(variable->dtype, value->dtype))
        return script_error(script, span, "Let takes a variable of te.var, its value, which has the variable's type, and an expression");
    *result = te_expr_value(expr_let(script->ctx, variable->value.var, value, body));
    return true;
}

/* --- choices and logic --- */

static bool choice(Script *script, const char *name, const Arguments *arguments, bool select, Value *result)
{
    const Value *values[4];
    const Expr *condition, *a, *b;
    Span span = arguments->span;
    const char *signature = select ? "condition true_value false_value span?" : "cond t f span?";
    if (!te_bind(script, name, arguments, signature, values) || !te_to_expr(script, *values[0], span, &condition) ||
        !te_to_expr(script, *values[1], span, &a) || !te_to_expr(script, *values[2], span, &b))
        return false;
    if (select && !dtype_equal(a->dtype, b->dtype))
        return script_error(script, span, "the two values of Select have different types, %s and %s", dtype_name(script->ctx, a->dtype),
                            dtype_name(script->ctx, b->dtype));
    if (!te_match_types(script, &a, &b, span))
        return false;
    if (condition->dtype.code != DT_BOOL)
        return script_error(script, span, "the condition of %s must be bool, not %s", name, dtype_name(script->ctx, condition->dtype));
    const Expr *made = select ? expr_with_span(script->ctx, expr_select(script->ctx, condition, a, b), span)
                              : op_if_then_else(script->ctx, condition, a, b, span);
    if (made)
        *result = te_expr_value(made);
    return made != NULL;
}

static bool te_if_then_else(Script *script, const Arguments *arguments, Value *result)
{
    return choice(script, "if_then_else", arguments, false, result);
}

static bool te_select(Script *script, const Arguments *arguments, Value *result)
{
    return choice(script, "Select", arguments, true, result);
}

static bool logic(Script *script, const Arguments *arguments, ExprKind kind, Value *result)
{
    if (!arguments->positional_count)
        return script_error(script, arguments->span, "there is no condition");
    const Expr *made = NULL, *condition;
    for (int i = 0; i < arguments->positional_count; i++) {
        if (!te_to_expr(script, arguments->positional[i], arguments->span, &condition))
            return false;
        made = made ? op_binary(script->ctx, kind, made, condition, arguments->span) : condition;
        if (!made)
            return false;
    }
    *result = te_expr_value(made);
    return true;
}

static bool te_all(Script *script, const Arguments *arguments, Value *result)
{
    return logic(script, arguments, EXPR_AND, result);
}

static bool te_any(Script *script, const Arguments *arguments, Value *result)
{
    return logic(script, arguments, EXPR_OR, result);
}

static bool te_not(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    const Expr *expr;
    if (!te_bind(script, "Not", arguments, "a span?", values) || !te_to_expr(script, *values[0], arguments->span, &expr) ||
        !(expr = op_not(script->ctx, expr, arguments->span)))
        return false;
    *result = te_expr_value(expr);
    return true;
}

static bool te_abs(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    const Expr *x;
    Context *ctx = script->ctx;
    if (!te_bind(script, "abs", arguments, "x span?", values) || !te_to_expr(script, *values[0], arguments->span, &x))
        return false;
    if (dtype_is_float(x->dtype)) {
        const Expr *folded = fold_rounding(ctx, OP_FABS, x);
        *result = te_expr_value(folded ? folded : expr_call(ctx, x->dtype, OP_FABS, &x, 1, arguments->span));
        return true;
    }
    const Expr *zero = expr_int(ctx, x->dtype, 0);
    if (x->dtype.code == DT_INT)
        x = op_select(ctx, op_binary(ctx, EXPR_GE, x, zero, arguments->span), x, op_binary(ctx, EXPR_SUB, zero, x, arguments->span), arguments->span);
    *result = te_expr_value(x);
    return true;
}

static bool binary_of(Script *script, const char *name, const Arguments *arguments, ExprKind kind, Value *result)
{
    const Value *values[3];
    const Expr *a, *b, *made;
    if (!te_bind(script, name, arguments, "a b span?", values) || !te_to_expr(script, *values[0], arguments->span, &a) ||
        !te_to_expr(script, *values[1], arguments->span, &b) || !(made = te_operation(script, kind, a, b, arguments->span)))
        return false;
    *result = te_expr_value(made);
    return true;
}

#define BINARY(name, kind)                                                                                                                   \
    static bool te_##name(Script *script, const Arguments *arguments, Value *result)                                                         \
    {                                                                                                                                        \
        return binary_of(script, #name, arguments, kind, result);                                                                            \
    }
/* log(exp(a) + exp(b)), as TVM writes it. */
static bool te_logaddexp(Script *script, const Arguments *arguments, Value *result)
{
    Context *ctx = script->ctx;
    const Value *values[3];
    const Expr *sides[2], *sum;
    Span span = arguments->span;
    if (!te_bind(script, "logaddexp", arguments, "a b span?", values) || !te_to_expr(script, *values[0], span, &sides[0]) ||
        !te_to_expr(script, *values[1], span, &sides[1]) || !te_match_types(script, &sides[0], &sides[1], span))
        return false;
    if (!dtype_is_float(sides[0]->dtype))
        return script_error(script, span, "logaddexp needs floats, not %s", dtype_name(ctx, sides[0]->dtype));
    for (int i = 0; i < 2; i++)
        sides[i] = expr_call(ctx, sides[i]->dtype, OP_EXP, &sides[i], 1, span);
    sum = op_binary(ctx, EXPR_ADD, sides[0], sides[1], span);
    *result = te_expr_value(expr_call(ctx, sum->dtype, OP_LOG, &sum, 1, span));
    return true;
}

BINARY(floordiv, EXPR_FLOORDIV)
BINARY(floormod, EXPR_FLOORMOD)
BINARY(truncdiv, EXPR_DIV)
BINARY(truncmod, EXPR_MOD)
BINARY(add, EXPR_ADD)
BINARY(subtract, EXPR_SUB)
BINARY(multiply, EXPR_MUL)
BINARY(eq, EXPR_EQ)
BINARY(ne, EXPR_NE)
BINARY(lt, EXPR_LT)
BINARY(le, EXPR_LE)
BINARY(gt, EXPR_GT)
BINARY(ge, EXPR_GE)
BINARY(min_of_two, EXPR_MIN)
BINARY(max_of_two, EXPR_MAX)

static bool te_ceildiv(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    Value one = {.kind = VALUE_INT, .as.integer = 1}, sum;
    Span span = arguments->span;
    return te_bind(script, "ceildiv", arguments, "lhs rhs span?", values) &&
           script_binary(script, AST_OP_ADD, *values[0], *values[1], span, &sum) && script_binary(script, AST_OP_SUB, sum, one, span, &sum) &&
           script_binary(script, AST_OP_FLOORDIV, sum, *values[1], span, result);
}

/* x is no number, as TVM says it: of 16 bits, by way of float32. */
static const Expr *not_a_number(Script *script, const Expr *x, Span span)
{
    if (x->dtype.bits == 16)
        x = op_cast(script->ctx, DTYPE_FLOAT32, x);
    return expr_call(script->ctx, DTYPE_BOOL, OP_ISNAN, &x, 1, span);
}

static bool te_isnan(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    const Expr *x;
    if (!te_bind(script, "isnan", arguments, "x span?", values) || !te_to_expr(script, *values[0], arguments->span, &x))
        return false;
    *result = te_expr_value(dtype_is_float(x->dtype) ? not_a_number(script, x, arguments->span) : expr_bool(script->ctx, false));
    return true;
}

/* x is infinite, as TVM says it. */
static const Expr *infinite(Script *script, const Expr *x, Span span)
{
    Context *ctx = script->ctx;
    const Expr *magnitude = expr_call(ctx, x->dtype, OP_FABS, &x, 1, span), *nan = not_a_number(script, x, span);
    const Expr *equal = op_binary(ctx, EXPR_EQ, magnitude, expr_float(ctx, x->dtype, (double)INFINITY), span);
    return op_binary(ctx, EXPR_AND, equal, op_not(ctx, nan, span), span);
}

static bool te_isinf(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    const Expr *x;
    if (!te_bind(script, "isinf", arguments, "x span?", values) || !te_to_expr(script, *values[0], arguments->span, &x))
        return false;
    *result = te_expr_value(dtype_is_float(x->dtype) ? infinite(script, x, arguments->span) : expr_bool(script->ctx, false));
    return true;
}

static bool te_isfinite(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    const Expr *x;
    Context *ctx = script->ctx;
    Span span = arguments->span;
    if (!te_bind(script, "isfinite", arguments, "x span?", values) || !te_to_expr(script, *values[0], span, &x))
        return false;
    const Expr *made = expr_bool(ctx, true);
    if (dtype_is_float(x->dtype))
        made = op_binary(ctx, EXPR_AND, op_not(ctx, infinite(script, x, span), span), op_not(ctx, not_a_number(script, x, span), span), span);
    *result = te_expr_value(made);
    return true;
}

/* --- tvm.arith --- */

/* tvm.arith.Analyzer(): its methods are functions of this path. */
static bool te_analyzer(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[1];
    *result = script_object(script, (Object){.kind = OBJECT_NAMESPACE, .as.path = context_intern(script->ctx, "tvm.arith.Analyzer()")});
    return te_bind(script, "Analyzer", arguments, "", values);
}

static bool te_simplify(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[2];
    const Expr *expr;
    if (!te_bind(script, "simplify", arguments, "expr steps?", values) || !te_to_expr(script, *values[0], arguments->span, &expr))
        return false;
    *result = te_size_value(analyzer_simplify(analyzer_new(script->ctx), expr));
    return true;
}

/* --- calls --- */

/* The operation that a program calls NAME: "tir.exp" or "exp". */
bool te_named_op(const char *name, Op *op)
{
    return op_find(strncmp(name, "tir.", 4) ? name : name + 4, op);
}

/* The arguments from number FROM on as expressions. */
static bool call_args(Script *script, const Arguments *arguments, int from, const Expr ***args)
{
    *args = ARENA_ARRAY(script->ctx->arena, const Expr *, arguments->positional_count - from);
    for (int i = from; i < arguments->positional_count; i++)
        if (!te_to_expr(script, arguments->positional[i], arguments->span, &(*args)[i - from]))
            return false;
    return true;
}

/* NAME(dtype, ...) of an operation whose result the program states. */
static bool typed_call(Script *script, const char *name, Op op, const Arguments *arguments, Value *result)
{
    const Expr **args;
    DType dtype;
    if (arguments->positional_count < 1 || arguments->keyword_count)
        return script_error(script, arguments->span, "%s takes a type and arguments", name);
    if (!te_dtype(script, &arguments->positional[0], DTYPE_INT32, &dtype) || !call_args(script, arguments, 1, &args))
        return false;
    *result = te_expr_value(expr_call(script->ctx, dtype, op, args, arguments->positional_count - 1, arguments->span));
    return true;
}

static bool te_call_pure_extern(Script *script, const Arguments *arguments, Value *result)
{
    return typed_call(script, "call_pure_extern", OP_CALL_PURE_EXTERN, arguments, result);
}

static bool te_call_extern(Script *script, const Arguments *arguments, Value *result)
{
    return typed_call(script, "call_extern", OP_CALL_EXTERN, arguments, result);
}

static bool te_call_intrin(Script *script, const Arguments *arguments, Value *result)
{
    Op op;
    Value name = arguments->positional_count > 1 ? arguments->positional[1] : value_none();
    if (name.kind != VALUE_STRING)
        return script_error(script, arguments->span, "call_intrin takes a type, the name of an operation and arguments");
    DType dtype;
    const Expr **args;
    bool known = te_named_op(name.as.text, &op);
    int count = arguments->positional_count - (known ? 2 : 1);
    if (!te_dtype(script, &arguments->positional[0], DTYPE_FLOAT32, &dtype) || !call_args(script, arguments, known ? 2 : 1, &args))
        return false;
    if (!known)
        op = map_get(&script->ctx->pure_operations, context_intern(script->ctx, name.as.text)) ? OP_CALL_PURE_INTRIN : OP_CALL_INTRIN;
    if (count < op_info(op)->fewest_args || (op_info(op)->most_args >= 0 && count > op_info(op)->most_args))
        return script_error(script, arguments->span, "'%s' does not take %d arguments", name.as.text, count);
    *result = te_expr_value(expr_call(script->ctx, dtype, op, args, count, arguments->span));
    return true;
}

/* x brought to a float where the operation needs one. */
static bool math_args(Script *script, Op op, const Expr **args, int count, Span span)
{
    bool floats = op >= OP_EXP && op <= OP_ISFINITE, whole = op == OP_FLOOR || op == OP_CEIL || op == OP_ROUND || op == OP_NEARBYINT || op == OP_TRUNC;
    for (int i = 1; i < count && op != OP_LDEXP && op <= OP_BITWISE_NOT; i++)
        if (!te_match_types(script, &args[0], &args[i], span))
            return false;
    for (int i = 0; floats && !whole && i < count && op != OP_LDEXP; i++) {
        if (args[i]->kind == EXPR_INT)
            args[i] = op_cast(script->ctx, DTYPE_FLOAT32, args[i]);
        if (!dtype_is_float(args[i]->dtype) && op < OP_ISNAN)
            return script_error(script, span, "%s needs a float, not %s", op_info(op)->name, dtype_name(script->ctx, args[i]->dtype));
    }
    return true;
}

/* An int of Python takes the type of the other operand of a bit operation. */
static bool bits_args(Script *script, const Arguments *arguments, const Expr **args, int count)
{
    for (int i = 0; i < count && count == 2; i++) {
        Value value = arguments->positional[i];
        DType dtype = args[1 - i]->dtype;
        bool boolean = dtype.code == DT_BOOL;
        if (value.kind != VALUE_INT || arguments->positional[1 - i].kind == VALUE_INT || (!dtype_is_integer(dtype) && !boolean))
            continue;
        if (boolean ? value.as.integer < 0 || value.as.integer > 1 : !dtype_holds(dtype_scalar(dtype), value.as.integer))
            return script_error(script, arguments->span, "%lld does not fit in %s", (long long)value.as.integer, dtype_name(script->ctx, dtype));
        args[i] = op_cast(script->ctx, dtype, args[i]);
    }
    return true;
}

static DType result_type(const OpInfo *info, const Expr *const *args)
{
    switch (info->result) {
    case RESULT_BOOL: return DTYPE_BOOL;
    case RESULT_INT32: return DTYPE_INT32;
    case RESULT_UINT32: return DTYPE(DT_UINT, 32);
    case RESULT_HANDLE: return DTYPE_HANDLE;
    case RESULT_VOID: return DTYPE_VOID;
    case RESULT_SECOND: return args[1]->dtype;
    default: return args[0]->dtype;
    }
}

static bool bits_value(Script *script, Op op, const Expr *const *args, int count, Span span, Value *result)
{
    int64_t amount;
    if ((op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT) && expr_const_int(args[1], &amount) && (amount < 0 || amount >= args[0]->dtype.bits))
        return script_error(script, span, "%s cannot be shifted by %lld: the amount must be at least 0 and less than %d",
                            dtype_name(script->ctx, args[0]->dtype), (long long)amount, args[0]->dtype.bits);
    const Expr *made = op_bits(script->ctx, op, args[0], count > 1 ? args[1] : NULL, span);
    if (made)
        *result = te_expr_value(made);
    else
        script_note_calls(script);
    return made != NULL;
}

bool te_math(Script *script, const char *name, const Arguments *arguments, Value *result, bool *known)
{
    Op op;
    *known = op_find(name, &op) && (op_info(op)->effect == EFFECT_PURE || op_info(op)->result != RESULT_GIVEN);
    if (!*known)
        return true;
    const OpInfo *info = op_info(op);
    const Expr **args;
    int count = arguments->positional_count;
    if (info->result == RESULT_GIVEN)
        return typed_call(script, name, op, arguments, result);
    if (arguments->keyword_count || count < info->fewest_args || (info->most_args >= 0 && count > info->most_args))
        return script_error(script, arguments->span, "%s takes %s%d argument%s", name, info->most_args < 0 ? "at least " : "",
                            info->most_args < 0 ? info->fewest_args : info->most_args, info->most_args == 1 ? "" : "s");
    if (!call_args(script, arguments, 0, &args) || (op >= OP_SHIFT_LEFT && op <= OP_BITWISE_XOR && !bits_args(script, arguments, args, count)) ||
        !math_args(script, op, args, count, arguments->span))
        return false;
    if (op >= OP_SHIFT_LEFT && op <= OP_BITWISE_NOT)
        return bits_value(script, op, args, count, arguments->span, result);
    bool whole = op == OP_FLOOR || op == OP_CEIL || op == OP_ROUND || op == OP_NEARBYINT || op == OP_TRUNC;
    const Expr *folded = count == 1 ? fold_rounding(script->ctx, op, args[0]) : NULL;
    if (folded)
        *result = te_expr_value(folded);
    else if ((whole && !dtype_is_float(args[0]->dtype)) || (op >= OP_ISNAN && op <= OP_ISFINITE && !dtype_is_float(args[0]->dtype)))
        *result = te_expr_value(whole ? args[0] : expr_bool(script->ctx, op == OP_ISFINITE));
    else
        *result = te_expr_value(expr_call(script->ctx, result_type(info, args), op, args, count, arguments->span));
    return true;
}

/* --- the table --- */

static const struct {
    const char *name;
    TeFunction *run;
} functions[] = {
    {"placeholder", te_placeholder}, {"compute", te_compute}, {"reduce_axis", te_reduce_axis}, {"comm_reducer", te_comm_reducer},
    {"create_prim_func", te_create_prim_func}, {"extern", te_extern}, {"scan", te_scan}, {"var", te_var}, {"Var", te_var}, {"size_var", te_size_var},
    {"SizeVar", te_size_var}, {"const", te_const}, {"max_value", te_max_value}, {"min_value", te_min_value}, {"infinity", te_infinity}, {"Let", te_let}, {"if_then_else", te_if_then_else},
    {"Select", te_select}, {"all", te_all}, {"any", te_any}, {"Not", te_not}, {"isnan", te_isnan}, {"isinf", te_isinf}, {"isfinite", te_isfinite}, {"abs", te_abs}, {"Cast", te_cast}, {"FloatImm", te_cast},
    {"div", te_truncdiv}, {"indexdiv", te_floordiv}, {"indexmod", te_floormod}, {"floordiv", te_floordiv}, {"floormod", te_floormod},
    {"truncdiv", te_truncdiv}, {"truncmod", te_truncmod}, {"ceildiv", te_ceildiv}, {"logaddexp", te_logaddexp}, {"tag_scope", te_tag_scope}, {"And", te_all}, {"Or", te_any}, {"Add", te_add},
    {"Sub", te_subtract}, {"Mul", te_multiply}, {"Div", te_truncdiv}, {"FloorDiv", te_floordiv}, {"FloorMod", te_floormod}, {"Min", te_min_of_two},
    {"Max", te_max_of_two}, {"EQ", te_eq}, {"NE", te_ne}, {"LT", te_lt}, {"LE", te_le}, {"GT", te_gt}, {"GE", te_ge},
    {"call_intrin", te_call_intrin}, {"call_pure_intrin", te_call_intrin}, {"call_extern", te_call_extern}, {"call_pure_extern", te_call_pure_extern}, {"decl_buffer", te_decl_buffer},
    {"call_packed", te_call_packed}, {"create_schedule", te_create_schedule}, {"thread_axis", te_thread_axis},
    {"decl_tensor_intrin", te_decl_tensor_intrin}, {"ir_builder.create", te_builder},
    {"arith.Analyzer", te_analyzer}, {"arith.Analyzer().simplify", te_simplify},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

/* Reducers that are there from the start. */
static const struct {
    const char *name;
    ExprKind kind;
} reducers[] = {{"sum", EXPR_ADD}, {"prod", EXPR_MUL}, {"min", EXPR_MIN}, {"max", EXPR_MAX}};
enum { REDUCER_COUNT = sizeof reducers / sizeof *reducers };

static bool is_package(const char *path, const char **name)
{
    static const char *const packages[] = {"tvm.te.", "tvm.tir.op.", "tvm.tir.", "tvm.tirx.", "tvm.script.tir.", "tvm.script.tirx.", "te."};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (!strncmp(path, packages[i], strlen(packages[i]))) {
            *name = path + strlen(packages[i]);
            return true;
        }
    *name = path + strlen("tvm.");
    return !strncmp(path, "tvm.arith.", strlen("tvm.arith."));
}

/* Operations that programs call under another name. */
static const char *op_name(const char *name)
{
    return !strcmp(name, "power") ? "pow" : !strcmp(name, "call_packed") || !strcmp(name, "tvm_call_packed") ? "call_packed" : name;
}

const char *te_function_name(int index)
{
    if (index < FUNCTION_COUNT)
        return functions[index].name;
    index -= FUNCTION_COUNT;
    if (index < REDUCER_COUNT)
        return reducers[index].name;
    index -= REDUCER_COUNT;
    return index < OP_COUNT ? op_info((Op)index)->name : NULL;
}

int te_function(const char *path)
{
    const char *name;
    if (!is_package(path, &name))
        return -1;
    for (int i = 0; te_function_name(i); i++)
        if (!strcmp(te_function_name(i), op_name(name)))
            return i;
    return -1;
}

bool te_call(Script *script, int function, const Arguments *arguments, Value *result)
{
    bool known;
    if (function < FUNCTION_COUNT)
        return functions[function].run(script, arguments, result);
    int reducer = function - FUNCTION_COUNT;
    if (reducer < REDUCER_COUNT) {
        Reducer own = {.name = context_intern(script->ctx, reducers[reducer].name), .kind = reducers[reducer].kind};
        return te_call_reducer(script, &own, arguments, result);
    }
    return te_math(script, te_function_name(function), arguments, result, &known) &&
           (known || script_error(script, arguments->span, "'%s' is no function of tensor expressions", te_function_name(function)));
}
