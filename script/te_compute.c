/* te.placeholder, te.compute, te.reduce_axis and the reducers. */
#include "script/te.h"

#include <string.h>

#include "ir/walk.h"

/* --- arguments --- */

bool te_bind(Script *script, const char *function, const Arguments *arguments, const char *signature, const Value **values)
{
    const char *names[16] = {NULL};
    bool needed[16];
    int count = 0;
    for (const char *at = signature; *at; at += *at == ' ') {
        size_t length = strcspn(at, " ");
        bool optional = at[length - 1] == '?';
        names[count] = context_internf(script->ctx, "%.*s", (int)(length - optional), at);
        needed[count] = !optional;
        values[count++] = NULL;
        at += length;
    }
    if (!script_check_keywords(script, function, arguments, count, names, count))
        return false;
    for (int i = 0; i < count; i++) {
        const Value *keyword = script_keyword(arguments, names[i]);
        values[i] = i < arguments->positional_count ? &arguments->positional[i] : keyword;
        if (keyword && values[i] != keyword)
            return script_error(script, keyword->span, "'%s' is given twice", names[i]);
        if (!values[i] && needed[i])
            return script_error(script, arguments->span, "%s needs the argument '%s'", function, names[i]);
    }
    return true;
}

bool te_dtype(Script *script, const Value *value, DType otherwise, DType *result)
{
    *result = otherwise;
    if (!value || value->kind == VALUE_NONE)
        return true;
    if (value->kind == VALUE_STRING && dtype_parse(value->as.text, result))
        return true;
    return value->kind == VALUE_STRING
               ? script_error(script, value->span, "\"%s\" is no type", value->as.text)
               : script_error(script, value->span, "a type such as \"float32\" is needed here, not %s", script_type_phrase(script, *value));
}

bool te_name(Script *script, const Value *value, const char *otherwise, Str *result)
{
    *result = context_intern(script->ctx, otherwise);
    if (!value || value->kind == VALUE_NONE)
        return true;
    *result = value->kind == VALUE_STRING ? value->as.text : NULL;
    return *result || script_error(script, value->span, "a name is a string, not %s", script_type_phrase(script, *value));
}

/* A shape: one size, or several. */
static bool read_shape(Script *script, Value value, Span span, const Expr ***shape, int *count)
{
    if (!te_to_exprs(script, value, span, shape, count))
        return false;
    for (int i = 0; i < *count; i++) {
        const Expr *size = (*shape)[i];
        int64_t number;
        if (size->kind == EXPR_FLOAT && size->value.real == (double)(int32_t)size->value.real)
            (*shape)[i] = size = expr_int(script->ctx, DTYPE_INT32, (int32_t)size->value.real);
        if (!dtype_is_integer(size->dtype) || size->dtype.lanes != 1)
            return script_error(script, span, "a size must be an integer, not %s", dtype_name(script->ctx, size->dtype));
        if (expr_const_int(size, &number) && number < 0)
            return script_error(script, span, "dimension %d has the negative size %lld", i, (long long)number);
    }
    return true;
}

/* --- operations --- */

static Operation *new_operation(Script *script, OperationKind kind, Str name, int result_count, Span span)
{
    Operation *op = ARENA_NEW(script->ctx->arena, Operation);
    *op = (Operation){.kind = kind, .name = name, .tag = context_intern(script->ctx, ""), .result_count = result_count, .span = span};
    op->attr_values = script_list(script, NULL, 0, false);
    op->attr_values.kind = VALUE_DICT;
    op->results = ARENA_ARRAY(script->ctx->arena, Tensor *, result_count);
    return op;
}

static void add_result(Script *script, Operation *op, int index, Buffer *buffer)
{
    Tensor *tensor = ARENA_NEW(script->ctx->arena, Tensor);
    *tensor = (Tensor){op, index, buffer};
    op->results[index] = tensor;
    map_set(script->ctx->arena, &script->tensors, buffer, tensor);
}

