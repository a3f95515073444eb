/* What is told of a row of samples, and of the ratios of two rows that were taken in the same rounds. */
#ifndef TIRC_BENCH_STATISTICS_H
#define TIRC_BENCH_STATISTICS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 1001 };

typedef struct {
    double min, median, max;
} Summary;

static inline int statistics_order(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Of COUNT samples, 1 to MAX_ROUNDS. The median of an even number of samples is the mean of the middle two. */
static inline Summary summarize(const double *samples, int count)
{
    double sorted[MAX_ROUNDS];
    memcpy(sorted, samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, statistics_order);
    return (Summary){sorted[0], (sorted[(count - 1) / 2] + sorted[count / 2]) / 2, sorted[count - 1]};
}

/* Of the ratios OVER[i] / UNDER[i]: both were measured in round i, under the same disturbances. So the median of ratios is not the ratio of
   the medians. */
static inline Summary summarize_ratios(const double *over, const double *under, int count)
{
    double ratios[MAX_ROUNDS];
    for (int i = 0; i < count; i++)
        ratios[i] = over[i] / under[i];
    return summarize(ratios, count);
}

#endif
