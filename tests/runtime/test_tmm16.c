/* The variants of tmm16: values against the definition in double, what lies around the tiles, overlapping and backward rows, and the choice
   of a variant. Run with the argument "name", it prints the name of the variant that tmm16 is: so the choice is tried in fresh
   processes. */
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tirc_rt.h"

enum { TILE = 16, CELLS = 2 * 1000 * TILE };

static const char *const variant_names[] = {"avx512", "avx2", "neon", "portable"};
enum { VARIANT_COUNT = sizeof variant_names / sizeof *variant_names };

static float random_float(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)(int32_t)(*seed >> 32) * 0x1p-31f;
}

static void fill(float *data, int count, uint64_t seed)
{
    for (int i = 0; i < count; i++)
        data[i] = random_float(&seed);
}

/* 16 rounded additions and 16 rounded products, relative to the sum of magnitudes. */
static void assert_close(float got, float before, const float *a, const float *b)
{
    double sum = before, magnitude = fabs(sum);
    for (int k = 0; k < TILE; k++) {
        sum += (double)a[k] * b[k];
        magnitude += fabs((double)a[k] * b[k]);
    }
    assert_true(fabs(got - sum) <= magnitude * (TILE + 1) * 0x1p-24);
}

/* One call on tiles in the middle of larger arrays, of which every cell is checked. */
static void check_kernel(tirc_tmm16_kernel kernel, int sa, int sb, int sc, int shift, uint64_t seed)
{
    static float a[CELLS], b[CELLS], c[CELLS], before[CELLS];
    static char is_inside[CELLS];
    fill(a, CELLS, seed), fill(b, CELLS, seed + 1), fill(c, CELLS, seed + 2);
    memcpy(before, c, sizeof c);
    memset(is_inside, 0, sizeof is_inside);
    float *aa = a + CELLS / 2 + shift, *bb = b + CELLS / 2 + 2 * shift, *cc = c + CELLS / 2 + 3 * shift;
    assert_int_equal(kernel(cc, aa, bb, sa, sb, sc), 0);
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) {
            ptrdiff_t cell = cc + i * sc + j - c;
            is_inside[cell] = 1;
            assert_close(c[cell], before[cell], aa + i * sa, bb + j * sb);
        }
    for (int cell = 0; cell < CELLS; cell++)
        assert_true(is_inside[cell] || c[cell] == before[cell]);
}

static void test_values(void **state)
{
    (void)state;
    static const int strides[] = {16, 17, 19, 33, 100, -16, -37};
    enum { COUNT = sizeof strides / sizeof *strides };
    for (int v = 0; v < VARIANT_COUNT; v++) {
        tirc_tmm16_kernel kernel = tirc_tmm16_variant(variant_names[v]);
        for (int i = 0; kernel && i < COUNT * COUNT * COUNT; i++)
            check_kernel(kernel, strides[i % COUNT], strides[i / COUNT % COUNT], strides[i / COUNT / COUNT], i % 5, (uint64_t)i);
    }
    check_kernel(tmm16, 17, 33, 19, 1, 5);
}

static void test_rows_of_a_and_b_may_overlap(void **state)
{
    (void)state;
    for (int v = 0; v < VARIANT_COUNT; v++) {
        tirc_tmm16_kernel kernel = tirc_tmm16_variant(variant_names[v]);
        for (int stride = -3; kernel && stride <= 3; stride++)
            check_kernel(kernel, stride, 3 - stride, 16, stride + 3, 77);
    }
}

/* A tile that ends where a page without access begins, or one that begins where such a page ends. */
static float *tile_at_fence(int is_at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
    float *tile = (float *)(is_at_end ? pages + 2 * page - TILE * TILE * sizeof(float) : pages + page);
    fill(tile, TILE * TILE, 3);
    return tile;
}

