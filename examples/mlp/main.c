/* A network of two layers on one input: checked against plain C, and timed beside it. */
#include "compare.h"
#include "mlp.h"

enum { INPUTS = 784, HIDDEN = 128, OUTPUTS = 10, CALLS = 100 };
static float x[INPUTS], W0[HIDDEN * INPUTS], b0[HIDDEN], W1[OUTPUTS * HIDDEN], b1[OUTPUTS], y[OUTPUTS], expected[OUTPUTS];

void plain_mlp(const float *restrict x, const float *restrict W0, const float *restrict b0, const float *restrict W1,
               const float *restrict b1, float *restrict y);

/* A call takes microseconds, so many are timed together. */
static int run(void)
{
    int code = 0;
    for (int i = 0; i < CALLS; i++)
        code |= mlp(x, W0, b0, W1, b1, y);
    return code;
}

static int run_plain(void)
{
    for (int i = 0; i < CALLS; i++)
        plain_mlp(x, W0, b0, W1, b1, expected);
    return 0;
}

int main(int argc, char **argv)
{
    fill(x, INPUTS);
    fill(W0, HIDDEN * INPUTS);
    fill(b0, HIDDEN);
    fill(W1, OUTPUTS * HIDDEN);
    fill(b1, OUTPUTS);
    Work work = {.name = "MLP 784-128-10, batch 1, 100 calls", .runs = {run, run_plain}, .results = {y, expected}, .count = OUTPUTS,
                 .bound = 1e-4, .flops = 2.0 * CALLS * HIDDEN * (INPUTS + OUTPUTS), .bytes = sizeof W0 + sizeof W1};
    return compare(work, argc, argv);
}
