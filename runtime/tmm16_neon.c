/* tmm16 for 64-bit Arm. B is transposed into a buffer on the stack, then rows of C are computed 4 at a time, each in four registers. */
#include <stddef.h>

#include "tmm16_variants.h"

#ifdef __aarch64__
#include <arm_neon.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
enum { TILE = 16, LANES = 4, ROWS = 4, PARTS = TILE / LANES };

/* to[k][j] = from[j * stride + k] for j, k from 0 to 3. */
INLINE void transpose_block(float (*to)[TILE], const float *from, ptrdiff_t stride)
{
    float32x4_t r0 = vld1q_f32(from), r1 = vld1q_f32(from + stride), r2 = vld1q_f32(from + 2 * stride), r3 = vld1q_f32(from + 3 * stride);
    float64x2_t t0 = vreinterpretq_f64_f32(vtrn1q_f32(r0, r1)), t1 = vreinterpretq_f64_f32(vtrn2q_f32(r0, r1));
    float64x2_t t2 = vreinterpretq_f64_f32(vtrn1q_f32(r2, r3)), t3 = vreinterpretq_f64_f32(vtrn2q_f32(r2, r3));
    vst1q_f32(to[0], vreinterpretq_f32_f64(vtrn1q_f64(t0, t2)));
    vst1q_f32(to[1], vreinterpretq_f32_f64(vtrn1q_f64(t1, t3)));
    vst1q_f32(to[2], vreinterpretq_f32_f64(vtrn2q_f64(t0, t2)));
    vst1q_f32(to[3], vreinterpretq_f32_f64(vtrn2q_f64(t1, t3)));
}

/* c[i][0..15] += a[i][LANE] * b[0..15]: LANE must be a constant, hence a macro. */
#define MULTIPLY_LANE(lane)                                                                                                                                                         \
    UNROLL for (int i = 0; i < ROWS; i++)                                                                                                                                           \
        UNROLL for (int part = 0; part < PARTS; part++)                                                                                                                             \
            c[i][part] = vfmaq_laneq_f32(c[i][part], vld1q_f32(b[k + (lane)] + part * LANES), a[i], lane)

/* ROWS rows of C. */
INLINE void multiply_rows(float *cc, const float *aa, float (*b)[TILE], ptrdiff_t sa, ptrdiff_t sc)
{
    float32x4_t c[ROWS][PARTS], a[ROWS];
    UNROLL for (int i = 0; i < ROWS; i++)
        UNROLL for (int part = 0; part < PARTS; part++)
            c[i][part] = vld1q_f32(cc + i * sc + part * LANES);
    for (int k = 0; k < TILE; k += LANES) {
        UNROLL for (int i = 0; i < ROWS; i++)
            a[i] = vld1q_f32(aa + i * sa + k);
        MULTIPLY_LANE(0);
        MULTIPLY_LANE(1);
        MULTIPLY_LANE(2);
        MULTIPLY_LANE(3);
    }
    UNROLL for (int i = 0; i < ROWS; i++)
        UNROLL for (int part = 0; part < PARTS; part++)
            vst1q_f32(cc + i * sc + part * LANES, c[i][part]);
}

int tirc_tmm16_neon(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c)
{
    const ptrdiff_t sa = stride_a, sb = stride_b, sc = stride_c;
    float b[TILE][TILE];
    for (int k = 0; k < TILE; k += LANES)
        for (int j = 0; j < TILE; j += LANES)
            transpose_block((float (*)[TILE])&b[k][j], bb + j * sb + k, sb);
    for (int i = 0; i < TILE; i += ROWS)
        multiply_rows(cc + i * sc, aa + i * sa, b, sa, sc);
    return 0;
}
#endif
