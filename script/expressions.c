/* Tensor expressions in scripts: what the parameters of an index map are, and what operators and functions of T make of them. Numbers of
   Python take the type of the other operand. */
#include "script/script_internal.h"

#include <string.h>

#include "support/bug.h"

bool script_is_expr(const Script *script, Value value)
{
    return script->mapping && value.kind == VALUE_EXPR;
}

/* VALUE as an expression; LIKE, where not NULL, is the other operand, whose type a number takes. NULL after a diagnostic. */
static const Expr *as_expr(Script *script, Value value, const Expr *like, Span span)
{
    Context *ctx = script->ctx;
    DType type = like ? dtype_scalar(like->dtype) : DTYPE_INT32;
    bool real = like && dtype_is_float(type);
    if (value.kind == VALUE_EXPR)
        return value.as.expr;
    if (!script_is_number(value)) {
        script_error(script, span, "%s cannot be a part of an expression", script_type_phrase(script, value));
        return NULL;
    }
    if (value.kind == VALUE_BOOL)
        return expr_bool(ctx, value.as.boolean);
    if (value.kind == VALUE_FLOAT)
        return expr_float(ctx, real ? type : DTYPE_FLOAT32, value.as.real);
    if (real)
        return expr_float(ctx, type, (double)value.as.integer);
    if (!like || type.code == DT_BOOL)
        type = dtype_holds(DTYPE_INT32, value.as.integer) ? DTYPE_INT32 : DTYPE_INT64;
    if (dtype_holds(type, value.as.integer))
        return expr_int(ctx, type, value.as.integer);
    script_error(script, span, "%lld does not fit in %s", (long long)value.as.integer, dtype_name(ctx, type));
    return NULL;
}

static bool both_exprs(Script *script, Value left, Value right, Span span, const Expr **a, const Expr **b)
{
    *a = as_expr(script, left, right.kind == VALUE_EXPR ? right.as.expr : NULL, span);
    *b = *a ? as_expr(script, right, *a, span) : NULL;
    return *b;
}

static bool give(const Expr *expr, Value *result)
{
    if (expr)
        *result = (Value){.kind = VALUE_EXPR, .as.expr = expr};
    return expr;
}

static bool bit_operation(Script *script, Op op, const Expr *a, const Expr *b, Span span, Value *result)
{
    return give(op_bits(script->ctx, op, a, b, span), result);
}

bool script_expr_binary(Script *script, AstOp op, Value left, Value right, Span span, Value *result)
{
    const Expr *a, *b;
    if (!both_exprs(script, left, right, span, &a, &b))
        return false;
    switch (op) {
    case AST_OP_ADD: return give(op_binary(script->ctx, EXPR_ADD, a, b, span), result);
    case AST_OP_SUB: return give(op_binary(script->ctx, EXPR_SUB, a, b, span), result);
    case AST_OP_MUL: return give(op_binary(script->ctx, EXPR_MUL, a, b, span), result);
    case AST_OP_FLOORDIV: return give(op_binary(script->ctx, EXPR_FLOORDIV, a, b, span), result);
    case AST_OP_MOD: return give(op_binary(script->ctx, EXPR_FLOORMOD, a, b, span), result);
    case AST_OP_SHIFT_LEFT: return bit_operation(script, OP_SHIFT_LEFT, a, b, span, result);
    case AST_OP_SHIFT_RIGHT: return bit_operation(script, OP_SHIFT_RIGHT, a, b, span, result);
    case AST_OP_BIT_AND: return bit_operation(script, OP_BITWISE_AND, a, b, span, result);
    case AST_OP_BIT_OR: return bit_operation(script, OP_BITWISE_OR, a, b, span, result);
    case AST_OP_BIT_XOR: return bit_operation(script, OP_BITWISE_XOR, a, b, span, result);
    case AST_OP_DIV:
        if (dtype_is_float(a->dtype) || dtype_is_float(b->dtype))
            return give(op_binary(script->ctx, EXPR_DIV, a, b, span), result);
        return script_error(script, span, "'/' of indices is ambiguous; write '//' to round down");
    default: return script_error(script, span, "'%s' does not take expressions", ast_op_text(op));
    }
}

