/* The runtime library by itself: tmm16 variants on odd strides against double, parallel loops, memory, errors. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tirc_rt.h"

enum { TILE = 16, LARGEST_STRIDE = 40, CELLS = TILE * LARGEST_STRIDE + 64 };

static float random_float(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)(int32_t)(*seed >> 33) / (float)(1u << 30) - 1.0f;
}

static void fill(float *data, uint64_t *seed)
{
    for (int i = 0; i < CELLS; i++)
        data[i] = random_float(seed);
}

/* One call against the definition in double; what lies outside of the tile must not change. */
static void check_kernel(tirc_tmm16_kernel kernel, int sa, int sb, int sc, int shift, uint64_t seed)
{
    static float a[CELLS], b[CELLS], c[CELLS], before[CELLS];
    fill(a, &seed), fill(b, &seed), fill(c, &seed);
    memcpy(before, c, sizeof c);
    float *aa = a + shift, *bb = b + 2 * shift, *cc = c + 3 * shift;
    assert_int_equal(kernel(cc, aa, bb, sa, sb, sc), 0);
    for (int cell = 0; cell < CELLS; cell++) {
        int offset = cell - 3 * shift, i = offset >= 0 ? offset / sc : -1, j = offset >= 0 ? offset % sc : 0;
        if (i < 0 || i >= TILE || j >= TILE) {
            assert_true(c[cell] == before[cell]);
            continue;
        }
        double sum = before[cell], magnitude = fabs(sum);
        for (int k = 0; k < TILE; k++) {
            sum += (double)aa[i * sa + k] * bb[j * sb + k];
            magnitude += fabs((double)aa[i * sa + k] * bb[j * sb + k]);
        }
        assert_true(fabs(c[cell] - sum) <= magnitude * (TILE + 1) * 0x1p-24);
    }
}

static void test_tmm16_variants(void **state)
{
    static const char *const names[] = {"avx512", "avx2", "neon", "portable"};
    static const int strides[] = {16, 17, 19, 33, 40};
    int tested = 0;
    (void)state;
    for (int v = 0; v < 4; v++) {
        tirc_tmm16_kernel kernel = tirc_tmm16_variant(names[v]);
        tested += kernel != NULL;
        for (int i = 0; kernel && i < 5 * 5 * 5; i++)
            check_kernel(kernel, strides[i % 5], strides[i / 5 % 5], strides[i / 25], i % 4, (uint64_t)i + 1);
        for (int i = 0; kernel && i < 4; i++) /* rows of A and B may overlap */
            check_kernel(kernel, i, 3 + i, 16, i, (uint64_t)i + 77);
    }
    assert_true(tested >= 1);
    assert_non_null(tirc_tmm16_variant("portable"));
    assert_null(tirc_tmm16_variant("no such variant"));
    check_kernel(tmm16, 17, 33, 19, 1, 5);
}

static void test_memory(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 100000};
    for (int i = 0; i < 6; i++) {
        char *block = tirc_alloc(sizes[i], 8);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        memset(block, 1, sizes[i]);
        tirc_free(block);
    }
    char *page = tirc_alloc(10, 4096);
    assert_int_equal((uintptr_t)page % 4096, 0);
    tirc_free(page);
    assert_null(tirc_alloc(SIZE_MAX, 64));
    assert_null(tirc_alloc((size_t)PTRDIFF_MAX, 64));
    tirc_free(NULL);
}

static int allocations, frees;

static void *failing_alloc(size_t size, size_t alignment)
{
    (void)size, (void)alignment;
    allocations++;
    return NULL;
}

static void counting_free(void *block)
{
    (void)block;
    frees++;
}

static void test_allocator_is_replaced(void **state)
{
    (void)state;
    tirc_set_allocator(failing_alloc, counting_free);
    assert_null(tirc_alloc(8, 64));
    tirc_free(NULL);
    tirc_set_allocator(NULL, NULL);
    assert_int_equal(allocations, 1);
    assert_int_equal(frees, 1);
    tirc_free(tirc_alloc(8, 64));
    assert_int_equal(frees, 1);
}

typedef struct {
    int64_t first;
    int hits[1000];
    int64_t fails_at;
} Loop;

static int count_iterations(int64_t begin, int64_t end, void *closure)
{
    Loop *loop = closure;
    for (int64_t i = begin; i < end; i++) {
        __atomic_fetch_add(&loop->hits[i - loop->first], 1, __ATOMIC_RELAXED);
        if (i == loop->fails_at)
            return tirc_set_error("iteration failed") + 6;
    }
    return 0;
}

static void test_parallel_ranges(void **state)
{
    (void)state;
    static const int64_t ranges[][2] = {{0, 0}, {5, 2}, {0, 1}, {-3, 2}, {7, 1007}, {INT64_MAX - 10, INT64_MAX}};
    for (int r = 0; r < 6; r++) {
        Loop loop = {.first = ranges[r][0], .fails_at = -1000};
        assert_int_equal(tirc_parallel_for(ranges[r][0], ranges[r][1], count_iterations, &loop), 0);
        int64_t count = ranges[r][1] > ranges[r][0] ? ranges[r][1] - ranges[r][0] : 0;
        for (int64_t i = 0; i < 1000; i++)
            assert_int_equal(loop.hits[i], i < count);
    }
}

static void test_parallel_error_reaches_the_caller(void **state)
{
    (void)state;
    Loop loop = {.first = 0, .fails_at = 999};
    tirc_set_error("");
    assert_int_equal(tirc_parallel_for(0, 1000, count_iterations, &loop), 7);
    assert_string_equal(tirc_last_error(), "iteration failed");
}

static int launches;

static int serial_launcher(int64_t begin, int64_t end, tirc_loop_body body, void *closure)
{
    launches++;
    return body(begin, end, closure);
}

static void test_launcher_is_replaced(void **state)
{
    (void)state;
    Loop loop = {.first = 0, .fails_at = -1};
    tirc_set_parallel(serial_launcher);
    assert_int_equal(tirc_parallel_for(0, 10, count_iterations, &loop), 0);
    tirc_set_parallel(NULL);
    assert_int_equal(tirc_parallel_for(0, 10, count_iterations, &loop), 0);
    assert_int_equal(launches, 1);
    assert_int_equal(loop.hits[9], 2);
}

static void *fail_in_thread(void *unused)
{
    (void)unused;
    tirc_set_error("other thread");
    return NULL;
}

static void test_errors_belong_to_their_thread(void **state)
{
    (void)state;
    char text[400];
    pthread_t thread;
    tirc_set_error("mine");
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(tirc_last_error(), "mine");
    memset(text, 'x', sizeof text);
    text[399] = 0;
    assert_int_equal(tirc_set_error(text), 1);
    assert_int_equal(strlen(tirc_last_error()), 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tmm16_variants),        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_allocator_is_replaced), cmocka_unit_test(test_parallel_ranges),
        cmocka_unit_test(test_parallel_error_reaches_the_caller), cmocka_unit_test(test_launcher_is_replaced),
        cmocka_unit_test(test_errors_belong_to_their_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
