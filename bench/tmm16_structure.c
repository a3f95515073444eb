/* How fast the structure of the tmm16 example runs, as a share of the peak measured in the same run: C = A B^T for 1024x1024 float32
   matrices, tiles of A and B copied into dense 16x16 buffers, multiplied into an accumulator, which is copied to C. In plain C with each
   variant of tmm16, and as tirc compiles it from text and schedule. And the micro-kernel by itself on tiles that stay in the first-level
   cache. The matrices are placed in three ways: A and B at the same offset within a page, where equal tiles of both compete for one set of
   the first-level cache; 64 bytes apart; and 16 bytes into a page, as malloc places them, where each row of a tile lies in two cache lines.
   The copies are unrolled, as in tirc's code: each load then has an address stream of its own, which the processor's prefetcher follows.
   bench/run builds this program. */
#include "support/peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matmul.h"
#include "tirc_rt.h"

enum { N = 1024, TILE = 16, RUNS = 12, KERNEL_CALLS = 100000, PAGE = 4096 };

static void copy_tile(float *restrict to, int to_stride, const float *restrict from, int from_stride)
{
#pragma GCC unroll 16
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

/* KERNEL: in plain C with that variant of tmm16; NULL: the function that tirc made. */
static double structure_gflops(tirc_tmm16_kernel kernel, const float *A, const float *B, float *C)
{
    double start = bench_seconds();
    if (kernel)
        multiply(kernel, A, B, C);
    else if (matmul(A, B, C))
        exit(1);
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

enum { PLACES = 3 };
static const size_t offset_a[PLACES] = {0, 0, 16}, offset_b[PLACES] = {0, 64, 16};

static void report(const char *name, tirc_tmm16_kernel kernel, float *const A[], float *const B[], float *const C[])
{
    double peak = 0, share[PLACES] = {0}, dense = 0, strided = 0, error = 0;
    for (int run = 0; run < RUNS; run++) {
        peak = fmax(peak, peak_measure(peak_widest(), 400000));
        for (int place = 0; place < PLACES; place++) {
            share[place] = fmax(share[place], structure_gflops(kernel, A[place], B[place], C[place]));
            error = fmax(error, run ? 0 : worst_error(A[place], B[place], C[place]));
        }
        if (kernel) {
            dense = fmax(dense, kernel_gflops(kernel, TILE));
            strided = fmax(strided, kernel_gflops(kernel, 2 * TILE));
        }
    }
    printf("%-8s of %.1f GFLOP/s peak: structure %.3f (A and B 64 bytes apart: %.3f, 16 bytes into a page: %.3f)", name, peak,
           share[0] / peak, share[1] / peak, share[2] / peak);
    if (kernel)
        printf(", kernel %.3f (stride 32: %.3f)", dense / peak, strided / peak);
    printf("; worst error %.1e\n", error);
}

int main(void)
{
    static const char *const names[] = {"avx512", "avx2", "neon", "portable"};
    float *A[PLACES], *B[PLACES], *C[PLACES];
    for (int place = 0; place < PLACES; place++) {
        A[place] = random_matrix(offset_a[place]);
        B[place] = random_matrix(offset_b[place]);
        C[place] = random_matrix(offset_a[place]);
    }
    report("tirc", NULL, A, B, C);
    for (size_t v = 0; v < sizeof names / sizeof *names; v++) {
        tirc_tmm16_kernel kernel = tirc_tmm16_variant(names[v]);
        if (kernel)
            report(names[v], kernel, A, B, C);
    }
    return 0;
}
