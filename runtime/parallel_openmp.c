/* The default launcher of parallel loops, on OpenMP. A member of the archive by itself, so that a program that brings its own needs no
   OpenMP. */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "tirc_rt.h"

/* A child of fork has none of the threads that the parent had, and OpenMP would wait for them. A handler notes it, so that no loop asks
   the system which process it is in. */
static atomic_bool lost_threads;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

static void note_fork(void)
{
    atomic_store_explicit(&lost_threads, true, memory_order_relaxed);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

/* One contiguous part for each thread, as even as possible. Sizes are unsigned: a range may be longer than INT64_MAX. */
int tirc_launch_default(int64_t begin, int64_t end, tirc_loop_body body, void *closure)
{
    uint64_t total = (uint64_t)end - (uint64_t)begin;
    uint64_t most = (uint64_t)omp_get_max_threads();
    int wanted = (int)(total < most ? total : most);
    if (wanted <= 1 || atomic_load_explicit(&lost_threads, memory_order_relaxed) || omp_get_active_level() >= omp_get_max_active_levels())
        return body(begin, end, closure);
    pthread_once(&watched, watch_forks);
    atomic_bool failed = false; /* touched by failures only: a sum over the threads would cost each loop */
#pragma omp parallel num_threads(wanted)
    {
        uint64_t count = (uint64_t)omp_get_num_threads(), part = (uint64_t)omp_get_thread_num();
        uint64_t size = total / count, rest = total % count;
        uint64_t first = part * size + (part < rest ? part : rest);
        uint64_t last = first + size + (part < rest);
        if (body((int64_t)((uint64_t)begin + first), (int64_t)((uint64_t)begin + last), closure))
            atomic_store_explicit(&failed, true, memory_order_relaxed);
    }
    return atomic_load_explicit(&failed, memory_order_relaxed);
}
