/* TVM's random numbers: a linear congruential generator, and the distributions of the C++ library that its schedules use, so that one seed
   gives the same decisions there and here. */
#ifndef TIRC_PASSES_SCHEDULE_SAMPLE_RANDOM_H
#define TIRC_PASSES_SCHEDULE_SAMPLE_RANDOM_H

#include <stdint.h>

/* The state that SEED, which is not negative, begins with. */
int64_t random_seed(int64_t seed);
/* A seed for another generator. */
int64_t random_fork(int64_t *state);
/* A number from LOW to HIGH - 1. */
int32_t random_int(int64_t *state, int32_t low, int32_t high);
/* A number from 0 to COUNT - 1, with probabilities in proportion to WEIGHTS. */
int random_choice(int64_t *state, const double *weights, int count);

#endif
