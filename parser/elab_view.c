/* A.view(...): the memory of a buffer in another shape or as elements of another type, as releases since 0.27 print it; see elab.h. */
#include "parser/elab.h"

static const Expr *element_count(Elab *elab, const Expr *const *shape, int ndim, int without)
{
    const Expr *product = NULL;
    for (int i = 0; i < ndim; i++)
        if (i != without)
            product = product ? op_mul(elab->ctx, product, shape[i]) : shape[i];
    return product ? product : expr_int(elab->ctx, DTYPE_INT32, 1);
}

/* VIEW, a copy of its source, gets the dimensions ITEMS, of which one may be -1: what the others leave. */
static bool reshape(Elab *elab, Buffer *view, const Value *items)
{
    const Expr **shape;
    int ndim, open = -1;
    int64_t extent;
    if (!value_to_integers(elab, items, "a dimension of the view", &shape, &ndim))
        return false;
    for (int i = 0; i < ndim; i++)
        if (expr_const_int(shape[i], &extent) && extent == -1)
            open = i;
    if (open >= 0)
        shape[open] = op_binary(elab->ctx, EXPR_FLOORDIV, element_count(elab, view->shape, view->ndim, -1),
                                element_count(elab, shape, ndim, open), span_none());
    view->shape = shape;
    view->ndim = ndim;
    return true;
}

/* VIEW, a copy of its source, gets elements of TYPE: the last dimension has as many bits as before. */
static bool retype(Elab *elab, Buffer *view, const Value *type)
{
    DType dtype;
    if (!value_to_dtype(elab, type, &dtype))
        return false;
    int old_bits = view->dtype.bits * view->dtype.lanes, new_bits = dtype.bits * dtype.lanes;
    const Expr **shape = arena_copy(elab->ctx->arena, view->shape, (size_t)view->ndim * sizeof *view->shape);
    if (old_bits != new_bits && view->ndim) {
        const Expr *bits = op_mul(elab->ctx, shape[view->ndim - 1], expr_int(elab->ctx, buffer_index_dtype(view), old_bits));
        shape[view->ndim - 1] = op_binary(elab->ctx, EXPR_FLOORDIV, bits, expr_int(elab->ctx, bits->dtype, new_bits), span_none());
    }
    view->shape = shape;
    view->dtype = dtype;
    return true;
}

Value builtin_buffer_view(Elab *elab, const Call *call)
{
    Value sizes = value_tuple(elab, call->rest.items, call->rest.count, call->span), *items = &sizes;
    if (call->object->kind != VALUE_BUFFER)
        return value_error();
    const Buffer *source = call->object->as.buffer;
    if (!elab->frame || source->strides || !expr_is_int(source->elem_offset, 0)) {
        diag_error(elab->ctx, call->span, elab->frame ? "only a buffer whose elements lie densely from its pointer on has a view"
                                                      : "a view can only stand in a function");
        return value_error();
    }
    Buffer *view = buffer_clone(elab->ctx, source);
    view->axis_separators = NULL;
    view->axis_separator_count = 0;
    view->span = call->span;
    bool retyped = call->rest.count == 1 && call->rest.items[0].kind == VALUE_STRING;
    if (retyped ? !retype(elab, view, &call->rest.items[0]) : !reshape(elab, view, items))
        return value_error();
    elab_declare_buffer(elab, view);
    Value result = value_buffer(view, call->span);
    result.fresh = true;
    Stmt layer = {.kind = STMT_DECL_BUFFER, .span = call->span, .as.declare = {.buffer = view, .explicit_declaration = true}};
    return value_wrapper(elab, &layer, 1, result, call->span);
}
