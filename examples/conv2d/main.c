/* A convolution in the layout NHWC: checked against plain C, and timed beside it. */
#include "compare.h"
#include "conv2d.h"

enum { INPUTS = 58 * 58 * 64, WEIGHTS = 3 * 3 * 64 * 64, OUTPUTS = 56 * 56 * 64 };
static float X[INPUTS], W[WEIGHTS], Y[OUTPUTS], expected[OUTPUTS];

void plain_conv2d(const float *restrict X, const float *restrict W, float *restrict Y);

static int run(void)
{
    return conv2d(X, W, Y);
}

static int run_plain(void)
{
    plain_conv2d(X, W, expected);
    return 0;
}

int main(int argc, char **argv)
{
    fill(X, INPUTS);
    fill(W, WEIGHTS);
    Work work = {.name = "conv 3x3, 56x56, 64 to 64 channels, float32", .runs = {run, run_plain}, .results = {Y, expected},
                 .count = OUTPUTS, .bound = 1e-4, .flops = 2.0 * OUTPUTS * 9 * 64, .bytes = sizeof X + sizeof W + sizeof Y};
    return compare(work, argc, argv);
}
