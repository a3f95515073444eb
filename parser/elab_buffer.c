/* Declarations of buffers: T.Buffer, T.match_buffer, T.alloc_buffer, T.decl_buffer; see elab.h. All take the same description of a
   layout. */
#include <string.h>

#include "ir/elements.h"
#include "parser/elab.h"

void elab_declare_buffer(Elab *elab, Buffer *buffer)
{
    if (!map_has(&elab->buffers, buffer->data))
        map_set(elab->ctx->arena, &elab->buffers, buffer->data, buffer);
}

/* --- the description --- */

static bool check_shape(Elab *elab, const Expr *const *shape, int ndim, Span span)
{
    int64_t extent;
    for (int i = 0; i < ndim; i++)
        if (expr_const_int(shape[i], &extent) && extent < 0) {
            diag_error(elab->ctx, shape[i]->span.file ? shape[i]->span : span, "dimension %d of the shape is negative (%lld)", i,
                       (long long)extent);
            return false;
        }
    return true;
}

static bool read_data(Elab *elab, const Call *call, Buffer *buffer)
{
    if (!call_has(call, "data"))
        return true;
    const Expr *data = value_to_expr(elab, call_arg(call, "data"));
    if (!data)
        return false;
    if (data->kind != EXPR_VAR || data->dtype.code != DT_HANDLE) {
        diag_error(elab->ctx, call_arg(call, "data")->span, "data must be a pointer variable, such as A.data, not an expression of type %s",
                   dtype_name(elab->ctx, data->dtype));
        return false;
    }
    buffer->data = data->value.var;
    return true;
}

/* The shape SIZES with strings, which name sizes, replaced. */
static Value named_sizes(Elab *elab, const Value *sizes)
{
    if (!value_is_sequence(sizes))
        return elab_named_size(elab, sizes);
    Value named = value_tuple(elab, sizes->as.list.items, sizes->as.list.count, sizes->span);
    for (int i = 0; i < sizes->as.list.count; i++)
        named.as.list.items[i] = elab_named_size(elab, &sizes->as.list.items[i]);
    return named;
}

/* A stride given as a string is a fresh variable of that name. */
static const Expr *read_stride(Elab *elab, const Value *value, DType dtype)
{
    if (value->kind != VALUE_STRING)
        return value_to_integer(elab, value, "a stride");
    Var *var = var_new(elab->ctx, value->as.text, dtype, value->span);
    map_set(elab->ctx->arena, &elab->named_strides, var, var);
    return expr_var(elab->ctx, var);
}

/* The reference prints strides=(1,) of the tables that its cache_index makes, however many dimensions they have: they are compact. */
static bool is_table_stride(const Call *call, ValueList strides)
{
    return strides.count == 1 && strstr(call->builtin->name, "alloc_buffer") && strides.items[0].kind == VALUE_INT && strides.items[0].as.integer == 1;
}

static bool read_strides(Elab *elab, const Call *call, Buffer *buffer)
{
    const Value *value = call_arg(call, "strides");
    ValueList items = value_items(value);
    if (!call_has(call, "strides") || (value_is_sequence(value) && items.count == 0) || (buffer->ndim > 1 && is_table_stride(call, items)))
        return true;
    if (items.count != buffer->ndim) {
        diag_error(elab->ctx, value->span, "%d stride%s given for %d dimension%s", items.count, items.count == 1 ? " is" : "s are",
                   buffer->ndim, buffer->ndim == 1 ? "" : "s");
        return false;
    }
    buffer->strides = ARENA_ARRAY(elab->ctx->arena, const Expr *, buffer->ndim);
    for (int i = 0; i < buffer->ndim; i++)
        if (!(buffer->strides[i] = read_stride(elab, &items.items[i], buffer_index_dtype(buffer))))
            return false;
    return true;
}

