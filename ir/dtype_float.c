/* The part of dtype.h about floats: rounding, limits. */
#include <math.h>

#include "ir/small_float.h"

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

bool dtype_holds_float(DType t, double value)
{
    const SmallFloat *small = small_float(t);
    bool beyond = small && small->kind == SMALL_FINITE && fabs(value) > dtype_largest_float(t);
    return !beyond && isfinite(dtype_round_float(t, value));
}

int dtype_digits(DType t)
{
    const SmallFloat *small = small_float(t);
    if (small)
        return small->fraction_bits + 1;
    return t.code == DT_BFLOAT ? 8 : t.bits == 16 ? 11 : t.bits == 32 ? 24 : 53;
}

double dtype_largest_float(DType t)
{
    const SmallFloat *small = small_float(t);
    if (small)
        return small_float_value(small, (uint8_t)small_float_greatest(small));
    if (t.code == DT_BFLOAT)
        return 0x1.fep127;
    return t.bits == 16 ? 65504.0 : t.bits == 32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
}

double dtype_limit_float(DType t)
{
    return t.code == DT_BFLOAT ? dtype_largest_float(DTYPE_FLOAT32) : dtype_largest_float(t);
}

double dtype_round_float(DType t, double value)
{
    const SmallFloat *small = small_float(t);
    if (small)
        return small_float_value(small, small_float_bits(small, value));
    if (t.code == DT_BFLOAT)
        return round_to_format(value, dtype_digits(t), -126, dtype_largest_float(t));
    if (t.bits == 16)
        return round_to_format(value, dtype_digits(t), -14, dtype_largest_float(t));
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
