/* See random.h. */
#include "passes/schedule/sample/random.h"

#include <math.h>

static const uint64_t MULTIPLIER = 48271, MODULUS = 2147483647;

static uint64_t next(int64_t *state)
{
    *state = (int64_t)((uint64_t)*state * MULTIPLIER % MODULUS);
    return (uint64_t)*state;
}

int64_t random_seed(int64_t seed)
{
    int64_t state = seed % (int64_t)MODULUS;
    return state ? state : 1;
}

int64_t random_fork(int64_t *state)
{
    return (int64_t)(next(state) * 32767 % 1999999973);
}

/* std::uniform_int_distribution: the generator's range in equal parts, and another number where one lies behind them. */
int32_t random_int(int64_t *state, int32_t low, int32_t high)
{
    uint64_t count = (uint64_t)((int64_t)high - low);
    if (count == 1)
        return low;
    uint64_t part = (MODULUS - 1) / count, number;
    do
        number = next(state);
    while (number >= count * part);
    return (int32_t)(low + (int64_t)(number / part));
}

/* std::generate_canonical of 53 bits: two numbers of the generator make a number from 0 to less than 1. */
static double canonical(int64_t *state)
{
    double sum = 0, scale = 1;
    for (int i = 0; i < 2; i++) {
        sum += (double)next(state) * scale;
        scale *= (double)MODULUS;
    }
    double result = sum / scale;
    return result < 1 ? result : nextafter(1, 0);
}

/* std::discrete_distribution. */
int random_choice(int64_t *state, const double *weights, int count)
{
    if (count < 2)
        return 0;
    double total = 0, sum = 0;
    for (int i = 0; i < count; i++)
        total += weights[i];
    double number = canonical(state);
    for (int i = 0; i + 1 < count; i++) {
        sum += weights[i] / total;
        if (sum >= number)
            return i;
    }
    return count - 1;
}