static bool read_alignment(Elab *elab, const Call *call, Buffer *buffer)
{
    int64_t value;
    if (call_has(call, "align")) {
        if (!value_to_int(elab, call_arg(call, "align"), "align", &value))
            return false;
        if (value > (1 << 20) || (value > 0 && (value & (value - 1)))) {
            diag_error(elab->ctx, call_arg(call, "align")->span, "align must be a power of two, up to %d bytes", 1 << 20);
            return false;
        }
        buffer->data_alignment = value > 0 ? (int)value : 0;
    }
    if (!call_has(call, "offset_factor"))
        return true;
    if (!value_to_int(elab, call_arg(call, "offset_factor"), "offset_factor", &value))
        return false;
    if (value < 0 || value > (1 << 20)) {
        diag_error(elab->ctx, call_arg(call, "offset_factor")->span, "offset_factor must be from 0 to %d", 1 << 20);
        return false;
    }
    buffer->offset_factor = (int)value;
    return true;
}

/* An offset that is not given but has a factor is a variable of the declaration. */
static bool read_offset(Elab *elab, const Call *call, Buffer *buffer)
{
    DType dtype = buffer_index_dtype(buffer);
    if (call_has(call, "elem_offset")) {
        const Expr *offset = value_to_integer(elab, call_arg(call, "elem_offset"), "elem_offset");
        if (offset)
            buffer->elem_offset = offset;
        bool unnamed = offset && offset->kind == EXPR_VAR && call_arg(call, "elem_offset")->fresh;
        if (!unnamed)
            return offset != NULL;
        dtype = offset->dtype;
    } else if (buffer->offset_factor == 0) {
        return true;
    }
    Var *var = var_new(elab->ctx, context_intern(elab->ctx, "elem_offset"), dtype, call->span);
    var->unnamed = true;
    buffer->elem_offset = expr_var(elab->ctx, var);
    return true;
}

static bool read_kind(Elab *elab, const Call *call, Buffer *buffer)
{
    if (call_has(call, "buffer_type")) {
        Str kind = value_to_string(elab, call_arg(call, "buffer_type"), "buffer_type");
        if (!kind)
            return false;
        if (*kind && strcmp(kind, "auto") && strcmp(kind, "default")) {
            diag_error(elab->ctx, call_arg(call, "buffer_type")->span, "buffer_type must be \"default\" or \"auto\"");
            return false;
        }
        buffer->auto_broadcast = !strcmp(kind, "auto");
    }
    if (!call_has(call, "axis_separators"))
        return true;
    ValueList items = value_items(call_arg(call, "axis_separators"));
    int *separators = ARENA_ARRAY(elab->ctx->arena, int, items.count);
    for (int i = 0; i < items.count; i++) {
        int64_t axis;
        if (!value_to_int(elab, &items.items[i], "an axis separator", &axis))
            return false;
        if (axis < (i ? separators[i - 1] : 0) || axis > buffer->ndim) {
            diag_error(elab->ctx, items.items[i].span, "axis separators must be ascending, from 0 to %d", buffer->ndim);
            return false;
        }
        separators[i] = (int)axis;
    }
    buffer->axis_separators = separators;
    buffer->axis_separator_count = items.count;
    return true;
}

/* The buffer that CALL describes, fresh; SHAPE and DTYPE are read already. NULL after a diagnostic. */
static Buffer *describe(Elab *elab, const Call *call, const Expr *const *shape, int ndim, DType dtype)
{
    Context *ctx = elab->ctx;
    static const char *const of_name[] = {"global", "local", "shared"}; /* T.alloc_local, T.alloc_shared */
    Str scope = context_intern(ctx, of_name[call->builtin->variant]);
    if (call_has(call, "scope") && !(scope = value_to_scope(elab, call_arg(call, "scope"))))
        return NULL;
    if (!check_shape(elab, shape, ndim, call->span))
        return NULL;
    if (dtype.code == DT_VOID) {
        diag_error(ctx, call->span, "a buffer cannot hold elements of type void");
        return NULL;
    }
    Buffer *buffer =
        buffer_new(ctx, context_intern(ctx, ""), dtype, ndim, shape, *scope ? scope : context_intern(ctx, "global"), call->span);
    bool good = read_data(elab, call, buffer) && read_strides(elab, call, buffer) && read_alignment(elab, call, buffer) &&
                read_offset(elab, call, buffer) && read_kind(elab, call, buffer);
    return good ? buffer : NULL;
}

static bool read_dtype(Elab *elab, const Call *call, DType *dtype)
{
    *dtype = DTYPE_FLOAT32;
    return !call_has(call, "dtype") || value_to_dtype(elab, call_arg(call, "dtype"), dtype);
}

