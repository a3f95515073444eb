/* The loops of layernorm.tir, one row after the other. */
#include <math.h>

void plain_layernorm(int rows, int columns, const float *restrict A, const float *restrict gamma, const float *restrict beta,
                     float *restrict B)
{
    for (int i = 0; i < rows; i++) {
        const float *a = A + (long)i * columns;
        float *b = B + (long)i * columns, sum = 0, squares = 0;
        for (int j = 0; j < columns; j++) {
            sum += a[j];
            squares += a[j] * a[j];
        }
        float mean = sum / (float)columns, scale = 1 / sqrtf(squares / (float)columns - mean * mean + 1e-5f);
        for (int j = 0; j < columns; j++)
            b[j] = (a[j] - mean) * scale * gamma[j] + beta[j];
    }
}
