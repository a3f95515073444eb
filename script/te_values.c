/* Tensor expressions as values: what takes part in expressions, operators, subscripts and attributes. */
#include "script/te.h"

#include <string.h>

#include "support/strbuf.h"

Value te_expr_value(const Expr *expr)
{
    return (Value){.kind = VALUE_EXPR, .as.expr = expr, .span = expr->span};
}

Value te_size_value(const Expr *expr)
{
    if (expr->kind == EXPR_INT && dtype_equal(expr->dtype, DTYPE_INT32))
        return (Value){.kind = VALUE_INT, .as.integer = expr->value.integer};
    return te_expr_value(expr);
}

Value te_tensor_value(Script *script, const Tensor *tensor)
{
    return script_object(script, (Object){.kind = OBJECT_TENSOR, .as.tensor = tensor});
}

const Tensor *te_tensor(Value value)
{
    const Object *object = value_object(value, OBJECT_TENSOR);
    return object ? object->as.tensor : NULL;
}

/* VALUE is a tensor with as many indices as it has dimensions, or a 0-dimensional one. */
static bool is_element(Value value)
{
    const Object *slice = value_object(value, OBJECT_SLICE);
    const Tensor *tensor = te_tensor(value);
    return slice ? slice->as.slice.count == slice->as.slice.tensor->buffer->ndim : tensor && !tensor->buffer->ndim;
}

bool te_is_expression(Value value)
{
    return value.kind == VALUE_EXPR || value_object(value, OBJECT_AXIS) || value_object(value, OBJECT_SLICE) || is_element(value);
}

bool te_takes_part(Value value)
{
    return te_is_expression(value) || te_tensor(value) || value_object(value, OBJECT_REDUCTION);
}

static bool refuse_expression(Script *script, Value value, Span span)
{
    const Tensor *tensor = te_tensor(value);
    if (value_object(value, OBJECT_REDUCTION))
        return script_error(script, span, "a reduction stands alone as the body of te.compute; use its tensor in another te.compute");
    if (tensor || value_object(value, OBJECT_SLICE))
        return script_error(script, span, "a tensor needs all of its indices here");
    return script_error(script, span, "an expression is needed here, not %s", script_type_phrase(script, value));
}

bool te_to_expr(Script *script, Value value, Span span, const Expr **result)
{
    Context *ctx = script->ctx;
    const Object *object = value.kind == VALUE_SCRIPT ? value.as.script : NULL;
    switch (value.kind) {
    case VALUE_EXPR: *result = value.as.expr; return true;
    case VALUE_BOOL: *result = expr_bool(ctx, value.as.boolean); return true;
    case VALUE_INT:
        *result = expr_int(ctx, value.as.integer == (int32_t)value.as.integer ? DTYPE_INT32 : DTYPE_INT64, value.as.integer);
        return true;
    case VALUE_FLOAT: *result = expr_float(ctx, DTYPE_FLOAT32, value.as.real); return true;
    case VALUE_STRING: *result = expr_string(ctx, value.as.text); return true;
    default: break;
    }
    if (object && object->kind == OBJECT_AXIS) {
        *result = expr_var(ctx, object->as.axis->var);
        return true;
    }
    if (!object || !is_element(value))
        return refuse_expression(script, value, span);
    bool slice = object->kind == OBJECT_SLICE;
    Buffer *buffer = slice ? object->as.slice.tensor->buffer : object->as.tensor->buffer;
    *result = expr_load(ctx, buffer, slice ? object->as.slice.indices : NULL, buffer->ndim, NULL, span);
    return true;
}

bool te_to_exprs(Script *script, Value value, Span span, const Expr ***result, int *count)
{
    const ValueList *list = value.kind == VALUE_LIST ? value.as.list : NULL;
    *count = list ? list->count : 1;
    *result = ARENA_ARRAY(script->ctx->arena, const Expr *, *count);
    for (int i = 0; i < *count; i++)
        if (!te_to_expr(script, list ? list->items[i] : value, span, &(*result)[i]))
            return false;
    return true;
}

/* --- operators --- */

