/* Parallel loops of the runtime, under the default launcher and others. */
#include <inttypes.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tirc_rt.h"

enum { MOST = 1000 };

/* --- Other launchers --- */

/* Parts of 7 iterations from the back, and ignores what they return. */
static int launch_backwards(int64_t begin, int64_t end, tirc_loop_body body, void *closure)
{
    while (begin < end) {
        int64_t middle = end - begin > 7 ? end - 7 : begin;
        body(middle, end, closure);
        end = middle;
    }
    return 0;
}

typedef struct {
    int64_t begin, end;
    tirc_loop_body body;
    void *closure;
} Part;

static void *run_part(void *data)
{
    Part *part = data;
    part->body(part->begin, part->end, part->closure);
    return NULL;
}

/* A new thread for each iteration, at most MOST. */
static int launch_threads(int64_t begin, int64_t end, tirc_loop_body body, void *closure)
{
    static Part parts[MOST];
    pthread_t threads[MOST];
    int count = (int)(end - begin);
    for (int i = 0; i < count; i++) {
        parts[i] = (Part){begin + i, begin + i + 1, body, closure};
        if (pthread_create(&threads[i], NULL, run_part, &parts[i]))
            abort();
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static int launch_nothing(int64_t begin, int64_t end, tirc_loop_body body, void *closure)
{
    (void)begin, (void)end, (void)body, (void)closure;
    tirc_set_error("no threads left");
    return 42;
}

static const tirc_launcher launchers[] = {NULL, launch_backwards, launch_threads};
enum { LAUNCHER_COUNT = sizeof launchers / sizeof *launchers };

static int restore_launcher(void **state)
{
    (void)state;
    tirc_set_parallel(NULL);
    return 0;
}

/* --- Loops --- */

typedef struct {
    int64_t first;
    int hits[MOST];
    int64_t fails_from; /* this iteration and all later ones fail */
} Loop;

static int count_iterations(int64_t begin, int64_t end, void *closure)
{
    Loop *loop = closure;
    assert_true(begin < end);
    for (int64_t i = begin; i < end; i++) {
        __atomic_fetch_add(&loop->hits[i - loop->first], 1, __ATOMIC_RELAXED);
        if (i >= loop->fails_from) {
            char message[50];
            snprintf(message, sizeof message, "iteration %" PRId64 " failed", i);
            tirc_set_error(message);
            return (int)(i - loop->first) + 1;
        }
    }
    return 0;
}

static void test_each_iteration_runs_once(void **state)
{
    (void)state;
    static const int64_t ranges[][2] = {{0, 0},
                                        {5, 2},
                                        {INT64_MAX, INT64_MIN},
                                        {0, 1},
                                        {0, 2},
                                        {0, 3},
                                        {-3, 2},
                                        {7, 1007},
                                        {INT64_MAX - 10, INT64_MAX},
                                        {INT64_MIN, INT64_MIN + 10}};
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int l = 0; l < LAUNCHER_COUNT; l++) {
            tirc_set_parallel(launchers[l]);
            Loop loop = {.first = ranges[r][0], .fails_from = INT64_MAX};
            assert_int_equal(tirc_parallel_for(ranges[r][0], ranges[r][1], count_iterations, &loop), 0);
            int64_t count = ranges[r][1] > ranges[r][0] ? ranges[r][1] - ranges[r][0] : 0;
            for (int64_t i = 0; i < MOST; i++)
                assert_int_equal(loop.hits[i], i < count);
        }
}

static int note_end(int64_t begin, int64_t end, void *closure)
{
    if (begin == INT64_MIN)
        __atomic_fetch_or((int *)closure, 1, __ATOMIC_RELAXED);
    if (end == INT64_MAX)
        __atomic_fetch_or((int *)closure, 2, __ATOMIC_RELAXED);
    return 0;
}

static void test_longest_range(void **state)
{
    (void)state;
    int seen = 0;
    assert_int_equal(tirc_parallel_for(INT64_MIN, INT64_MAX, note_end, &seen), 0);
    assert_int_equal(seen, 3);
}

static void test_first_failure_reaches_the_caller(void **state)
{
    (void)state;
    static const int64_t failing[] = {0, 1, 6, 500, 999};
    for (size_t f = 0; f < sizeof failing / sizeof *failing; f++)
        for (int l = 0; l < LAUNCHER_COUNT; l++) {
            char expected[50];
            snprintf(expected, sizeof expected, "iteration %" PRId64 " failed", failing[f] - 20);
            tirc_set_parallel(launchers[l]);
            tirc_set_error("stale");
            Loop loop = {.first = -20, .fails_from = failing[f] - 20};
            assert_int_equal(tirc_parallel_for(-20, MOST - 20, count_iterations, &loop), (int)failing[f] + 1);
            assert_string_equal(tirc_last_error(), expected);
        }
}

static void test_failing_launcher(void **state)
{
    (void)state;
    Loop loop = {.fails_from = INT64_MAX};
    tirc_set_parallel(launch_nothing);
    assert_int_equal(tirc_parallel_for(0, 10, count_iterations, &loop), 42);
    assert_string_equal(tirc_last_error(), "no threads left");
    assert_int_equal(tirc_parallel_for(0, 0, count_iterations, &loop), 0);
}

/* --- Loops within loops, and from several threads --- */

typedef struct {
    int cells[30][40];
    int fails;
} Matrix;

typedef struct {
    Matrix *matrix;
    int64_t row;
} Row;

static int run_row(int64_t begin, int64_t end, void *closure)
{
    Row *row = closure;
    for (int64_t j = begin; j < end; j++)
        row->matrix->cells[row->row][j]++;
    return row->matrix->fails && row->row >= 3 && end == 40 ? tirc_set_error("inner") + (int)row->row : 0;
}

static int run_rows(int64_t begin, int64_t end, void *closure)
{
    for (int64_t i = begin; i < end; i++) {
        Row row = {closure, i};
        int code = tirc_parallel_for(0, 40, run_row, &row);
        if (code)
            return code;
    }
    return 0;
}

static void *run_matrix(void *closure)
{
    Matrix *matrix = closure;
    int code = tirc_parallel_for(0, 30, run_rows, matrix);
    assert_int_equal(code, matrix->fails ? 4 : 0);
    for (int i = 0; !matrix->fails && i < 30; i++)
        for (int j = 0; j < 40; j++)
            assert_int_equal(matrix->cells[i][j], 1);
    return NULL;
}

static void test_nested_loops(void **state)
{
    (void)state;
    Matrix good = {.fails = 0}, bad = {.fails = 1};
    run_matrix(&good);
    run_matrix(&bad);
    assert_string_equal(tirc_last_error(), "inner");
}

static void test_several_callers_at_once(void **state)
{
    (void)state;
    pthread_t threads[3];
    static Matrix matrices[3];
    for (int i = 0; i < 3; i++) {
        matrices[i].fails = i == 1;
        assert_int_equal(pthread_create(&threads[i], NULL, run_matrix, &matrices[i]), 0);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* --- Static parts --- */

typedef struct {
    atomic_int count;
    int64_t begin[MOST], end[MOST]; /* by thread of OpenMP */
} Parts;

static int note_part(int64_t begin, int64_t end, void *closure)
{
    Parts *parts = closure;
    int thread = omp_get_thread_num();
    atomic_fetch_add(&parts->count, 1);
    parts->begin[thread] = begin;
    parts->end[thread] = end;
    return 0;
}

/* One part for each thread, in their order, without gaps; the longest is at most one iteration longer than the shortest. */
static void test_static_parts(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 7; threads++)
        for (int64_t total = 1; total <= 20; total++) {
            Parts parts = {0};
            omp_set_num_threads(threads);
            assert_int_equal(tirc_parallel_for(-3, total - 3, note_part, &parts), 0);
            int count = atomic_load(&parts.count);
            assert_int_equal(count, total < threads ? total : threads);
            int64_t at = -3;
            for (int i = 0; i < count; i++) {
                assert_true(parts.begin[i] == at);
                assert_in_range(parts.end[i] - parts.begin[i], total / count, (total + count - 1) / count);
                at = parts.end[i];
            }
            assert_true(at == total - 3);
        }
}

static int note_inner(int64_t begin, int64_t end, void *closure)
{
    int failed = 0;
    for (int64_t i = begin; i < end; i++)
        failed |= tirc_parallel_for(0, 8, note_part, (Parts *)closure + i);
    return failed;
}

/* A loop inside a parallel loop is one part, as OpenMP has one active level. */
static void test_nested_parts(void **state)
{
    (void)state;
    static Parts parts[4];
    omp_set_num_threads(4);
    omp_set_max_active_levels(1);
    assert_int_equal(tirc_parallel_for(0, 4, note_inner, parts), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(atomic_load(&parts[i].count), 1);
}

/* The threads stay with the parent: a child's loops are one part, and end. */
static void test_fork(void **state)
{
    (void)state;
    Parts parts = {0};
    omp_set_num_threads(3);
    assert_int_equal(tirc_parallel_for(0, 9, note_part, &parts), 0);
    pid_t child = fork();
    if (child == 0) {
        Parts own = {0};
        alarm(20);
        int failed = tirc_parallel_for(0, 9, note_part, &own);
        _exit(failed || atomic_load(&own.count) != 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    atomic_store(&parts.count, 0);
    assert_int_equal(tirc_parallel_for(0, 9, note_part, &parts), 0);
    assert_int_equal(atomic_load(&parts.count), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_each_iteration_runs_once, restore_launcher),
        cmocka_unit_test(test_longest_range),
        cmocka_unit_test_teardown(test_first_failure_reaches_the_caller, restore_launcher),
        cmocka_unit_test_teardown(test_failing_launcher, restore_launcher),
        cmocka_unit_test(test_nested_loops),
        cmocka_unit_test(test_several_callers_at_once),
        cmocka_unit_test(test_static_parts),
        cmocka_unit_test(test_nested_parts),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
