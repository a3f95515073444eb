/* Choosing sizes, laying out and filling the arguments; see argdata.h. */
#include "print/print.h"
#include "interp/argdata.h"

#include <stdlib.h>
#include <string.h>

#include "interp/argdata_internal.h"
#include "ir/fold.h"
#include "support/bug.h"

enum { GUARD_BYTES = 64, GUARD_PATTERN = 0xa7, LARGEST_DEFAULT_SIZE = 20 };
/* Arguments beyond this many bytes are a mistake in the sizes. */
#define MOST_BYTES (INT64_C(1) << 33)

/* --- Random numbers: splitmix64 --- */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static int64_t random_below(uint64_t *state, int64_t limit)
{
    return (int64_t)(next_random(state) % (uint64_t)limit);
}

/* --- Sizes --- */
static const Expr *evaluate(Context *ctx, const Map *values, const Expr *expr)
{
    if (expr->kind == EXPR_VAR)
        return map_get(values, expr->value.var);
    if (expr->kind == EXPR_INT)
        return expr;
    const Expr *args[2] = {NULL, NULL};
    if (expr->kind != EXPR_CAST && !expr_is_binary(expr))
        return NULL;
    for (int i = 0; i < expr->arg_count; i++) {
        args[i] = evaluate(ctx, values, expr->args[i]);
        if (!args[i])
            return NULL;
    }
    return expr->kind == EXPR_CAST ? fold_cast(ctx, expr->dtype, args[0]) : fold_binary(ctx, expr->kind, args[0], args[1]);
}

bool argdata_evaluate(Context *ctx, const Map *values, const Expr *expr, int64_t *value)
{
    const Expr *result = evaluate(ctx, values, expr);
    return result && expr_const_int(result, value);
}

Map argdata_values(const ArgData *data)
{
    Map values = {0};
    Arena *arena = data->ctx->arena;
    for (int i = 0; i < data->signature->dim_count; i++)
        map_set(arena, &values, data->signature->dims[i], (void *)expr_int(data->ctx, data->signature->dims[i]->dtype, data->dims[i]));
    for (int i = 0; i < data->func->param_count; i++)
        if (!data->func->params[i].buffer && dtype_is_integer(data->func->params[i].param->dtype))
            map_set(arena, &values, data->func->params[i].param,
                    (void *)expr_int(data->ctx, data->func->params[i].param->dtype, data->items[i].arg.scalar.as.integer));
    for (int i = 0; i < data->func->param_count; i++) {
        const Buffer *buffer = data->func->params[i].buffer;
        if (buffer && is_unnamed_offset(buffer))
            map_set(arena, &values, buffer->elem_offset->value.var, (void *)expr_int(data->ctx, buffer->elem_offset->dtype, 0));
    }
    return values;
}

bool argdata_is_named(const Var *var, const char *name)
{
    return !strcmp(var->name, name) || (var->stated_name && !strcmp(var->stated_name, name));
}

int argdata_find_parameter(Context *ctx, const Func *func, const char *name)
{
    int found = ARGDATA_UNKNOWN;
    const Map spellings = print_spellings(ctx, func);
    for (int i = 0; i < func->param_count; i++) {
        const Param *param = &func->params[i];
        const char *printed = param->buffer ? map_get(&spellings, param->buffer) : map_get(&spellings, param->param);
        if (!argdata_is_named(param->param, name) && !(param->buffer && !strcmp(param->buffer->name, name)) &&
            !(printed && !strcmp(printed, name)))
            continue;
        if (found >= 0)
            return ARGDATA_AMBIGUOUS;
        found = i;
    }
    return found;
}

const ArgSize *argdata_find_size(const ArgOptions *options, const Var *var)
{
    for (int i = 0; i < options->size_count; i++)
        if (options->sizes[i].var ? options->sizes[i].var == var : argdata_is_named(var, options->sizes[i].name))
            return &options->sizes[i];
    return NULL;
}

