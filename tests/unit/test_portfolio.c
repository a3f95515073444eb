/* Each row of the portfolio by itself: a small program and step that the row decides alone, all other rows of its goal and isl turned off; and a
   twin, which differs in one place and which the step must not accept, whatever rows there are. A row that decides nothing itself (FORM) has a
   step that the others decide with its help alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "driver/tirc.h"

typedef struct {
    const char *name, *goal;
} Row;

static const Row rows[] = {
#define X(symbol, name, goal, cost, function, argument) {name, #goal},
#define FORM(symbol, name, cost, argument) {name, "FORM"},
#include "passes/analysis/prove/portfolio.def"
#undef FORM
#undef X
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* PROGRAM has a place "$", which PLAIN fills, or TWIN in the program that is to be refused. */
typedef struct {
    const char *row, *script, *program, *plain, *twin;
    const char *with; /* rows that stay on, for other pairs of accesses of the step; may be NULL */
} Trial;

#define MAIN "@T.prim_func\ndef main(a: T.handle, b: T.handle, n: T.int64, m: T.int64):\n"
#define ROWS_OF(shape_a, shape_b) MAIN "    A = T.match_buffer(a, " shape_a ")\n    B = T.match_buffer(b, " shape_b ")\n"
/* The same where shapes define the sizes, which are not negative then. */
#define SIZES_OF(shape_a, shape_b) \
    "@T.prim_func\ndef main(a: T.handle, b: T.handle):\n    n, m = T.int32(), T.int32()\n    A = T.match_buffer(a, " shape_a ")\n    B = T.match_buffer(b, " \
    shape_b ")\n"

