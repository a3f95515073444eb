/* See files.h. */
#include "driver/files.h"

#include <errno.h>
#include <fcntl.h>
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
    if (!strcmp(a, "-") || !strcmp(b, "-") || stat(a, &status_a) || stat(b, &status_b))
        return false;
    return S_ISREG(status_a.st_mode) && status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}
