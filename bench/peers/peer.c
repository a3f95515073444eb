/* Serves one kernel of a library, if it has that: peer KERNEL. The inputs are those of the examples. */
#include "bench/peers/peer.h"

#include "examples/compare.h"

static int size; /* of the kernel: what the number in its name says */
static float *inputs[5], *output;
static int *integers;
static unsigned char *bytes[2];

static float *filled(long count)
{
    float *values = malloc((size_t)count * sizeof *values);
    if (values)
        fill(values, count);
    return values;
}

/* For each kernel: a function that makes the inputs and gives the number of elements of the result, and one that runs. */
static long make_square(void)
{
    inputs[0] = filled((long)size * size);
    inputs[1] = filled((long)size * size);
    return (long)size * size;
}

static long make_rows(void)
{
    make_square();
    return size;
}

static long make_conv2d(void)
{
    inputs[0] = filled(58 * 58 * 64);
    inputs[1] = filled(3 * 3 * 64 * 64);
    return 56 * 56 * 64;
}

enum { CALLS = 100 }; /* of the network, in one run */

static long make_mlp(void)
{
    static const int COUNTS[] = {784, 128 * 784, 128, 10 * 128, 10};
    for (int i = 0; i < 5; i++)
        inputs[i] = filled(COUNTS[i]);
    return 10;
}

static long make_int8(void)
{
    long count = (long)size * size;
    for (int i = 0; i < 2; i++)
        if ((bytes[i] = malloc((size_t)count)))
            fill_bytes(bytes[i], count, 256);
    integers = malloc((size_t)count * sizeof *integers);
    return count;
}

static int run_product(void)
{
    return peer_product(size, inputs[0], inputs[1], output);
}

static int run_transpose(void)
{
    return peer_transpose(size, inputs[0], output);
}

static int run_softmax(void)
{
    return peer_softmax(size, size, inputs[0], output);
}

static int run_layernorm(void)
{
    return peer_layernorm(size, size, inputs[0], inputs[1], inputs[1], output);
}

static int run_conv2d(void)
{
    return peer_conv2d(inputs[0], inputs[1], output);
}

static int run_mlp(void)
{
    int code = 0;
    for (int i = 0; i < CALLS; i++)
        code |= peer_mlp(inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], output);
    return code;
}

static int run_elementwise(void)
{
    return peer_elementwise(size * size, inputs[0], output);
}

static int run_row_sum(void)
{
    return peer_row_sum(size, size, inputs[0], output);
}

static int run_int8(void)
{
    return peer_product_int8(size, bytes[0], (const signed char *)bytes[1], integers);
}

int main(int argc, char **argv)
{
    const struct {
        const char *format;
        int has;
        long (*make)(void);
        Run run;
    } kernels[] = {
        {"product, %d", peer_product != NULL, make_square, run_product},
        {"transpose, %d", peer_transpose != NULL, make_square, run_transpose},
        {"softmax of rows, %d", peer_softmax != NULL, make_square, run_softmax},
        {"layernorm, %d", peer_layernorm != NULL, make_square, run_layernorm},
        {"conv 3x3, %d", peer_conv2d != NULL, make_conv2d, run_conv2d},
        {"MLP %d", peer_mlp != NULL, make_mlp, run_mlp},
        {"A * sigmoid(2 A + 1), %d", peer_elementwise != NULL, make_square, run_elementwise},
        {"sums of rows, %d", peer_row_sum != NULL, make_rows, run_row_sum},
        {"int8 product, %d", peer_product_int8 != NULL, make_int8, run_int8},
    };
    char *serving[] = {argv[0], "serve", NULL};
    for (size_t i = 0; argc == 2 && i < sizeof kernels / sizeof *kernels; i++) {
        if (!kernels[i].has || sscanf(argv[1], kernels[i].format, &size) != 1)
            continue;
        long count = kernels[i].make();
        output = malloc((size_t)count * sizeof *output);
        Work work = {.name = argv[1], .contenders = {PEER_NAME}, .runs = {kernels[i].run}, .results = {integers ? (void *)integers : output},
                     .count = count, .integers = integers != NULL, .bytes = 1};
        return compare(work, 2, serving);
    }
    return 1;
}