static ExprKind kind_of(AstOp op)
{
    switch (op) {
    case AST_OP_ADD: return EXPR_ADD;
    case AST_OP_SUB: return EXPR_SUB;
    case AST_OP_MUL: return EXPR_MUL;
    case AST_OP_DIV: return EXPR_DIV;
    case AST_OP_FLOORDIV: return EXPR_FLOORDIV;
    case AST_OP_MOD: return EXPR_FLOORMOD;
    case AST_OP_EQ: return EXPR_EQ;
    case AST_OP_NE: return EXPR_NE;
    case AST_OP_LT: return EXPR_LT;
    case AST_OP_LE: return EXPR_LE;
    case AST_OP_GT: return EXPR_GT;
    case AST_OP_GE: return EXPR_GE;
    default: return EXPR_KIND_COUNT;
    }
}

/* Operators that TVM writes as calls. */
static const char *call_of(AstOp op)
{
    switch (op) {
    case AST_OP_POWER: return "pow";
    case AST_OP_SHIFT_LEFT: return "shift_left";
    case AST_OP_SHIFT_RIGHT: return "shift_right";
    case AST_OP_BIT_AND: return "bitwise_and";
    case AST_OP_BIT_OR: return "bitwise_or";
    case AST_OP_BIT_XOR: return "bitwise_xor";
    default: return NULL;
    }
}

/* Whole tensors are added and so on by the library of operators. */
static bool tensor_operator(Script *script, AstOp op, Value left, Value right, Span span, Value *result)
{
    static const char *const names[][2] = {{"+", "add"}, {"-", "subtract"}, {"*", "multiply"}, {"/", "divide"}};
    Value pair[] = {left, right}, function;
    Arguments arguments = {.positional = pair, .positional_count = 2, .span = span};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], ast_op_text(op)))
            return topi_find(script, "topi", names[i][1], &function) && script_call_value(script, function, &arguments, result);
    return script_error(script, span, "'%s' does not take tensors", ast_op_text(op));
}

/* What MADE, an operation on floats, is to TVM where an operand is 0 or 1: it leaves out x + 0.0, and 0.0 is what x * 0.0 gives. */
static const Expr *without_neutral(const Expr *made)
{
    ExprKind kind = made->kind;
    bool arithmetic = kind == EXPR_ADD || kind == EXPR_SUB || kind == EXPR_MUL || kind == EXPR_DIV;
    for (int i = 0; arithmetic && i < 2; i++) {
        const Expr *operand = made->args[i], *other = made->args[1 - i];
        bool zero = operand->kind == EXPR_FLOAT && operand->value.literal == 0, one = operand->kind == EXPR_FLOAT && operand->value.literal == 1;
        if (zero && (kind == EXPR_ADD || (kind == EXPR_SUB && i == 1)))
            return other;
        if (zero && (kind == EXPR_MUL || (kind == EXPR_DIV && i == 0)))
            return operand;
        if (one && (kind == EXPR_MUL || (kind == EXPR_DIV && i == 1)))
            return other;
    }
    return made;
}

/* A number of Python beside a float64 loses no digits. */
static void widen_literal(Context *ctx, const Expr **number, const Expr *other)
{
    if ((*number)->kind == EXPR_FLOAT && dtype_is_float(other->dtype) && other->dtype.bits > (*number)->dtype.bits)
        *number = expr_float(ctx, dtype_scalar(other->dtype), (*number)->value.literal);
}

bool te_match_types(Script *script, const Expr **a, const Expr **b, Span span)
{
    widen_literal(script->ctx, a, *b);
    widen_literal(script->ctx, b, *a);
    return op_match_types(script->ctx, a, b, span);
}

static bool is_widened_bool(const Expr *expr)
{
    return expr->kind == EXPR_INT || (expr->kind == EXPR_CAST && expr->args[0]->dtype.code == DT_BOOL);
}

