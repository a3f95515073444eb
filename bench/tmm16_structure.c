/* How fast the reference's structure runs with each variant of tmm16, as a share of the peak measured in the same run: C = A B^T for 1024x1024 float32 matrices, tiles of A and B
   copied into dense 16x16 buffers, multiplied into an accumulator, which is copied to C. And the micro-kernel by itself on tiles that stay in the first-level cache.
   The matrices are placed in two ways: with A and B at the same offset within a page, where equal tiles of both compete for one set of the first-level cache, and 64 bytes apart.
   Build, on x86-64 with 64-byte copies as tirc makes them: cc -O2 -march=native -mprefer-vector-width=512 -Iruntime bench/tmm16_structure.c build/libtirc_rt.a -lm */
#include "peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tirc_rt.h"

enum { N = 1024, TILE = 16, RUNS = 12, KERNEL_CALLS = 100000, PAGE = 4096 };

static void copy_tile(float *restrict to, int to_stride, const float *restrict from, int from_stride)
{
    for (int i = 0; i < TILE; i++)
        memcpy(to + i * to_stride, from + i * from_stride, TILE * sizeof(float));
}

static void multiply(tirc_tmm16_kernel kernel, const float *A, const float *B, float *C)
{
    _Alignas(64) float a[TILE * TILE], b[TILE * TILE], accumulator[TILE * TILE];
    for (int i = 0; i < N; i += TILE)
        for (int j = 0; j < N; j += TILE) {
            memset(accumulator, 0, sizeof accumulator);
            for (int k = 0; k < N; k += TILE) {
                copy_tile(a, TILE, A + i * N + k, N);
                copy_tile(b, TILE, B + j * N + k, N);
                kernel(accumulator, a, b, TILE, TILE, TILE);
            }
            copy_tile(C + i * N + j, N, accumulator, TILE);
        }
}

static double structure_gflops(tirc_tmm16_kernel kernel, const float *A, const float *B, float *C)
{
    double start = bench_seconds();
    multiply(kernel, A, B, C);
    return 2.0 * N * N * N / (bench_seconds() - start) * 1e-9;
}

static double kernel_gflops(tirc_tmm16_kernel kernel, int stride)
{
    _Alignas(64) static float tiles[3][TILE * 2 * TILE];
    double start = bench_seconds();
    for (int call = 0; call < KERNEL_CALLS; call++)
        kernel(tiles[0], tiles[1], tiles[2], stride, stride, stride);
    return 2.0 * TILE * TILE * TILE * KERNEL_CALLS / (bench_seconds() - start) * 1e-9;
}

static double worst_error(const float *A, const float *B, const float *C)
{
    double worst = 0;
    for (int i = 0; i < N; i += 61)
        for (int j = 0; j < N; j += 59) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += (double)A[i * N + k] * B[j * N + k];
            worst = fmax(worst, fabs(C[i * N + j] - sum));
        }
    return worst;
}

static float *random_matrix(size_t offset)
{
    float *matrix = tirc_alloc(sizeof(float) * N * N + PAGE, PAGE);
    if (!matrix)
        exit(1);
    matrix += offset / sizeof(float);
    for (int i = 0; i < N * N; i++)
        matrix[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    return matrix;
}

int main(void)
{
    static const char *const names[] = {"avx512", "avx2", "neon", "portable"};
    const float *A = random_matrix(0), *B = random_matrix(0), *B_apart = random_matrix(64);
    float *C = random_matrix(0);
    for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
        tirc_tmm16_kernel kernel = tirc_tmm16_variant(names[v]);
        if (!kernel)
            continue;
        double peak = 0, same = 0, apart = 0, dense = 0, strided = 0, error = 0;
        for (int run = 0; run < RUNS; run++) {
            peak = fmax(peak, peak_measure(peak_widest()));
            same = fmax(same, structure_gflops(kernel, A, B, C));
            error = fmax(error, run ? 0 : worst_error(A, B, C));
            apart = fmax(apart, structure_gflops(kernel, A, B_apart, C));
            dense = fmax(dense, kernel_gflops(kernel, TILE));
            strided = fmax(strided, kernel_gflops(kernel, 2 * TILE));
        }
        printf("%-8s of %.1f GFLOP/s peak: structure %.3f (A and B 64 bytes apart: %.3f), kernel %.3f (stride 32: %.3f); worst error %.1e\n", names[v], peak, same / peak,
               apart / peak, dense / peak, strided / peak, error);
    }
    return 0;
}
