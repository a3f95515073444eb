/* Reading the command line by the table of options.def; see options.h. */
#include "driver/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/files.h"

typedef struct {
    Arena *arena;
    FILE *err;
    Options *options;
    bool only_inputs; /* after -- */
} OptionReader;

static bool usage(OptionReader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool usage(OptionReader *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("tirc: error: ", reader->err);
    vfprintf(reader->err, format, args);
    fputs("\n", reader->err);
    va_end(args);
    return false;
}

/* --- one reader for each kind of option --- */
static bool read_FLAG(OptionReader *reader, bool *field, const char *text)
{
    (void)reader, (void)text;
    return *field = true;
}
static bool read_UNSET(OptionReader *reader, bool *field, const char *text)
{
    (void)reader, (void)text;
    *field = false;
    return true;
}
static bool read_TEXT(OptionReader *reader, const char **field, const char *text)
{
    (void)reader;
    *field = text;
    return true;
}
static bool read_LIST(OptionReader *reader, TextList *field, const char *text)
{
    vec_push(reader->arena, field, text);
    return true;
}
static bool read_INT(OptionReader *reader, long *field, const char *text)
{
    char *end;
    errno = 0;
    *field = strtol(text, &end, 0);
    return (*text && !*end && !errno) || usage(reader, "'%s' is not a number", text);
}
static bool read_LEVEL(OptionReader *reader, int *field, const char *text)
{
    if (text[0] < '0' || text[0] > '3' || text[1])
        return usage(reader, "the optimization level is 0, 1, 2 or 3, not '%s'", text);
    *field = text[0] - '0';
    return true;
}
static bool read_ASSEMBLY(OptionReader *reader, unsigned *field, const char *text)
{
    (void)reader, (void)text;
    *field |= EMIT_BIT_ASSEMBLY;
    return true;
}
static bool read_IGNORED(OptionReader *reader, unsigned *field, const char *text)
{
    (void)reader, (void)field, (void)text;
    return true;
}
static bool read_EMIT(OptionReader *reader, unsigned *field, const char *text)
{
    static const char *const kinds[] = {"obj", "asm", "llvm-ir", "bc", "tir", "header"};
    char *copy = arena_strndup(reader->arena, text, strlen(text)), *rest;
    for (char *kind = strtok_r(copy, ",", &rest); kind; kind = strtok_r(NULL, ",", &rest)) {
        size_t i = 0;
        while (i < sizeof kinds / sizeof *kinds && strcmp(kinds[i], kind))
            i++;
        if (i == sizeof kinds / sizeof *kinds)
            return usage(reader, "--emit knows obj, asm, llvm-ir, bc, tir and header, not '%s'", kind);
        *field |= 1u << i;
    }
    return *field || usage(reader, "--emit needs a kind");
}
static bool read_SHOW(OptionReader *reader, ShowMode *field, const char *text)
{
    *field = !text ? SHOW_RESULT : !strcmp(text, "steps") ? SHOW_STEPS : !strcmp(text, "diff") ? SHOW_DIFF : SHOW_NONE;
    return *field != SHOW_NONE || usage(reader, "--show takes 'steps' or 'diff', not '%s'", text);
}
static bool read_CONTRACT(OptionReader *reader, bool *field, const char *text)
{
    *field = !strcmp(text, "on") || !strcmp(text, "fast");
    return *field || !strcmp(text, "off") || usage(reader, "--fp-contract is on or off, not '%s'", text);
}

typedef struct {
    const char *long_name, *short_name, *argument, *help;
} OptionInfo;
static const OptionInfo option_infos[] = {
#define X(kind, long_name, short_name, argument, field, help) {long_name, short_name, argument, help},
#include "driver/options.def"
#undef X
};
enum { OPTION_COUNT = sizeof option_infos / sizeof *option_infos };

static bool option_read(OptionReader *reader, int index, const char *text)
{
    int row = 0;
#define X(kind, long_name, short_name, argument, field, help)                                                                                \
    if (index == row++)                                                                                                                      \
        return read_##kind(reader, &reader->options->field, text);
#include "driver/options.def"
#undef X
    return false;
}

static bool optional_argument(const OptionInfo *info)
{
    return info->argument && info->argument[0] == '[';
}

/* The value of option WORD given in the same word, e.g. "3" of -O3 or "x" of --emit=x; NULL when there is none. False when WORD is not this option. */
static bool option_matches(const OptionInfo *info, const char *word, const char **value)
{
    *value = NULL;
    if (info->long_name && !strncmp(word, "--", 2)) {
        size_t length = strlen(info->long_name);
        if (strncmp(word + 2, info->long_name, length))
            return false;
        if (word[2 + length] == '=')
            *value = word + 3 + length;
        return !word[2 + length] || *value;
    }
    if (!info->short_name || strncmp(word, info->short_name, strlen(info->short_name)))
        return false;
    const char *rest = word + strlen(info->short_name);
    bool glued = info->argument && strlen(info->short_name) == 2 && word[1] != 'h';
    if (*rest && glued)
        *value = rest;
    return !*rest || glued;
}

static bool read_word(OptionReader *reader, const char *word, const char *next, bool *used_next)
{
    *used_next = false;
    if (reader->only_inputs || word[0] != '-' || !word[1]) {
        vec_push(reader->arena, &reader->options->inputs, word);
        return true;
    }
    if (!strcmp(word, "--")) {
        reader->only_inputs = true;
        return true;
    }
    /* longest short name first, so that -MD is not taken for -M and a value */
    int best = -1;
    const char *value = NULL, *best_value = NULL;
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!option_matches(&option_infos[i], word, &value))
            continue;
        bool exact = !value || word[1] == '-';
        if (best < 0 || exact) {
            best = i;
            best_value = value;
        }
    }
    if (best < 0) {
        const char *names[2 * OPTION_COUNT];
        for (int i = 0; i < OPTION_COUNT; i++) {
            names[2 * i] = option_infos[i].long_name ? arena_printf(reader->arena, "--%s", option_infos[i].long_name) : NULL;
            names[2 * i + 1] = option_infos[i].short_name;
        }
        const char *near = diag_closest(word, names, 2 * OPTION_COUNT);
        return usage(reader, "unknown option '%s'%s%s%s", word, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    const OptionInfo *info = &option_infos[best];
    if (best_value && !info->argument)
        return usage(reader, "'%s' takes no value", word);
    if (!best_value && info->argument && !optional_argument(info)) {
        if (!next)
            return usage(reader, "'%s' needs a value: %s", word, info->argument);
        best_value = next;
        *used_next = true;
    }
    return option_read(reader, best, best_value);
}

typedef VEC(const char *) WordList;

/* Splits the text of an @file at white space; '...' and "..." keep white space, a backslash the next character. */
static void split_words(Arena *arena, const char *text, WordList *words)
{
    while (*text) {
        text += strspn(text, " \t\r\n");
        if (!*text)
            return;
        char *word = arena_alloc(arena, strlen(text) + 1), *end = word, quote = 0;
        for (; *text && (quote || !strchr(" \t\r\n", *text)); text++) {
            if (quote ? *text == quote : (*text == '\'' || *text == '"'))
                quote = quote ? 0 : *text;
            else
                *end++ = *text == '\\' && text[1] ? *++text : *text;
        }
        vec_push(arena, words, (const char *)word);
    }
}

static bool expand_words(OptionReader *reader, const char *word, int depth, WordList *words)
{
    if (word[0] != '@' || !word[1]) {
        vec_push(reader->arena, words, word);
        return true;
    }
    const char *reason;
    FileText file;
    if (depth > 8)
        return usage(reader, "'%s': files of options are nested too deep", word);
    if (!file_read(reader->arena, word + 1, &file, &reason))
        return usage(reader, "cannot read '%s': %s", word + 1, reason);
    WordList inner = {0};
    split_words(reader->arena, file.text, &inner);
    for (int i = 0; i < inner.count; i++)
        if (!expand_words(reader, inner.data[i], depth + 1, words))
            return false;
    return true;
}

static bool options_consistent(OptionReader *reader)
{
    const Options *options = reader->options;
    if (options->help || options->version)
        return true;
    if (!options->inputs.count)
        return usage(reader, "no input file; try 'tirc --help'");
    int stdins = options->schedule && !strcmp(options->schedule, "-");
    for (int i = 0; i < options->inputs.count; i++)
        stdins += !strcmp(options->inputs.data[i], "-");
    if (stdins > 1)
        return usage(reader, "standard input can be read only once");
    if (options->emit & (options->emit - 1) && options->output && !strcmp(options->output, "-"))
        return usage(reader, "only one kind of output can go to standard output");
    return true;
}

bool options_parse(Arena *arena, int argc, char **argv, FILE *err, Options *options)
{
    *options = (Options){.opt_level = 2, .seed = 1, .fp_contract = true, .pic = true};
    OptionReader reader = {.arena = arena, .err = err, .options = options};
    WordList words = {0};
    for (int i = 1; i < argc; i++)
        if (!expand_words(&reader, argv[i], 0, &words))
            return false;
    for (int i = 0; i < words.count; i++) {
        bool used_next;
        if (!read_word(&reader, words.data[i], i + 1 < words.count ? words.data[i + 1] : NULL, &used_next))
            return false;
        i += used_next;
    }
    return options_consistent(&reader);
}

void options_help(FILE *out)
{
    fputs("usage: tirc [options] INPUT.tir...\n\n"
          "Compiles TensorIR programs, transformed by a schedule script, to objects that link with any C program.\n\n"
          "  tirc matmul.tir -s matmul.sched -o matmul.o -H matmul.h\n"
          "  tirc matmul.tir -s matmul.sched --show\n\noptions:\n",
          out);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const OptionInfo *info = &option_infos[i];
        char name[80];
        int length = 0;
        if (info->short_name)
            length = snprintf(name, sizeof name, "%s%s%s", info->short_name, info->argument && strcmp(info->short_name, "-O") ? " " : "", info->argument ? info->argument : "");
        if (info->long_name)
            snprintf(name + length, sizeof name - (size_t)length, "%s--%s%s%s", length ? ", " : "", info->long_name,
                     info->argument && !optional_argument(info) ? "=" : "", info->argument ? info->argument : "");
        fprintf(out, "  %-34s %s\n", name, info->help);
    }
    fputs("  @FILE                              read further options from FILE\n\n"
          "exit codes: 0 success, 1 errors in the input, 2 wrong usage, 70 internal error\n",
          out);
}
