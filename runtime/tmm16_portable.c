/* tmm16 in plain C, in a form that compilers vectorize: over the columns of C, with the sum over k written out for each. */
#include <stddef.h>

#include "tmm16_variants.h"

enum { TILE = 16 };

int tirc_tmm16_portable(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c)
{
    const ptrdiff_t sa = stride_a, sb = stride_b, sc = stride_c;
    float b[TILE][TILE];
    for (int j = 0; j < TILE; j++)
        for (int k = 0; k < TILE; k++)
            b[k][j] = bb[j * sb + k];
    for (int i = 0; i < TILE; i++) {
        const float *a = aa + i * sa;
        float *c = cc + i * sc, sums[TILE];
        for (int j = 0; j < TILE; j++) {
            float sum = c[j];
#pragma GCC unroll 16
            for (int k = 0; k < TILE; k++)
                sum += a[k] * b[k][j];
            sums[j] = sum;
        }
        for (int j = 0; j < TILE; j++)
            c[j] = sums[j];
    }
    return 0;
}