/* The int32 of which OPERAND, a result of arithmetic on bools, is the truth: arithmetic goes on with it, as in a program's text. */
static const Expr *before_truth(const Expr *operand)
{
    const Expr *value = operand->kind == EXPR_CAST ? operand->args[0] : operand;
    bool sum = value->kind == EXPR_ADD || value->kind == EXPR_SUB || value->kind == EXPR_MUL;
    return sum && dtype_equal(value->dtype, DTYPE_INT32) && is_widened_bool(value->args[0]) && is_widened_bool(value->args[1]) ? value : operand;
}

/* Arithmetic on two bools is that of int32, and its result is a bool. */
static const Expr *bool_arithmetic(Context *ctx, ExprKind kind, const Expr *a, const Expr *b, Span span)
{
    const Expr *made = op_binary(ctx, kind, before_truth(a), before_truth(b), span);
    if (!made)
        return NULL;
    return made->kind == EXPR_CAST && dtype_equal(made->args[0]->dtype, DTYPE_BOOL) ? made->args[0] : op_cast(ctx, DTYPE_BOOL, made);
}

const Expr *te_operation(Script *script, ExprKind kind, const Expr *a, const Expr *b, Span span)
{
    bool bools = kind <= EXPR_MAX && dtype_equal(a->dtype, DTYPE_BOOL) && dtype_equal(b->dtype, DTYPE_BOOL);
    widen_literal(script->ctx, &a, b);
    widen_literal(script->ctx, &b, a);
    if (kind == EXPR_DIV && b->kind == EXPR_FLOAT && b->value.real == 0) {
        script_error(script, span, "division by zero");
        return NULL;
    }
    const Expr *made = bools ? bool_arithmetic(script->ctx, kind, a, b, span) : op_binary(script->ctx, kind, a, b, span);
    if (!made)
        script_note_calls(script);
    return made ? without_neutral(made) : NULL;
}

bool te_binary(Script *script, AstOp op, Value left, Value right, Span span, Value *result)
{
    const Expr *a, *b, *made;
    if (te_tensor(left) || te_tensor(right))
        return tensor_operator(script, op, left, right, span, result);
    if (!te_to_expr(script, left, span, &a) || !te_to_expr(script, right, span, &b))
        return false;
    if (call_of(op)) {
        Value pair[] = {left, right};
        Arguments arguments = {.positional = pair, .positional_count = 2, .span = span};
        bool known;
        return te_math(script, call_of(op), &arguments, result, &known);
    }
    ExprKind kind = kind_of(op);
    if (kind == EXPR_KIND_COUNT)
        return script_error(script, span, "'%s' does not take expressions", ast_op_text(op));
    if (kind == EXPR_DIV && !dtype_is_float(a->dtype) && !dtype_is_float(b->dtype))
        return script_error(script, span, "'/' of integers does not say how to round; use //, te.floordiv or te.truncdiv");
    made = te_operation(script, kind, a, b, span);
    if (made)
        *result = te_expr_value(made);
    return made != NULL;
}

bool te_compare(Script *script, AstOp op, Value left, Value right, Span span, Value *result)
{
    if (te_is_expression(left) && te_is_expression(right) && (op == AST_OP_EQ || op == AST_OP_NE)) {
        const Expr *a, *b;
        if (!te_to_expr(script, left, span, &a) || !te_to_expr(script, right, span, &b))
            return false;
        if (expr_equal(a, b)) {
            *result = (Value){.kind = VALUE_BOOL, .as.boolean = op == AST_OP_EQ};
            return true;
        }
    }
    return te_binary(script, op, left, right, span, result);
}

bool te_unary(Script *script, AstOp op, Value operand, Span span, Value *result)
{
    const Expr *expr;
    if (te_tensor(operand) && op == AST_OP_NEGATIVE) {
        Value minus_one = {.kind = VALUE_INT, .as.integer = -1};
        return tensor_operator(script, AST_OP_MUL, operand, minus_one, span, result);
    }
    if (!te_to_expr(script, operand, span, &expr))
        return false;
    if (op == AST_OP_INVERT) {
        Value value = te_expr_value(expr);
        Arguments arguments = {.positional = &value, .positional_count = 1, .span = span};
        bool known;
        return te_math(script, "bitwise_not", &arguments, result, &known);
    }
    if (op == AST_OP_NEGATIVE)
        expr = op_negate(script->ctx, expr, span);
    if (expr)
        *result = te_expr_value(expr);
    return expr != NULL;
}

