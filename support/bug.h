/* Our own mistakes, and allocation that cannot fail. A user's mistake is never a BUG: it is a diagnostic (diag.h). */
#ifndef TIRC_SUPPORT_BUG_H
#define TIRC_SUPPORT_BUG_H

#include <stddef.h>

/* Exit codes of the tirc command. */
enum { EXIT_OK = 0, EXIT_DIAGNOSED = 1, EXIT_USAGE = 2, EXIT_INTERNAL = 70 };

/* Prints "tirc: internal error: FILE:LINE: ..." and exits with EXIT_INTERNAL. */
_Noreturn void bug_report(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define BUG(...) bug_report(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition) ((condition) ? (void)0 : BUG("check failed: %s", #condition))

/* malloc and realloc that end the process when memory runs out. */
void *xmalloc(size_t size);
void *xrealloc(void *memory, size_t size);

#endif
