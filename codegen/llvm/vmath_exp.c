/* Exponentials: e^x, 2^x, 10^x, and what is made of them, sigmoid and tanh.

   x = n ln 2 + r, |r| <= ln 2 / 2, with ln 2 in two parts of which the first has so few digits that n times it is exact. e^r is a minimax
   polynomial; 2^n goes into the exponent, where results may be subnormal in two steps, so that these round once. */
#include "codegen/llvm/vmath_avx512.h"

/* (e^r - 1 - r) / r^2, errors of e^r - 1 2^-26 and 2^-55. */
static const Polynomial exp_terms[] = {
    {5, {0x1.fffffep-2, 0x1.5554bp-3, 0x1.555718p-5, 0x1.1227c2p-7, 0x1.6b71a8p-10}},
    {10,
     {0x1.0000000000005p-1, 0x1.555555555553ap-3, 0x1.55555555520dbp-5, 0x1.1111111118c5ap-7, 0x1.6c16c17f4234dp-10, 0x1.a01a017690073p-13,
      0x1.a019a65ab58fep-16, 0x1.71de83f3fa43ap-19, 0x1.28a2df90c083bp-22, 0x1.ae7343d4b6977p-26}},
};

/* (2^r - 1) / r on |r| <= 1/2, errors of 2^r 2^-28 and 2^-57. */
static const Polynomial exp2_terms[] = {
    {6, {0x1.62e43p-1, 0x1.ebfbd8p-3, 0x1.c6af76p-5, 0x1.3b30ap-7, 0x1.5f0b82p-10, 0x1.3fa206p-13}},
    {11,
     {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a6p-3, 0x1.c6b08d704a12cp-5, 0x1.3b2ab6fb9fda6p-7, 0x1.5d87fe789e96fp-10, 0x1.4309130f6cbdbp-13,
      0x1.ffcbfc6685ee5p-17, 0x1.62bfc6596be6ap-20, 0x1.b52522bc20bcdp-24, 0x1.e61d4332035bap-28, 0x1.e9731780488cp-32}},
};

/* (10^r - 1) / r on |r| <= log10(2) / 2, errors of 10^r 2^-28 and 2^-57. */
static const Polynomial exp10_terms[] = {
    {6, {0x1.26bb1cp1, 0x1.535248p1, 0x1.046f9ap1, 0x1.2bdbdcp0, 0x1.156bd2p-1, 0x1.a49628p-3}},
    {11,
     {0x1.26bb1bbb55516p1, 0x1.53524c73cea77p1, 0x1.0470591de2b47p1, 0x1.2bd7609fd502ep0, 0x1.1429ffd220001p-1, 0x1.a7ed70a1bab6fp-3,
      0x1.16e4dee9e7d0fp-4, 0x1.41165e8f1bcc4p-6, 0x1.4899e4fd9b1aep-8, 0x1.2f7449732b0e7p-10, 0x1.f7602361c18a9p-13}},
};

typedef struct {
    Rounded n;
    Value r;
} Reduced;

static Reduced reduce(const Lanes *m, Value x)
{
    Rounded n = round_product(m, x, 0x1.71547652b82fep0);
    Value r = mulsub(m, n.real, real(m, m->wide ? 0x1.62e42feep-1 : 0x1.62e4p-1), x);
    return (Reduced){n, mulsub(m, n.real, real(m, m->wide ? 0x1.a39ef35793c76p-33 : 0x1.7f7d1cp-20), r)};
}

Value exp_within(const Lanes *m, Value x, ScaleFunction *scaled)
{
    Reduced reduced = reduce(m, x);
    Value slope = muladd(m, polynomial(m, &exp_terms[m->wide], reduced.r), reduced.r, real(m, 1));
    return scaled(m, muladd(m, slope, reduced.r, real(m, 1)), reduced.n);
}

Value exp2_of_parts(const Lanes *m, Rounded n, Value r, ScaleFunction *scaled)
{
    return scaled(m, muladd(m, r, polynomial(m, &exp2_terms[m->wide], r), real(m, 1)), n);
}

