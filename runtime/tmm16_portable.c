/* tmm16 in plain C, in a form that compilers vectorize: the innermost loop runs over columns of C. */
#include <stddef.h>

#include "tmm16_variants.h"

enum { TILE = 16 };

int tirc_tmm16_portable(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c)
{
    const ptrdiff_t sa = stride_a, sb = stride_b, sc = stride_c;
    float b_transposed[TILE][TILE];
    for (int j = 0; j < TILE; j++)
        for (int k = 0; k < TILE; k++)
            b_transposed[k][j] = bb[j * sb + k];
    for (int i = 0; i < TILE; i++) {
        float c[TILE];
        for (int j = 0; j < TILE; j++)
            c[j] = cc[i * sc + j];
        for (int k = 0; k < TILE; k++)
            for (int j = 0; j < TILE; j++)
                c[j] += aa[i * sa + k] * b_transposed[k][j];
        for (int j = 0; j < TILE; j++)
            cc[i * sc + j] = c[j];
    }
    return 0;
}
