/* The product of two matrices of bytes, by the plain program and by one that packs B: checked against plain C and timed. */
#include "compare.h"
#include "int8.h"

enum { N = 1024 };
static unsigned char A[N * N];
static signed char B[N * N];
static int C[N * N], expected[N * N];

void plain_int8(int n, const unsigned char *restrict A, const signed char *restrict B, int *restrict C);

static int run_product(void)
{
    return int8_product(A, B, C);
}

static int run_packed(void)
{
    return int8_packed(A, B, C);
}

static int run_plain(void)
{
    plain_int8(N, A, B, expected);
    return 0;
}

static Work work_of(const char *name, Run run)
{
    return (Work){.name = name, .runs = {run, run_plain}, .results = {C, expected}, .count = N * N, .integers = 1, .flops = 2.0 * N * N * N,
                  .bytes = sizeof A + sizeof B + sizeof C};
}

int main(int argc, char **argv)
{
    fill_bytes(A, N * N, 256);
    fill_bytes(B, N * N, 256);
    return compare(work_of("int8 product, 1024x1024, plain program", run_product), argc, argv) ||
           compare(work_of("int8 product, 1024x1024, packed", run_packed), argc, argv);
}
