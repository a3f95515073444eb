/* Reading the command line by the table of options.def; see options.h. */
#include "driver/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "driver/files.h"
#include "passes/analysis/prove/portfolio.h"
#include "support/warning.h"

typedef struct {
    Context *ctx;
    Arena *arena; /* of what the options point to */
    Options *options;
    const char *name; /* of the option being read */
    bool only_inputs; /* after -- */
} OptionReader;

static bool usage(Context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool usage(Context *ctx, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_error(ctx, span_none(), "%s", arena_vprintf(ctx->base_arena, format, args));
    va_end(args);
    return false;
}

/* "; did you mean 'X'?" for the entry of NAMES that is close to WRONG, or "". */
static const char *suggestion(Context *ctx, const char *wrong, const char *const *names, int count)
{
    const char *near = diag_closest(wrong, names, count);
    return near ? arena_printf(ctx->base_arena, "; did you mean '%s'?", near) : "";
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
static bool read_NAMES(OptionReader *reader, TextList *field, const char *text)
{
    char *copy = arena_strndup(reader->arena, text, strlen(text)), *rest;
    int before = field->count;
    for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        vec_push(reader->arena, field, (const char *)name);
    return field->count > before || usage(reader->ctx, "%s needs a name", reader->name);
}
static bool read_MAP(OptionReader *reader, TextList *field, const char *text)
{
    if (!strchr(text, '='))
        return usage(reader->ctx, "%s takes OLD=NEW, not '%s'", reader->name, text);
    vec_push(reader->arena, field, text);
    return true;
}
static bool read_INT(OptionReader *reader, long *field, const char *text)
{
    char *end;
    errno = 0;
    *field = strtol(text, &end, 0);
    return (*text && !*end && !errno) || usage(reader->ctx, "%s takes a whole number, not '%s'", reader->name, text);
}
static bool read_COUNT(OptionReader *reader, long *field, const char *text)
{
    return read_INT(reader, field, text) && (*field >= 0 || usage(reader->ctx, "%s takes a number from 0 on, not '%s'", reader->name, text));
}
static bool read_LIMIT(OptionReader *reader, long *field, const char *text)
{
    return read_COUNT(reader, field, text) &&
           (*field <= INT_MAX || usage(reader->ctx, "%s takes a number up to %d, not '%s'", reader->name, INT_MAX, text));
}
/* An unknown name is a warning as clang's is, so that the flags of a newer version go on to work. */
static bool read_WARNING(OptionReader *reader, WarningSettings *field, const char *text)
{
    const char *wrong, *near;
    if (!warning_apply(field, text, &wrong, &near))
        vec_push(reader->arena, &reader->options->unknown_warnings,
                 (const char *)arena_printf(reader->arena, "unknown warning option '-W%s'%s%s%s", text, near ? "; did you mean '" : "",
                                            near ? near : "", near ? "'?" : ""));
    return true;
}
static bool read_ERRORS(OptionReader *reader, WarningSettings *field, const char *text)
{
    (void)text;
    return read_WARNING(reader, field, "error");
}
static bool read_QUIET(OptionReader *reader, WarningSettings *field, const char *text)
{
    (void)reader, (void)text;
    return field->none = true;
}
static bool read_COLOR(OptionReader *reader, ColorMode *field, const char *text)
{
    (void)text;
    *field = !strncmp(reader->name, "-fno-", 5) ? COLOR_NEVER : COLOR_ALWAYS;
    return true;
}
static bool read_DIAGNOSTICS(OptionReader *reader, bool *field, const char *text)
{
    *field = !strcmp(text, "json");
    return *field || !strcmp(text, "text") || usage(reader->ctx, "--diagnostics is text or json, not '%s'", text);
}
static bool read_LEVEL(OptionReader *reader, int *field, const char *text)
{
    if (text[0] < '0' || text[0] > '3' || text[1])
        return usage(reader->ctx, "the optimization level is 0, 1, 2 or 3, not '%s'", text);
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
bool options_emit_kind(Context *ctx, const char *kind, unsigned *emit)
{
    static const char *const kinds[] = {"obj", "asm", "llvm-ir", "bc", "tir", "header"};
    enum { KIND_COUNT = sizeof kinds / sizeof *kinds };
    for (int i = 0; i < KIND_COUNT; i++)
        if (!strcmp(kinds[i], kind)) {
            *emit |= 1u << i;
            return true;
        }
    return usage(ctx, "there is no output kind '%s': the kinds are obj, asm, llvm-ir, bc, tir and header%s", kind,
                 suggestion(ctx, kind, kinds, KIND_COUNT));
}
static bool read_EMIT(OptionReader *reader, unsigned *field, const char *text)
{
    char *copy = arena_strndup(reader->arena, text, strlen(text)), *rest;
    for (char *kind = strtok_r(copy, ",", &rest); kind; kind = strtok_r(NULL, ",", &rest))
        if (!options_emit_kind(reader->ctx, kind, field))
            return false;
    return *field || usage(reader->ctx, "--emit needs a kind: obj, asm, llvm-ir, bc, tir or header");
}
static bool read_SHOW(OptionReader *reader, ShowMode *field, const char *text)
{
    *field = !text ? SHOW_RESULT : !strcmp(text, "steps") ? SHOW_STEPS : !strcmp(text, "diff") ? SHOW_DIFF : SHOW_NONE;
    return *field != SHOW_NONE || usage(reader->ctx, "--show takes 'steps' or 'diff', not '%s'", text);
}
static bool read_TIME(OptionReader *reader, long *field, const char *text)
{
    *field = AUTOMATIC_RUNS;
    return !text || (read_INT(reader, field, text) &&
                     (*field > 0 || usage(reader->ctx, "--time takes how often to run, a number from 1 on, not '%s'", text)));
}
static bool read_REMARKS(OptionReader *reader, RemarksMode *field, const char *text)
{
    *field = !text || !strcmp(text, "text") ? REMARKS_TEXT : !strcmp(text, "json") ? REMARKS_JSON : REMARKS_NONE;
    return *field != REMARKS_NONE || usage(reader->ctx, "--remarks takes 'text' or 'json', not '%s'", text);
}
static bool read_EXPLAIN(OptionReader *reader, ExplainMode *field, const char *text)
{
    *field = !text || !strcmp(text, "text") ? EXPLAIN_TEXT : !strcmp(text, "json") ? EXPLAIN_JSON : EXPLAIN_NONE;
    return *field != EXPLAIN_NONE || usage(reader->ctx, "--explain takes 'text' or 'json', not '%s'", text);
}
static bool read_ARGUMENT(OptionReader *reader, uint64_t *field, const char *text)
{
    Argument argument = argument_find(text);
    *field |= argument < ARGUMENT_COUNT ? UINT64_C(1) << argument : 0;
    return argument < ARGUMENT_COUNT || usage(reader->ctx, "there is no argument '%s' in the portfolio", text);
}
static bool read_HELP(OptionReader *reader, const char **field, const char *text)
{
    bool known = !text || !strcmp(text, "schedule") || (!strncmp(text, "schedule=", 9) && text[9]);
    *field = text ? text : "";
    return known || usage(reader->ctx, "--help takes 'schedule' or 'schedule=NAME', not '%s'", text);
}
static bool read_DIALECT(OptionReader *reader, bool *field, const char *text)
{
    *field = !strcmp(text, "tirx");
    return *field || !strcmp(text, "tir") || usage(reader->ctx, "--dialect is tir or tirx, not '%s'", text);
}

static bool read_CONTRACT(OptionReader *reader, bool *field, const char *text)
{
    *field = !strcmp(text, "on") || !strcmp(text, "fast");
    return *field || !strcmp(text, "off") || usage(reader->ctx, "--fp-contract is on or off, not '%s'", text);
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

/* The value stands in the word itself, also where it is empty. */
static bool takes_joined(const OptionInfo *info)
{
    return info->short_name && info->short_name[strlen(info->short_name) - 1] == '=';
}

/* The value of option WORD given in the same word, e.g. "3" of -O3 or "x" of --emit=x; NULL when there is none. False when WORD is not this
   option. */
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
    bool joined = takes_joined(info);
    if (joined || (*rest && info->argument && strlen(info->short_name) == 2 && word[1] != 'h'))
        *value = rest;
    return !*rest || *value;
}

static bool unknown_option(OptionReader *reader, const char *word)
{
    const char *names[2 * OPTION_COUNT];
    for (int i = 0; i < OPTION_COUNT; i++) {
        names[2 * i] = option_infos[i].long_name && option_infos[i].help ? arena_printf(reader->arena, "--%s", option_infos[i].long_name) : NULL;
        names[2 * i + 1] = option_infos[i].short_name;
    }
    const char *name = arena_strndup(reader->arena, word, strcspn(word, "="));
    const char *double_dash = word[1] == '-' ? name : arena_printf(reader->arena, "-%s", name);
    const char *close = suggestion(reader->ctx, name, names, 2 * OPTION_COUNT);
    return usage(reader->ctx, "unknown option '%s'%s", word,
                 *close ? close : suggestion(reader->ctx, double_dash, names, 2 * OPTION_COUNT));
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
    if (best < 0)
        return unknown_option(reader, word);
    const OptionInfo *info = &option_infos[best];
    if (best_value && !info->argument)
        return usage(reader->ctx, "'%s' takes no value", word);
    if (!best_value && info->argument && !optional_argument(info)) {
        if (!next)
            return usage(reader->ctx, "'%s' needs a value: %s", word, info->argument);
        best_value = next;
        *used_next = true;
    }
    reader->name = word[1] == '-' ? arena_printf(reader->arena, "--%s", info->long_name) : info->short_name;
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

static void note_option_file(OptionReader *reader, const char *path)
{
    for (int i = 0; i < reader->options->option_files.count; i++)
        if (!strcmp(reader->options->option_files.data[i], path))
            return;
    if (strcmp(path, "-"))
        vec_push(reader->arena, &reader->options->option_files, path);
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
        return usage(reader->ctx, "'%s': files of options are nested too deep", word);
    if (!file_read(reader->arena, word + 1, &file, &reason))
        return usage(reader->ctx, "cannot read '%s': %s", word + 1, reason);
    note_option_file(reader, word + 1);
    WordList inner = {0};
    split_words(reader->arena, file.text, &inner);
    for (int i = 0; i < inner.count; i++)
        if (!expand_words(reader, inner.data[i], depth + 1, words))
            return false;
    return true;
}

bool options_view(const Options *options)
{
    return options->show || options->passes.count || options->print_after.count || options->run || options->interpret || options->check || options->time ||
           options->remarks || options->explain;
}

unsigned options_emitted(const Options *options)
{
    return options->emit ? options->emit : options->output || !options_view(options) ? EMIT_BIT_OBJECT : 0;
}

/* How many of the outputs of OPTIONS that are no text for people go to standard output. */
static int count_standard_outputs(const Options *options)
{
    const char *const names[] = {options->output, options->header, options->depfile_name};
    int count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        count += names[i] && !strcmp(names[i], "-");
    return count;
}

/* Options about data say what they are for. */
static bool data_is_used(Context *ctx, const Options *options)
{
    const struct {
        const char *name;
        int count;
    } results[] = {{"--out", options->data_out.count}, {"--expect", options->data_expect.count}, {"--print", options->data_print.count}};
    bool runs = options->run || options->interpret;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].count && !runs)
            return usage(ctx, "%s is about what --run or --interpret gives", results[i].name);
    if (options->data_in.count && !(runs || options->check || options->time))
        return usage(ctx, "--in is for --run, --interpret, --check and --time");
    return !options->random_inputs || options->run || usage(ctx, "--random-inputs is for --run");
}

bool options_consistent(Context *ctx, const Options *options)
{
    if (options->help || options->version)
        return true;
    if (!options->inputs.count)
        return usage(ctx, "no input file; try 'tirc --help'");
    int inputs = 0, outputs = count_standard_outputs(options);
    for (int i = 0; i < options->schedules.count; i++)
        inputs += !strcmp(options->schedules.data[i], "-");
    for (int i = 0; i < options->inputs.count; i++)
        inputs += !strcmp(options->inputs.data[i], "-");
    for (int i = 0; i < options->data_in.count; i++) {
        const char *equals = strchr(options->data_in.data[i], '=');
        inputs += equals && !strcmp(equals, "=-");
    }
    if (inputs > 1)
        return usage(ctx, "standard input can be read only once");
    bool several = options->emit & (options->emit - 1) && options->output && !strcmp(options->output, "-");
    if (several || outputs > 1 || (outputs && options_view(options)))
        return usage(ctx, "only one output can go to standard output");
    if (!data_is_used(ctx, options))
        return false;
    if (options->show > SHOW_RESULT && !options->schedules.count)
        return usage(ctx, "--show=%s shows the steps of a schedule script: name one with -s, or use --show",
                     options->show == SHOW_STEPS ? "steps" : "diff");
    return true;
}

Options options_default(void)
{
    return (Options){.opt_level = 2, .seed = 1, .max_steps = 10000000000, .error_limit = diag_options_default().error_limit,
                     .warnings = warning_settings_default(),
                     .fp_contract = true, .pic = true, .unwind_tables = true};
}

bool options_parse(Context *ctx, Arena *arena, const char *const *words, int count, Options *options)
{
    OptionReader reader = {.ctx = ctx, .arena = arena, .options = options};
    WordList all = {0};
    for (int i = 0; i < count; i++)
        if (!expand_words(&reader, words[i], 0, &all))
            return false;
    for (int i = 0; i < all.count; i++) {
        bool used_next;
        if (!read_word(&reader, all.data[i], i + 1 < all.count ? all.data[i + 1] : NULL, &used_next))
            return false;
        i += used_next;
    }
    return true;
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
        if (!info->help)
            continue;
        char name[80];
        int length = 0;
        if (info->short_name)
            length = snprintf(name, sizeof name, "%s%s%s", info->short_name, info->argument && strcmp(info->short_name, "-O") && strcmp(info->short_name, "-W") && !takes_joined(info) ? " " : "",
                              info->argument ? info->argument : "");
        if (info->long_name)
            snprintf(name + length, sizeof name - (size_t)length, "%s--%s%s%s", length ? ", " : "", info->long_name,
                     info->argument && !optional_argument(info) ? "=" : "", info->argument ? info->argument : "");
        fprintf(out, "  %-34s %s\n", name, info->help);
    }
    fputs("  @FILE                              read further options from FILE\n\n"
          "exit codes: 0 success, 1 errors in the input, 2 wrong usage, 70 internal error\n",
          out);
}
