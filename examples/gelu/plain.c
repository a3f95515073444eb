/* The loops of gelu.tir in one. */
#include <math.h>

void plain_gelu(int rows, int columns, const float *restrict A, const float *restrict bias, float *restrict C)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float x = A[(long)i * columns + j] + bias[j];
            float g = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
            C[(long)i * columns + j] = g > 0 ? g : 0;
        }
}
