/* te.extern: operations whose results come of code that is given. */
#include "script/te.h"

#include <string.h>

#include "ir/walk.h"

/* --- buffers as values --- */

static const Expr *pack_buffer(Script *script, const Buffer *buffer, Span span)
{
    Context *ctx = script->ctx;
    DType dtype = DTYPE_HANDLE;
    const Expr *zero = expr_int(ctx, DTYPE_INT32, 0);
    const Expr *shape = expr_call(ctx, dtype, OP_TVM_STACK_MAKE_SHAPE, buffer->shape, buffer->ndim, span);
    const Expr *args[] = {expr_var(ctx, buffer->data), shape, zero, expr_int(ctx, DTYPE_INT32, buffer->ndim),
                          op_cast(ctx, buffer->dtype, zero), buffer->elem_offset};
    return expr_call(ctx, dtype, OP_TVM_STACK_MAKE_ARRAY, args, 6, span);
}

static bool access_ptr(Script *script, const Buffer *buffer, const Arguments *arguments, Value *result)
{
    const Value *values[1];
    Context *ctx = script->ctx;
    if (!te_bind(script, "access_ptr", arguments, "access_mask", values))
        return false;
    const char *text = values[0]->kind == VALUE_STRING ? values[0]->as.text : NULL;
    int64_t mask = text ? (strchr(text, 'r') ? 1 : 0) | (strchr(text, 'w') ? 2 : 0) : values[0]->kind == VALUE_INT ? values[0]->as.integer & 3 : 0;
    if (!mask)
        return script_error(script, arguments->span, "the access of access_ptr is \"r\", \"w\" or \"rw\"");
    const Expr *extent = expr_int(ctx, DTYPE_INT32, 1);
    bool strided = buffer->strides && buffer->ndim;
    if (strided)
        extent = op_mul(ctx, buffer->strides[0], buffer->shape[0]);
    for (int i = 0; i < buffer->ndim && !strided; i++)
        extent = i ? op_mul(ctx, extent, buffer->shape[i]) : buffer->shape[i];
    const Expr *args[] = {expr_call(ctx, buffer->dtype, OP_TYPE_ANNOTATION, NULL, 0, arguments->span), expr_var(ctx, buffer->data),
                          buffer->elem_offset, extent, expr_int(ctx, DTYPE_INT32, mask)};
    *result = te_expr_value(expr_call(ctx, DTYPE_HANDLE, OP_TVM_ACCESS_PTR, args, 5, arguments->span));
    return true;
}

bool te_buffer_attribute(Script *script, const Object *self, Str name, Value *result)
{
    const Buffer *buffer = self->as.buffer;
    Context *ctx = script->ctx;
    if (!strcmp(name, "data"))
        *result = te_expr_value(expr_var(ctx, buffer->data));
    else if (!strcmp(name, "dtype") || !strcmp(name, "name"))
        *result = (Value){.kind = VALUE_STRING, .as.text = context_intern(ctx, *name == 'd' ? dtype_name(ctx, buffer->dtype) : buffer->name)};
    else if (!strcmp(name, "shape")) {
        Value *sizes = ARENA_ARRAY(ctx->arena, Value, buffer->ndim);
        for (int i = 0; i < buffer->ndim; i++)
            sizes[i] = te_size_value(buffer->shape[i]);
        *result = script_list(script, sizes, buffer->ndim, true);
    } else if (!strcmp(name, "strides")) {
        Value *strides = ARENA_ARRAY(ctx->arena, Value, buffer->ndim);
        for (int i = 0; i < buffer->ndim && buffer->strides; i++)
            strides[i] = te_size_value(buffer->strides[i]);
        *result = script_list(script, strides, buffer->strides ? buffer->ndim : 0, true);
    } else if (!strcmp(name, "elem_offset"))
        *result = te_expr_value(buffer->elem_offset);
    else if (!strcmp(name, "access_ptr"))
        *result = script_object(script, (Object){.kind = OBJECT_METHOD, .as.method = {self, name}});
    else
        return false;
    return true;
}

bool te_buffer_method(Script *script, const Object *self, const Arguments *arguments, Value *result)
{
    return access_ptr(script, self->as.buffer, arguments, result);
}

/* --- te.extern --- */

bool te_call_packed(Script *script, const Arguments *arguments, Value *result)
{
    int count = arguments->positional_count;
    const Expr **args = ARENA_ARRAY(script->ctx->arena, const Expr *, count);
    if (!count || arguments->positional[0].kind != VALUE_STRING || arguments->keyword_count)
        return script_error(script, arguments->span, "call_packed takes the name of a function, and its arguments");
    for (int i = 0; i < count; i++) {
        const Object *buffer = value_object(arguments->positional[i], OBJECT_BUFFER);
        if (buffer)
            args[i] = pack_buffer(script, buffer->as.buffer, arguments->span);
        else if (!te_to_expr(script, arguments->positional[i], arguments->span, &args[i]))
            return false;
    }
    *result = te_expr_value(expr_call(script->ctx, DTYPE_INT32, OP_CALL_PACKED, args, count, arguments->span));
    return true;
}

/* A buffer whose offset is a variable of its declaration. */
static Buffer *placed_buffer(Script *script, Str name, DType dtype, int ndim, const Expr *const *shape, Span span)
{
    Buffer *buffer = buffer_new(script->ctx, name, dtype, ndim, shape, NULL, span);
    Var *offset = var_new(script->ctx, context_intern(script->ctx, "elem_offset"), DTYPE_INT32, span);
    offset->unnamed = true;
    buffer->elem_offset = expr_var(script->ctx, offset);
    buffer->offset_factor = 1;
    return buffer;
}

