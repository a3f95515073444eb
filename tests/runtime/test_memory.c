/* Memory and error messages of the runtime. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tirc_rt.h"

/* --- The default allocator --- */

static void test_blocks_are_aligned_and_writable(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 100000}, alignments[] = {0, 1, 8, 64, 128, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof alignments / sizeof *alignments; j++) {
            char *block = tirc_alloc(sizes[i], alignments[j]);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % 64, 0);
            assert_int_equal(alignments[j] ? (uintptr_t)block % alignments[j] : 0, 0);
            memset(block, 1, sizes[i]);
            tirc_free(block);
        }
    tirc_free(NULL);
}

static void test_empty_blocks_are_distinct(void **state)
{
    (void)state;
    void *first = tirc_alloc(0, 64), *second = tirc_alloc(0, 64);
    assert_ptr_not_equal(first, second);
    tirc_free(first), tirc_free(second);
}

static void test_absurd_requests_fail_with_a_message(void **state)
{
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, (size_t)-64, (size_t)PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tirc_set_error("");
        assert_null(tirc_alloc(sizes[i], 64));
        assert_non_null(strstr(tirc_last_error(), "cannot allocate"));
    }
    assert_null(tirc_alloc(8, 96));
    assert_non_null(strstr(tirc_last_error(), "power of two"));
    assert_null(tirc_alloc(8, (size_t)1 << (sizeof(size_t) * 8 - 1)));
}

/* --- An allocator of the program's own --- */

static struct {
    _Alignas(128) char memory[512];
    ptrdiff_t offset; /* of the block that is given; none at all below 0 */
    size_t size, alignment;
    int live;
} own;

static void *own_alloc(size_t size, size_t alignment)
{
    own.size = size;
    own.alignment = alignment;
    if (own.offset < 0)
        return NULL;
    own.live++;
    return own.memory + own.offset;
}

static void own_free(void *block)
{
    assert_ptr_equal(block, own.memory + own.offset);
    own.live--;
}

static int restore_allocator(void **state)
{
    (void)state;
    tirc_set_allocator(NULL, NULL);
    own.live = 0;
    return 0;
}

static void test_allocator_is_replaced(void **state)
{
    (void)state;
    own.offset = 0;
    tirc_set_allocator(own_alloc, own_free);
    void *block = tirc_alloc(65, 1);
    assert_ptr_equal(block, own.memory);
    assert_int_equal(own.size, 128);
    assert_int_equal(own.alignment, 64);
    tirc_free(NULL);
    assert_int_equal(own.live, 1);
    tirc_free(block);
    assert_int_equal(own.live, 0);
    assert_non_null(tirc_alloc(0, 128));
    assert_int_equal(own.size, 128);
    tirc_set_allocator(NULL, NULL);
    tirc_free(tirc_alloc(8, 64));
    assert_int_equal(own.live, 1);
}

static void test_failing_allocator(void **state)
{
    (void)state;
    own.offset = -1;
    tirc_set_allocator(own_alloc, own_free);
    assert_null(tirc_alloc(1000, 64));
    assert_string_equal(tirc_last_error(), "cannot allocate 1000 bytes: out of memory");
}

static void test_unaligned_block_is_refused_and_returned(void **state)
{
    (void)state;
    own.offset = 32;
    tirc_set_allocator(own_alloc, own_free);
    assert_null(tirc_alloc(8, 64));
    assert_int_equal(own.live, 0);
    assert_non_null(strstr(tirc_last_error(), "not aligned"));
}

/* --- Errors --- */

static void *fail_in_thread(void *unused)
{
    assert_string_equal(tirc_last_error(), "");
    tirc_set_error("other thread");
    return unused;
}

static void test_errors_belong_to_their_thread(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(tirc_set_error("mine"), 1);
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, NULL), 0);
    pthread_join(thread, NULL);
    assert_string_equal(tirc_last_error(), "mine");
}

static void test_messages_are_copied_and_cut(void **state)
{
    (void)state;
    char text[2 * TIRC_ERROR_SIZE];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    tirc_set_error(text);
    text[0] = 'y';
    assert_int_equal(strlen(tirc_last_error()), TIRC_ERROR_SIZE - 1);
    assert_int_equal(tirc_last_error()[0], 'x');
    tirc_set_error("one two");
    tirc_set_error(tirc_last_error() + 4); /* a part of the message itself */
    assert_string_equal(tirc_last_error(), "two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_aligned_and_writable),
        cmocka_unit_test(test_empty_blocks_are_distinct),
        cmocka_unit_test(test_absurd_requests_fail_with_a_message),
        cmocka_unit_test_teardown(test_allocator_is_replaced, restore_allocator),
        cmocka_unit_test_teardown(test_failing_allocator, restore_allocator),
        cmocka_unit_test_teardown(test_unaligned_block_is_refused_and_returned, restore_allocator),
        cmocka_unit_test(test_errors_belong_to_their_thread),
        cmocka_unit_test(test_messages_are_copied_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
