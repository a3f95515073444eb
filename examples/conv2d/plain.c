/* The loops of conv2d.tir in an order that vectorizes. */
void plain_conv2d(const float *restrict X, const float *restrict W, float *restrict Y)
{
    for (int h = 0; h < 56; h++)
        for (int w = 0; w < 56; w++) {
            float *y = Y + (h * 56 + w) * 64;
            for (int c = 0; c < 64; c++)
                y[c] = 0;
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    for (int k = 0; k < 64; k++)
                        for (int c = 0; c < 64; c++)
                            y[c] += X[((h + r) * 58 + w + s) * 64 + k] * W[((r * 3 + s) * 64 + k) * 64 + c];
        }
}