static int64_t choose_size(const ArgOptions *options, const Var *var, uint64_t *random)
{
    int64_t drawn = 1 + random_below(random, LARGEST_DEFAULT_SIZE);
    const ArgSize *size = argdata_find_size(options, var);
    return size ? size->value : drawn;
}

static bool buffer_mentions(const Buffer *buffer, const Var *var)
{
    for (int i = 0; i < buffer->ndim; i++)
        if (expr_uses_var(buffer->shape[i], var) || (buffer->strides && expr_uses_var(buffer->strides[i], var)))
            return true;
    return expr_uses_var(buffer->elem_offset, var);
}

bool argdata_shapes_use(const Func *func, const Var *var)
{
    for (int p = 0; p < func->param_count; p++) {
        const Buffer *buffer = func->params[p].buffer;
        for (int i = 0; buffer && i < buffer->ndim; i++)
            if (expr_uses_var(buffer->shape[i], var))
                return true;
    }
    return false;
}

static bool is_size(const Func *func, const Var *var)
{
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer && buffer_mentions(func->params[i].buffer, var))
            return true;
    return false;
}

bool argdata_has_size(Context *ctx, const Func *func, const char *name)
{
    const Signature *signature = func_signature(ctx, func);
    for (int i = 0; i < signature->dim_count; i++)
        if (argdata_is_named(signature->dims[i], name))
            return true;
    for (int i = 0; i < func->param_count; i++)
        if (!func->params[i].buffer && dtype_is_integer(func->params[i].param->dtype) && argdata_is_named(func->params[i].param, name))
            return true;
    return false;
}

static bool check_names(const ArgData *data, const ArgOptions *options)
{
    bool known = true;
    for (int i = 0; i < options->size_count; i++)
        if (!argdata_has_size(data->ctx, data->func, options->sizes[i].name)) {
            diag_error(data->ctx, data->func->name_span, "function '%s' has no size or scalar parameter '%s'", data->func->name,
                       options->sizes[i].name);
            known = false;
        }
    return known;
}

/* --- Filling --- */
/* U uniform in [-1, 1), a multiple of 2^-52. */
static double random_unit(uint64_t *state)
{
    return (double)(int64_t)(next_random(state) >> 11) * 0x1p-52 - 1;
}

static int64_t random_integer(DType t, const ArgUse *use, uint64_t *state)
{
    if (t.code == DT_BOOL)
        return random_below(state, 2);
    if (use->limit > 0) {
        int64_t most = dtype_max_int(t);
        return random_below(state, most < use->limit - 1 ? most + 1 : use->limit);
    }
    int64_t value = t.code == DT_INT ? random_below(state, 17) - 8 : random_below(state, 9);
    return value == 0 && use->divides ? 1 : value;
}

static void fill_element(DType t, void *at, const ArgUse *use, uint64_t *state)
{
    if (dtype_is_float(t))
        interp_write_real(t, at, dtype_round_float(t, random_unit(state)));
    else
        interp_write_integer(t, at, random_integer(t, use, state));
}

static void fill_item(ArgItem *item, const ArgUse *use, uint64_t random)
{
    const Buffer *buffer = item->param->buffer;
    DType t = dtype_scalar(buffer->dtype);
    memset(item->arg.data, UNWRITTEN_PATTERN, (size_t)item->arg.bytes);
    if (item->arg.unwritten || argdata_element_count(item) == 0)
        return;
    int64_t at[buffer->ndim + 1];
    memset(at, 0, sizeof at);
    do {
        for (int lane = 0; lane < buffer->dtype.lanes; lane++)
            fill_element(t, argdata_element(item, at) + lane * dtype_bytes(t), use, &random);
    } while (argdata_next(item->shape, buffer->ndim, at));
}

/* --- Layout --- */
bool argdata_next(const int64_t *shape, int ndim, int64_t *coordinates)
{
    for (int i = ndim - 1; i >= 0; i--) {
        if (++coordinates[i] < shape[i])
            return true;
        coordinates[i] = 0;
    }
    return false;
}