static void test_nothing_beyond_the_tiles_is_touched(void **state)
{
    (void)state;
    for (int is_at_end = 0; is_at_end < 2; is_at_end++) {
        float *a = tile_at_fence(is_at_end), *b = tile_at_fence(is_at_end), *c = tile_at_fence(is_at_end);
        for (int v = 0; v < VARIANT_COUNT; v++) {
            tirc_tmm16_kernel kernel = tirc_tmm16_variant(variant_names[v]);
            if (kernel)
                assert_int_equal(kernel(c, a, b, TILE, TILE, TILE), 0);
        }
    }
}

/* The order of additions is fixed, so variants with fused multiply-adds agree in every bit, NaN and infinity included. */
static void test_fused_variants_agree(void **state)
{
    (void)state;
    tirc_tmm16_kernel first = tirc_tmm16_variant("avx512"), second = tirc_tmm16_variant("avx2");
    if (!first || !second)
        skip();
    float a[TILE * 19], b[TILE * 19], c[2][TILE * 19];
    fill(a, TILE * 19, 1), fill(b, TILE * 19, 2), fill(c[0], TILE * 19, 3);
    a[5] = INFINITY, a[19 + 3] = NAN, b[40] = 1e30f, c[0][77] = -0.0f;
    memcpy(c[1], c[0], sizeof c[0]);
    first(c[0], a, b, 19, 19, 19), second(c[1], a, b, 19, 19, 19);
    assert_memory_equal(c[0], c[1], sizeof c[0]);
}

static void *call_tmm16(void *unused)
{
    float a[TILE * TILE], b[TILE * TILE], c[TILE * TILE];
    fill(a, TILE * TILE, 1), fill(b, TILE * TILE, 2), fill(c, TILE * TILE, 3);
    for (int i = 0; i < 100; i++)
        tmm16(c, a, b, TILE, TILE, TILE);
    return unused;
}

static void test_threads_may_choose_at_once(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_tmm16, NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void test_names(void **state)
{
    (void)state;
    assert_non_null(tirc_tmm16_variant("portable"));
    assert_null(tirc_tmm16_variant("no such variant"));
    assert_null(tirc_tmm16_variant(""));
    assert_ptr_equal(tirc_tmm16_variant(NULL), tirc_tmm16_variant(tirc_tmm16_name()));
}

/* Runs this program with TIRC_TMM16=VALUE: it prints the name EXPECTED, after one line of warning that names VALUE or none. */
static void assert_choice(const char *value, const char *expected, int expect_warning)
{
    char self[PATH_MAX] = "", command[PATH_MAX + 100], name[200] = "", warning[200] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(command, sizeof command, "TIRC_TMM16='%s' '%s' name 2>&1", value, self);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    if (expect_warning)
        assert_non_null(fgets(warning, sizeof warning, output));
    assert_non_null(fgets(name, sizeof name, output));
    assert_null(fgets(warning + 100, 100, output));
    assert_int_equal(pclose(output), 0);
    name[strcspn(name, "\n")] = 0;
    assert_string_equal(name, expected);
    if (expect_warning)
        assert_non_null(strstr(warning, value));
}

static void test_environment_forces_a_variant(void **state)
{
    (void)state;
    const char *fastest = NULL;
    for (int v = VARIANT_COUNT; v-- > 0;)
        if (tirc_tmm16_variant(variant_names[v])) {
            fastest = variant_names[v];
            assert_choice(variant_names[v], variant_names[v], 0);
        }
    assert_choice("", fastest, 0);
    assert_choice("sse9", fastest, 1);
#ifdef __x86_64__
    assert_choice("neon", fastest, 1);
#endif
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "name")) {
        call_tmm16(NULL);
        fflush(stderr);
        puts(tirc_tmm16_name());
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_may_choose_at_once),  cmocka_unit_test(test_values),
        cmocka_unit_test(test_rows_of_a_and_b_may_overlap), cmocka_unit_test(test_nothing_beyond_the_tiles_is_touched),
        cmocka_unit_test(test_fused_variants_agree),        cmocka_unit_test(test_names),
        cmocka_unit_test(test_environment_forces_a_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