/* --- subscripts --- */

static bool check_index(Script *script, const Expr *index, Span span)
{
    return dtype_is_integer(index->dtype) ||
           script_error(script, span, "an index must be an integer, not %s", dtype_name(script->ctx, index->dtype));
}

bool te_index(Script *script, Value self, const Value *indices, int count, Span span, Value *result)
{
    const Object *slice = value_object(self, OBJECT_SLICE);
    const Tensor *tensor = slice ? slice->as.slice.tensor : te_tensor(self);
    int before = slice ? slice->as.slice.count : 0, total = before + count;
    if (total > tensor->buffer->ndim)
        return script_error(script, span, "'%s' has %d dimension%s, but %d %s given", tensor->buffer->name, tensor->buffer->ndim,
                            tensor->buffer->ndim == 1 ? "" : "s", total, total == 1 ? "index is" : "indices are");
    const Expr **all = ARENA_ARRAY(script->ctx->arena, const Expr *, total);
    for (int i = 0; i < total; i++) {
        if (i < before)
            all[i] = slice->as.slice.indices[i];
        else if (!te_to_expr(script, indices[i - before], span, &all[i]) || !check_index(script, all[i], span))
            return false;
    }
    if (total == tensor->buffer->ndim)
        *result = te_expr_value(expr_load(script->ctx, tensor->buffer, all, total, NULL, span));
    else
        *result = script_object(script, (Object){.kind = OBJECT_SLICE, .as.slice = {tensor, all, total}});
    return true;
}

/* --- attributes --- */

static Value text(Script *script, const char *words)
{
    return (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, words)};
}

static Value axis_list(Script *script, const Iter *const *axes, int count)
{
    Value list = script_list(script, NULL, 0, false);
    list.as.list->items = ARENA_ARRAY(script->ctx->arena, Value, count);
    list.as.list->count = count;
    for (int i = 0; i < count; i++)
        list.as.list->items[i] = script_object(script, (Object){.kind = OBJECT_AXIS, .as.axis = axes[i]});
    return list;
}

static Value shape_value(Script *script, const Buffer *buffer)
{
    Value list = script_list(script, NULL, 0, true);
    list.as.list->items = ARENA_ARRAY(script->ctx->arena, Value, buffer->ndim);
    list.as.list->count = buffer->ndim;
    for (int i = 0; i < buffer->ndim; i++)
        list.as.list->items[i] = te_size_value(buffer->shape[i]);
    return list;
}

static bool tensor_attribute(Script *script, const Tensor *tensor, Str name, Value *result)
{
    const Buffer *buffer = tensor->buffer;
    if (!strcmp(name, "shape"))
        *result = shape_value(script, buffer);
    else if (!strcmp(name, "dtype"))
        *result = text(script, dtype_name(script->ctx, buffer->dtype));
    else if (!strcmp(name, "ndim") || !strcmp(name, "value_index"))
        *result = (Value){.kind = VALUE_INT, .as.integer = *name == 'n' ? buffer->ndim : tensor->index};
    else if (!strcmp(name, "name"))
        *result = text(script, tensor->op->name);
    else if (!strcmp(name, "op"))
        *result = script_object(script, (Object){.kind = OBJECT_OPERATION, .as.operation = tensor->op});
    else
        return false;
    return true;
}

