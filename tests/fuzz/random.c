/* Random numbers: splitmix64. */
#include "fuzz.h"

uint64_t random_next(Random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int random_below(Random *random, int count)
{
    return (int)(random_next(random) % (uint64_t)count);
}

bool random_chance(Random *random, int percent)
{
    return random_below(random, 100) < percent;
}
