/* Subscripts and attributes: elements, slices and regions of buffers, A.data, A.strides[0], items of tuples; see elab.h. */
#include "ir/linear_sum.h"
#include "parser/elab.h"

/* --- checks --- */

static bool check_index(Elab *elab, const Buffer *buffer, const Expr *index, int dim, bool is_last, Span span)
{
    Context *ctx = elab->ctx;
    if (!dtype_is_integer(index->dtype)) {
        diag_error(ctx, span, "index %d of '%s' must be an integer, not %s", dim, buffer->name, expr_type_name(ctx, index));
        return false;
    }
    if (index->dtype.lanes > 1 && !is_last) {
        diag_error(ctx, span, "only the last index of '%s' may be a vector", buffer->name);
        return false;
    }
    if (buffer->dtype.lanes > 1 && (dtype_is_scalable(index->dtype) || (dtype_is_scalable(buffer->dtype) && index->dtype.lanes > 1))) {
        diag_error(ctx, span, "the elements of '%s' are vectors, of which a scalable vector cannot be made", buffer->name);
        return false;
    }
    return true;
}

bool elab_check_indices(Elab *elab, const Buffer *buffer, const Expr *const *indices, int count, Span span)
{
    if (count != buffer->ndim) {
        if (map_has(&elab->miscounted, buffer)) /* then the declaration may be what is wrong */
            return false;
        map_set(elab->ctx->arena, &elab->miscounted, buffer, (void *)buffer);
        diag_error(elab->ctx, span, "'%s' has %d dimension%s, but %d %s given", buffer->name, buffer->ndim, buffer->ndim == 1 ? "" : "s",
                   count, count == 1 ? "index is" : "indices are");
        if (buffer->span.file)
            diag_note(elab->ctx, buffer->span, "'%s' is declared here", buffer->name);
        return false;
    }
    for (int i = 0; i < count; i++)
        if (!check_index(elab, buffer, indices[i], i, i == count - 1, indices[i]->span.file ? indices[i]->span : span))
            return false;
    return true;
}

const Expr *elab_load(Elab *elab, Buffer *buffer, const Expr *const *indices, int count, const Expr *mask, Span span)
{
    return elab_check_indices(elab, buffer, indices, count, span) ? expr_load(elab->ctx, buffer, indices, count, mask, span) : NULL;
}

/* --- indices and slices --- */

/* What stands between the brackets of a buffer access. */
typedef struct {
    Value value; /* of a plain index */
    bool is_slice;
    const Expr *begin, *end, *step; /* of a slice; step NULL where it has none */
    Span span;
} Subscript;

static const Expr *slice_bound(Elab *elab, const AstNode *node, const Expr *fallback)
{
    if (!node)
        return fallback;
    Value value = elab_expr(elab, node);
    return value_to_integer(elab, &value, "the bound of a slice");
}

static bool read_slice(Elab *elab, const Buffer *buffer, int dim, const AstNode *node, Subscript *result)
{
    Context *ctx = elab->ctx;
    result->is_slice = true;
    if (dim >= buffer->ndim) {
        diag_error(ctx, node->span, "'%s' has only %d dimension%s", buffer->name, buffer->ndim, buffer->ndim == 1 ? "" : "s");
        return false;
    }
    result->begin = slice_bound(elab, node->as.slice.lower, expr_int(ctx, dtype_scalar(buffer->shape[dim]->dtype), 0));
    result->end = slice_bound(elab, node->as.slice.upper, buffer->shape[dim]);
    result->step = slice_bound(elab, node->as.slice.step, NULL);
    return result->begin && result->end && (result->step || !node->as.slice.step);
}

