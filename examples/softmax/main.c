/* The softmax of the rows of a matrix: checked against plain C, and timed beside it. */
#include "compare.h"
#include "softmax.h"

enum { ROWS = 1024, COLUMNS = 1024, ELEMENTS = ROWS * COLUMNS };
static float A[ELEMENTS], B[ELEMENTS], expected[ELEMENTS];

void plain_softmax(int rows, int columns, const float *restrict A, float *restrict B);

static int run(void)
{
    return softmax(A, B);
}

static int run_plain(void)
{
    plain_softmax(ROWS, COLUMNS, A, expected);
    return 0;
}

int main(int argc, char **argv)
{
    fill(A, ELEMENTS);
    if (run() || run_plain() || !is_close(B, expected, ELEMENTS, 1e-6))
        return 1;
    compare("softmax of rows, 1024x1024, float32", run, run_plain, 0, 2.0 * sizeof A, argc, argv);
    return 0;
}