char *argdata_element(const ArgItem *item, const int64_t *coordinates)
{
    DType t = item->param->buffer->dtype;
    int64_t offset = item->arg.elem_offset;
    for (int i = 0; i < item->arg.ndim; i++)
        offset += coordinates[i] * item->strides[i];
    return (char *)item->arg.data + offset * dtype_bytes(dtype_scalar(t)) * t.lanes;
}

int64_t argdata_element_count(const ArgItem *item)
{
    int64_t count = 1;
    for (int i = 0; i < item->arg.ndim; i++)
        count *= item->shape[i];
    return count;
}

/* Evaluates the shape; false where it is not determined, negative or too large. */
static bool item_shape(ArgData *data, ArgItem *item, const Map *values)
{
    const Buffer *buffer = item->param->buffer;
    int64_t bytes = dtype_bytes(dtype_scalar(buffer->dtype)) * buffer->dtype.lanes;
    item->arg.ndim = buffer->ndim;
    item->shape = ARENA_ARRAY(data->ctx->arena, int64_t, buffer->ndim);
    item->strides = ARENA_ARRAY(data->ctx->arena, int64_t, buffer->ndim);
    for (int i = 0; i < buffer->ndim; i++) {
        if (!argdata_evaluate(data->ctx, values, buffer->shape[i], &item->shape[i]) || item->shape[i] < 0)
            return false;
        if (item->shape[i] > 0 && (__builtin_mul_overflow(bytes, item->shape[i], &bytes) || bytes > MOST_BYTES))
            return false;
    }
    return true;
}

static int64_t compact_stride(const ArgItem *item, int dim)
{
    int64_t stride = 1;
    for (int i = dim + 1; i < item->arg.ndim; i++)
        stride *= item->shape[i];
    return item->param->buffer->auto_broadcast && item->shape[dim] == 1 ? 0 : stride;
}

/* A stride that is a variable and that nobody chose gets the largest compact stride among the places where it stands. */
static void choose_strides(ArgData *data, const ArgOptions *options)
{
    for (int k = 0; k < data->signature->dim_count; k++)
        for (int p = 0; p < data->func->param_count && !argdata_find_size(options, data->signature->dims[k]); p++) {
            const Buffer *buffer = data->func->params[p].buffer;
            for (int i = 0; buffer && buffer->strides && i < buffer->ndim; i++) {
                int64_t stride = expr_is_var(buffer->strides[i], data->signature->dims[k]) ? compact_stride(&data->items[p], i) : 0;
                data->dims[k] = stride > data->dims[k] ? stride : data->dims[k];
            }
        }
}

/* Evaluates strides and offset; false where they are not determined, or where an element would lie before the memory or too far. */
static bool item_layout(ArgData *data, ArgItem *item, const Map *values)
{
    const Buffer *buffer = item->param->buffer;
    if (!argdata_evaluate(data->ctx, values, buffer->elem_offset, &item->arg.elem_offset) || item->arg.elem_offset < 0)
        return false;
    int64_t first = item->arg.elem_offset, last = first;
    for (int i = 0; i < buffer->ndim; i++) {
        item->strides[i] = compact_stride(item, i);
        if (buffer->strides && !argdata_evaluate(data->ctx, values, buffer->strides[i], &item->strides[i]))
            return false;
        int64_t reach = 0;
        if (item->shape[i] > 0 && (__builtin_mul_overflow(item->shape[i] - 1, item->strides[i], &reach) || reach > MOST_BYTES || reach < -first))
            return false;
        *(reach < 0 ? &first : &last) += reach;
    }
    item->arg.bytes = argdata_element_count(item) ? (last + 1) * dtype_bytes(dtype_scalar(buffer->dtype)) * buffer->dtype.lanes : 0;
    item->arg.shape = item->shape;
    item->arg.strides = item->strides;
    return item->arg.bytes >= 0 && item->arg.bytes <= MOST_BYTES;
}

