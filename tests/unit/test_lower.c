/* Lowering: what it refuses and at which place, what it warns of, and properties of single passes that running programs does not show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "print/print.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "passes/lower/lower.h"

typedef struct {
    Context *ctx;
    const char *pass; /* whose result is kept */
    const char *printed;
    const Func *result; /* NULL: refused */
} Lowered;

static void keep_pass(void *data, const char *pass, const Func *func, double seconds)
{
    Lowered *lowered = data;
    assert_true(seconds >= 0);
    if (lowered->pass && !strcmp(pass, lowered->pass))
        lowered->printed = print_func(lowered->ctx, func);
}

/* Lowers TEXT and keeps what PASS gives, printed. The caller frees ctx. */
static Lowered lower_text(const char *text, const char *pass, LowerOptions options)
{
    Lowered lowered = {.ctx = context_new(), .pass = pass};
    const Module *module = complete_module(lowered.ctx, parse_module_text(lowered.ctx, "test.tir", text, strlen(text)));
    if (!module)
        diag_flush(lowered.ctx, stderr, false);
    assert_non_null(module);
    options.after_pass = keep_pass;
    options.data = &lowered;
    lowered.result = lower_func(lowered.ctx, module, module->funcs[0], &options);
    return lowered;
}

static bool has_diagnostic(const Context *ctx, Severity severity, int line, const char *part)
{
    for (int i = 0; i < ctx->diagnostics.count; i++) {
        Place place = {0};
        const Diagnostic *diagnostic = &ctx->diagnostics.data[i];
        source_place(ctx->sources, diagnostic->span, &place);
        if (diagnostic->severity == severity && place.line == line && strstr(diagnostic->text, part))
            return true;
    }
    return false;
}

/* TEXT is refused with an error at LINE that holds PART. */
static void expect_refusal(const char *text, int line, const char *part)
{
    Lowered lowered = lower_text(text, NULL, (LowerOptions){0});
    assert_null(lowered.result);
    if (!has_diagnostic(lowered.ctx, DIAG_ERROR, line, part)) {
        diag_flush(lowered.ctx, stderr, false);
        fail_msg("no error at line %d with: %s", line, part);
    }
    context_free(lowered.ctx);
}

/* What PASS gives for TEXT holds PART (or, with ABSENT, does not). */
static void expect_text(const char *text, const char *pass, const char *part, bool absent)
{
    Lowered lowered = lower_text(text, pass, (LowerOptions){0});
    if (!lowered.result)
        diag_flush(lowered.ctx, stderr, false);
    assert_non_null(lowered.printed);
    if ((strstr(lowered.printed, part) == NULL) != absent)
        fail_msg("after %s, '%s' is %s:\n%s", pass, part, absent ? "there" : "missing", lowered.printed);
    context_free(lowered.ctx);
}

/* --- Refusals --- */
static void refuses_threads(void **state)
{
    (void)state;
    expect_refusal("@T.prim_func\n"
                   "def main(A: T.Buffer((64,), \"float32\")):\n"
                   "    for i in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
                   "        A[i] = T.float32(0)\n",
                   3, "loop 'i' is bound to threadIdx.x");
    expect_refusal("@T.prim_func\n"
                   "def main(A: T.Buffer((64,), \"float32\")):\n"
                   "    bx = T.launch_thread(\"blockIdx.x\", 64)\n"
                   "    A[bx] = T.float32(0)\n",
                   3, "blockIdx.x");
}

static void refuses_calls_in_vectors(void **state)
{
    (void)state;
    expect_refusal("@T.prim_func\n"
                   "def main(A: T.Buffer((64,), \"float32\")):\n"
                   "    for i in T.vectorized(8):\n"
                   "        T.evaluate(T.call_extern(\"int32\", \"touch\", A.data, i))\n",
                   4, "'touch' cannot be vectorized");
}