static Buffer *read_buffer(Elab *elab, const Call *call)
{
    const Expr **shape;
    int ndim;
    DType dtype;
    Value sizes = named_sizes(elab, call_arg(call, "shape"));
    if (!value_to_integers(elab, &sizes, "a dimension of the shape", &shape, &ndim) || !read_dtype(elab, call, &dtype))
        return NULL;
    return describe(elab, call, shape, ndim, dtype);
}

static Value fresh_buffer(Buffer *buffer, Span span)
{
    Value value = value_buffer(buffer, span);
    value.fresh = true;
    return value;
}

/* --- T.Buffer, T.alloc_buffer, T.decl_buffer --- */

static Stmt declaration(Buffer *buffer, bool is_explicit, Span span)
{
    return (Stmt){.kind = STMT_DECL_BUFFER, .span = span, .as.declare = {.buffer = buffer, .explicit_declaration = is_explicit}};
}

/* In a signature a parameter, in a body a view of memory that exists. */
Value builtin_buffer(Elab *elab, const Call *call)
{
    Buffer *buffer = read_buffer(elab, call);
    if (!buffer)
        return value_error();
    Value value = fresh_buffer(buffer, call->span);
    if (!elab->frame)
        return value;
    if (!call_has(call, "data")) {
        diag_error(elab->ctx, call->span,
                   "T.Buffer in a body needs data=, the memory that it shows; T.alloc_buffer makes memory of its own");
        return value_error();
    }
    elab_declare_buffer(elab, buffer);
    Stmt layer = declaration(buffer, false, call->span);
    return value_wrapper(elab, &layer, 1, value, call->span);
}

/* The elements up to the last one of BUFFER, which states strides or an offset, as the extent of its memory. */
static const Expr *strided_span(Context *ctx, const Buffer *buffer)
{
    DType dtype = buffer_index_dtype(buffer);
    if (buffer_is_empty(buffer))
        return expr_int(ctx, dtype, 0);
    const Expr *span = op_add(ctx, op_cast(ctx, dtype, buffer->elem_offset), expr_int(ctx, dtype, 1)), *stride = expr_int(ctx, dtype, 1);
    for (int i = buffer->ndim - 1; i >= 0; i--) {
        const Expr *extent = op_cast(ctx, dtype, buffer->shape[i]), *last = op_sub(ctx, extent, expr_int(ctx, dtype, 1));
        span = op_add(ctx, span, op_mul(ctx, last, buffer->strides ? op_cast(ctx, dtype, buffer->strides[i]) : stride));
        stride = op_mul(ctx, stride, extent);
    }
    return span;
}

void elab_allocation_layers(Elab *elab, Buffer *buffer, Attrs annotations, Stmt layers[2])
{
    layers[0] = (Stmt){.kind = STMT_ALLOCATE, .span = buffer->span};
    layers[1] = declaration(buffer, true, buffer->span);
    layers[0].as.allocate.var = buffer->data;
    layers[0].as.allocate.dtype = buffer->dtype;
    layers[0].as.allocate.extents = buffer->shape;
    layers[0].as.allocate.extent_count = buffer->ndim;
    if (!buffer_is_dense(buffer) || !expr_is_int(buffer->elem_offset, 0)) {
        const Expr *span = strided_span(elab->ctx, buffer);
        layers[0].as.allocate.extents = arena_copy(elab->ctx->arena, &span, sizeof span);
        layers[0].as.allocate.extent_count = 1;
    }
    layers[0].as.allocate.scope = buffer->scope;
    layers[0].as.allocate.condition = expr_bool(elab->ctx, true);
    layers[0].as.allocate.annotations = annotations;
}

/* Memory of its own begins at 0. */
static void begin_at_zero(Elab *elab, Buffer *buffer)
{
    if (buffer->elem_offset->kind == EXPR_VAR && buffer->elem_offset->value.var->unnamed)
        buffer->elem_offset = expr_int(elab->ctx, buffer->elem_offset->dtype, 0);
}

/* The allocation of BUFFER and its declaration, around what follows. */
static Value allocation(Elab *elab, Buffer *buffer, Attrs annotations, Span span)
{
    Stmt layers[2];
    elab_declare_buffer(elab, buffer);
    elab_allocation_layers(elab, buffer, annotations, layers);
    return value_wrapper(elab, layers, 2, fresh_buffer(buffer, span), span);
}