static void item_allocate(ArgItem *item)
{
    size_t bytes = (size_t)item->arg.bytes, total = (bytes + 2 * GUARD_BYTES + 63) / 64 * 64;
    item->allocation = aligned_alloc(64, total);
    CHECK(item->allocation);
    memset(item->allocation, GUARD_PATTERN, total);
    item->arg.data = item->allocation + GUARD_BYTES;
}

static bool item_is_damaged(const ArgItem *item)
{
    const unsigned char *before = (unsigned char *)item->allocation, *after = before + GUARD_BYTES + item->arg.bytes;
    for (int i = 0; i < GUARD_BYTES; i++)
        if (before[i] != GUARD_PATTERN || after[i] != GUARD_PATTERN)
            return true;
    return false;
}

const Param *argdata_damaged(const ArgData *data)
{
    for (int i = 0; i < data->func->param_count; i++)
        if (data->items[i].allocation && item_is_damaged(&data->items[i]))
            return data->items[i].param;
    return NULL;
}

/* --- Construction --- */
static void choose_sizes(ArgData *data, const ArgOptions *options, uint64_t *random)
{
    for (int i = 0; i < data->signature->dim_count; i++)
        data->dims[i] = choose_size(options, data->signature->dims[i], random);
    for (int i = 0; i < data->func->param_count; i++) {
        const Var *var = data->func->params[i].param;
        InterpValue *scalar = &data->items[i].arg.scalar;
        if (data->func->params[i].buffer || !dtype_is_integer(var->dtype))
            continue;
        data->items[i].chosen = is_size(data->func, var) || argdata_find_size(options, var);
        if (data->items[i].chosen)
            scalar->as.integer = choose_size(options, var, random);
    }
}

/* Variables that are strides or offsets only are laid out, not drawn. */
static void clear_layout_dims(ArgData *data, const ArgOptions *options)
{
    for (int k = 0; k < data->signature->dim_count; k++)
        if (!argdata_shapes_use(data->func, data->signature->dims[k]) && !argdata_find_size(options, data->signature->dims[k]))
            data->dims[k] = 0;
}

static bool lay_out(ArgData *data, const ArgOptions *options)
{
    Map values = argdata_values(data);
    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < data->func->param_count; i++) {
            ArgItem *item = &data->items[i];
            if (!item->param->buffer)
                continue;
            if (!(step ? item_layout(data, item, &values) : item_shape(data, item, &values))) {
                diag_error(data->ctx, item->param->buffer->span,
                           step ? "parameter '%s' cannot be laid out: a stride or the offset is not known or too large, or an element lies before the first "
                                  "one in memory; choose them with --dim"
                                : "the size of parameter '%s' cannot be computed, or it is too large; choose sizes with --dim",
                           item->param->buffer->name);
                return false;
            }
        }
        choose_strides(data, options);
        values = argdata_values(data);
    }
    return true;
}

static void fill_scalar(ArgItem *item, const ArgUse *use, uint64_t random)
{
    DType t = item->param->param->dtype;
    item->arg.scalar.dtype = t;
    if (dtype_is_float(t))
        item->arg.scalar.as.real = dtype_round_float(t, random_unit(&random));
    else if (!item->chosen)
        item->arg.scalar.as.integer = random_integer(t, use, &random);
}

static void fill_items(ArgData *data, const ArgOptions *options)
{
    ArgUse uses[data->func->param_count + 1];
    argdata_find_uses(data, uses);
    for (int i = 0; i < data->func->param_count; i++) {
        ArgItem *item = &data->items[i];
        const ArgArray *given = argdata_given(data, options, i);
        uint64_t random = hash_mix(data->seed, (uint64_t)i + 1);
        if (!item->param->buffer) {
            fill_scalar(item, &uses[i], random);
        } else {
            item_allocate(item);
            item->output = data->signature->written[i];
            item->arg.unwritten = item->output && !data->signature->read[i] && !given;
            fill_item(item, &uses[i], random);
            if (item->arg.unwritten && options->zero_outputs)
                memset(item->arg.data, 0, (size_t)item->arg.bytes);
        }
        if (given)
            argdata_take(data, given, i);
    }
}

