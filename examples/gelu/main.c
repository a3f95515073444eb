/* Bias, gelu and relu in one pass: checked against plain C, and timed beside it. */
#include "compare.h"
#include "gelu.h"

enum { ROWS = 1024, COLUMNS = 1024, ELEMENTS = ROWS * COLUMNS };
static float A[ELEMENTS], bias[COLUMNS], C[ELEMENTS], expected[ELEMENTS];

void plain_gelu(int rows, int columns, const float *restrict A, const float *restrict bias, float *restrict C);

static int run(void)
{
    return gelu(A, bias, C);
}

static int run_plain(void)
{
    plain_gelu(ROWS, COLUMNS, A, bias, expected);
    return 0;
}

int main(int argc, char **argv)
{
    fill(A, ELEMENTS);
    fill(bias, COLUMNS);
    Work work = {.name = "bias, gelu, relu, 1024x1024, float32", .runs = {run, run_plain}, .results = {C, expected}, .count = ELEMENTS,
                 .bound = 1e-6, .flops = 10.0 * ELEMENTS, .bytes = 2.0 * sizeof A};
    return compare(work, argc, argv);
}