/* Evaluates INDEX, what stands between the brackets; a starred tuple is spread. */
static bool read_subscripts(Elab *elab, const Buffer *buffer, const AstNode *index, Subscript **subscripts, int *count)
{
    VEC(Subscript) list = {0};
    bool is_tuple = index->kind == AST_TUPLE;
    int items = is_tuple ? index->as.list.count : 1;
    for (int i = 0; i < items; i++) {
        const AstNode *item = is_tuple ? index->as.list.items[i] : index;
        if (item->kind == AST_SLICE) {
            Subscript subscript = {.span = item->span};
            if (!read_slice(elab, buffer, list.count, item, &subscript))
                return false;
            vec_push(elab->ctx->arena, &list, subscript);
            continue;
        }
        bool spread = item->kind == AST_STARRED;
        Value value = elab_expr(elab, spread ? item->as.operand : item);
        ValueList values = spread || value_is_sequence(&value) ? value_items(&value) : (ValueList){&value, 1};
        for (int j = 0; j < values.count; j++) {
            Subscript subscript = {.value = values.items[j], .span = item->span};
            if (subscript.value.kind == VALUE_ERROR)
                return false;
            vec_push(elab->ctx->arena, &list, subscript);
        }
    }
    *subscripts = list.data;
    *count = list.count;
    return true;
}

/* A slice of T.vscale() times *FACTOR elements: from BEGIN to BEGIN and that many more. */
static bool is_scalable_slice(const Expr *begin, const Expr *end, int64_t stride, int64_t *factor)
{
    const Expr *length = expr_is_int(begin, 0) ? end : NULL;
    if (!length && end->kind == EXPR_ADD)
        length = expr_equal(end->args[0], begin) ? end->args[1] : expr_equal(end->args[1], begin) ? end->args[0] : NULL;
    return stride == 1 && length && elab_is_scalable(length, factor) && *factor >= 1 && *factor <= MOST_LANES;
}

/* A slice as the vector index that reaches its elements. */
static const Expr *slice_to_index(Elab *elab, const Subscript *slice)
{
    Context *ctx = elab->ctx;
    const Expr *begin = slice->begin, *step = slice->step ? slice->step : expr_int(ctx, begin->dtype, 1), *end = slice->end;
    int64_t stride, lanes;
    if (!op_match_types(ctx, &begin, &step, slice->span) || !op_match_types(ctx, &begin, &end, slice->span))
        return NULL;
    if (expr_const_int(step, &stride) && is_scalable_slice(begin, end, stride, &lanes))
        return expr_ramp(ctx, begin, op_cast(ctx, begin->dtype, step), (int)lanes + LANES_SCALABLE);
    if (!expr_const_int(step, &stride) || stride <= 0 || !linear_difference(ctx, end, begin, &lanes)) {
        diag_error(ctx, slice->span, "a slice used as a value needs a constant length and a positive constant step");
        return NULL;
    }
    lanes = lanes <= 0 ? 0 : (lanes - 1) / stride + 1;
    if (lanes == 1)
        return begin;
    if (lanes < 1 || lanes > MOST_LANES) {
        diag_error(ctx, slice->span, "a slice used as a value must hold 1 to %d elements, not %lld", MOST_LANES, (long long)lanes);
        return NULL;
    }
    return expr_ramp(ctx, begin, op_cast(ctx, begin->dtype, step), (int)lanes);
}

static bool subscripts_to_indices(Elab *elab, const Subscript *subscripts, int count, const Expr ***indices)
{
    *indices = ARENA_ARRAY(elab->ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++) {
        const Expr *index = subscripts[i].is_slice ? slice_to_index(elab, &subscripts[i]) : value_to_expr(elab, &subscripts[i].value);
        if (!index)
            return false;
        (*indices)[i] = index->span.file ? index : expr_with_span(elab->ctx, index, subscripts[i].span);
    }
    return true;
}

static Value region_of(Elab *elab, Buffer *buffer, const Subscript *subscripts, int count, Span span)
{
    Context *ctx = elab->ctx;
    Region *region = ARENA_NEW(ctx->arena, Region);
    *region = (Region){buffer, ARENA_ARRAY(ctx->arena, Range, count), span};
    const Expr **begins = ARENA_ARRAY(ctx->arena, const Expr *, count);
    for (int i = 0; i < count; i++) {
        const Subscript *subscript = &subscripts[i];
        begins[i] = subscript->is_slice ? subscript->begin : value_to_integer(elab, &subscript->value, "an index of a region");
        if (!begins[i])
            return value_error();
        if (!subscript->is_slice) {
            region->ranges[i] = range_point(ctx, begins[i]);
            continue;
        }
        const Expr *begin = begins[i], *end = subscript->end;
        int64_t length;
        if (!op_match_types(ctx, &begin, &end, subscript->span))
            return value_error();
        region->ranges[i] = (Range){begin, linear_extent(ctx, begin, end)};
        if (expr_const_int(region->ranges[i].extent, &length) && length < 0) {
            diag_error(ctx, subscript->span, "the slice ends before it begins");
            return value_error();
        }
    }
    if (count != buffer->ndim && !elab_check_indices(elab, buffer, begins, count, span))
        return value_error();
    return (Value){.kind = VALUE_REGION, .span = span, .as.region = region};
}

