/* Subscripts, attributes and methods of arrays. */
#include "script/nd_array.h"

#include <math.h>
#include <string.h>

#include "script/te.h"

/* --- subscripts --- */

/* Takes SLICE of dimension D of SOURCE, which becomes dimension AT of VIEW. */
static bool take_slice(Script *script, const NdArray *source, int d, const AstNode *slice, NdArray *view, int64_t *offset)
{
    SliceRange range;
    if (!script_resolve_slice(script, slice, source->shape[d], &range))
        return false;
    view->shape[view->ndim] = range.count;
    view->strides[view->ndim++] = source->strides[d] * range.step;
    *offset += range.count ? range.first * source->strides[d] : 0;
    return true;
}

static bool take_index(Script *script, const NdArray *source, int d, const AstNode *node, int64_t *offset)
{
    Value value;
    if (!script_eval(script, node, &value))
        return false;
    if (value.kind != VALUE_INT)
        return script_error(script, node->span, "an index of an array is an int or a slice, not %s", script_type_phrase(script, value));
    int64_t index = value.as.integer < 0 ? value.as.integer + source->shape[d] : value.as.integer;
    if (index < 0 || index >= source->shape[d])
        return script_error(script, node->span, "index %lld is out of bounds: dimension %d has %lld elements", (long long)value.as.integer, d, (long long)source->shape[d]);
    *offset += index * source->strides[d];
    return true;
}

static Value element(const NdArray *array)
{
    double value = nd_get(array, 0);
    if (dtype_is_float(array->dtype))
        return (Value){.kind = VALUE_FLOAT, .as.real = value};
    if (array->dtype.code == DT_BOOL)
        return (Value){.kind = VALUE_BOOL, .as.boolean = value != 0};
    return (Value){.kind = VALUE_INT, .as.integer = (int64_t)value};
}

/* The part of ARRAY that INDEX names, as a view. */
static bool select(Script *script, const NdArray *array, const AstNode *index, NdArray *view)
{
    const AstList one = {.items = &index, .count = 1}, *list = index->kind == AST_TUPLE ? &index->as.list : &one;
    int64_t offset = 0;
    *view = *array;
    view->ndim = 0;
    if (list->count > array->ndim)
        return script_error(script, index->span, "an array of %d dimensions has no %d indices", array->ndim, list->count);
    for (int d = 0; d < array->ndim; d++) {
        const AstNode *node = d < list->count ? list->items[d] : NULL;
        if (!node) {
            view->shape[view->ndim] = array->shape[d];
            view->strides[view->ndim++] = array->strides[d];
        } else if (node->kind == AST_SLICE ? !take_slice(script, array, d, node, view, &offset) : !take_index(script, array, d, node, &offset))
            return false;
    }
    view->data += offset * (array->dtype.code == DT_BOOL ? 1 : array->dtype.bits / 8);
    return true;
}

bool nd_index(Script *script, const NdArray *array, const AstNode *index, Value *result)
{
    NdArray view;
    if (!select(script, array, index, &view))
        return false;
    bool whole = index->kind != AST_TUPLE && index->kind != AST_SLICE;
    *result = view.ndim || (whole && array->ndim > 1) ? nd_value(script, arena_copy(script->ctx->arena, &view, sizeof view)) : element(&view);
    return true;
}

bool nd_assign(Script *script, const NdArray *array, Value value, Span span)
{
    const NdArray *source;
    if (!nd_from_value(script, value, (DType){0}, span, &source))
        return false;
    if (nd_overlap(array, source))
        source = nd_copy(script, source, source->dtype, span);
    source = source ? nd_broadcast_to(script, source, array->ndim, array->shape, span) : NULL;
    const NdArray *both[] = {array, source};
    int64_t indices[ND_MOST_DIMS] = {0}, offsets[2] = {0};
    if (source && nd_count(array))
        do
            nd_set(array, offsets[0], nd_get(source, offsets[1]));
        while (nd_next(both, 2, indices, offsets));
    return source != NULL;
}

bool nd_assign_item(Script *script, const NdArray *array, const AstNode *target, Value value)
{
    NdArray view;
    return select(script, array, target->as.subscript.index, &view) && nd_assign(script, &view, value, target->span);
}

/* --- attributes --- */

static const char *const methods[] = {"astype", "copy", "reshape", "numpy", "asnumpy", "sum", "max", "min", "mean", "tolist", "item", "transpose", "flatten", "copyto", "copyfrom"};

static NdArray *transposed(Script *script, const NdArray *array)
{
    NdArray *view = arena_copy(script->ctx->arena, array, sizeof *array);
    for (int d = 0; d < array->ndim; d++) {
        view->shape[d] = array->shape[array->ndim - 1 - d];
        view->strides[d] = array->strides[array->ndim - 1 - d];
    }
    return view;
}

bool nd_attribute(Script *script, const Object *self, Str name, Value *result, bool *found)
{
    const NdArray *array = self->as.array;
    *found = true;
    if (!strcmp(name, "shape")) {
        Value sizes[ND_MOST_DIMS];
        for (int d = 0; d < array->ndim; d++)
            sizes[d] = (Value){.kind = VALUE_INT, .as.integer = array->shape[d]};
        *result = script_list(script, sizes, array->ndim, true);
    } else if (!strcmp(name, "dtype"))
        *result = (Value){.kind = VALUE_STRING, .as.text = context_intern(script->ctx, dtype_name(script->ctx, array->dtype))};
    else if (!strcmp(name, "ndim") || !strcmp(name, "size"))
        *result = (Value){.kind = VALUE_INT, .as.integer = *name == 'n' ? array->ndim : nd_count(array)};
    else if (!strcmp(name, "T"))
        *result = nd_value(script, transposed(script, array));
    else {
        *found = false;
        for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
            *found |= !strcmp(methods[i], name);
        *result = script_object(script, (Object){.kind = OBJECT_METHOD, .as.method = {self, name}});
    }
    return true;
}

