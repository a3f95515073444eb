/* The loops of transpose.tir. */
void plain_transpose(int n, const float *restrict A, float *restrict B)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            B[(long)j * n + i] = A[(long)i * n + j];
}