static Value subscript_buffer(Elab *elab, Buffer *buffer, const AstNode *node)
{
    Subscript *subscripts;
    int count;
    const Expr **indices;
    bool sliced = false, stepped = false;
    if (!read_subscripts(elab, buffer, node->as.subscript.index, &subscripts, &count))
        return value_error();
    for (int i = 0; i < count; i++) {
        sliced |= subscripts[i].is_slice;
        stepped |= subscripts[i].step != NULL;
    }
    if (sliced && !stepped)
        return region_of(elab, buffer, subscripts, count, node->span);
    if (!subscripts_to_indices(elab, subscripts, count, &indices))
        return value_error();
    return value_expr(elab_load(elab, buffer, indices, count, NULL, node->span), node->span);
}

bool elab_store_indices(Elab *elab, Buffer *buffer, const AstNode *index, const Expr ***indices, int *count)
{
    Subscript *subscripts;
    return read_subscripts(elab, buffer, index, &subscripts, count) && subscripts_to_indices(elab, subscripts, *count, indices);
}

/* --- items of tuples --- */

static bool slice_end(Elab *elab, const AstNode *node, int64_t fallback, int64_t count, int64_t *result)
{
    *result = fallback;
    if (node) {
        Value value = elab_expr(elab, node);
        if (!value_to_int(elab, &value, "the bound of a slice", result))
            return false;
    }
    if (*result < 0)
        *result += count;
    *result = *result < 0 ? 0 : *result > count ? count : *result;
    return true;
}

static Value subscript_sequence(Elab *elab, const Value *sequence, const AstNode *node)
{
    const AstNode *index = node->as.subscript.index;
    int64_t count = sequence->as.list.count, first, last;
    if (index->kind == AST_SLICE) {
        if (index->as.slice.step) {
            diag_error(elab->ctx, index->span, "a slice of a tuple takes no step here");
            return value_error();
        }
        if (!slice_end(elab, index->as.slice.lower, 0, count, &first) || !slice_end(elab, index->as.slice.upper, count, count, &last))
            return value_error();
        return value_tuple(elab, sequence->as.list.items + first, (int)(last > first ? last - first : 0), node->span);
    }
    Value value = elab_expr(elab, index);
    if (!value_to_int(elab, &value, "the index of a tuple", &first))
        return value_error();
    if (first < -count || first >= count) {
        diag_error(elab->ctx, node->span, "the index %lld is out of range; there %s %lld item%s", (long long)first,
                   count == 1 ? "is" : "are", (long long)count, count == 1 ? "" : "s");
        return value_error();
    }
    Value item = sequence->as.list.items[first < 0 ? first + count : first];
    item.span = node->span;
    return item;
}

bool elab_report_handle(Elab *elab, const AstNode *base, const Value *value, Span span)
{
    if (value->kind != VALUE_EXPR || value->as.expr->kind != EXPR_VAR || value->as.expr->dtype.code != DT_HANDLE)
        return false;
    const char *name = value->as.expr->value.var->name;
    diag_error(elab->ctx, span, "'%s' is a handle, which has no elements; a buffer has: A = T.match_buffer(%s, (n,), \"float32\")", name, name);
    if (base->kind == AST_NAME)
        scope_forget(elab, base->as.name);
    return true;
}

Value elab_subscript(Elab *elab, const AstNode *node)
{
    Value entry;
    if (elab_metadata_entry(elab, node, &entry))
        return entry;
    Value base = elab_expr(elab, node->as.subscript.value);
    switch (base.kind) {
    case VALUE_ERROR: return base;
    case VALUE_BUFFER: return subscript_buffer(elab, base.as.buffer, node);
    case VALUE_TUPLE:
    case VALUE_LIST: return subscript_sequence(elab, &base, node);
    case VALUE_BUILTIN: return elab_builtin_subscript(elab, &base, node);
    default:
        if (!elab_report_handle(elab, node->as.subscript.value, &base, node->span))
            diag_error(elab->ctx, node->span, "%s cannot be indexed", value_kind_name(base.kind));
        return value_error();
    }
}