const Tensor *te_tensor_of(Script *script, const Buffer *buffer)
{
    return map_get(&script->tensors, buffer);
}

static Value results_value(Script *script, const Operation *op)
{
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, op->result_count);
    for (int i = 0; i < op->result_count; i++)
        items[i] = te_tensor_value(script, op->results[i]);
    return op->result_count == 1 ? items[0] : script_list(script, items, op->result_count, true);
}

Str te_result_name(Script *script, const Operation *op, int index)
{
    return op->result_count == 1 ? op->name : context_internf(script->ctx, "%s_v%d", op->name, index);
}

bool te_placeholder(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    const Expr **shape;
    int count;
    DType dtype;
    Str name;
    if (!te_bind(script, "te.placeholder", arguments, "shape dtype? name?", values) ||
        !read_shape(script, *values[0], values[0]->span, &shape, &count) || !te_dtype(script, values[1], DTYPE_FLOAT32, &dtype) ||
        !te_name(script, values[2], "placeholder", &name))
        return false;
    Operation *op = new_operation(script, OPERATION_PLACEHOLDER, name, 1, arguments->span);
    add_result(script, op, 0, buffer_new(script->ctx, name, dtype, count, shape, NULL, arguments->span));
    *result = results_value(script, op);
    return true;
}

static Iter *new_axis(Script *script, Str name, const Expr *min, const Expr *extent, IterKind kind, Span span)
{
    DType dtype = min->dtype.bits > extent->dtype.bits ? min->dtype : extent->dtype;
    Iter *axis = ARENA_NEW(script->ctx->arena, Iter);
    Range domain = {op_cast(script->ctx, dtype, min), op_cast(script->ctx, dtype, extent)};
    *axis = (Iter){var_new(script->ctx, name, dtype, span), domain, kind, span};
    return axis;
}

static bool make_range(Script *script, const Expr *begin, const Expr *extent, Span span, Value *result)
{
    if (!dtype_is_integer(begin->dtype) || !dtype_is_integer(extent->dtype))
        return script_error(script, span, "the bounds of a range must be integers");
    const Iter *axis = new_axis(script, context_intern(script->ctx, "range"), begin, extent, ITER_REDUCE, span);
    *result = script_object(script, (Object){.kind = OBJECT_RANGE, .as.axis = axis});
    return true;
}

bool te_range(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    const Expr *begin = expr_int(script->ctx, DTYPE_INT32, 0), *end;
    if (!te_bind(script, "Range", arguments, "begin end? span?", values) ||
        !te_to_expr(script, values[1] ? *values[1] : *values[0], arguments->span, &end) ||
        (values[1] && !te_to_expr(script, *values[0], arguments->span, &begin)))
        return false;
    if (!dtype_is_integer(begin->dtype) || !dtype_is_integer(end->dtype))
        return script_error(script, arguments->span, "the bounds of a range must be integers");
    const Expr *extent = op_binary(script->ctx, EXPR_SUB, end, begin, arguments->span);
    return extent && make_range(script, begin, extent, arguments->span, result);
}

bool te_range_from_min_extent(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    const Expr *begin, *extent;
    return te_bind(script, "Range.from_min_extent", arguments, "min_value extent span?", values) &&
           te_to_expr(script, *values[0], arguments->span, &begin) && te_to_expr(script, *values[1], arguments->span, &extent) &&
           make_range(script, begin, extent, arguments->span, result);
}

