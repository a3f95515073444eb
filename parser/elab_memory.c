/* Loads and stores that are written as calls: A.vload, A.vstore, T.BufferLoad, T.buffer_store and the older T.load, T.store; see elab.h. */
#include "parser/elab.h"

static Buffer *value_to_buffer(Elab *elab, const Value *value)
{
    if (value->kind == VALUE_BUFFER)
        return value->as.buffer;
    if (value->kind != VALUE_ERROR)
        diag_error(elab->ctx, value->span, "expected a buffer, found %s", value_kind_name(value->kind));
    return NULL;
}

/* The indices that VALUE, a tuple or a single one, spells. */
static bool read_indices(Elab *elab, const Value *value, const Expr ***indices, int *count)
{
    ValueList items = value_items(value);
    *indices = ARENA_ARRAY(elab->ctx->arena, const Expr *, items.count);
    *count = items.count;
    for (int i = 0; i < items.count; i++)
        if (!((*indices)[i] = value_to_expr(elab, &items.items[i])))
            return false;
    return true;
}

/* The argument predicate: a mask with a lane for each of the access; *MASK stays NULL without one. */
static bool read_mask(Elab *elab, const Call *call, const Expr *const *indices, int count, const Expr **mask)
{
    *mask = NULL;
    if (!call_has(call, "predicate"))
        return true;
    int lanes = count ? indices[count - 1]->dtype.lanes : 1;
    *mask = value_to_expr(elab, call_arg(call, "predicate"));
    if (*mask && (*mask)->dtype.lanes == lanes &&
        ((*mask)->dtype.code == DT_BOOL || (dtype_is_integer((*mask)->dtype) && (*mask)->dtype.bits == 1)))
        return true;
    if (*mask)
        diag_error(elab->ctx, call_arg(call, "predicate")->span, "the predicate must be bool with %s lane%s, not %s",
                   dtype_lanes_text(elab->ctx, dtype_with_lanes((*mask)->dtype, lanes)), lanes == 1 ? "" : "s",
                   dtype_name(elab->ctx, (*mask)->dtype));
    return false;
}

/* A scalar last index under a vector type reaches as many elements from there on. */
static bool widen_index(Elab *elab, const Buffer *buffer, DType dtype, const Expr **indices, int count, Span span)
{
    int lanes = dtype.lanes / buffer->dtype.lanes;
    if (!dtype_equal(dtype_scalar(dtype), dtype_scalar(buffer->dtype))) {
        diag_error(elab->ctx, span, "'%s' holds %s, not %s", buffer->name, dtype_name(elab->ctx, buffer->dtype),
                   dtype_name(elab->ctx, dtype));
        return false;
    }
    if (lanes > 1 && count > 0 && indices[count - 1]->dtype.lanes == 1 && dtype_is_integer(indices[count - 1]->dtype))
        indices[count - 1] = expr_ramp(elab->ctx, indices[count - 1], expr_int(elab->ctx, indices[count - 1]->dtype, 1), lanes);
    return true;
}

Value builtin_vload(Elab *elab, const Call *call)
{
    Buffer *buffer = value_to_buffer(elab, call->object);
    const Expr **indices, *mask;
    int count;
    if (!buffer || !read_indices(elab, call_arg(call, "begin"), &indices, &count))
        return value_error();
    DType dtype = buffer->dtype;
    if (call_has(call, "dtype") &&
        (!value_to_dtype(elab, call_arg(call, "dtype"), &dtype) || !widen_index(elab, buffer, dtype, indices, count, call->span)))
        return value_error();
    if (!read_mask(elab, call, indices, count, &mask))
        return value_error();
    return value_expr(elab_load(elab, buffer, indices, count, mask, call->span), call->span);
}

static Value store(Elab *elab, const Call *call, Buffer *buffer, const Value *at, bool widens)
{
    const Expr **indices, *mask;
    const Value *value = call_arg(call, "value");
    int count;
    if (!buffer || !read_indices(elab, at, &indices, &count))
        return value_error();
    const Expr *lanes = widens && (value->kind == VALUE_EXPR || value->kind == VALUE_REGION) ? value_to_expr(elab, value) : NULL;
    if (lanes && lanes->dtype.lanes > buffer->dtype.lanes && !widen_index(elab, buffer, lanes->dtype, indices, count, call->span))
        return value_error();
    if (!read_mask(elab, call, indices, count, &mask))
        return value_error();
    if (!elab->frame) {
        diag_error(elab->ctx, call->span, "a store can only stand in a function");
        return value_error();
    }
    elab_store(elab, buffer, indices, count, value, mask, call->span);
    return value_none(call->span);
}

Value builtin_vstore(Elab *elab, const Call *call)
{
    return store(elab, call, value_to_buffer(elab, call->object), call_arg(call, "begin"), true);
}

Value builtin_buffer_store(Elab *elab, const Call *call)
{
    return store(elab, call, value_to_buffer(elab, call_arg(call, "buffer")), call_arg(call, "indices"), false);
}

Value builtin_buffer_load(Elab *elab, const Call *call)
{
    Buffer *buffer = value_to_buffer(elab, call_arg(call, "buffer"));
    const Expr **indices, *mask;
    int count;
    if (!buffer || !read_indices(elab, call_arg(call, "indices"), &indices, &count) || !read_mask(elab, call, indices, count, &mask))
        return value_error();
    return value_expr(elab_load(elab, buffer, indices, count, mask, call->span), call->span);
}

Value builtin_buffer_scope(Elab *elab, const Call *call)
{
    Buffer *buffer = value_to_buffer(elab, call->object);
    return buffer ? value_string(buffer->scope, call->span) : value_error();
}

/* --- the older forms on pointers --- */

/* The flat buffer that the pointer belongs to. */
static Buffer *buffer_of_pointer(Elab *elab, const Call *call)
{
    const Expr *pointer = value_to_expr(elab, call_arg(call, "var"));
    if (!pointer)
        return NULL;
    Buffer *buffer = pointer->kind == EXPR_VAR ? map_get(&elab->buffers, pointer->value.var) : NULL;
    if (buffer && buffer->ndim == 1)
        return buffer;
    diag_error(elab->ctx, call->span,
               "%s needs the pointer of a flat buffer; declare one with T.Buffer((size,), \"float32\", data=pointer)", call->builtin->name);
    return NULL;
}

Value builtin_old_load(Elab *elab, const Call *call)
{
    Buffer *buffer = buffer_of_pointer(elab, call);
    const Expr **indices, *mask;
    int count;
    DType dtype;
    if (!buffer || !value_to_dtype(elab, call_arg(call, "dtype"), &dtype) ||
        !read_indices(elab, call_arg(call, "index"), &indices, &count) || !read_mask(elab, call, indices, count, &mask))
        return value_error();
    if (!widen_index(elab, buffer, dtype, indices, count, call->span))
        return value_error();
    return value_expr(elab_load(elab, buffer, indices, count, mask, call->span), call->span);
}

Value builtin_old_store(Elab *elab, const Call *call)
{
    return store(elab, call, buffer_of_pointer(elab, call), call_arg(call, "index"), true);
}
