/* BLAS: OpenBLAS, or BLIS with its BLAS interface. */
#include "bench/peers/peer.h"

#include <string.h>

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

/* As cblas.h has them; it is in another place for each library. */
void cblas_sgemm(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float *A, int a_stride, const float *B, int b_stride,
                 float beta, float *C, int c_stride);
void cblas_sgemv(int order, int form, int m, int n, float alpha, const float *A, int stride, const float *x, int x_step, float beta, float *y,
                 int y_step);

int peer_product(int n, const float *A, const float *B, float *C)
{
    cblas_sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, n, n, n, 1, A, n, B, n, 0, C, n);
    return 0;
}

int peer_mlp(const float *x, const float *W0, const float *b0, const float *W1, const float *b1, float *y)
{
    float hidden[128];
    memcpy(hidden, b0, sizeof hidden);
    cblas_sgemv(ROW_MAJOR, AS_IT_IS, 128, 784, 1, W0, 784, x, 1, 1, hidden, 1);
    for (int i = 0; i < 128; i++)
        hidden[i] = hidden[i] > 0 ? hidden[i] : 0;
    memcpy(y, b1, 10 * sizeof *y);
    cblas_sgemv(ROW_MAJOR, AS_IT_IS, 10, 128, 1, W1, 128, hidden, 1, 1, y, 1);
    return 0;
}

#ifdef HAS_OMATCOPY
void cblas_somatcopy(int order, int form, int rows, int columns, float alpha, const float *A, int a_stride, float *B, int b_stride);

int peer_transpose(int n, const float *A, float *B)
{
    cblas_somatcopy(ROW_MAJOR, TRANSPOSED, n, n, 1, A, n, B, n);
    return 0;
}
#endif
