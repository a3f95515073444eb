/* The normalization of the rows of a matrix: checked against plain C, and timed beside it. */
#include "compare.h"
#include "layernorm.h"

enum { ROWS = 1024, COLUMNS = 1024, ELEMENTS = ROWS * COLUMNS };
static float A[ELEMENTS], gamma_[COLUMNS], beta[COLUMNS], B[ELEMENTS], expected[ELEMENTS];

void plain_layernorm(int rows, int columns, const float *restrict A, const float *restrict gamma, const float *restrict beta,
                     float *restrict B);

static int run(void)
{
    return layernorm(A, gamma_, beta, B);
}

static int run_plain(void)
{
    plain_layernorm(ROWS, COLUMNS, A, gamma_, beta, expected);
    return 0;
}

int main(int argc, char **argv)
{
    fill(A, ELEMENTS);
    fill(gamma_, COLUMNS);
    fill(beta, COLUMNS);
    Work work = {.name = "layernorm, 1024x1024, float32", .runs = {run, run_plain}, .results = {B, expected}, .count = ELEMENTS,
                 .bound = 1e-4, .flops = 7.0 * ELEMENTS, .bytes = 2.0 * sizeof A};
    return compare(work, argc, argv);
}