static const Trial trials[] = {
    {"linear", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(16, 8)", "(72,)") "    for i, j in T.grid(16, 4):\n        with T.block('B'):\n            vi, vj = T.axis.remap('SS', [i, j])\n"
                                 "            B[vi * $ + vj] = A[vi, vj]\n", "4", "3", NULL},
    {"one_to_one", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(n, m)", "(n, m)") "    for f in range(n * m):\n        with T.block('B'):\n            v = T.axis.opaque(n * m, f)\n"
                                 "            B[v // m, $] = B[v // m, $] + A[v // m, v % m]\n", "v % m", "0", NULL},
    {"same_indices", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(n,)", "(n,)") "    S = T.alloc_buffer((n,))\n    for i in range(n):\n        for j in range(n):\n            with T.block('S'):\n"
                             "                vi, vj = T.axis.remap('SS', [i, j])\n                S[$] = A[vj]\n        for j in range(n):\n"
                             "            with T.block('B'):\n                vi, vj = T.axis.remap('SS', [i, j])\n"
                             "                T.where(j == i)\n                B[vi] = S[vj]\n", "vj", "0", NULL},
    {"interval", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(n,)", "(n,)") "    S = T.alloc_buffer((n,))\n    for i in range(n):\n        for j in range($):\n            with T.block('S'):\n"
                             "                vi, vj = T.axis.remap('SS', [i, j])\n                S[vj] = A[vj]\n"
                             "        with T.block('B'):\n            vi = T.axis.spatial(n, i)\n            B[vi] = S[T.max(vi - 1, 0)]\n", "n", "n - 1", NULL},
    {"loops_are_domains", "sch.compute_at('S', sch.get_loops('B')[0])",
     ROWS_OF("(n,)", "(n,)") "    S = T.alloc_buffer((n,))\n    for j in range($):\n        with T.block('S'):\n            vj = T.axis.spatial(n, j)\n"
                             "            S[vj] = A[vj]\n    for i in range(n):\n        with T.block('B'):\n            vi = T.axis.spatial(n, i)\n"
                             "            B[vi] = S[vi]\n", "n", "n - 1", NULL},
    {"commute", "i, k = sch.get_loops('B')\nouter, inner = sch.split(k, [2, 4])\nsch.reorder(inner, outer)",
     ROWS_OF("(8, 8)", "(8,)") "    for i, k in T.grid(8, 8):\n        with T.block('B'):\n            vi, vk = T.axis.remap('SR', [i, k])\n"
                               "            B[vi] = B[vi] $ A[vi, vk]\n", "+", "* T.float32(2) +", NULL},
    {"own_element", "i, j = sch.get_loops('B')\nsch.reorder(j, i)",
     ROWS_OF("(8, 8)", "(8, 8)") "    for i, j in T.grid(8, 8):\n        with T.block('B'):\n            vi, vj = T.axis.remap('SS', [i, j])\n"
                                 "            B[vi, vj] = B[$] + A[vi, vj]\n", "vi, vj", "7 - vi, 7 - vj", NULL},
    {"isl", "i, j = sch.get_loops('B')\nsch.reorder(j, i)",
     ROWS_OF("(8, 8)", "(9, 10)") "    for i, j in T.grid(8, 8):\n        with T.block('B'):\n            vi, vj = T.axis.remap('SS', [i, j])\n"
                                 "            B[vi + 1, vj + 1] = B[vi, vj + $] + A[vi, vj]\n", "0", "2", NULL},
    {"products", "sch.parallel(sch.get_loops('B')[0])",
     SIZES_OF("(n, m)", "(n, m)") "    for f in range(n * ((m + 15) // 16)):\n        with T.block('B'):\n"
                                  "            v = T.axis.opaque(n * ((m + 15) // 16), f)\n"
                                  "            for j in range(T.min($, m - v % ((m + 15) // 16) * 16)):\n"
                                  "                B[v // ((m + 15) // 16), v % ((m + 15) // 16) * 16 + j] = T.float32(1)\n", "16", "17", "isl"},
    {"determined", "i, j, k = sch.get_loops('B')\nsch.reorder(j, i)",
     ROWS_OF("(n * m, 3)", "(n * m,)") "    for i, j, k in T.grid(n, m, 3):\n        with T.block('B'):\n"
                                       "            vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n            with T.init():\n"
                                       "                B[vi * $ + vj] = T.float32(1)\n"
                                       "            B[vi * $ + vj] = B[vi * $ + vj] + A[vi * m + vj, vk]\n", "m", "2", NULL},
    {"branches", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(16, 8)", "(16, 8)") "    S = T.alloc_buffer((8,))\n    for i in range(16):\n        for j in range(8):\n"
                                   "            if A[i, j] < T.float32(0):\n                with T.block('S'):\n"
                                   "                    vi, vj = T.axis.remap('SS', [i, j])\n                    S[vj] = A[vi, vj]\n"
                                   "            else:\n                with T.block('T'):\n"
                                   "                    vi, vj = T.axis.remap('SS', [i, j])\n                    S[$] = T.float32(1)\n"
                                   "        for j in range(8):\n            with T.block('B'):\n"
                                   "                vi, vj = T.axis.remap('SS', [i, j])\n                B[vi, vj] = S[vj]\n", "vj", "0", NULL},
    {"union", "sch.compute_at('S', sch.get_loops('B')[0])",
     ROWS_OF("(16, 8)", "(16, 8)") "    S = T.alloc_buffer((16, 8))\n    for i, j in T.grid(16, 4):\n        with T.block('S'):\n"
                                   "            vi, vj = T.axis.remap('SS', [i, j])\n            S[vi, vj * 2] = A[vi, vj * 2]\n"
                                   "            S[vi, vj * 2 + $] = A[vi, vj] * T.float32(2)\n    for i, j in T.grid(16, 8):\n"
                                   "        with T.block('B'):\n            vi, vj = T.axis.remap('SS', [i, j])\n            B[vi, vj] = S[vi, vj]\n",
     "1", "0", "isl"},
    {"bindings_fill", "sch.reverse_compute_at('B', sch.fuse(*sch.get_loops('S')))",
     ROWS_OF("(n, m)", "(n, m)") "    S = T.alloc_buffer((n, m))\n    for i, j in T.grid(n, m):\n        with T.block('S'):\n"
                                 "            vi, vj = T.axis.remap('SS', [i, j])\n            S[vi, vj] = A[vi, vj]\n"
                                 "    for i, j in T.grid(n, m):\n        with T.block('B'):\n            vi, vj = T.axis.remap('SS', [i, j])\n"
                                 "            B[vi, vj] = S[vi, $]\n", "vj", "m - 1 - vj", "loops_are_domains isl"},
    {"same_bindings", "i, r = sch.get_loops('B')\nrf = sch.rfactor(sch.split(r, [2, None])[0], 0)\nsch.compute_at(rf, sch.get_loops('B')[0])",
     ROWS_OF("(n, m)", "(n,)") "    for i, r in T.grid(n, m):\n        with T.block('B'):\n            vi, vr = T.axis.remap('SR', [i, r])\n"
                               "            with T.init():\n                B[vi] = T.float32(0)\n            B[vi] = B[vi] $ A[vi, vr]\n",
     "+", "* T.float32(2) +", "isl products"},
    {"scratch", "sch.compute_at('T', sch.get_loops('B')[1])",
     ROWS_OF("(16, 8)", "(16, 8)") "    S = T.alloc_buffer((8,))\n    U = T.alloc_buffer((8,))\n    V = T.alloc_buffer((8,))\n    for i in range(16):\n"
                                   "        for j in range(8):\n            with T.block('S'):\n"
                                   "                vi, vj = T.axis.remap('SS', [i, j])\n                S[vj] = A[vi, vj]\n"
                                   "        for j in range(8):\n            with T.block('T'):\n"
                                   "                vi, vj = T.axis.remap('SS', [i, j])\n                U[vj] = S[vj]\n"
                                   "        for j in range(8):\n            with T.block('V'):\n"
                                   "                vi, vj = T.axis.remap('SS', [i, j])\n                $[vj] = A[vi, 7 - vj]\n"
                                   "        for j in range(8):\n            with T.block('B'):\n"
                                   "                vi, vj = T.axis.remap('SS', [i, j])\n                B[vi, vj] = U[vj]\n", "V", "S", NULL},
    {"position", "i, j = sch.get_loops('S')\nsch.reorder(j, i)",
     ROWS_OF("(8, 8)", "(8, 8)") "    S = T.alloc_buffer((8, 8))\n    for i, j in T.grid(8, 8):\n        with T.block('S'):\n"
                                 "            vi, vj = T.axis.remap('SS', [i, j])\n            S[vi, vj] = A[vi, vj]\n"
                                 "        with T.block('B'):\n            vi, vj = T.axis.remap('SS', [i, j])\n"
                                 "            B[vi, vj] = S[$]\n", "vi, vj", "7 - vi, 7 - vj", NULL},
    {"digits", "i, j, k = sch.get_loops('S')\ni0, i1 = sch.split(i, [None, 16])\nsch.reorder(i0, j, i1)\nsch.reverse_compute_at('B', j)\nsch.parallel(i0)",
     ROWS_OF("(n, 3)", "(n * m,)") "    S = T.alloc_buffer((n * m,))\n    for i, j, k in T.grid(n, m, 3):\n        with T.block('S'):\n"
                                   "            vi, vj, vk = T.axis.remap('SSR', [i, j, k])\n            with T.init():\n"
                                   "                S[vi * m + $] = T.float32(0)\n            S[vi * m + $] = S[vi * m + $] + A[vi, vk]\n"
                                   "    for i, j in T.grid(n, m):\n        with T.block('B'):\n            vi, vj = T.axis.remap('SS', [i, j])\n"
                                   "            B[vi * m + vj] = S[vi * m + vj]\n", "vj", "0", NULL},
    {"terms", "sch.parallel(sch.get_loops('B')[0])",
     SIZES_OF("(n,)", "(n, m)") "    S = T.alloc_buffer((n,))\n    for f in range(n * m):\n        for a in range(T.min(4, f // m) + $):\n"
                                "            with T.block('S'):\n                vi = T.axis.spatial(n, T.max(f // m - 4, 0) + a)\n"
                                "                S[vi] = A[vi]\n        for b in range(5):\n            with T.block('B'):\n"
                                "                vi = T.axis.spatial(n, f // m)\n                vj = T.axis.spatial(m, f % m)\n"
                                "                vb = T.axis.reduce(5, b)\n                with T.init():\n                    B[vi, vj] = T.float32(0)\n"
                                "                B[vi, vj] = B[vi, vj] + S[T.max(vi - vb, 0)]\n", "1", "0", NULL},
    {"choices", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(m, n)", "(m * 2, n)") "    for i, j in T.grid(m, n):\n        with T.block('B'):\n            vi, vj = T.axis.remap('SS', [i, j])\n"
                                     "            B[T.Select(A[vi, 0] < T.float32(0), vi, vi + $), vj] = A[vi, vj]\n"
                                     "            B[T.Select(A[vi, 0] < T.float32(0), vi + $, vi), vj] = A[vi, vj]\n", "m", "1", NULL},
};
enum { TRIAL_COUNT = sizeof trials / sizeof *trials };

