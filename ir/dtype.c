/* See dtype.h. */
#include "ir/dtype.h"

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
    {"float8_e3m4", DT_FLOAT8_E3M4, 8},
    {"float8_e4m3", DT_FLOAT8_E4M3, 8},
    {"float8_e4m3b11fnuz", DT_FLOAT8_E4M3B11FNUZ, 8},
    {"float8_e4m3fn", DT_FLOAT8_E4M3FN, 8},
    {"float8_e4m3fnuz", DT_FLOAT8_E4M3FNUZ, 8},
    {"float8_e5m2", DT_FLOAT8_E5M2, 8},
    {"float8_e5m2fnuz", DT_FLOAT8_E5M2FNUZ, 8},
    {"float8_e8m0fnu", DT_FLOAT8_E8M0FNU, 8},
    {"float6_e2m3fn", DT_FLOAT6_E2M3FN, 6},
    {"float6_e3m2fn", DT_FLOAT6_E3M2FN, 6},
    {"float4_e2m1fn", DT_FLOAT4_E2M1FN, 4},
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

/* TEXT is NAME, or a vector of it: *LANES. */
static bool is_type(const char *text, const char *name, int *lanes)
{
    size_t length = strlen(name);
    *lanes = 1;
    return !strncmp(text, name, length) && (!text[length] || read_lanes(text + length, lanes));
}

bool dtype_parse(const char *text, DType *result)
{
    int lanes;
    for (int i = 0; i < KNOWN_TYPES; i++)
        if (is_type(text, known_types[i].name, &lanes)) {
            *result = (DType){known_types[i].code, known_types[i].bits, (uint16_t)lanes};
            return true;
        }
    if (!is_type(text, "e4m3_float8", &lanes) && !is_type(text, "e5m2_float8", &lanes)) /* names of an older age */
        return false;
    *result = (DType){text[1] == '4' ? DT_FLOAT8_E4M3FN : DT_FLOAT8_E5M2, 8, (uint16_t)lanes};
    return true;
}

const char *dtype_lanes_text(Context *ctx, DType t)
{
    return dtype_is_scalable(t) ? context_internf(ctx, "T.vscale() * %d", t.lanes - LANES_SCALABLE) : context_internf(ctx, "%d", t.lanes);
}

const char *const *dtype_names(int *count)
{
    static const char *const names[] = {
        "float32",         "float64",        "float16",         "bfloat16",        "int8",        "int16",           "int32",
        "int64",           "uint8",          "uint16",          "uint32",          "uint64",      "bool",            "handle",
        "void",            "float8_e3m4",    "float8_e4m3",     "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
        "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn",   "float6_e3m2fn",   "float4_e2m1fn",
    };
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
