/* See elements.h.

     A: T.Buffer((8, 4), strides=[1, 1])      A[0, 1] and A[1, 0] are one cell
     A: T.Buffer((8, 4), strides=[s, 1])      distinct where s > 3

   Two elements are one cell when their indices differ by d, not all zero, with |d[i]| < shape[i] and the sum of d[i] * strides[i] zero. */
#include "ir/elements.h"

#include <string.h>

#include "ir/walk.h"

enum { MOST_TRIALS = 100000 };

bool buffer_is_dense(const Buffer *buffer)
{
    return !buffer->strides || (buffer->ndim == 1 && expr_is_int(buffer->strides[0], 1));
}

bool buffer_is_compact(const Buffer *buffer)
{
    int64_t count = 1, extent;
    for (int d = buffer->ndim - 1; d >= 0 && !buffer_is_dense(buffer); d--)
        if (!expr_is_int(buffer->strides[d], count) || !expr_const_int(buffer->shape[d], &extent) || __builtin_mul_overflow(count, extent, &count))
            return false;
    return true;
}

bool buffer_is_empty(const Buffer *buffer)
{
    for (int i = 0; i < buffer->ndim; i++)
        if (expr_is_int(buffer->shape[i], 0))
            return true;
    return false;
}

/* The lanes from the start of a row on fill COUNT elements: the whole rows that these are, over RANGES. */
static bool fill_rows(Context *ctx, const Buffer *buffer, const Expr *const *indices, int64_t count, Range *ranges)
{
    for (int d = buffer->ndim - 1; d >= 0; d--) {
        int64_t extent = 1, index = 0;
        bool known = expr_const_int(indices[d], &index), sized = expr_const_int(buffer->shape[d], &extent) && extent > 0;
        bool last = d == 0 || count == 1 || (known && sized && index + count <= extent);
        ranges[d] = (Range){indices[d], expr_int(ctx, buffer->shape[d]->dtype, count)};
        if (last) {
            for (int k = 0; k < d; k++)
                ranges[k] = (Range){indices[k], expr_int(ctx, buffer->shape[k]->dtype, 1)};
            return true;
        }
        if (!known || index != 0 || !sized || count % extent)
            return false;
        ranges[d].min = expr_int(ctx, buffer->shape[d]->dtype, 0);
        ranges[d].extent = buffer->shape[d];
        count /= extent;
    }
    return true;
}

LanesReach lanes_reach(Context *ctx, const Buffer *buffer, const Expr *const *indices, Range *ranges)
{
    int64_t stride, extent, first = 0, span;
    const Expr *index = buffer->ndim > 1 ? indices[buffer->ndim - 1] : NULL;
    if (!index || index->kind != EXPR_RAMP || index->args[0]->dtype.lanes != 1 || !expr_const_int(index->args[1], &stride) || stride <= 0 ||
        !expr_const_int(buffer->shape[buffer->ndim - 1], &extent) || __builtin_mul_overflow(stride, index->dtype.lanes - 1, &span))
        return LANES_IN_ROW;
    bool known = expr_const_int(index->args[0], &first);
    if (span < extent && (!known || first < extent - span))
        return LANES_IN_ROW;
    const Expr **starts = arena_copy(ctx->arena, indices, sizeof *indices * (size_t)buffer->ndim);
    starts[buffer->ndim - 1] = index->args[0];
    bool rows = known && first == 0 && stride == 1 && extent > 0 && (span + 1) % extent == 0 && buffer_is_compact(buffer);
    return rows && fill_rows(ctx, buffer, starts, span + 1, ranges) ? LANES_OF_ROWS : LANES_ANYWHERE;
}

/* --- numbers --- */

static int64_t magnitude(int64_t value)
{
    return value < 0 ? (value == INT64_MIN ? INT64_MAX : -value) : value;
}

static bool is_empty(const int64_t *shape, int ndim)
{
    for (int i = 0; i < ndim; i++)
        if (shape[i] <= 0)
            return true;
    return false;
}

/* How far the dimensions besides DIM with strides no larger than its own reach; INT64_MAX where that is no number of 64 bits. */
static int64_t inner_reach(const int64_t *shape, const int64_t *strides, int ndim, int dim)
{
    int64_t reach = 0;
    for (int i = 0; i < ndim; i++) {
        int64_t part;
        if (i == dim || magnitude(strides[i]) > magnitude(strides[dim]))
            continue;
        if (__builtin_mul_overflow(shape[i] - 1, magnitude(strides[i]), &part) || __builtin_add_overflow(reach, part, &reach))
            return INT64_MAX;
    }
    return reach;
}

bool strides_keep_apart(const int64_t *shape, const int64_t *strides, int ndim)
{
    for (int i = 0; i < ndim && !is_empty(shape, ndim); i++)
        if (shape[i] > 1 && magnitude(strides[i]) <= inner_reach(shape, strides, ndim, i))
            return false;
    return true;
}

/* --- search for two indices of one cell --- */

