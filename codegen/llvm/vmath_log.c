/* Logarithms.

   x = 2^k (1 + f) with 3/4 <= 1 + f < 3/2. float32: a minimax polynomial in f. float64: with s = f / (2 + f),
   log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R), R = s^2 times a polynomial in s^2: the largest term is exact. */
#include "codegen/llvm/vmath_avx512.h"
#include "codegen/llvm/vmath_lanes.h"

/* (log(1 + f) - f) / f^2, error 2^-27. */
static const Polynomial log_terms = {9,
                                     {-0x1p-1, 0x1.5555a6p-2, -0x1.00004ep-2, 0x1.9968fp-3, -0x1.54eb54p-3, 0x1.28852ep-3, -0x1.0db586p-3,
                                      0x1.ad4188p-4, -0x1.721d3ep-5}};
/* (log2(1 + f) - f) / f and (log10(1 + f) - f/2) / f, errors 2^-25. The terms in front are exact. */
static const Polynomial log2_terms = {9,
                                      {0x1.c551d8p-2, -0x1.715496p-1, 0x1.ec71e6p-2, -0x1.713b68p-2, 0x1.2713b6p-2, -0x1.f0ec2p-3,
                                       0x1.bb6c16p-3, -0x1.66977ep-3, 0x1.42e7aep-4}};
static const Polynomial log10_terms = {9,
                                       {-0x1.0d213cp-4, -0x1.bcb7d8p-3, 0x1.287b2ep-3, -0x1.bc992cp-4, 0x1.63518cp-4, -0x1.2b370ap-4,
                                        0x1.0ae8fcp-4, -0x1.af218ap-5, 0x1.839454p-6}};
/* (2 atanh(s) - 2 s) / s^3 in s^2, error 2^-62. */
static const Polynomial log_atanh_terms = {8,
                                           {0x1.555555555554fp-1, 0x1.999999999c146p-2, 0x1.24924921e8dffp-2, 0x1.c71c748ae5ad1p-3,
                                            0x1.745c4c1d1f448p-3, 0x1.3b359520dd5d9p-3, 0x1.0dce931e01ff5p-3, 0x1.1b6cbc1c6e264p-3}};

/* X > 0 and normal as 2^k m, 3/4 <= m < 3/2: k as an integer, and m in place of f. */
static LogParts split_exponent(const Lanes *m, Value x)
{
    Value bits = as_bits(m, x), from_least = bits_sub(m, bits, as_bits(m, real(m, 0.75)));
    Value k = shift_right(m, from_least, mantissa_bits(m));
    return (LogParts){k, as_real(m, bits_sub(m, bits, shift_left(m, k, mantissa_bits(m))))};
}

/* x = 2^k (1 + f) for X that is normal. */
static LogParts normal_log_parts(const Lanes *m, Value x)
{
    LogParts parts = split_exponent(m, x);
    return (LogParts){bits_to_real(m, parts.k), sub(m, parts.f, real(m, 1))};
}

LogParts log_parts(const Lanes *m, Value x)
{
    if (avx512_fits(m))
        return avx512_log_parts(m, x);
    int lift = mantissa_bits(m);
    Value is_small = compare(m, LLVMRealOLT, x, m->wide ? 0x1p-1022 : 0x1p-126);
    x = choose(m, is_small, mul(m, x, real(m, m->wide ? 0x1p52 : 0x1p23)), x);
    LogParts parts = split_exponent(m, x);
    Value k = bits_sub(m, parts.k, choose(m, is_small, integer(m, lift), integer(m, 0)));
    return (LogParts){bits_to_real(m, k), sub(m, parts.f, real(m, 1))};
}

/* X is not a positive number from LEAST on that is finite: its bits less those of LEAST are too large as an unsigned number. Processors compare
   signed ones in fewer instructions, hence the sign bit. */
static Value is_outside(const Lanes *m, Value x, int64_t least)
{
    const int64_t infinity = m->wide ? 0x7ff0000000000000 : 0x7f800000, greatest = m->wide ? INT64_MAX : INT32_MAX;
    Value above = bits_add(m, as_bits(m, x), integer(m, greatest - least + 1));
    return LLVMBuildICmp(m->gen->builder, LLVMIntSGT, above, integer(m, infinity - least - 1 - greatest - 1), "");
}

static Value is_rare(const Lanes *m, Value x)
{
    return is_outside(m, x, m->wide ? (int64_t)1 << 52 : 1 << 23);
}

/* RESULT where X is positive and finite; the limits and NaN elsewhere. */
static Value with_limits(const Lanes *m, Value x, Value result)
{
    if (avx512_fits(m))
        return avx512_log_limits(m, x, result);
    Value below = choose(m, compare(m, LLVMRealOEQ, x, 0), real(m, -1.0 / 0.0), real(m, -__builtin_nan("")));
    Value limit = choose(m, compare(m, LLVMRealOLE, x, 0), below, add(m, x, x)); /* infinity and NaN stay */
    return choose(m, is_outside(m, x, 1), limit, result);
}

/* The float64 form: log(1 + f) = f - (f^2/2 - tail). */
typedef struct {
    Value half_square, tail;
} LogTail;

static LogTail log_tail(const Lanes *m, Value f)
{
    Value s = quotient(m, f, add(m, f, real(m, 2))), z = mul(m, s, s);
    Value half_square = mul(m, mul(m, f, real(m, 0.5)), f);
    Value rest = mul(m, z, polynomial(m, &log_atanh_terms, z));
    return (LogTail){half_square, mul(m, s, add(m, half_square, rest))};
}

