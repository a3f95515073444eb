/* Elements of every scalar type in memory. */
#include <math.h>
#include <string.h>

#include "interp/interp.h"
#include "ir/small_float.h"

/* --- float16 and bfloat16 as bit patterns --- */
static double half_to_real(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                       : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                      : ldexp(fraction, -24);
    return bits >> 15 ? -magnitude : magnitude;
}

/* VALUE is a float16 value already. */
static uint16_t real_to_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value))
        return sign | 0x7e00;
    if (isinf(value))
        return sign | 0x7c00;
    if (magnitude < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)ldexp(magnitude, 24));
    int exponent;
    double fraction = frexp(magnitude, &exponent);
    return (uint16_t)(sign | (exponent + 14) << 10 | ((uint16_t)ldexp(fraction, 11) & 1023));
}

static double bfloat_to_real(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static uint16_t real_to_bfloat(double value)
{
    float single = (float)value;
    uint32_t wide;
    memcpy(&wide, &single, sizeof wide);
    return isnan(value) ? (uint16_t)(wide >> 16 | 0x40) : (uint16_t)(wide >> 16);
}

/* --- Access at any alignment --- */
#define READ(T, at)                           \
    ({                                        \
        T element;                            \
        memcpy(&element, at, sizeof element); \
        element;                              \
    })
#define WRITE(T, at, value)                   \
    do {                                      \
        T element = (T)(value);               \
        memcpy(at, &element, sizeof element); \
    } while (0)

int64_t interp_read_integer(DType t, const void *at)
{
    bool is_signed = t.code == DT_INT;
    switch (t.bits) {
    case 1: return *(const uint8_t *)at != 0;
    case 8: return is_signed ? READ(int8_t, at) : READ(uint8_t, at);
    case 16: return is_signed ? READ(int16_t, at) : READ(uint16_t, at);
    case 32: return is_signed ? READ(int32_t, at) : (int64_t)READ(uint32_t, at);
    default: return READ(int64_t, at);
    }
}

void interp_write_integer(DType t, void *at, int64_t value)
{
    switch (t.bits) {
    case 1:
    case 8: WRITE(uint8_t, at, value); return;
    case 16: WRITE(uint16_t, at, value); return;
    case 32: WRITE(uint32_t, at, value); return;
    default: WRITE(int64_t, at, value); return;
    }
}

double interp_read_real(DType t, const void *at)
{
    const SmallFloat *small = small_float(t);
    if (small)
        return small_float_value(small, READ(uint8_t, at));
    if (t.code == DT_BFLOAT)
        return bfloat_to_real(READ(uint16_t, at));
    switch (t.bits) {
    case 16: return half_to_real(READ(uint16_t, at));
    case 32: return READ(float, at);
    default: return READ(double, at);
    }
}

void interp_write_real(DType t, void *at, double value)
{
    const SmallFloat *small = small_float(t);
    if (small) {
        WRITE(uint8_t, at, small_float_bits(small, value));
        return;
    }
    if (t.code == DT_BFLOAT) {
        WRITE(uint16_t, at, real_to_bfloat(value));
        return;
    }
    switch (t.bits) {
    case 16: WRITE(uint16_t, at, real_to_half(value)); return;
    case 32: WRITE(float, at, value); return;
    default: WRITE(double, at, value); return;
    }
}
