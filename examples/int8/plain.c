/* The loops of int8.tir. */
void plain_int8(int n, const unsigned char *restrict A, const signed char *restrict B, int *restrict C)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int k = 0; k < n; k++)
                sum += A[(long)i * n + k] * B[(long)j * n + k];
            C[(long)i * n + j] = sum;
        }
}