bool te_reduce_axis(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[4];
    Str name;
    if (!te_bind(script, "te.reduce_axis", arguments, "dom name? thread_tag? span?", values) || !te_name(script, values[1], "rv", &name))
        return false;
    const Object *range = value_object(*values[0], OBJECT_RANGE);
    const ValueList *list = values[0]->kind == VALUE_LIST ? values[0]->as.list : NULL;
    const Expr *begin, *end;
    if (!range && (!list || list->count != 2))
        return script_error(script, values[0]->span, "the domain of an axis is a pair (first, end)");
    if (range) {
        begin = range->as.axis->domain.min;
        end = op_add(script->ctx, begin, range->as.axis->domain.extent);
    } else if (!te_to_expr(script, list->items[0], values[0]->span, &begin) || !te_to_expr(script, list->items[1], values[0]->span, &end))
        return false;
    if (!dtype_is_integer(begin->dtype) || !dtype_is_integer(end->dtype))
        return script_error(script, values[0]->span, "the bounds of an axis must be integers");
    const Expr *extent = op_binary(script->ctx, EXPR_SUB, end, begin, arguments->span);
    int64_t size;
    if (!extent)
        return false;
    if (expr_const_int(extent, &size) && size < 0)
        return script_error(script, values[0]->span, "the axis has the negative extent %lld", (long long)size);
    const Iter *axis = new_axis(script, name, begin, extent, ITER_REDUCE, arguments->span);
    *result = script_object(script, (Object){.kind = OBJECT_AXIS, .as.axis = axis});
    return true;
}

/* --- te.compute --- */

typedef struct {
    VEC(Str) names;
} AxisNames;

/* The names of the axes of a tensor of NDIM dimensions: of the parameters of FUNCTION, i0, i1 and so on for those that a '*' takes. */
static bool axis_names(Script *script, Value function, const Value *star_names, int ndim, Span span, AxisNames *result)
{
    const Object *def = value_object(function, OBJECT_DEF);
    const AstNode *node = def ? def->as.def.node : NULL;
    const AstParam *params = node ? (node->kind == AST_LAMBDA ? node->as.lambda.params : node->as.def.params) : NULL;
    int count = node ? (node->kind == AST_LAMBDA ? node->as.lambda.param_count : node->as.def.param_count) : 0, fixed = 0;
    bool star = !count;
    for (int i = 0; i < count; i++) {
        if (params[i].default_value || params[i].stars == 2)
            return script_error(script, span, "the function of te.compute has neither defaults nor '**'");
        star |= params[i].stars == 1;
        fixed += !params[i].stars;
    }
    for (int i = 0; i < count && !params[i].stars; i++)
        vec_push(script->ctx->arena, &result->names, params[i].name);
    const ValueList *given = star_names && star_names->kind == VALUE_LIST ? star_names->as.list : NULL;
    if (fixed > ndim)
        return script_error(script, span, "the function takes %d indices, but the shape has %d dimension%s", fixed, ndim, ndim == 1 ? "" : "s");
    if (star && given && given->count != ndim - fixed)
        return script_error(script, star_names->span, "there are %d names for %d axes", given->count, ndim - fixed);
    for (int i = 0; star && i < ndim - fixed; i++) {
        Str name = context_internf(script->ctx, "i%d", i);
        if (given && !te_name(script, &given->items[i], "", &name))
            return false;
        vec_push(script->ctx->arena, &result->names, name);
    }
    return true;
}

/* An inner reduction: a part of an expression, which is none. */
static bool set_reduction(Script *script, Operation *op, const ValueList *bodies, Span span)
{
    const Object *first = value_object(bodies->items[0], OBJECT_REDUCTION);
    for (int i = 0; i < bodies->count; i++) {
        const Object *object = value_object(bodies->items[i], OBJECT_REDUCTION);
        if (!object || object->as.reduction.all != first->as.reduction.all || object->as.reduction.index != i)
            return script_error(script, span, "the results of te.compute must be all results of one reduction, in their order");
    }
    if (bodies->count != first->as.reduction.all->count)
        return script_error(script, span, "the reduction has %d results", first->as.reduction.all->count);
    op->reduction = first->as.reduction.all;
    return true;
}

static bool set_bodies(Script *script, Operation *op, const ValueList *bodies, Span span)
{
    op->bodies = ARENA_ARRAY(script->ctx->arena, const Expr *, bodies->count);
    for (int i = 0; i < bodies->count; i++)
        if (!te_to_expr(script, bodies->items[i], span, &op->bodies[i]))
            return false;
    return true;
}