static bool has_bare_handle(const ArgData *data)
{
    for (int i = 0; i < data->func->param_count; i++) {
        const Param *param = &data->func->params[i];
        if (param->buffer || param->param->dtype.code != DT_HANDLE)
            continue;
        diag_error(data->ctx, param->param->span, "parameter '%s' of function '%s' is a pointer to memory of unknown size",
                   param->param->name, data->func->name);
        return true;
    }
    return false;
}

ArgData *argdata_new(Context *ctx, const Func *func, const ArgOptions *options)
{
    ArgData *data = ARENA_NEW(ctx->arena, ArgData);
    *data = (ArgData){.ctx = ctx, .func = func, .signature = func_signature(ctx, func), .seed = options->seed};
    data->items = ARENA_ARRAY(ctx->arena, ArgItem, func->param_count);
    data->dims = ARENA_ARRAY(ctx->arena, int64_t, data->signature->dim_count);
    uint64_t random = options->seed;
    for (int i = 0; i < func->param_count; i++)
        data->items[i].param = &func->params[i];
    ArgOptions all;
    if (has_bare_handle(data) || !check_names(data, options) || !argdata_find_sizes(data, options, &all))
        return NULL;
    choose_sizes(data, &all, &random);
    clear_layout_dims(data, &all);
    if (!lay_out(data, &all) || !argdata_check_given(data, &all))
        return NULL;
    fill_items(data, &all);
    return data;
}

ArgData *argdata_with_sizes_of(const ArgData *source, const Func *func)
{
    Context *ctx = source->ctx;
    ArgOptions none = {.seed = source->seed};
    ArgData *data = arena_copy(ctx->arena, source, sizeof *data);
    data->func = func;
    data->signature = func_signature(ctx, func);
    data->items = ARENA_ARRAY(ctx->arena, ArgItem, func->param_count);
    data->dims = ARENA_ARRAY(ctx->arena, int64_t, data->signature->dim_count);
    for (int i = 0; i < func->param_count; i++)
        data->items[i] = (ArgItem){.param = &func->params[i], .chosen = source->items[i].chosen, .arg.scalar = source->items[i].arg.scalar};
    for (int i = 0; i < data->signature->dim_count; i++)
        for (int k = 0; k < source->signature->dim_count; k++)
            if (source->signature->dims[k] == data->signature->dims[i])
                data->dims[i] = source->dims[k];
    if (!lay_out(data, &none))
        return NULL;
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].buffer)
            item_allocate(&data->items[i]);
    return data;
}

ArgData *argdata_copy(const ArgData *data)
{
    ArgData *copy = arena_copy(data->ctx->arena, data, sizeof *data);
    copy->items = arena_copy(data->ctx->arena, data->items, sizeof *data->items * (size_t)data->func->param_count);
    for (int i = 0; i < data->func->param_count; i++) {
        if (!data->items[i].allocation)
            continue;
        item_allocate(&copy->items[i]);
        memcpy(copy->items[i].arg.data, data->items[i].arg.data, (size_t)data->items[i].arg.bytes);
    }
    return copy;
}

void argdata_free(ArgData *data)
{
    for (int i = 0; i < data->func->param_count; i++)
        free(data->items[i].allocation);
}

InterpArg *argdata_interp_args(const ArgData *data)
{
    InterpArg *args = ARENA_ARRAY(data->ctx->arena, InterpArg, data->func->param_count);
    for (int i = 0; i < data->func->param_count; i++)
        args[i] = data->items[i].arg;
    return args;
}