bool script_expr_compare(Script *script, AstOp op, Value left, Value right, Span span, Value *result)
{
    static const ExprKind kinds[] = {[AST_OP_EQ] = EXPR_EQ, [AST_OP_NE] = EXPR_NE, [AST_OP_LT] = EXPR_LT,
                                     [AST_OP_LE] = EXPR_LE, [AST_OP_GT] = EXPR_GT, [AST_OP_GE] = EXPR_GE};
    const Expr *a, *b;
    if (op > AST_OP_GE)
        return script_error(script, span, "'%s' does not take expressions", ast_op_text(op));
    return both_exprs(script, left, right, span, &a, &b) && give(op_binary(script->ctx, kinds[op], a, b, span), result);
}

bool script_expr_unary(Script *script, AstOp op, Value operand, Span span, Value *result)
{
    const Expr *expr = operand.as.expr;
    if (op == AST_OP_NEGATIVE)
        return give(op_negate(script->ctx, expr, span), result);
    if (op == AST_OP_INVERT && dtype_is_integer(expr->dtype))
        return give(expr_call(script->ctx, expr->dtype, OP_BITWISE_NOT, &expr, 1, span), result);
    *result = operand;
    return op == AST_OP_POSITIVE || script_error(script, span, "'~' needs an integer");
}

/* --- functions of T and tvm.tir --- */

typedef enum { FUNCTION_BINARY, FUNCTION_CHOICE, FUNCTION_SELECT, FUNCTION_JOIN, FUNCTION_NOT, FUNCTION_CAST, FUNCTION_BITS } FunctionClass;

static const struct {
    const char *name;
    FunctionClass class;
    int detail; /* ExprKind, or Op of FUNCTION_BITS */
} functions[] = {
    {"if_then_else", FUNCTION_CHOICE, 0},
    {"Select", FUNCTION_SELECT, 0},
    {"min", FUNCTION_BINARY, EXPR_MIN},
    {"max", FUNCTION_BINARY, EXPR_MAX},
    {"Min", FUNCTION_BINARY, EXPR_MIN},
    {"Max", FUNCTION_BINARY, EXPR_MAX},
    {"floordiv", FUNCTION_BINARY, EXPR_FLOORDIV},
    {"floormod", FUNCTION_BINARY, EXPR_FLOORMOD},
    {"indexdiv", FUNCTION_BINARY, EXPR_FLOORDIV},
    {"indexmod", FUNCTION_BINARY, EXPR_FLOORMOD},
    {"truncdiv", FUNCTION_BINARY, EXPR_DIV},
    {"truncmod", FUNCTION_BINARY, EXPR_MOD},
    {"all", FUNCTION_JOIN, EXPR_AND},
    {"And", FUNCTION_JOIN, EXPR_AND},
    {"any", FUNCTION_JOIN, EXPR_OR},
    {"Or", FUNCTION_JOIN, EXPR_OR},
    {"Not", FUNCTION_NOT, 0},
    {"Cast", FUNCTION_CAST, 0},
    {"cast", FUNCTION_CAST, 0},
    {"shift_left", FUNCTION_BITS, OP_SHIFT_LEFT},
    {"shift_right", FUNCTION_BITS, OP_SHIFT_RIGHT},
    {"bitwise_and", FUNCTION_BITS, OP_BITWISE_AND},
    {"bitwise_or", FUNCTION_BITS, OP_BITWISE_OR},
    {"bitwise_xor", FUNCTION_BITS, OP_BITWISE_XOR},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static int find_function(const char *name)
{
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (!strcmp(functions[i].name, name))
            return i;
    return -1;
}

static bool is_type(const char *name)
{
    DType type;
    return dtype_parse(name, &type) && type.lanes == 1 && (dtype_is_integer(type) || dtype_is_float(type) || type.code == DT_BOOL);
}

bool script_is_tensor_function(const char *path)
{
    static const char *const packages[] = {"tvm.script.tir.", "tvm.script.tirx.", "tvm.tir.", "tvm.tirx.", "tvm.te."};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
        size_t length = strlen(packages[i]);
        if (!strncmp(path, packages[i], length))
            return find_function(path + length) >= 0 || is_type(path + length);
    }
    return false;
}