static bool finish_compute(Script *script, Operation *op, const ValueList *bodies, Span span)
{
    Context *ctx = script->ctx;
    bool reduces = value_object(bodies->items[0], OBJECT_REDUCTION) != NULL;
    if (reduces ? !set_reduction(script, op, bodies, span) : !set_bodies(script, op, bodies, span))
        return false;
    const Expr **shape = ARENA_ARRAY(ctx->arena, const Expr *, op->axis_count);
    for (int i = 0; i < op->axis_count; i++)
        shape[i] = op->axes[i]->domain.extent;
    for (int i = 0; i < op->result_count; i++) {
        DType dtype = reduces ? op->reduction->sources[i]->dtype : op->bodies[i]->dtype;
        if (dtype.code == DT_HANDLE)
            return script_error(script, span, "the elements of a tensor are numbers");
        add_result(script, op, i, buffer_new(ctx, te_result_name(script, op, i), dtype, op->axis_count, shape, NULL, op->span));
    }
    return true;
}

bool te_compute(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[6];
    const Expr **shape;
    int ndim;
    Str name, tag;
    AxisNames names = {0};
    Span span = arguments->span;
    if (!te_bind(script, "te.compute", arguments, "shape fcompute name? tag? attrs? varargs_names?", values) ||
        !read_shape(script, *values[0], values[0]->span, &shape, &ndim) || !te_name(script, values[2], "compute", &name) ||
        !te_tag(script, values[3], span, &tag) || !axis_names(script, *values[1], values[5], ndim, values[1]->span, &names))
        return false;
    int count = names.names.count;
    const Iter **axes = ARENA_ARRAY(script->ctx->arena, const Iter *, count);
    Value *indices = ARENA_ARRAY(script->ctx->arena, Value, count), body;
    for (int i = 0; i < count; i++) {
        axes[i] = new_axis(script, names.names.data[i], expr_int(script->ctx, shape[i]->dtype, 0), shape[i], ITER_SPATIAL, span);
        indices[i] = te_expr_value(expr_var(script->ctx, axes[i]->var));
    }
    Arguments call = {.positional = indices, .positional_count = count, .span = values[1]->span};
    if (!script_call_value(script, *values[1], &call, &body))
        return false;
    ValueList one = {.items = &body, .count = 1};
    const ValueList *bodies = body.kind == VALUE_LIST ? body.as.list : &one;
    if (!bodies->count)
        return script_error(script, values[1]->span, "the function of te.compute gives no value");
    Operation *op = new_operation(script, OPERATION_COMPUTE, name, bodies->count, span);
    op->axes = axes;
    op->axis_count = count;
    op->tag = tag;
    if (values[4] && values[4]->kind == VALUE_DICT)
        op->attr_values = *values[4];
    if (!finish_compute(script, op, bodies, values[1]->span))
        return false;
    *result = results_value(script, op);
    return true;
}

/* --- reducers --- */

bool te_comm_reducer(Script *script, const Arguments *arguments, Value *result)
{
    const Value *values[3];
    Str name;
    if (!te_bind(script, "te.comm_reducer", arguments, "fcombine fidentity name?", values) || !te_name(script, values[2], "reduce", &name))
        return false;
    Reducer *reducer = ARENA_NEW(script->ctx->arena, Reducer);
    *reducer = (Reducer){.name = name, .combine = *values[0], .identity = *values[1]};
    *result = script_object(script, (Object){.kind = OBJECT_REDUCER, .as.reducer = reducer});
    return true;
}

/* The values A and B in one: expressions, or lists of them. */
static bool combine(Script *script, const Reducer *reducer, Value a, Value b, Span span, Value *result)
{
    Value pair[] = {a, b};
    Arguments arguments = {.positional = pair, .positional_count = 2, .span = span};
    if (reducer->combine.kind != VALUE_NONE)
        return script_call_value(script, reducer->combine, &arguments, result);
    const Expr *x, *y, *made;
    if (!te_to_expr(script, a, span, &x) || !te_to_expr(script, b, span, &y) || !(made = te_operation(script, reducer->kind, x, y, span)))
        return false;
    *result = te_expr_value(made);
    return true;
}

