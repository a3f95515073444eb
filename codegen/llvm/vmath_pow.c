/* x^y = 2^(y log2 |x|), and the many special cases of C's pow.

   float32 goes through float64, whose log2 and 2^x are exact enough. float64 takes log2 |x| and the product with y as pairs of floats: an
   error of y log2 |x| is a relative error of the result, and that product may be 1024. */
#include "codegen/llvm/vmath_lanes.h"

/* 2^(e.high + e.low), e clamped to where the result is 0 or infinity. */
static Value exp2_of_pair(const Lanes *m, Pair e)
{
    Value high = clamp(m, e.high, -1080, 1025);
    Rounded n = round_product(m, high, 1);
    Value low = choose(m, LLVMBuildFCmp(m->gen->builder, LLVMRealOEQ, high, e.high, ""), e.low, real(m, 0));
    return exp2_of_parts(m, n, add(m, sub(m, high, n.real), low), scale);
}

/* (2 atanh(s) - 2 s - 2/3 s^3) / s^5 in s^2, error of 2 atanh(s) 2^-69. */
static const Polynomial atanh_terms = {8,
                                       {0x1.9999999999968p-2, 0x1.2492492498d2bp-2, 0x1.c71c71bc7a90ep-3, 0x1.745d1bc1bf002p-3,
                                        0x1.3b12995024cf9p-3, 0x1.1139fdfd6554cp-3, 0x1.dad380fd4f964p-4, 0x1.01740f1d7fd9p-3}};

/* log2 of X > 0, x = 2^k (1 + f): k + (2 s + 2/3 s^3 + s^5 R) log2(e), with s = f / (2 + f) and its cube as pairs. */
static Pair log2_pair(const Lanes *m, Value x)
{
    LogParts parts = log_parts(m, x);
    Pair below = exact_sum(m, parts.f, real(m, 2));
    Value s = quotient(m, parts.f, below.high);
    Pair back = exact_product(m, s, below.high);
    Value remainder = sub(m, sub(m, sub(m, parts.f, back.high), back.low), mul(m, s, below.low));
    Value s_low = quotient(m, remainder, below.high);

    Pair square = exact_product(m, s, s);
    square.low = add(m, square.low, mul(m, mul(m, s, real(m, 2)), s_low));
    /* q = 2/3 + z R, as a pair: 2/3 is one itself */
    Value z_rest = mul(m, square.high, polynomial(m, &atanh_terms, square.high));
    Pair q = exact_sum(m, real(m, 0x1.5555555555555p-1), z_rest);
    q.low = add(m, q.low, real(m, 0x1.5555555555555p-55));
    Pair zq = exact_product(m, square.high, q.high);
    zq.low = add(m, zq.low, add(m, mul(m, square.low, q.high), mul(m, square.high, q.low)));
    /* log(1 + f) = s (2 + z q) */
    Pair two = exact_sum(m, real(m, 2), zq.high);
    two.low = add(m, two.low, zq.low);
    Pair log = exact_product(m, s, two.high);
    log.low = add(m, log.low, add(m, mul(m, s_low, two.high), mul(m, s, two.low)));
    Pair result = exact_product(m, log.high, real(m, 0x1.71547652b82fep0));
    result.low = add(m, result.low, add(m, mul(m, log.low, real(m, 0x1.71547652b82fep0)), mul(m, log.high, real(m, 0x1.777d0ffda0d24p-56))));
    Pair sum = exact_sum(m, parts.k, result.high);
    return exact_sum(m, sum.high, add(m, sum.low, result.low));
}

/* X > 0 finite, and Y not so large that a product overflows: from 2^70 on every result is 0, 1 or infinity. */
static Value wide_power(const Lanes *m, Value x, Value y)
{
    y = clamp(m, y, -0x1p70, 0x1p70);
    Pair log = log2_pair(m, x), e = exact_product(m, y, log.high);
    e.low = add(m, e.low, mul(m, y, log.low));
    return exp2_of_pair(m, exact_sum(m, e.high, e.low));
}

static Value narrow_power(const Lanes *m, Value x, Value y)
{
    Lanes wide = lanes_as_wide(m);
    LLVMBuilderRef builder = m->gen->builder;
    Value log = vmath_log2(&wide, LLVMBuildFPExt(builder, x, wide.type, ""));
    Value power = vmath_exp2(&wide, mul(&wide, LLVMBuildFPExt(builder, y, wide.type, ""), log));
    return LLVMBuildFPTrunc(builder, power, m->type, "");
}

static Value is_integral(const Lanes *m, Value y)
{
    Value whole = emit_intrinsic(m->gen, "llvm.trunc", m->type, &y, 1);
    return LLVMBuildFCmp(m->gen->builder, LLVMRealOEQ, whole, y, "");
}

static Value equal(const Lanes *m, Value a, double b)
{
    return compare(m, LLVMRealOEQ, a, b);
}

Value vmath_pow(const Lanes *m, Value x, Value y)
{
    const double infinity = 1.0 / 0.0;
    Value size = magnitude(m, x), y_size = magnitude(m, y), y_negative = compare(m, LLVMRealOLT, y, 0);
    Value result = m->wide ? wide_power(m, size, y) : narrow_power(m, size, y);
    /* |x| is 0, infinite or 1 */
    Value to_zero = either(m, both(m, equal(m, size, 0), LLVMBuildNot(m->gen->builder, y_negative, "")),
                           both(m, equal(m, size, infinity), y_negative));
    Value to_infinity = either(m, both(m, equal(m, size, 0), y_negative),
                               both(m, equal(m, size, infinity), LLVMBuildNot(m->gen->builder, y_negative, "")));
    result = choose(m, to_zero, real(m, 0), choose(m, to_infinity, real(m, infinity), result));
    result = choose(m, equal(m, size, 1), real(m, 1), result);
    /* the sign, and no result where a negative number has a fractional power; powers from 2^53 (2^24) on are even */
    Value x_negative = LLVMBuildICmp(m->gen->builder, LLVMIntSLT, as_bits(m, x), integer(m, 0), "");
    Value half_fraction = LLVMBuildNot(m->gen->builder, is_integral(m, mul(m, y, real(m, 0.5))), "");
    Value odd = both(m, is_integral(m, y), half_fraction);
    Value finite_below_zero = both(m, compare(m, LLVMRealOLT, x, 0), compare(m, LLVMRealONE, size, infinity));
    Value undefined = both(m, finite_below_zero, LLVMBuildNot(m->gen->builder, is_integral(m, y), ""));
    undefined = both(m, undefined, compare(m, LLVMRealONE, y_size, infinity));
    result = choose(m, both(m, x_negative, odd), negative(m, result), result);
    Value is_nan = LLVMBuildFCmp(m->gen->builder, LLVMRealUNO, x, y, "");
    result = choose(m, either(m, undefined, is_nan), real(m, __builtin_nan("")), result);
    return choose(m, either(m, equal(m, y, 0), equal(m, x, 1)), real(m, 1), result);
}