static bool choose(Script *script, bool select, const Value *values, Span span, Value *result)
{
    const Expr *condition = as_expr(script, values[0], NULL, span), *a, *b;
    if (!condition || !both_exprs(script, values[1], values[2], span, &a, &b))
        return false;
    return give(select ? op_select(script->ctx, condition, a, b, span) : op_if_then_else(script->ctx, condition, a, b, span), result);
}

static bool join(Script *script, ExprKind kind, const Arguments *arguments, Value *result)
{
    const Expr *joined = NULL;
    for (int i = 0; i < arguments->positional_count; i++) {
        const Expr *condition = as_expr(script, arguments->positional[i], NULL, arguments->span);
        if (!condition || condition->dtype.code != DT_BOOL)
            return script_error(script, arguments->positional[i].span, "a condition is needed here");
        joined = joined ? op_binary(script->ctx, kind, joined, condition, arguments->span) : condition;
    }
    return joined ? give(joined, result) : script_error(script, arguments->span, "a condition is needed here");
}

/* VALUE converted to TYPE; a number of Python becomes a constant of it. */
static bool convert(Script *script, DType type, Value value, Span span, Value *result)
{
    Context *ctx = script->ctx;
    if (value.kind == VALUE_FLOAT && dtype_is_float(type))
        return give(expr_float(ctx, type, value.as.real), result);
    const Expr *expr = as_expr(script, value, NULL, span);
    return expr && give(op_cast(ctx, type, expr), result);
}

static bool cast(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values = arguments->positional;
    int text = values[0].kind == VALUE_STRING ? 0 : 1; /* Cast(type, value), and value, type */
    DType type;
    if (values[text].kind != VALUE_STRING || !dtype_parse(values[text].as.text, &type) || type.lanes != 1)
        return script_error(script, values[text].span, "the name of a type is needed here");
    return convert(script, type, values[1 - text], arguments->span, result);
}

static bool not_condition(Script *script, const Arguments *arguments, Value *result)
{
    const Expr *condition = as_expr(script, arguments->positional[0], NULL, arguments->span);
    return condition && give(op_not(script->ctx, condition, arguments->span), result);
}

bool script_call_tensor_function(Script *script, const char *name, const Arguments *arguments, Value *result)
{
    const Value *values = arguments->positional;
    int index = find_function(name), count = arguments->positional_count;
    FunctionClass class = index < 0 ? FUNCTION_NOT : functions[index].class;
    int needed = class == FUNCTION_NOT ? 1 : class == FUNCTION_CHOICE || class == FUNCTION_SELECT ? 3 : class == FUNCTION_JOIN ? count : 2;
    if (count != needed || arguments->keyword_count)
        return script_error(script, arguments->span, "%s takes %d argument%s", name, needed, needed == 1 ? "" : "s");
    if (index < 0) {
        DType type;
        CHECK(dtype_parse(name, &type));
        return convert(script, type, values[0], arguments->span, result);
    }
    const Expr *a, *b;
    switch (class) {
    case FUNCTION_CHOICE:
    case FUNCTION_SELECT: return choose(script, class == FUNCTION_SELECT, values, arguments->span, result);
    case FUNCTION_JOIN: return join(script, (ExprKind)functions[index].detail, arguments, result);
    case FUNCTION_NOT: return not_condition(script, arguments, result);
    case FUNCTION_CAST: return cast(script, arguments, result);
    case FUNCTION_BINARY:
        return both_exprs(script, values[0], values[1], arguments->span, &a, &b) &&
               give(op_binary(script->ctx, (ExprKind)functions[index].detail, a, b, arguments->span), result);
    case FUNCTION_BITS:
        return both_exprs(script, values[0], values[1], arguments->span, &a, &b) &&
               bit_operation(script, (Op)functions[index].detail, a, b, arguments->span, result);
    }
    return false;
}
