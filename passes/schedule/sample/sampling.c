/* sample_categorical, sample_perfect_tile, sample_partitioned_tile, sample_compute_location: choices, by a random generator or as `decision`
   says. The result is a symbolic value of the trace, or a loop: steps take it as they take numbers and loops.

   tiles = sch.sample_perfect_tile(i, n=3)      i runs 64 times: three factors whose product is 64, at random
   sch.split(i, tiles)

   The generator is TVM's, so that one seed gives the same choices there and here. The sampled factors always divide the extent; a loop
   whose extent is no constant gets the first factor inferred and 1 for the others. */
#include <stdlib.h>
#include <string.h>

#include "passes/schedule/core/query.h"
#include "passes/schedule/sample/random.h"

enum { MOST_TILES = 64, MOST_TRIES = 1000000, LARGEST_IN_TABLE = 65536 };

/* --- sample_categorical --- */

static bool given_choice(Schedule *sch, const Value *decision, int count, int *choice)
{
    if (decision->as.integer < 0 || decision->as.integer >= count)
        return sched_refuse_argument(sch, decision, "the decision is %lld, but there are %d candidates", (long long)decision->as.integer, count);
    *choice = (int)decision->as.integer;
    return true;
}

bool primitive_sample_categorical(Schedule *sch, const Value *args, Value *result)
{
    const ValueList *candidates = args[0].as.list, *probabilities = args[1].as.list;
    int count = candidates->count, choice = 0;
    if (!count)
        return sched_refuse_argument(sch, &args[0], "there must be a candidate");
    if (probabilities->count != count)
        return sched_refuse_argument(sch, &args[1], "the number of probabilities must be that of candidates, %d, but is %d", count, probabilities->count);
    double *weights = ARENA_ARRAY(sch->ctx->arena, double, count), total = 0;
    for (int i = 0; i < count; i++) {
        weights[i] = probabilities->items[i].as.real;
        if (!(weights[i] >= 0 && weights[i] <= 1e300))
            return sched_refuse_argument(sch, &args[1], "a probability must not be negative");
        total += weights[i];
    }
    if (!(total > 0))
        return sched_refuse_argument(sch, &args[1], "one probability must be more than 0");
    if (args[2].kind == VALUE_NONE)
        choice = random_choice(&sch->random, weights, count);
    else if (!given_choice(sch, &args[2], count, &choice))
        return false;
    sch->decision = (Value){.kind = VALUE_INT, .as.integer = choice};
    *result = trace_sampled(sch, 0, candidates->items[choice].as.integer);
    return true;
}

/* --- tiles --- */