static const char *filled(const Trial *trial, const char *text, char *buffer, size_t size)
{
    size_t at = 0;
    for (const char *from = trial->program; *from && at + 100 < size; from++)
        if (*from == '$')
            at += (size_t)snprintf(buffer + at, size - at, "%s", text);
        else
            buffer[at++] = *from;
    buffer[at] = 0;
    return buffer;
}

static const Row *find_row(const char *name)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    fail_msg("there is no row '%s'", name);
    return NULL;
}

/* Turns off the other rows for the goal of ROW, and isl unless it is that; those that WITH names stay. */
static void leave_alone(tirc_context *tirc, const Row *row, const char *with)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        bool rival = !strcmp(rows[i].goal, row->goal) || !strcmp(rows[i].goal, "EMPTY");
        char word[100];
        snprintf(word, sizeof word, "--without-argument=%s", rows[i].name);
        if (rival && &rows[i] != row && !(with && strstr(with, rows[i].name)))
            assert_int_equal(tirc_set_options(tirc, (const char *const[]){word}, 1), 0);
    }
}

/* The step is accepted for the program with TEXT in its place; ALONE: by the row by itself. */
static bool accepts(const Trial *trial, const char *text, bool alone, char *why, size_t size)
{
    char buffer[4000];
    tirc_context *tirc = tirc_context_new();
    if (alone)
        leave_alone(tirc, find_row(trial->row), trial->with);
    tirc_text program_text = {"program", filled(trial, text, buffer, sizeof buffer), strlen(buffer)},
              script = {"script", trial->script, strlen(trial->script)};
    const tirc_program *program = tirc_read(tirc, &program_text, 1);
    if (!program)
        fail_msg("%s: the program cannot be read: %s", trial->row, tirc_diagnostics(tirc));
    bool accepted = tirc_schedule(tirc, program, &script, 1) != NULL;
    snprintf(why, size, "%s", tirc_diagnostics(tirc));
    tirc_context_free(tirc);
    return accepted;
}

