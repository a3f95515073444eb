/* What blocks, buffers and statements do in the reference interpreter, against values computed in plain C. */
#include "test_interp.h"

#include <math.h>

/* --- init --- */
static const char sum_program[] = "@T.prim_func\n"
                                  "def main(A: T.Buffer((8, 8), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"
                                  "    for %s:\n"
                                  "        with T.block(\"C\"):\n"
                                  "            %s\n"
                                  "            %s\n"
                                  "            with T.init():\n"
                                  "                C[vi] = T.float32(100)\n"
                                  "            C[vi] = C[vi] + A[vi, vk]\n";
enum { UNTOUCHED = -1 };

/* Runs sum_program with C filled with UNTOUCHED; C[i] must be 100 plus the first LENGTHS[i] elements of row i, or untouched where that is
   -1. */
static void check_sums(const char *loops, const char *axes, const char *where, const int lengths[8])
{
    char text[2048];
    snprintf(text, sizeof text, sum_program, loops, axes, where);
    Ran ran = ran_prepare(text, 1, NULL, 0);
    float *a = ran_data(&ran, "A"), *c = ran_data(&ran, "C");
    for (int i = 0; i < 64; i++)
        a[i] = (float)(i % 7);
    for (int i = 0; i < 8; i++)
        c[i] = UNTOUCHED;
    ran_run(&ran);
    assert_no_findings(&ran);
    for (int i = 0; i < 8; i++) {
        float expected = lengths[i] < 0 ? UNTOUCHED : 100;
        for (int k = 0; k < lengths[i]; k++)
            expected += a[i * 8 + k];
        if (c[i] != expected)
            fail_msg("%s / %s / %s: C[%d] is %g, not %g", loops, axes, where, i, (double)c[i], (double)expected);
    }
    ran_free(&ran);
}

static const char plain_axes[] = "vi, vk = T.axis.remap(\"SR\", [i, k])", no_condition[] = "T.where(True)";

static void test_init_once_per_point(void **state)
{
    (void)state;
    static const int all[8] = {8, 8, 8, 8, 8, 8, 8, 8};
    check_sums("i, k in T.grid(8, 8)", plain_axes, no_condition, all);
    check_sums("k, i in T.grid(8, 8)", plain_axes, no_condition, all);
    check_sums("k0, i, k1 in T.grid(2, 8, 4)", "vi, vk = T.axis.spatial(8, i), T.axis.reduce(8, k0 * 4 + k1)", no_condition, all);
    check_sums("f in range(64)", "vi, vk = T.axis.spatial(8, f // 8), T.axis.reduce(8, f % 8)", no_condition, all);
    check_sums("f in range(64)", "vi, vk = T.axis.spatial(8, f % 8), T.axis.reduce(8, f // 8)", no_condition, all);
}

/* The init runs where the reduction is empty. */
static void test_init_of_empty_reduction(void **state)
{
    (void)state;
    static const int none[8] = {0}, half[8] = {0, 0, 0, 0, -1, -1, -1, -1}, some[8] = {3, 3, 3, 3, 3, 3, 3, 3};
    check_sums("i, k in T.grid(8, 0)", plain_axes, no_condition, none);
    check_sums("k, i in T.grid(0, 8)", plain_axes, no_condition, none);
    check_sums("i, k in T.grid(8, 8)", plain_axes, "T.where(k < 0)", none);
    check_sums("k, i in T.grid(8, 8)", plain_axes, "T.where(k < 0)", none);
    check_sums("i, k in T.grid(8, 8)", plain_axes, "T.where(k < 3)", some);
    check_sums("k0, i, k1 in T.grid(2, 8, 4)", "vi, vk = T.axis.spatial(8, i), T.axis.reduce(8, k0 * 4 + k1)", "T.where(k0 * 4 + k1 < 3)",
               some);
    /* ... but not where the predicate excludes the point. */
    check_sums("i, k in T.grid(8, 0)", plain_axes, "T.where(i < 4)", half);
    check_sums("k, i in T.grid(0, 8)", plain_axes, "T.where(i < 4)", half);
    check_sums("k, i in T.grid(8, 8)", plain_axes, "T.where(i < 4 and k < 0)", half);
}

/* A condition over both kinds of loops excludes the points without an update, in every order of the loops. */
static void test_init_under_mixed_condition(void **state)
{
    (void)state;
    static const int triangle[8] = {-1, 1, 2, 3, 4, 5, 6, 7};
    check_sums("i, k in T.grid(8, 8)", plain_axes, "T.where(k < i)", triangle);
    check_sums("k, i in T.grid(8, 8)", plain_axes, "T.where(k < i)", triangle);
}

