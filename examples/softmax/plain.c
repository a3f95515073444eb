/* The loops of softmax.tir, with one row after the other. */
#include <math.h>

void plain_softmax(int rows, int columns, const float *restrict A, float *restrict B)
{
    for (int i = 0; i < rows; i++) {
        const float *a = A + (long)i * columns;
        float *b = B + (long)i * columns, maximum = -3.4e38f, sum = 0;
        for (int j = 0; j < columns; j++)
            maximum = a[j] > maximum ? a[j] : maximum;
        for (int j = 0; j < columns; j++)
            sum += b[j] = expf(a[j] - maximum);
        for (int j = 0; j < columns; j++)
            b[j] /= sum;
    }
}
