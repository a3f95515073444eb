/* The product of two matrices, of a size that the tiles divide and of one that they do not: checked against plain C and timed. */
#include "compare.h"
#include "product.h"

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

static int check(const char *name, int n, Run run, Run plain, int argc, char **argv)
{
    if (run() || plain() || !is_close(C, expected, n * n, 1e-4))
        return 1;
    compare(name, run, plain, 2.0 * n * n * n, 0, argc, argv);
    return 0;
}

int main(int argc, char **argv)
{
    fill(A, EVEN * EVEN);
    fill(B, EVEN * EVEN);
    return check("product, 1024x1024, float32", EVEN, run_even, run_plain_even, argc, argv) ||
           check("product, 1000x1000, float32", ODD, run_odd, run_plain_odd, argc, argv);
}