/* --- attributes --- */

static Value exprs_to_tuple(Elab *elab, const Expr *const *exprs, int count, Span span)
{
    Value *items = ARENA_ARRAY(elab->ctx->arena, Value, count);
    for (int i = 0; i < count; i++)
        items[i] = value_expr(exprs[i], span);
    return value_tuple(elab, items, count, span);
}

static Value buffer_strides(Elab *elab, const Buffer *buffer, Span span)
{
    if (buffer->strides)
        return exprs_to_tuple(elab, buffer->strides, buffer->ndim, span);
    diag_error(elab->ctx, span, "'%s' states no strides", buffer->name);
    return value_error();
}

/* The attribute of a buffer that is no method; VALUE_ABSENT when there is none. */
static Value buffer_attribute(Elab *elab, Buffer *buffer, Str name, Span span)
{
    if (!strcmp(name, "data"))
        return value_expr(expr_var_at(elab->ctx, buffer->data, span), span);
    if (!strcmp(name, "shape"))
        return exprs_to_tuple(elab, buffer->shape, buffer->ndim, span);
    if (!strcmp(name, "strides"))
        return buffer_strides(elab, buffer, span);
    if (!strcmp(name, "elem_offset"))
        return value_expr(buffer->elem_offset, span);
    if (!strcmp(name, "dtype"))
        return value_string(context_intern(elab->ctx, dtype_name(elab->ctx, buffer->dtype)), span);
    return (Value){.kind = VALUE_ABSENT};
}

static Value method_of(Elab *elab, const Value *object, const char *type, const AstNode *node)
{
    Str name = node->as.attribute.name;
    const Builtin *builtin = map_get(&elab->builtins, context_internf(elab->ctx, "%s.%s", type, name));
    if (builtin) {
        Value method = {.kind = VALUE_METHOD, .span = node->span};
        method.as.method.builtin = builtin;
        method.as.method.object = arena_copy(elab->ctx->arena, object, sizeof *object);
        return method;
    }
    static const char *const known[] = {"data",       "shape", "strides", "elem_offset", "dtype",
                                        "access_ptr", "vload", "vstore",  "scope",       "view",  "astype"};
    const char *closest = diag_closest(name, known, sizeof known / sizeof *known);
    if (ast_is_path(node->as.attribute.value, "T")) {
        diag_error(elab->ctx, node->as.attribute.value->span, "'T' is %s here, whose definition hides the names of the language",
                   value_kind_name(object->kind));
        scope_forget(elab, node->as.attribute.value->as.name);
    } else if (closest)
        diag_error(elab->ctx, node->as.attribute.name_span, "%s has no attribute '%s'; did you mean '%s'?", value_kind_name(object->kind),
                   name, closest);
    else
        diag_error(elab->ctx, node->as.attribute.name_span, "%s has no attribute '%s'", value_kind_name(object->kind), name);
    return value_error();
}

Value elab_attribute(Elab *elab, const AstNode *node)
{
    Value base = elab_expr(elab, node->as.attribute.value);
    Str name = node->as.attribute.name;
    switch (base.kind) {
    case VALUE_ERROR: return base;
    case VALUE_NAMESPACE: return elab_namespace_name(elab, base.as.text, name, node->span);
    case VALUE_BUFFER: {
        Value value = buffer_attribute(elab, base.as.buffer, name, node->span);
        return value.kind == VALUE_ABSENT ? method_of(elab, &base, "Buffer", node) : value;
    }
    case VALUE_REGION:
    case VALUE_EXPR:
        if ((!strcmp(name, "dtype") || !strcmp(name, "ty")) && base.kind == VALUE_EXPR)
            return value_string(context_intern(elab->ctx, dtype_name(elab->ctx, base.as.expr->dtype)), node->span);
        return method_of(elab, &base, "Expr", node);
    default: return method_of(elab, &base, "", node);
    }
}
