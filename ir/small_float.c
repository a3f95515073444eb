/* See small_float.h. */
#include "ir/small_float.h"

#include <math.h>

static const SmallFloat formats[] = {
    {DT_FLOAT8_E3M4, 3, 4, 3, SMALL_IEEE},
    {DT_FLOAT8_E4M3, 4, 3, 7, SMALL_IEEE},
    {DT_FLOAT8_E4M3B11FNUZ, 4, 3, 11, SMALL_ONE_NAN},
    {DT_FLOAT8_E4M3FN, 4, 3, 7, SMALL_NAN},
    {DT_FLOAT8_E4M3FNUZ, 4, 3, 8, SMALL_ONE_NAN},
    {DT_FLOAT8_E5M2, 5, 2, 15, SMALL_IEEE},
    {DT_FLOAT8_E5M2FNUZ, 5, 2, 16, SMALL_ONE_NAN},
    {DT_FLOAT8_E8M0FNU, 8, 0, 127, SMALL_POWER},
    {DT_FLOAT6_E2M3FN, 2, 3, 1, SMALL_FINITE},
    {DT_FLOAT6_E3M2FN, 3, 2, 3, SMALL_FINITE},
    {DT_FLOAT4_E2M1FN, 2, 1, 1, SMALL_FINITE},
};

const SmallFloat *small_float(DType t)
{
    for (int i = 0; t.code > DT_HANDLE && i < (int)(sizeof formats / sizeof *formats); i++)
        if (formats[i].code == t.code)
            return &formats[i];
    return NULL;
}

static int sign_bit(const SmallFloat *format)
{
    return format->kind == SMALL_POWER ? 0 : 1 << (format->exponent_bits + format->fraction_bits);
}

int small_float_nan(const SmallFloat *format)
{
    int all = (1 << (format->exponent_bits + format->fraction_bits)) - 1, half = 1 << format->fraction_bits >> 1;
    switch (format->kind) {
    case SMALL_IEEE: return (all >> format->fraction_bits << format->fraction_bits) | half;
    case SMALL_ONE_NAN: return sign_bit(format);
    case SMALL_FINITE: return -1;
    default: return all;
    }
}

int small_float_greatest(const SmallFloat *format)
{
    int all = (1 << (format->exponent_bits + format->fraction_bits)) - 1;
    switch (format->kind) {
    case SMALL_IEEE: return (all >> format->fraction_bits << format->fraction_bits) - 1;
    case SMALL_NAN:
    case SMALL_POWER: return all - 1;
    default: return all;
    }
}

double small_float_value(const SmallFloat *format, uint8_t bits)
{
    int digits = format->fraction_bits, size = bits & ((1 << (format->exponent_bits + digits)) - 1);
    int exponent = size >> digits, fraction = size & ((1 << digits) - 1);
    bool negative = bits & sign_bit(format);
    if (format->kind == SMALL_POWER)
        return size > small_float_greatest(format) ? NAN : ldexp(1, size - format->bias);
    if (format->kind == SMALL_ONE_NAN && negative && !size)
        return NAN;
    double value = exponent ? ldexp((1 << digits) + fraction, exponent - format->bias - digits) : ldexp(fraction, 1 - format->bias - digits);
    if (size > small_float_greatest(format))
        value = format->kind == SMALL_IEEE && !fraction ? INFINITY : NAN;
    return negative ? -value : value;
}

/* The pattern of the size of a number >= 0, with numbers beyond the greatest in their order. */
static int rounded_size(const SmallFloat *format, double size)
{
    int exponent, digits = format->fraction_bits, least = 1 - format->bias;
    frexp(size, &exponent);
    int unit = size == 0 || exponent - 1 < least ? least : exponent - 1; /* of the leading digit */
    int number = (int)nearbyint(ldexp(size, digits - unit));
    return number + ((unit - least) << digits);
}

static uint8_t power_bits(const SmallFloat *format, double value)
{
    int exponent;
    if (!(value > 0) || isinf(value))
        return (uint8_t)small_float_nan(format);
    double fraction = frexp(value, &exponent);
    int bits = exponent - 1 + (fraction >= 0.75) + format->bias;
    return (uint8_t)(bits < 0 ? 0 : bits > small_float_greatest(format) ? small_float_nan(format) : bits);
}

uint8_t small_float_bits(const SmallFloat *format, double value)
{
    int nan = small_float_nan(format), greatest = small_float_greatest(format), sign = signbit(value) ? sign_bit(format) : 0;
    if (format->kind == SMALL_POWER)
        return power_bits(format, value);
    if (isnan(value))
        return (uint8_t)(format->kind == SMALL_FINITE ? sign ^ sign_bit(format) : format->kind == SMALL_ONE_NAN ? nan : sign | nan);
    enum { BEYOND_ALL = 1 << 20 };
    int size = fabs(value) < BEYOND_ALL ? rounded_size(format, fabs(value)) : greatest + 1;
    if (size > greatest)
        size = format->kind == SMALL_FINITE ? greatest : format->kind == SMALL_IEEE ? greatest + 1 : nan;
    if (format->kind == SMALL_ONE_NAN && (size == 0 || size == nan))
        return (uint8_t)size;
    return (uint8_t)(sign | size);
}
