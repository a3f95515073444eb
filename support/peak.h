/* The float32 multiply-add rate of one core, the measure of every GFLOP/s that is reported: independent chains of fused multiply-adds in
   registers, as wide as the processor has them. For --time, and for benchmark programs of one file; compiled by gcc or clang with -O2 and
   without any -m option. */
#ifndef TIRC_SUPPORT_PEAK_H
#define TIRC_SUPPORT_PEAK_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <math.h>
#include <time.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* chains cover a latency of up to 6 cycles at 2 a cycle; unrolled so that the loop's own instructions do not count */
enum { PEAK_CHAINS = 12, PEAK_UNROLL = 8 };

/* Seconds since some moment. */
static inline double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Keeps the compiler from knowing VALUE, which is in a register of class KIND: chains with known values may be computed ahead, in part or
   whole. */
#define PEAK_HIDE(kind, value) __asm__ volatile("" : "+" kind(value))

/* Defines name(rounds), which runs PEAK_UNROLL multiply-adds in each chain a round. The chains converge, so no value is ever subnormal. */
#define PEAK_LOOP(name, attributes, kind, vector, set, multiply_add)                                \
    attributes static void name(long rounds)                                                        \
    {                                                                                               \
        vector chains[PEAK_CHAINS], factor = set(0.5f), addend = set(1.0f);                         \
        PEAK_HIDE(kind, factor);                                                                    \
        PEAK_HIDE(kind, addend);                                                                    \
        _Pragma("GCC unroll 16") for (int i = 0; i < PEAK_CHAINS; i++) {                            \
            chains[i] = set((float)i);                                                              \
            PEAK_HIDE(kind, chains[i]);                                                             \
        }                                                                                           \
        _Pragma("GCC unroll 1") while (rounds--)                                                    \
            _Pragma("GCC unroll 16") for (int u = 0; u < PEAK_UNROLL; u++)                          \
                _Pragma("GCC unroll 16") for (int i = 0; i < PEAK_CHAINS; i++)                      \
                    chains[i] = multiply_add(chains[i], factor, addend);                            \
        _Pragma("GCC unroll 16") for (int i = 0; i < PEAK_CHAINS; i++)                              \
            PEAK_HIDE(kind, chains[i]);                                                             \
    }

#ifdef __x86_64__
PEAK_LOOP(peak_avx512, __attribute__((target("avx512f"))), "v", __m512, _mm512_set1_ps, _mm512_fmadd_ps)
PEAK_LOOP(peak_avx2, __attribute__((target("avx2,fma"))), "x", __m256, _mm256_set1_ps, _mm256_fmadd_ps)
#define PEAK_SCALAR_KIND "x"
#elif defined(__aarch64__)
#define PEAK_SCALAR_KIND "w"
#else
#define PEAK_SCALAR_KIND "m"
#endif

#define PEAK_SCALAR(value) (value)
#ifdef __FP_FAST_FMAF
#define PEAK_SCALAR_MULTIPLY_ADD fmaf
#else
#define PEAK_SCALAR_MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif
PEAK_LOOP(peak_scalar, , PEAK_SCALAR_KIND, float, PEAK_SCALAR, PEAK_SCALAR_MULTIPLY_ADD)

typedef struct {
    const char *name;
    void (*loop)(long rounds);
    int lanes;
} Peak;

/* The loop with the widest vectors that this processor has. */
static inline Peak peak_widest(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return (Peak){"avx512", peak_avx512, 16};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (Peak){"avx2", peak_avx2, 8};
#endif
    return (Peak){"scalar", peak_scalar, 1};
}

/* GFLOP/s of one run; a million rounds are about 25 ms. */
static inline double peak_measure(Peak peak, long rounds)
{
    double start = bench_seconds();
    peak.loop(rounds);
    return 2.0 * PEAK_CHAINS * PEAK_UNROLL * peak.lanes * (double)rounds / (bench_seconds() - start) * 1e-9;
}

#endif
