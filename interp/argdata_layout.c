/* Arguments of a function whose parameters a schedule has given other layouts: the same elements, each at its new place. See argdata.h. */
#include <stdlib.h>
#include <string.h>

#include "interp/argdata_internal.h"
#include "ir/index_value.h"
#include "support/bug.h"

/* A compact box of elements. */
typedef struct {
    int64_t *shape;
    int ndim;
    char *bytes; /* owned */
} Box;

static int64_t element_bytes(const Buffer *buffer)
{
    return (int64_t)dtype_bytes(dtype_scalar(buffer->dtype)) * buffer->dtype.lanes;
}

static int64_t box_count(const Box *box)
{
    int64_t count = 1;
    for (int i = 0; i < box->ndim; i++)
        count *= box->shape[i];
    return count;
}

/* The number of an element of BOX; -1 where it lies outside. */
static int64_t box_place(const Box *box, const int64_t *at)
{
    int64_t place = 0;
    for (int i = 0; i < box->ndim; i++) {
        if (at[i] < 0 || at[i] >= box->shape[i])
            return -1;
        place = place * box->shape[i] + at[i];
    }
    return place;
}

static Box box_new(const ArgData *data, const Map *values, int ndim, const Expr *const *shape, int64_t bytes)
{
    Box box = {ARENA_ARRAY(data->ctx->arena, int64_t, ndim), ndim, NULL};
    for (int i = 0; i < ndim; i++)
        CHECK(argdata_evaluate(data->ctx, values, shape[i], &box.shape[i]));
    int64_t size = box_count(&box) * bytes;
    box.bytes = malloc(size > 0 ? (size_t)size : 1);
    CHECK(box.bytes);
    return box;
}

/* Writes the value of the padding at AT; leaves it as it is where it is not known. */
static void write_padding(const ParamLayout *layout, const Map *values, const int64_t *at, char *to)
{
    const Expr *value = layout->pad_value;
    DType t = layout->before->dtype;
    IndexPoint point = {layout->pad_vars, at, layout->pad_vars ? layout->map.output_count : 0, values};
    int64_t integer;
    if (value && value->kind == EXPR_FLOAT)
        interp_write_real(t, to, value->value.real);
    else if (value && dtype_is_integer(t) && index_value(&point, value, &integer))
        interp_write_integer(t, to, integer);
    else if (value && value->kind == EXPR_CAST && dtype_is_float(t) && index_value(&point, value->args[0], &integer))
        interp_write_real(t, to, dtype_round_float(t, (double)integer));
}

static void pad_box(const ParamLayout *layout, const Map *values, Box *box, int64_t bytes)
{
    int64_t at[box->ndim + 1], count = box_count(box);
    memset(at, 0, sizeof at);
    memset(box->bytes, UNWRITTEN_PATTERN, (size_t)(count * bytes));
    for (int64_t i = 0; i < count; i++) {
        write_padding(layout, values, at, box->bytes + i * bytes);
        argdata_next(box->shape, box->ndim, at);
    }
}

/* FROM through LAYOUT into TO, or, BACK, the elements of TO at their places in FROM. */
static void move_elements(const ParamLayout *layout, const Map *values, const Box *from, const Box *to, int64_t bytes, bool back)
{
    int64_t at[from->ndim + 1], image[to->ndim + 1], count = box_count(from);
    memset(at, 0, sizeof at);
    for (int64_t i = 0; i < count; i++) {
        CHECK(place_map_apply(&layout->map, values, at, image));
        int64_t place = box_place(to, image);
        CHECK(place >= 0);
        char *outside = from->bytes + i * bytes, *inside = to->bytes + place * bytes;
        memcpy(back ? outside : inside, back ? inside : outside, (size_t)bytes);
        argdata_next(from->shape, from->ndim, at);
    }
}

/* Where the first element of ITEM lies; the others follow, for layouts that steps change have no strides. */
static char *first_element(const ArgItem *item)
{
    return (char *)item->arg.data + item->arg.elem_offset * element_bytes(item->param->buffer);
}

