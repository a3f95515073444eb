/* tmm16 for AVX-512. The 16 rows of B are transposed in registers, so that register k holds b[0..15][k]; row i of C is then a sum over k of
   a broadcast a[i][k] times register k: 256 fused multiply-adds, each with its broadcast folded into the memory operand. B takes 16
   registers and C the other 16. */
#include <stddef.h>

#include "tmm16_variants.h"

#ifdef __x86_64__
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define INLINE AVX512 static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 32")
enum { TILE = 16, GROUP = 8 };

/* Transposes the 4x4 block that four registers hold in each of their 128-bit lanes. */
INLINE void transpose_lanes(__m512 r[4])
{
    __m512d t0 = _mm512_castps_pd(_mm512_unpacklo_ps(r[0], r[1])), t1 = _mm512_castps_pd(_mm512_unpackhi_ps(r[0], r[1]));
    __m512d t2 = _mm512_castps_pd(_mm512_unpacklo_ps(r[2], r[3])), t3 = _mm512_castps_pd(_mm512_unpackhi_ps(r[2], r[3]));
    r[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(t0, t2));
    r[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(t0, t2));
    r[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(t1, t3));
    r[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(t1, t3));
}

/* The 4x4 blocks are transposed where they are, then moved: each shuffle takes the even (0x88) or odd (0xdd) lanes of two registers. */
INLINE void transpose_tile(__m512 r[TILE])
{
    __m512 t[TILE];
    UNROLL for (int i = 0; i < TILE; i += 4)
        transpose_lanes(r + i);
    UNROLL for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
    UNROLL for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
        r[i + 4] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88);
        r[i + 12] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

/* The lower group of rows runs GROUP steps of k behind the upper one: the loads and stores of C then come in four small bursts among the
   multiply-adds instead of two large ones, during which the multipliers would idle. 8 independent sums at a time still cover the latency of
   a multiply-add. */
INLINE int multiply(float *cc, const float *aa, const float *bb, ptrdiff_t sa, ptrdiff_t sb, ptrdiff_t sc)
{
    const float *lower_aa = aa + GROUP * sa;
    __asm__("" : "+r"(lower_aa)); /* a base register of its own keeps the offsets of its rows to one byte */
    __m512 b[TILE], c[TILE];
    UNROLL for (int j = 0; j < TILE; j++)
        b[j] = _mm512_loadu_ps(bb + j * sb);
    transpose_tile(b);
    UNROLL for (int step = 0; step < TILE + GROUP; step++)
        UNROLL for (int i = 0; i < TILE; i++) {
            int k = i < GROUP ? step : step - GROUP;
            if (k < 0 || k >= TILE)
                continue;
            const float *row = i < GROUP ? aa + i * sa : lower_aa + (i - GROUP) * sa;
            if (k == 0)
                c[i] = _mm512_loadu_ps(cc + i * sc);
            c[i] = _mm512_fmadd_ps(_mm512_set1_ps(row[k]), b[k], c[i]);
            if (k == TILE - 1)
                _mm512_storeu_ps(cc + i * sc, c[i]);
        }
    return 0;
}

AVX512 static __attribute__((noinline)) int multiply_strided(float *cc, const float *aa, const float *bb, ptrdiff_t sa, ptrdiff_t sb,
                                                             ptrdiff_t sc)
{
    return multiply(cc, aa, bb, sa, sb, sc);
}

/* Dense tiles, the usual case after staging, get code with constant offsets. The other code is a function of its own, or the compiler would
   hoist loads that both have in common out of the branch, and run out of registers. */
AVX512 int tirc_tmm16_avx512(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c)
{
    if (stride_a != TILE || stride_b != TILE || stride_c != TILE)
        return multiply_strided(cc, aa, bb, stride_a, stride_b, stride_c);
    return multiply(cc, aa, bb, TILE, TILE, TILE);
}
#endif
