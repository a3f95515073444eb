/* What the benchmark tells of samples: least, median, greatest, and ratios of what was measured in the same round. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/statistics.h"

static void expect(Summary got, double min, double median, double max)
{
    assert_float_equal(got.min, min, 1e-12);
    assert_float_equal(got.median, median, 1e-12);
    assert_float_equal(got.max, max, 1e-12);
}

static void test_one_sample(void **state)
{
    (void)state;
    expect(summarize((double[]){7}, 1), 7, 7, 7);
}

static void test_odd_number_in_no_order(void **state)
{
    (void)state;
    double samples[] = {5, -1, 100, 2, 3};
    expect(summarize(samples, 5), -1, 3, 100);
    assert_float_equal(samples[2], 100, 0); /* the samples stay as they were: those of one round belong together */
}

static void test_even_number_takes_both_in_the_middle(void **state)
{
    (void)state;
    expect(summarize((double[]){4, 1, 2, 10}, 4), 1, 3, 10);
    expect(summarize((double[]){8, 6}, 2), 6, 7, 8);
}

/* Round 2 was disturbed: both took ten times as long. The ratio of medians would be 20 / 10. */
static void test_ratios_are_those_of_each_round(void **state)
{
    (void)state;
    double peer[] = {20, 300, 10}, own[] = {10, 100, 10};
    expect(summarize_ratios(peer, own, 3), 1, 2, 3);
    double swapped[] = {10, 20, 30, 40, 50}, other[] = {50, 40, 30, 20, 10};
    expect(summarize_ratios(swapped, other, 5), 0.2, 1, 5);
    double drifting[] = {1, 2, 4, 8, 16}, twice[] = {0.5, 1, 2, 4, 4};
    expect(summarize_ratios(drifting, twice, 5), 2, 2, 4);
}

static void test_as_many_as_there_may_be(void **state)
{
    (void)state;
    double samples[MAX_ROUNDS];
    for (int i = 0; i < MAX_ROUNDS; i++)
        samples[i] = (i * 7919) % MAX_ROUNDS;
    expect(summarize(samples, MAX_ROUNDS), 0, (MAX_ROUNDS - 1) / 2.0, MAX_ROUNDS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_sample),
        cmocka_unit_test(test_odd_number_in_no_order),
        cmocka_unit_test(test_even_number_takes_both_in_the_middle),
        cmocka_unit_test(test_ratios_are_those_of_each_round),
        cmocka_unit_test(test_as_many_as_there_may_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