/* The boxes from the first layout of a parameter to the last one, with the elements of the first, in ITEM, moved on. */
static Box *boxes_of(const ArgData *data, const Map *values, const ParamLayout *const *steps, int count, const Buffer *last, const ArgItem *item)
{
    Box *boxes = ARENA_ARRAY(data->ctx->arena, Box, count + 1);
    int64_t bytes = element_bytes(last);
    for (int i = 0; i <= count; i++) {
        const Buffer *buffer = i < count ? steps[i]->before : last;
        boxes[i] = box_new(data, values, buffer->ndim, buffer->shape, bytes);
        if (!i) {
            memcpy(boxes[0].bytes, first_element(item), (size_t)(box_count(&boxes[0]) * bytes));
            continue;
        }
        pad_box(steps[i - 1], values, &boxes[i], bytes);
        move_elements(steps[i - 1], values, &boxes[i - 1], &boxes[i], bytes, false);
    }
    return boxes;
}

static const ParamLayout **layout_steps(const ArgData *data, const Param *param, int *count)
{
    *count = 0;
    for (const ParamLayout *step = param->layout; step; step = step->earlier)
        ++*count;
    const ParamLayout **steps = ARENA_ARRAY(data->ctx->arena, const ParamLayout *, *count);
    int i = *count;
    for (const ParamLayout *step = param->layout; step; step = step->earlier)
        steps[--i] = step;
    return steps;
}

static void free_boxes(Box *boxes, int count)
{
    for (int i = 0; i < count; i++)
        free(boxes[i].bytes);
}

bool argdata_has_layouts(const Func *func)
{
    for (int i = 0; i < func->param_count; i++)
        if (func->params[i].layout)
            return true;
    return false;
}

static void place_item(ArgData *data, const Map *values, const ArgItem *source, ArgItem *item)
{
    int count;
    const ParamLayout **steps = layout_steps(data, item->param, &count);
    item->arg.unwritten = source->arg.unwritten;
    item->output = source->output;
    if (!count) {
        memcpy(item->arg.data, source->arg.data, (size_t)item->arg.bytes);
        return;
    }
    Box *boxes = boxes_of(data, values, steps, count, item->param->buffer, source);
    memcpy(first_element(item), boxes[count].bytes, (size_t)(box_count(&boxes[count]) * element_bytes(item->param->buffer)));
    free_boxes(boxes, count + 1);
}

ArgData *argdata_for_scheduled(const ArgData *source, const Func *func)
{
    ArgData *data = argdata_with_sizes_of(source, func);
    Map values = data ? argdata_values(data) : (Map){0};
    for (int i = 0; data && i < func->param_count; i++)
        if (func->params[i].buffer)
            place_item(data, &values, &source->items[i], &data->items[i]);
    return data;
}

void argdata_take_results(const ArgData *scheduled, ArgData *result)
{
    Map values = argdata_values(scheduled);
    for (int i = 0; i < scheduled->func->param_count; i++) {
        const ArgItem *item = &scheduled->items[i];
        ArgItem *to = &result->items[i];
        int count;
        const ParamLayout **steps = layout_steps(scheduled, item->param, &count);
        if (!item->param->buffer)
            continue;
        if (!count) {
            memcpy(to->arg.data, item->arg.data, (size_t)to->arg.bytes);
            continue;
        }
        Box *boxes = boxes_of(scheduled, &values, steps, count, item->param->buffer, to);
        memcpy(boxes[count].bytes, first_element(item), (size_t)(box_count(&boxes[count]) * element_bytes(item->param->buffer)));
        for (int k = count - 1; k >= 0; k--)
            move_elements(steps[k], &values, &boxes[k], &boxes[k + 1], element_bytes(item->param->buffer), true);
        memcpy(first_element(to), boxes[0].bytes, (size_t)(box_count(&boxes[0]) * element_bytes(item->param->buffer)));
        free_boxes(boxes, count + 1);
    }
}
