/* The transpose of a matrix: checked against plain C, and timed beside it. */
#include "compare.h"
#include "transpose.h"

enum { N = 1024 };
static float A[N * N], B[N * N], expected[N * N];

void plain_transpose(int n, const float *restrict A, float *restrict B);

static int run(void)
{
    return transpose(A, B);
}

static int run_plain(void)
{
    plain_transpose(N, A, expected);
    return 0;
}

int main(int argc, char **argv)
{
    fill(A, N * N);
    Work work = {.name = "transpose, 1024x1024, float32", .runs = {run, run_plain}, .results = {B, expected}, .count = N * N,
                 .bound = 0, .flops = 0, .bytes = 2.0 * sizeof A};
    return compare(work, argc, argv);
}