/* k ln 2 + log(1 + f), ln 2 in two parts: k times the first is exact. */
static Value log_of_parts(const Lanes *m, LogParts parts)
{
    if (!m->wide) {
        Value tail = mul(m, parts.k, real(m, 0x1.7f7d1cp-20));
        tail = muladd(m, mul(m, parts.f, parts.f), polynomial(m, &log_terms, parts.f), tail);
        return muladd(m, parts.k, real(m, 0x1.62e4p-1), add(m, parts.f, tail));
    }
    LogTail tail = log_tail(m, parts.f);
    Value low = muladd(m, parts.k, real(m, 0x1.a39ef35793c76p-33), tail.tail);
    Value minus = sub(m, sub(m, tail.half_square, low), parts.f);
    return muladd(m, parts.k, real(m, 0x1.62e42feep-1), negative(m, minus));
}

/* A logarithm by its parts. */
typedef struct {
    Value (*formula)(const Lanes *m, LogParts parts);
} Logarithm;

static Value logarithm_of_rare(const Lanes *m, Value x, Value rare, Value usual, const void *data)
{
    const Logarithm *function = data;
    (void)rare, (void)usual;
    return with_limits(m, x, function->formula(m, log_parts(m, x)));
}

/* AVX-512 takes numbers of all kinds apart. Scalars have no branch, as in vmath_exp.c. */
static Value logarithm(const Lanes *m, const Logarithm *function, Value x)
{
    if (avx512_fits(m) || m->lanes == 1)
        return logarithm_of_rare(m, x, NULL, NULL, function);
    return with_rare_lanes(m, x, is_rare(m, x), function->formula(m, normal_log_parts(m, x)), logarithm_of_rare, function);
}

Value vmath_log(const Lanes *m, Value x)
{
    static const Logarithm function = {log_of_parts};
    return logarithm(m, &function, x);
}

/* log(1 + f) times FACTOR = factor_high + factor_low, plus the pair K, in float64: log(1 + f) is cut in a part of 26 digits, whose product
   with factor_high is exact, and the rest. */
static Value log_times(const Lanes *m, Value f, double factor_high, double factor_low, Pair k)
{
    LogTail tail = log_tail(m, f);
    Value high = as_real(m, bits_and(m, as_bits(m, sub(m, f, tail.half_square)), -((int64_t)1 << 32)));
    Value low = add(m, sub(m, sub(m, f, high), tail.half_square), tail.tail);
    Value product = mul(m, high, real(m, factor_high)), sum = add(m, k.high, product);
    Value rest = muladd(m, add(m, low, high), real(m, factor_low), mul(m, low, real(m, factor_high)));
    rest = add(m, add(m, rest, k.low), add(m, sub(m, k.high, sum), product));
    return add(m, sum, rest);
}

static Value log2_of_parts(const Lanes *m, LogParts parts)
{
    if (m->wide)
        return log_times(m, parts.f, 0x1.71547652p0, 0x1.705fc2eefa2p-33, (Pair){parts.k, real(m, 0)});
    return add(m, parts.k, muladd(m, parts.f, polynomial(m, &log2_terms, parts.f), parts.f));
}

Value vmath_log2(const Lanes *m, Value x)
{
    static const Logarithm function = {log2_of_parts};
    return logarithm(m, &function, x);
}

static Value log10_of_parts(const Lanes *m, LogParts parts)
{
    if (m->wide) {
        Pair k = {mul(m, parts.k, real(m, 0x1.34413509f6p-2)), mul(m, parts.k, real(m, 0x1.9fef311f12b36p-42))};
        return log_times(m, parts.f, 0x1.bcb7b152p-2, 0x1.b9438ca9aadd5p-36, k);
    }
    Value tail = muladd(m, parts.k, real(m, 0x1.3509f8p-18), mul(m, parts.f, polynomial(m, &log10_terms, parts.f)));
    return muladd(m, parts.k, real(m, 0x1.344p-2), muladd(m, parts.f, real(m, 0.5), tail));
}

Value vmath_log10(const Lanes *m, Value x)
{
    static const Logarithm function = {log10_of_parts};
    return logarithm(m, &function, x);
}

static Value limits_of_rare(const Lanes *m, Value x, Value rare, Value usual, const void *data)
{
    (void)rare, (void)data;
    return with_limits(m, x, usual);
}

/* With u the rounded 1 + x and c what the rounding lost: 1 + x = 2^k (m + c 2^-k). Beyond k = 30 the loss is too small to count. */
Value vmath_log1p(const Lanes *m, Value x)
{
    Value u = add(m, x, real(m, 1));
    LogParts parts = split_exponent(m, u);
    Value lost = choose(m, compare(m, LLVMRealOGE, x, 1), sub(m, real(m, 1), sub(m, u, x)), sub(m, x, sub(m, u, real(m, 1))));
    Value k = bits_to_real(m, parts.k), counts = compare(m, LLVMRealOLT, k, m->wide ? 60 : 30);
    Value down = power_of_two(m, bits_sub(m, integer(m, 0), choose(m, counts, parts.k, integer(m, 0))));
    lost = choose(m, counts, mul(m, lost, down), real(m, 0));
    Value f = add(m, sub(m, parts.f, real(m, 1)), lost);
    Value result = log_of_parts(m, (LogParts){k, f});
    result = avx512_fits(m) || m->lanes == 1 ? with_limits(m, u, result) : with_rare_lanes(m, u, is_rare(m, u), result, limits_of_rare, NULL);
    return choose(m, compare(m, LLVMRealOLT, magnitude(m, x), m->wide ? 0x1p-54 : 0x1p-25), x, result);
}
