/* See clang.h. The input and what clang writes go through files without names, so that no pipe can fill up and nothing is left behind. */
#include "support/clang.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/vec.h"

extern char **environ;

typedef struct {
    FILE *input, *output, *errors;
} Streams;

static void close_streams(const Streams *streams)
{
    FILE *const all[] = {streams->input, streams->output, streams->errors};
    for (int i = 0; i < 3; i++)
        if (all[i])
            fclose(all[i]);
}

static const char *read_all(Arena *arena, FILE *file)
{
    long length = fseek(file, 0, SEEK_END) ? 0 : ftell(file);
    char *text = arena_alloc(arena, (size_t)(length > 0 ? length : 0) + 1);
    rewind(file);
    text[length > 0 ? fread(text, 1, (size_t)length, file) : 0] = 0;
    return text;
}

bool clang_is_text(const char *source)
{
    return strpbrk(source, "\n{") != NULL;
}

/* Starts PROGRAM with WORDS; 0, or the error number. */
static int start(const char *program, char *const *words, const Streams *streams, pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->input), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->output), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(streams->errors), STDERR_FILENO);
    int error = posix_spawnp(process, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* The language of a text. extern "C" is what C++ needs for a name that others call, and C does not have. */
static const char *language(const ClangRun *run)
{
    return strstr(run->source, "extern \"C\"") ? "c++" : "c";
}

/* The words of the command behind its name. */
static char *const *command_words(Arena *arena, const ClangRun *run)
{
    static const char *const fixed[] = {"clang", "-S", "-emit-llvm", "-fno-color-diagnostics"};
    VEC(char *) words = {0};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        vec_push(arena, &words, (char *)fixed[i]);
    for (int i = 0; i < run->option_count; i++)
        vec_push(arena, &words, (char *)run->options[i]);
    if (run->is_text) {
        vec_push(arena, &words, (char *)"-x");
        vec_push(arena, &words, (char *)language(run));
    }
    vec_push(arena, &words, (char *)"-o");
    vec_push(arena, &words, (char *)"-");
    vec_push(arena, &words, run->is_text ? (char *)"-" : arena_printf(arena, "%s%s", *run->source == '-' ? "./" : "", run->source));
    vec_push(arena, &words, NULL);
    return words.data;
}

static bool run_command(Arena *arena, const ClangRun *run, const Streams *streams, const char **result)
{
    static const char *const usual[] = {"clang-19", "clang"};
    char *const *words = command_words(arena, run);
    pid_t process;
    int error = ENOENT, status;
    for (int i = 0; error && i < (run->program ? 1 : 2); i++)
        error = start(run->program ? run->program : usual[i], words, streams, &process);
    if (error) {
        *result = run->program ? arena_printf(arena, "cannot run '%s': %s", run->program, strerror(error))
                               : "there is no clang: neither clang-19 nor clang is in PATH; --clang=COMMAND names one";
        return false;
    }
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    *result = read_all(arena, good ? streams->output : streams->errors);
    if (!good && !**result)
        *result = "clang ended without a word";
    return good;
}

bool clang_run(Arena *arena, const ClangRun *run, const char **result)
{
    Streams streams = {tmpfile(), tmpfile(), tmpfile()};
    bool ready = streams.input && streams.output && streams.errors;
    size_t length = run->is_text ? strlen(run->source) : 0;
    if (ready)
        ready = fwrite(run->source, 1, length, streams.input) == length && !fflush(streams.input) && !fseek(streams.input, 0, SEEK_SET);
    *result = ready ? NULL : "there is no room for temporary files";
    bool good = ready && run_command(arena, run, &streams, result);
    close_streams(&streams);
    return good;
}
