/* See files.h. */
#include "driver/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/bug.h"

enum { LARGEST_INPUT = 1 << 30 };

bool file_read(Arena *arena, const char *path, FileText *result, const char **reason)
{
    bool standard = !strcmp(path, "-");
    int descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        *reason = strerror(errno);
        return false;
    }
    size_t capacity = 1 << 16, length = 0;
    char *text = xmalloc(capacity);
    ssize_t got;
    while ((got = read(descriptor, text + length, capacity - length)) > 0) {
        length += (size_t)got;
        if (length == capacity)
            text = xrealloc(text, capacity *= 2);
        if (length > LARGEST_INPUT) {
            errno = EFBIG;
            got = -1;
            break;
        }
    }
    *reason = got < 0 ? strerror(errno) : NULL;
    if (!standard)
        close(descriptor);
    if (got == 0)
        *result = (FileText){arena_strndup(arena, text, length), length};
    free(text);
    return got == 0;
}

bool file_same(const char *a, const char *b)
{
    struct stat status_a, status_b;
    if (!strcmp(a, "-") || !strcmp(b, "-"))
        return false;
    if (stat(a, &status_a) || stat(b, &status_b))
        return !strcmp(a, b);
    return S_ISREG(status_a.st_mode) && status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

static bool write_all(int descriptor, const char *data, size_t length, const char **reason)
{
    while (length) {
        ssize_t written = write(descriptor, data, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            *reason = strerror(written ? errno : ENOSPC);
            return false;
        }
        data += written;
        length -= (size_t)written;
    }
    return true;
}

bool output_prepare(Arena *arena, const char *path, const char *data, size_t length, OutputFile *file, const char **reason)
{
    *file = (OutputFile){.path = path, .data = data, .length = length};
    struct stat status;
    if (!strcmp(path, "-"))
        return true;
    if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
        *reason = strerror(EISDIR);
        return !S_ISDIR(status.st_mode);
    }
    char *temporary = arena_printf(arena, "%s.XXXXXX", path);
    int descriptor = mkostemp(temporary, O_CLOEXEC);
    if (descriptor < 0) {
        *reason = strerror(errno);
        return false;
    }
    file->temporary = temporary;
    mode_t mask = umask(0);
    umask(mask);
    bool ok = write_all(descriptor, data, length, reason);
    if (ok && fchmod(descriptor, 0666 & ~mask)) {
        *reason = strerror(errno);
        ok = false;
    }
    if (close(descriptor) && ok) {
        *reason = strerror(errno);
        ok = false;
    }
    if (!ok)
        output_discard(file);
    return ok;
}

bool output_commit(OutputFile *file, const char **reason)
{
    if (!file->temporary) {
        bool standard = !strcmp(file->path, "-");
        int descriptor = standard ? STDOUT_FILENO : open(file->path, O_WRONLY | O_CLOEXEC);
        if (descriptor < 0) {
            *reason = strerror(errno);
            return false;
        }
        bool ok = write_all(descriptor, file->data, file->length, reason);
        if (!standard && close(descriptor) && ok) {
            *reason = strerror(errno);
            ok = false;
        }
        return ok;
    }
    if (rename(file->temporary, file->path)) {
        *reason = strerror(errno);
        output_discard(file);
        return false;
    }
    file->temporary = NULL;
    return true;
}

void output_discard(OutputFile *file)
{
    if (file->temporary)
        unlink(file->temporary);
    file->temporary = NULL;
}