enum { ALLOCATION_ALIGNMENT = 64 }; /* bytes, of memory that says nothing */

/* What an allocation says about its memory beside its buffer: the alignment is the buffer's, an address list without entries is nothing. */
static bool read_memory_annotations(Elab *elab, const Call *call, Buffer *buffer, Attrs *annotations)
{
    if (call_has(call, "annotations") && !value_to_attrs(elab, call_arg(call, "annotations"), "the annotations", annotations))
        return false;
    const AttrValue *align = attrs_get(*annotations, "buffer_data_alignment"), *address = attrs_get(*annotations, "buffer_allocated_addr");
    int64_t bytes;
    if (align && align->kind == ATTR_EXPR && expr_const_int(align->expr, &bytes) && bytes > 0 && bytes <= 4096) {
        buffer->data_alignment = bytes == ALLOCATION_ALIGNMENT ? buffer->data_alignment : (int)bytes;
        *annotations = attrs_remove(elab->ctx, *annotations, "buffer_data_alignment");
    }
    if (address && address->kind == ATTR_LIST && address->count == 0)
        *annotations = attrs_remove(elab->ctx, *annotations, "buffer_allocated_addr");
    return true;
}

Value builtin_alloc_buffer(Elab *elab, const Call *call)
{
    Frame *block = frame_enclosing_block(elab);
    Buffer *buffer = read_buffer(elab, call);
    Attrs annotations = {0};
    if (!buffer || (call_has(call, "annotations") && !read_memory_annotations(elab, call, buffer, &annotations)))
        return value_error();
    bool nested = elab->frame && !block && elab->frame->kind != FRAME_FUNC;
    bool statement = elab->func && elab->func->newest && strcmp(call->builtin->name, "T.sblock_alloc_buffer") != 0;
    if (elab->frame && !block && statement && !call_has(call, "data")) {
        begin_at_zero(elab, buffer);
        if (!nested)
            vec_push(elab->ctx->arena, &elab->func->root_allocs, buffer);
        return allocation(elab, buffer, annotations, call->span);
    }
    if (!elab->frame || nested) {
        diag_error(elab->ctx, call->span, "%s must stand in a block or at the top of a function", call->builtin->name);
        return value_error();
    }
    if (call_has(call, "data")) {
        diag_error(elab->ctx, call_arg(call, "data")->span, "%s makes its own memory; T.Buffer(..., data=...) shows existing memory",
                   call->builtin->name);
        return value_error();
    }
    begin_at_zero(elab, buffer);
    /* lowering makes a statement around all others of each allocation */
    if (!frame_allows(elab, 1, call->span))
        return value_error();
    elab->frame->depth++;
    if (block)
        vec_push(elab->ctx->arena, &block->block->allocs, buffer);
    else {
        vec_push(elab->ctx->arena, &elab->func->root_allocs, buffer);
        elab->func->holds_blocks = true; /* memory of the root block, also where it holds no other */
    }
    elab_declare_buffer(elab, buffer);
    return fresh_buffer(buffer, call->span);
}

/* Without data the declaration allocates as well. */
Value builtin_decl_buffer(Elab *elab, const Call *call)
{
    Buffer *buffer = read_buffer(elab, call);
    if (!buffer)
        return value_error();
    if (!call_has(call, "data"))
        return allocation(elab, buffer, (Attrs){0}, call->span);
    elab_declare_buffer(elab, buffer);
    Stmt layer = declaration(buffer, true, call->span);
    return value_wrapper(elab, &layer, 1, fresh_buffer(buffer, call->span), call->span);
}

/* --- T.match_buffer --- */

/* The parameter that HANDLE is, not matched yet; NULL after a diagnostic. */
static Param *find_param(Elab *elab, const Expr *handle, Span span)
{
    for (int i = 0; elab->func && i < elab->func->params.count; i++) {
        Param *param = &elab->func->params.data[i];
        if (!expr_is_var(handle, param->param))
            continue;
        if (!param->buffer)
            return param;
        diag_error(elab->ctx, span, "the parameter '%s' is matched already", param->param->name);
        diag_note(elab->ctx, param->buffer->span, "'%s' is matched here", param->param->name);
        return NULL;
    }
    diag_error(elab->ctx, span, "T.match_buffer takes a handle parameter of the function or a region of a buffer");
    return NULL;
}