/* An extent that depends on the point is a domain of its own. */
static void test_init_of_triangular_reduction(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(C: T.Buffer((5,), \"int32\")):\n"
                       "    for i in range(5):\n"
                       "        for k in range(i):\n"
                       "            with T.block(\"C\"):\n"
                       "                vi, vk = T.axis.spatial(5, i), T.axis.reduce(5, k)\n"
                       "                with T.init():\n"
                       "                    C[vi] = 10\n"
                       "                C[vi] = C[vi] + 1\n");
    assert_no_findings(&ran);
    for (int i = 0; i < 5; i++)
        assert_int_equal(((int32_t *)ran_data(&ran, "C"))[i], 10 + i);
    ran_free(&ran);
}

/* An if around the block is like a predicate. */
static void test_init_under_if(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(C: T.Buffer((4,), \"int32\")):\n"
                       "    for i, k in T.grid(4, 4):\n"
                       "        if i < 2:\n"
                       "            if k < 0:\n"
                       "                with T.block(\"C\"):\n"
                       "                    vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                       "                    with T.init():\n"
                       "                        C[vi] = 100\n"
                       "                    C[vi] = C[vi] + 1\n");
    assert_no_findings(&ran);
    const int32_t *c = ran_data(&ran, "C");
    assert_true(c[0] == 100 && c[1] == 100 && c[2] != 100 && c[3] != 100);
    ran_free(&ran);
}

/* The init of an outer block with blocks in it, as blockize leaves it. */
static void test_init_with_blocks(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((8, 8), \"float32\"), B: T.Buffer((8, 8), \"float32\"), C: T.Buffer((8, 8), \"float32\")):\n"
                       "    for i0, j0, k0 in T.grid(2, 2, 2):\n"
                       "        with T.block(\"outer\"):\n"
                       "            vio, vjo, vko = T.axis.remap(\"SSR\", [i0, j0, k0])\n"
                       "            with T.init():\n"
                       "                for i1, j1 in T.grid(4, 4):\n"
                       "                    with T.block(\"inner_init\"):\n"
                       "                        vi, vj = T.axis.remap(\"SS\", [i1, j1])\n"
                       "                        C[vio * 4 + vi, vjo * 4 + vj] = T.float32(0)\n"
                       "            for i1, j1, k1 in T.grid(4, 4, 4):\n"
                       "                with T.block(\"inner\"):\n"
                       "                    vi, vj, vk = T.axis.remap(\"SSR\", [i1, j1, k1])\n"
                       "                    C[vio * 4 + vi, vjo * 4 + vj] += A[vio * 4 + vi, vko * 4 + vk] * B[vjo * 4 + vj, vko * 4 + vk]\n");
    assert_no_findings(&ran);
    const float *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B"), *c = ran_data(&ran, "C");
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            float sum = 0;
            for (int k = 0; k < 8; k++) {
                float product = a[i * 8 + k] * b[j * 8 + k];
                sum = sum + product;
            }
            assert_true(c[i * 8 + j] == sum);
        }
    ran_free(&ran);
}

/* --- Buffers --- */
static void test_views(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((8, 12), \"int32\"), B: T.Buffer((8, 12), \"int32\")):\n"
                       "    for i, j in T.grid(2, 3):\n"
                       "        with T.block(\"copy\"):\n"
                       "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                       "            T.reads(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])\n"
                       "            T.writes(B[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4])\n"
                       "            s0 = T.int32()\n"
                       "            s1 = T.int32()\n"
                       "            A1 = T.match_buffer(A[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), \"int32\", strides=[s0, s1], offset_factor=1)\n"
                       "            B1 = T.match_buffer(B[vi * 4:vi * 4 + 4, vj * 4:vj * 4 + 4], (4, 4), \"int32\", offset_factor=1)\n"
                       "            for x, y in T.grid(4, 4):\n"
                       "                B1[x, y] = A1[x, y] + s0 * 100 + s1\n");
    assert_no_findings(&ran);
    const int32_t *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B");
    for (int i = 0; i < 96; i++)
        assert_int_equal(b[i], a[i] + 1201);
    ran_free(&ran);
}

static const char view_program[] = "@T.prim_func\n"
                                   "def main(A: T.Buffer((8, 12), \"int32\"), B: T.Buffer((8,), \"int32\")):\n"
                                   "    for i in range(2):\n"
                                   "        with T.block(\"copy\"):\n"
                                   "            vi = T.axis.spatial(2, i)\n"
                                   "            T.reads(A[0:8, 0:12])\n"
                                   "            T.writes(B[0:8])\n"
                                   "            A1 = T.match_buffer(A[vi * 4:vi * 4 + 4, 4:8], (4, 4), \"int32\", %s)\n"
                                   "            B[vi] = A1[0, 0]\n";