static bool identity(Script *script, const Reducer *reducer, const Reduction *reduction, Span span, Value *result)
{
    Context *ctx = script->ctx;
    DType dtype = reduction->sources[0]->dtype;
    if (reducer->identity.kind == VALUE_NONE) {
        const Expr *zero = op_cast(ctx, dtype, expr_int(ctx, DTYPE_INT32, reducer->kind == EXPR_MUL));
        bool bound = reducer->kind == EXPR_MIN || reducer->kind == EXPR_MAX;
        *result = te_expr_value(bound ? te_limit(script, dtype, reducer->kind == EXPR_MIN) : zero);
        return true;
    }
    Value *types = ARENA_ARRAY(ctx->arena, Value, reduction->count);
    for (int i = 0; i < reduction->count; i++)
        types[i] = (Value){.kind = VALUE_STRING, .as.text = context_intern(ctx, dtype_name(ctx, reduction->sources[i]->dtype))};
    Arguments arguments = {.positional = types, .positional_count = reduction->count, .span = span};
    return script_call_value(script, reducer->identity, &arguments, result);
}

/* VALUE, COUNT expressions of the types of the sources; numbers of Python take these types. */
static bool of_source_types(Script *script, const Reduction *reduction, Value value, const char *what, Span span, const Expr ***result)
{
    int count;
    if (!te_to_exprs(script, value, span, result, &count))
        return false;
    if (count != reduction->count)
        return script_error(script, span, "the %s has %d value%s for %d", what, count, count == 1 ? "" : "s", reduction->count);
    for (int i = 0; i < count; i++) {
        DType dtype = reduction->sources[i]->dtype;
        ValueKind kind = value.kind == VALUE_LIST ? value.as.list->items[i].kind : value.kind;
        if (kind == VALUE_INT || kind == VALUE_FLOAT || kind == VALUE_BOOL)
            (*result)[i] = op_cast(script->ctx, dtype, (*result)[i]);
        if (!dtype_equal((*result)[i]->dtype, dtype))
            return script_error(script, span, "value %d of the %s is %s, but what is reduced is %s", i, what,
                                dtype_name(script->ctx, (*result)[i]->dtype), dtype_name(script->ctx, dtype));
    }
    return true;
}

/* The name of parameter INDEX of the function that combines. */
static Str side_name(Script *script, const Reducer *reducer, int index)
{
    const Object *def = value_object(reducer->combine, OBJECT_DEF);
    const AstNode *node = def ? def->as.def.node : NULL;
    int count = node ? (node->kind == AST_LAMBDA ? node->as.lambda.param_count : node->as.def.param_count) : 0;
    const AstParam *params = node ? (node->kind == AST_LAMBDA ? node->as.lambda.params : node->as.def.params) : NULL;
    return index < count && params[index].name ? params[index].name : context_intern(script->ctx, index ? "y" : "x");
}

/* The variables that stand for one side of the combination, and the value that holds them. */
static Value make_side(Script *script, const Reducer *reducer, const Reduction *reduction, bool tuple, int side, Var **vars)
{
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, reduction->count);
    Str name = side_name(script, reducer, side);
    for (int i = 0; i < reduction->count; i++) {
        Str own = tuple ? context_internf(script->ctx, "%s_%d", name, i) : name;
        vars[i] = var_new(script->ctx, own, reduction->sources[i]->dtype, reduction->span);
        items[i] = te_expr_value(expr_var(script->ctx, vars[i]));
    }
    return tuple ? script_list(script, items, reduction->count, true) : items[0];
}