static void refuses_wide_vectors(void **state)
{
    (void)state;
    expect_refusal("@T.prim_func\n"
                   "def main(A: T.Buffer((2000,), \"float32\")):\n"
                   "    for i in T.vectorized(2000):\n"
                   "        A[i] = T.float32(0)\n",
                   3, "more than 1024");
    expect_refusal("@T.prim_func\n"
                   "def main(a: T.handle):\n"
                   "    n = T.int32()\n"
                   "    A = T.match_buffer(a, (n,), \"float32\")\n"
                   "    for i in T.vectorized(n):\n"
                   "        A[i] = T.float32(0)\n",
                   5, "not constant");
}

static void refuses_long_unrolling(void **state)
{
    (void)state;
    expect_refusal("@T.prim_func\n"
                   "def main(A: T.Buffer((512, 512), \"float32\")):\n"
                   "    for i in T.unroll(512):\n"
                   "        for j in T.unroll(512):\n"
                   "            A[i, j] = T.float32(0)\n",
                   3, "more than 65536 statements");
    expect_refusal("@T.prim_func\n"
                   "def main(a: T.handle):\n"
                   "    n = T.int32()\n"
                   "    A = T.match_buffer(a, (n,), \"float32\")\n"
                   "    for i in T.unroll(n):\n"
                   "        A[i] = T.float32(0)\n",
                   5, "not constant");
}

#define TILE_HEAD                                                                                                                            \
    "@T.prim_func\n"                                                                                                                         \
    "def main(A: T.Buffer((64, 40), \"float32\"), C: T.Buffer((64, 40), \"float32\")):\n"                                                    \
    "    for i in range(4):\n"                                                                                                               \
    "        with T.block(\"tile\"):\n"                                                                                                      \
    "            vi = T.axis.spatial(4, i)\n"                                                                                                \
    "            T.reads(A[vi * 16:vi * 16 + 16, 0:16])\n"                                                                                   \
    "            T.writes(C[vi * 16:vi * 16 + 16, 0:16])\n"
#define TILE_TAIL                                                                                                                            \
    "            for a, b in T.grid(16, 16):\n"                                                                                              \
    "                C[vi * 16 + a, b] = V[a, b]\n"

/* Each pair differs in what the view demands: the first fits, the second is refused at line 8. */
static void checks_views(void **state)
{
    (void)state;
    expect_text(TILE_HEAD
                "            V = T.match_buffer(A[vi * 16:vi * 16 + 16, 0:16], (16, 16), strides=(\"s\", 1), offset_factor=16)\n" TILE_TAIL,
                "match", "C[i * 16 + a, b] = A[i * 16 + a, b]", false);
    expect_refusal(
        TILE_HEAD
        "            V = T.match_buffer(A[vi * 16:vi * 16 + 16, 0:16], (16, 16), strides=(\"s\", 1), offset_factor=256)\n" TILE_TAIL,
        8, "offset_factor 256");
    expect_text(TILE_HEAD
                "            V = T.match_buffer(A[vi * 16:vi * 16 + 16, 0:16], (16, 16), strides=(40, 1), offset_factor=1)\n" TILE_TAIL,
                "match", "A[", false);
    expect_refusal(TILE_HEAD
                   "            V = T.match_buffer(A[vi * 16:vi * 16 + 16, 0:16], (16, 16), strides=(16, 1), offset_factor=1)\n" TILE_TAIL,
                   8, "stride 16 in dimension 0");
    expect_refusal(TILE_HEAD "            V = T.match_buffer(A[vi * 16:vi * 16 + 16, 0:16], (16, 16), strides=(\"s\", 1), align=128, "
                             "offset_factor=1)\n" TILE_TAIL,
                   8, "aligned to 128");
}

static void checks_pointers_of_dense_views(void **state)
{
    (void)state;
    static const char call[] = "            T.evaluate(T.call_extern(\"int32\", \"fill\", V.data))\n";
    char text[2048];
    snprintf(text, sizeof text, "%s            V = T.match_buffer(C[vi * 16:vi * 16 + 16, 0:40], (16, 40))\n%s", TILE_HEAD, call);
    expect_text(text, "match", "T.address_of(C[i * 16, 0])", false);
    snprintf(text, sizeof text, "%s            V = T.match_buffer(C[vi * 16:vi * 16 + 16, 0:16], (16, 16))\n%s", TILE_HEAD, call);
    expect_refusal(text, 8, "stride 16 in dimension 0");
}

