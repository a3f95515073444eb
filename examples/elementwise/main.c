/* A chain of elementwise operations: checked against plain C, and timed beside it. */
#include "compare.h"
#include "elementwise.h"

enum { ELEMENTS = 1024 * 1024 };
static float A[ELEMENTS], B[ELEMENTS], expected[ELEMENTS];

void plain_elementwise(long count, const float *restrict A, float *restrict B);

static int run(void)
{
    return elementwise(A, B);
}

static int run_plain(void)
{
    plain_elementwise(ELEMENTS, A, expected);
    return 0;
}

int main(int argc, char **argv)
{
    fill(A, ELEMENTS);
    if (run() || run_plain() || !is_close(B, expected, ELEMENTS, 1e-6))
        return 1;
    compare("A * sigmoid(2 A + 1), 1024x1024, float32", run, run_plain, 0, 2.0 * sizeof A, argc, argv);
    return 0;
}
