/* Calls the compiled matrix multiplication on real data, checks it against sums in double and prints how fast it ran. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "matmul.h"
#include "tirc_rt.h"

enum { N = 1024, CHECKED_ROWS = 64, RUNS = 20 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static float *random_matrix(uint64_t seed)
{
    float *matrix = aligned_alloc(64, sizeof(float) * N * N); /* whole cache lines: a row of a tile is one line then */
    for (int i = 0; matrix && i < N * N; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        matrix[i] = (float)(seed >> 40) / (float)(1 << 24) - 0.5f;
    }
    return matrix;
}

/* The largest error of C relative to what float sums of this length may lose. */
static double worst_error(const float *A, const float *B, const float *C)
{
    double worst = 0;
    for (int i = 0; i < N; i += N / CHECKED_ROWS)
        for (int j = 0; j < N; j++) {
            double sum = 0, magnitude = 0;
            for (int k = 0; k < N; k++) {
                sum += (double)A[i * N + k] * B[j * N + k];
                magnitude += fabs((double)A[i * N + k] * B[j * N + k]);
            }
            double error = fabs(C[i * N + j] - sum) / (magnitude * N * 0x1p-24);
            worst = isnan(error) || error > worst ? error : worst;
        }
    return worst;
}

int main(void)
{
    float *A = random_matrix(1), *B = random_matrix(2), *C = random_matrix(3);
    if (!A || !B || !C)
        return 1;
    double best = 1e9;
    for (int run = 0; run < RUNS; run++) {
        double start = seconds();
        if (matmul(A, B, C)) {
            fprintf(stderr, "matmul failed: %s\n", tirc_last_error());
            return 1;
        }
        double time = seconds() - start;
        best = time < best ? time : best;
    }
    double error = worst_error(A, B, C);
    printf("C = A B^T, %dx%d, float32: %.2f ms, %.1f GFLOP/s\n", N, N, best * 1e3, 2.0 * N * N * N / best * 1e-9);
    printf("check of %d rows against double: %s (worst error %.3f of the bound)\n", CHECKED_ROWS, error <= 1 ? "ok" : "WRONG", error);
    free(A), free(B), free(C);
    return error <= 1 ? 0 : 1;
}