/* The loops drive both axes together, and the init scales what is there: it may not run twice, and only where the loops count vk's values
   in their order does vk tell the first update. Else a flag does. */
static void finds_place_of_init_in_mixed_loops(void **state)
{
    (void)state;
    static const char format[] = "@T.prim_func\n"
                                 "def main(A: T.Buffer((3, 8), \"int32\"), C: T.Buffer((3,), \"int32\")):\n"
                                 "    for f, g in T.grid(6, 4):\n"
                                 "        with T.block(\"C\"):\n"
                                 "            vi = T.axis.spatial(3, (%s) // 8)\n"
                                 "            vk = T.axis.reduce(8, %s)\n"
                                 "            with T.init():\n"
                                 "                C[vi] = %s\n"
                                 "            C[vi] = C[vi] + A[vi, vk]\n";
    char text[1024];
    snprintf(text, sizeof text, format, "g * 6 + f", "(g * 6 + f) % 8", "5");
    expect_text(text, "init", "with T.block(\"C_init\"):", false);
    snprintf(text, sizeof text, format, "f * 4 + g", "(f * 4 + g) % 8", "C[vi] * 2");
    expect_text(text, "init", "if vk == 0:\n                C[vi] = C[vi] * 2", false);
    snprintf(text, sizeof text, format, "f * 4 + g", "7 - (f * 4 + g) % 8", "C[vi] * 2");
    expect_text(text, "init", "if vk == 7:\n                C[vi] = C[vi] * 2", false);
    snprintf(text, sizeof text, format, "g * 6 + f", "(g * 6 + f) % 8", "C[vi] * 2");
    expect_text(text, "init", "if not C_begun[vi]:\n                C_begun[vi] = T.bool(True)\n                C[vi] = C[vi] * 2", false);
}

/* How often the block runs is known when it runs: no loops before the reduction can count its points. */
static void refuses_init_without_place(void **state)
{
    (void)state;
    static const char format[] = "@T.prim_func\n"
                                 "def main(A: T.Buffer((3, 8), \"int32\"), C: T.Buffer((3,), \"int32\")):\n"
                                 "    for k, i in T.grid(8, 3):\n"
                                 "        %s:\n"
                                 "            with T.block(\"C\"):\n"
                                 "                vi = T.axis.spatial(3, i)\n"
                                 "                vk = T.axis.reduce(8, k)\n"
                                 "                with T.init():\n"
                                 "                    C[vi] = C[vi] * 2\n"
                                 "                C[vi] = C[vi] + A[vi, vk]\n";
    char text[1024];
    snprintf(text, sizeof text, format, "while C[i] < 5");
    expect_refusal(text, 5, "the init of block 'C'");
    snprintf(text, sizeof text, format, "if i < 5");
    expect_text(text, "init", "with T.block(\"C_init\"):", false);
}

