/* What a library is asked for: each function computes what the example of its name computes, on row-major matrices of float32, and returns 0.
   A peer is a program of peer.c and a file that defines those of these functions for which its library has something fast. */
#ifndef TIRC_BENCH_PEERS_PEER_H
#define TIRC_BENCH_PEERS_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

#define PEER __attribute__((weak)) int

/* C = A B, of n x n */
PEER peer_product(int n, const float *A, const float *B, float *C);
/* B = A^T, of n x n */
PEER peer_transpose(int n, const float *A, float *B);
PEER peer_softmax(int rows, int columns, const float *A, float *B);
PEER peer_layernorm(int rows, int columns, const float *A, const float *gamma, const float *beta, float *B);
/* X: 58 x 58 x 64; W: 3 x 3 x 64 x 64; Y: 56 x 56 x 64 */
PEER peer_conv2d(const float *X, const float *W, float *Y);
PEER peer_mlp(const float *x, const float *W0, const float *b0, const float *W1, const float *b1, float *y);
/* B = A sigmoid(2 A + 1) */
PEER peer_elementwise(int count, const float *A, float *B);
/* The sums of rows */
PEER peer_row_sum(int rows, int columns, const float *A, float *sums);
/* C = A B^T of n x n: A has bytes without sign, B bytes with sign, C int32 */
PEER peer_product_int8(int n, const unsigned char *A, const signed char *B, int *C);

#ifdef __cplusplus
}
#endif
#endif
