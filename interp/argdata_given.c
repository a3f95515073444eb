/* Arguments that the user gives: sizes are found from the shapes of arrays, and dtypes and shapes must be the parameters' own. */
#include <inttypes.h>
#include <string.h>

#include "interp/argdata_internal.h"
#include "print/print.h"

static Span parameter_span(const Param *param)
{
    return param->buffer ? param->buffer->span : param->param->span;
}

static const char *parameter_name(const Param *param)
{
    return param->buffer ? param->buffer->name : param->param->name;
}

static DType element_type(const Param *param)
{
    return dtype_scalar(param->buffer ? param->buffer->dtype : param->param->dtype);
}

/* The dimensions of an array for PARAM: lanes of vectors are one more. */
static int array_rank(const Param *param)
{
    return param->buffer ? param->buffer->ndim + (param->buffer->dtype.lanes > 1) : 0;
}

const ArgArray *argdata_given(const ArgData *data, const ArgOptions *options, int parameter)
{
    for (int i = 0; i < options->array_count; i++)
        if (argdata_find_parameter(data->ctx, data->func, options->arrays[i].name) == parameter)
            return &options->arrays[i];
    return NULL;
}

/* --- Sizes --- */
typedef struct {
    const ArgData *data;
    const ArgOptions *options;
    VEC(ArgSize) sizes;
    Map values; /* Var -> const Expr *, of SIZES */
} SizeFinder;

static void add_size(SizeFinder *finder, const Var *var, int64_t value)
{
    Context *ctx = finder->data->ctx;
    ArgSize size = {var->name, value, var};
    vec_push(ctx->arena, &finder->sizes, size);
    map_set(ctx->arena, &finder->values, var, (void *)expr_int(ctx, var->dtype, value));
}

/* Finds the one variable of EXPR without a value so that EXPR becomes VALUE; true where that was possible. */
static bool solve(SizeFinder *finder, const Expr *expr, int64_t value)
{
    if (expr->kind == EXPR_VAR) {
        bool fits = !map_has(&finder->values, expr->value.var) && dtype_holds(expr->dtype, value);
        if (fits)
            add_size(finder, expr->value.var, value);
        return fits;
    }
    if (expr->kind == EXPR_CAST)
        return solve(finder, expr->args[0], value);
    if (expr->kind != EXPR_ADD && expr->kind != EXPR_SUB && expr->kind != EXPR_MUL)
        return false;
    for (int known = 0; known < 2; known++) {
        const Expr *other = expr->args[1 - known];
        int64_t term, rest;
        if (!argdata_evaluate(finder->data->ctx, &finder->values, expr->args[known], &term))
            continue;
        if (expr->kind == EXPR_MUL)
            return term && value % term == 0 && solve(finder, other, value / term);
        bool wraps = expr->kind == EXPR_ADD || known == 0 ? __builtin_sub_overflow(value, term, &rest) : __builtin_add_overflow(value, term, &rest);
        bool negated = expr->kind == EXPR_SUB && known == 0;
        return !wraps && rest != INT64_MIN && solve(finder, other, negated ? -rest : rest);
    }
    return false;
}

/* Solves the extents of PARAM, which is to have the shape of ARRAY; true where a size was found. */
static bool solve_shape(SizeFinder *finder, const Param *param, const NpyArray *array)
{
    bool found = false;
    int64_t value;
    for (int i = 0; param->buffer && i < param->buffer->ndim; i++)
        if (!argdata_evaluate(finder->data->ctx, &finder->values, param->buffer->shape[i], &value))
            found |= solve(finder, param->buffer->shape[i], array->shape[i]);
    return found;
}

static void note_chosen(SizeFinder *finder, const Var *var)
{
    Context *ctx = finder->data->ctx;
    const ArgSize *size = argdata_find_size(finder->options, var);
    if (size && dtype_is_integer(var->dtype))
        map_set(ctx->arena, &finder->values, var, (void *)expr_int(ctx, var->dtype, size->value));
}

/* The sizes that the user chose, and integer parameters that are given. */
static void note_given_sizes(SizeFinder *finder)
{
    const ArgData *data = finder->data;
    for (int i = 0; i < finder->options->size_count; i++)
        vec_push(data->ctx->arena, &finder->sizes, finder->options->sizes[i]);
    for (int i = 0; i < data->signature->dim_count; i++)
        note_chosen(finder, data->signature->dims[i]);
    for (int p = 0; p < data->func->param_count; p++) {
        const Var *var = data->func->params[p].param;
        const ArgArray *given = argdata_given(data, finder->options, p);
        if (data->func->params[p].buffer)
            continue;
        note_chosen(finder, var);
        if (given && dtype_is_integer(var->dtype))
            add_size(finder, var, interp_read_integer(var->dtype, given->array.data));
    }
}

/* --- What does not fit --- */
/* "float32[n, 16]": what PARAM is declared as. */
static const char *declared_text(const ArgData *data, const Param *param)
{
    StrBuf text = {.arena = data->ctx->arena};
    strbuf_add(&text, dtype_name(data->ctx, param->buffer ? param->buffer->dtype : param->param->dtype));
    for (int i = 0; param->buffer && i < param->buffer->ndim; i++)
        strbuf_printf(&text, "%s%s", i ? ", " : "[", print_expr(data->ctx, param->buffer->shape[i]));
    strbuf_add(&text, param->buffer ? (param->buffer->ndim ? "]" : "[]") : "");
    return strbuf_text(&text);
}

static bool does_not_fit(const ArgData *data, const Param *param, const char *wanted, const ArgArray *given)
{
    diag_error(data->ctx, parameter_span(param), "'%s' of function '%s' is %s, and %s holds %s", parameter_name(param), data->func->name,
               wanted, given->from, npy_describe(data->ctx, &given->array));
    return false;
}