static void refuses_text_of_an_earlier_pass(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(A: T.Buffer((4,), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
                               "    for i in range(4):\n"
                               "        with T.block(\"C\"):\n"
                               "            vi = T.axis.spatial(4, i)\n"
                               "            C[vi] = A[vi]\n";
    Lowered lowered = lower_text(text, NULL, (LowerOptions){.start_after = "match"});
    assert_null(lowered.result);
    assert_true(has_diagnostic(lowered.ctx, DIAG_ERROR, 2, "the axes of block 'C' are left"));
    context_free(lowered.ctx);
    lowered = lower_text(text, NULL, (LowerOptions){.start_after = "widen"});
    assert_null(lowered.result);
    assert_true(has_diagnostic(lowered.ctx, DIAG_ERROR, 2, "not what the pass 'widen' gives"));
    context_free(lowered.ctx);
}

/* --- Warnings --- */
static void warns_of_serial_vectors(void **state)
{
    (void)state;
    Lowered lowered = lower_text("@T.prim_func\n"
                                 "def main(A: T.Buffer((9,), \"int32\")):\n"
                                 "    for v in T.vectorized(8):\n"
                                 "        A[v + 1] = A[v] + 1\n",
                                 NULL, (LowerOptions){0});
    assert_non_null(lowered.result);
    assert_true(has_diagnostic(lowered.ctx, DIAG_WARNING, 3, "runs serially"));
    context_free(lowered.ctx);
}

/* Lane independence: each pair differs in one token. */
static void tells_independent_lanes(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool serial;
    } cases[] = {
        {"A[v] = A[v] + 1", false},
        {"A[v] = A[v + 1] + 1", true},
        {"A[v] = A[v + 8] + 1", false},
        {"A[v] = A[v + 7] + 1", true},
        {"A[v * 2] = A[v * 2 + 1]", false},
        {"A[v * 2] = A[v * 2 + 2]", true},
        {"A[v // 2] = 1", false},        /* lone stores run in order */
        {"A[v // 2] = A[v // 2] + 1", true},
        {"A[0] = 3", false},
        {"A[0] = v", true},
        {"A[9 - v] = A[9 - v] * 2", false},
        {"A[9 - v] = A[v] * 2", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "@T.prim_func\ndef main(A: T.Buffer((64,), \"int32\")):\n    for v in T.vectorized(8):\n        %s\n",
                 cases[i].body);
        expect_text(text, "lanes", "T.vectorized", cases[i].serial);
    }
}

static void tells_independent_lanes_of_nests(void **state)
{
    (void)state;
    static const struct {
        const char *index;
        bool serial;
    } cases[] = {
        {"j * 8 + v", false}, {"j * 7 + v", true},       {"v * 4 + j", false},     {"v * 3 + j", true},
        {"v", false},         {"j * 16 + v * 2", false}, {"j * 14 + v * 2", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "@T.prim_func\ndef main(A: T.Buffer((256,), \"int32\")):\n    for v in T.vectorized(8):\n        for j in range(4):\n            A[%s] = A[%s] + j\n",
                 cases[i].index, cases[i].index);
        expect_text(text, "lanes", "T.vectorized", cases[i].serial);
    }
}

/* --- Widening --- */
static void widens_where_constants_need_it(void **state)
{
    (void)state;
    static const char format[] = "@T.prim_func\n"
                                 "def main(A: T.Buffer((%d, 65536), \"int8\")):\n"
                                 "    for i, j in T.grid(%d, 65536):\n"
                                 "        A[i, j] = T.int8(0)\n";
    char text[512];
    snprintf(text, sizeof text, format, 32767, 32767);
    expect_text(text, "entry", "int64", true);
    snprintf(text, sizeof text, format, 32769, 32769);
    expect_text(text, "entry", "T.Cast(\"int64\", i) * T.int64(65536) + T.Cast(\"int64\", j)", false);
}

static void widens_split_loops_of_symbolic_extent(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(a: T.handle):\n"
                               "    n = T.int32()\n"
                               "    A = T.match_buffer(a, (n,), \"float32\")\n"
                               "    for i_0 in range((n + 15) // 16):\n"
                               "        for i_1 in range(16):\n"
                               "            if i_0 * 16 + i_1 < n:\n"
                               "                A[i_0 * 16 + i_1] = T.float32(0)\n";
    expect_text(text, "entry", "(T.Cast(\"int64\", n) + T.int64(15)) // T.int64(16)", false);
    expect_text(text, "entry", "T.Ramp(i_0 * T.int64(16), T.int64(1), 16) < T.Broadcast(T.Cast(\"int64\", n), 16)", false);
    expect_text(text, "entry", "assert n >= 0", false);
}

static void keeps_values_in_their_type(void **state)
{
    (void)state;
    expect_text("@T.prim_func\n"
                "def main(a: T.handle):\n"
                "    n = T.int32()\n"
                "    A = T.match_buffer(a, (n,), \"int32\")\n"
                "    for f in range(n * 2):\n"
                "        A[f // 2] = f * n\n",
                "entry", "T.Cast(\"int32\", f) * n", false);
}

/* --- Placement and compaction --- */
static void checks_bounds_on_request(void **state)
{
    (void)state;
    static const char text[] = "@T.prim_func\n"
                               "def main(J: T.Buffer((4,), \"int32\"), A: T.Buffer((9, 4), \"float32\"), C: T.Buffer((4,), \"float32\")):\n"
                               "    for i in range(4):\n"
                               "        C[i] = T.if_then_else(J[i] > 0, A[J[i], i], T.float32(0))\n";
    Lowered lowered = lower_text(text, "bounds", (LowerOptions){.bounds_check = true});
    assert_non_null(lowered.result);
    assert_non_null(strstr(lowered.printed, "index 0 of buffer 'A' is out of bounds"));
    assert_null(strstr(lowered.printed, "buffer 'C' is out"));
    assert_null(strstr(lowered.printed, "index 1 of buffer"));
    assert_non_null(strstr(lowered.printed, "not J[i] > 0 or"));
    context_free(lowered.ctx);
    expect_text(text, "entry", "assert", true);
}

static void keeps_layout_for_pointers(void **state)
{
    (void)state;
    expect_text("@T.prim_func\n"
                "def main(A: T.Buffer((64, 64), \"float32\")):\n"
                "    B = T.alloc_buffer((64, 64), \"float32\")\n"
                "    for i in range(4):\n"
                "        with T.block(\"B\"):\n"
                "            vi = T.axis.spatial(4, i)\n"
                "            T.reads()\n"
                "            T.writes(B[vi * 16:vi * 16 + 16, 0:16])\n"
                "            T.evaluate(T.call_extern(\"int32\", \"fill\", B.access_ptr(\"w\", offset=vi * 1024), 64))\n"
                "        for a, b in T.grid(16, 16):\n"
                "            with T.block(\"A\"):\n"
                "                va = T.axis.spatial(64, i * 16 + a)\n"
                "                vb = T.axis.spatial(64, b)\n"
                "                A[va, vb] = B[va, vb]\n",
                "compact", "T.decl_buffer((64, 64))", false);
}

static void shares_one_element_only_by_copies(void **state)
{
    (void)state;
    /* every iteration of the parallel loop writes S[0]: each needs its own, though the condition hides that reads are covered */
    expect_text("@T.prim_func\n"
                "def main(A: T.Buffer((3, 8), \"int32\"), C: T.Buffer((3, 8), \"int32\")):\n"
                "    S = T.alloc_buffer((2,), \"int32\")\n"
                "    for t in range(3):\n"
                "        for i in T.parallel(8):\n"
                "            with T.block(\"C\"):\n"
                "                vt, vi = T.axis.remap(\"SS\", [t, i])\n"
                "                T.reads(A[vt, vi], S[0:2])\n"
                "                T.writes(C[vt, vi], S[0:2])\n"
                "                S[0] = A[vt, vi]\n"
                "                S[S[0] * 0 + 1] = 2\n"
                "                C[vt, vi] = S[0] * S[S[1] - 1]\n",
                "place", "for i in T.parallel(8):\n            S_data", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_threads),
        cmocka_unit_test(refuses_calls_in_vectors),
        cmocka_unit_test(refuses_wide_vectors),
        cmocka_unit_test(refuses_long_unrolling),
        cmocka_unit_test(checks_views),
        cmocka_unit_test(checks_pointers_of_dense_views),
        cmocka_unit_test(finds_place_of_init_in_mixed_loops),
        cmocka_unit_test(refuses_init_without_place),
        cmocka_unit_test(refuses_text_of_an_earlier_pass),
        cmocka_unit_test(warns_of_serial_vectors),
        cmocka_unit_test(tells_independent_lanes),
        cmocka_unit_test(tells_independent_lanes_of_nests),
        cmocka_unit_test(widens_where_constants_need_it),
        cmocka_unit_test(widens_split_loops_of_symbolic_extent),
        cmocka_unit_test(keeps_values_in_their_type),
        cmocka_unit_test(checks_bounds_on_request),
        cmocka_unit_test(keeps_layout_for_pointers),
        cmocka_unit_test(shares_one_element_only_by_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