static void each_row_decides_alone(void **state)
{
    (void)state;
    char why[2000];
    int failed = 0;
    for (int i = 0; i < TRIAL_COUNT; i++)
        if (strcmp(find_row(trials[i].row)->goal, "FORM") && !accepts(&trials[i], trials[i].plain, true, why, sizeof why)) {
            print_error("'%s' alone does not show it: %s\n", trials[i].row, why);
            failed++;
        }
    assert_int_equal(failed, 0);
}

/* The step is refused without the row, all others on. */
static bool is_needed(const Trial *trial)
{
    char buffer[4000], word[100];
    tirc_context *tirc = tirc_context_new();
    snprintf(word, sizeof word, "--without-argument=%s", trial->row);
    assert_int_equal(tirc_set_options(tirc, (const char *const[]){word}, 1), 0);
    tirc_text program_text = {"program", filled(trial, trial->plain, buffer, sizeof buffer), strlen(buffer)},
              script = {"script", trial->script, strlen(trial->script)};
    const tirc_program *program = tirc_read(tirc, &program_text, 1);
    bool refused = program && !tirc_schedule(tirc, program, &script, 1);
    tirc_context_free(tirc);
    return refused;
}

static void each_form_is_needed(void **state)
{
    (void)state;
    char why[2000];
    int failed = 0;
    for (int i = 0; i < TRIAL_COUNT; i++) {
        if (strcmp(find_row(trials[i].row)->goal, "FORM"))
            continue;
        if (!accepts(&trials[i], trials[i].plain, false, why, sizeof why)) {
            print_error("the step for '%s' is refused: %s\n", trials[i].row, why);
            failed++;
        }
        if (!is_needed(&trials[i])) {
            print_error("the step for '%s' needs no such row\n", trials[i].row);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

static void each_row_has_a_trial(void **state)
{
    (void)state;
    int failed = 0;
    for (int i = 0; i < ROW_COUNT; i++) {
        bool found = false;
        for (int t = 0; t < TRIAL_COUNT; t++)
            found |= !strcmp(trials[t].row, rows[i].name);
        if (!found)
            print_error("'%s' has no trial\n", rows[i].name);
        failed += !found;
    }
    assert_int_equal(failed, 0);
}

static void each_twin_is_refused(void **state)
{
    (void)state;
    char why[2000];
    int failed = 0;
    for (int i = 0; i < TRIAL_COUNT; i++)
        if (accepts(&trials[i], trials[i].twin, false, why, sizeof why)) {
            print_error("the twin of '%s' is accepted\n", trials[i].row);
            failed++;
        }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_decides_alone), cmocka_unit_test(each_twin_is_refused),
                                       cmocka_unit_test(each_form_is_needed), cmocka_unit_test(each_row_has_a_trial)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
