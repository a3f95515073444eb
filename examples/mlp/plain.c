/* The loops of mlp.tir. */
void plain_mlp(const float *restrict x, const float *restrict W0, const float *restrict b0, const float *restrict W1,
               const float *restrict b1, float *restrict y)
{
    float h[128];
    for (int j = 0; j < 128; j++) {
        float sum = 0;
        for (int k = 0; k < 784; k++)
            sum += W0[j * 784 + k] * x[k];
        h[j] = sum + b0[j] > 0 ? sum + b0[j] : 0;
    }
    for (int j = 0; j < 10; j++) {
        float sum = 0;
        for (int k = 0; k < 128; k++)
            sum += W1[j * 128 + k] * h[k];
        y[j] = sum + b1[j];
    }
}
