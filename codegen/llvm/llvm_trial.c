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

typedef struct {
    int read_end, write_end;
} Pipe;

static void write_all(int output, CodegenBytes bytes)
{
    size_t done = 0;
    for (ssize_t put; done < bytes.length && (put = write(output, bytes.data + done, bytes.length - done)) > 0;)
        done += (size_t)put;
}

/* The parent reads all messages before it reads the result, so they end first. */
static _Noreturn void run_child(Pipe messages, Pipe results, TrialAction *action, void *data)
{
    close(messages.read_end);
    close(results.read_end);
    dup2(messages.write_end, STDERR_FILENO);
    close(messages.write_end);
    LLVMResetFatalErrorHandler();
    CodegenBytes result = action(data);
    close(STDERR_FILENO);
    write_all(results.write_end, result);
    _exit(EXIT_OK);
}

static CodegenBytes read_all(Context *ctx, Pipe pipe)
{
    StrBuf text = {.arena = ctx->arena};
    char chunk[4096];
    close(pipe.write_end);
    for (ssize_t got; (got = read(pipe.read_end, chunk, sizeof chunk)) > 0;)
        strbuf_add_bytes(&text, chunk, (size_t)got);
    close(pipe.read_end);
    return (CodegenBytes){strbuf_text(&text), text.length};
}

static bool open_pipe(Pipe *opened)
{
    int ends[2];
    if (pipe(ends))
        return false;
    *opened = (Pipe){ends[0], ends[1]};
    return true;
}

const char *llvm_trial(Context *ctx, TrialAction *action, void *data, CodegenBytes *result)
{
    Pipe messages, results;
    if (!open_pipe(&messages))
        return "";
    if (!open_pipe(&results)) {
        close(messages.read_end);
        close(messages.write_end);
        return "";
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_child(messages, results, action, data);
    const char *text = read_all(ctx, messages).data;
    CodegenBytes given = read_all(ctx, results);
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && status && !*text)
        return "LLVM fails";
    if (result && !*text && child > 0)
        *result = given;
    if (!strncmp(text, error_prefix, sizeof error_prefix - 1))
        text += sizeof error_prefix - 1;
    return arena_strndup(ctx->arena, text, strcspn(text, "\n"));
}
