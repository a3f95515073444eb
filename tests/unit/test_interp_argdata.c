/* Random arguments: determinism, ranges, layout, guard zones, comparison, printing, and the estimate of the reduction length. */
#include "test_interp.h"

#include <math.h>

static const char copy_program[] = "@T.prim_func\n"
                                   "def main(A: T.Buffer((100,), \"%s\"), B: T.Buffer((100,), \"%s\")):\n"
                                   "    for i in range(100):\n"
                                   "        B[i] = A[i]\n";

static Ran prepare_copy(const char *type, uint64_t seed)
{
    char text[512];
    snprintf(text, sizeof text, copy_program, type, type);
    return ran_prepare(text, seed, NULL, 0);
}

static void test_seeds(void **state)
{
    (void)state;
    Ran a = prepare_copy("float32", 5), b = prepare_copy("float32", 5), c = prepare_copy("float32", 6);
    assert_memory_equal(ran_data(&a, "A"), ran_data(&b, "A"), 400);
    assert_memory_not_equal(ran_data(&a, "A"), ran_data(&c, "A"), 400);
    ran_free(&a);
    ran_free(&b);
    ran_free(&c);
}

static void test_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        double least, greatest;
    } cases[] = {{"float64", -1, 1}, {"float32", -1, 1}, {"float16", -1, 1}, {"bfloat16", -1, 1},
                 {"int8", -8, 8},    {"int64", -8, 8},   {"uint8", 0, 8},    {"bool", 0, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Ran ran = prepare_copy(cases[k].type, 3);
        DType t;
        assert_true(dtype_parse(cases[k].type, &t));
        double least = INFINITY, greatest = -INFINITY;
        for (int i = 0; i < 100; i++) {
            const char *at = (const char *)ran_data(&ran, "A") + i * dtype_bytes(t);
            double value = dtype_is_float(t) ? interp_read_real(t, at) : (double)interp_read_integer(t, at);
            least = fmin(least, value);
            greatest = fmax(greatest, value);
        }
        assert_true(least >= cases[k].least && greatest <= cases[k].greatest && least < greatest);
        ran_free(&ran);
    }
}

static void test_index_values(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        Ran ran = ran_prepare("@T.prim_func\n"
                              "def main(A: T.Buffer((5,), \"float32\"), I: T.Buffer((50,), \"int32\"), D: T.Buffer((50,), \"int32\"), B: T.Buffer((50,), "
                              "\"float32\"), C: T.Buffer((50,), \"int32\")):\n"
                              "    for i in range(50):\n"
                              "        B[i] = A[I[i]]\n"
                              "        C[i] = 100 // D[i]\n",
                              seed, NULL, 0);
        ran_run(&ran);
        assert_no_findings(&ran);
        ran_free(&ran);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(a: T.handle, b: T.handle, k: T.int32):\n"
                               "    m, n = T.int32(), T.int32()\n"
                               "    s = T.int32()\n"
                               "    A = T.match_buffer(a, (m, n), \"float32\", strides=[s, 1])\n"
                               "    B = T.match_buffer(b, (n * k, m + 2), \"float32\")\n"
                               "    for i, j in T.grid(m, n):\n"
                               "        B[j, i] = A[i, j]\n";
    ArgSize sizes[] = {{"m", 3, NULL}, {"n", 4, NULL}, {"k", 5, NULL}};
    Ran ran = ran_prepare(text, 1, sizes, 3);
    assert_int_equal(ran.data->items[0].shape[0], 3);
    assert_int_equal(ran.data->items[0].strides[0], 4);
    assert_int_equal(ran.data->items[1].shape[0], 20);
    assert_int_equal(ran.data->items[1].shape[1], 5);
    assert_int_equal(ran.data->items[2].arg.scalar.as.integer, 5);
    ArgOptions unknown = {.seed = 1, .sizes = (ArgSize[]){{"q", 3, NULL}}, .size_count = 1};
    assert_null(argdata_new(ran.ctx, ran.func, &unknown));
    assert_non_null(strstr(ran_messages(&ran), "function 'main' has no size or scalar parameter 'q'"));
    ran_free(&ran);
}

static void test_guard_zones(void **state)
{
    (void)state;
    Ran ran = prepare_copy("int8", 1);
    int8_t *a = ran_data(&ran, "A");
    assert_null(argdata_damaged(ran.data));
    a[100]++;
    assert_ptr_equal(argdata_damaged(ran.data), ran.data->items[0].param);
    a[100]--;
    a[-1]++;
    assert_ptr_equal(argdata_damaged(ran.data), ran.data->items[0].param);
    a[-1]--;
    assert_null(argdata_damaged(ran.data));
    ran_free(&ran);
}