static Value exp2_within(const Lanes *m, Value x, ScaleFunction *scaled)
{
    Rounded n = round_product(m, x, 1);
    return exp2_of_parts(m, n, sub(m, x, n.real), scaled);
}

static Value exp10_within(const Lanes *m, Value x, ScaleFunction *scaled)
{
    Rounded n = round_product(m, x, 0x1.a934f0979a371p1);
    Value r = mulsub(m, n.real, real(m, m->wide ? 0x1.34413509f6p-2 : 0x1.344p-2), x);
    r = mulsub(m, n.real, real(m, m->wide ? 0x1.9fef311f12b36p-42 : 0x1.3509f8p-18), r);
    return scaled(m, muladd(m, r, polynomial(m, &exp10_terms[m->wide], r), real(m, 1)), n);
}

/* An exponential for float32 and float64: up to |x| = normal its results are normal numbers; below low they are 0, above high infinity, which
   scale reaches there. */
typedef struct {
    Value (*formula)(const Lanes *m, Value x, ScaleFunction *scaled);
    struct {
        double normal, low, high;
    } bounds[2];
} Exponential;

static Value exponential_of_rare(const Lanes *m, Value x, Value rare, Value usual, const void *data)
{
    const Exponential *function = data;
    (void)rare, (void)usual;
    return function->formula(m, clamp(m, x, function->bounds[m->wide].low, function->bounds[m->wide].high), scale);
}

/* AVX-512 scales in one instruction, whatever the result is. Loops over scalars become vectors later, by LLVM, which would compute both sides of a
   branch everywhere. */
static Value exponential(const Lanes *m, const Exponential *function, Value x)
{
    if (avx512_fits(m) || m->lanes == 1)
        return exponential_of_rare(m, x, NULL, NULL, function);
    Value rare = compare(m, LLVMRealUGT, magnitude(m, x), function->bounds[m->wide].normal);
    return with_rare_lanes(m, x, rare, function->formula(m, x, scale_normal), exponential_of_rare, function);
}

Value vmath_exp(const Lanes *m, Value x)
{
    static const Exponential function = {exp_within, {{87, -104, 89}, {708, -746, 710}}};
    return exponential(m, &function, x);
}

Value vmath_exp2(const Lanes *m, Value x)
{
    static const Exponential function = {exp2_within, {{125, -155, 129}, {1021, -1080, 1025}}};
    return exponential(m, &function, x);
}

Value vmath_exp10(const Lanes *m, Value x)
{
    static const Exponential function = {exp10_within, {{37, -46, 39}, {307, -325, 309}}};
    return exponential(m, &function, x);
}

/* With e = exp(-|x|), which cannot overflow: 1 / (1 + e), or e / (1 + e) where x is negative. */
Value vmath_sigmoid(const Lanes *m, Value x)
{
    Value e = vmath_exp(m, negative(m, magnitude(m, x)));
    Value upper = choose(m, compare(m, LLVMRealOLT, x, 0), e, real(m, 1));
    return quotient(m, upper, add(m, e, real(m, 1)));
}

/* t / (t + 2) with t = exp(2 |x|) - 1 = 2^n (e^r - 1) + (2^n - 1), which is 2 |x| to the last digit where x is small. From the bound on the
   result is 1. */
Value vmath_tanh(const Lanes *m, Value x)
{
    Value size = at_most(m, magnitude(m, x), m->wide ? 20 : 10);
    Reduced reduced = reduce(m, add(m, size, size));
    Value r = reduced.r, less_one = muladd(m, mul(m, r, r), polynomial(m, &exp_terms[m->wide], r), r);
    Value power = power_of_two(m, reduced.n.bits), t = muladd(m, power, less_one, sub(m, power, real(m, 1)));
    return with_sign_of(m, quotient(m, t, add(m, t, real(m, 2))), x);
}
