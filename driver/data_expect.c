/* --expect: results compared with arrays of files, by the measure of numpy.allclose; see data.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/data.h"

typedef struct {
    const char *name, *from;
    double rtol, atol;
    bool stated;    /* a tolerance was given, which holds for integers too */
    bool equal_nan;
} Expectation;

typedef struct {
    int64_t count, worst; /* elements beyond their bounds; the index of the one that is furthest beyond */
    double excess, bound;
} Difference;

/* --- The word --- */
static bool read_tolerance(Driver *driver, const char *word, const char *text, double *tolerance)
{
    char *end;
    *tolerance = strtod(text, &end);
    bool good = end != text && !*end && *tolerance >= 0;
    return good || driver_error(driver, "--expect %s: '%s' is no tolerance; a number from 0 on is", word, text);
}

/* Takes the settings at the end of NAME=PLACE[,rtol=X][,atol=X][,equal_nan=True]. False after a diagnostic. */
static bool read_word(Driver *driver, const char *word, Expectation *expectation)
{
    *expectation = (Expectation){.rtol = 1e-5, .atol = 1e-8};
    char *rest = arena_strndup(driver->ctx->arena, word, strlen(word));
    for (char *comma; (comma = strrchr(rest, ','));) {
        const char *setting = comma + 1;
        bool good = true;
        if (!strncmp(setting, "rtol=", 5))
            good = expectation->stated = read_tolerance(driver, word, setting + 5, &expectation->rtol);
        else if (!strncmp(setting, "atol=", 5))
            good = expectation->stated = read_tolerance(driver, word, setting + 5, &expectation->atol);
        else if (!strcmp(setting, "equal_nan=True") || !strcmp(setting, "equal_nan=False"))
            expectation->equal_nan = setting[10] == 'T';
        else
            break; /* part of the path */
        if (!good)
            return false;
        *comma = 0;
    }
    return data_split(driver, "--expect", rest, &expectation->name, &expectation->from);
}

/* --- The measure --- */
/* How far ACTUAL is beyond atol + rtol * |expected|; at most 0 where it is within. */
static double real_excess(const Expectation *expectation, double expected, double actual, double *bound)
{
    *bound = expectation->atol + expectation->rtol * fabs(expected);
    if (isnan(expected) || isnan(actual))
        return expectation->equal_nan && isnan(expected) && isnan(actual) ? 0 : INFINITY;
    if (isinf(expected) || isinf(actual))
        return expected == actual ? 0 : INFINITY;
    return fabs(actual - expected) - *bound;
}

/* The same for integers, which are exact where no tolerance was given. Differences of 64 bits are exact as unsigned numbers. */
static double integer_excess(const Expectation *expectation, DType type, int64_t expected, int64_t actual, double *bound)
{
    bool is_unsigned = type.code == DT_UINT;
    bool larger = is_unsigned ? (uint64_t)actual > (uint64_t)expected : actual > expected;
    double distance = (double)(larger ? (uint64_t)actual - (uint64_t)expected : (uint64_t)expected - (uint64_t)actual);
    double size = is_unsigned ? (double)(uint64_t)expected : fabs((double)expected);
    *bound = expectation->stated ? expectation->atol + expectation->rtol * size : 0;
    return distance - *bound;
}

static double element_excess(const Expectation *expectation, DType type, const char *expected, const char *actual, double *bound)
{
    if (dtype_is_float(type))
        return real_excess(expectation, interp_read_real(type, expected), interp_read_real(type, actual), bound);
    return integer_excess(expectation, type, interp_read_integer(type, expected), interp_read_integer(type, actual), bound);
}

static Difference compare(const Expectation *expectation, DType type, const char *expected, const char *actual, int64_t count)
{
    Difference difference = {0};
    int bytes = dtype_bytes(type);
    for (int64_t i = 0; i < count; i++) {
        double bound, excess = element_excess(expectation, type, expected + i * bytes, actual + i * bytes, &bound);
        if (!(excess > 0))
            continue;
        if (!difference.count++ || excess > difference.excess) {
            difference.worst = i;
            difference.excess = excess;
            difference.bound = bound;
        }
    }
    return difference;
}

/* --- Messages --- */
static const char *value_text(Driver *driver, DType type, const char *at)
{
    if (dtype_is_float(type))
        return arena_printf(driver->ctx->arena, "%.*g", type.bits == 64 ? 17 : type.bits == 32 ? 9 : 5, interp_read_real(type, at));
    int64_t value = interp_read_integer(type, at);
    if (type.code == DT_BOOL)
        return value ? "True" : "False";
    return arena_printf(driver->ctx->arena, type.code == DT_UINT ? "%" PRIu64 : "%" PRId64, value);
}

static const char *element_text(Driver *driver, const char *name, const NpyArray *array, int64_t index)
{
    const char *indices = "";
    for (int i = array->ndim - 1; i >= 0; i--) {
        indices = arena_printf(driver->ctx->arena, "%" PRId64 "%s%s", index % array->shape[i], *indices ? ", " : "", indices);
        index /= array->shape[i];
    }
    return arena_printf(driver->ctx->arena, "%s[%s]", name, *indices ? indices : "()");
}

static bool report(Driver *driver, const Expectation *expectation, DType type, const NpyArray *expected, const NpyArray *actual,
                   const Difference *difference)
{
    int64_t offset = difference->worst * dtype_bytes(type);
    return driver_error(driver, "%s is %s, %s has %s (bound %.3g); %" PRId64 " of %" PRId64 " elements differ",
                        element_text(driver, expectation->name, actual, difference->worst), value_text(driver, type, actual->data + offset),
                        expectation->from, value_text(driver, type, expected->data + offset), difference->bound, difference->count,
                        npy_count(actual));
}

static bool same_shape(const NpyArray *a, const NpyArray *b)
{
    bool same = a->ndim == b->ndim && dtype_equal(a->dtype, b->dtype);
    for (int i = 0; same && i < a->ndim; i++)
        same = a->shape[i] == b->shape[i];
    return same;
}

static bool expect_one(Driver *driver, const Func *func, const ArgData *data, const char *word)
{
    Expectation expectation;
    NpyArray expected;
    if (!read_word(driver, word, &expectation))
        return false;
    int parameter = data_find_buffer(driver, "--expect", func, expectation.name);
    if (parameter < 0 || !data_read(driver, expectation.from, expectation.name, &expected))
        return false;
    NpyArray actual = argdata_array(data, parameter);
    if (!same_shape(&actual, &expected))
        return driver_error(driver, "%s is %s, and %s holds %s", expectation.name, npy_describe(driver->ctx, &actual), expectation.from,
                            npy_describe(driver->ctx, &expected));
    DType type = dtype_scalar(func->params[parameter].buffer->dtype);
    Difference difference = compare(&expectation, type, expected.data, actual.data, npy_count(&actual));
    if (difference.count)
        return report(driver, &expectation, type, &expected, &actual, &difference);
    driver_say(driver, "%s agrees with %s", expectation.name, expectation.from);
    return true;
}

bool data_expect(Driver *driver, const Func *func, const ArgData *data)
{
    bool good = true;
    for (int i = 0; i < driver->options.data_expect.count; i++)
        good &= expect_one(driver, func, data, driver->options.data_expect.data[i]);
    return good;
}
