/* Each kind of finding of the reference interpreter, with a minimal pair: one token decides whether there is a finding. */
#include "test_interp.h"

static void test_out_of_bounds(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\")):\n"
                "    for i in range(16):\n"
                "        with T.block(\"C\"):\n"
                "            vi = T.axis.spatial(16, i)\n"
                "            B[vi] = A[vi + %s]\n",
                "0", "1", INTERP_OUT_OF_BOUNDS, "error: block 'C' reads A[16], out of bounds (shape 16)\nnote: at i = 15\n");
    assert_pair("@T.prim_func\n"
                "def main(A: T.Buffer((4, 5), \"float32\")):\n"
                "    for i, j in T.grid(4, 5):\n"
                "        A[i, j - %s] = T.float32(0)\n",
                "0", "1", INTERP_OUT_OF_BOUNDS, "error: function 'main' writes A[0, -1], out of bounds (shape (4, 5))\nnote: at i = 0, j = 0\n");
}

static void test_unwritten(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((8,), \"float32\")):\n"
                "    S = T.alloc_buffer((8,))\n"
                "    for i in range(%s):\n"
                "        with T.block(\"S\"):\n"
                "            vi = T.axis.spatial(8, i)\n"
                "            S[vi] = T.float32(1)\n"
                "    for i in range(8):\n"
                "        with T.block(\"B\"):\n"
                "            vi = T.axis.spatial(8, i)\n"
                "            B[vi] = S[vi]\n",
                "8", "7", INTERP_UNWRITTEN, "error: block 'B' reads S[7], which was never written\nnote: at i = 7\n");
}

/* A parameter that is only written is no input. */
static void test_unwritten_parameter(void **state)
{
    (void)state;
    Ran ran = ran_prepare("@T.prim_func\n"
                          "def main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                          "    for i in range(8):\n"
                          "        B[i] = B[i] + A[i]\n",
                          1, NULL, 0);
    ran_run(&ran);
    assert_no_findings(&ran);
    ran.data->items[1].arg.unwritten = true;
    ran_run(&ran);
    assert_finding(&ran, INTERP_UNWRITTEN, "function 'main' reads B[0], which was never written");
    ran_free(&ran);
}

static void test_undefined_value(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((1,), \"float32\")):\n"
                "    S = T.alloc_buffer((1,))\n"
                "    with T.block(\"S\"):\n"
                "        S[0] = %s\n"
                "    with T.block(\"B\"):\n"
                "        B[0] = S[0]\n",
                "T.float32(0)", "T.undef(dtype=\"float32\")", INTERP_UNWRITTEN, "block 'B' reads S[0], which was never written");
}

static void test_undeclared_access(void **state)
{
    (void)state;
    static const char reads[] = "@T.prim_func\n"
                                "def main(A: T.Buffer((18,), \"float32\"), B: T.Buffer((16,), \"float32\")):\n"
                                "    for i in range(16):\n"
                                "        with T.block(\"W\"):\n"
                                "            vi = T.axis.spatial(16, i)\n"
                                "            T.reads(A[vi:vi + %s])\n"
                                "            T.writes(B[vi])\n"
                                "            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]\n";
    assert_pair(reads, "3", "2", INTERP_UNDECLARED, "error: block 'W' reads A[2], outside its declared reads\nnote: at i = 0\n");
    static const char writes[] = "@T.prim_func\n"
                                 "def main(B: T.Buffer((16,), \"float32\")):\n"
                                 "    for i in range(8):\n"
                                 "        with T.block(\"W\"):\n"
                                 "            vi = T.axis.spatial(8, i)\n"
                                 "            T.reads()\n"
                                 "            T.writes(B[vi * 2:vi * 2 + %s])\n"
                                 "            B[vi * 2] = T.float32(0)\n"
                                 "            B[vi * 2 + 1] = T.float32(1)\n";
    assert_pair(writes, "2", "1", INTERP_UNDECLARED, "error: block 'W' writes B[1], outside its declared writes\nnote: at i = 0\n");
}

