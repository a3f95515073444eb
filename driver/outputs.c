/* Outputs: written aside and renamed, through symbolic links, so that a failure or a signal leaves neither a temporary nor half a file.

   Signals are blocked from the first temporary file to the last rename and take effect after that. A write to a stream may wait for long,
   so it asks now and then whether a signal has arrived. SIGXFSZ is the command's to ignore (main.c): a file that becomes too long is a
   failed write then. */
#include "driver/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40, WAIT_MILLISECONDS = 100, FILE_STEP = 1 << 20 };

/* --- Signals --- */

/* A signal that ends the process has arrived while it was blocked. */
static bool is_interrupted(void)
{
    static const int fatal[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGXCPU};
    sigset_t pending;
    sigpending(&pending);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction action;
        if (sigismember(&pending, fatal[i]) && !sigaction(fatal[i], NULL, &action) && action.sa_handler != SIG_IGN)
            return true;
    }
    return false;
}

/* --- Where an output goes --- */

/* What the symbolic link PATH leads to; NULL where it is none. */
static const char *follow_link(Arena *arena, const char *path)
{
    char text[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return NULL;
    text[length] = 0;
    const char *slash = strrchr(path, '/');
    int folder = *text != '/' && slash ? (int)(slash - path) + 1 : 0;
    return arena_printf(arena, "%.*s%s", folder, path, text);
}

bool output_open(Arena *arena, const char *path, const char *data, size_t length, OutputFile *file, const char **reason)
{
    *file = (OutputFile){.path = path, .target = path, .data = data, .length = length};
    struct stat status;
    bool is_there = !stat(path, &status);
    const char *next = !strcmp(path, "-") || (is_there && !S_ISREG(status.st_mode)) ? NULL : follow_link(arena, path);
    for (int links = 0; next; next = follow_link(arena, next)) {
        file->target = next;
        if (++links > MOST_LINKS) {
            *reason = strerror(ELOOP);
            return false;
        }
    }
    return true;
}

/* The folder of PATH; the name behind it is *NAME. */
static const char *folder_of(const char *path, char folder[PATH_MAX], const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return folder;
}

bool output_same(const OutputFile *a, const OutputFile *b)
{
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    const char *name_a, *name_b;
    struct stat status_a, status_b;
    if (!strcmp(a->path, "-") || !strcmp(b->path, "-"))
        return false;
    if (!stat(a->target, &status_a) || !stat(b->target, &status_b))
        return file_same(a->target, b->target);
    if (stat(folder_of(a->target, folder_a, &name_a), &status_a) || stat(folder_of(b->target, folder_b, &name_b), &status_b))
        return !strcmp(a->target, b->target);
    return status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino && !strcmp(name_a, name_b);
}

/* "-", or the file that standard output goes to, which a rename would cut off from it. */
static bool is_standard(const OutputFile *file)
{
    struct stat status, standard;
    if (!strcmp(file->path, "-"))
        return true;
    return !stat(file->target, &status) && !fstat(STDOUT_FILENO, &standard) && standard.st_dev == status.st_dev &&
           standard.st_ino == status.st_ino;
}

/* What is written to standard output, a pipe or a device is there at once. */
static bool is_stream(const OutputFile *file)
{
    struct stat status;
    return is_standard(file) || (!stat(file->target, &status) && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}


/* --- Writing --- */

/* Waits until one of the COUNT descriptors takes bytes, at most for a while; false with errno EINTR when a signal has arrived. */
static bool wait_for(struct pollfd *wanted, int count)
{
    bool interrupted = is_interrupted();
    if (interrupted)
        errno = EINTR;
    else
        poll(wanted, (nfds_t)count, WAIT_MILLISECONDS);
    return !interrupted;
}

/* Writes at most STEP bytes at a time: a pipe that takes any takes PIPE_BUF without waiting. */
static bool write_all(int descriptor, const char *data, size_t length, size_t step)
{
    struct pollfd wanted = {descriptor, POLLOUT, 0};
    while (length) {
        if (!wait_for(&wanted, 1))
            return false;
        if (!wanted.revents)
            continue;
        ssize_t written = write(descriptor, data, length < step ? length : step);
        if (written < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (written <= 0) {
            errno = written ? errno : ENOSPC;
            return false;
        }
        data += written;
        length -= (size_t)written;
    }
    return true;
}

/* Closes DESCRIPTOR; OK, or errno of what failed first. */
static bool close_written(int descriptor, bool ok)
{
    int first = errno;
    bool closed = !close(descriptor);
    if (!ok)
        errno = first;
    return ok && closed;
}

/* A named pipe that nobody reads yet is waited for. */
static int open_stream(const OutputFile *file)
{
    if (is_standard(file))
        return dup(STDOUT_FILENO);
    for (;;) {
        int descriptor = open(file->target, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor >= 0 || errno != ENXIO || !wait_for(NULL, 0))
            return descriptor;
    }
}

static bool write_stream(const OutputFile *file)
{
    int descriptor = open_stream(file);
    return descriptor >= 0 && close_written(descriptor, write_all(descriptor, file->data, file->length, PIPE_BUF));
}

static mode_t mode_of_new_file(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Writes the data of FILE beside its target. A file that is there keeps who may read and write it. */
static bool write_aside(Arena *arena, OutputFile *file)
{
    struct stat status;
    bool is_there = !stat(file->target, &status);
    if (is_there && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return false;
    }
    const char *slash = strrchr(file->target, '/');
    char *temporary = arena_printf(arena, "%.*s.tirc-XXXXXX", slash ? (int)(slash - file->target) + 1 : 0, file->target);
    int descriptor = mkostemp(temporary, O_CLOEXEC);
    if (descriptor < 0)
        return false;
    file->temporary = temporary;
    mode_t mode = is_there ? status.st_mode & 0777 : mode_of_new_file();
    return close_written(descriptor, write_all(descriptor, file->data, file->length, FILE_STEP) && !fchmod(descriptor, mode));
}

static bool put_in_place(OutputFile *file)
{
    if (file->temporary && rename(file->temporary, file->target))
        return false;
    file->temporary = NULL;
    return true;
}

/* The first of FILES that fails in one of the three rounds, or NULL. */
static const OutputFile *write_files(Arena *arena, OutputFile *files, int count)
{
    for (int i = 0; i < count; i++)
        if (!is_stream(&files[i]) && !write_aside(arena, &files[i]))
            return &files[i];
    for (int i = 0; i < count; i++)
        if (!files[i].temporary && !write_stream(&files[i]))
            return &files[i];
    for (int i = 0; i < count; i++)
        if (!put_in_place(&files[i]))
            return &files[i];
    return NULL;
}

bool outputs_write(Arena *arena, OutputFile *files, int count, const OutputFile **failed, const char **reason)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    *failed = write_files(arena, files, count);
    *reason = strerror(errno);
    for (int i = 0; i < count; i++)
        if (files[i].temporary)
            unlink(files[i].temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !*failed;
}
