/* tmm16 for AVX2 with FMA. B is transposed into a buffer on the stack, then rows of C are computed a few at a time, each in two
   registers. */
#include <stddef.h>

#include "tmm16_variants.h"

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define INLINE AVX2 static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
#define ROLLED _Pragma("GCC unroll 1") /* unrolled, the compiler would load b anew for each row */
enum { TILE = 16, LANES = 8, HALVES = TILE / LANES };

/* Transposes the 4x4 block that four registers hold in each of their 128-bit lanes. */
INLINE void transpose_lanes(__m256 r[4])
{
    __m256d t0 = _mm256_castps_pd(_mm256_unpacklo_ps(r[0], r[1])), t1 = _mm256_castps_pd(_mm256_unpackhi_ps(r[0], r[1]));
    __m256d t2 = _mm256_castps_pd(_mm256_unpacklo_ps(r[2], r[3])), t3 = _mm256_castps_pd(_mm256_unpackhi_ps(r[2], r[3]));
    r[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(t0, t2));
    r[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(t0, t2));
    r[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(t1, t3));
    r[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(t1, t3));
}

/* to[k][j] = from[j * stride + k] for j, k from 0 to 7. A register gets row j in one lane and row j + 4 in the other, so that no data has
   to cross lanes afterwards. */
INLINE void transpose_block(float (*to)[TILE], const float *from, ptrdiff_t stride)
{
    UNROLL for (int half = 0; half < 2; half++) {
        __m256 r[4];
        UNROLL for (int j = 0; j < 4; j++) {
            const float *row = from + j * stride + 4 * half;
            r[j] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row)), _mm_loadu_ps(row + 4 * stride), 1);
        }
        transpose_lanes(r);
        UNROLL for (int k = 0; k < 4; k++)
            _mm256_store_ps(to[4 * half + k], r[k]);
    }
}

/* ROWS rows of C, at most 6: with a row of b and a broadcast they fill the 16 registers, and 2 * ROWS independent sums cover the latency of
   a multiply-add. */
INLINE void multiply_rows(int rows, float *cc, const float *aa, float (*b)[TILE], ptrdiff_t sa, ptrdiff_t sc)
{
    __m256 c[6][HALVES];
    UNROLL for (int i = 0; i < rows; i++)
        UNROLL for (int half = 0; half < HALVES; half++)
            c[i][half] = _mm256_loadu_ps(cc + i * sc + half * LANES);
    ROLLED for (int k = 0; k < TILE; k++) {
        const __m256 b_left = _mm256_load_ps(b[k]), b_right = _mm256_load_ps(b[k] + LANES);
        UNROLL for (int i = 0; i < rows; i++) {
            const __m256 a = _mm256_set1_ps(aa[i * sa + k]);
            c[i][0] = _mm256_fmadd_ps(a, b_left, c[i][0]);
            c[i][1] = _mm256_fmadd_ps(a, b_right, c[i][1]);
        }
    }
    UNROLL for (int i = 0; i < rows; i++)
        UNROLL for (int half = 0; half < HALVES; half++)
            _mm256_storeu_ps(cc + i * sc + half * LANES, c[i][half]);
}

AVX2 int tirc_tmm16_avx2(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c)
{
    const ptrdiff_t sa = stride_a, sb = stride_b, sc = stride_c;
    _Alignas(32) float b[TILE][TILE];
    for (int k = 0; k < TILE; k += LANES)
        for (int j = 0; j < TILE; j += LANES)
            transpose_block((float (*)[TILE])&b[k][j], bb + j * sb + k, sb);
    multiply_rows(6, cc, aa, b, sa, sc);
    multiply_rows(5, cc + 6 * sc, aa + 6 * sa, b, sa, sc);
    multiply_rows(5, cc + 11 * sc, aa + 11 * sa, b, sa, sc);
    return 0;
}
#endif
