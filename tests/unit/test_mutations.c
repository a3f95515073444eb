/* Programs with one or two tokens deleted, doubled, replaced or changed for junk: each is read, or refused with few errors that have a place and
   that print as JSON; what is read prints as a text that is read again. Runs from the top of the tree, as make check does.

     test_mutations [COUNT [SEED [MOST]]]: COUNT mutants; those with more than MOST errors, of which there may be few, are printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "print/print.h"
#include "parser/parser.h"
#include "passes/regions/complete.h"
#include "support/strbuf.h"
#include "tests/cases.h"

static int mutant_count = 1500, most_errors = 3;
static uint64_t random_state = 1;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % below;
}

/* --- tokens of a text --- */

typedef struct {
    const char *text;
    int length;
} Token;
typedef VEC(Token) TokenList;

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static TokenList split(Arena *arena, const char *text)
{
    TokenList tokens = {0};
    while (*text) {
        int length = 1;
        if (is_word(*text))
            while (is_word(text[length]))
                length++;
        else if (*text == ' ')
            length = (int)strspn(text, " ");
        Token token = {text, length};
        vec_push(arena, &tokens, token);
        text += length;
    }
    return tokens;
}

static Token junk(void)
{
    static const char *const texts[] = {"(",  ")",  "[",   "]",    "{",  "}",  ":",   ",",    "\"",       "'",        "\t",   "\n",       "\n    ", "&&",  "||",
                                        "!",  "?",  "++",  "--",   "//", "/*", "*/",  ";",    "\xff",     "\xef\xbc\x88", "\xef\xbc\x89", "\xe2\x80\x9c", "=",  "==",  "->",
                                        "if", "as", "for", "else", "in", "0x", "1e9", "\"\"\"", "T.", "lambda", "f\"{", "\\",   "@",        "9999999999999999999", "..", "x y", "def", "%", "*", "**"};
    const char *text = texts[next_random(sizeof texts / sizeof *texts)];
    return (Token){text, (int)strlen(text)};
}

/* TOKENS as a text, with the one at PLACE changed. */
static const char *mutate(Arena *arena, const TokenList *tokens)
{
    StrBuf text = {.arena = arena};
    int place = (int)next_random((uint32_t)tokens->count), way = (int)next_random(6);
    while (tokens->data[place].text[0] == ' ' && next_random(3))
        place = (int)next_random((uint32_t)tokens->count);
    for (int i = 0; i < tokens->count; i++) {
        Token token = tokens->data[i];
        if (i == place && way == 0)
            continue;
        if (i == place && way == 1)
            strbuf_add_bytes(&text, token.text, (size_t)token.length);
        if (i == place && way == 2)
            token = tokens->data[next_random((uint32_t)tokens->count)];
        if (i == place && way == 3)
            token = junk();
        if (i == place && way == 4 && i + 1 < tokens->count)
            token = tokens->data[i + 1];
        else if (i == place + 1 && way == 4)
            token = tokens->data[i - 1];
        if (i == place && way == 5) {
            Token added = junk();
            strbuf_add_bytes(&text, added.text, (size_t)added.length);
        }
        strbuf_add_bytes(&text, token.text, (size_t)token.length);
    }
    return strbuf_text(&text);
}

/* --- what becomes of a mutant --- */

static char *flushed(Context *ctx)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    diag_flush(ctx, stream, false);
    fclose(stream);
    return text;
}

/* Every error has a place, and its lines are objects. */
static bool told_well(Context *ctx)
{
    bool good = true;
    for (int i = 0; i < ctx->diagnostics.count; i++)
        good &= ctx->diagnostics.data[i].severity != DIAG_ERROR || ctx->diagnostics.data[i].span.file;
    char *text = flushed(ctx);
    for (char *line = text; *line; line = strchr(line, '\n') + 1)
        good &= *line == '{' && strchr(line, '\n') && strchr(line, '\n')[-1] == '}';
    free(text);
    return good;
}

/* The errors that TEXT gives; -1 where something is wrong with what becomes of it. */
static int errors_of(const char *text)
{
    Context *ctx = context_new();
    ctx->diag_options.json = true;
    ctx->diag_options.error_limit = 0;
    const Module *module = complete_module(ctx, parse_module_text(ctx, "mutant.tir", text, strlen(text)));
    int errors = diag_error_count(ctx);
    bool good = (module != NULL) == (errors == 0) && told_well(ctx);
    if (module && good) {
        const char *printed = print_module(ctx, module);
        good = complete_module(ctx, parse_module_text(ctx, "printed.tir", printed, strlen(printed))) != NULL;
    }
    context_free(ctx);
    return good ? errors : -1;
}

static const char *read_text(Arena *arena, const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    StrBuf text = {.arena = arena};
    char bytes[4096];
    size_t count;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        strbuf_add_bytes(&text, bytes, count);
    fclose(file);
    return strbuf_text(&text);
}

static void show(const char *path, const char *text, int errors)
{
    printf("--- %d errors: a mutant of %s\n%s\n", errors, path, text);
    Context *ctx = context_new();
    complete_module(ctx, parse_module_text(ctx, "mutant.tir", text, strlen(text)));
    diag_flush(ctx, stdout, false);
    context_free(ctx);
}

static void test_mutants(void **state)
{
    (void)state;
    glob_t files = case_files("tir");
    int piles = 0, wrong = 0;
    assert_true(files.gl_pathc > 0);
    for (int i = 0; i < mutant_count; i++) {
        Arena *arena = arena_new();
        const char *path = files.gl_pathv[next_random((uint32_t)files.gl_pathc)], *text = read_text(arena, path);
        int before = errors_of(text);
        TokenList tokens = split(arena, text);
        if (before == 0 && tokens.count > 0) {
            const char *mutant = mutate(arena, &tokens);
            int errors = errors_of(mutant);
            piles += errors > most_errors;
            wrong += errors < 0;
            if (errors > most_errors || errors < 0)
                show(path, mutant, errors);
        }
        arena_free(arena);
    }
    globfree(&files);
    assert_int_equal(wrong, 0);
    assert_true(piles * 100 <= mutant_count);
}

int main(int argc, char **argv)
{
    mutant_count = argc > 1 ? atoi(argv[1]) : mutant_count;
    random_state = argc > 2 ? (uint64_t)atoll(argv[2]) : random_state;
    most_errors = argc > 3 ? atoi(argv[3]) : most_errors;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
