/* Conversions of float16 that compiled code calls on processors without instructions for them, where the C compiler's own library lacks them:
   libgcc of Debian 12 for RISC-V. float16 values come and go as the low 16 bits of a float register, as RISC-V's calling convention says.
   Rounding is to nearest even, and once. */
#include "tirc_rt.h"

#if defined(__riscv) && defined(__riscv_float_abi_double)

#include <string.h>

float __extendhfsf2(float half);
double __extendhfdf2(float half);
float __truncsfhf2(float value);
float __truncdfhf2(double value);

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double value_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A float register that holds HALF, with the bits above set as those of a narrower value are. */
static float boxed(uint32_t half)
{
    uint32_t bits = half | 0xffff0000u;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double extend(float boxed_half)
{
    uint32_t bits;
    memcpy(&bits, &boxed_half, sizeof bits);
    uint64_t sign = (uint64_t)(bits >> 15 & 1) << 63, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31)
        return value_of(sign | UINT64_C(0x7ff) << 52 | fraction << 42);
    if (exponent)
        return value_of(sign | (exponent + 1008) << 52 | fraction << 42);
    double subnormal = (double)fraction * 0x1p-24;
    return value_of(sign | bits_of(subnormal));
}

/* The significand of VALUE shifted to the last place of float16, rounded to nearest even. */
static uint64_t round_shift(uint64_t significand, int shift)
{
    if (shift > 54)
        return 0;
    uint64_t half = UINT64_C(1) << (shift - 1), rest = significand & ((half << 1) - 1), result = significand >> shift;
    return result + (rest > half || (rest == half && (result & 1)));
}

static float truncate_to_half(double value)
{
    uint64_t bits = bits_of(value), fraction = bits & ((UINT64_C(1) << 52) - 1);
    uint32_t sign = (uint32_t)(bits >> 63) << 15;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024)
        return boxed(sign | 0x7c00 | (fraction ? 0x200 | (uint32_t)(fraction >> 42) : 0));
    if (exponent > 15)
        return boxed(sign | 0x7c00);
    uint64_t significand = fraction | UINT64_C(1) << 52;
    if (exponent < -14) /* subnormal: one more place is lost for each step below */
        return boxed(sign | (uint32_t)round_shift(significand, 28 - exponent));
    /* a carry out of the significand raises the exponent, up to infinity */
    return boxed(sign | (((uint32_t)(exponent + 14) << 10) + (uint32_t)round_shift(significand, 42)));
}

float __extendhfsf2(float half)
{
    return (float)extend(half);
}

double __extendhfdf2(float half)
{
    return extend(half);
}

float __truncsfhf2(float value)
{
    return truncate_to_half(value);
}

float __truncdfhf2(double value)
{
    return truncate_to_half(value);
}

#else
typedef int tirc_nothing_here; /* ISO C wants a declaration */
#endif
