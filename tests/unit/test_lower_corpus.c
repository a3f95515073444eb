/* Runs the checks of lower_check.h on every program below tests/cases/lower. Runs from the top of the tree, as make check does. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/lower_check.h"

static void check_corpus(void **state)
{
    (void)state;
    glob_t files;
    int failed = 0;
    assert_int_equal(glob("tests/cases/lower/*.tir", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *stem = files.gl_pathv[i];
        size_t length = strlen(stem);
        char refused[512];
        snprintf(refused, sizeof refused, "%.*s.err", (int)length - 4, stem);
        FILE *err = fopen(refused, "r");
        if (err) { /* a refusal: the case runner compares it */
            fclose(err);
            continue;
        }
        failed += !lower_check_file(stem, false);
    }
    assert_true(files.gl_pathc >= 60);
    assert_int_equal(failed, 0);
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(check_corpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