static bool read_axes(Script *script, Value value, Span span, Reduction *reduction)
{
    ValueList one = {.items = &value, .count = 1};
    const ValueList *list = value.kind == VALUE_LIST ? value.as.list : &one;
    reduction->axes = ARENA_ARRAY(script->ctx->arena, const Iter *, list->count);
    reduction->axis_count = list->count;
    for (int i = 0; i < list->count; i++) {
        const Object *axis = value_object(list->items[i], OBJECT_AXIS);
        if (!axis || axis->as.axis->kind != ITER_REDUCE)
            return script_error(script, span, "'axis' must be made by te.reduce_axis");
        for (int j = 0; j < i; j++)
            if (reduction->axes[j] == axis->as.axis)
                return script_error(script, span, "the axis '%s' is reduced twice", axis->as.axis->var->name);
        reduction->axes[i] = axis->as.axis;
    }
    return true;
}

static bool make_reduction(Script *script, const Reducer *reducer, const Value **values, Span span, Value *result)
{
    Reduction *reduction = ARENA_NEW(script->ctx->arena, Reduction);
    bool tuple = values[0]->kind == VALUE_LIST;
    reduction->span = span;
    Value combined, starts;
    if (!te_to_exprs(script, *values[0], span, &reduction->sources, &reduction->count) || !read_axes(script, *values[1], span, reduction))
        return false;
    int count = reduction->count;
    reduction->left = ARENA_ARRAY(script->ctx->arena, Var *, count);
    reduction->right = ARENA_ARRAY(script->ctx->arena, Var *, count);
    Value left = make_side(script, reducer, reduction, tuple, 0, reduction->left),
          right = make_side(script, reducer, reduction, tuple, 1, reduction->right);
    if (!combine(script, reducer, left, right, span, &combined) || !identity(script, reducer, reduction, span, &starts) ||
        !of_source_types(script, reduction, combined, "combination", span, &reduction->results) ||
        !of_source_types(script, reduction, starts, "identity", span, &reduction->identities))
        return false;
    if (values[2] && values[2]->kind != VALUE_NONE) {
        if (!te_to_expr(script, *values[2], span, &reduction->condition))
            return false;
        if (reduction->condition->dtype.code != DT_BOOL)
            return script_error(script, span, "'where' must be a condition");
    }
    if (values[3] && values[3]->kind != VALUE_NONE && !of_source_types(script, reduction, *values[3], "init", span, &reduction->initial))
        return false;
    Value *items = ARENA_ARRAY(script->ctx->arena, Value, count);
    for (int i = 0; i < count; i++)
        items[i] = script_object(script, (Object){.kind = OBJECT_REDUCTION, .as.reduction = {reduction, i}});
    *result = count == 1 ? items[0] : script_list(script, items, count, true);
    return true;
}

/* reducer(a, b, c): the values themselves in one. */
static bool combine_directly(Script *script, const Reducer *reducer, const Arguments *arguments, Value *result)
{
    int count = arguments->positional_count;
    if (count == 3 && arguments->positional[2].kind == VALUE_NONE)
        count = 2;
    *result = arguments->positional[0];
    for (int i = 1; i < count; i++)
        if (!combine(script, reducer, *result, arguments->positional[i], arguments->span, result))
            return false;
    return true;
}

bool te_call_reducer(Script *script, const Reducer *reducer, const Arguments *arguments, Value *result)
{
    const Value *values[4], *axis = script_keyword(arguments, "axis");
    if (!axis && arguments->positional_count > 1)
        axis = &arguments->positional[1];
    if (axis && (axis->kind == VALUE_LIST || value_object(*axis, OBJECT_AXIS)))
        return te_bind(script, reducer->name, arguments, "expr axis where? init?", values) &&
               make_reduction(script, reducer, values, arguments->span, result);
    if (script_keyword(arguments, "axis"))
        return script_error(script, axis->span, "'axis' must be made by te.reduce_axis");
    if (arguments->positional_count < 2 || arguments->keyword_count)
        return script_error(script, arguments->span, "%s takes a value and axis=, or two and more values", reducer->name);
    return combine_directly(script, reducer, arguments, result);
}