static int compare_int(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* COUNT different numbers from 0 to RANGE - 1, in ascending order. */
static void sample_without_replacement(Schedule *sch, int32_t range, int count, int32_t *result)
{
    if (count == 1) {
        result[0] = random_int(&sch->random, 0, range);
    } else if (count == 2) {
        result[0] = random_int(&sch->random, 0, range);
        result[1] = random_int(&sch->random, 0, range - 1);
        result[1] += result[1] >= result[0];
    } else {
        int32_t *order = ARENA_ARRAY(sch->ctx->arena, int32_t, range);
        for (int32_t i = 0; i < range; i++)
            order[i] = i;
        for (int32_t i = 0; i < count; i++) {
            int32_t other = random_int(&sch->random, i, range), kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
        memcpy(result, order, sizeof *result * (size_t)count);
    }
    qsort(result, (size_t)count, sizeof *result, compare_int);
}

static int64_t power(int64_t base, int32_t exponent)
{
    int64_t result = 1;
    for (int32_t i = 0; i < exponent; i++)
        result *= base;
    return result;
}

/* Deals the factor PRIME, EXPONENT times, to the COUNT tiles. */
static void deal(Schedule *sch, int64_t prime, int32_t exponent, int64_t *tiles, int count)
{
    int32_t bars[MOST_TILES];
    if (count == 2) {
        int32_t first = random_int(&sch->random, 0, exponent + 1);
        if (prime > LARGEST_IN_TABLE) /* TVM has a table of the smaller primes, and counts the other way where it is no help */
            first = exponent - first;
        tiles[0] *= power(prime, first);
        tiles[1] *= power(prime, exponent - first);
        return;
    }
    if (exponent == 1) {
        tiles[random_int(&sch->random, 0, count)] *= prime;
        return;
    }
    sample_without_replacement(sch, exponent + count - 1, count - 1, bars);
    bars[count - 1] = exponent + count - 1;
    tiles[0] *= power(prime, bars[0]);
    for (int i = 1; i < count; i++)
        tiles[i] *= power(prime, bars[i] - bars[i - 1] - 1);
}

/* COUNT tiles whose product is EXTENT. */
static void sample_tiles(Schedule *sch, int64_t extent, int64_t *tiles, int count)
{
    for (int i = 0; i < count; i++)
        tiles[i] = 1;
    if (count == 1)
        tiles[0] = extent;
    for (int64_t prime = 2; count > 1 && extent > 1; prime++) {
        int32_t exponent = 0;
        if (prime * prime > extent)
            prime = extent;
        for (; extent % prime == 0; extent /= prime)
            exponent++;
        if (exponent)
            deal(sch, prime, exponent, tiles, count);
    }
}

/* The constant extent of LOOP, or -1. */
static int64_t constant_extent(Schedule *sch, const TreeNode *loop)
{
    int64_t extent;
    (void)sch;
    return expr_const_int(node_loop(loop)->extent, &extent) ? extent : -1;
}

/* What a step says of its tiles: how many, and the constraint on the last ones. */
typedef struct {
    const Value *decision; /* None: sample */
    int count;
    int64_t most_innermost; /* sample_perfect_tile: the last factor is not larger; -1: any */
    int64_t position, divisor; /* sample_partitioned_tile: DIVISOR divides the product of the factors from POSITION on */
} Tiling;

static int64_t inner_product(const int64_t *tiles, const Tiling *tiling)
{
    int64_t product = 1;
    for (int i = (int)tiling->position; i < tiling->count; i++)
        product *= tiles[i];
    return product;
}

/* A decision was made for a loop that may have had another extent: factors that do not divide what is left are replaced. */
static bool use_decision(Schedule *sch, const Tiling *tiling, int64_t extent, int64_t *tiles)
{
    const ValueList *decision = tiling->decision->as.list;
    if (decision->count != tiling->count)
        return sched_refuse_argument(sch, tiling->decision, "the decision has %d factors, but %d are asked for", decision->count, tiling->count);
    for (int i = 0; i < tiling->count; i++) {
        tiles[i] = decision->items[i].as.integer;
        if (tiles[i] <= 0 && i > 0)
            return sched_refuse_argument(sch, tiling->decision, "the factors of a decision must be positive");
    }
    if (inner_product(tiles, tiling) % tiling->divisor) {
        for (int i = 0; i < tiling->count; i++)
            tiles[i] = i == tiling->position ? tiling->divisor : 1;
    }
    for (int i = tiling->count - 1; i > 0; i--) {
        if (extent % tiles[i])
            tiles[i] = extent;
        extent /= tiles[i];
    }
    tiles[0] = extent;
    return true;
}

static bool sample_until(Schedule *sch, const Tiling *tiling, int64_t extent, int64_t *tiles)
{
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        sample_tiles(sch, extent, tiles, tiling->count);
        if ((tiling->most_innermost < 0 || tiles[tiling->count - 1] <= tiling->most_innermost) &&
            inner_product(tiles, tiling) % tiling->divisor == 0)
            return true;
    }
    return sched_refuse(sch, "no factors were found that are as asked for");
}

static bool sample_tiling(Schedule *sch, const Value *loop_value, const Tiling *tiling, Value *result)
{
    int64_t tiles[MOST_TILES], extent;
    const TreeNode *loop = schedule_loop(sch, loop_value->as.loop);
    if (!loop)
        return false;
    extent = constant_extent(sch, loop);
    if (extent == 0 || extent > INT32_MAX)
        return sched_refuse_node(sch, loop, "%s runs %lld times; the extent must be from 1 to 2147483647", node_words(sch, loop), (long long)extent);
    if (extent < 0 || extent % tiling->divisor) {
        for (int i = 0; i < tiling->count; i++)
            tiles[i] = i ? 1 : -1;
    } else if (tiling->decision->kind != VALUE_NONE ? !use_decision(sch, tiling, extent, tiles) : !sample_until(sch, tiling, extent, tiles)) {
        return false;
    }
    Value values[MOST_TILES], decisions[MOST_TILES];
    for (int i = 0; i < tiling->count; i++) {
        decisions[i] = (Value){.kind = VALUE_INT, .as.integer = tiles[i]};
        values[i] = trace_sampled(sch, i, tiles[i]);
    }
    sch->decision = value_list(sch->ctx, decisions, tiling->count);
    *result = value_list(sch->ctx, values, tiling->count);
    return true;
}

static bool check_count(Schedule *sch, const Value *count, int fewest)
{
    return (count->as.integer >= fewest && count->as.integer <= MOST_TILES) ||
           sched_refuse_argument(sch, count, "'n' must be from %d to %d", fewest, MOST_TILES);
}

bool primitive_sample_perfect_tile(Schedule *sch, const Value *args, Value *result)
{
    int64_t most = args[2].as.integer;
    if (!check_count(sch, &args[1], most == -1 ? 1 : 2))
        return false;
    if (most < 1 && most != -1)
        return sched_refuse_argument(sch, &args[2], "'max_innermost_factor' must be positive, or -1 for no limit");
    Tiling tiling = {.decision = &args[3], .count = (int)args[1].as.integer, .most_innermost = most, .divisor = 1};
    return sample_tiling(sch, &args[0], &tiling, result);
}

bool primitive_sample_partitioned_tile(Schedule *sch, const Value *args, Value *result)
{
    if (!check_count(sch, &args[1], 2))
        return false;
    if (args[2].as.integer < 0 || args[2].as.integer >= args[1].as.integer)
        return sched_refuse_argument(sch, &args[2], "'partition_pos' must be from 0 to n - 1");
    if (args[3].as.integer < 1)
        return sched_refuse_argument(sch, &args[3], "'innerpart_factor' must be positive");
    Tiling tiling = {.decision = &args[4], .count = (int)args[1].as.integer, .most_innermost = -1, .position = args[2].as.integer,
                     .divisor = args[3].as.integer};
    return sample_tiling(sch, &args[0], &tiling, result);
}

/* --- enter_postproc --- */

/* Changes nothing: a tuner prepares the program for its target by the steps behind it, which other traces do not take over. */
bool primitive_enter_postproc(Schedule *sch, const Value *args, Value *result)
{
    (void)sch, (void)args, (void)result;
    return true;
}