/* The dtype and the number of dimensions are the parameter's. */
static bool check_type(const ArgData *data, const Param *param, const ArgArray *given)
{
    bool fits = dtype_equal(npy_stored_type(element_type(param)), given->array.dtype) && given->array.ndim == array_rank(param);
    return fits || does_not_fit(data, param, declared_text(data, param), given);
}

bool argdata_find_sizes(const ArgData *data, const ArgOptions *options, ArgOptions *result)
{
    SizeFinder finder = {.data = data, .options = options};
    for (int p = 0; p < data->func->param_count; p++) {
        const ArgArray *given = argdata_given(data, options, p);
        if (given && !check_type(data, &data->func->params[p], given))
            return false;
    }
    note_given_sizes(&finder);
    for (bool found = true; found;) {
        found = false;
        for (int p = 0; p < data->func->param_count; p++) {
            const ArgArray *given = argdata_given(data, options, p);
            found |= given && solve_shape(&finder, &data->func->params[p], &given->array);
        }
    }
    *result = *options;
    result->sizes = finder.sizes.data;
    result->size_count = finder.sizes.count;
    for (int i = 0; options->complete && i < data->signature->dim_count; i++) {
        const Var *var = data->signature->dims[i];
        if (argdata_shapes_use(data->func, var) && !map_has(&finder.values, var)) {
            diag_error(data->ctx, parameter_span(&data->func->params[data->signature->dim_params[i]]),
                       "no input of function '%s' gives the size '%s': say --in %s=SIZE", data->func->name, var->name, var->name);
            return false;
        }
    }
    return true;
}

/* --- Values --- */
/* Each extent, lanes included, is the array's. */
static bool shape_is(const ArgItem *item, const NpyArray *array)
{
    for (int i = 0; i < item->arg.ndim; i++)
        if (item->shape[i] != array->shape[i])
            return false;
    return !item->param->buffer || item->param->buffer->dtype.lanes == 1 || array->shape[array->ndim - 1] == item->param->buffer->dtype.lanes;
}

/* "float32[4, 16]": what PARAM is with the sizes that it has here. */
static const char *shape_text(const ArgData *data, const ArgItem *item)
{
    NpyArray array = {element_type(item->param), item->arg.ndim, item->shape, NULL};
    const char *scalars = npy_describe(data->ctx, &array), *shape = strchr(scalars, '[');
    return item->param->buffer ? arena_printf(data->ctx->arena, "%s%s", dtype_name(data->ctx, item->param->buffer->dtype), shape) : scalars;
}

static bool is_missing(const ArgData *data, int parameter)
{
    const ArgItem *item = &data->items[parameter];
    return item->param->buffer ? data->signature->read[parameter] : !item->chosen;
}

bool argdata_check_given(const ArgData *data, const ArgOptions *options)
{
    for (int p = 0; p < data->func->param_count; p++) {
        const ArgItem *item = &data->items[p];
        const ArgArray *given = argdata_given(data, options, p);
        if (given && !shape_is(item, &given->array)) {
            const char *declared = declared_text(data, item->param), *here = shape_text(data, item);
            const char *both = arena_printf(data->ctx->arena, "%s, which is %s here", declared, here);
            return does_not_fit(data, item->param, strcmp(declared, here) ? both : here, given);
        }
        if (!options->complete || given || !is_missing(data, p))
            continue;
        const char *name = parameter_name(item->param);
        diag_error(data->ctx, parameter_span(item->param), "nothing is given for the input '%s' of function '%s': say --in %s=%s, or "
                   "--random-inputs", name, data->func->name, name, item->param->buffer ? "FILE.npy" : "VALUE");
        return false;
    }
    return true;
}

void argdata_take(ArgData *data, const ArgArray *given, int parameter)
{
    ArgItem *item = &data->items[parameter];
    DType type = element_type(item->param);
    if (!item->param->buffer) {
        item->arg.scalar.dtype = type;
        if (dtype_is_float(type))
            item->arg.scalar.as.real = interp_read_real(type, given->array.data);
        else
            item->arg.scalar.as.integer = interp_read_integer(type, given->array.data);
        return;
    }
    size_t bytes = (size_t)(dtype_bytes(type) * item->param->buffer->dtype.lanes);
    int64_t at[item->arg.ndim + 1], count = argdata_element_count(item);
    memset(at, 0, sizeof at);
    for (int64_t i = 0; i < count; i++) {
        memcpy(argdata_element(item, at), given->array.data + (size_t)i * bytes, bytes);
        argdata_next(item->shape, item->arg.ndim, at);
    }
}

NpyArray argdata_array(const ArgData *data, int parameter)
{
    const ArgItem *item = &data->items[parameter];
    const Buffer *buffer = item->param->buffer;
    int rank = array_rank(item->param);
    int64_t *shape = ARENA_ARRAY(data->ctx->arena, int64_t, rank), at[item->arg.ndim + 1], count = argdata_element_count(item);
    memcpy(shape, item->shape, sizeof *shape * (size_t)item->arg.ndim);
    if (rank > item->arg.ndim)
        shape[rank - 1] = buffer->dtype.lanes;
    size_t bytes = (size_t)(dtype_bytes(dtype_scalar(buffer->dtype)) * buffer->dtype.lanes);
    char *elements = arena_alloc(data->ctx->arena, bytes * (size_t)count);
    memset(at, 0, sizeof at);
    for (int64_t i = 0; i < count; i++) {
        memcpy(elements + (size_t)i * bytes, argdata_element(item, at), bytes);
        argdata_next(item->shape, item->arg.ndim, at);
    }
    return (NpyArray){npy_stored_type(dtype_scalar(buffer->dtype)), rank, shape, elements};
}
