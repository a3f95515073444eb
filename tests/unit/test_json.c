/* Reading JSON: values, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/json.h"

static const Json *read_text(Arena *arena, const char *text)
{
    const char *reason;
    size_t at;
    const Json *value = json_read(arena, text, strlen(text), &reason, &at);
    assert_true(value || (reason && *reason && at <= strlen(text)));
    return value;
}

static void test_values(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    const Json *value = read_text(arena, " {\"a\": [1, -2.5, true, false, null], \"b\": \"x\\n\\u00e9\\ud83d\\ude00\", \"c\": 12345678901234567890} ");
    const Json *list = json_get(value, "a");
    assert_int_equal(json_item(list, 0)->integer, 1);
    assert_true(json_item(list, 1)->real == -2.5 && json_item(list, 1)->kind == JSON_REAL);
    assert_true(json_item(list, 2)->boolean && !json_item(list, 3)->boolean && json_is(json_item(list, 4), JSON_NULL));
    assert_null(json_item(list, 5));
    assert_string_equal(json_get(value, "b")->text, "x\n\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(json_get(value, "c")->kind, JSON_REAL); /* no int64 */
    assert_null(json_get(value, "d"));
    assert_null(json_get(list, "a"));
    arena_free(arena);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",     " ",     "[",      "[1",     "[1,]",   "[1 2]",   "{\"a\"}", "{\"a\":}",  "{a: 1}", "01",      "1.",
                                        "-",    "nul",   "\"a",    "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\u0000\"", "1 2", "1e999", "[1]]",
                                        "\"\t\"", "+1", "'a'", "NaN"};
    Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (read_text(arena, texts[i]))
            fail_msg("accepted: %s", texts[i]);
    char deep[1000];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_null(read_text(arena, deep));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
