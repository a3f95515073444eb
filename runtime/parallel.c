/* Parallel loops: the replaceable launcher around which failures of parts travel from their threads to the caller. Which threads there are
   is the launcher's matter. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tirc_rt.h"

static tirc_launcher custom_launcher;

void tirc_set_parallel(tirc_launcher launcher)
{
    custom_launcher = launcher;
}

/* A loop that runs, and the failure that comes first in its order: so its outcome depends neither on timing nor on how the launcher cuts
   the range. */
typedef struct {
    tirc_loop_body body;
    void *closure;
    atomic_flag lock; /* of what follows; held for the copy of a message only */
    int code;
    int64_t failed_begin;
    char message[TIRC_ERROR_SIZE];
} Loop;

static void keep_failure(Loop *loop, int64_t begin, int code)
{
    while (atomic_flag_test_and_set_explicit(&loop->lock, memory_order_acquire))
        ;
    if (!loop->code || begin < loop->failed_begin) {
        loop->code = code;
        loop->failed_begin = begin;
        strcpy(loop->message, tirc_last_error());
    }
    atomic_flag_clear_explicit(&loop->lock, memory_order_release);
}

/* An exception that leaves a part would leave the other parts running on what its frames hold: no program can go on from there. */
static void stop_if_left(const bool *running)
{
    if (!*running)
        return;
    fputs("tirc: an exception or a thread's end leaves a part of a parallel loop\n", stderr);
    abort();
}

static int run_part(int64_t begin, int64_t end, void *closure)
{
    Loop *loop = closure;
    __attribute__((cleanup(stop_if_left))) bool running = true;
    int code = loop->body(begin, end, loop->closure);
    running = false;
    if (code)
        keep_failure(loop, begin, code);
    return code;
}

int tirc_parallel_for(int64_t begin, int64_t end, tirc_loop_body body, void *closure)
{
    if (begin >= end)
        return 0;
    Loop loop = {.body = body, .closure = closure, .lock = ATOMIC_FLAG_INIT};
    int launcher_code = (custom_launcher ? custom_launcher : tirc_launch_default)(begin, end, run_part, &loop);
    if (!loop.code)
        return launcher_code;
    tirc_set_error(loop.message);
    return loop.code;
}
