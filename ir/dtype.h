/* Scalar and vector data types. */
#ifndef TIRC_IR_DTYPE_H
#define TIRC_IR_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "support/context.h"

typedef enum {
    DT_VOID,
    DT_BOOL,
    DT_INT,
    DT_UINT,
    DT_FLOAT,
    DT_BFLOAT,
    DT_HANDLE,
    /* floats of up to 8 bits: small_float.h; none but these comes behind DT_HANDLE */
    DT_FLOAT8_E3M4,
    DT_FLOAT8_E4M3,
    DT_FLOAT8_E4M3B11FNUZ,
    DT_FLOAT8_E4M3FN,
    DT_FLOAT8_E4M3FNUZ,
    DT_FLOAT8_E5M2,
    DT_FLOAT8_E5M2FNUZ,
    DT_FLOAT8_E8M0FNU,
    DT_FLOAT6_E2M3FN,
    DT_FLOAT6_E3M2FN,
    DT_FLOAT4_E2M1FN,
} DTypeCode;

/* lanes is 1 for scalars; above LANES_SCALABLE it stands for a multiple of T.vscale(), which only the target knows. bool has 1 bit and is stored in one byte, as floats of 4 and 6 bits are; a handle (pointer) has 64 bits. */
typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} DType;

enum { LANES_SCALABLE = 1 << 15 };

#define DTYPE(code, bits) ((DType){(code), (bits), 1})
#define DTYPE_VOID DTYPE(DT_VOID, 0)
#define DTYPE_BOOL DTYPE(DT_BOOL, 1)
#define DTYPE_INT32 DTYPE(DT_INT, 32)
#define DTYPE_INT64 DTYPE(DT_INT, 64)
#define DTYPE_FLOAT32 DTYPE(DT_FLOAT, 32)
#define DTYPE_FLOAT64 DTYPE(DT_FLOAT, 64)
#define DTYPE_HANDLE DTYPE(DT_HANDLE, 64)

static inline bool dtype_equal(DType a, DType b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
static inline bool dtype_is_float(DType t)
{
    return t.code == DT_FLOAT || t.code == DT_BFLOAT || t.code > DT_HANDLE;
}
/* int or uint of any width; bool is not an integer here. */
static inline bool dtype_is_integer(DType t)
{
    return t.code == DT_INT || t.code == DT_UINT;
}
static inline bool dtype_is_number(DType t)
{
    return dtype_is_float(t) || dtype_is_integer(t) || t.code == DT_BOOL;
}
/* int32, int64 and vectors of them: the types of indices. Arithmetic of these in an index does not overflow; that of all other integers wraps,
   in an index too. */
static inline bool dtype_is_index(DType t)
{
    return t.code == DT_INT && t.bits >= 32;
}
static inline DType dtype_with_lanes(DType t, int lanes)
{
    t.lanes = (uint16_t)lanes;
    return t;
}
/* A vector of so many lanes as T.vscale() times a number says. */
static inline bool dtype_is_scalable(DType t)
{
    return t.lanes > LANES_SCALABLE;
}
static inline DType dtype_scalar(DType t)
{
    return dtype_with_lanes(t, 1);
}
/* Bytes that one element of the scalar type takes in memory. */
int dtype_bytes(DType t);
/* "float32", "int8x4", "bool", "handle", "void": the spelling in programs. */
const char *dtype_name(Context *ctx, DType t);
/* How many lanes T has, as a program says it: "4", "T.vscale() * 4". */
const char *dtype_lanes_text(Context *ctx, DType t);
/* Reads such a spelling; false when it names no type that tirc knows. */
bool dtype_parse(const char *text, DType *result);
/* All known scalar type names, for suggestions; *COUNT of them. */
const char *const *dtype_names(int *count);

/* The least and the greatest value of an integer or bool type (the greatest of uint64 does not fit and gives INT64_MAX). */
int64_t dtype_min_int(DType t);
int64_t dtype_max_int(DType t);
/* True when VALUE is a value of integer or bool type T. */
bool dtype_holds(DType t, int64_t value);
/* VALUE wrapped into integer type T as two's complement arithmetic does. uint64 values are carried as their int64 bit pattern. */
int64_t dtype_wrap(DType t, int64_t value);
/* VALUE rounded to the float type (to nearest even). */
double dtype_round_float(DType t, double value);
/* VALUE, a number, does not become infinite, NaN, or the greatest number instead of a greater one. */
bool dtype_holds_float(DType t, double value);
/* The greatest number of the float type. */
double dtype_largest_float(DType t);
/* The same as programs write it, max_value: for bfloat16 that of float32, which bfloat16 rounds to infinity. */
double dtype_limit_float(DType t);
/* How many binary digits the numbers of the float type have, the leading one among them. */
int dtype_digits(DType t);
/* A float64 that rounds to the float type as the integer VALUE (the bit pattern of a uint64 when IS_UNSIGNED) does: VALUE where a float64
   holds it. */
double dtype_int_to_real(DType t, int64_t value, bool is_unsigned);

#endif
