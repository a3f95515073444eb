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
    if (run() || run_plain() || !is_close(B, expected, N * N, 0))
        return 1;
    compare("transpose, 1024x1024, float32", run, run_plain, 0, 2.0 * sizeof A, argc, argv);
    return 0;
}
