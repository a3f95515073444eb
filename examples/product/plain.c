/* The loops of product.tir in an order that vectorizes. */
void plain_product(int n, const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            C[(long)i * n + j] = 0;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                C[(long)i * n + j] += A[(long)i * n + k] * B[(long)k * n + j];
    }
}
