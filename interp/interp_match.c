/* Binds declared buffers to memory that exists: parameters to arguments, views to regions. */
#include "interp/interp_internal.h"

/* A variable that a pattern defines takes the value. */
static void pattern_define(Thread *thread, const Pattern *pattern, int64_t value)
{
    if (pattern->defines >= 0)
        thread->slots[pattern->defines].integer = value;
}

/* Whether a pattern fits the value; a variable must be able to hold it. */
static bool pattern_fits(Thread *thread, const Pattern *pattern, int64_t value)
{
    return dtype_holds(pattern->value->dtype, value) && eval_integer(pattern->value, thread) == value;
}

/* --- Parameters --- */
static bool require(Thread *thread, bool holds, const Param *param, const char *what, int64_t given, const EvalNode *declared)
{
    if (!holds)
        report_finding(thread, INTERP_ASSERTION, param, thread->run->program->func->name_span,
                       "is called with %s of '%s' = %lld, but it is declared as %lld", what, param->buffer->name, (long long)given,
                       (long long)(declared ? eval_integer(declared, thread) : 0));
    return holds;
}

static int64_t argument_stride(const InterpArg *arg, const Buffer *buffer, int dim)
{
    if (buffer->auto_broadcast && arg->shape[dim] == 1 && !arg->strides)
        return 0;
    int64_t stride = 1;
    for (int i = arg->ndim - 1; i > dim && !arg->strides; i--)
        stride = (int64_t)((uint64_t)stride * (uint64_t)arg->shape[i]);
    return arg->strides ? arg->strides[dim] : stride;
}

static void define_argument(Thread *thread, const BufferPattern *pattern, const InterpArg *arg)
{
    for (int i = 0; i < arg->ndim; i++) {
        pattern_define(thread, &pattern->shape[i], arg->shape[i]);
        if (pattern->strides)
            pattern_define(thread, &pattern->strides[i], argument_stride(arg, pattern->buffer->buffer, i));
    }
    pattern_define(thread, &pattern->elem_offset, arg->elem_offset);
}

/* True when the layout that ARG states is the compact one, which a declaration without strides means. */
static bool is_compact(const InterpArg *arg)
{
    int64_t stride = 1;
    for (int i = arg->ndim - 1; i >= 0; i--) {
        if (arg->strides && arg->strides[i] != stride && arg->shape[i] > 1)
            return false;
        stride *= arg->shape[i];
    }
    return true;
}

static bool check_argument(Thread *thread, const Param *param, const BufferPattern *pattern, const InterpArg *arg)
{
    bool fits = true;
    for (int i = 0; i < arg->ndim; i++) {
        fits = fits && require(thread, arg->shape[i] >= 0 && pattern_fits(thread, &pattern->shape[i], arg->shape[i]), param, "an extent",
                               arg->shape[i], pattern->shape[i].value);
        int64_t stride = argument_stride(arg, param->buffer, i);
        if (pattern->strides)
            fits = fits && require(thread, pattern_fits(thread, &pattern->strides[i], stride), param, "a stride", stride,
                                   pattern->strides[i].value);
        else
            fits = fits && require(thread, is_compact(arg), param, "a stride", stride, NULL);
    }
    return fits && require(thread, pattern_fits(thread, &pattern->elem_offset, arg->elem_offset), param, "the offset", arg->elem_offset,
                           pattern->elem_offset.value);
}

/* The bytes from the start of the memory that the buffer of ARG reaches. */
static int64_t argument_bytes(const InterpArg *arg, const Buffer *buffer)
{
    int64_t elements = arg->elem_offset + 1;
    for (int i = 0; i < arg->ndim; i++) {
        if (arg->shape[i] == 0)
            return 0;
        elements += (arg->shape[i] - 1) * argument_stride(arg, buffer, i);
    }
    return elements * buffer->dtype.lanes * dtype_bytes(dtype_scalar(buffer->dtype));
}

static bool check_bytes(Thread *thread, const Param *param, const InterpArg *arg)
{
    int64_t needed = argument_bytes(arg, param->buffer);
    if (needed > arg->bytes)
        report_finding(thread, INTERP_ASSERTION, param, thread->run->program->func->name_span,
                       "is called with %lld bytes of memory for '%s', which needs %lld", (long long)arg->bytes, param->buffer->name,
                       (long long)needed);
    return needed <= arg->bytes;
}

static void bind_argument(Thread *thread, int index, const InterpArg *arg)
{
    Run *run = thread->run;
    const Param *param = &run->program->func->params[index];
    const BufferPattern *pattern = &run->program->params[index];
    const Buffer *buffer = param->buffer;
    DType dtype = buffer ? buffer->dtype : param->param->pointee.code != DT_VOID ? param->param->pointee : DTYPE(DT_UINT, 8);
    if (buffer && (!check_argument(thread, param, pattern, arg) || !check_bytes(thread, param, arg)))
        return;
    Memory *memory = memory_new(thread, buffer ? buffer->name : param->param->name, (uint64_t)run->program->param_slots[index],
                                buffer ? buffer->scope : "global", dtype, arg->bytes, arg->data ? arg->data : "");
    memory->is_parameter = true;
    memory->starts_written = !arg->unwritten;
    vec_push(run->arena, &run->params, memory);
    thread->slots[run->program->param_slots[index]].pointer = (Pointer){memory, 0};
    if (buffer)
        memory_bind(thread, pattern->buffer, (Pointer){memory, 0});
}

