/* Diagnostics: names of warnings, marks, and that what is printed as JSON is JSON and UTF-8 whatever bytes it holds. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/context.h"
#include "support/warning.h"

/* --- a reader of JSON that accepts nothing else: each function returns what follows, NULL where TEXT is wrong --- */

static const char *read_value(const char *text);

static const char *read_character(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    int more = *bytes < 0x80 ? 0 : *bytes >= 0xc2 && *bytes < 0xe0 ? 1 : (*bytes & 0xf0) == 0xe0 ? 2 : *bytes >= 0xf0 && *bytes < 0xf5 ? 3 : -1;
    if (more < 0 || *bytes < 32 || *bytes == '"')
        return NULL;
    for (int i = 1; i <= more; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return NULL;
    bool surrogate = *bytes == 0xed && bytes[1] > 0x9f;
    bool overlong = (*bytes == 0xe0 && bytes[1] < 0xa0) || (*bytes == 0xf0 && bytes[1] < 0x90);
    bool beyond = *bytes == 0xf4 && bytes[1] > 0x8f;
    return surrogate || overlong || beyond ? NULL : text + 1 + more;
}

static const char *read_string(const char *text)
{
    if (*text++ != '"')
        return NULL;
    while (text && *text != '"') {
        if (*text != '\\') {
            text = read_character(text);
        } else if (text[1] == 'u') {
            for (int i = 2; i < 6; i++)
                if (!isxdigit((unsigned char)text[i]))
                    return NULL;
            text += 6;
        } else {
            text = text[1] && strchr("\"\\/bfnrt", text[1]) ? text + 2 : NULL;
        }
    }
    return text ? text + 1 : NULL;
}

/* The items of an object or list, behind the opening bracket. */
static const char *read_items(const char *text, bool keys, char close)
{
    if (*text == close)
        return text + 1;
    for (;; text++) {
        if (keys) {
            text = read_string(text);
            if (!text || *text++ != ':')
                return NULL;
        }
        text = read_value(text);
        if (!text || (*text != ',' && *text != close))
            return NULL;
        if (*text == close)
            return text + 1;
    }
}

static const char *read_value(const char *text)
{
    if (*text == '{' || *text == '[')
        return read_items(text + 1, *text == '{', *text == '{' ? '}' : ']');
    if (!strncmp(text, "null", 4))
        return text + 4;
    if (isdigit((unsigned char)*text))
        return text + strspn(text, "0123456789");
    return read_string(text);
}

/* --- random texts --- */

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* LENGTH bytes, with more of those that matter than of others. */
static void fill(uint64_t *state, char *text, size_t length)
{
    static const char bytes[] = "\"\\\n\r\t\x01\x1f\x7f\x80\xbf\xc0\xc2\xc3\xe0\xe2\xed\xef\xf0\xf4\xf5\xff\xa0\x9f\x90 a{}[],:'";
    for (size_t i = 0; i < length; i++) {
        uint32_t random = next_random(state);
        text[i] = random & 1 ? bytes[(random >> 1) % (sizeof bytes - 1)] : (char)(1 + (random >> 1) % 255);
    }
    text[length] = 0;
}

static char *flushed(Context *ctx)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    diag_flush(ctx, stream, false);
    fclose(stream);
    return text;
}

static void test_json_is_json(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 2000; round++) {
        Context *ctx = context_new();
        ctx->diag_options.json = true;
        char name[20], source[200], message[5000];
        size_t length = next_random(&random) % (sizeof source - 1);
        fill(&random, name, next_random(&random) % (sizeof name - 1));
        fill(&random, source, length);
        fill(&random, message, round % 10 ? next_random(&random) % 100 : 3990 + next_random(&random) % 30);
        uint32_t file = source_add(ctx->sources, name, source, length);
        uint32_t begin = next_random(&random) % (uint32_t)(length + 1), end = begin + next_random(&random) % (uint32_t)(length + 1 - begin);
        Span span = {round % 7 ? file : 0, begin, end};
        diag_warning(ctx, WARNING_FLOAT_CONVERSION, span, "%s", message);
        diag_edit(ctx, span, message);
        for (int i = 0; i < round % 3; i++)
            diag_note(ctx, span, "%s", message + i);
        diag_error(ctx, span, "%s", message);
        char *text = flushed(ctx);
        const char *second = read_value(text);
        assert_true(second && *second == '\n');
        const char *rest = read_value(second + 1);
        assert_true(rest && !strcmp(rest, "\n"));
        free(text);
        context_free(ctx);
    }
}

static void expect_text(Context *ctx, const char *expected)
{
    char *text = flushed(ctx);
    assert_string_equal(text, expected);
    free(text);
}

static void apply(Context *ctx, const char *word)
{
    const char *wrong, *near;
    assert_true(warning_apply(&ctx->diag_options.warnings, word, &wrong, &near));
}

static void test_notes_go_with_their_warning(void **state)
{
    (void)state;
    Context *ctx = context_new();
    diag_error(ctx, span_none(), "first");
    apply(ctx, "no-float-conversion");
    diag_warning(ctx, WARNING_FLOAT_CONVERSION, span_none(), "second");
    diag_note(ctx, span_none(), "of the second");
    diag_edit(ctx, (Span){1, 0, 0}, "of the second");
    diag_warning(ctx, WARNING_FAULTS, span_none(), "third");
    diag_note(ctx, span_none(), "of the third");
    assert_int_equal(ctx->diagnostics.data[0].edits.count, 0);
    expect_text(ctx, "tirc: error: first\ntirc: warning: third [-Wfaults]\ntirc: note: of the third\n");
    context_free(ctx);
}

static void test_errors_by_name(void **state)
{
    (void)state;
    Context *ctx = context_new();
    apply(ctx, "error=faults");
    diag_warning(ctx, WARNING_FAULTS, span_none(), "a");
    diag_warning(ctx, WARNING_BACKEND, span_none(), "b");
    assert_int_equal(diag_error_count(ctx), 1);
    apply(ctx, "error");
    apply(ctx, "no-error=backend");
    diag_warning(ctx, WARNING_BACKEND, span_none(), "c");
    diag_warning(ctx, WARNING_SERIAL_LOOP, span_none(), "d");
    assert_int_equal(diag_error_count(ctx), 2);
    expect_text(ctx, "tirc: error: a [-Werror,-Wfaults]\ntirc: warning: b [-Wbackend]\ntirc: warning: c [-Wbackend]\n"
                     "tirc: error: d [-Werror,-Wserial-loop]\n");
    context_free(ctx);
}

static void test_limit(void **state)
{
    (void)state;
    Context *ctx = context_new();
    ctx->diag_options.error_limit = 1;
    DiagMark mark = diag_mark(ctx);
    for (int i = 0; i < 3; i++) {
        diag_error(ctx, span_none(), "error %d", i);
        diag_note(ctx, span_none(), "note %d", i);
    }
    diag_rollback(ctx, mark);
    for (int i = 0; i < 3; i++) {
        diag_error(ctx, span_none(), "error %d", i);
        diag_note(ctx, span_none(), "note %d", i);
    }
    assert_int_equal(diag_error_count(ctx), 3);
    expect_text(ctx, "tirc: error: error 0\ntirc: note: note 0\ntirc: note: 2 more errors are not shown (-ferror-limit=1)\n");
    context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_is_json),
        cmocka_unit_test(test_notes_go_with_their_warning),
        cmocka_unit_test(test_errors_by_name),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
