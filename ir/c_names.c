/* See c_names.h. The names stand in c_names.def. */
#include "ir/c_names.h"

#include <ctype.h>
#include <string.h>

#include "support/strbuf.h"

typedef enum { WORD_KEYWORD = 1, WORD_TYPE = 2, WORD_MACRO = 4, WORD_LIBRARY = 8 } WordKind;

typedef struct {
    WordKind kind;
    const char *words; /* with one space between two */
} WordRow;

static const WordRow rows[] = {
#define WORDS(kind, words) {WORD_##kind, words},
#include "ir/c_names.def"
#undef WORDS
};

/* What the runtime and OpenMP's own begin with. */
static const char *const owned_prefixes[] = {"tirc_", "omp_", "GOMP_", "GOACC_", "kmp_", "pthread_"};

static bool row_holds(const char *words, const char *name, size_t length)
{
    for (const char *at = words; (at = strstr(at, name)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static bool is_word(const char *name, unsigned kinds)
{
    size_t length = strlen(name);
    for (size_t i = 0; length && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind & kinds && row_holds(rows[i].words, name, length))
            return true;
    return false;
}

/* C keeps names with two underscores in front, or one and a capital letter, for compilers and libraries. */
static bool is_reserved_form(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

bool c_owns_parameter_name(const char *name)
{
    return is_reserved_form(name) || is_word(name, WORD_KEYWORD | WORD_TYPE | WORD_MACRO);
}

bool c_owns_function_name(const char *name)
{
    for (size_t i = 0; i < sizeof owned_prefixes / sizeof *owned_prefixes; i++)
        if (!strncmp(name, owned_prefixes[i], strlen(owned_prefixes[i])))
            return true;
    return c_owns_parameter_name(name) || is_word(name, WORD_LIBRARY);
}

/* The code point of the UTF-8 sequence at *TEXT, which moves behind it; of a byte that begins none, the byte. */
static unsigned next_code_point(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    int more = at[0] >= 0xf0 ? 3 : at[0] >= 0xe0 ? 2 : at[0] >= 0xc0 ? 1 : 0;
    unsigned code = more ? at[0] & (0x3fu >> more) : at[0];
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            *text += 1;
            return at[0];
        }
        code = code << 6 | (at[i] & 0x3f);
    }
    *text += more + 1;
    return code;
}

Str c_identifier(Context *ctx, const char *name)
{
    StrBuf text = {.arena = ctx->arena};
    if (isdigit((unsigned char)*name) || !*name)
        strbuf_add(&text, "_");
    while (*name) {
        unsigned code = next_code_point(&name);
        if (code > 0x7f)
            strbuf_printf(&text, "u%04X", code);
        else
            strbuf_printf(&text, "%c", isalnum((int)code) ? (char)code : '_');
    }
    return context_intern(ctx, strbuf_text(&text));
}