static void bind_scalar(Thread *thread, int index, const InterpArg *arg)
{
    const Var *var = thread->run->program->func->params[index].param;
    Slot *slot = &thread->slots[thread->run->program->param_slots[index]];
    if (dtype_is_float(var->dtype))
        slot->real = arg->scalar.as.real;
    else
        slot->integer = dtype_wrap(var->dtype, arg->scalar.as.integer);
}

void match_arguments(Thread *thread, const InterpArg *args)
{
    Run *run = thread->run;
    const Func *func = run->program->func;
    for (int i = 0; i < run->options->symbol_count; i++)
        thread->slots[run->program->symbol_slots[i]].integer = run->options->symbols[i].value;
    for (int i = 0; i < func->param_count; i++)
        if (!func->params[i].buffer && func->params[i].param->dtype.code != DT_HANDLE)
            bind_scalar(thread, i, &args[i]);
    for (int i = 0; i < func->param_count; i++) {
        const Param *param = &func->params[i];
        if (!param->buffer || !require(thread, args[i].ndim == param->buffer->ndim, param, "the number of dimensions", args[i].ndim, NULL))
            continue;
        define_argument(thread, &run->program->params[i], &args[i]);
    }
    for (int i = 0; i < func->param_count && !run->stopped; i++)
        if (func->params[i].buffer || func->params[i].param->dtype.code == DT_HANDLE)
            bind_argument(thread, i, &args[i]);
}

/* --- Views --- */
static void report_view(Thread *thread, const MatchInfo *match, const char *what, int64_t found, const Pattern *pattern)
{
    const Region *region = match->region.source;
    report_finding(thread, INTERP_VIEW, match, region->span, "matches '%s' with a region of '%s' whose %s is %lld, not %lld",
                   match->target.buffer->buffer->name, region->buffer->name, what, (long long)found,
                   (long long)eval_integer(pattern->value, thread));
}

static void report_outside_view(Thread *thread, const MatchInfo *match, int dim, int64_t min, int64_t extent, int64_t limit)
{
    const Region *region = match->region.source;
    report_finding(thread, INTERP_OUT_OF_BOUNDS, match, region->span,
                   "matches '%s' with [%lld, %lld) in dimension %d of '%s', out of bounds (extent %lld)",
                   match->target.buffer->buffer->name, (long long)min, (long long)(min + extent), dim, region->buffer->name,
                   (long long)limit);
}

/* The layout of the region: offset and per dimension of the view extent and stride. Leading dimensions that the view lacks are points. */
static int64_t region_layout(Thread *thread, const MatchInfo *match, int64_t *extents, int64_t *strides)
{
    const BufferInfo *source = match->region.buffer;
    const int64_t *shape = thread->dims + source->dims, *source_strides = shape + source->buffer->ndim,
                  *ranges = thread->ranges + match->region.ranges;
    int lead = source->buffer->ndim - match->target.buffer->buffer->ndim;
    uint64_t offset = (uint64_t)thread->bound[source->index].elem_offset;
    for (int i = 0; i < source->buffer->ndim; i++) {
        int64_t min = ranges[2 * i], extent = ranges[2 * i + 1];
        offset += (uint64_t)min * (uint64_t)source_strides[i];
        if (min < 0 || extent > shape[i] - min)
            report_outside_view(thread, match, i, min, extent, shape[i]);
        if (i >= lead) {
            extents[i - lead] = extent;
            strides[i - lead] = source_strides[i];
        }
    }
    return (int64_t)offset;
}

static void check_view(Thread *thread, const MatchInfo *match, const int64_t *extents, const int64_t *strides, int64_t offset)
{
    const BufferPattern *target = &match->target;
    const Buffer *buffer = target->buffer->buffer;
    for (int i = 0; i < buffer->ndim; i++) {
        if (!pattern_fits(thread, &target->shape[i], extents[i]))
            report_view(thread, match, "extent", extents[i], &target->shape[i]);
        if (target->strides && extents[i] > 1 && !pattern_fits(thread, &target->strides[i], strides[i]))
            report_view(thread, match, "stride", strides[i], &target->strides[i]);
    }
    if (!pattern_fits(thread, &target->elem_offset, offset))
        report_view(thread, match, "offset", offset, &target->elem_offset);
    else if (buffer->offset_factor > 1 && offset % buffer->offset_factor)
        report_finding(thread, INTERP_VIEW, match, match->region.source->span,
                       "matches '%s' at offset %lld, which is no multiple of its offset_factor %d", buffer->name, (long long)offset,
                       buffer->offset_factor);
}

/* A view that does not name its offset points to the start of the region itself. */
void match_view(Thread *thread, const MatchInfo *match)
{
    const BufferPattern *target = &match->target;
    const BufferInfo *info = target->buffer;
    int ndim = info->buffer->ndim;
    int64_t *extents = thread->dims + info->dims, *strides = extents + ndim;
    region_evaluate(thread, &match->region);
    int64_t offset = region_layout(thread, match, extents, strides);
    Pointer data = thread->bound[match->region.buffer->index].data;
    if (expr_is_int(info->buffer->elem_offset, 0)) {
        data.byte += offset * info->bytes * info->lanes;
        offset = 0;
    }
    for (int i = 0; i < ndim; i++) {
        pattern_define(thread, &target->shape[i], extents[i]);
        if (target->strides)
            pattern_define(thread, &target->strides[i], strides[i]);
    }
    pattern_define(thread, &target->elem_offset, offset);
    check_view(thread, match, extents, strides, offset);
    thread->bound[info->index] = (BoundBuffer){data, offset};
    thread->slots[info->data_slot].pointer = data;
}
