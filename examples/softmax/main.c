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
    Work work = {.name = "softmax of rows, 1024x1024, float32", .runs = {run, run_plain}, .results = {B, expected}, .count = ELEMENTS,
                 .bound = 1e-6, .flops = 5.0 * ELEMENTS, .bytes = 2.0 * sizeof A};
    return compare(work, argc, argv);
}
