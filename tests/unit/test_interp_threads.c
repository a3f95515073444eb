/* Thread-bound loops in the reference interpreter: shared and local memory, barriers, conflicts, reductions across threads. */
#include "test_interp.h"

/* B[i] = A[i] + A[i + 1] + A[i + 2], staged in shared memory: every thread fetches all of it, then each computes its element. */
static const char fetch_program[] = "@T.prim_func\n"
                                    "def main(A: T.Buffer((34,), \"float32\"), B: T.Buffer((32,), \"float32\")):\n"
                                    "    A_shared = T.alloc_buffer((34,), scope=\"%s\")\n"
                                    "    for i_0 in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
                                    "        for i_1 in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                                    "%s"
                                    "            with T.block(\"C\"):\n"
                                    "                vi = T.axis.spatial(32, i_0 * 8 + i_1)\n"
                                    "                B[vi] = A_shared[vi] + A_shared[vi + 1] + A_shared[vi + 2]\n";
static const char fetch_all[] = "            for ax0 in range(10):\n"
                                "                with T.block(\"A_shared\"):\n"
                                "                    v0 = T.axis.spatial(34, i_0 * 8 + ax0)\n"
                                "                    A_shared[v0] = A[v0]\n";
static const char fetch_together[] = "            for ax0_0 in range(2):\n"
                                     "                for ax0_1 in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                                     "                    with T.block(\"A_shared\"):\n"
                                     "                        v0 = T.axis.spatial(34, i_0 * 8 + (ax0_0 * 8 + ax0_1))\n"
                                     "                        T.where(ax0_0 * 8 + ax0_1 < 10)\n"
                                     "                        A_shared[v0] = A[v0]\n";

static Ran run_fetch(const char *scope, const char *fetch)
{
    char text[4096];
    snprintf(text, sizeof text, fetch_program, scope, fetch);
    return run_text(text);
}

static void check_fetch(const char *scope, const char *fetch)
{
    Ran ran = run_fetch(scope, fetch);
    assert_no_findings(&ran);
    const float *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B");
    for (int i = 0; i < 32; i++)
        assert_true(b[i] == a[i] + a[i + 1] + a[i + 2]);
    ran_free(&ran);
}

static void test_fetch(void **state)
{
    (void)state;
    check_fetch("shared", fetch_all);
    check_fetch("shared", fetch_together);
    check_fetch("shared.dyn", fetch_together);
    check_fetch("local", fetch_all);
}

/* What a thread fetched into its own memory, the others do not have. */
static void test_cooperative_fetch_into_local(void **state)
{
    (void)state;
    Ran ran = run_fetch("local", fetch_together);
    assert_true(ran.result.kinds == 1u << INTERP_UNWRITTEN);
    assert_non_null(strstr(ran_messages(&ran), "block 'C' reads A_shared[1], which was never written\nnote: at i_0 = 0, i_1 = 0\n"));
    ran_free(&ran);
}

/* In common memory no barrier is implied. */
static void test_cooperative_fetch_into_global(void **state)
{
    (void)state;
    Ran ran = run_fetch("global", fetch_together);
    assert_true(ran.result.kinds == 1u << INTERP_CONFLICT);
    assert_non_null(
        strstr(ran_messages(&ran),
               "block 'C' is in conflict with another thread of its block: A_shared[1] is written at threadIdx.x = 1 and read at threadIdx.x = 0\n"));
    ran_free(&ran);
}

/* Shared memory is fresh for every thread block. */
static void test_shared_memory_is_per_block(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                               "    S = T.alloc_buffer((1,), scope=\"shared\")\n"
                               "    for bx in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
                               "        for tx in T.thread_binding(2, thread=\"threadIdx.x\"):\n"
                               "            if bx >= %s:\n"
                               "                with T.block(\"S\"):\n"
                               "                    vb = T.axis.spatial(4, bx)\n"
                               "                    S[0] = A[vb]\n"
                               "            with T.block(\"B\"):\n"
                               "                vb, vt = T.axis.remap(\"SS\", [bx, tx])\n"
                               "                B[vb * 2 + vt] = S[0]\n";
    assert_pair(text, "0", "1", INTERP_UNWRITTEN, "block 'B' reads S[0], which was never written\nnote: at bx = 0, tx = 0\n");
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                       "    S = T.alloc_buffer((1,), scope=\"shared\")\n"
                       "    for bx in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
                       "        for tx in T.thread_binding(2, thread=\"threadIdx.x\"):\n"
                       "            if bx != 2:\n"
                       "                with T.block(\"S\"):\n"
                       "                    vb = T.axis.spatial(4, bx)\n"
                       "                    S[0] = A[vb]\n"
                       "            with T.block(\"B\"):\n"
                       "                vb, vt = T.axis.remap(\"SS\", [bx, tx])\n"
                       "                B[vb * 2 + vt] = S[0]\n");
    assert_finding(&ran, INTERP_UNWRITTEN, "note: at bx = 2, tx = 0\n");
    ran_free(&ran);
}