static void test_view_findings(void **state)
{
    (void)state;
    assert_pair(view_program, "offset_factor=4", "offset_factor=5", INTERP_VIEW,
                "error: block 'copy' matches 'A1' at offset 4, which is no multiple of its offset_factor 5\nnote: at i = 0\n");
    assert_pair(view_program, "offset_factor=1, strides=(12, 1)", "offset_factor=1, strides=(4, 1)", INTERP_VIEW,
                "error: block 'copy' matches 'A1' with a region of 'A' whose stride is 12, not 4\nnote: at i = 0\n");
}

/* Buffers with one data variable are one memory. */
static void test_aliases(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((4, 3), \"int32\"), B: T.Buffer((12,), \"int32\")):\n"
                       "    A1 = T.Buffer((12,), \"int32\", data=A.data)\n"
                       "    A2 = T.decl_buffer((6,), \"int32\", data=A.data, elem_offset=6)\n"
                       "    for i in range(12):\n"
                       "        A1[i] = i\n"
                       "    for i in range(6):\n"
                       "        A2[i] = A2[i] * 10\n"
                       "    for i, j in T.grid(4, 3):\n"
                       "        B[i * 3 + j] = A[i, j]\n");
    assert_no_findings(&ran);
    for (int i = 0; i < 12; i++)
        assert_int_equal(((int32_t *)ran_data(&ran, "B"))[i], i < 6 ? i : i * 10);
    ran_free(&ran);
}

static void test_strides_and_offset(void **state)
{
    (void)state;
    Ran ran = ran_prepare("@T.prim_func\n"
                          "def main(a: T.handle, B: T.Buffer((2, 3), \"int32\")):\n"
                          "    A = T.match_buffer(a, (2, 3), \"int32\", strides=[1, 4], elem_offset=5)\n"
                          "    for i, j in T.grid(2, 3):\n"
                          "        B[i, j] = A[i, j]\n",
                          1, NULL, 0);
    int32_t *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B");
    for (int i = 0; i < 15; i++)
        a[i] = i;
    ran_run(&ran);
    assert_no_findings(&ran);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            assert_int_equal(b[i * 3 + j], 5 + i + 4 * j);
    ran_free(&ran);
}

/* An allocation of a block belongs to the instance: the next one does not see what it wrote. */
static void test_scratch_of_instances(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((4,), \"int32\"), B: T.Buffer((4,), \"int32\")):\n"
                               "    for i in range(4):\n"
                               "        with T.block(\"B\"):\n"
                               "            vi = T.axis.spatial(4, i)\n"
                               "            S = T.alloc_buffer((1,), \"int32\")\n"
                               "            if vi < %s:\n"
                               "                S[0] = A[vi]\n"
                               "            B[vi] = S[0]\n";
    assert_pair(text, "4", "1", INTERP_UNWRITTEN, "block 'B' reads S[0], which was never written\nnote: at i = 1\n");
}

static void test_lowered_allocations(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                       "    for i in range(2):\n"
                       "        s = T.allocate([4], \"float32\", \"global\")\n"
                       "        S = T.Buffer((4,), data=s)\n"
                       "        for j in range(4):\n"
                       "            S[j] = A[i * 4 + j]\n"
                       "        for j in range(4):\n"
                       "            B[i * 4 + j] = S[3 - j]\n");
    assert_no_findings(&ran);
    const float *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B");
    for (int i = 0; i < 8; i++)
        assert_true(b[i] == a[i / 4 * 4 + 3 - i % 4]);
    ran_free(&ran);
}

/* --- Vectors --- */
static void test_vectors(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((16,), \"int32\"), B: T.Buffer((16,), \"int32\")):\n"
                       "    B[0:4] = A[T.Ramp(12, -1, 4)] + T.Broadcast(10, 4)\n"
                       "    B[T.Ramp(4, 2, 4)] = T.Select(A[0:4] > T.Broadcast(0, 4), A[0:4], T.Broadcast(0, 4))\n"
                       "    for i in range(4):\n"
                       "        B[5 + i * 2] = 7\n"
                       "    B[12:16] = B[0:4]\n"
                       "    B[1:4] = B[0:3]\n");
    assert_no_findings(&ran);
    const int32_t *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(b[12 + i], a[12 - i] + 10);
        assert_int_equal(b[i], a[12 - (i ? i - 1 : 0)] + 10); /* all lanes are read before the first is written */
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(b[4 + 2 * i], 4 + 2 * i >= 12 ? b[4 + 2 * i] : a[i] > 0 ? a[i] : 0);
        assert_int_equal(b[5 + 2 * i], 5 + 2 * i >= 12 ? b[5 + 2 * i] : 7);
    }
    ran_free(&ran);
}

