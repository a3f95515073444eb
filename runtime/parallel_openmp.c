/* The default launcher of parallel loops, on OpenMP. A member of the archive by itself, so that a program that brings its own needs no
   OpenMP. */
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "tirc_rt.h"

/* A child of fork has none of the threads that the parent had, and OpenMP would wait for them. PROCESS: the one that ran a loop first. */
static bool lost_threads(void)
{
    static atomic_int process;
    int self = (int)getpid(), owner = 0;
    return !atomic_compare_exchange_strong(&process, &owner, self) && owner != self;
}

/* One contiguous part for each thread, as even as possible. Sizes are unsigned: a range may be longer than INT64_MAX. */
int tirc_launch_default(int64_t begin, int64_t end, tirc_loop_body body, void *closure)
{
    uint64_t total = (uint64_t)end - (uint64_t)begin;
    uint64_t most = (uint64_t)omp_get_max_threads();
    int wanted = (int)(total < most ? total : most);
    if (wanted <= 1 || lost_threads() || omp_get_active_level() >= omp_get_max_active_levels())
        return body(begin, end, closure);
    int failures = 0;
#pragma omp parallel num_threads(wanted) reduction(+ : failures)
    {
        uint64_t count = (uint64_t)omp_get_num_threads(), part = (uint64_t)omp_get_thread_num();
        uint64_t size = total / count, rest = total % count;
        uint64_t first = part * size + (part < rest ? part : rest);
        uint64_t last = first + size + (part < rest);
        failures += body((int64_t)((uint64_t)begin + first), (int64_t)((uint64_t)begin + last), closure) != 0;
    }
    return failures != 0;
}
