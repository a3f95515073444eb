/* Processes that serve. Each library runs in a process of its own, so that no process has two pools of threads. */
#include "bench/bench.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 120000, MAX_WORDS = 16 };

/* One thread, whatever the library takes it from */
static const char *const ONE_THREAD[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "TVM_NUM_THREADS"};

static void become(const char *command, const char *argument, const char *setting)
{
    char words[4 * LINE_SIZE], assignment[NAME_SIZE];
    char *list[MAX_WORDS + 3];
    int count = 0;
    for (size_t i = 0; i < sizeof ONE_THREAD / sizeof *ONE_THREAD; i++)
        setenv(ONE_THREAD[i], "1", 1);
    snprintf(assignment, sizeof assignment, "%s", setting);
    char *value = strchr(assignment, '=');
    if (value) {
        *value = '\0';
        setenv(assignment, value + 1, 1);
    }
    snprintf(words, sizeof words, "%s", command);
    for (char *word = strtok(words, " "); word && count < MAX_WORDS; word = strtok(NULL, " "))
        list[count++] = word;
    list[count++] = (char *)argument;
    list[count] = NULL;
    execvp(list[0], list);
    _exit(127);
}

bool worker_start(Worker *worker, const char *command, const char *argument, const char *setting)
{
    int down[2], up[2];
    *worker = (Worker){0};
    if (pipe(down))
        return false;
    if (pipe(up)) {
        close(down[0]), close(down[1]);
        return false;
    }
    worker->process = fork();
    if (worker->process == 0) {
        dup2(down[0], 0), dup2(up[1], 1);
        close(down[0]), close(down[1]), close(up[0]), close(up[1]);
        become(command, argument, setting);
    }
    close(down[0]), close(up[1]);
    worker->to = down[1];
    worker->from = up[0];
    return worker->process > 0;
}

/* The next line that the worker writes, without its end; false where there is none in time */
static bool read_line(Worker *worker, char line[LINE_SIZE])
{
    for (;;) {
        size_t have = strlen(worker->left);
        char *end = strchr(worker->left, '\n');
        if (end) {
            *end = '\0';
            snprintf(line, LINE_SIZE, "%s", worker->left);
            memmove(worker->left, end + 1, have - (size_t)(end - worker->left));
            return true;
        }
        struct pollfd ready = {.fd = worker->from, .events = POLLIN};
        if (have == LINE_SIZE - 1 || poll(&ready, 1, PATIENCE_MS) <= 0)
            return false;
        ssize_t got = read(worker->from, worker->left + have, LINE_SIZE - 1 - have);
        if (got <= 0)
            return false;
        worker->left[have + (size_t)got] = '\0';
    }
}

static bool write_line(Worker *worker, const char *text)
{
    char line[LINE_SIZE];
    int length = snprintf(line, sizeof line, "%s\n", text);
    return write(worker->to, line, (size_t)length) == length;
}

bool worker_offer(Worker *worker, Offer *offer)
{
    char line[LINE_SIZE], *field, *rest = line;
    *offer = (Offer){0};
    if (!worker->process || !read_line(worker, line))
        return false;
    for (int i = 0; (field = strsep(&rest, "|")); i++) {
        double number = i > 0 && i < 5 ? strtod(field, NULL) : 0;
        switch (i) {
        case 0: snprintf(offer->name, sizeof offer->name, "%s", field); break;
        case 1: offer->flops = number; break;
        case 2: offer->bytes = number; break;
        case 3: offer->sum = number; break;
        case 4: offer->sizes = number; break;
        default:
            if (offer->count < 4)
                snprintf(offer->contenders[offer->count++], NAME_SIZE, "%s", field);
        }
    }
    return offer->count > 0 && offer->flops >= 0 && offer->bytes > 0;
}

double worker_run(Worker *worker, const char *contender)
{
    char line[LINE_SIZE];
    return write_line(worker, contender) && read_line(worker, line) ? strtod(line, NULL) : 0;
}

void worker_next(Worker *worker)
{
    write_line(worker, "");
}

void worker_stop(Worker *worker)
{
    if (worker->process <= 0)
        return;
    close(worker->to), close(worker->from);
    kill(worker->process, SIGTERM);
    while (waitpid(worker->process, NULL, 0) < 0 && errno == EINTR)
        ;
    worker->process = 0;
}