/* --- methods --- */

static bool reshape(Script *script, const NdArray *array, const Arguments *arguments, Value *result)
{
    Value shape = arguments->positional_count == 1 ? arguments->positional[0]
                                                   : script_list(script, arguments->positional, arguments->positional_count, true);
    int64_t sizes[ND_MOST_DIMS], known = 1;
    int count, open = -1;
    if (!nd_shape(script, shape, arguments->span, &count, sizes))
        return false;
    for (int d = 0; d < count; d++) {
        if (sizes[d] == -1)
            open = d;
        else
            known *= sizes[d];
    }
    if (open >= 0 && known > 0)
        sizes[open] = nd_count(array) / known, known *= sizes[open];
    if (known != nd_count(array))
        return script_error(script, arguments->span, "%s does not have that many elements", nd_describe(script, array));
    const NdArray *compact = nd_copy(script, array, array->dtype, arguments->span);
    NdArray *made = compact ? nd_new(script, array->dtype, count, sizes, arguments->span) : NULL;
    if (made)
        made->data = compact->data, *result = nd_value(script, made);
    return made != NULL;
}

static Value to_list(Script *script, const NdArray *array)
{
    if (!array->ndim)
        return element(array);
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, array->shape[0]);
    NdArray part = *array;
    part.ndim--;
    memmove(part.shape, part.shape + 1, sizeof part.shape - sizeof *part.shape);
    memmove(part.strides, part.strides + 1, sizeof part.strides - sizeof *part.strides);
    for (int64_t i = 0; i < array->shape[0]; i++) {
        part.data = array->data + i * array->strides[0] * (array->dtype.code == DT_BOOL ? 1 : array->dtype.bits / 8);
        items[i] = to_list(script, &part);
    }
    return script_list(script, items, (int)array->shape[0], false);
}

/* The sum, greatest, least or mean of all elements. */
static bool reduce(Script *script, const NdArray *array, Str name, Span span, Value *result)
{
    int64_t indices[ND_MOST_DIMS] = {0}, offset = 0, count = nd_count(array);
    bool sums = !strcmp(name, "sum") || !strcmp(name, "mean");
    if (!count && !sums)
        return script_error(script, span, "an array without elements has no %s", name);
    double value = sums ? 0 : nd_get(array, 0);
    if (count)
        do {
            double next = nd_get(array, offset);
            value = sums ? value + next : *name == 'm' && name[1] == 'a' ? (next > value ? next : value) : next < value ? next : value;
        } while (nd_next(&array, 1, indices, &offset));
    bool whole = !dtype_is_float(array->dtype) && strcmp(name, "mean") != 0;
    *result = whole ? (Value){.kind = VALUE_INT, .as.integer = (int64_t)value}
                    : (Value){.kind = VALUE_FLOAT, .as.real = !strcmp(name, "mean") ? value / (double)count : value};
    return true;
}

bool nd_method(Script *script, const Object *self, Str name, const Arguments *arguments, Value *result)
{
    const NdArray *array = self->as.array, *made = array;
    const Value *values[1];
    DType dtype;
    Span span = arguments->span;
    if (!strcmp(name, "reshape"))
        return reshape(script, array, arguments, result);
    if (!strcmp(name, "astype")) {
        if (!te_bind(script, name, arguments, "dtype", values) || !nd_dtype(script, values[0], array->dtype, &dtype))
            return false;
        made = nd_copy(script, array, dtype, span);
    } else if (!strcmp(name, "copyto") || !strcmp(name, "copyfrom")) {
        if (!te_bind(script, name, arguments, "array", values))
            return false;
        const NdArray *other = nd_array(*values[0]);
        bool to = !strcmp(name, "copyto");
        *result = *values[0];
        return to && !other ? script_error(script, span, "copyto takes an array")
                            : nd_assign(script, to ? other : array, to ? nd_value(script, array) : *values[0], span);
    } else if (arguments->positional_count || arguments->keyword_count)
        return script_error(script, span, "%s of an array takes no arguments here", name);
    else if (!strcmp(name, "tolist") || !strcmp(name, "item")) {
        bool item = *name == 'i';
        if (item && nd_count(array) != 1)
            return script_error(script, span, "item() is for arrays of one element");
        const NdArray *compact = nd_copy(script, array, array->dtype, span);
        *result = item ? element(compact) : to_list(script, array);
        return true;
    } else if (!strcmp(name, "transpose"))
        made = transposed(script, array);
    else if (!strcmp(name, "sum") || !strcmp(name, "max") || !strcmp(name, "min") || !strcmp(name, "mean"))
        return reduce(script, array, name, span, result);
    else if (!strcmp(name, "flatten")) {
        Value all = {.kind = VALUE_INT, .as.integer = -1};
        Arguments one = {.positional = &all, .positional_count = 1, .span = span};
        return reshape(script, array, &one, result);
    } else
        made = nd_copy(script, array, array->dtype, span);
    if (made)
        *result = nd_value(script, made);
    return made != NULL;
}
