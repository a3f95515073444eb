/* See llvm_trial.h. */
#include "codegen/llvm/llvm_trial.h"

#include <llvm-c/ErrorHandling.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/bug.h"
#include "support/strbuf.h"

static const char error_prefix[] = "LLVM ERROR: ";

static _Noreturn void run_child(int output, void (*action)(void *data), void *data)
{
    dup2(output, STDERR_FILENO);
    LLVMResetFatalErrorHandler();
    action(data);
    _exit(EXIT_OK);
}

static const char *read_all(Context *ctx, int input)
{
    StrBuf text = {.arena = ctx->arena};
    char chunk[512];
    for (ssize_t got; (got = read(input, chunk, sizeof chunk)) > 0;)
        strbuf_add_bytes(&text, chunk, (size_t)got);
    return strbuf_text(&text);
}

const char *llvm_trial(Context *ctx, void (*action)(void *data), void *data)
{
    int ends[2];
    if (pipe(ends))
        return "";
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(ends[1], action, data);
    }
    close(ends[1]);
    const char *text = read_all(ctx, ends[0]);
    close(ends[0]);
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && status && !*text)
        return "LLVM fails";
    if (!strncmp(text, error_prefix, sizeof error_prefix - 1))
        text += sizeof error_prefix - 1;
    return arena_strndup(ctx->arena, text, strcspn(text, "\n"));
}