static void test_masks(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((6,), \"int32\"), B: T.Buffer((6,), \"int32\")):\n"
                               "    for i in range(2):\n"
                               "        B.vstore([T.Ramp(i * 4, 1, 4)], A.vload([T.Ramp(i * 4, 1, 4)], predicate=T.Ramp(i * 4, 1, 4) < T.Broadcast(%s, 4)), "
                               "predicate=T.Ramp(i * 4, 1, 4) < T.Broadcast(6, 4))\n";
    assert_pair(text, "6", "7", INTERP_OUT_OF_BOUNDS, "reads A[6], out of bounds");
}

static void test_vector_elements(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((4,), \"int32x4\"), B: T.Buffer((4,), \"int32x4\")):\n"
                       "    for i in range(4):\n"
                       "        B[i] = A[3 - i] * T.Broadcast(2, 4)\n");
    assert_no_findings(&ran);
    const int32_t *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B");
    for (int i = 0; i < 16; i++)
        assert_int_equal(b[i], 2 * a[(3 - i / 4) * 4 + i % 4]);
    ran_free(&ran);
}

/* --- Control --- */
static void test_while(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(B: T.Buffer((2,), \"int32\")):\n"
                       "    B[0] = 27\n"
                       "    B[1] = 0\n"
                       "    while B[0] != 1:\n"
                       "        if B[0] % 2 == 0:\n"
                       "            B[0] = B[0] // 2\n"
                       "        else:\n"
                       "            B[0] = B[0] * 3 + 1\n"
                       "        B[1] = B[1] + 1\n");
    assert_no_findings(&ran);
    assert_int_equal(((int32_t *)ran_data(&ran, "B"))[1], 111);
    ran_free(&ran);
}

static void test_break_and_continue(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(B: T.Buffer((1,), \"int32\")):\n"
                       "    B[0] = 0\n"
                       "    for i in range(3):\n"
                       "        for j in range(10):\n"
                       "            if j == 2:\n"
                       "                T.evaluate(T.continue_loop())\n"
                       "            if j == 5:\n"
                       "                T.evaluate(T.break_loop())\n"
                       "            B[0] = B[0] + j\n"
                       "        B[0] = B[0] + 100\n");
    assert_no_findings(&ran);
    assert_int_equal(((int32_t *)ran_data(&ran, "B"))[0], 3 * (0 + 1 + 3 + 4 + 100));
    ran_free(&ran);
}

static void test_lets(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((4,), \"int32\"), B: T.Buffer((4,), \"int32\")):\n"
                       "    for i in range(4):\n"
                       "        x: T.int32 = A[i] * 2\n"
                       "        A[i] = 0\n"
                       "        y: T.int32 = x + 1\n"
                       "        B[i] = x * 100 + y\n");
    assert_no_findings(&ran);
    Ran again =
        ran_prepare("@T.prim_func\ndef main(A: T.Buffer((4,), \"int32\"), B: T.Buffer((4,), \"int32\")):\n    B[0] = A[0]\n", 1, NULL, 0);
    const int32_t *a = ran_data(&again, "A"), *b = ran_data(&ran, "B");
    for (int i = 0; i < 4; i++)
        assert_int_equal(b[i], a[i] * 202 + 1);
    ran_free(&again);
    ran_free(&ran);
}

static void test_symbolic_sizes(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(a: T.handle, b: T.handle):\n"
                               "    n = T.int64()\n"
                               "    m = T.int32()\n"
                               "    A = T.match_buffer(a, (n, m), \"float32\")\n"
                               "    B = T.match_buffer(b, (n * 2, m + 1), \"float32\")\n"
                               "    for i, j in T.grid(n, m):\n"
                               "        B[i * 2, j + 1] = A[i, j]\n";
    for (int n = 0; n < 4; n++)
        for (int m = 0; m < 3; m++) {
            ArgSize sizes[] = {{"n", n, NULL}, {"m", m, NULL}};
            Ran ran = ran_prepare(text, 1, sizes, 2);
            ran_run(&ran);
            assert_no_findings(&ran);
            const float *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B");
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++)
                    assert_true(b[i * 2 * (m + 1) + j + 1] == a[i * m + j]);
            ran_free(&ran);
        }
}

static void test_argument_mismatch(void **state)
{
    (void)state;
    Ran ran = ran_prepare("@T.prim_func\n"
                          "def main(a: T.handle, b: T.handle):\n"
                          "    n = T.int64()\n"
                          "    A = T.match_buffer(a, (n,), \"float32\")\n"
                          "    B = T.match_buffer(b, (n,), \"float32\")\n"
                          "    for i in range(n):\n"
                          "        B[i] = A[i]\n",
                          1, NULL, 0);
    static const int64_t other[] = {77};
    ran.data->items[1].arg.shape = other;
    ran_run(&ran);
    assert_true(ran.result.kinds & 1u << INTERP_ASSERTION);
    assert_false(ran.result.completed);
    ran_free(&ran);
}

/* --- Extern functions --- */
static bool call_scale(void *data, const char *name, const InterpValue *args, int count, InterpValue *result)
{
    if (strcmp(name, "scale") || count != 3)
        return false;
    ++*(int *)data;
    for (int i = 0; i < args[1].as.integer; i++)
        ((float *)args[0].as.pointer)[i] *= (float)args[2].as.real;
    result->as.integer = 0;
    return true;
}

static void test_extern(void **state)
{
    (void)state;
    Ran ran = ran_prepare("@T.prim_func\n"
                          "def main(A: T.Buffer((8,), \"float32\")):\n"
                          "    for i in range(2):\n"
                          "        with T.block(\"scale\"):\n"
                          "            vi = T.axis.spatial(2, i)\n"
                          "            T.reads(A[vi * 4:vi * 4 + 4])\n"
                          "            T.writes(A[vi * 4:vi * 4 + 4])\n"
                          "            T.evaluate(T.call_extern(\"int32\", \"scale\", T.address_of(A[vi * 4]), 4, T.float32(2)))\n",
                          1, NULL, 0);
    float before[8], *a = ran_data(&ran, "A");
    memcpy(before, a, sizeof before);
    int calls = 0;
    ran.options.externs = (InterpExtern){call_scale, &calls};
    ran_run(&ran);
    assert_no_findings(&ran);
    assert_int_equal(calls, 2);
    for (int i = 0; i < 8; i++)
        assert_true(a[i] == 2 * before[i]);
    ran_free(&ran);
}

static const char tmm16_program[] =
    "@T.prim_func\n"
    "def main(A: T.Buffer((16, 20), \"float32\"), B: T.Buffer((16, 16), \"float32\"), C: T.Buffer((16, 16), \"float32\")):\n"
    "    with T.block(\"tile\"):\n"
    "        T.reads(A[0:16, 0:%s], B[0:16, 0:16], C[0:16, 0:16])\n"
    "        T.writes(C[0:16, 0:16])\n"
    "        T.evaluate(T.call_extern(\"int32\", \"tmm16\", C.access_ptr(\"rw\"), A.access_ptr(\"r\"), B.access_ptr(\"r\"), 20, 16, 16))\n";

static void test_tmm16(void **state)
{
    (void)state;
    char text[2048];
    snprintf(text, sizeof text, tmm16_program, "16");
    Ran ran = ran_prepare(text, 1, NULL, 0);
    float before[256], *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B"), *c = ran_data(&ran, "C");
    memcpy(before, c, sizeof before);
    ran_run(&ran);
    assert_no_findings(&ran);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            double sum = before[i * 16 + j];
            for (int k = 0; k < 16; k++)
                sum += (double)a[i * 20 + k] * (double)b[j * 16 + k];
            assert_true(fabs(sum - (double)c[i * 16 + j]) < 1e-5);
        }
    ran_free(&ran);
    assert_pair(tmm16_program, "16", "15", INTERP_UNDECLARED, "block 'tile' reads A[0, 15], outside its declared reads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_init_once_per_point),
        cmocka_unit_test(test_init_of_empty_reduction),
        cmocka_unit_test(test_init_under_mixed_condition),
        cmocka_unit_test(test_init_of_triangular_reduction),
        cmocka_unit_test(test_init_under_if),
        cmocka_unit_test(test_init_with_blocks),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_view_findings),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_strides_and_offset),
        cmocka_unit_test(test_scratch_of_instances),
        cmocka_unit_test(test_lowered_allocations),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_vector_elements),
        cmocka_unit_test(test_while),
        cmocka_unit_test(test_break_and_continue),
        cmocka_unit_test(test_lets),
        cmocka_unit_test(test_symbolic_sizes),
        cmocka_unit_test(test_argument_mismatch),
        cmocka_unit_test(test_extern),
        cmocka_unit_test(test_tmm16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
