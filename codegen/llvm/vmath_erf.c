/* The error function: x times a polynomial in x^2 near 0. Beyond, float32 takes another polynomial, float64 1 - erfc(x) with erfc as exp(-x^2)
   times a polynomial in (x - 2) / (x + 2): erfc is small there, so that it needs fewer digits. */
#include "codegen/llvm/vmath_lanes.h"

/* erf(x) / x - 1.125 in x^2 on [0, 1.125] and [0, 1], errors 2^-27 and 2^-57. */
static const Polynomial small_terms[] = {
    {7, {0x1.bae9dp-9, -0x1.812726p-2, 0x1.ce28bep-4, -0x1.b7b39ap-6, 0x1.5203c4p-8, -0x1.964f26p-11, 0x1.26a372p-14}},
    {12,
     {0x1.baea08536da11p-9, -0x1.812746b0379bdp-2, 0x1.ce2f21a040d2p-4, -0x1.b82ce311faa06p-6, 0x1.565bccf92b52ap-8, -0x1.c02db03dc1a5bp-11,
      0x1.f9a2baa5b6991p-14, -0x1.f4ca4d327c6dcp-17, 0x1.b97fd14d25fd4p-20, -0x1.5c0716b9def1bp-23, 0x1.d71a9d70f664bp-27,
      -0x1.abacf60d8bcb4p-31}},
};
/* erf(x) in x - 5/2 on [1.125, 3.93], error 2^-25. At 3.9 and beyond the result is 1. */
static const Polynomial large_terms = {13,
                                       {0x1.ffcaaap-1, 0x1.1d814cp-9, -0x1.64f2d6p-8, 0x1.11ae74p-7, -0x1.1a523ap-7, 0x1.902c2p-8, -0x1.7147acp-9,
                                        0x1.2954e4p-11, 0x1.2be5ep-12, -0x1.22b388p-12, 0x1.03eb28p-14, 0x1.5bae76p-16, -0x1.31be74p-17}};
/* exp(x^2) erfc(x) in (x - 2) / (x + 2) on [1, 6], error of the result 2^-55. */
static const Polynomial scaled_erfc_terms = {
    16, {0x1.058671b52c776p-2,  -0x1.b57034efd3f88p-2, 0x1.eeea7dc8a7a74p-3,  -0x1.437f0b68bc005p-4, 0x1.e9471592bf4f4p-9,  0x1.ca95ed412fae5p-8,
         -0x1.bc25a009801cp-11, -0x1.016b566eda5dbp-10, 0x1.6d57869e7c1c3p-15, 0x1.6da813d98f38p-13,  0x1.ce94995a21266p-16, -0x1.cf1ff190cd9p-16,
         -0x1.debe9329ad5f9p-17, 0x1.e7032de78bdbbp-20, 0x1.2b4b2bcad71acp-18, -0x1.e9a3579dfc29ap-22}};

static Value large_erf(const Lanes *m, Value size)
{
    if (!m->wide)
        return polynomial(m, &large_terms, sub(m, at_most(m, size, 3.9), real(m, 2.5)));
    size = clamp(m, size, 1, 6);
    Value t = quotient(m, sub(m, size, real(m, 2)), add(m, size, real(m, 2)));
    Value decay = exp_within(m, negative(m, mul(m, size, size)), scale_normal);
    return mulsub(m, decay, polynomial(m, &scaled_erfc_terms, t), real(m, 1));
}

Value vmath_erf(const Lanes *m, Value x)
{
    Value size = magnitude(m, x), square = mul(m, size, size);
    Value small = muladd(m, size, real(m, 1.125), mul(m, size, polynomial(m, &small_terms[m->wide], square)));
    Value is_small = compare(m, LLVMRealOLE, size, m->wide ? 1 : 1.125);
    return with_sign_of(m, choose(m, is_small, small, large_erf(m, size)), x);
}