static bool operation_attribute(Script *script, const Operation *op, Str name, Value *result)
{
    if (!strcmp(name, "name") || !strcmp(name, "tag"))
        *result = text(script, *name == 'n' ? op->name : op->tag);
    else if (!strcmp(name, "axis"))
        *result = axis_list(script, op->axes, op->axis_count);
    else if (!strcmp(name, "reduce_axis"))
        *result = axis_list(script, op->reduction ? op->reduction->axes : NULL, op->reduction ? op->reduction->axis_count : 0);
    else if (!strcmp(name, "attrs"))
        *result = op->attr_values;
    else if (!strcmp(name, "num_outputs"))
        *result = (Value){.kind = VALUE_INT, .as.integer = op->result_count};
    else if (!strcmp(name, "input_tensors")) {
        TensorList inputs = te_inputs(script, op);
        Value *items = ARENA_ARRAY(script->ctx->arena, Value, inputs.count);
        for (int i = 0; i < inputs.count; i++)
            items[i] = te_tensor_value(script, inputs.data[i]);
        *result = script_list(script, items, inputs.count, false);
    } else if (!strcmp(name, "body")) {
        Value *items = ARENA_ARRAY(script->ctx->arena, Value, op->result_count);
        for (int i = 0; i < op->result_count && op->bodies; i++)
            items[i] = te_expr_value(op->bodies[i]);
        *result = script_list(script, items, op->bodies ? op->result_count : 0, false);
    } else
        return false;
    return true;
}

static bool axis_attribute(Script *script, const Iter *axis, Str name, Value *result)
{
    if (!strcmp(name, "var"))
        *result = te_expr_value(expr_var(script->ctx, axis->var));
    else if (!strcmp(name, "dom"))
        *result = script_object(script, (Object){.kind = OBJECT_RANGE, .as.axis = axis});
    else if (!strcmp(name, "name") || !strcmp(name, "dtype"))
        *result = text(script, *name == 'n' ? axis->var->name : dtype_name(script->ctx, axis->var->dtype));
    else
        return false;
    return true;
}

static bool expr_attribute(Script *script, const Expr *expr, Str name, Value *result)
{
    if (!strcmp(name, "dtype"))
        *result = text(script, dtype_name(script->ctx, expr->dtype));
    else if (!strcmp(name, "name") && expr->kind == EXPR_VAR)
        *result = text(script, expr->value.var->name);
    else if (!strcmp(name, "value") && expr->kind == EXPR_INT)
        *result = (Value){.kind = VALUE_INT, .as.integer = expr->value.integer};
    else if (!strcmp(name, "value") && expr->kind == EXPR_FLOAT)
        *result = (Value){.kind = VALUE_FLOAT, .as.real = expr->value.literal};
    else if (!strcmp(name, "args")) {
        int first = expr_is_call(expr, OP_CALL_INTRIN) || expr_is_call(expr, OP_CALL_PURE_INTRIN);
        Value *items = ARENA_ARRAY(script->ctx->arena, Value, expr->arg_count);
        for (int i = first; i < expr->arg_count; i++)
            items[i - first] = te_expr_value(expr->args[i]);
        *result = script_list(script, items, expr->arg_count - first, false);
    } else if (!strcmp(name, "op") && expr->kind == EXPR_CALL) {
        Str called = context_internf(script->ctx, "tir.%s", op_info(expr->value.op)->name);
        bool custom = expr_is_call(expr, OP_CALL_INTRIN) || expr_is_call(expr, OP_CALL_PURE_INTRIN);
        *result = script_object(script, (Object){.kind = OBJECT_TYPE, .as.path = custom ? expr->args[0]->value.text : called});
    } else if ((!strcmp(name, "a") || !strcmp(name, "b")) && expr_is_binary(expr))
        *result = te_expr_value(expr->args[*name - 'a']);
    else
        return false;
    return true;
}

const char *const *te_attribute_names(const Object *object)
{
    static const char *const none[] = {NULL};
    static const char *const tensor[] = {"shape", "dtype", "ndim", "value_index", "name", "op", "astype", "equal", NULL};
    static const char *const operation[] = {"name", "tag", "axis", "reduce_axis", "attrs", "num_outputs", "input_tensors", "body", "output", NULL};
    static const char *const axis[] = {"var", "dom", "name", "dtype", "astype", "equal", NULL};
    switch (object->kind) {
    case OBJECT_TENSOR: return tensor;
    case OBJECT_OPERATION: return operation;
    case OBJECT_AXIS: return axis;
    default: return none;
    }
}

