/* Sums, maxima and places of maxima of the rows of a matrix: checked against plain C, and timed beside it. */
#include "compare.h"
#include "reductions.h"

enum { ROWS = 1024, COLUMNS = 1024 };
static float A[ROWS * COLUMNS], numbers[ROWS], expected[ROWS];
static int places[ROWS], expected_places[ROWS];

void plain_row_sum(int rows, int columns, const float *restrict A, float *restrict sums);
void plain_row_max(int rows, int columns, const float *restrict A, float *restrict maxima);
void plain_row_argmax(int rows, int columns, const float *restrict A, int *restrict places);

static int run_sum(void)
{
    return row_sum(A, numbers);
}

static int run_max(void)
{
    return row_max(A, numbers);
}

static int run_argmax(void)
{
    return row_argmax(A, places);
}

static int run_plain_sum(void)
{
    plain_row_sum(ROWS, COLUMNS, A, expected);
    return 0;
}

static int run_plain_max(void)
{
    plain_row_max(ROWS, COLUMNS, A, expected);
    return 0;
}

static int run_plain_argmax(void)
{
    plain_row_argmax(ROWS, COLUMNS, A, expected_places);
    return 0;
}

/* All but the result */
static Work work_of(const char *name, Run run, Run plain)
{
    return (Work){.name = name, .runs = {run, plain}, .count = ROWS, .flops = ROWS * COLUMNS, .bytes = sizeof A + sizeof numbers};
}

int main(int argc, char **argv)
{
    Work sum = work_of("sums of rows, 1024x1024, float32", run_sum, run_plain_sum);
    Work max = work_of("maxima of rows, 1024x1024, float32", run_max, run_plain_max);
    Work argmax = work_of("places of maxima of rows, 1024x1024, float32", run_argmax, run_plain_argmax);
    sum.results[0] = max.results[0] = numbers;
    sum.results[1] = max.results[1] = expected;
    sum.bound = 1e-4; /* another order of the sum */
    argmax.results[0] = places;
    argmax.results[1] = expected_places;
    argmax.integers = 1;
    fill(A, ROWS * COLUMNS);
    return compare(sum, argc, argv) || compare(max, argc, argv) || compare(argmax, argc, argv);
}
