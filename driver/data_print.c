/* --print: results, or slices of them, as NumPy prints them; see data.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "driver/data.h"

/* The elements of one dimension that are taken: COUNT of them, from FIRST on in steps. */
typedef struct {
    int64_t first, step, count;
    bool dropped; /* by a single index, which takes the dimension away */
} SliceRange;

typedef struct {
    Driver *driver;
    const char *word, *at;
} Reader;

static bool fail(const Reader *reader, const char *reason)
{
    return driver_error(reader->driver, "--print %s: %s", reader->word, reason);
}

static bool skip(Reader *reader, char expected)
{
    reader->at += strspn(reader->at, " ");
    if (*reader->at != expected)
        return false;
    reader->at++;
    return true;
}

/* An integer, where one stands. */
static bool read_number(Reader *reader, int64_t *number)
{
    char *end;
    reader->at += strspn(reader->at, " ");
    if (*reader->at != '-' && *reader->at != '+' && !isdigit((unsigned char)*reader->at))
        return false;
    *number = strtoll(reader->at, &end, 10);
    bool read = end != reader->at;
    reader->at = end;
    return read;
}

/* A bound of a slice as Python takes it: negative ones count from the end, and what is outside is cut to LOW..HIGH. */
static int64_t clamp(int64_t bound, int64_t extent, int64_t low, int64_t high)
{
    bound += bound < 0 ? extent : 0;
    return bound < low ? low : bound > high ? high : bound;
}

static SliceRange slice_range(int64_t extent, const int64_t *start, const int64_t *stop, int64_t step)
{
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? extent - 1 : extent;
    int64_t first = start ? clamp(*start, extent, low, high) : step < 0 ? high : low;
    int64_t end = stop ? clamp(*stop, extent, low, high) : step < 0 ? low : high;
    int64_t distance = step < 0 ? first - end : end - first, stride = step < 0 ? -step : step;
    return (SliceRange){first, step, distance > 0 ? (distance - 1) / stride + 1 : 0, false};
}

/* One index or slice of a dimension of EXTENT elements; false after a diagnostic. */
static bool read_range(Reader *reader, int64_t extent, SliceRange *range)
{
    int64_t start, stop, step = 1;
    bool has_start = read_number(reader, &start);
    if (!skip(reader, ':')) {
        if (!has_start)
            return fail(reader, "an index is a number or a slice: C[0:4, 2]");
        *range = (SliceRange){start < 0 ? start + extent : start, 1, 1, true};
        return (range->first >= 0 && range->first < extent) || fail(reader, "the index is out of bounds");
    }
    bool has_stop = read_number(reader, &stop);
    if (skip(reader, ':') && read_number(reader, &step) && (!step || step < -INT32_MAX || step > INT32_MAX))
        return fail(reader, "the step of a slice cannot be 0");
    *range = slice_range(extent, has_start ? &start : NULL, has_stop ? &stop : NULL, step);
    return true;
}

/* An ellipsis, where one stands. */
static bool read_ellipsis(Reader *reader)
{
    reader->at += strspn(reader->at, " ");
    bool stands = !strncmp(reader->at, "...", 3);
    reader->at += stands ? 3 : 0;
    return stands;
}

/* How many indices stand behind an ellipsis. */
static int indices_left(const Reader *reader)
{
    int count = 0;
    for (const char *at = reader->at; *at && *at != ']'; at++)
        count += *at == ',' && at[1 + strspn(at + 1, " ")] != ']';
    return count;
}

/* Reads the indices behind the name, if there are any, for the first dimensions of ARRAY, and behind an ellipsis for its last ones; all of the
   others are taken. */
static bool read_ranges(Reader *reader, const NpyArray *array, SliceRange *ranges)
{
    for (int i = 0; i < array->ndim; i++)
        ranges[i] = (SliceRange){0, 1, array->shape[i], false};
    if (!*reader->at)
        return true;
    bool has_ellipsis = false;
    skip(reader, '[');
    for (int i = 0; !skip(reader, ']'); i++) {
        bool ellipsis = read_ellipsis(reader);
        if (ellipsis && has_ellipsis)
            return fail(reader, "there is one ellipsis at most");
        if (ellipsis ? i + indices_left(reader) > array->ndim : i == array->ndim)
            return fail(reader, "there are more indices than dimensions");
        if (ellipsis)
            i = array->ndim - indices_left(reader) - 1;
        else if (!read_range(reader, array->shape[i], &ranges[i]))
            return false;
        has_ellipsis |= ellipsis;
        if (!skip(reader, ',') && *reader->at != ']')
            return fail(reader, "an index is a number or a slice: C[0:4, 2]");
    }
    return !*reader->at || fail(reader, "there is text behind the indices");
}

/* Copies the elements of dimensions from DIM on to *TO. */
static void take(const NpyArray *array, const SliceRange *ranges, int dim, int64_t base, char **to)
{
    size_t bytes = (size_t)dtype_bytes(array->dtype);
    if (dim == array->ndim) {
        memcpy(*to, array->data + (size_t)base * bytes, bytes);
        *to += bytes;
        return;
    }
    for (int64_t i = 0; i < ranges[dim].count; i++)
        take(array, ranges, dim + 1, base * array->shape[dim] + ranges[dim].first + i * ranges[dim].step, to);
}

static NpyArray slice(Arena *arena, const NpyArray *array, const SliceRange *ranges)
{
    int64_t *shape = ARENA_ARRAY(arena, int64_t, array->ndim), count = 1;
    int ndim = 0;
    for (int i = 0; i < array->ndim; i++) {
        count *= ranges[i].count;
        if (!ranges[i].dropped)
            shape[ndim++] = ranges[i].count;
    }
    char *data = arena_alloc(arena, (size_t)count * (size_t)dtype_bytes(array->dtype)), *end = data;
    take(array, ranges, 0, 0, &end);
    return (NpyArray){array->dtype, ndim, shape, data};
}

/* The types that NumPy lacks print as the values that they are. */
static NpyArray printable(Arena *arena, const NpyArray *array, DType type)
{
    int64_t count = npy_count(array);
    if (dtype_equal(type, array->dtype) || !dtype_is_float(type))
        return *array;
    char *data = arena_alloc(arena, (size_t)count * sizeof(float));
    for (int64_t i = 0; i < count; i++)
        interp_write_real(DTYPE_FLOAT32, data + i * (int64_t)sizeof(float),
                          interp_read_real(type, array->data + i * dtype_bytes(array->dtype)));
    return (NpyArray){DTYPE_FLOAT32, array->ndim, array->shape, data};
}

static bool print_one(Driver *driver, const Func *func, const ArgData *data, const char *word)
{
    Arena *arena = driver->ctx->arena;
    size_t length = strcspn(word, "[");
    int parameter = data_find_buffer(driver, "--print", func, arena_strndup(arena, word, length));
    if (parameter < 0)
        return false;
    NpyArray all = argdata_array(data, parameter);
    SliceRange *ranges = ARENA_ARRAY(arena, SliceRange, all.ndim);
    Reader reader = {driver, word, word + length};
    if (!read_ranges(&reader, &all, ranges))
        return false;
    NpyArray part = slice(arena, &all, ranges);
    NpyArray shown = printable(arena, &part, dtype_scalar(func->params[parameter].buffer->dtype));
    fprintf(driver->out, "%s\n", npy_text(arena, &shown));
    return true;
}

bool data_print(Driver *driver, const Func *func, const ArgData *data)
{
    for (int i = 0; i < driver->options.data_print.count; i++)
        if (!print_one(driver, func, data, driver->options.data_print.data[i]))
            return false;
    return true;
}