bool te_attribute(Script *script, Value self, Str name, Span span, Value *result, bool *found)
{
    const Object *object = self.kind == VALUE_SCRIPT ? self.as.script : NULL;
    ObjectKind kind = object ? object->kind : OBJECT_SCHEDULE;
    static const char *const methods[] = {"astype", "equal"};
    (void)span;
    *found = false;
    if (self.kind == VALUE_INT && !strcmp(name, "value")) { /* a size that TVM keeps as an IntImm */
        *found = true;
        *result = (Value){.kind = VALUE_INT, .as.integer = self.as.integer};
    } else if (self.kind == VALUE_EXPR)
        *found = expr_attribute(script, self.as.expr, name, result);
    else if (kind == OBJECT_TENSOR)
        *found = tensor_attribute(script, object->as.tensor, name, result);
    else if (kind == OBJECT_SLICE && !strcmp(name, "dtype"))
        *found = tensor_attribute(script, object->as.slice.tensor, name, result);
    else if (kind == OBJECT_OPERATION)
        *found = operation_attribute(script, object->as.operation, name, result);
    else if (kind == OBJECT_BUFFER)
        *found = te_buffer_attribute(script, object, name, result);
    else if (kind == OBJECT_AXIS)
        *found = axis_attribute(script, object->as.axis, name, result);
    else if (kind == OBJECT_RANGE && (!strcmp(name, "min") || !strcmp(name, "extent"))) {
        *found = true;
        *result = te_size_value(*name == 'm' ? object->as.axis->domain.min : object->as.axis->domain.extent);
    }
    bool has_methods = self.kind == VALUE_EXPR || kind == OBJECT_TENSOR || kind == OBJECT_SLICE || kind == OBJECT_AXIS;
    for (size_t i = 0; !*found && has_methods && i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i], name))
            continue;
        *found = true;
        const Object *value = script_object(script, (Object){.kind = OBJECT_VALUE, .as.value = self}).as.script;
        *result = script_object(script, (Object){.kind = OBJECT_METHOD, .as.method = {value, name}});
    }
    if (kind == OBJECT_STAGE && !strcmp(name, "op")) {
        *found = true;
        *result = script_object(script, (Object){.kind = OBJECT_OPERATION, .as.operation = object->as.stage.op});
    }
    bool of_stage = (kind == OBJECT_STAGE && te_stage_has(name)) || (kind == OBJECT_STAGES && te_stages_have(name)) || (kind == OBJECT_BUILDER && te_builder_has(name));
    if (of_stage || (kind == OBJECT_OPERATION && !*found && !strcmp(name, "output"))) {
        *found = true;
        *result = script_object(script, (Object){.kind = OBJECT_METHOD, .as.method = {object, name}});
    }
    return true;
}

bool te_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result)
{
    const Value *given;
    if (self->kind == OBJECT_OPERATION) {
        const Operation *op = self->as.operation;
        if (!te_bind(script, name, arguments, "index", &given))
            return false;
        if (given->kind != VALUE_INT || given->as.integer < 0 || given->as.integer >= op->result_count)
            return script_error(script, arguments->span, "the operation has %d results", op->result_count);
        *result = te_tensor_value(script, op->results[given->as.integer]);
        return true;
    }
    DType dtype;
    const Expr *expr;
    if (!strcmp(name, "equal"))
        return te_bind(script, name, arguments, "other", &given) && te_binary(script, AST_OP_EQ, self->as.value, *given, arguments->span, result);
    if (!te_bind(script, name, arguments, "dtype", &given) || !te_dtype(script, given, DTYPE_FLOAT32, &dtype))
        return false;
    if (te_tensor(self->as.value) && te_tensor(self->as.value)->buffer->ndim) {
        Value pair[] = {self->as.value, *given}, function;
        Arguments cast = {.positional = pair, .positional_count = 2, .span = arguments->span};
        return topi_find(script, "topi", "cast", &function) && script_call_value(script, function, &cast, result);
    }
    if (!te_to_expr(script, self->as.value, arguments->span, &expr))
        return false;
    *result = te_expr_value(op_cast(script->ctx, dtype, expr));
    return true;
}
