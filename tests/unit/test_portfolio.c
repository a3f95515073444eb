/* Each row of the portfolio by itself: a small program and step that the row decides alone, all other rows of its goal and isl turned off; and a
   twin, which differs in one place and which the step must not accept, whatever rows there are. */
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
#include "passes/analysis/portfolio.def"
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

static const Trial trials[] = {
    {"linear", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(16, 8)", "(72,)") "    for i, j in T.grid(16, 4):\n        with T.block('B'):\n            vi, vj = T.axis.remap('SS', [i, j])\n"
                                 "            B[vi * $ + vj] = A[vi, vj]\n", "4", "3", NULL},
    {"one_to_one", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(n, m)", "(n, m)") "    for f in range(n * m):\n        with T.block('B'):\n            v = T.axis.opaque(n * m, f)\n"
                                 "            B[v // m, $] = B[v // m, $] + A[v // m, v % m]\n", "v % m", "0", NULL},
    {"bound", "k, i, j = sch.get_loops('U')\nsch.parallel(sch.fuse(i, j))",
     ROWS_OF("(n, n)", "(n, m)") "    for k in range(n):\n        for i, j in T.grid(n, m):\n            with T.block('U'):\n"
                                 "                vk = T.axis.opaque(n, k)\n                vi, vj = T.axis.remap('SS', [i, j])\n"
                                 "                T.where(i $ k)\n                B[vi, vj] = B[vi, vj] - A[vi, vk] * B[vk, vj]\n", ">", "!=", "one_to_one isl"},
    {"named_iterations", "sch.decompose_reduction('B', sch.get_loops('B')[1])",
     ROWS_OF("(n, 64)", "(n,)") "    for i, k in T.grid(n, 64):\n        with T.block('B'):\n            vi = T.axis.spatial(n, i)\n"
                                "            vk = T.axis.reduce(64, $)\n            with T.init():\n                B[vi] = T.float32(0)\n"
                                "            B[vi] = B[vi] + A[vi, vk]\n", "k", "k // 2", NULL},
    {"same_indices", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(n,)", "(n,)") "    S = T.alloc_buffer((n,))\n    for i in range(n):\n        for j in range(n):\n            with T.block('S'):\n"
                             "                vi, vj = T.axis.remap('SS', [i, j])\n                S[$] = A[vj]\n        for j in range(n):\n"
                             "            with T.block('B'):\n                vi, vj = T.axis.remap('SS', [i, j])\n"
                             "                T.where(j == i)\n                B[vi] = S[vj]\n", "vj", "0", NULL},
    {"interval", "sch.parallel(sch.get_loops('B')[0])",
     ROWS_OF("(n,)", "(n,)") "    S = T.alloc_buffer((n,))\n    for i in range(n):\n        for j in range($):\n            with T.block('S'):\n"
                             "                vi, vj = T.axis.remap('SS', [i, j])\n                S[vj] = A[vj]\n"
                             "        with T.block('B'):\n            vi = T.axis.spatial(n, i)\n            B[vi] = S[T.max(vi - 1, 0)]\n", "n", "n - 1", NULL},
    {"written_set", "sch.compute_at('S', sch.get_loops('B')[0])",
     ROWS_OF("(64,)", "(32,)") "    S = T.alloc_buffer((64,))\n    for j in range(64):\n        with T.block('S'):\n            vj = T.axis.spatial(64, j)\n"
                               "            T.where($)\n            S[vj] = A[vj]\n    for i in range(32):\n        with T.block('B'):\n"
                               "            vi = T.axis.spatial(32, i)\n            B[vi] = S[vi * 2]\n", "j < 63", "j < 62", NULL},
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
        if (!accepts(&trials[i], trials[i].plain, true, why, sizeof why)) {
            print_error("'%s' alone does not show it: %s\n", trials[i].row, why);
            failed++;
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_row_decides_alone), cmocka_unit_test(each_twin_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