static const char write_program[] = "@T.prim_func\n"
                                    "def main(A: T.Buffer((8,), \"int32\"), B: T.Buffer((8,), \"int32\")):\n"
                                    "    S = T.alloc_buffer((8,), \"int32\", scope=\"shared\")\n"
                                    "    for tx in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                                    "        with T.block(\"S\"):\n"
                                    "            vt = T.axis.spatial(8, tx)\n"
                                    "            S[0] = %s\n"
                                    "        with T.block(\"B\"):\n"
                                    "            vt = T.axis.spatial(8, tx)\n"
                                    "            B[vt] = S[0]\n";

/* Threads may write the same value to one element, not different ones. */
static void test_same_value(void **state)
{
    (void)state;
    assert_pair(
        write_program, "7", "vt", INTERP_CONFLICT,
        "block 'S' is in conflict with another thread of its block: S[0] is written at threadIdx.x = 0 and again at threadIdx.x = 1\nnote: at tx = 1\n");
}

/* A statement in which one thread reads what another writes has no barrier in between; two statements have. */
static void test_read_in_same_statement(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(B: T.Buffer((8,), \"int32\")):\n"
                               "    S = T.alloc_buffer((9,), \"int32\", scope=\"shared\")\n"
                               "    L = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
                               "    for tx in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                               "        with T.block(\"S\"):\n"
                               "            vt = T.axis.spatial(8, tx)\n"
                               "            S[vt] = vt\n"
                               "            L[0] = S[7 - vt]\n"
                               "            S[vt] = %s\n"
                               "        with T.block(\"B\"):\n"
                               "            vt = T.axis.spatial(8, tx)\n"
                               "            B[vt] = S[vt]\n";
    assert_pair(text, "L[0]", "S[7 - vt]", INTERP_CONFLICT, "block 'S' is in conflict with another thread of its block: S[");
    char program[2048];
    snprintf(program, sizeof program, text, "L[0]");
    Ran ran = run_text(program);
    for (int i = 0; i < 8; i++)
        assert_int_equal(((int32_t *)ran_data(&ran, "B"))[i], 7 - i);
    ran_free(&ran);
}

/* An explicit barrier orders common memory too. */
static void test_explicit_barrier(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((8,), \"int32\"), B: T.Buffer((8,), \"int32\"), C: T.Buffer((1,), \"int32\")):\n"
                               "    for tx in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                               "        A[tx] = tx\n"
                               "        if C[0] %s 100:\n"
                               "            T.evaluate(T.tvm_storage_sync(\"shared\"))\n"
                               "        B[tx] = A[7 - tx]\n";
    assert_pair(text, "<", ">", INTERP_CONFLICT,
                "is in conflict with another thread of its block: A[7] is written at threadIdx.x = 7 and read at threadIdx.x = 0\n");
}

static void test_block_conflict(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(B: T.Buffer((8,), \"int32\")):\n"
                               "    for bx in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
                               "        for tx in T.thread_binding(2, thread=\"threadIdx.x\"):\n"
                               "            B[bx * %s + tx] = 1\n";
    assert_pair(text, "2", "1", INTERP_CONFLICT,
                "is in conflict with another thread block: B[1] is written at blockIdx.x = 0 and again at blockIdx.x = 1\nnote: at bx = 1, tx = 0\n");
}

/* Loops with one tag have one extent in a kernel. */
static void test_extents(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(B: T.Buffer((8,), \"int32\"), C: T.Buffer((8,), \"int32\")):\n"
                               "    for bx in T.thread_binding(1, thread=\"blockIdx.x\"):\n"
                               "        for t0 in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                               "            B[t0] = t0\n"
                               "        for t1 in T.thread_binding(%s, thread=\"threadIdx.x\"):\n"
                               "            C[t1] = t1\n";
    assert_pair(text, "8", "4", INTERP_THREADS, "function 'main' has loops bound to threadIdx.x with extents 8 and 4 in one kernel");
}

/* Two loops with one tag, side by side: a thread's own memory carries over. */
static void test_sibling_loops(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((8,), \"int32\"), B: T.Buffer((8,), \"int32\")):\n"
                       "    L = T.alloc_buffer((1,), \"int32\", scope=\"local\")\n"
                       "    for bx in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
                       "        for t0 in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
                       "            with T.block(\"L\"):\n"
                       "                vi = T.axis.spatial(8, bx * 4 + t0)\n"
                       "                L[0] = A[vi] * 3\n"
                       "        for t1 in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
                       "            with T.block(\"B\"):\n"
                       "                vi = T.axis.spatial(8, bx * 4 + t1)\n"
                       "                B[vi] = L[0]\n");
    assert_no_findings(&ran);
    for (int i = 0; i < 8; i++)
        assert_int_equal(((int32_t *)ran_data(&ran, "B"))[i], 3 * ((int32_t *)ran_data(&ran, "A"))[i]);
    ran_free(&ran);
}

/* Matrix multiplication with a block of results for each thread in local memory. */
static void test_blocking(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((16, 8), \"float32\"), B: T.Buffer((8, 16), \"float32\"), C: T.Buffer((16, 16), \"float32\")):\n"
                       "    C_local = T.alloc_buffer((16, 16), scope=\"local\")\n"
                       "    for i_0 in T.thread_binding(2, thread=\"blockIdx.y\"):\n"
                       "        for j_0 in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
                       "            for i_1 in T.thread_binding(2, thread=\"threadIdx.y\"):\n"
                       "                for j_1 in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
                       "                    for k in range(8):\n"
                       "                        for i_2, j_2 in T.grid(4, 2):\n"
                       "                            with T.block(\"C\"):\n"
                       "                                vi = T.axis.spatial(16, i_0 * 8 + i_1 * 4 + i_2)\n"
                       "                                vj = T.axis.spatial(16, j_0 * 8 + j_1 * 2 + j_2)\n"
                       "                                vk = T.axis.reduce(8, k)\n"
                       "                                with T.init():\n"
                       "                                    C_local[vi, vj] = T.float32(0)\n"
                       "                                C_local[vi, vj] += A[vi, vk] * B[vk, vj]\n"
                       "                    for ax0, ax1 in T.grid(4, 2):\n"
                       "                        with T.block(\"C_local\"):\n"
                       "                            v0 = T.axis.spatial(16, i_0 * 8 + i_1 * 4 + ax0)\n"
                       "                            v1 = T.axis.spatial(16, j_0 * 8 + j_1 * 2 + ax1)\n"
                       "                            C[v0, v1] = C_local[v0, v1]\n");
    assert_no_findings(&ran);
    const float *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B"), *c = ran_data(&ran, "C");
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            float sum = 0;
            for (int k = 0; k < 8; k++) {
                float product = a[i * 8 + k] * b[k * 16 + j];
                sum = sum + product;
            }
            assert_true(c[i * 16 + j] == sum);
        }
    ran_free(&ran);
}

/* A reduction across threads is one when the block has an init; its result is seen by all threads. Without init it is a race. */
static const char across_program[] = "@T.prim_func\n"
                                     "def main(A: T.Buffer((4, 8), \"int32\"), B: T.Buffer((4, 8), \"int32\")):\n"
                                     "    S = T.alloc_buffer((4,), \"int32\", scope=\"%s\")\n"
                                     "    for bx in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
                                     "        for tx in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                                     "            with T.block(\"S\"):\n"
                                     "                vi, vk = T.axis.remap(\"SR\", [bx, tx])\n"
                                     "                with T.init():\n"
                                     "                    S[vi] = 0\n"
                                     "                S[vi] = S[vi] + A[vi, vk]\n"
                                     "            with T.block(\"B\"):\n"
                                     "                vi, vj = T.axis.remap(\"SS\", [bx, tx])\n"
                                     "                B[vi, vj] = S[vi] * 10 + vj\n";

static void test_reduction_across_threads(void **state)
{
    (void)state;
    static const char *const scopes[] = {"local", "shared"};
    for (int s = 0; s < 2; s++) {
        char text[2048];
        snprintf(text, sizeof text, across_program, scopes[s]);
        Ran ran = run_text(text);
        assert_no_findings(&ran);
        const int32_t *a = ran_data(&ran, "A"), *b = ran_data(&ran, "B");
        for (int i = 0; i < 4; i++) {
            int sum = 0;
            for (int k = 0; k < 8; k++)
                sum += a[i * 8 + k];
            for (int j = 0; j < 8; j++)
                assert_int_equal(b[i * 8 + j], sum * 10 + j);
        }
        ran_free(&ran);
    }
}

static void test_race_without_init(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((8,), \"int32\"), B: T.Buffer((1,), \"int32\")):\n"
                       "    for tx in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                       "        with T.block(\"B\"):\n"
                       "            vk = T.axis.reduce(8, tx)\n"
                       "            B[0] = B[0] + A[vk]\n");
    assert_true(ran.result.kinds == 1u << INTERP_CONFLICT);
    ran_free(&ran);
}

/* A pair (value, index) that is reduced across threads is updated as a whole. */
static void test_argmax_across_threads(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(A: T.Buffer((8,), \"float32\"), V: T.Buffer((1,), \"float32\"), I: T.Buffer((1,), \"int32\")):\n"
                       "    for tx in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                       "        with T.block(\"argmax\"):\n"
                       "            vk = T.axis.reduce(8, tx)\n"
                       "            T.reads(A[vk])\n"
                       "            T.writes(V[0], I[0])\n"
                       "            with T.init():\n"
                       "                V[0] = T.float32(-100)\n"
                       "                I[0] = -1\n"
                       "            v_i: T.int32 = T.Select(V[0] >= A[vk], I[0], vk)\n"
                       "            v_v: T.float32 = T.Select(V[0] >= A[vk], V[0], A[vk])\n"
                       "            I[0] = v_i\n"
                       "            V[0] = v_v\n");
    assert_no_findings(&ran);
    const float *a = ran_data(&ran, "A");
    int best = 0;
    for (int i = 1; i < 8; i++)
        best = a[i] > a[best] ? i : best;
    assert_int_equal(*(int32_t *)ran_data(&ran, "I"), best);
    ran_free(&ran);
}

/* Threads that take different ways through conditions and loops. */
static void test_divergence(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(B: T.Buffer((8,), \"int32\")):\n"
                       "    for tx in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                       "        B[tx] = 0\n"
                       "        for k in range(tx):\n"
                       "            if k % 2 == 0:\n"
                       "                B[tx] = B[tx] + 10\n"
                       "            else:\n"
                       "                B[tx] = B[tx] + 1\n"
                       "            if k == 4:\n"
                       "                T.evaluate(T.break_loop())\n");
    assert_no_findings(&ran);
    for (int t = 0; t < 8; t++) {
        int expected = 0;
        for (int k = 0; k < t && k < 5; k++)
            expected += k % 2 ? 1 : 10;
        assert_int_equal(((int32_t *)ran_data(&ran, "B"))[t], expected);
    }
    ran_free(&ran);
}

static void test_launch_thread(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(a: T.handle, b: T.handle):\n"
                               "    n = T.int32()\n"
                               "    A = T.match_buffer(a, (n,), \"float32\")\n"
                               "    B = T.match_buffer(b, (n,), \"float32\")\n"
                               "    blockIdx_x = T.launch_thread(\"blockIdx.x\", (n + 7) // 8)\n"
                               "    threadIdx_x = T.launch_thread(\"threadIdx.x\", 8)\n"
                               "    if T.likely(blockIdx_x * 8 + threadIdx_x < n):\n"
                               "        B[blockIdx_x * 8 + threadIdx_x] = A[blockIdx_x * 8 + threadIdx_x] + T.float32(1)\n";
    for (int n = 0; n < 20; n += 3) {
        ArgSize size = {"n", n, NULL};
        Ran ran = ran_prepare(text, 1, &size, 1);
        ran_run(&ran);
        assert_no_findings(&ran);
        for (int i = 0; i < n; i++)
            assert_true(((float *)ran_data(&ran, "B"))[i] == ((float *)ran_data(&ran, "A"))[i] + 1);
        ran_free(&ran);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fetch),
        cmocka_unit_test(test_cooperative_fetch_into_local),
        cmocka_unit_test(test_cooperative_fetch_into_global),
        cmocka_unit_test(test_shared_memory_is_per_block),
        cmocka_unit_test(test_same_value),
        cmocka_unit_test(test_read_in_same_statement),
        cmocka_unit_test(test_explicit_barrier),
        cmocka_unit_test(test_block_conflict),
        cmocka_unit_test(test_extents),
        cmocka_unit_test(test_sibling_loops),
        cmocka_unit_test(test_blocking),
        cmocka_unit_test(test_reduction_across_threads),
        cmocka_unit_test(test_race_without_init),
        cmocka_unit_test(test_argmax_across_threads),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_launch_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
