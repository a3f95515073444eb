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
    Work work = {.name = "A * sigmoid(2 A + 1), 1024x1024, float32", .runs = {run, run_plain}, .results = {B, expected}, .count = ELEMENTS,
                 .bound = 1e-6, .flops = 6.0 * ELEMENTS, .bytes = 2.0 * sizeof A};
    return compare(work, argc, argv);
}
