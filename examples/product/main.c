/* The product of two matrices, of a size that the tiles divide and of one that they do not: checked against plain C and timed. */
#include "compare.h"
#include "product.h"

/* TILE, the name of the schedule's tile, is defined by the Makefile. */
enum { EVEN = 1024, ODD = 1000 };
static float A[EVEN * EVEN], B[EVEN * EVEN], C[EVEN * EVEN], expected[EVEN * EVEN];

void plain_product(int n, const float *restrict A, const float *restrict B, float *restrict C);

static int run_even(void)
{
    return product(A, B, C);
}

static int run_odd(void)
{
    return product_1000(A, B, C);
}

static int run_plain_even(void)
{
    plain_product(EVEN, A, B, expected);
    return 0;
}

static int run_plain_odd(void)
{
    plain_product(ODD, A, B, expected);
    return 0;
}

/* All but the size and what runs */
static Work work_of(const char *name, double n, Run run, Run plain)
{
    return (Work){.name = name, .runs = {run, plain}, .results = {C, expected}, .count = (long)(n * n), .bound = 1e-4,
                  .flops = 2 * n * n * n, .bytes = 3 * n * n * sizeof(float)};
}

int main(int argc, char **argv)
{
    fill(A, EVEN * EVEN);
    fill(B, EVEN * EVEN);
    return compare(work_of("product, 1024x1024, tiles " TILE, EVEN, run_even, run_plain_even), argc, argv) ||
           compare(work_of("product, 1000x1000, tiles " TILE, ODD, run_odd, run_plain_odd), argc, argv);
}