static bool is_list_of_shapes(Value shape)
{
    return shape.kind == VALUE_LIST && shape.as.list->count && shape.as.list->items[0].kind == VALUE_LIST;
}

static bool read_inputs(Script *script, Operation *op, Value given, Span span)
{
    ValueList one = {.items = &given, .count = 1};
    const ValueList *list = given.kind == VALUE_LIST ? given.as.list : &one;
    op->inputs = ARENA_ARRAY(script->ctx->arena, Tensor *, list->count);
    op->placeholders = ARENA_ARRAY(script->ctx->arena, Buffer *, list->count);
    op->input_count = list->count;
    for (int i = 0; i < list->count; i++) {
        const Tensor *tensor = te_tensor(list->items[i]);
        if (!tensor)
            return script_error(script, span, "input %d of te.extern is no tensor but %s", i, script_type_phrase(script, list->items[i]));
        op->inputs[i] = (Tensor *)tensor;
        op->placeholders[i] = placed_buffer(script, tensor->op->name, tensor->buffer->dtype, tensor->buffer->ndim, tensor->buffer->shape, span);
    }
    return true;
}

/* The types of the results: given, or that of the inputs. */
static bool result_dtype(Script *script, const Operation *op, const Value *given, int index, Span span, DType *dtype)
{
    const ValueList *list = given && given->kind == VALUE_LIST ? given->as.list : NULL;
    if (list && index >= list->count)
        return script_error(script, span, "there are %d types for %d results", list->count, op->result_count);
    if (given && given->kind != VALUE_NONE)
        return te_dtype(script, list ? &list->items[index] : given, DTYPE_FLOAT32, dtype);
    for (int i = 1; i < op->input_count; i++)
        if (!dtype_equal(op->inputs[i]->buffer->dtype, op->inputs[0]->buffer->dtype))
            return script_error(script, span, "the inputs have different types; say the type of the results with dtype=");
    if (!op->input_count)
        return script_error(script, span, "without inputs, dtype= must say the type of the results");
    *dtype = op->inputs[0]->buffer->dtype;
    return true;
}

static Value buffers_value(Script *script, Buffer *const *buffers, int count)
{
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, count);
    for (int i = 0; i < count; i++)
        items[i] = script_object(script, (Object){.kind = OBJECT_BUFFER, .as.buffer = buffers[i]});
    return script_list(script, items, count, false);
}

static bool make_results(Script *script, Operation *op, Value shape, const Value *dtypes, Span span)
{
    bool several = is_list_of_shapes(shape);
    op->result_count = several ? shape.as.list->count : 1;
    op->results = ARENA_ARRAY(script->ctx->arena, Tensor *, op->result_count);
    for (int i = 0; i < op->result_count; i++) {
        const Expr **sizes;
        int ndim;
        DType dtype;
        if (!te_to_exprs(script, several ? shape.as.list->items[i] : shape, span, &sizes, &ndim) ||
            !result_dtype(script, op, dtypes, i, span, &dtype))
            return false;
        Tensor *tensor = ARENA_NEW(script->ctx->arena, Tensor);
        *tensor = (Tensor){op, i, placed_buffer(script, op->name, dtype, ndim, sizes, span)};
        op->results[i] = tensor;
        map_set(script->ctx->arena, &script->tensors, tensor->buffer, tensor);
    }
    return true;
}

static bool make_body(Script *script, Operation *op, Value function, Span span)
{
    Buffer **outputs = ARENA_ARRAY(script->ctx->arena, Buffer *, op->result_count);
    for (int i = 0; i < op->result_count; i++)
        outputs[i] = op->results[i]->buffer;
    Value sides[] = {buffers_value(script, op->placeholders, op->input_count), buffers_value(script, outputs, op->result_count)}, body;
    Arguments call = {.positional = sides, .positional_count = 2, .span = span};
    if (!script_call_value(script, function, &call, &body))
        return false;
    if (body.kind != VALUE_EXPR)
        return script_error(script, span, "the function of te.extern must give a call, such as call_extern or call_packed, not %s",
                            script_type_phrase(script, body));
    op->body = stmt_evaluate(script->ctx, body.as.expr, span);
    return true;
}

Value te_operation_results(Script *script, const Operation *op)
{
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, op->result_count);
    for (int i = 0; i < op->result_count; i++)
        items[i] = te_tensor_value(script, op->results[i]);
    return op->result_count == 1 ? items[0] : script_list(script, items, op->result_count, false);
}

bool te_extern(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[9];
    Operation *op = ARENA_NEW(script->ctx->arena, Operation);
    Span span = arguments->span;
    if (!te_bind(script, "te.extern", arguments, "shape inputs fcompute name? dtype? in_buffers? out_buffers? tag? attrs?", values))
        return false;
    for (int i = 5; i <= 6; i++)
        if (values[i] && values[i]->kind != VALUE_NONE)
            return script_error(script, values[i]->span, "%s of te.extern is not there; the buffers are compact", i == 5 ? "in_buffers" : "out_buffers");
    op->kind = OPERATION_EXTERN;
    op->span = span;
    op->attr_values = script_list(script, NULL, 0, false);
    op->attr_values.kind = VALUE_DICT;
    if (values[8] && values[8]->kind == VALUE_DICT)
        op->attr_values = *values[8];
    if (!te_name(script, values[3], "extern", &op->name) || !te_tag(script, values[7], arguments->span, &op->tag) ||
        !read_inputs(script, op, *values[1], span) || !make_results(script, op, *values[0], values[4], span) ||
        !make_body(script, op, *values[2], values[2]->span))
        return false;
    *result = te_operation_results(script, op);
    return true;
}