typedef struct {
    const int64_t *shape, *strides;
    int ndim, *order; /* the dimensions, those of large strides first */
    int64_t *difference;
    int trials;
} CellSearch;

static int64_t reach_from(const CellSearch *search, int place)
{
    int64_t reach = 0;
    for (int i = place; i < search->ndim; i++)
        reach += (search->shape[search->order[i]] - 1) * magnitude(search->strides[search->order[i]]);
    return reach;
}

static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b && (a < 0) != (b < 0));
}

/* Chooses the differences from PLACE on so that they add up to -SUM; SOME: one before is not zero. */
static bool choose_difference(CellSearch *search, int place, int64_t sum, bool some)
{
    if (place == search->ndim)
        return some && sum == 0;
    int dim = search->order[place];
    int64_t most = search->shape[dim] - 1, stride = search->strides[dim], rest = reach_from(search, place + 1);
    int64_t low = some ? -most : 0, high = most; /* the first difference that is not zero is positive */
    if (stride) {
        int64_t a = divide_down(-sum - rest + magnitude(stride) - 1, magnitude(stride)), b = divide_down(-sum + rest, magnitude(stride));
        int64_t from = stride > 0 ? a : -b, to = stride > 0 ? b : -a;
        low = low > from ? low : from;
        high = high < to ? high : to;
    }
    for (int64_t d = low; d <= high; d++) {
        if (++search->trials > MOST_TRIALS)
            return false;
        search->difference[dim] = d;
        if (choose_difference(search, place + 1, sum + d * stride, some || d))
            return true;
    }
    return false;
}

static void order_dims(CellSearch *search)
{
    for (int i = 0; i < search->ndim; i++) {
        int at = i;
        for (; at > 0 && magnitude(search->strides[search->order[at - 1]]) < magnitude(search->strides[i]); at--)
            search->order[at] = search->order[at - 1];
        search->order[at] = i;
    }
}

static ElementsVerdict search_cell(const int64_t *shape, const int64_t *strides, int ndim, int64_t *first, int64_t *second)
{
    int order[ndim + 1];
    int64_t difference[ndim + 1];
    CellSearch search = {shape, strides, ndim, order, difference, 0};
    order_dims(&search);
    if (!choose_difference(&search, 0, 0, false))
        return search.trials > MOST_TRIALS ? ELEMENTS_UNKNOWN : ELEMENTS_DISTINCT;
    for (int i = 0; i < ndim; i++) {
        first[i] = difference[i] > 0 ? 0 : -difference[i];
        second[i] = difference[i] > 0 ? difference[i] : 0;
    }
    return ELEMENTS_OVERLAP;
}

/* --- declarations --- */

ElementsVerdict buffer_elements(const Buffer *buffer, int64_t *first, int64_t *second)
{
    int64_t shape[buffer->ndim + 1], strides[buffer->ndim + 1], span = 0, part;
    memset(shape, 0, sizeof shape);
    memset(strides, 0, sizeof strides);
    if (!buffer->strides)
        return ELEMENTS_DISTINCT;
    bool constant = true;
    for (int i = 0; i < buffer->ndim; i++) {
        bool known = expr_const_int(buffer->shape[i], &shape[i]);
        if (known && shape[i] <= 0)
            return ELEMENTS_DISTINCT; /* there are none */
        known = known && expr_const_int(buffer->strides[i], &strides[i]) && !__builtin_mul_overflow(shape[i] - 1, magnitude(strides[i]), &part) &&
                !__builtin_add_overflow(span, part, &span);
        constant &= known;
    }
    if (!constant || span > INT64_MAX / 4)
        return ELEMENTS_UNKNOWN;
    return strides_keep_apart(shape, strides, buffer->ndim) ? ELEMENTS_DISTINCT : search_cell(shape, strides, buffer->ndim, first, second);
}

/* --- what is written --- */

typedef struct {
    Context *ctx;
    Map written;
    Map sources; /* view -> the Buffer that it is a region of */
} WriteSearch;

static void add_written(WriteSearch *search, const Buffer *buffer)
{
    for (; buffer && !map_has(&search->written, buffer); buffer = map_get(&search->sources, buffer))
        map_set(search->ctx->arena, &search->written, buffer, (void *)buffer);
}

static bool find_write(Visitor *visitor, const Stmt *stmt)
{
    WriteSearch *search = visitor->data;
    if (stmt->kind == STMT_STORE)
        add_written(search, stmt->as.store.buffer);
    if (stmt->kind != STMT_BLOCK)
        return true;
    const BlockStmt *block = &stmt->as.block;
    for (int i = 0; i < block->match_count; i++)
        map_set(search->ctx->arena, &search->sources, block->matches[i].target, block->matches[i].source.buffer);
    for (int i = 0; i < block->write_count; i++)
        add_written(search, block->writes[i].buffer);
    return true;
}

Map func_written_buffers(Context *ctx, const Func *func)
{
    WriteSearch search = {.ctx = ctx};
    Visitor visitor = {.stmt = find_write, .data = &search};
    visit_stmt(&visitor, func->body);
    return search.written;
}