static Value match_param(Elab *elab, const Call *call, const Expr *handle)
{
    Span span = call_arg(call, "param")->span;
    if (handle->dtype.code != DT_HANDLE) {
        diag_error(elab->ctx, span, "T.match_buffer takes a handle parameter or a region of a buffer, not an expression of type %s",
                   dtype_name(elab->ctx, handle->dtype));
        return value_error();
    }
    if (!elab->frame || elab->frame->kind != FRAME_FUNC || elab->frame->enclosing > 0) {
        diag_error(elab->ctx, call->span, "a parameter can only be matched at the top of its function");
        return value_error();
    }
    if (!call_has(call, "shape")) {
        diag_error(elab->ctx, call->span, "T.match_buffer of a parameter misses the argument 'shape'");
        return value_error();
    }
    Param *param = find_param(elab, handle, span);
    Buffer *buffer = param ? read_buffer(elab, call) : NULL;
    if (!buffer)
        return value_error();
    param->buffer = buffer;
    param->matched = true;
    elab_declare_buffer(elab, buffer);
    return fresh_buffer(buffer, call->span);
}

/* A view must be like its source in type and scope, and its shape the last extents of the region; the others are points. */
static bool check_view(Elab *elab, const Buffer *view, const Region *source, Span span)
{
    Context *ctx = elab->ctx;
    int extra = source->buffer->ndim - view->ndim;
    if (!dtype_equal(view->dtype, source->buffer->dtype)) {
        diag_error(ctx, span, "the view is of %s, but '%s' of %s", dtype_name(ctx, view->dtype), source->buffer->name,
                   dtype_name(ctx, source->buffer->dtype));
        return false;
    }
    if (view->scope != source->buffer->scope) {
        diag_error(ctx, span, "the view is in scope \"%s\", but '%s' in \"%s\"", view->scope, source->buffer->name, source->buffer->scope);
        return false;
    }
    if (extra < 0) {
        diag_error(ctx, span, "the view has %d dimensions, but the region only %d", view->ndim, source->buffer->ndim);
        return false;
    }
    for (int i = 0; i < source->buffer->ndim; i++) {
        int64_t wanted = 1, extent;
        bool known = i < extra || expr_const_int(view->shape[i - extra], &wanted);
        if (known && expr_const_int(source->ranges[i].extent, &extent) && extent != wanted) {
            diag_error(ctx, span, "dimension %d of the region has the extent %lld, but the view %lld", i, (long long)extent,
                       (long long)wanted);
            return false;
        }
    }
    return true;
}

static Buffer *read_view(Elab *elab, const Call *call, const Region *source)
{
    Context *ctx = elab->ctx;
    if (call_has(call, "shape"))
        return read_buffer(elab, call);
    const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, source->buffer->ndim);
    for (int i = 0; i < source->buffer->ndim; i++)
        shape[i] = source->ranges[i].extent;
    return describe(elab, call, shape, source->buffer->ndim, source->buffer->dtype);
}

static Value match_region(Elab *elab, const Call *call)
{
    Frame *frame = frame_require_block(elab, call);
    const Region *source = frame ? value_to_region(elab, call_arg(call, "param")) : NULL;
    Buffer *view = source ? read_view(elab, call, source) : NULL;
    if (!view || !check_view(elab, view, source, call->span))
        return value_error();
    MatchBuffer match = {view, *source};
    vec_push(elab->ctx->arena, &frame->block->matches, match);
    elab_declare_buffer(elab, view);
    return fresh_buffer(view, call->span);
}

Value builtin_match_buffer(Elab *elab, const Call *call)
{
    const Value *param = call_arg(call, "param");
    if (param->kind == VALUE_EXPR && param->as.expr->kind != EXPR_LOAD)
        return match_param(elab, call, param->as.expr);
    bool region = param->kind == VALUE_REGION || param->kind == VALUE_BUFFER || param->kind == VALUE_EXPR;
    if (!region && elab->frame && elab->frame->kind == FRAME_FUNC) {
        diag_error(elab->ctx, param->span, "T.match_buffer takes a parameter of type T.handle here, and then its shape; %s is none",
                   value_kind_name(param->kind));
        return value_error();
    }
    return match_region(elab, call);
}
