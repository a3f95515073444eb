/* See dtype.h. */
#include "ir/dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t code, bits;
} known_types[] = {
    {"float32", DT_FLOAT, 32}, {"float64", DT_FLOAT, 64}, {"float16", DT_FLOAT, 16}, {"bfloat16", DT_BFLOAT, 16}, {"int8", DT_INT, 8},
    {"int16", DT_INT, 16},     {"int32", DT_INT, 32},     {"int64", DT_INT, 64},     {"uint8", DT_UINT, 8},       {"uint16", DT_UINT, 16},
    {"uint32", DT_UINT, 32},   {"uint64", DT_UINT, 64},   {"bool", DT_BOOL, 1},      {"handle", DT_HANDLE, 64},   {"void", DT_VOID, 0},
};
enum { KNOWN_TYPES = sizeof known_types / sizeof *known_types };

int dtype_bytes(DType t)
{
    return t.bits < 8 ? 1 : t.bits / 8;
}

const char *dtype_name(Context *ctx, DType t)
{
    int i = 0;
    for (; i < KNOWN_TYPES; i++)
        if (known_types[i].code == t.code && known_types[i].bits == t.bits)
            break;
    if (i == KNOWN_TYPES)
        return "unknown";
    if (dtype_is_scalable(t))
        return context_internf(ctx, "%sxvscalex%d", known_types[i].name, t.lanes - LANES_SCALABLE);
    return t.lanes == 1 ? known_types[i].name : context_internf(ctx, "%sx%d", known_types[i].name, t.lanes);
}

/* "x4" or "xvscalex4". */
static bool read_lanes(const char *text, int *lanes)
{
    static const char scalable[] = "xvscale";
    bool is_scalable = !strncmp(text, scalable, sizeof scalable - 1);
    const char *rest = is_scalable ? text + sizeof scalable - 1 : text;
    int used = 0;
    if (sscanf(rest, "x%5d%n", lanes, &used) != 1 || rest[used] || rest[1] < '0' || rest[1] > '9' || *lanes < 1 || *lanes > 4096)
        return false;
    *lanes += is_scalable ? LANES_SCALABLE : 0;
    return true;
}

bool dtype_parse(const char *text, DType *result)
{
    for (int i = 0; i < KNOWN_TYPES; i++) {
        size_t length = strlen(known_types[i].name);
        if (strncmp(text, known_types[i].name, length))
            continue;
        int lanes = 1;
        if (text[length] && !read_lanes(text + length, &lanes))
            continue;
        *result = (DType){known_types[i].code, known_types[i].bits, (uint16_t)lanes};
        return true;
    }
    return false;
}

const char *dtype_lanes_text(Context *ctx, DType t)
{
    return dtype_is_scalable(t) ? context_internf(ctx, "T.vscale() * %d", t.lanes - LANES_SCALABLE) : context_internf(ctx, "%d", t.lanes);
}

const char *const *dtype_names(int *count)
{
    static const char *const names[] = {"float32", "float64", "float16", "bfloat16", "int8",   "int16", "int32",  "int64",
                                        "uint8",   "uint16",  "uint32",  "uint64",   "bool", "handle", "void"};
    *count = sizeof names / sizeof *names;
    return names;
}

int64_t dtype_min_int(DType t)
{
    return t.code == DT_INT ? -(int64_t)((UINT64_C(1) << (t.bits - 1)) - 1) - 1 : 0;
}

int64_t dtype_max_int(DType t)
{
    if (t.code == DT_BOOL)
        return 1;
    int bits = t.code == DT_INT ? t.bits - 1 : t.bits;
    return bits >= 63 ? INT64_MAX : (int64_t)((UINT64_C(1) << bits) - 1);
}

bool dtype_holds(DType t, int64_t value)
{
    return value >= dtype_min_int(t) && value <= dtype_max_int(t);
}

int64_t dtype_wrap(DType t, int64_t value)
{
    if (t.code == DT_BOOL)
        return value != 0;
    if (t.bits >= 64)
        return value;
    uint64_t mask = (UINT64_C(1) << t.bits) - 1, low = (uint64_t)value & mask;
    bool negative = t.code == DT_INT && (low >> (t.bits - 1));
    return (int64_t)(negative ? low | ~mask : low);
}

/* Rounds to a binary format with PRECISION significant bits, exponents down to MIN_EXPONENT (of the smallest normal) and a largest finite
   value. */
static double round_to_format(double value, int precision, int min_exponent, double largest)
{
    if (value == 0 || isnan(value) || isinf(value))
        return value;
    int exponent;
    frexp(value, &exponent);
    int unit = exponent - precision;
    if (unit < min_exponent - precision + 1)
        unit = min_exponent - precision + 1;
    double rounded = ldexp(nearbyint(ldexp(value, -unit)), unit);
    return fabs(rounded) > largest ? copysign(INFINITY, value) : rounded;
}

double dtype_round_float(DType t, double value)
{
    if (t.code == DT_BFLOAT)
        return round_to_format(value, 8, -126, 0x1.fep127);
    if (t.bits == 16)
        return round_to_format(value, 11, -14, 65504.0);
    return t.bits == 32 ? (double)(float)value : value;
}

double dtype_int_to_real(DType t, int64_t value, bool is_unsigned)
{
    enum { SPARE_BITS = 64 - 53 }; /* of an integer, beyond what a float64 holds */
    const uint64_t spare = (UINT64_C(1) << SPARE_BITS) - 1, bits = (uint64_t)value;
    bool exact = is_unsigned ? bits >> 53 == 0 : value >= -(INT64_C(1) << 53) && value <= INT64_C(1) << 53;
    if (exact || t.bits == 64)
        return is_unsigned ? (double)bits : (double)value;
    /* Rounded to odd: the float64 then rounds to fewer bits as the integer itself would. */
    uint64_t odd = (bits & spare ? bits | (spare + 1) : bits) & ~spare;
    return dtype_round_float(t, is_unsigned ? (double)odd : (double)(int64_t)odd);
}