static void test_comparison(void **state)
{
    (void)state;
    Ran ran = prepare_copy("float32", 1);
    ArgData *copy = argdata_copy(ran.data);
    float *b = ran_data(&ran, "B"), *other = copy->items[1].arg.data;
    for (int i = 0; i < 100; i++)
        b[i] = other[i] = (float)i;
    ArgMismatch mismatch;
    assert_true(argdata_compare(ran.data, copy, 1, &mismatch));
    other[7] = 7 * (1 + 4 * 0x1p-23f);
    assert_true(argdata_compare(ran.data, copy, 1, &mismatch));
    other[7] = 7.001f;
    other[9] = 10;
    assert_false(argdata_compare(ran.data, copy, 1, &mismatch));
    assert_string_equal(mismatch.element, "B[7]");
    assert_int_equal(mismatch.count, 2);
    assert_true(argdata_bound(DTYPE_FLOAT32, 100000) > argdata_bound(DTYPE_FLOAT32, 10));
    assert_true(argdata_bound(DTYPE_INT32, 100000) == 0);
    other[7] = 7;
    other[9] = 9;
    b[3] = other[3] = NAN;
    b[4] = INFINITY;
    other[4] = INFINITY;
    assert_true(argdata_compare(ran.data, copy, 1, &mismatch));
    other[4] = -INFINITY;
    assert_false(argdata_compare(ran.data, copy, 1, &mismatch));
    ((float *)copy->items[0].arg.data)[0] += 1; /* an input: not compared */
    other[4] = INFINITY;
    assert_true(argdata_compare(ran.data, copy, 1, &mismatch));
    argdata_free(copy);
    ran_free(&ran);
}

static void test_printing(void **state)
{
    (void)state;
    Ran ran = ran_prepare("@T.prim_func\n"
                          "def main(A: T.Buffer((2, 4), \"int32\"), b: T.handle, x: T.float32):\n"
                          "    n = T.int64()\n"
                          "    B = T.match_buffer(b, (n,), \"bool\")\n"
                          "    for i in range(n):\n"
                          "        B[i] = A[0, 0] > 0\n",
                          1, (ArgSize[]){{"n", 2, NULL}}, 1);
    int32_t *a = ran_data(&ran, "A");
    for (int i = 0; i < 8; i++)
        a[i] = i - 4;
    uint8_t *b = ran_data(&ran, "B");
    b[0] = 0;
    b[1] = 1;
    ran.data->items[2].arg.scalar.as.real = 0.5;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    argdata_print(ran.data, out);
    fclose(out);
    assert_non_null(strstr(text, "n = 2\nA: int32[2, 4] = -4 -3 -2 -1 0 1 ... (hash "));
    assert_non_null(strstr(text, "\nB: bool[2] = False True (hash "));
    assert_non_null(strstr(text, "\nx: float32 = 0.5\n"));
    free(text);
    ran_free(&ran);
}

static int64_t length_of(const char *text)
{
    Ran ran = ran_prepare(text, 1, NULL, 0);
    int64_t length = argdata_reduction_length(ran.data, ran.func);
    ran_free(&ran);
    return length;
}

static void test_reduction_length(void **state)
{
    (void)state;
    assert_int_equal(length_of("@T.prim_func\ndef main(A: T.Buffer((8, 50), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"
                               "    for i, k in T.grid(8, 50):\n        C[i] = C[i] + A[i, k]\n"),
                     50);
    assert_int_equal(length_of("@T.prim_func\ndef main(A: T.Buffer((8, 50), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"
                               "    for i0, k0, i1, k1 in T.grid(2, 10, 4, 5):\n        with T.block(\"C\"):\n"
                               "            vi, vk = T.axis.spatial(8, i0 * 4 + i1), T.axis.reduce(50, k0 * 5 + k1)\n"
                               "            C[vi] = C[vi] + A[vi, vk]\n"),
                     50);
    assert_int_equal(length_of("@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"
                               "    for i in range(8):\n        C[i] = A[i]\n"),
                     1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds),    cmocka_unit_test(test_ranges),           cmocka_unit_test(test_index_values),
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_guard_zones),      cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_printing), cmocka_unit_test(test_reduction_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