/* The blocks around an access must declare it as well. */
static void test_undeclared_in_outer_block(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\")):\n"
                "    for i0 in range(4):\n"
                "        with T.block(\"outer\"):\n"
                "            vo = T.axis.spatial(4, i0)\n"
                "            T.reads(A[vo * 4:vo * 4 + %s])\n"
                "            T.writes(B[vo * 4:vo * 4 + 4])\n"
                "            for i1 in range(4):\n"
                "                with T.block(\"inner\"):\n"
                "                    vi = T.axis.spatial(4, i1)\n"
                "                    T.reads(A[vo * 4 + vi])\n"
                "                    T.writes(B[vo * 4 + vi])\n"
                "                    B[vo * 4 + vi] = A[vo * 4 + vi]\n",
                "4", "3", INTERP_UNDECLARED,
                "error: block 'inner' reads A[3], outside the declared reads of block 'outer', which is around it\nnote: at i0 = 0, i1 = 3\n");
}

/* A block with init reads what it accumulates into without declaring it; one without init must declare it. */
static void test_undeclared_accumulator(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(A: T.Buffer((4,), \"float32\"), C: T.Buffer((1,), \"float32\")):\n"
                "    for k in range(4):\n"
                "        with T.block(\"C\"):\n"
                "            vk = T.axis.reduce(4, k)\n"
                "            T.reads(%sA[vk])\n"
                "            T.writes(C[0])\n"
                "            C[0] = C[0] + A[vk]\n",
                "C[0], ", "", INTERP_UNDECLARED, "error: block 'C' reads C[0], outside its declared reads");
}

/* Nor do the blocks around it declare that. */
static void test_accumulator_of_inner_block(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((8,), \"float32\"), C: T.Buffer((1,), \"float32\")):\n"
                               "    for k0 in range(2):\n"
                               "        with T.block(\"outer\"):\n"
                               "            vko = T.axis.reduce(2, k0)\n"
                               "            T.reads(A[vko * 4:vko * 4 + 4])\n"
                               "            T.writes(C[0])\n"
                               "            for k1 in range(4):\n"
                               "                with T.block(\"inner\"):\n"
                               "                    vk = T.axis.reduce(8, vko * 4 + k1)\n"
                               "                    T.reads(%sA[vk])\n"
                               "                    T.writes(C[0])\n"
                               "                    with T.init():\n"
                               "                        C[0] = T.float32(0)\n"
                               "                    C[0] = C[0] + A[vk]%s\n";
    char program[2048];
    snprintf(program, sizeof program, text, "", "");
    Ran ran = run_text(program);
    assert_no_findings(&ran);
    const float *a = ran_data(&ran, "A");
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum = sum + a[k];
    assert_true(*(float *)ran_data(&ran, "C") == sum); /* one init: the reduction begins with k0 */
    ran_free(&ran);
    snprintf(program, sizeof program, text, "", " + A[0]");
    Ran bad = run_text(program);
    assert_finding(&bad, INTERP_UNDECLARED, "block 'inner' reads A[0], outside its declared reads");
    ran_free(&bad);
    snprintf(program, sizeof program, text, "A[0], ", " + A[0]");
    Ran outer = run_text(program);
    assert_finding(&outer, INTERP_UNDECLARED, "block 'inner' reads A[0], outside the declared reads of block 'outer', which is around it");
    ran_free(&outer);
}

static void test_binding(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((20,), \"float32\")):\n"
                "    for i in range(17):\n"
                "        with T.block(\"B\"):\n"
                "            vi = T.axis.spatial(%s, i)\n"
                "            B[vi] = T.float32(0)\n",
                "17", "16", INTERP_BINDING, "error: block 'B' binds vi to 16, outside its domain [0, 16)\nnote: at i = 16\n");
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((20,), \"float32\")):\n"
                "    for i0, i1 in T.grid(5, 4):\n"
                "        with T.block(\"B\"):\n"
                "            vi = T.axis.spatial(18, i0 * 4 + i1)\n"
                "            T.where(i0 * 4 + i1 < %s)\n"
                "            B[vi] = T.float32(0)\n",
                "18", "19", INTERP_BINDING, "error: block 'B' binds vi to 18, outside its domain [0, 18)\nnote: at i0 = 4, i1 = 2\n");
}

static void test_index_overflow(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((10,), \"int32\"), B: T.Buffer((10,), \"int32\")):\n"
                               "    for i in range(2):\n"
                               "        B[i] = A[(i * 2147483647 + %s) %% 10]\n";
    assert_pair(text, "0", "i", INTERP_OVERFLOW, "error: function 'main' overflows int32 in an index: 2147483647 + 1\nnote: at i = 1\n");
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((10,), \"int32\")):\n"
                "    for i in range(100000):\n"
                "        if i %% 50000 == 49999:\n"
                "            B[(i * %s) %% 10] = 1\n",
                "T.int64(50000)", "50000", INTERP_OVERFLOW, "error: function 'main' overflows int32 in an index: 49999 * 50000\nnote: at i = 49999\n");
}

/* The same arithmetic on data wraps. */
static void test_data_wraps(void **state)
{
    (void)state;
    Ran ran = run_text("@T.prim_func\n"
                       "def main(B: T.Buffer((2,), \"int32\")):\n"
                       "    for i in range(2):\n"
                       "        B[i] = 2147483647 + i\n");
    assert_no_findings(&ran);
    assert_int_equal(((int32_t *)ran_data(&ran, "B"))[1], INT32_MIN);
    ran_free(&ran);
}

static void test_division_by_zero(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((4,), \"int32\")):\n"
                "    for i in range(4):\n"
                "        B[i] = 7 // (i + %s)\n",
                "1", "0", INTERP_DIVISION, "error: function 'main' divides 7 by zero\nnote: at i = 0\n");
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((4,), \"int32\")):\n"
                "    for i in range(4):\n"
                "        B[i] = T.shift_left(1, i + %s)\n",
                "28", "29", INTERP_DIVISION, "error: function 'main' shifts int32 by 32\nnote: at i = 3\n");
}

/* The guard is only evaluated as far as needed. */
static void test_guarded_division(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((4,), \"int32\")):\n"
                "    for i in range(4):\n"
                "        B[i] = T.%s(i > 0, 7 // i, 0)\n",
                "if_then_else", "Select", INTERP_DIVISION, "divides 7 by zero\nnote: at i = 0\n");
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((4,), \"int32\")):\n"
                "    for i in range(4):\n"
                "        if i > 0 %s 7 // i > 2:\n"
                "            B[i] = 1\n",
                "and", "or", INTERP_DIVISION, "divides 7 by zero\nnote: at i = 0\n");
}

/* --- Instances run again --- */
static void test_rerun(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
                               "    for t, i in T.grid(2, 4):\n"
                               "        with T.block(\"B\"):\n"
                               "            vi = T.axis.spatial(4, i)\n"
                               "            B[vi] = %s[vi] + T.float32(1)\n";
    assert_pair(text, "A", "B", INTERP_RERUN, "error: block 'B' runs again for vi = 0 with another result: B[0] was ");
}

static void test_rerun_with_changed_input(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((4,), \"int32\"), B: T.Buffer((4,), \"int32\")):\n"
                               "    for t in range(2):\n"
                               "        for i in range(4):\n"
                               "            with T.block(\"B\"):\n"
                               "                vi = T.axis.spatial(4, i)\n"
                               "                B[vi] = A[vi] * 2\n"
                               "        for i in range(4):\n"
                               "            with T.block(\"A\"):\n"
                               "                vt, vi = T.axis.remap(\"SS\", [t, i])\n"
                               "                A[vi] = A[vi] + %s\n";
    assert_pair(text, "0", "1", INTERP_RERUN, "error: block 'B' runs again for vi = 0 with another result: B[0] was ");
}

/* A reduction that begins again has its init again, and so the same result. */
static void test_rerun_of_reduction(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((4, 4), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
                               "    for t, i, k in T.grid(2, 4, 4):\n"
                               "        with T.block(\"C\"):\n"
                               "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                               "            with T.init():\n"
                               "                C[vi] = T.float32(0)\n"
                               "            C[vi] = C[vi] + A[vi, vk]\n";
    Ran ran = run_text(text);
    assert_no_findings(&ran);
    ran_free(&ran);
    Ran decomposed = run_text("@T.prim_func\n"
                              "def main(A: T.Buffer((4, 4), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
                              "    for i in range(4):\n"
                              "        with T.block(\"C_init\"):\n"
                              "            vi = T.axis.spatial(4, i)\n"
                              "            C[vi] = T.float32(0)\n"
                              "    for t, i, k in T.grid(2, 4, 4):\n"
                              "        with T.block(\"C_update\"):\n"
                              "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                              "            C[vi] = C[vi] + A[vi, vk]\n");
    assert_finding(&decomposed, INTERP_RERUN, "block 'C_update' runs again for vi = 0, vk = 0 with another result");
    ran_free(&decomposed);
}

/* A loop variable in the body tells instances apart. */
static void test_instances_by_loop_variable(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
                               "    for i, j in T.grid(4, 2):\n"
                               "        with T.block(\"B\"):\n"
                               "            T.reads(A[0:4], B[0:4])\n"
                               "            T.writes(B[0:4])\n"
                               "            B[%s] = B[i] + A[i]\n";
    assert_pair(text, "(i + j) // 5 * 4 + (i + j) % 4", "i", INTERP_RERUN, "block 'B' runs again with another result");
}

/* --- Conflicts --- */
static void test_parallel_reduction(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((4, 4), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
                               "    for i in T.%s(4):\n"
                               "        for k in T.%s(4):\n"
                               "            with T.block(\"C\"):\n"
                               "                vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                               "                with T.init():\n"
                               "                    C[vi] = T.float32(0)\n"
                               "                C[vi] = C[vi] + A[vi, vk]\n";
    char program[2048];
    static const char *const kinds[] = {"parallel", "vectorized"};
    for (int i = 0; i < 2; i++) {
        snprintf(program, sizeof program, text, kinds[i], "serial");
        Ran good = run_text(program);
        assert_no_findings(&good);
        ran_free(&good);
        snprintf(program, sizeof program, text, "serial", kinds[i]);
        Ran bad = run_text(program);
        snprintf(
            program, sizeof program,
            "error: block 'C' is in conflict with another iteration of the %s loop over k: C[0] is written at k = 0 and read at k = 1\nnote: at i = 0, k = 1\n",
            kinds[i]);
        assert_non_null(strstr(ran_messages(&bad), program));
        assert_int_equal(bad.result.kinds, 1u << INTERP_CONFLICT);
        ran_free(&bad);
    }
}

static void test_parallel_write_write(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(B: T.Buffer((8,), \"float32\")):\n"
                               "    for i in T.parallel(8):\n"
                               "        B[i // %s] = T.float32(1)\n";
    assert_pair(text, "1", "2", INTERP_CONFLICT,
                "error: function 'main' is in conflict with another iteration of the parallel loop over i: B[0] is written at i = 0 and again at i = 1\nnote: "
                "at i = 1\n");
}

static void test_parallel_write_after_read(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((9,), \"float32\")):\n"
                               "    for i in T.%s(8):\n"
                               "        A[i] = A[i + 1]\n";
    assert_pair(text, "serial", "parallel", INTERP_CONFLICT, "A[1] is read at i = 0 and written at i = 1\n");
    assert_pair(text, "unroll", "vectorized", INTERP_CONFLICT, "A[1] is read at i = 0 and written at i = 1\n");
}

/* Different executions of an inner parallel loop are one after the other. */
static void test_sequential_executions(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((8,), \"float32\")):\n"
                               "    for t in T.%s(4):\n"
                               "        for i in T.parallel(8):\n"
                               "            A[i] = A[i] + T.float32(1)\n";
    assert_pair(text, "serial", "parallel", INTERP_CONFLICT,
                "is in conflict with another iteration of the parallel loop over t: A[0] is written at t = 0 and read at t = 1\n");
}

/* Scratch memory that each iteration writes before it reads it is private, unless it is read after the loop. */
static void test_private_scratch(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((8, 4), \"float32\"), B: T.Buffer((8, 4), \"float32\"), C: T.Buffer((1,), \"float32\")):\n"
                               "    S = T.alloc_buffer((4,))\n"
                               "    for i in T.parallel(8):\n"
                               "        for j in range(4):\n"
                               "            with T.block(\"S\"):\n"
                               "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                               "                S[vj] = A[vi, vj]\n"
                               "        for j in range(4):\n"
                               "            with T.block(\"B\"):\n"
                               "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                               "                B[vi, vj] = S[vj]\n"
                               "    with T.block(\"C\"):\n"
                               "        C[0] = %s\n";
    assert_pair(text, "A[0, 0]", "S[0]", INTERP_CONFLICT,
                "error: block 'C' is in conflict with another iteration of the parallel loop over i: S[0] is written at i = 0 and again at i = 1, and read "
                "after the loop\n");
}

static void test_scratch_read_from_outside(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                               "    S = T.alloc_buffer((2,))\n"
                               "    with T.block(\"first\"):\n"
                               "        S[1] = A[0]\n"
                               "    for i in T.parallel(8):\n"
                               "        with T.block(\"S\"):\n"
                               "            vi = T.axis.spatial(8, i)\n"
                               "            S[0] = A[vi]\n"
                               "        with T.block(\"B\"):\n"
                               "            vi = T.axis.spatial(8, i)\n"
                               "            B[vi] = S[%s]\n";
    assert_pair(text, "0", "1", INTERP_CONFLICT, "S[0] is written at i = 0 and again at i = 1\n");
}

/* --- Others --- */
static void test_assertion(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((4,), \"int32\")):\n"
                "    assert %s > 0, \"positive\"\n"
                "    B[0] = 1\n",
                "T.min(B[0] * 0, 0) + 1", "T.min(B[0] * 0, 0) + 0", INTERP_ASSERTION, "error: function 'main' fails the assertion \"positive\"");
}

static void test_unknown_function(void **state)
{
    (void)state;
    assert_pair("@T.prim_func\n"
                "def main(B: T.Buffer((4,), \"int32\")):\n"
                "    if B[0] %s 100:\n"
                "        T.evaluate(T.call_extern(\"int32\", \"foo\", 1))\n",
                ">", "<", INTERP_UNSUPPORTED, "error: function 'main' calls the function 'foo', which is not known here (--load=FILE brings its definition)");
}

static void test_step_limit(void **state)
{
    (void)state;
    Ran ran = ran_prepare("@T.prim_func\n"
                          "def main(B: T.Buffer((1,), \"int32\")):\n"
                          "    while B[0] < 1000:\n"
                          "        B[0] = B[0] * 1\n",
                          1, NULL, 0);
    ran.options.step_limit = 1000;
    ran_run(&ran);
    assert_finding(&ran, INTERP_STEP_LIMIT, "runs longer than 1000 steps");
    assert_false(ran.result.completed);
    ran_free(&ran);
}

/* Findings at different places all count, up to the limit; at one place the first only. */
static void test_finding_limit(void **state)
{
    (void)state;
    Ran ran = ran_prepare("@T.prim_func\n"
                          "def main(B: T.Buffer((4,), \"int32\")):\n"
                          "    for i in range(3):\n"
                          "        B[i + 4] = 1\n"
                          "        B[i + 5] = 1\n"
                          "        B[i + 6] = 1\n",
                          1, NULL, 0);
    ran_run(&ran);
    assert_int_equal(ran.result.finding_count, 3);
    assert_true(ran.result.completed);
    ran.options.finding_limit = 2;
    ran_run(&ran);
    assert_int_equal(ran.result.finding_count, 2);
    assert_false(ran.result.completed);
    ran_free(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_unwritten),
        cmocka_unit_test(test_unwritten_parameter),
        cmocka_unit_test(test_undefined_value),
        cmocka_unit_test(test_undeclared_access),
        cmocka_unit_test(test_undeclared_in_outer_block),
        cmocka_unit_test(test_undeclared_accumulator),
        cmocka_unit_test(test_accumulator_of_inner_block),
        cmocka_unit_test(test_binding),
        cmocka_unit_test(test_index_overflow),
        cmocka_unit_test(test_data_wraps),
        cmocka_unit_test(test_division_by_zero),
        cmocka_unit_test(test_guarded_division),
        cmocka_unit_test(test_rerun),
        cmocka_unit_test(test_rerun_with_changed_input),
        cmocka_unit_test(test_rerun_of_reduction),
        cmocka_unit_test(test_instances_by_loop_variable),
        cmocka_unit_test(test_parallel_reduction),
        cmocka_unit_test(test_parallel_write_write),
        cmocka_unit_test(test_parallel_write_after_read),
        cmocka_unit_test(test_sequential_executions),
        cmocka_unit_test(test_private_scratch),
        cmocka_unit_test(test_scratch_read_from_outside),
        cmocka_unit_test(test_assertion),
        cmocka_unit_test(test_unknown_function),
        cmocka_unit_test(test_step_limit),
        cmocka_unit_test(test_finding_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
