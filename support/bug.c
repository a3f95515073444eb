/* Internal errors; see bug.h. */
#include "support/bug.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void bug_report(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "tirc: internal error: %s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(EXIT_INTERNAL);
}
